/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/model: the cells of a profile that pass a filter, grouped by batch, and the sums of all of them. */
#ifndef PL_MODEL_SELECT_H
#define PL_MODEL_SELECT_H

#include "view.h"

struct pl_selection {
	const struct plumb_profile *profile;
	const struct pl_cell **cells; /* those of batch b: cells[start[b]] ... cells[start[b + 1] - 1] */
	uint32_t start[PL_BATCHES + 1];
	uint64_t samples, weight_ns; /* of all of them */
	uint64_t batch_samples[PL_BATCHES], batch_weight_ns[PL_BATCHES];
};

/** On success *ret is to be released with pl_selection_deinit; it borrows the cells of @p p. */
struct plumb_error *pl_select(const struct plumb_profile *p, const struct pl_filter *f,
			      struct pl_selection *ret) PLUMB_MUST_CHECK;
void pl_selection_deinit(struct pl_selection *s);
/** For each stack of the profile: whether it, or one that continues it, has selected samples. NULL: no memory. Owner:
 * the caller, free(). */
bool *pl_select_stacks(const struct pl_selection *s);

/** Half width of the share of @p hit_ns in @p all_ns, both by batch, where all of it is @p samples. The interval counts
 * trials, and what was tried is samples: so weights are scaled to add up to their number. */
double pl_select_half_width(const uint64_t *hit_ns, const uint64_t *all_ns, uint64_t samples);

/** Fill @p ret (thread_count entries, caller frees) with whether the samples of each thread count at all. */
struct plumb_error *pl_select_threads(const struct plumb_profile *p, const struct pl_filter *f,
				      bool **ret) PLUMB_MUST_CHECK;
/** Whether the names given to @p f let thread @p thread pass. */
bool pl_select_named(const struct plumb_profile *p, const struct pl_filter *f, uint32_t thread);

/** A name that was asked for, and that there is not. */
struct pl_unmatched {
	const char *word; /* of the filter */
	bool process;	  /* else a thread */
};
/** Is there a thread or process asked for that none of @p profiles has? The first one. */
bool pl_select_unmatched(const struct plumb_profile *const *profiles, size_t count, const struct pl_filter *f,
			 struct pl_unmatched *ret);

#endif
