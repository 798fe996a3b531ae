/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for tests. The dump is the oracle of equality: two profiles are equal if their dumps are. */
#include "support.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "events.h"
#include "labels.h"
#include "vec.h"

typedef PL_VEC(char *) lines;

void check(struct plumb_error *err)
{
	if (err)
		fail_msg("%s", plumb_error_message(err));
}

struct plumb_profile *empty_profile(void)
{
	struct plumb_profile *p = NULL;

	check(pl_profile_create(&p));
	return p;
}

static const char *text_of(const struct plumb_profile *p, uint32_t id)
{
	return pl_strtab_get(p->strings, id, NULL);
}

const char *labels_text(const struct plumb_profile *p, const struct pl_function *f, char ret[256])
{
	size_t len = 0;
	const char *labels = pl_strtab_get(p->strings, f->labels, &len);

	assert_true(len < 256);
	for (size_t i = 0; i < len; i++)
		ret[i] = (char)(labels[i] ? labels[i] : '|');
	ret[len] = '\0';
	return ret;
}

static void write_stack(FILE *out, const struct plumb_profile *p, uint32_t stack)
{
	char labels[256];

	for (; stack; stack = p->stacks[stack].parent) {
		const struct pl_location *l = &p->locations[p->stacks[stack].location];
		const struct pl_function *f = &p->functions[l->function];
		fprintf(out, " <%d%s %s %s %s %" PRIu32 " %s%s%s@%d-%d:%d-%d o%d%s+%" PRIx64 ">", f->origin,
			f->plumbing ? "p" : "", text_of(p, f->name), text_of(p, f->qualname), text_of(p, f->file),
			f->firstline, labels_text(p, f, labels), text_of(p, f->unnamed), text_of(p, f->source), l->line,
			l->end_line, l->column, l->end_column, l->opcode, l->inlined ? "i" : "", l->address);
	}
}

static void write_thread(FILE *out, const struct plumb_profile *p, const struct pl_thread *t)
{
	const struct pl_process *proc = &p->processes[t->process];
	fprintf(out, "%" PRIu32 "<%" PRIu32 " %" PRIu64 " %s %s %s %" PRIu64 "-%d:%" PRIu64, proc->pid, proc->parent,
		proc->start_ns, text_of(p, proc->program), text_of(p, proc->name), text_of(p, proc->python),
		proc->came_ns, proc->ended, proc->ended_ns);
	fprintf(out, "@%s", text_of(p, proc->host));
	fprintf(out, "/%" PRIu64 " %s main=%d cpu=%d:%" PRIu64, t->tid, text_of(p, t->name), t->main, t->cpu_known,
		t->cpu_ns);
}

typedef void write_row_fn(FILE *out, const struct plumb_profile *p, uint32_t i);

/* A line for each of @p count rows. */
static void dump_rows(const struct plumb_profile *p, uint32_t count, write_row_fn *write_row, lines *all)
{
	for (uint32_t i = 0; i < count; i++) {
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);
		write_row(out, p, i);
		fclose(out);
		assert_true(pl_vec_push(all, text));
	}
}

static void write_cell(FILE *out, const struct plumb_profile *p, uint32_t i)
{
	const struct pl_cell *c = &p->cells[i];
	fprintf(out, "cell ");
	write_thread(out, p, &p->threads[c->thread]);
	fprintf(out, " state=%d quality=%d batch=%d n=%" PRIu64 " ns=%" PRIu64, c->state, c->quality, c->batch,
		c->samples, c->weight_ns);
	write_stack(out, p, c->stack);
}

static void write_thread_row(FILE *out, const struct plumb_profile *p, uint32_t i)
{
	fprintf(out, "thread ");
	write_thread(out, p, &p->threads[i]);
}

static void write_source(FILE *out, const struct plumb_profile *p, uint32_t i)
{
	const struct pl_source *s = &p->sources[i];
	fprintf(out, "source %s changed=%d ", text_of(p, s->file), s->changed);
	for (size_t j = 0; j < s->len; j++)
		fprintf(out, "%02x", (unsigned)(uint8_t)s->text[j]);
}

static void write_module(FILE *out, const struct plumb_profile *p, uint32_t i)
{
	fprintf(out, "module %s is %s", text_of(p, p->modules[i].file), text_of(p, p->modules[i].build_id));
}

