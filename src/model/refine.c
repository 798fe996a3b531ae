/* SPDX-License-Identifier: Apache-2.0 */
/* Filters (layer model). One thread at a time.
 *
 * What passes is added to a new profile, whose rows are made when a sample needs them; where each row of the old one
 * went is remembered, and by that the stream of the new one translates the samples of the old one's stream. The
 * smallest share is asked of the result of all other filters, so it is a second round over that. */
#include "refine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "events.h"
#include "gil_waits.h"
#include "index.h"
#include "refine_parts.h"
#include "words.h"
#include "select.h"
#include "vec.h"

#define NOT_YET UINT32_MAX

struct refiner {
	const struct plumb_profile *from;
	struct plumb_profile *to;
	struct plumb_profile *owned; /* `from`, if it is of the first round */
	struct pl_refine o;	     /* without its texts; `named` and `told` while it is filled */
	bool selects;		     /* samples, by what they show */
	uint8_t *flags;		     /* of the stacks of `from`; NULL: all pass */
	bool *threads_in;	     /* NULL: all */
	uint32_t *stacks, *locations, *functions, *threads, *processes, *locks; /* ids of `from` -> ids of `to` */
	uint32_t *grounds; /* of each stack the innermost one of it that is not native; NULL: that is not asked for */
	PL_VEC(uint32_t) chain;
	struct pl_axis axis; /* of what is left of a profile that was added up */
};

bool pl_refine_asks(const struct pl_refine *o)
{
	return o->thread_count || o->process_count || o->from_ns || o->to_ns || o->doing || o->skip_idle || o->kinds ||
	       o->native || o->module_count || o->tag_count || o->focus || o->ignore || o->functions ||
	       o->no_addresses || o->min_share > 0 || o->named || o->told;
}

