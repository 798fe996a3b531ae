/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about samples and threads as such (layer model): totals, thread rows, stack rows. Read-only.
 * Questions about functions and call paths are view_calls.c, about processes view_processes.c, what passes a filter is
 * select.c. */
#include "view.h"

#include <assert.h>
#include <stdlib.h>

#include "index.h"
#include "select.h"
#include "stats.h"
#include "words.h"

/* What is known of next to no time is not known. */
#define MOST_MISSED 0.9

static double part_of(double part, double rest)
{
	return part + rest > 0 ? part / (part + rest) : 0;
}

/* Under a budget ticks differ in length. Older recordings know their number only. */
double pl_view_missed(const struct pl_meta *m)
{
	if (m->taken_ns)
		return part_of((double)m->missed_ns, (double)m->taken_ns);
	return part_of((double)m->losses[PL_LOSS_MISSED], (double)m->ticks);
}

bool pl_view_scalable(const struct pl_meta *m)
{
	return m->mode == PL_MODE_CPU || pl_view_missed(m) <= MOST_MISSED;
}

/* But for CPU time every sample stands for one period. */
double pl_view_scale(const struct pl_meta *m)
{
	return m->mode == PL_MODE_CPU || !pl_view_scalable(m) ? 1 : 1 / (1 - pl_view_missed(m));
}

static void count(uint64_t *sum, uint16_t state, uint8_t bit, uint64_t by)
{
	if (state & bit)
		*sum = pl_sum_u64(*sum, by);
}

static bool waits(uint16_t state)
{
	return !(state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN));
}

static void add_to_totals(struct pl_totals *t, const struct pl_cell *c)
{
	t->by_quality[c->quality] = pl_sum_u64(t->by_quality[c->quality], c->samples);
#define PLUMB_STATE(name, bit, member, ...) count(&t->member, c->state, bit, c->samples);
#include <plumb/words.def>
	if (waits(c->state) || pl_state_ready(c->state)) {
		struct pl_reason_part *r = &t->waits[pl_reason_of(c->state)];

		r->samples = pl_sum_u64(r->samples, c->samples);
	}
}

static bool is_time_told(const struct plumb_profile *p, uint64_t weight_ns)
{
	return p->meta.mode == PL_MODE_WALL && weight_ns > 0;
}

/* Of the bits @p of just @p bits are set. */
struct asked_state {
	uint8_t of, bits;
	enum pl_reason reason;
	bool reasons; /* it is this reason that is asked for */
};

static bool is_asked(const struct asked_state *a, uint16_t state)
{
	if (a->reasons)
		return (waits(state) || pl_state_ready(state)) && pl_reason_of(state) == a->reason;
	return (state & a->of) == a->bits;
}

static struct pl_part part_asked(const struct pl_selection *s, const struct asked_state *asked)
{
	bool timed = is_time_told(s->profile, s->weight_ns);
	uint64_t hit[PL_BATCHES] = {0}, sum = 0;

	for (int b = 0; b < PL_BATCHES; b++) {
		for (uint32_t i = s->start[b]; i < s->start[b + 1]; i++) {
			const struct pl_cell *c = s->cells[i];

			if (is_asked(asked, c->state))
				hit[b] = pl_sum_u64(hit[b], timed ? c->weight_ns : c->samples);
		}
		sum = pl_sum_u64(sum, hit[b]);
	}
	return (struct pl_part){
		.share = s->samples ? (double)sum / (double)(timed ? s->weight_ns : s->samples) : 0,
		.half_width = pl_select_half_width(hit, timed ? s->batch_weight_ns : s->batch_samples, s->samples)};
}

static struct pl_part part_in_state(const struct pl_selection *s, uint8_t of, uint8_t bits)
{
	return part_asked(s, &(struct asked_state){.of = of, .bits = bits});
}