static void write_wait(FILE *out, const struct plumb_profile *p, uint32_t i)
{
	const struct pl_wait *w = &p->waits[i];
	fprintf(out, "wait ");
	write_thread(out, p, &p->threads[w->thread]);
	fprintf(out, " what=%d n=%" PRIu64 " ns=%" PRIu64, w->what, w->tasks, w->task_ns);
	write_stack(out, p, w->stack);
}

static void write_event(FILE *out, const struct plumb_profile *p, uint32_t i)
{
	const struct pl_event *e = &p->events[i];
	struct pl_label labels[PL_LABELS_MAX];
	uint64_t since_ns;
	bool known = pl_event_since_ns(p, e->time_ns, &since_ns);
	fprintf(out, "event %d at %d:%" PRIu64 " for %" PRIu64 " %s of ", e->kind, known, known ? since_ns : e->time_ns,
		e->duration_ns, text_of(p, e->name));
	if (e->thread)
		write_thread(out, p, &p->threads[e->thread - 1]);
	else if (e->process)
		fprintf(out, "%" PRIu32, p->processes[e->process - 1].pid);
	for (unsigned n = pl_labels_in(p, e->labels, labels), k = 0; k < n; k++)
		fprintf(out, " %s=%s", labels[k].name, labels[k].value);
}

