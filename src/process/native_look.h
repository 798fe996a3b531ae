/* SPDX-License-Identifier: Apache-2.0 */
/* When to look again at what a process has mapped: a library was loaded meanwhile, or a JIT compiler has made code,
 * which is in no file, however often one looks. Pure: the caller has the clock. */
#ifndef PL_NATIVE_LOOK_H
#define PL_NATIVE_LOOK_H

#include "map.h"
#include "unwind.h"

/** Starts as {0}. */
struct pl_native_look {
	struct pl_map nowhere; /* pages of code that no look has found in a file */
	uint64_t forget_ns;    /* then they are looked for again */
	uint64_t next_ns;      /* no look before that */
	uint64_t pause_ns;     /* after the next one that finds nothing new */
};
void pl_native_look_deinit(struct pl_native_look *l);

/** Is there code in no image that was not looked for yet, and may it be? */
bool pl_native_look_wanted(struct pl_native_look *l, const pl_native_frame_vec *frames, uint64_t now_ns);
/** One has looked; @p changed: there are other images than before. */
void pl_native_look_ended(struct pl_native_look *l, bool changed, uint64_t now_ns);
/** What is in no image even now. */
void pl_native_look_missed(struct pl_native_look *l, const pl_native_frame_vec *frames);

#endif