static void add_waits(const struct pl_selection *s, struct pl_totals *t)
{
	for (unsigned i = 0; i < PL_REASONS; i++) {
		if (!t->waits[i].samples)
			continue;
		t->waits[i].part = part_asked(s, &(struct asked_state){.reason = (enum pl_reason)i, .reasons = true});
		t->reasons_known |= i > PL_REASON_GIL;
		t->waited += t->waits[i].part.share;
	}
}

static struct pl_state_parts parts_of(const struct pl_selection *s)
{
	return (struct pl_state_parts){
		.waiting = part_in_state(s, PL_STATE_ON_CPU | PL_STATE_UNKNOWN, 0),
#define PLUMB_STATE(name, bit, member, ...) .member = part_in_state(s, bit, bit),
#include <plumb/words.def>
	};
}

unsigned pl_view_reasons(const struct pl_totals *t, enum pl_reason ret[PL_REASONS])
{
	unsigned count = 0, at;

	for (unsigned i = 0; i < PL_REASONS && t->reasons_known; i++) {
		if (!t->waits[i].samples)
			continue;
		for (at = count++; at && t->waits[ret[at - 1]].part.share < t->waits[i].part.share; at--)
			ret[at] = ret[at - 1];
		ret[at] = (enum pl_reason)i;
	}
	return count;
}

/* How many threads have samples that pass, and how many are left out for being idle. */
static struct plumb_error *count_threads(const struct pl_selection *s, const struct pl_filter *f, struct pl_totals *t)
{
	const struct plumb_profile *p = s->profile;
	bool *seen = calloc((size_t)p->thread_count + 1, sizeof *seen);
	if (!seen)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < s->start[PL_BATCHES]; i++) {
		uint32_t thread = s->cells[i]->thread;
		t->threads += !seen[thread];
		seen[thread] = true;
	}
	for (uint32_t i = 0; i < p->thread_count && f->idle == PL_IDLE_HIDE_THREADS && !f->threads; i++)
		t->idle_threads_hidden += pl_view_thread_idle(p, i);
	free(seen);
	return NULL;
}

