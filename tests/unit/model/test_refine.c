/* SPDX-License-Identifier: Apache-2.0 */
/* Filters against a plain reference: random profiles and random filters; what the refined profile counts, what its
 * stream gives and what a loop over the samples with strings makes of them are the same lines. */
#include "refine.h"

#include <inttypes.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "labels.h"
#include "support.h"
#include "vec.h"
#include "view.h"

#define SAMPLES	 300
#define TEXT_MAX 4096

struct source {
	struct plumb_profile *p;
	struct pl_sample samples[SAMPLES];
};

static struct plumb_error *source_each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const struct source *s = ctx;
	struct plumb_error *err = NULL;

	for (int i = 0; i < SAMPLES && !err; i++)
		err = fn(fn_ctx, &s->samples[i]);
	return err;
}

/* Names, kinds, opcodes and counts of all sorts. */
static void source_make(struct source *s, uint64_t seed, bool stream)
{
	memset(s, 0, sizeof *s);
	check(pl_profile_create(&s->p));
	struct generator g = {
		.rng = {.state = seed}, .profile = s->p, .depth = 9, .processes = 3, .rich = true, .tags = true};
	g.step_ns = 8000000;
	random_meta(&g.rng, s->p);
	for (int i = 0; i < SAMPLES; i++) {
		s->samples[i] = generate_sample(&g);
		s->samples[i].extra %= 1000;
		check(pl_profile_add(s->p, &s->samples[i]));
	}
	s->p->meta.duration_ns = g.time_ns;
	if (stream)
		s->p->stream = (struct pl_stream){.each = source_each, .ctx = s};
}

static const char *text(const struct plumb_profile *p, uint32_t id)
{
	return pl_strtab_get(p->strings, id, NULL);
}

/* ---- sums by line ------------------------------------------------------------------------------------------------ */

struct sum {
	char *key;
	double samples, weight;
};
typedef PL_VEC(struct sum) sums;

static struct sum *sum_of(sums *all, const char *key)
{
	for (size_t i = 0; i < all->len; i++) {
		if (strcmp(all->data[i].key, key) == 0)
			return &all->data[i];
	}
	struct sum s = {.key = strdup(key)};
	assert_true(pl_vec_push(all, s));
	return &all->data[all->len - 1];
}

static void sums_free(sums *all)
{
	for (size_t i = 0; i < all->len; i++)
		free(all->data[i].key);
	pl_vec_deinit(all);
}

static void assert_same(const sums *a, sums *b)
{
	assert_int_equal(a->len, b->len);
	for (size_t i = 0; i < a->len; i++) {
		const struct sum *other = sum_of(b, a->data[i].key);
		assert_true(a->data[i].samples == other->samples && a->data[i].weight == other->weight);
	}
	assert_int_equal(a->len, b->len);
}

/* Whether frame @p i of @p depth is not asked for. */
static bool is_left_out(const struct plumb_profile *p, const uint32_t *path, int depth, int i,
			const struct pl_refine *o)
{
	const struct pl_function *f = &p->functions[p->locations[path[i]].function];
	bool inside = false;

	for (int k = i + 1; k < depth; k++) {
		uint8_t origin = p->functions[p->locations[path[k]].function].origin;
		inside = inside || origin == PL_ORIGIN_PYTHON || origin == PL_ORIGIN_TASK;
	}
	if (o->kinds && !(o->kinds >> f->origin & 1))
		return true;
	if (o->native == PL_NATIVE_OFF || (o->native == PL_NATIVE_LEAF && inside))
		return f->origin == PL_ORIGIN_NATIVE;
	return o->native && o->native != PL_NATIVE_ALL && f->plumbing;
}

