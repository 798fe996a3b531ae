/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: ids of the file -> ids of the profile. Ids of the file come in rising order with gaps where a
 * chunk was lost, and neighbours there are neighbours here, too, but where a row was known already: so spans of them
 * are kept, one or a few for millions of rows. Memory follows the rows that are there, whatever ids they claim. */
#ifndef PL_CAPTURE_IDMAP_H
#define PL_CAPTURE_IDMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

/* Ids from `first` on, which are those from `value` on in the profile. */
struct pl_idspan {
	uint32_t first, value, count;
};

struct pl_idmap {
	PL_VEC(struct pl_idspan) spans;
	uint64_t next; /* ids below are taken or lost */
};

void pl_idmap_deinit(struct pl_idmap *m);
/** @p id must not be below m->next. False without memory. */
bool pl_idmap_append(struct pl_idmap *m, uint32_t id, uint32_t value);
/** False: that row was lost. */
bool pl_idmap_get(const struct pl_idmap *m, uint32_t id, uint32_t *ret);

#endif
