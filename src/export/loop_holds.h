/* SPDX-License-Identifier: Apache-2.0 */
/* For how long event loops were held: stretches in which every sample of a loop's thread was in the same callback or
 * task, so that the loop was not seen to wait for events, nor to do anything else. Inside the layer only. */
#ifndef PL_LOOP_HOLDS_H
#define PL_LOOP_HOLDS_H

#include "json.h"
#include "vec.h"
#include "view.h"

/* What is shorter holds nobody up; nor is anything told that is shorter than two intervals. */
#define PL_LOOP_HOLD_MIN_NS UINT64_C(20000000)
/* asyncio's own debug mode takes a callback of so long for a slow one. */
#define PL_LOOP_HOLD_LONG_NS UINT64_C(100000000)
#define PL_LOOP_HOLDS_MAX    50 /* the longest are kept */

struct pl_loop_hold {
	uint32_t thread, function;
	uint64_t begin_ns;  /* of the first sample in it */
	uint64_t length_ns; /* as far as samples tell */
	uint64_t ready_ns;  /* of that, without a CPU: as if the machine held it */
};

/** What one function did. */
struct pl_loop_holder {
	uint32_t function;
	uint64_t count, held_ns, longest_ns;
	uint64_t slow, slow_ns, slowest_ns; /* likewise of stretches that are long without what was `ready_ns` */
};

struct pl_loop_holds {
	uint64_t gap_ns; /* between two samples of one stretch, at most: lengths are known give or take so much */
	uint64_t count, held_ns; /* of all */
	struct pl_loop_hold longest[PL_LOOP_HOLDS_MAX];
	unsigned kept;
	PL_VEC(struct pl_loop_holder) holders; /* that which held it for longest in all first */
};

/** What there is of the threads that pass @p f; none where it is not known at which instant samples were taken, or not
 * all of a thread's time was sampled. Reads all samples, if a thread ran a loop. @p ret is to be released with
 * pl_loop_holds_deinit, also after an error. */
struct plumb_error *pl_loop_holds_find(const struct plumb_profile *p, const struct pl_filter *f,
				       struct pl_loop_holds *ret) PLUMB_MUST_CHECK;
void pl_loop_holds_deinit(struct pl_loop_holds *h);

/** "loop_holds", where there are some. @p rows: function of the profile -> its row in the output; NULL: it has none. */
void pl_loop_holds_json(const struct pl_loop_holds *h, const struct plumb_profile *p, const uint32_t *rows,
			struct pl_json *j);

/* ---- loop_stacks.c: what stacks of a loop's thread tell ---- */

struct pl_loop_stacks {
	const struct plumb_profile *p;
	uint32_t *entry; /* stack -> the outermost frame on it that the loop called and is not its own; 0: there is none
			  */
	uint32_t *inner; /* stack -> itself, or of a deep one its caller that is not so deep */
	bool *own;	 /* stacks in a loop that called nothing: it waits, or does its own work */
	bool *threads;	 /* that ran a loop */
	bool any;	 /* of them */
};
/** To be released with pl_loop_stacks_deinit, also after an error. */
struct plumb_error *pl_loop_stacks_init(struct pl_loop_stacks *l, const struct plumb_profile *p) PLUMB_MUST_CHECK;
void pl_loop_stacks_deinit(struct pl_loop_stacks *l);
/** The innermost frame that two stacks of one callback share, by function. */
uint32_t pl_loop_stacks_shared(const struct pl_loop_stacks *l, uint32_t a, uint32_t b);

#endif