static void refiner_destroy(void *ctx)
{
	struct refiner *r = ctx;

	if (!r)
		return;
	pl_profile_destroy(r->owned);
	free(r->flags);
	free(r->threads_in);
	free(r->stacks);
	free(r->locations);
	free(r->functions);
	free(r->threads);
	free(r->processes);
	free(r->locks);
	free(r->grounds);
	pl_vec_deinit(&r->chain);
	pl_axis_deinit(&r->axis);
	free(r);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static uint32_t *new_map(size_t count)
{
	uint32_t *map = malloc((count + 1) * sizeof *map);

	if (map)
		memset(map, 0xff, (count + 1) * sizeof *map);
	return map;
}

static struct plumb_error *map_string(struct refiner *r, uint32_t *id)
{
	size_t len;
	const char *text = pl_strtab_get(r->from->strings, *id, &len);

	return pl_profile_string(r->to, text, len, id);
}

/* It has a name by now. */
static struct plumb_error *name_function(struct refiner *r, const char *name, struct pl_function *f)
{
	struct plumb_error *err = pl_profile_string(r->to, name, strlen(name), &f->name);

	f->qualname = f->name;
	f->unnamed = 0;
	return err;
}

static struct plumb_error *map_names(struct refiner *r, uint32_t id, struct pl_function *f)
{
	struct plumb_error *err;

	if (r->o.named && r->o.named[id])
		return name_function(r, r->o.named[id], f);
	if ((err = map_string(r, &f->name)) || (err = map_string(r, &f->qualname)))
		return err;
	return map_string(r, &f->unnamed);
}

static struct plumb_error *map_function(struct refiner *r, uint32_t id, uint32_t *ret)
{
	struct pl_function f = r->from->functions[id];
	struct plumb_error *err = NULL;

	if (r->functions[id] == NOT_YET) {
		f.plumbing = f.plumbing && !r->o.native;
		f.source = r->o.functions ? 0 : f.source;
		if ((err = map_names(r, id, &f)) || (err = map_string(r, &f.file)) ||
		    (err = map_string(r, &f.labels)) || (err = map_string(r, &f.source)) ||
		    (err = pl_profile_function(r->to, &f, &r->functions[id])))
			return err;
	}
	*ret = r->functions[id];
	return NULL;
}

static struct plumb_error *map_location(struct refiner *r, uint32_t id, uint32_t *ret)
{
	struct pl_location l = r->from->locations[id];
	struct plumb_error *err = NULL;

	if (r->locations[id] == NOT_YET) {
		if (r->o.functions)
			l = (struct pl_location){.function = l.function, .column = -1, .end_column = -1};
		if (r->o.no_addresses)
			l.address = 0;
		if ((err = map_function(r, l.function, &l.function)) ||
		    (err = pl_profile_location(r->to, &l, &r->locations[id])))
			return err;
	}
	*ret = r->locations[id];
	return NULL;
}

static uint8_t origin_of(const struct plumb_profile *p, uint32_t stack)
{
	return p->functions[p->locations[p->stacks[stack].location].function].origin;
}

/* The stack that the frame of @p id stands on. Native frames that something of Python is inside of are no leaf. */
static uint32_t caller_of(const struct refiner *r, uint32_t id)
{
	uint32_t parent = r->from->stacks[id].parent;
	uint8_t origin = r->grounds ? origin_of(r->from, id) : PL_ORIGIN_NATIVE;

	return origin == PL_ORIGIN_PYTHON || origin == PL_ORIGIN_TASK ? r->grounds[parent] : parent;
}

/* Once for all stacks: any number of them can stand on the same native frames. Parents have smaller ids than their
 * children. */
static bool find_grounds(struct refiner *r)
{
	const struct plumb_profile *p = r->from;

	r->grounds = new_map(p->stack_count);
	if (!r->grounds)
		return false;
	r->grounds[0] = 0;
	for (uint32_t i = 1; i < p->stack_count; i++)
		r->grounds[i] = origin_of(p, i) == PL_ORIGIN_NATIVE ? r->grounds[p->stacks[i].parent] : i;
	return true;
}

/* @p f: the function of the location, in ids of `to`. */
static struct plumb_error *add_told(struct refiner *r, const struct pl_told_frame *t, struct pl_function f,
				    uint32_t *stack)
{
	const int32_t line = t->name || !f.unnamed ? t->line : 0;
	struct pl_location l = {
		.line = line, .end_line = line, .column = -1, .end_column = -1, .inlined = t->name != NULL};
	struct plumb_error *err = t->name ? name_function(r, t->name, &f) : NULL;

	if (t->name)
		f.plumbing = t->plumbing && !r->o.native;
	if (!err && line)
		err = pl_profile_string(r->to, t->source, strlen(t->source), &f.source);
	if (err || (err = pl_profile_function(r->to, &f, &l.function)))
		return err;
	uint32_t location;
	err = pl_profile_location(r->to, &l, &location);
	return err ? err : pl_profile_stack(r->to, *stack, location, stack);
}

static struct plumb_error *map_told(struct refiner *r, uint32_t location, uint32_t *stack)
{
	const struct pl_told *t = &r->o.told[location];
	uint32_t function;
	struct plumb_error *err = map_function(r, r->from->locations[location].function, &function);

	for (size_t i = 0; i < t->count && !err; i++)
		err = add_told(r, &t->frames[i], r->to->functions[function], stack);
	return err;
}

/* One frame; that of its caller is known. */
static struct plumb_error *map_node(struct refiner *r, uint32_t id)
{
	uint32_t parent = r->stacks[caller_of(r, id)], location;

	if (r->flags && (r->flags[id] & PL_SIEVE_FRAME_OUT)) {
		r->stacks[id] = parent;
		return NULL;
	}
	const uint32_t from = r->from->stacks[id].location;
	if (r->o.told && r->o.told[from].count) {
		r->stacks[id] = parent;
		return map_told(r, from, &r->stacks[id]);
	}
	struct plumb_error *err = map_location(r, from, &location);
	return err ? err : pl_profile_stack(r->to, parent, location, &r->stacks[id]);
}

/* From the outermost frame that is not known yet to the innermost one. */
static struct plumb_error *map_stack(struct refiner *r, uint32_t id, uint32_t *ret)
{
	struct plumb_error *err = NULL;

	pl_vec_clear(&r->chain);
	for (uint32_t at = id; r->stacks[at] == NOT_YET; at = caller_of(r, at)) {
		if (!pl_vec_push(&r->chain, at))
			return &pl_err_no_memory;
	}
	while (r->chain.len && !err)
		err = map_node(r, r->chain.data[--r->chain.len]);
	*ret = r->stacks[id];
	return err;
}

static uint64_t since(uint64_t t, uint64_t start)
{
	return t > start ? t - start : 0;
}

static struct plumb_error *map_process(struct refiner *r, uint32_t id, uint32_t *ret)
{
	struct pl_process proc = r->from->processes[id];
	struct plumb_error *err = NULL;

	if (r->processes[id] == NOT_YET) {
		/* What lived on behind the end did not end here. */
		proc.ended = proc.ended && (!r->o.to_ns || proc.ended_ns <= r->o.to_ns);
		proc.came_ns = since(proc.came_ns, r->o.from_ns);
		proc.ended_ns = proc.ended ? since(proc.ended_ns, r->o.from_ns) : 0;
		if ((err = map_string(r, &proc.program)) || (err = map_string(r, &proc.name)) ||
		    (err = map_string(r, &proc.python)) || (err = map_string(r, &proc.host)) ||
		    (err = pl_profile_process(r->to, &proc, &r->processes[id])))
			return err;
	}
	*ret = r->processes[id];
	return NULL;
}

/* How much CPU time a thread used is known of all of its samples only; that it used none at all is true of each part.
 */
static void cut_cpu_time(const struct refiner *r, uint32_t id, struct pl_thread *t)
{
	if (!r->o.from_ns && !r->o.to_ns && !r->selects)
		return;
	t->cpu_known = pl_view_thread_idle(r->from, id);
	t->cpu_ns = 0;
}

static struct plumb_error *map_thread(struct refiner *r, uint32_t id, uint32_t *ret)
{
	struct pl_thread t = r->from->threads[id];
	struct plumb_error *err = NULL;

	if (r->threads[id] == NOT_YET) {
		cut_cpu_time(r, id, &t);
		if ((err = map_process(r, t.process, &t.process)) || (err = map_string(r, &t.name)) ||
		    (err = pl_profile_thread(r->to, &t, &r->threads[id])))
			return err;
	}
	*ret = r->threads[id];
	return NULL;
}

static struct plumb_error *map_source(struct refiner *r, const struct pl_source *s)
{
	uint32_t file = s->file;
	struct plumb_error *err = map_string(r, &file);

	return err ? err : pl_profile_source(r->to, file, s->text, s->len, s->changed);
}

/* Of the files whose functions were needed. */
static struct plumb_error *map_sources(struct refiner *r)
{
	for (uint32_t i = 0; i < r->from->function_count; i++) {
		const struct pl_source *s = pl_profile_source_of(r->from, pl_function_source(&r->from->functions[i]));

		if (!s || r->functions[i] == NOT_YET ||
		    pl_profile_source_of(r->to, pl_function_source(&r->to->functions[r->functions[i]])))
			continue;
		struct plumb_error *err = map_source(r, s);
		if (err)
			return err;
	}
	return NULL;
}

static struct plumb_error *map_module(struct refiner *r, struct pl_module m)
{
	struct plumb_error *err = map_string(r, &m.file);

	if (!err)
		err = map_string(r, &m.build_id);
	return err ? err : pl_profile_module(r->to, &m);
}

/* Likewise. */
static struct plumb_error *map_modules(struct refiner *r)
{
	bool *needed = calloc((size_t)pl_strtab_count(r->from->strings) + 1, sizeof *needed);
	struct plumb_error *err = needed ? NULL : &pl_err_no_memory;

	for (uint32_t i = 0; i < r->from->function_count && !err; i++)
		needed[r->from->functions[i].file] |= r->functions[i] != NOT_YET;
	for (uint32_t i = 0; i < r->from->module_count && !err; i++)
		if (needed[r->from->modules[i].file])
			err = map_module(r, r->from->modules[i]);
	free(needed);
	return err;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* @p asked: as the table of words has it. */
static bool is_true(uint16_t state, uint16_t asked)
{
	if (asked > UINT8_MAX)
		return pl_reason_state(pl_reason_of(state)) == asked;
	return asked ? state & asked : !(state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN));
}

static unsigned doing_of(uint16_t state)
{
	static const struct {
		uint16_t state;
		unsigned doing;
	} bits[] = {
#define PLUMB_DOING(name, bit, state, ...) {state, bit},
#include <plumb/words.def>
	};
	unsigned doing = 0;

	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
		doing |= is_true(state, bits[i].state) ? bits[i].doing : 0;
	return doing;
}

/* All but the time. */
static bool passes(const struct refiner *r, uint32_t stack, uint32_t thread, uint16_t state)
{
	if (r->threads_in && !r->threads_in[thread])
		return false;
	if (r->o.doing && !(r->o.doing & doing_of(state)))
		return false;
	if (r->o.skip_idle && !(state & (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)))
		return false;
	return !r->flags || !(r->flags[stack] & PL_SIEVE_OUT);
}

static bool in_time(const struct refiner *r, uint64_t time_ns)
{
	return time_ns >= r->o.from_ns && (!r->o.to_ns || time_ns < r->o.to_ns);
}

/* *passes_ret: it does, and *s is in ids of the new profile. */
static struct plumb_error *sieve(struct refiner *r, struct pl_sample *s, bool *passes_ret)
{
	*passes_ret = in_time(r, s->time_ns) && passes(r, s->stack, s->thread, s->state);
	if (!*passes_ret)
		return NULL;
	s->time_ns -= r->o.from_ns;
	struct plumb_error *err = map_stack(r, s->stack, &s->stack);
	return err ? err : map_thread(r, s->thread, &s->thread);
}

static struct plumb_error *count_sample(void *ctx, const struct pl_sample *sample)
{
	struct refiner *r = ctx;
	struct pl_sample s = *sample;
	bool in;
	struct plumb_error *err = sieve(r, &s, &in);

	return err || !in ? err : pl_profile_add(r->to, &s);
}

static struct plumb_error *count_cells(struct refiner *r)
{
	struct plumb_error *err = pl_cells_widen(r->to, r->from->index->batch_shift);

	for (uint32_t i = 0; i < r->from->cell_count && !err; i++) {
		struct pl_cell c = r->from->cells[i];

		if (!passes(r, c.stack, c.thread, c.state))
			continue;
		if ((err = map_stack(r, c.stack, &c.stack)) || (err = map_thread(r, c.thread, &c.thread)))
			return err;
		err = pl_cells_add(r->to, &c);
	}
	return err;
}

/* They are sums: of a time, or of what a thread did meanwhile, there are none. */
static struct plumb_error *count_waits(struct refiner *r)
{
	struct plumb_error *err = NULL;

	if (r->o.from_ns || r->o.to_ns || r->o.doing || r->o.skip_idle || r->owned)
		return NULL;
	for (uint32_t i = 0; i < r->from->wait_count && !err; i++) {
		struct pl_wait w = r->from->waits[i];

		if (!passes(r, w.stack, w.thread, 0))
			continue;
		if (!(err = map_stack(r, w.stack, &w.stack)) && !(err = map_thread(r, w.thread, &w.thread)))
			err = pl_profile_wait(r->to, &w);
	}
	r->to->waited = r->from->waited;
	return err;
}

static struct plumb_error *add_event(struct refiner *r, struct pl_event e)
{
	struct plumb_error *err = NULL;

	if (e.process && !(err = map_process(r, e.process - 1, &e.process)))
		e.process++;
	if (!err && e.thread && !(err = map_thread(r, e.thread - 1, &e.thread)))
		e.thread++;
	if (!r->from->axis.merged)
		e.time_ns -= r->o.from_ns;
	if (!err && !(err = map_string(r, &e.name)) && !(err = map_string(r, &e.labels)))
		err = pl_profile_event(r->to, &e);
	return err;
}

static struct plumb_error *map_events(struct refiner *r)
{
	bool *in = NULL;
	struct plumb_error *err = pl_events_of_threads(r->from, r->threads_in, &in);

	for (uint32_t i = 0; i < r->from->event_count && !err; i++)
		if (in[i] && in_time(r, pl_event_axis_ns(r->from, r->from->events[i].time_ns)))
			err = add_event(r, r->from->events[i]);
	free(in);
	return err;
}

/* A sample of the stream on its way to a reader of the new profile. */
struct passing {
	struct refiner *refiner;
	pl_sample_fn *fn;
	void *ctx;
};

/* It has a row: note_holder. */
static uint32_t map_holder(const struct refiner *r, uint32_t held_by)
{
	bool known = held_by != PL_GIL_UNSEEN && r->functions[held_by - 1] != NOT_YET;

	return known ? 1 + r->functions[held_by - 1] : PL_GIL_UNSEEN;
}

static struct plumb_error *pass_on(void *ctx, const struct pl_sample *sample)
{
	struct passing *x = ctx;
	struct pl_sample s = *sample;
	bool in;
	struct plumb_error *err = sieve(x->refiner, &s, &in);

	if (err || !in)
		return err;
	if (s.held_by)
		s.held_by = map_holder(x->refiner, s.held_by);
	if (s.lock)
		s.lock = 1 + x->refiner->locks[s.lock - 1];
	return x->fn(x->ctx, &s);
}

/* A function that held the GIL while what passes waited need not pass itself. */
static struct plumb_error *note_holder(void *ctx, const struct pl_sample *s)
{
	struct refiner *r = ctx;
	uint32_t function;

	if (!s->held_by || s->held_by == PL_GIL_UNSEEN || !in_time(r, s->time_ns) ||
	    !passes(r, s->stack, s->thread, s->state))
		return NULL;
	return map_function(r, s->held_by - 1, &function);
}

static struct plumb_error *note_holders(struct refiner *r)
{
	return pl_gil_is_told(r->from) ? pl_gil_each(r->from, note_holder, r) : NULL;
}

static struct plumb_error *map_place(struct refiner *r, uint32_t *place)
{
	uint32_t location;
	struct plumb_error *err = *place ? map_location(r, *place - 1, &location) : NULL;

	*place = *place && !err ? 1 + location : 0;
	return err;
}

/* Whoever held the lock that what passes waited for need not pass itself, either. */
static struct plumb_error *note_lock(void *ctx, const struct pl_sample *s)
{
	struct refiner *r = ctx;
	struct plumb_error *err;

	if (!s->lock || r->locks[s->lock - 1] != NOT_YET || !in_time(r, s->time_ns) ||
	    !passes(r, s->stack, s->thread, s->state))
		return NULL;
	struct pl_lock_state l = r->from->locks[s->lock - 1];
	if ((err = map_string(r, &l.name)) || (err = map_place(r, &l.location)) || (err = map_place(r, &l.inside)))
		return err;
	return pl_profile_lock(r->to, &l, &r->locks[s->lock - 1]);
}

static struct plumb_error *note_locks(struct refiner *r)
{
	return r->from->lock_count ? pl_profile_each(r->from, note_lock, r) : NULL;
}

typedef struct plumb_error *each_fn(const struct plumb_profile *p, pl_sample_fn *fn, void *ctx);

static struct plumb_error *each_that_passes(struct refiner *r, each_fn *each, pl_sample_fn *fn, void *fn_ctx)
{
	struct passing x = {.refiner = r, .fn = fn, .ctx = fn_ctx};

	/* All rows were made when it was counted. */
	pl_profile_hold(r->to, true);
	struct plumb_error *err = each(r->from, pass_on, &x);
	pl_profile_hold(r->to, false);
	return err;
}

static struct plumb_error *refined_each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	return each_that_passes(ctx, pl_profile_each, fn, fn_ctx);
}