/* Frames of a stack from the outermost one, each as text; those that are not asked for left out. */
static int frames_of(const struct plumb_profile *p, uint32_t stack, const struct pl_refine *o, char frames[16][256])
{
	int depth = (int)p->stacks[stack].depth, count = 0;
	uint32_t path[16] = {0};
	char labels[256];

	assert_true(depth < 16);
	for (int i = depth; i > 0; i--, stack = p->stacks[stack].parent)
		path[i - 1] = p->stacks[stack].location;
	for (int i = 0; i < depth; i++) {
		struct pl_location l = p->locations[path[i]];
		const struct pl_function *f = &p->functions[l.function];
		if (is_left_out(p, path, depth, i, o))
			continue;
		if (o->functions)
			l = (struct pl_location){.function = l.function, .column = -1, .end_column = -1};
		l.address = o->no_addresses ? 0 : l.address;
		snprintf(frames[count++], 256, "%d%s %s %s %s %d:%d:%d:%d:%d%s+%" PRIx64 " %s%s%s", f->origin,
			 f->plumbing && !o->native ? "p" : "", text(p, f->name), text(p, f->qualname), text(p, f->file),
			 l.line, l.end_line, l.column, l.end_column, l.opcode, l.inlined ? "i" : "", l.address,
			 labels_text(p, f, labels), text(p, f->unnamed), o->functions ? "" : text(p, f->source));
	}
	return count;
}

static void join(char frames[16][256], int count, char *ret)
{
	assert_true(count <= 15);
	for (int i = 0; i < count; i++) {
		*ret++ = ';';
		ret = stpcpy(ret, frames[i]);
	}
	*ret = '\0';
}

static void add_line(sums *all, const struct plumb_profile *p, const struct pl_sample *s, const char *stack,
		     uint64_t time)
{
	const struct pl_thread *t = &p->threads[s->thread];
	char key[TEXT_MAX + 256];

	snprintf(key, sizeof key, "%" PRIu64 " %" PRIu64 " %s %u %d %d %s", time, t->tid, text(p, t->name),
		 p->processes[t->process].pid, s->state, s->quality, stack);
	struct sum *sum = sum_of(all, key);
	sum->samples += 1 + (double)s->extra;
	sum->weight += (double)s->weight_ns;
}

/* ---- the reference ----------------------------------------------------------------------------------------------- */

static bool named(const char *const *words, size_t count, const char *name, uint64_t number)
{
	char decimal[32];

	snprintf(decimal, sizeof decimal, "%" PRIu64, number);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], decimal) == 0 || (*name && strcmp(words[i], name) == 0))
			return true;
	}
	return count == 0;
}

static bool any_frame(const struct plumb_profile *p, uint32_t stack, const char *pattern, const char *file)
{
	bool found = false;
	regex_t r;

	if (pattern)
		assert_int_equal(regcomp(&r, pattern, REG_EXTENDED), 0);
	for (; stack; stack = p->stacks[stack].parent) {
		const struct pl_function *f = &p->functions[p->locations[p->stacks[stack].location].function];
		char name[512];
		snprintf(name, sizeof name, "%s %s", text(p, f->qualname), text(p, f->file));
		if (!f->plumbing)
			found = found ||
				(pattern ? regexec(&r, name, 0, NULL, 0) == 0 : strcmp(text(p, f->file), file) == 0);
	}
	if (pattern)
		regfree(&r);
	return found;
}

static bool has_tag(const struct plumb_profile *p, uint32_t stack, const char *asked)
{
	const struct pl_function *f;
	char labels[256];

	for (; stack && p->stacks[stack].parent;)
		stack = p->stacks[stack].parent;
	if (!stack)
		return false;
	f = &p->functions[p->locations[p->stacks[stack].location].function];
	return strstr(labels_text(p, f, labels), strcmp(asked, "route=/a") == 0 ? "route|/a|"
						 : strcmp(asked, "user") == 0	? "user|"
										: "none");
}

/* Reasons begin behind the GIL's, and their bits behind those of states; unknown ones are another one. */
static unsigned reason_passes(unsigned st)
{
	unsigned reason = st >> 8 > PL_REASON_OTHER ? PL_REASON_OTHER : st >> 8;

	return st & (1 | 32 | 4) || reason < PL_REASON_LOCK ? 0 : PL_PASS_LOCK << (reason - PL_REASON_LOCK);
}