struct plumb_error *pl_view_totals(const struct plumb_profile *p, const struct pl_filter *f, struct pl_totals *ret)
{
	struct pl_selection s;
	struct plumb_error *err = pl_select(p, f, &s);
	if (err)
		return err;
	struct pl_totals t = {.samples = s.samples, .weight_ns = s.weight_ns};
	for (uint32_t i = 0; i < s.start[PL_BATCHES]; i++)
		add_to_totals(&t, s.cells[i]);
	t.doing = parts_of(&s);
	add_waits(&s, &t);
	err = count_threads(&s, f, &t);
	pl_selection_deinit(&s);
	if (!err)
		*ret = t;
	return err;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Busiest first; ties by number of samples, then in the order of thread ids. */
static int compare_thread_rows(const void *a, const void *b)
{
	const struct pl_thread_row *x = a, *y = b;
	int order = compare_u64(y->on_cpu, x->on_cpu);
	if (!order)
		order = compare_u64(y->samples, x->samples);
	return order ? order : compare_u64(x->thread, y->thread);
}

static void add_to_thread_row(struct pl_thread_row *r, const struct pl_cell *c)
{
	r->samples = pl_sum_u64(r->samples, c->samples);
	r->weight_ns = pl_sum_u64(r->weight_ns, c->weight_ns);
	count(&r->on_cpu, c->state, PL_STATE_ON_CPU, c->samples);
	count(&r->has_gil, c->state, PL_STATE_HAS_GIL, c->samples);
	count(&r->wants_gil, c->state, PL_STATE_WANTS_GIL, c->samples);
	count(&r->on_cpu_ns, c->state, PL_STATE_ON_CPU, c->weight_ns);
	count(&r->has_gil_ns, c->state, PL_STATE_HAS_GIL, c->weight_ns);
	count(&r->wants_gil_ns, c->state, PL_STATE_WANTS_GIL, c->weight_ns);
}

double pl_view_thread_share(const struct plumb_profile *p, const struct pl_thread_row *row, uint64_t samples,
			    uint64_t ns)
{
	if (is_time_told(p, row->weight_ns))
		return (double)ns / (double)row->weight_ns;
	return row->samples ? (double)samples / (double)row->samples : 0;
}

/* Keep the rows of threads that have samples, in busiest-first order. */
static void finish_thread_rows(const struct plumb_profile *p, pl_thread_rows *rows)
{
	size_t kept = 0;
	for (size_t i = 0; i < rows->len; i++) {
		if (!rows->data[i].samples)
			continue;
		rows->data[kept] = rows->data[i];
		rows->data[kept].idle = pl_view_thread_idle(p, rows->data[kept].thread);
		kept++;
	}
	rows->len = kept;
	if (kept)
		qsort(rows->data, kept, sizeof *rows->data, compare_thread_rows);
}

struct plumb_error *pl_view_threads(const struct plumb_profile *p, const struct pl_filter *f, pl_thread_rows *ret)
{
	pl_thread_rows rows = {0};
	for (uint32_t i = 0; i < p->thread_count; i++) {
		if (!pl_vec_push(&rows, ((struct pl_thread_row){.thread = i}))) {
			pl_vec_deinit(&rows);
			return &pl_err_no_memory;
		}
	}
	/* Idle threads have rows whatever the filter says of them: the caller shows or counts them. */
	struct pl_filter shown = *f;
	if (shown.idle == PL_IDLE_HIDE_THREADS)
		shown.idle = PL_IDLE_KEEP;
	struct pl_selection s;
	struct plumb_error *err = pl_select(p, &shown, &s);
	if (err) {
		pl_vec_deinit(&rows);
		return err;
	}
	for (uint32_t i = 0; i < s.start[PL_BATCHES]; i++) {
		assert(s.cells[i]->thread < rows.len);
		add_to_thread_row(&rows.data[s.cells[i]->thread], s.cells[i]);
	}
	pl_selection_deinit(&s);
	finish_thread_rows(p, &rows);
	*ret = rows;
	return NULL;
}

static int compare_cells(const void *a, const void *b)
{
	const struct pl_cell *x = *(const struct pl_cell *const *)a, *y = *(const struct pl_cell *const *)b;
	return x->stack != y->stack ? compare_u64(x->stack, y->stack) : compare_u64(x->thread, y->thread);
}

/* One row per (stack, thread) out of cells in that order. */
static bool sum_stack_rows(const struct pl_selection *s, pl_stack_rows *rows)
{
	for (uint32_t i = 0; i < s->start[PL_BATCHES]; i++) {
		const struct pl_cell *c = s->cells[i];
		struct pl_stack_row *last = rows->len ? &rows->data[rows->len - 1] : NULL;
		if (last && last->stack == c->stack && last->thread == c->thread) {
			last->samples = pl_sum_u64(last->samples, c->samples);
			last->weight_ns = pl_sum_u64(last->weight_ns, c->weight_ns);
			last->by_quality[c->quality] = pl_sum_u64(last->by_quality[c->quality], c->samples);
			continue;
		}
		struct pl_stack_row row = {
			.stack = c->stack, .thread = c->thread, .samples = c->samples, .weight_ns = c->weight_ns};
		row.by_quality[c->quality] = c->samples;
		if (!pl_vec_push(rows, row))
			return false;
	}
	return true;
}

struct plumb_error *pl_view_stacks(const struct plumb_profile *p, const struct pl_filter *f, pl_stack_rows *ret)
{
	struct pl_selection s;
	struct plumb_error *err = pl_select(p, f, &s);
	if (err)
		return err;
	qsort(s.cells, s.start[PL_BATCHES], sizeof *s.cells, compare_cells);
	pl_stack_rows rows = {0};
	bool ok = sum_stack_rows(&s, &rows);
	pl_selection_deinit(&s);
	if (!ok) {
		pl_vec_deinit(&rows);
		return &pl_err_no_memory;
	}
	*ret = rows;
	return NULL;
}
