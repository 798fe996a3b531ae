/* SPDX-License-Identifier: Apache-2.0 */
/* What each row took in each recording, and how its batches vary (layer model). Read-only for the profiles.
 *
 * One pass over the tree for each batch of each recording; kept are sums of squares and products, so that memory
 * follows the rows and not their batches or the number of recordings. docs/internals/statistics.md has the formulas. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff_parts.h"
#include "index.h"

#define MIN_BATCHES 5

/* One figure of one row in one recording. */
struct figure {
	double hit, hit2, hit_all, lag_hit, lag_mixed; /* sums over batches; lag: products of neighbours */
	double now, last;
	uint64_t samples;
};

/* The recording that is added up. */
struct pass {
	const struct pl_diff_tables *t;
	const struct pl_diff_options *o;
	const struct pl_diff_run *run;
	const uint32_t *self_row, *total_row; /* per node, PL_NO_ROW: none */
	struct figure *self, *total;	      /* per row */
	uint32_t row_count;
	double *node_self, *node_total;			       /* of the current batch */
	uint64_t *node_samples;				       /* of the recording, with everything below */
	double batches, all, all2, lag_all, all_now, all_last; /* of the scale */
	uint64_t scale_samples, scale_ns;
};

static void pass_deinit(struct pass *p)
{
	free(p->self);
	free(p->total);
	free(p->node_self);
	free(p->node_total);
	free(p->node_samples);
}

static bool pass_init(struct pass *p)
{
	p->self = calloc((size_t)p->row_count + 1, sizeof *p->self);
	p->total = calloc((size_t)p->row_count + 1, sizeof *p->total);
	p->node_self = calloc(p->t->node_count, sizeof *p->node_self);
	p->node_total = calloc(p->t->node_count, sizeof *p->node_total);
	p->node_samples = calloc(p->t->node_count, sizeof *p->node_samples);
	return p->self && p->total && p->node_self && p->node_total && p->node_samples;
}

static void sum_nodes(struct pass *p, int batch)
{
	const struct pl_diff_tables *t = p->t;
	const struct pl_selection *s = &p->run->selection;

	memset(p->node_self, 0, t->node_count * sizeof *p->node_self);
	memset(p->node_total, 0, t->node_count * sizeof *p->node_total);
	for (uint32_t i = s->start[batch]; i < s->start[batch + 1]; i++) {
		const struct pl_cell *c = s->cells[i];
		uint32_t n = p->run->node_of_stack[c->stack];
		double hit = (double)(p->o->scale == PL_DIFF_BY_SAMPLES ? c->samples : c->weight_ns);

		p->node_self[n] += hit;
		p->node_total[n] += hit;
		p->node_samples[n] = pl_sum_u64(p->node_samples[n], c->samples);
	}
	for (uint32_t n = t->node_count - 1; n > 0; n--)
		p->node_total[t->nodes[n].parent] += p->node_total[n];
}

static double scale_of_batch(const struct pass *p)
{
	double all = p->node_total[0];

	if (p->o->scale != PL_DIFF_BY_FUNCTION)
		return all;
	all = 0;
	for (uint32_t n = 1; n < p->t->node_count; n++)
		all += p->t->reference[n] ? p->node_total[n] : 0;
	return all;
}

static void sum_rows(struct pass *p)
{
	for (uint32_t n = 1; n < p->t->node_count; n++) {
		if (p->node_total[n] <= 0)
			continue;
		if (p->self_row[n] != PL_NO_ROW)
			p->self[p->self_row[n]].now += p->node_self[n];
		if (p->total_row[n] != PL_NO_ROW)
			p->total[p->total_row[n]].now += p->node_total[n];
	}
}

static void end_batch(const struct pass *p, struct figure *f)
{
	f->hit += f->now;
	f->hit2 += f->now * f->now;
	f->hit_all += f->now * p->all_now;
	f->lag_hit += f->now * f->last;
	f->lag_mixed += f->now * p->all_last + f->last * p->all_now;
	f->last = f->now;
	f->now = 0;
}

static void add_batch(struct pass *p, int batch)
{
	sum_nodes(p, batch);
	p->all_now = scale_of_batch(p);
	sum_rows(p);
	for (uint32_t r = 0; r < p->row_count; r++) {
		end_batch(p, &p->self[r]);
		end_batch(p, &p->total[r]);
	}
	p->batches++;
	p->all += p->all_now;
	p->all2 += p->all_now * p->all_now;
	p->lag_all += p->all_now * p->all_last;
	p->all_last = p->all_now;
}