static bool wanted(const struct source *src, const struct pl_refine *o, const struct pl_sample *s)
{
	const struct plumb_profile *p = src->p;
	const struct pl_thread *t = &p->threads[s->thread];
	unsigned d = 0, st = s->state;

	if (s->time_ns < o->from_ns || (o->to_ns && s->time_ns >= o->to_ns))
		return false;
	if (!named(o->threads, o->thread_count, text(p, t->name), t->tid) ||
	    !named(o->processes, o->process_count, text(p, p->processes[t->process].name),
		   p->processes[t->process].pid))
		return false;
	d |= st & 1 ? PL_PASS_ON_CPU : 0;
	d |= st & (1 | 32) ? 0 : PL_PASS_WAITING;
	d |= st & 2 ? PL_PASS_GIL : 0;
	d |= st & 4 ? PL_PASS_WANTS_GIL : 0;
	d |= st & 8 ? PL_PASS_GC : 0;
	d |= st & 16 ? PL_PASS_EXCEPTION : 0;
	d |= reason_passes(st);
	if (o->doing && !(o->doing & d))
		return false;
	if (o->skip_idle && !(st & 3))
		return false;
	if (o->focus && !any_frame(p, s->stack, o->focus, NULL))
		return false;
	if (o->ignore && any_frame(p, s->stack, o->ignore, NULL))
		return false;
	/* Those of the generator have a route, and may have a user. */
	if (o->tag_count && !has_tag(p, s->stack, o->tags[0]))
		return false;
	/* The modules of the generator are m0.py and m1.py. */
	if (o->module_count && !any_frame(p, s->stack, NULL, strcmp(o->modules[0], "m0") == 0 ? "m0.py" : "m1.py"))
		return false;
	return true;
}

/* How much of each path there is, by its text. */
static void weigh_paths(const struct source *src, const struct pl_refine *o, sums *paths)
{
	char frames[16][256], path[TEXT_MAX];

	for (int i = 0; i < SAMPLES; i++) {
		const struct pl_sample *s = &src->samples[i];
		if (!wanted(src, o, s))
			continue;
		int count = frames_of(src->p, s->stack, o, frames);
		for (int n = 0; n <= count; n++) {
			join(frames, n, path);
			sum_of(paths, path)->weight += (double)s->weight_ns;
		}
	}
}

static void expect(const struct source *src, const struct pl_refine *o, uint64_t batch_ns, sums *ret)
{
	char frames[16][256], path[TEXT_MAX];
	sums paths = {0};

	weigh_paths(src, o, &paths);
	for (int i = 0; i < SAMPLES; i++) {
		const struct pl_sample *s = &src->samples[i];
		if (!wanted(src, o, s))
			continue;
		int count = frames_of(src->p, s->stack, o, frames), kept = 0;
		for (int n = 1; n <= count; n++) { /* weights only fall on the way in */
			join(frames, n, path);
			if (sum_of(&paths, path)->weight >= o->min_share * sum_of(&paths, "")->weight)
				kept = n;
		}
		join(frames, kept, path);
		uint64_t time = s->time_ns - o->from_ns;
		add_line(ret, src->p, s, path, batch_ns ? time / batch_ns : time);
	}
	sums_free(&paths);
}

/* ---- what the refined profile says ------------------------------------------------------------------------------- */

struct collect {
	const struct plumb_profile *p;
	sums *all;
	uint64_t batch_ns;
};

static struct plumb_error *collect_sample(void *ctx, const struct pl_sample *s)
{
	static const struct pl_refine nothing;
	struct collect *c = ctx;
	char frames[16][256], path[TEXT_MAX];

	assert_true(s->stack < c->p->stack_count && s->thread < c->p->thread_count);
	join(frames, frames_of(c->p, s->stack, &nothing, frames), path);
	add_line(c->all, c->p, s, path, c->batch_ns ? s->time_ns / c->batch_ns : s->time_ns);
	return NULL;
}

