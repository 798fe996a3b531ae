/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/model: the steps of a comparison. diff_tables.c finds what is the same on both sides, diff_sums.c adds
 * up what it took, diff_spread.c says how much that varies, diff_test.c judges. */
#ifndef PL_MODEL_DIFF_PARTS_H
#define PL_MODEL_DIFF_PARTS_H

#include "calltree.h"
#include "diff.h"

/** One recording. */
struct pl_diff_run {
	enum pl_diff_side side;
	struct pl_selection selection;
	double units; /* of work that it did; 1 if that is not told */
	uint32_t *node_of_stack;
};

/** The call tree of all recordings together. */
struct pl_diff_tables {
	struct pl_diff_run *runs;
	size_t run_count;
	struct pl_diff_key *keys;
	uint32_t key_count, key_cap;
	struct pl_call_node *nodes; /* counts unused; node 0 is the root */
	uint32_t node_count;
	uint32_t moved;
	bool *topmost;	 /* per node: no node above has its key */
	bool *reference; /* per node: a topmost one of the named function; NULL without one */
};

struct plumb_error *pl_diff_tables_make(const struct pl_diff_input sides[PL_DIFF_SIDES],
					const struct pl_diff_options *o, struct pl_diff_tables *ret) PLUMB_MUST_CHECK;
void pl_diff_tables_deinit(struct pl_diff_tables *t);

/** One figure of one side: its runs so far. */
struct pl_diff_sum {
	double mean, squares;	    /* of the runs' shares, squares: sum of squared deviations */
	double mean_ns, squares_ns; /* likewise of their times, for a unit of work */
	double within;		    /* sum of the variances that the runs' batches show */
	double spread,
		lagged; /* sums of squares and of products of neighbours of the batches' residuals, both in shares */
	uint64_t samples;
};

struct pl_diff_sums {
	struct pl_diff_sum *self[PL_DIFF_SIDES], *total[PL_DIFF_SIDES]; /* per row */
	uint32_t row_count;
	struct pl_diff_total sides[PL_DIFF_SIDES];
	double freedom[PL_DIFF_SIDES];	  /* degrees of freedom of `within` */
	double batches[PL_DIFF_SIDES];	  /* not empty, of all runs */
	double resolution[PL_DIFF_SIDES]; /* one sample, in shares */
};

struct plumb_error *pl_diff_sums_make(const struct pl_diff_tables *t, const struct pl_diff_options *o,
				      struct pl_diff_sums *ret) PLUMB_MUST_CHECK;
void pl_diff_sums_deinit(struct pl_diff_sums *s);

/** Variance of the mean of a side, and how well it is known. */
struct pl_diff_spread {
	double variance, freedom;
};

/** What the spreads of rows are taken from. */
struct pl_diff_varied {
	const struct pl_diff_sums *s;
	const struct pl_diff *d;
	struct pl_diff_sum *const *sums; /* self or total: by side, then row */
	double design[PL_DIFF_SIDES];	 /* variance of an average row, in that of independent samples */
};

void pl_diff_varied_init(struct pl_diff_varied *v, const struct pl_diff_sums *s, const struct pl_diff *d, bool total);
/** Of a row's share and of its time, by side. That of one run's time follows from its share: how long all of it took is
 * counted and not sampled. */
void pl_diff_spreads(const struct pl_diff_varied *v, uint32_t row, struct pl_diff_spread share[PL_DIFF_SIDES],
		     struct pl_diff_spread time[PL_DIFF_SIDES]);

/** Fill in the figures of d->table, whose keys and parents are known. */
struct plumb_error *pl_diff_test(const struct pl_diff_sums *s, struct pl_diff *d) PLUMB_MUST_CHECK;

#endif