static void write_meta(FILE *out, const struct plumb_profile *p)
{
	const struct pl_meta *m = &p->meta;
	fprintf(out, "start=%" PRIu64 " duration=%" PRIu64 " period=%" PRIu64 " seed=%" PRIu64 " mode=%d jitter=%d\n",
		m->start_real_ns, m->duration_ns, m->period_ns, m->seed, m->mode, m->jitter);
	fprintf(out,
		"complete=%d ticks=%" PRIu64 " stops=%" PRIu64 " stopped=%" PRIu64 " cpu=%" PRIu64 " halted=%" PRIu64
		"\n",
		m->complete, m->ticks, m->stops, m->stopped_ns, m->profiler_cpu_ns, m->halted_ns);
	for (int i = 0; i < PL_LOSSES; i++)
		fprintf(out, "loss %d=%" PRIu64 "\n", i, m->losses[i]);
	fprintf(out, "damaged parts %" PRIu64 "\n", m->damaged_parts);
	struct pl_meta copy = *m;
	for (size_t i = 0; pl_meta_text(&copy, i); i++)
		fprintf(out, "text %zu=%s\n", i, text_of(p, *pl_meta_text(&copy, i)));
	const struct pl_collector *c = &m->collector;
	fprintf(out, "collector=%d skip_idle=%d measured=%d", c->known, c->skip_idle, c->measured);
	if (c->known)
		fprintf(out, " %g %g %g %g %g %g %g", c->interval_usec, c->run_interval_usec, c->duration_sec,
			c->sample_rate, c->error_rate, c->missed_samples, c->mode);
	fprintf(out, "\n");
	if (p->waited.looks)
		fprintf(out, "lists=%" PRIu64 " covered=%" PRIu64 " lost=%" PRIu64 "\n", p->waited.looks,
			p->waited.covered_ns, p->waited.lost_ns);
	fprintf(out, "untimed=%d batch_ns=%" PRIu64 " left_out=%" PRIu64 "\n", m->untimed, p->batch_ns,
		m->sources_left_out);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *profile_dump(const struct plumb_profile *p)
{
	lines all = {0};
	dump_rows(p, p->cell_count, write_cell, &all);
	dump_rows(p, p->thread_count, write_thread_row, &all);
	dump_rows(p, p->source_count, write_source, &all);
	dump_rows(p, p->module_count, write_module, &all);
	dump_rows(p, p->wait_count, write_wait, &all);
	dump_rows(p, p->event_count, write_event, &all);
	if (all.len)
		qsort(all.data, all.len, sizeof *all.data, compare_lines);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	write_meta(out, p);
	for (size_t i = 0; i < all.len; i++) {
		fprintf(out, "%s\n", all.data[i]);
		free(all.data[i]);
	}
	fclose(out);
	pl_vec_deinit(&all);
	return text;
}

void assert_same_profile(const struct plumb_profile *a, const struct plumb_profile *b)
{
	char *x = profile_dump(a), *y = profile_dump(b);
	assert_string_equal(x, y);
	free(x);
	free(y);
}

uint32_t add_string(struct plumb_profile *p, const char *text)
{
	uint32_t id = 0;
	check(pl_profile_string(p, text, strlen(text), &id));
	return id;
}

uint32_t add_frame(struct plumb_profile *p, uint32_t parent, const char *name, const char *file, int32_t line)
{
	struct pl_function f = {.name = add_string(p, name), .file = add_string(p, file), .firstline = 1};
	f.qualname = f.name;
	struct pl_location l = {.line = line, .end_line = line, .column = -1, .end_column = -1};
	uint32_t location = 0, stack = 0;
	check(pl_profile_function(p, &f, &l.function));
	check(pl_profile_location(p, &l, &location));
	check(pl_profile_stack(p, parent, location, &stack));
	return stack;
}

uint32_t add_thread(struct plumb_profile *p, uint32_t pid, uint64_t tid, const char *name, bool main)
{
	struct pl_process proc = {.pid = pid,
				  .parent = pid - 1,
				  .start_ns = pid * 10000000ull,
				  .program = add_string(p, "python app.py"),
				  .name = add_string(p, "app.py"),
				  .python = add_string(p, "3.11.7"),
				  .came_ns = p->meta.start_real_ns % 1000,
				  .ended = tid % 2,
				  .ended_ns = tid % 2 ? tid * 1000 : 0};
	struct pl_thread t = {.tid = tid, .name = add_string(p, name), .main = main};
	uint32_t id = 0;
	check(pl_profile_process(p, &proc, &t.process));
	check(pl_profile_thread(p, &t, &id));
	return id;
}

void add_samples(struct plumb_profile *p, uint32_t stack, uint32_t thread, uint16_t state, uint64_t time_ns,
		 uint64_t samples, uint64_t weight_ns)
{
	struct pl_sample s = {.time_ns = time_ns,
			      .thread = thread,
			      .stack = stack,
			      .state = state,
			      .quality = PL_EXACT,
			      .weight_ns = weight_ns};
	for (uint64_t i = 0; i < samples; i++)
		check(pl_profile_add(p, &s));
}

uint64_t random_below(struct pl_rng *rng, uint64_t n)
{
	return pl_rng_next(rng) % n;
}

/* The same line, run by another instruction. */
static uint32_t with_opcode(struct generator *g, uint32_t parent, uint32_t stack)
{
	struct pl_location l = g->profile->locations[g->profile->stacks[stack].location];
	uint32_t location = 0;
	l.opcode = (uint16_t)random_below(&g->rng, 4);
	l.opcode = l.opcode == 3 ? UINT16_MAX : l.opcode;
	check(pl_profile_location(g->profile, &l, &location));
	check(pl_profile_stack(g->profile, parent, location, &stack));
	return stack;
}

/* Two tags look the same, and are not. */
static uint32_t generate_tag(struct generator *g)
{
	static const char a[] = "route\0/a", b[] = "route\0/b, user=3", c[] = "route\0/b\0user\0003";
	uint32_t tag = 0;

	switch (random_below(&g->rng, 8)) {
	case 0:
		check(pl_profile_tag(g->profile, "[route=/a]", a, sizeof a, &tag));
		break;
	case 1:
		check(pl_profile_tag(g->profile, "[route=/b, user=3]", b, sizeof b, &tag));
		break;
	case 2:
		check(pl_profile_tag(g->profile, "[route=/b, user=3]", c, sizeof c, &tag));
		break;
	}
	return tag;
}

/* By debug information: two files of one library have a function of that name, which is inlined now and then. */
static void add_source(struct generator *g, struct pl_function *f, struct pl_location *l)
{
	static const char *const sources[] = {"", "/src/a.c", "/src/b.c"};

	f->source = add_string(g->profile, sources[random_below(&g->rng, 3)]);
	if (!f->source)
		return;
	l->line = l->end_line = 1 + (int32_t)random_below(&g->rng, 3);
	l->inlined = random_below(&g->rng, 2) == 0;
}

/* Of one file there are two builds; the functions look the same, and are not. */
static uint32_t generate_unnamed(struct generator *g, uint32_t parent)
{
	static const char *const places[] = {"", "ab01+0x1000", "cd02+0x1000"};
	struct plumb_profile *p = g->profile;
	struct pl_function f = {.name = add_string(p, "lib.so+0x1000"),
				.file = add_string(p, "/lib/lib.so"),
				.unnamed = add_string(p, places[random_below(&g->rng, 3)]),
				.plumbing = random_below(&g->rng, 3) == 0,
				.origin = PL_ORIGIN_NATIVE};
	struct pl_location l = {.column = -1, .end_column = -1};
	const struct pl_module build = {.file = f.file,
					.build_id = add_string(p, random_below(&g->rng, 2) ? "ab01" : "cd02")};
	uint32_t location = 0, stack = 0;

	f.qualname = f.name;
	if (!f.unnamed)
		add_source(g, &f, &l);
	if (!f.source)
		l.address = 0x1000 * random_below(&g->rng, 3);
	check(pl_profile_module(p, &build));
	check(pl_profile_function(p, &f, &l.function));
	check(pl_profile_location(p, &l, &location));
	check(pl_profile_stack(p, parent, location, &stack));
	return stack;
}

static uint32_t generate_stack(struct generator *g)
{
	uint32_t stack = g->tags ? generate_tag(g) : 0;
	uint64_t depth = random_below(&g->rng, g->depth);
	for (uint64_t i = 0; i < depth; i++) {
		char name[24], file[32];
		uint64_t function = random_below(&g->rng, 6);
		snprintf(name, sizeof name, "f%" PRIu64, function);
		snprintf(file, sizeof file, "m%" PRIu64 ".py", function / 3);
		uint32_t parent = stack;
		stack = add_frame(g->profile, parent, name, file, 10 + (int32_t)random_below(&g->rng, 3));
		stack = g->rich ? with_opcode(g, parent, stack) : stack;
		if (g->tags && i == 1 && random_below(&g->rng, 3) == 0)
			stack = generate_unnamed(g, stack);
	}
	if (g->tags && random_below(&g->rng, 6) == 0)
		stack = generate_unnamed(g, stack);
	if (random_below(&g->rng, 10) == 0)
		check(pl_profile_marker(g->profile, stack, "<moving>", &stack));
	return stack;
}

struct pl_sample generate_sample(struct generator *g)
{
	static const char *const names[] = {"", "MainThread", "worker", "äöü"};
	struct pl_rng *rng = &g->rng;
	uint64_t tid = random_below(rng, 4);
	g->time_ns += random_below(rng, g->step_ns);
	struct pl_sample s = {.time_ns = g->time_ns};
	s.stack = generate_stack(g);
	s.thread = add_thread(g->profile, 100 + (uint32_t)random_below(rng, g->processes), 1000 + tid,
			      names[random_below(rng, 4)], tid == 1);
	struct pl_thread *t = &g->profile->threads[s.thread];
	t->cpu_known = tid != 2;
	t->cpu_ns += t->cpu_known ? random_below(rng, 1000000) : 0;
	s.state = (uint16_t)(random_below(rng, 64) | random_below(rng, 16) << PL_STATE_BITS);
	s.quality = (uint8_t)random_below(rng, PL_QUALITIES);
	s.weight_ns = random_below(rng, 4) ? g->profile->meta.period_ns : random_below(rng, 3000000);
	if (g->rich)
		s.extra = random_below(rng, 3) ? 0 : random_below(rng, 1ull << random_below(rng, 40));
	return s;
}

void generate_source(struct generator *g)
{
	char file[32], text[64];
	struct pl_rng *rng = &g->rng;
	size_t len = random_below(rng, sizeof text);
	for (size_t i = 0; i < len; i++)
		text[i] = (char)random_below(rng, i ? 256 : 3);
	snprintf(file, sizeof file, "m%" PRIu64 ".py", random_below(rng, 3));
	check(pl_profile_source(g->profile, add_string(g->profile, file), text, len, random_below(rng, 4) == 0));
}

void generate_waits(struct generator *g)
{
	struct plumb_profile *p = g->profile;
	struct pl_rng *rng = &g->rng;
	const struct pl_waited more = {1, random_below(rng, 1000), random_below(rng, 1000)};
	pl_profile_waited(p, &more);
	for (int i = 0; i < 3 && p->thread_count; i++) {
		struct pl_wait w = {.stack = generate_stack(g),
				    .thread = (uint32_t)random_below(rng, p->thread_count),
				    .what = (uint8_t)random_below(rng, 3),
				    .tasks = 1 + random_below(rng, 5),
				    .task_ns = random_below(rng, 1000)};
		check(pl_profile_wait(p, &w));
	}
}

static struct pl_collector random_collector(struct pl_rng *rng)
{
	struct pl_collector c = {.known = random_below(rng, 2)};
	if (!c.known)
		return c;
	c.skip_idle = random_below(rng, 2);
	c.measured = random_below(rng, 2);
	c.interval_usec = (double)random_below(rng, 1000) / 8;
	c.run_interval_usec = (double)random_below(rng, 1000) / 8;
	c.duration_sec = random_below(rng, 2) ? (double)random_below(rng, 1000) / 8 : NAN;
	c.sample_rate = (double)random_below(rng, 1000) / 8;
	c.error_rate = -(double)random_below(rng, 1000) / 8;
	c.missed_samples = (double)random_below(rng, 1000) / 8;
	c.mode = (double)random_below(rng, 4);
	return c;
}

void random_meta(struct pl_rng *rng, struct plumb_profile *p)
{
	static const char *const commands[] = {"", "python app.py", "python -m other", "sh run.sh"};
	struct pl_meta *m = &p->meta;
	m->start_real_ns = 1 + random_below(rng, 3); /* ties are frequent */
	m->duration_ns = random_below(rng, 1000000);
	m->period_ns = 1000000;
	m->seed = random_below(rng, 2);
	m->mode = PL_MODE_WALL;
	m->jitter = random_below(rng, 2);
	m->complete = random_below(rng, 2);
	m->ticks = 1 + random_below(rng, 100000);
	struct pl_rng newer = *rng; /* what an older plumb, of which recordings are kept, did not have */
	for (int i = 0; i <= PL_LOSS_BEYOND; i++)
		m->losses[i] = random_below(rng, 100);
	m->losses[PL_LOSS_FOLDED] = random_below(&newer, 100);
	m->damaged_parts = random_below(&newer, 100);
	m->stops = random_below(rng, 1000);
	m->stopped_ns = random_below(rng, 1000000);
	m->halted_ns = m->stopped_ns / 2;
	m->profiler_cpu_ns = random_below(rng, 1000000);
	m->command = add_string(p, commands[random_below(rng, 4)]);
	m->engine = add_string(p, commands[random_below(rng, 4)]);
	m->plumb_version = add_string(p, random_below(rng, 2) ? "0.1.0" : "0.2.0");
	m->host = add_string(p, random_below(rng, 2) ? "a" : "b");
	m->refused_why = add_string(p, commands[random_below(rng, 4)]);
	m->collector = random_collector(rng);
	m->sources_left_out = random_below(rng, 100);
}

struct pl_event generate_event(struct generator *g)
{
	static const char labels[] = "number\0003\0loss\0000.5";
	struct plumb_profile *p = g->profile;
	struct pl_rng *rng = &g->rng;
	struct pl_event e = {.time_ns = random_below(rng, 1000000000),
			     .duration_ns = random_below(rng, 3),
			     .kind = (uint8_t)random_below(rng, PL_EVENTS),
			     .name = add_string(p, random_below(rng, 2) ? "epoch" : "")};
	if (p->thread_count && random_below(rng, 3)) {
		e.thread = 1 + (uint32_t)random_below(rng, p->thread_count);
		e.process = 1 + p->threads[e.thread - 1].process;
	}
	if (random_below(rng, 2))
		check(pl_profile_string(p, labels, sizeof labels, &e.labels));
	check(pl_profile_event(p, &e));
	return e;
}

struct plumb_profile *random_profile(uint64_t seed, unsigned samples)
{
	struct plumb_profile *p = NULL;
	check(pl_profile_create(&p));
	struct generator g = {.rng = {.state = seed}, .profile = p, .depth = 8, .processes = 2, .tags = true};
	g.step_ns = PL_BATCH_MIN_NS >> random_below(&g.rng, 6);
	random_meta(&g.rng, p);
	for (unsigned i = 0; i < samples; i++) {
		struct pl_sample s = generate_sample(&g);
		check(pl_profile_add(p, &s));
	}
	for (int i = 0; i < 3; i++)
		generate_source(&g);
	generate_waits(&g);
	for (int i = 0; i < 3; i++)
		(void)generate_event(&g);
	return p;
}