/* From node_samples, which then are those with everything below. */
static void count_samples(struct pass *p)
{
	const struct pl_diff_tables *t = p->t;

	for (uint32_t n = 1; n < t->node_count; n++) {
		if (p->self_row[n] != PL_NO_ROW)
			p->self[p->self_row[n]].samples += p->node_samples[n];
	}
	for (uint32_t n = t->node_count - 1; n > 0; n--)
		p->node_samples[t->nodes[n].parent] += p->node_samples[n];
	for (uint32_t n = 1; n < t->node_count; n++) {
		if (p->total_row[n] != PL_NO_ROW)
			p->total[p->total_row[n]].samples += p->node_samples[n];
		if (t->reference && t->reference[n])
			p->scale_samples += p->node_samples[n];
	}
	if (!t->reference)
		p->scale_samples = p->run->selection.samples;
}

static void add_up(struct pass *p)
{
	for (int b = 0; b < PL_BATCHES; b++) {
		if (p->run->selection.batch_weight_ns[b])
			add_batch(p, b);
	}
	count_samples(p);
}

/* What a weight of the recording is in time for a unit of work. */
static double time_factor(const struct pl_diff_run *run)
{
	return pl_view_scale(&run->selection.profile->meta) / run->units;
}

/* Add the @p n-th value, from 0, to a mean and the sum of squares around it. */
static void add_value(double value, double n, double *mean, double *squares)
{
	double off = value - *mean;

	*mean += off / (n + 1);
	*squares += off * (value - *mean);
}

/* Take the figure of a recording over into that of its side, which has @p runs already. */
static void take(const struct pass *p, const struct figure *f, double runs, struct pl_diff_sum *into)
{
	double share = f->hit / p->all, scale2 = p->all * p->all;
	double spread = fmax(f->hit2 - 2 * share * f->hit_all + share * share * p->all2, 0) / scale2;
	double lagged = (f->lag_hit - share * f->lag_mixed + share * share * p->lag_all) / scale2;

	add_value(share, runs, &into->mean, &into->squares);
	add_value(f->hit * time_factor(p->run), runs, &into->mean_ns, &into->squares_ns);
	into->samples = pl_sum_u64(into->samples, f->samples);
	if (p->batches < MIN_BATCHES) { /* no batches to speak of: samples are taken for independent */
		double odds = p->o->scale == PL_DIFF_BY_FUNCTION ? share * (1 + share) : share * (1 - share);
		into->within += fmax(odds, 0) / fmax((double)p->scale_samples, 1);
		return;
	}
	into->within += spread * p->batches / (p->batches - 1);
	into->spread += spread;
	into->lagged += lagged;
}

/* A recording of a program that another one has started, or of a part, is of no work that could be told. */
static bool is_whole(const struct plumb_profile *p)
{
	return p->process_count && p->processes[0].ended && p->meta.complete && !p->meta.selected && !p->meta.imported;
}

/* Before it is counted. */
static void add_time(struct pl_diff_total *total, const struct pl_diff_run *run)
{
	const struct plumb_profile *p = run->selection.profile;
	bool first = total->runs == 0;

	add_value((double)run->selection.weight_ns * time_factor(run), (double)total->runs, &total->mean_ns,
		  &total->squares_ns);
	if (!pl_view_scalable(&p->meta))
		total->unscaled = fmax(total->unscaled, pl_view_missed(&p->meta));
	total->units += run->units;
	total->whole = (total->whole || first) && is_whole(p);
	total->timed = (total->timed || first) && !p->meta.counted;
}

/* Before a run is counted. */
static void add_file(struct pl_diff_total *total, uint64_t bytes)
{
	bool known = bytes && (total->file_bytes || !total->runs);

	total->file_bytes = known ? pl_sum_u64(total->file_bytes, bytes) : 0;
}