/* No row that no sample needs. */
static void assert_all_needed(const struct plumb_profile *p)
{
	bool *stacks = calloc(p->stack_count, 1), *threads = calloc(p->thread_count + 1u, 1);

	for (uint32_t i = 0; i < p->cell_count; i++) {
		threads[p->cells[i].thread] = true;
		for (uint32_t at = p->cells[i].stack; at && !stacks[at]; at = p->stacks[at].parent)
			stacks[at] = true;
	}
	for (uint32_t i = 1; i < p->stack_count; i++)
		assert_true(stacks[i]);
	for (uint32_t i = 0; i < p->thread_count; i++)
		assert_true(threads[i]);
	free(stacks);
	free(threads);
}

static void check_filter(struct source *src, const struct pl_refine *o)
{
	struct plumb_profile *r = NULL;
	sums want = {0}, counted = {0}, streamed = {0};

	check(pl_refine(src->p, o, &r));
	expect(src, o, r->batch_ns, &want);
	struct collect c = {.p = r, .all = &counted, .batch_ns = r->batch_ns};
	struct pl_stream stream = r->stream; /* without it: the cells */
	r->stream = (struct pl_stream){0};
	check(pl_profile_each(r, collect_sample, &c));
	r->stream = stream;
	assert_same(&want, &counted);
	if (stream.each) {
		sums exact = {0};
		expect(src, o, 0, &exact);
		c.all = &streamed;
		c.batch_ns = 0;
		check(pl_profile_each(r, collect_sample, &c));
		assert_same(&exact, &streamed);
		sums_free(&exact);
	}
	assert_all_needed(r);
	sums_free(&want);
	sums_free(&counted);
	sums_free(&streamed);
	pl_profile_destroy(r);
}

static void random_filter(struct pl_rng *rng, uint64_t end_ns, struct pl_refine *o)
{
	static const char *const threads[] = {"worker", "1002"}, *const processes[] = {"101", "nobody"},
				 *const modules[] = {"m0", "m1.py"}, *const tags[] = {"route=/a", "user", "route="},
				 *const patterns[] = {"f1 ", "f[0-2] m0", "lib", "zzz"};

	*o = (struct pl_refine){0};
	if (random_below(rng, 4) == 0)
		*o = (struct pl_refine){.threads = threads, .thread_count = 1 + random_below(rng, 2)};
	if (random_below(rng, 4) == 0) {
		o->processes = processes;
		o->process_count = 1 + random_below(rng, 2);
	}
	if (random_below(rng, 3) == 0)
		o->from_ns = random_below(rng, end_ns);
	if (random_below(rng, 3) == 0)
		o->to_ns = o->from_ns + 1 + random_below(rng, end_ns);
	if (random_below(rng, 3) == 0)
		o->doing = (unsigned)random_below(rng, 64);
	o->skip_idle = random_below(rng, 5) == 0;
	if (random_below(rng, 4) == 0)
		o->kinds = 1u << PL_ORIGIN_PYTHON | (random_below(rng, 2) ? 1u << PL_ORIGIN_TASK : 0);
	if (random_below(rng, 4) == 0) {
		o->modules = modules + random_below(rng, 2);
		o->module_count = 1;
	}
	if (random_below(rng, 4) == 0)
		o->focus = patterns[random_below(rng, 4)];
	if (random_below(rng, 5) == 0)
		o->ignore = patterns[random_below(rng, 4)];
	if (random_below(rng, 4) == 0) {
		o->tags = tags + random_below(rng, 3);
		o->tag_count = 1;
	}
	o->native = random_below(rng, 3) ? PL_NATIVE_AS_RECORDED
					 : (enum pl_native_shown)random_below(rng, PL_NATIVE_CHOICES);
	o->functions = random_below(rng, 3) == 0;
	if (random_below(rng, 3) == 0)
		o->min_share = (double)random_below(rng, 100) / 1000;
}

static void random_filters_give_what_a_plain_loop_gives(void **state)
{
	static struct source src;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct pl_rng rng = {.state = seed * 77};
		struct pl_refine o;
		source_make(&src, seed, true);
		for (int i = 0; i < 4; i++) {
			random_filter(&rng, src.p->meta.duration_ns, &o);
			check_filter(&src, &o);
		}
		pl_profile_destroy(src.p);
	}
}

