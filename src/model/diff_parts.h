/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/model: the steps of a comparison. diff_tables.c finds what is the same on both sides, diff_sums.c adds
 * up what it took, diff_test.c judges. */
#ifndef PL_MODEL_DIFF_PARTS_H
#define PL_MODEL_DIFF_PARTS_H

#include "calltree.h"
#include "diff.h"

/** One recording. */
struct pl_diff_run {
	enum pl_diff_side side;
	struct pl_selection selection;
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
	double mean, squares; /* of the runs' shares, squares: sum of squared deviations */
	double within;	      /* sum of the variances that the runs' batches show */
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

/** Fill in the figures of d->table, whose keys and parents are known. */
struct plumb_error *pl_diff_test(const struct pl_diff_sums *s, struct pl_diff *d) PLUMB_MUST_CHECK;

#endif