static struct plumb_error *refined_each_held(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	return each_that_passes(ctx, pl_gil_each, fn, fn_ctx);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Counts of a file can be anything. */
static uint64_t scale(uint64_t n, double by)
{
	double scaled = (double)n * by + 0.5;

	return scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}

/* For how long it was recorded in the time that was chosen; *start_ret: when that began. */
static uint64_t time_left(const struct refiner *r, const struct pl_meta *m, uint64_t *start_ret)
{
	uint64_t from_ns = r->o.from_ns, to_ns = r->o.to_ns;
	uint64_t end = to_ns && (!m->duration_ns || to_ns < m->duration_ns) ? to_ns : m->duration_ns;

	*start_ret = m->start_real_ns ? pl_sum_u64(m->start_real_ns, from_ns) : 0;
	if (!r->axis.merged)
		return since(end, from_ns);
	if (from_ns)
		*start_ret = pl_axis_start_ns(&r->axis, r->from->index->batch_shift, 0);
	else
		*start_ret = m->start_real_ns;
	return pl_axis_covered_ns(&r->axis);
}

/* What is known of the whole time only is taken to be spread evenly over it. */
static void cut_meta(const struct refiner *r, struct pl_meta *m)
{
	uint64_t start, left = time_left(r, m, &start);
	double by = m->duration_ns ? (double)left / (double)m->duration_ns : 1;

	if (!r->o.from_ns && !r->o.to_ns)
		return;
	m->start_real_ns = start;
	m->duration_ns = left;
	m->ticks = scale(m->ticks, by);
	for (int i = 0; i < PL_LOSSES; i++)
		m->losses[i] = scale(m->losses[i], by);
	for (int i = 0; i < PL_REFUSALS; i++)
		m->refused[i] = scale(m->refused[i], by);
	m->taken_ns = scale(m->taken_ns, by);
	m->missed_ns = scale(m->missed_ns, by);
	m->stops = scale(m->stops, by);
	m->stopped_ns = scale(m->stopped_ns, by);
	m->halted_ns = scale(m->halted_ns, by);
	m->used_cpu_ns = 0; /* when they used it is not known */
	m->profiler_cpu_ns = scale(m->profiler_cpu_ns, by);
}

static struct plumb_error *map_meta(struct refiner *r)
{
	struct pl_meta m = r->from->meta;

	for (size_t i = 0; pl_meta_text(&m, i); i++) {
		struct plumb_error *err = map_string(r, pl_meta_text(&m, i));

		if (err)
			return err;
	}
	cut_meta(r, &m);
	m.selected = m.selected || r->selects;
	m.native = r->o.native ? PL_NATIVE_AS_RECORDED : m.native;
	r->to->meta = m;
	return NULL;
}

static struct plumb_error *choose_threads(struct refiner *r, const struct pl_refine *o)
{
	struct pl_filter f = {.idle = PL_IDLE_KEEP,
			      .threads = o->thread_count ? o->threads : NULL,
			      .thread_count = o->thread_count,
			      .processes = o->process_count ? o->processes : NULL,
			      .process_count = o->process_count};

	if (!f.threads && !f.processes)
		return NULL;
	return pl_select_threads(r->from, &f, &r->threads_in);
}

/* Of a profile that was added up whole batches are chosen: those that the time touches. */
static struct plumb_error *choose_axis(struct refiner *r)
{
	unsigned shift = r->from->index->batch_shift;
	uint64_t batch_ns = r->from->batch_ns, whole = batch_ns - 1;
	const struct pl_axis *a = &r->from->axis;

	if (!a->merged)
		return NULL;
	uint64_t first = r->o.from_ns >> shift, end = (r->o.to_ns >> shift) + ((r->o.to_ns & whole) != 0);
	first = first < a->count ? first : a->count;
	end = r->o.to_ns && end < a->count ? end : a->count;
	r->o.from_ns = first << shift;
	r->o.to_ns = r->o.to_ns ? end << shift : 0;
	return pl_axis_part(a, shift, (uint32_t)first, (uint32_t)end, &r->axis) ? NULL : &pl_err_no_memory;
}

/* The new profile's own, when nothing is counted any more. */
static struct plumb_error *give_axis(struct refiner *r)
{
	struct pl_axis axis;

	if (!r->axis.merged)
		return NULL;
	if (!pl_axis_copy(&axis, &r->axis))
		return &pl_err_no_memory;
	struct plumb_error *err = pl_axis_set(r->to, r->from->index->batch_shift, &axis);
	pl_axis_deinit(&axis);
	return err;
}

static struct plumb_error *refiner_init(struct refiner *r, const struct plumb_profile *p, const struct pl_refine *o)
{
	r->from = p;
	r->selects = o->doing || o->module_count || o->tag_count || o->focus || o->ignore;
	r->o = (struct pl_refine){.from_ns = o->from_ns,
				  .to_ns = o->to_ns,
				  .doing = o->doing,
				  .skip_idle = o->skip_idle,
				  .functions = o->functions,
				  .no_addresses = o->no_addresses,
				  .native = o->native,
				  .named = o->named,
				  .told = o->told};
	r->stacks = new_map(p->stack_count);
	r->locations = new_map(p->location_count);
	r->functions = new_map(p->function_count);
	r->threads = new_map(p->thread_count);
	r->processes = new_map(p->process_count);
	r->locks = new_map(p->lock_count);
	if (!r->stacks || !r->locations || !r->functions || !r->threads || !r->processes || !r->locks)
		return &pl_err_no_memory;
	r->stacks[0] = 0;
	if (o->native == PL_NATIVE_LEAF && !find_grounds(r))
		return &pl_err_no_memory;
	struct plumb_error *err = pl_profile_create(&r->to);
	if (!err)
		err = choose_axis(r);
	return err ? err : choose_threads(r, o);
}

static struct plumb_error *fill(struct refiner *r)
{
	struct plumb_error *err = map_meta(r);

	if (err)
		return err;
	/* Cells know the time to their batch only. */
	err = r->o.from_ns || r->o.to_ns ? pl_profile_each(r->from, count_sample, r) : count_cells(r);
	if (!err)
		err = note_holders(r);
	if (!err)
		err = note_locks(r);
	if (!err)
		err = count_waits(r);
	if (!err)
		err = map_events(r);
	if (!err)
		err = give_axis(r);
	if (!err)
		err = map_sources(r);
	return err ? err : map_modules(r);
}

/* @p owned and @p flags belong to the result, or are freed. */
static struct plumb_error *refine_once(const struct plumb_profile *p, const struct pl_refine *o, uint8_t *flags,
				       struct plumb_profile *owned, struct plumb_profile **ret)
{
	struct refiner *r = calloc(1, sizeof *r);

	if (!r) {
		free(flags);
		pl_profile_destroy(owned);
		return &pl_err_no_memory;
	}
	r->flags = flags;
	r->owned = owned;
	struct plumb_error *err = refiner_init(r, p, o);
	if (!err)
		err = fill(r);
	r->o.named = NULL; /* all is mapped; these are the caller's */
	r->o.told = NULL;
	if (err) {
		pl_profile_destroy(r->to);
		refiner_destroy(r);
		return err;
	}
	*ret = r->to;
	if (p->stream.each)
		r->to->stream = (struct pl_stream){
			.each = refined_each, .each_held = refined_each_held, .destroy = refiner_destroy, .ctx = r};
	else
		refiner_destroy(r);
	return NULL;
}

static struct plumb_error *check(const struct plumb_profile *p, const struct pl_refine *o)
{
	if ((o->from_ns || o->to_ns) && !pl_profile_has_time(p))
		return pl_error_hint(pl_error(PLUMB_ERR_INVALID, "no time can be chosen: the samples have none"), "%s",
				     "leave '--time' out");
	return NULL;
}

struct plumb_error *pl_refine(const struct plumb_profile *p, const struct pl_refine *o, struct plumb_profile **ret)
{
	static const struct pl_refine nothing;
	struct plumb_profile *first;
	uint8_t *flags = NULL;
	struct plumb_error *err = check(p, o);

	if (!err)
		err = pl_sieve_frames(p, o, &flags);
	if (!err)
		err = refine_once(p, o, flags, NULL, &first);
	if (err)
		return err;
	if (o->min_share <= 0) {
		*ret = first;
		return NULL;
	}
	err = pl_sieve_shares(first, o->min_share, &flags);
	if (err) {
		pl_profile_destroy(first);
		return err;
	}
	return refine_once(first, &nothing, flags, first, ret);
}