/* Each alone, so that a failure has a name. */
static void each_filter_alone(void **state)
{
	static const char *const threads[] = {"worker"}, *const processes[] = {"100", "102"}, *const module[] = {"m1"},
				 *const tag[] = {"route=/a"};
	const struct pl_refine filters[] = {
		{0},
		{.threads = threads, .thread_count = 1},
		{.processes = processes, .process_count = 2},
		{.from_ns = 100000000, .to_ns = 700000000},
		{.from_ns = 5},
		{.to_ns = 300000000},
		{.doing = PL_PASS_WAITING},
		{.doing = PL_PASS_GC | PL_PASS_GIL},
		{.skip_idle = true},
		{.kinds = 1u << PL_ORIGIN_PYTHON},
		{.kinds = 1u << PL_ORIGIN_MARKER},
		{.native = PL_NATIVE_OFF},
		{.native = PL_NATIVE_LEAF},
		{.native = PL_NATIVE_CALLABLE},
		{.native = PL_NATIVE_ALL},
		{.native = PL_NATIVE_LEAF, .focus = "lib"},
		{.modules = module, .module_count = 1},
		{.tags = tag, .tag_count = 1},
		{.focus = "^f[12] "},
		{.ignore = "f1|f2"},
		{.functions = true},
		{.min_share = 0.02},
		{.min_share = 1.0},
	};
	static struct source src;

	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
		source_make(&src, 5, true);
		assert_int_equal(pl_refine_asks(&filters[i]), i > 0);
		check_filter(&src, &filters[i]);
		pl_profile_destroy(src.p);
	}
}

/* Where there is an aggregate only: the same, but a time cannot be chosen. */
static void an_aggregate_is_refined_too(void **state)
{
	static struct source src;
	struct plumb_profile *r = NULL;
	struct pl_refine time = {.from_ns = 1};

	source_make(&src, 9, false);
	check_filter(&src, &(struct pl_refine){.min_share = 0.05, .doing = PL_PASS_ON_CPU});
	struct plumb_error *err = pl_refine(src.p, &time, &r);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_INVALID);
	assert_null(r);
	plumb_error_destroy(err);
	pl_profile_destroy(src.p);
}

static void a_broken_expression_is_told(void **state)
{
	static struct source src;
	struct plumb_profile *r = NULL;

	source_make(&src, 9, true);
	for (int i = 0; i < 2; i++) {
		struct pl_refine o = {.focus = i ? "f[" : NULL, .ignore = i ? NULL : "f["};
		struct plumb_error *err = pl_refine(src.p, &o, &r);
		assert_int_equal(plumb_error_code(err), PLUMB_ERR_INVALID);
		assert_non_null(strstr(plumb_error_message(err), "'f[' is no regular expression: "));
		plumb_error_destroy(err);
	}
	pl_profile_destroy(src.p);
}

/* Clocks and counters of a window: its own beginning, its share of what is known of the whole only. */
static void a_window_of_time_is_a_recording_of_that_time(void **state)
{
	static struct source src;
	struct plumb_profile *r = NULL;

	source_make(&src, 4, true);
	struct pl_meta *m = &src.p->meta;
	m->start_real_ns = 1000;
	m->duration_ns = 1000000000;
	m->ticks = 1000;
	m->losses[PL_LOSS_MISSED] = 40;
	check(pl_refine(src.p, &(struct pl_refine){.from_ns = 250000000, .to_ns = 500000000}, &r));
	assert_int_equal(r->meta.start_real_ns, 250001000);
	assert_int_equal(r->meta.duration_ns, 250000000);
	assert_int_equal(r->meta.ticks, 250);
	assert_int_equal(r->meta.losses[PL_LOSS_MISSED], 10);
	for (uint32_t i = 0; i < r->thread_count; i++)
		assert_true(!r->threads[i].cpu_known || r->threads[i].cpu_ns == 0);
	pl_profile_destroy(r);
	r = NULL;
	check(pl_refine(src.p, &(struct pl_refine){.from_ns = 2000000000}, &r)); /* behind the end */
	assert_int_equal(r->meta.duration_ns, 0);
	assert_int_equal(r->cell_count, 0);
	assert_true(r->stack_count == 1 && r->thread_count == 0 && r->process_count == 0);
	pl_profile_destroy(r);
	pl_profile_destroy(src.p);
}

