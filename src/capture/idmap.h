/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: ids of the file -> ids of the profile. Ids of the file come in rising order with gaps where a
 * chunk was lost, so spans of neighbours are kept; memory follows the rows that are there, whatever ids they claim. */
#ifndef PL_CAPTURE_IDMAP_H
#define PL_CAPTURE_IDMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

struct pl_idspan {
	uint32_t first;
	size_t at; /* of the first one in `ids`; the span ends where the next one begins */
};

struct pl_idmap {
	PL_VEC(struct pl_idspan) spans;
	PL_VEC(uint32_t) ids;
	uint64_t next; /* ids below are taken or lost */
};

void pl_idmap_deinit(struct pl_idmap *m);
/** @p id must not be below m->next. False without memory. */
bool pl_idmap_append(struct pl_idmap *m, uint32_t id, uint32_t value);
/** False: that row was lost. */
bool pl_idmap_get(const struct pl_idmap *m, uint32_t id, uint32_t *ret);

#endif