static void take_run(const struct pass *p, struct pl_diff_sums *s)
{
	enum pl_diff_side side = p->run->side;
	struct pl_diff_total *total = &s->sides[side];
	const struct pl_selection *sel = &p->run->selection;
	bool batched = p->batches >= MIN_BATCHES;

	for (uint32_t r = 0; r < s->row_count; r++) {
		take(p, &p->self[r], (double)total->runs, &s->self[side][r]);
		take(p, &p->total[r], (double)total->runs, &s->total[side][r]);
	}
	add_time(total, p->run);
	add_file(total, sel->profile->meta.file_bytes);
	total->runs++;
	total->samples = pl_sum_u64(total->samples, sel->samples);
	total->weight_ns = pl_sum_u64(total->weight_ns, sel->weight_ns);
	total->reference_ns = pl_sum_u64(total->reference_ns, p->t->reference ? (uint64_t)fmin(p->all, 1.8e19) : 0);
	total->batched = total->batched && batched;
	s->batches[side] += batched ? p->batches : 0;
	s->freedom[side] += batched ? p->batches - 1 : fmax((double)p->scale_samples - 1, 1);
	s->resolution[side] += (double)p->scale_samples;
}

static struct plumb_error *nothing_there(const struct pass *p)
{
	const char *side = p->run->side == PL_DIFF_BEFORE ? "before" : "after";

	if (p->o->scale == PL_DIFF_BY_FUNCTION && p->run->selection.samples)
		return pl_error_hint(pl_error(PLUMB_ERR_INVALID,
					      "a recording of '%s' has no samples of a function '%s' to compare by",
					      side, p->o->reference),
				     "name a function that 'plumb report' shows of both, or total, or samples");
	return pl_error(PLUMB_ERR_INVALID, "a recording of '%s' has no samples to compare", side);
}

static struct plumb_error *add_run(struct pl_diff_sums *s, const struct pl_diff_tables *t, struct pass p)
{
	struct plumb_error *err = NULL;

	p.t = t;
	p.row_count = s->row_count;
	if (!pass_init(&p)) {
		pass_deinit(&p);
		return &pl_err_no_memory;
	}
	add_up(&p);
	if (p.all > 0)
		take_run(&p, s);
	else
		err = nothing_there(&p);
	pass_deinit(&p);
	return err;
}

/* Which nodes count for which row: of paths each node is one, else all of a key are. */
static void choose_rows(const struct pl_diff_tables *t, bool paths, uint32_t *self_row, uint32_t *total_row)
{
	self_row[0] = total_row[0] = PL_NO_ROW;
	for (uint32_t n = 1; n < t->node_count; n++) {
		self_row[n] = paths ? n - 1 : t->nodes[n].key;
		total_row[n] = paths || t->topmost[n] ? self_row[n] : PL_NO_ROW;
	}
}

static bool sums_init(struct pl_diff_sums *s)
{
	bool ok = true;

	for (int side = 0; side < PL_DIFF_SIDES; side++) {
		s->sides[side].batched = true;
		s->self[side] = calloc((size_t)s->row_count + 1, sizeof *s->self[side]);
		s->total[side] = calloc((size_t)s->row_count + 1, sizeof *s->total[side]);
		ok = ok && s->self[side] && s->total[side];
	}
	return ok;
}

struct plumb_error *pl_diff_sums_make(const struct pl_diff_tables *t, const struct pl_diff_options *o,
				      struct pl_diff_sums *ret)
{
	bool paths = o->rows == PL_DIFF_PATHS;
	struct pl_diff_sums s = {.row_count = paths ? t->node_count - 1 : t->key_count};
	uint32_t *self_row = calloc(t->node_count, sizeof *self_row);
	uint32_t *total_row = calloc(t->node_count, sizeof *total_row);
	struct plumb_error *err = self_row && total_row && sums_init(&s) ? NULL : &pl_err_no_memory;

	if (!err)
		choose_rows(t, paths, self_row, total_row);
	for (size_t i = 0; i < t->run_count && !err; i++)
		err = add_run(&s, t,
			      (struct pass){.o = o, .run = &t->runs[i], .self_row = self_row, .total_row = total_row});
	free(self_row);
	free(total_row);
	if (err) {
		pl_diff_sums_deinit(&s);
		return err;
	}
	for (int side = 0; side < PL_DIFF_SIDES; side++)
		s.resolution[side] = s.resolution[side] > 0 ? 1 / s.resolution[side] : 0;
	*ret = s;
	return NULL;
}

void pl_diff_sums_deinit(struct pl_diff_sums *s)
{
	for (int side = 0; side < PL_DIFF_SIDES; side++) {
		free(s->self[side]);
		free(s->total[side]);
	}
	*s = (struct pl_diff_sums){0};
}