/* What a thread did in a part of its samples says nothing of whether it is idle. */
static void a_thread_is_idle_in_what_is_selected_if_it_is_in_the_whole(void **state)
{
	const struct pl_process proc = {.pid = 7, .ended = true, .ended_ns = 900000000};
	struct plumb_profile *p, *r = NULL;
	uint32_t process, ids[2];

	check(pl_profile_create(&p));
	check(pl_profile_process(p, &proc, &process));
	for (uint32_t t = 0; t < 2;
	     t++) { /* of the second it is known that it did a little: 0.01 % and 1 % of its time */
		const struct pl_thread thread = {
			.process = process, .tid = 70 + t, .cpu_known = true, .cpu_ns = t ? 10000000 : 100000};

		check(pl_profile_thread(p, &thread, &ids[t]));
		for (int i = 0; i < 1000; i++)
			check(pl_profile_add(p, &(struct pl_sample){.time_ns = (uint64_t)i * 1000000,
								    .thread = ids[t],
								    .state = i % 100 ? 0 : PL_STATE_ON_CPU,
								    .weight_ns = 1000000}));
	}
	assert_true(pl_view_thread_idle(p, ids[0]) && !pl_view_thread_idle(p, ids[1]));
	check(pl_refine(p, &(struct pl_refine){.doing = PL_PASS_ON_CPU}, &r));
	assert_int_equal(r->thread_count, 2);
	assert_true(pl_view_thread_idle(r, 0) && !pl_view_thread_idle(r, 1));
	assert_false(r->threads[1].cpu_known);
	pl_profile_destroy(r);
	pl_profile_destroy(p);
}

/* Or it would have lived for longer than there is time. */
static void a_process_that_ended_behind_the_window_did_not_end_in_it(void **state)
{
	static struct source src;
	struct plumb_profile *r = NULL;

	source_make(&src, 4, true);
	src.p->meta.duration_ns = 1000000000;
	for (uint32_t i = 0; i < src.p->process_count; i++) {
		src.p->processes[i].ended = true;
		src.p->processes[i].ended_ns = 900000000;
	}
	check(pl_refine(src.p, &(struct pl_refine){.to_ns = 500000000}, &r));
	assert_true(r->process_count > 0);
	for (uint32_t i = 0; i < r->process_count; i++)
		assert_true(!r->processes[i].ended && r->processes[i].ended_ns == 0);
	pl_profile_destroy(r);
	r = NULL;
	check(pl_refine(src.p, &(struct pl_refine){.from_ns = 250000000}, &r));
	assert_true(r->process_count > 0 && r->processes[0].ended && r->processes[0].ended_ns == 650000000);
	pl_profile_destroy(r);
	pl_profile_destroy(src.p);
}

/* Those that look the same by then are one; the samples of the stream are on them, too. */
static void functions_get_names_that_they_did_not_have(void **state)
{
	struct plumb_profile *p = random_profile(8, 400), *r = NULL;
	const char **names = calloc(p->function_count + 1, sizeof *names);
	uint64_t unnamed = 0, named = 0;

	for (uint32_t i = 0; i < p->function_count; i++)
		names[i] = strncmp(text(p, p->functions[i].unnamed), "ab", 2) == 0 ? "crunch" : NULL;
	check(pl_refine(p, &(struct pl_refine){.named = names}, &r));
	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_stack *s = &p->stacks[p->cells[i].stack];
		unnamed += s->depth && names[p->locations[s->location].function] ? p->cells[i].samples : 0;
	}
	for (uint32_t i = 0; i < r->cell_count; i++) {
		const struct pl_stack *s = &r->stacks[r->cells[i].stack];
		const struct pl_function *f = &r->functions[r->locations[s->location].function];
		if (!s->depth || strcmp(text(r, f->name), "crunch") != 0)
			continue;
		named += r->cells[i].samples;
		assert_string_equal(text(r, f->qualname), "crunch");
		assert_string_equal(text(r, f->file), "/lib/lib.so");
		assert_int_equal(f->unnamed, 0);
	}
	assert_true(unnamed > 0 && named == unnamed);
	assert_int_equal(r->function_count, p->function_count);
	free(names);
	pl_profile_destroy(r);
	pl_profile_destroy(p);
}

