/* SPDX-License-Identifier: Apache-2.0 */
/* The time of profiles that are added up: docs/design/017-absolute-time.md. */
#ifndef PL_AXIS_H
#define PL_AXIS_H

#include "profile.h"

void pl_axis_deinit(struct pl_axis *a);
/** False: no memory, *ret is empty then. */
bool pl_axis_copy(struct pl_axis *ret, const struct pl_axis *a);
/** For how long it was recorded: twice at the same time is once. */
uint64_t pl_axis_covered_ns(const struct pl_axis *a);

/** Give @p into the time of @p from as well, before its cells are added: what is recorded of the same time gets the
 * same batch, and batches get longer when they would be too many. @p ret: batch of @p from -> batch of @p into; of
 * those without cells it says nothing. @p blank: @p into has none of its own. After an error @p into is as it was. */
struct plumb_error *pl_axis_unite(struct plumb_profile *into, bool blank, const struct plumb_profile *from,
				  uint8_t ret[PL_BATCHES]) PLUMB_MUST_CHECK;

/** Give @p p, which was not added up, the time that a sum of it alone has. */
struct plumb_error *pl_axis_begin(struct plumb_profile *p) PLUMB_MUST_CHECK;

/** The batches of @p a from number @p first to before @p end, which are 1 << @p shift long, and what was recorded
 * meanwhile. False: no memory. */
bool pl_axis_part(const struct pl_axis *a, unsigned shift, uint32_t first, uint32_t end, struct pl_axis *ret);
/** When batch @p b begins, since 1970; 0: that is unknown. */
uint64_t pl_axis_start_ns(const struct pl_axis *a, unsigned shift, uint32_t b);

/** Give @p p, whose cells have batches that begin i << @p shift after its start, the time @p a, which becomes empty.
 * Errors: PLUMB_ERR_CORRUPT if that cannot be its time, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_axis_set(struct plumb_profile *p, unsigned shift, struct pl_axis *a) PLUMB_MUST_CHECK;

#endif