static void check_told(const struct plumb_profile *r, uint32_t stack)
{
	const struct pl_location *inner = &r->locations[r->stacks[stack].location],
				 *outer = &r->locations[r->stacks[r->stacks[stack].parent].location];
	const struct pl_function *f = &r->functions[inner->function];

	assert_string_equal(text(r, f->name), "inlined");
	assert_string_equal(text(r, f->source), "/src/c.h");
	assert_true(inner->inlined && inner->line == 7 && !inner->address && f->plumbing && !f->unnamed);
	f = &r->functions[outer->function];
	assert_string_equal(text(r, f->name), "lib.so+0x1000");
	assert_string_equal(text(r, f->source), f->unnamed ? "" : "/src/c.c");
	assert_true(!outer->inlined && outer->line == (f->unnamed ? 0 : 5) && !outer->address);
}

/* What is told of one place of two; the samples are on what is told. */
static void places_get_lines_that_they_did_not_have(void **state)
{
	static const struct pl_told_frame frames[] = {{.source = "/src/c.c", .line = 5},
						      {"inlined", "/src/c.h", 7, .plumbing = true}};
	struct plumb_profile *p = random_profile(8, 400), *r = NULL;
	struct pl_told *told = calloc(p->location_count + 1, sizeof *told);
	uint64_t before = 0, after = 0;

	for (uint32_t i = 0; i < p->location_count; i++)
		if (p->locations[i].address == 0x1000)
			told[i] = (struct pl_told){frames, 2};
	check(pl_refine(p, &(struct pl_refine){.told = told}, &r));
	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_stack *s = &p->stacks[p->cells[i].stack];
		before += s->depth && told[s->location].count ? p->cells[i].samples : 0;
	}
	for (uint32_t i = 0; i < r->cell_count; i++) {
		const uint32_t stack = r->cells[i].stack;
		assert_true(r->locations[r->stacks[stack].location].address != 0x1000);
		if (!stack || strcmp(text(r, r->functions[r->locations[r->stacks[stack].location].function].name),
				     "inlined") != 0)
			continue;
		after += r->cells[i].samples;
		check_told(r, stack);
	}
	assert_true(before > 0 && before == after);
	free(told);
	pl_profile_destroy(r);
	pl_profile_destroy(p);
}

static void modules_are_found_by_path_and_by_name(void **state)
{
	static const struct {
		const char *file, *name;
		bool is;
	} rows[] = {
		{"/usr/lib/python3.12/json/decoder.py", "json", true},
		{"/usr/lib/python3.12/json/decoder.py", "json.decoder", true},
		{"/usr/lib/python3.12/json/decoder.py", "json.dec", false},
		{"/usr/lib/python3.12/json/decoder.py", "decoder", false},
		{"/usr/lib/python3.12/json/__init__.py", "json", true},
		{"/usr/lib/python3.12/jsonx/__init__.py", "json", false},
		{"/usr/lib/python3.12/threading.py", "threading", true},
		{"/v/lib/python3.12/site-packages/requests/api.py", "requests", true},
		{"/v/lib/python3.12/site-packages/requests/api.py", "requests.api", true},
		{"/v/lib/python3.12/site-packages/requests/api.py", "site-packages", false},
		{"/v/lib/python3.12/site-packages/numpy/_core/_multiarray_umath.cpython-312.so", "numpy", true},
		{"/v/site-packages/fast.cpython-312-x86_64-linux-gnu.so", "fast", true},
		{"/srv/app/shop/orders.py", "shop", true},
		{"/srv/app/shop/orders.py", "shop.orders", true},
		{"/srv/app/shop/orders.py", "orders", true},
		{"/srv/app/shop/orders.py", "/srv/app", true},
		{"/srv/app/shop/orders.py", "/srv/app/", true},
		{"/srv/app/shop/orders.py", "/srv/ap", false},
		{"/srv/app/shop/orders.py", "shop/orders.py", true},
		{"/srv/app/shop/orders.py", "orders.py", true},
		{"/srv/app/shop/orders.py", "rders.py", false},
		{"app.py", "app", true},
		{"app.py", "app.py", true},
		{"<frozen importlib._bootstrap>", "importlib", true},
		{"<frozen importlib._bootstrap>", "importlib._bootstrap", true},
		{"<frozen importlib._bootstrap>", "importlib._boot", false},
		{"<frozen runpy>", "runpy", true},
		{"", "app", false},
		{"app.py", "", false},
		{"/", "/", true},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (pl_refine_is_module(rows[i].file, rows[i].name) != rows[i].is)
			fail_msg("%s in %s", rows[i].file, rows[i].name);
	}
}

/* What a file says of the whole, and of a window that is all of it. */
static void counts_without_end_stay_so_in_a_window(void **state)
{
	struct source src;
	struct plumb_profile *refined;

	source_make(&src, 5, true);
	src.p->meta.ticks = src.p->meta.losses[PL_LOSS_MISSED] = UINT64_MAX;
	check(pl_refine(src.p, &(struct pl_refine){.to_ns = src.p->meta.duration_ns}, &refined));
	assert_true(refined->meta.ticks == UINT64_MAX && refined->meta.losses[PL_LOSS_MISSED] == UINT64_MAX);
	pl_profile_destroy(refined);
	pl_profile_destroy(src.p);
}

static struct plumb_profile *with_functions(size_t len, unsigned count)
{
	struct plumb_profile *p;
	char *name = malloc(len);

	assert_non_null(name);
	memset(name, 'a', len);
	check(pl_profile_create(&p));
	for (unsigned i = 0; i < count; i++) {
		struct pl_function f = {.firstline = i};
		uint32_t id;

		check(pl_profile_string(p, name, len, &f.name));
		check(pl_profile_function(p, &f, &id));
	}
	free(name);
	return p;
}

/* A name that a search begins anew in at each byte. */
static void names_too_long_to_be_searched_are_told(void **state)
{
	static const struct {
		size_t len;
		unsigned count;
		enum plumb_error_code code;
	} rows[] = {{1u << 17, 1, PLUMB_ERR_LIMIT}, {1u << 14, 20, PLUMB_ERR_LIMIT}, {100, 20000, PLUMB_OK}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct plumb_profile *p = with_functions(rows[i].len, rows[i].count), *refined = NULL;
		struct plumb_error *err = pl_refine(p, &(struct pl_refine){.focus = "a.*b"}, &refined);

		assert_int_equal(plumb_error_code(err), rows[i].code);
		plumb_error_destroy(err);
		pl_profile_destroy(refined);
		pl_profile_destroy(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_filter_alone),
		cmocka_unit_test(random_filters_give_what_a_plain_loop_gives),
		cmocka_unit_test(an_aggregate_is_refined_too),
		cmocka_unit_test(a_broken_expression_is_told),
		cmocka_unit_test(a_window_of_time_is_a_recording_of_that_time),
		cmocka_unit_test(a_thread_is_idle_in_what_is_selected_if_it_is_in_the_whole),
		cmocka_unit_test(a_process_that_ended_behind_the_window_did_not_end_in_it),
		cmocka_unit_test(functions_get_names_that_they_did_not_have),
		cmocka_unit_test(places_get_lines_that_they_did_not_have),
		cmocka_unit_test(modules_are_found_by_path_and_by_name),
		cmocka_unit_test(names_too_long_to_be_searched_are_told),
		cmocka_unit_test(counts_without_end_stay_so_in_a_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
