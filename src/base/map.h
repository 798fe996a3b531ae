/* SPDX-License-Identifier: Apache-2.0 */
/* Open-addressing hash map from a 128-bit key (two words) to a 32-bit value. Enough for every table here: interned
 * tuples hash their words into the key, address caches use (address, 0). Not thread-safe. */
#ifndef PL_MAP_H
#define PL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_map_slot {
	uint64_t k0, k1;
	uint32_t value, used;
};

struct pl_map {
	struct pl_map_slot *slots;
	size_t cap, len; /* cap is 0 or a power of two */
};

#define PL_MAP_INIT                                                                                                    \
	{                                                                                                              \
		0                                                                                                      \
	}

void pl_map_deinit(struct pl_map *m);
/** Without keys; in time that follows their number, whatever the map once held. */
void pl_map_clear(struct pl_map *m);
/** True and *ret set if the key is there. */
bool pl_map_get(const struct pl_map *m, uint64_t k0, uint64_t k1, uint32_t *ret);
/** Insert or overwrite; false without memory. */
bool pl_map_set(struct pl_map *m, uint64_t k0, uint64_t k1, uint32_t value);
/** Make room for @p extra more keys at once; false without memory, the map is then as it was. */
bool pl_map_reserve(struct pl_map *m, size_t extra);
/** Fetch what looking for the key will need: for loops over large maps, a few keys ahead. */
void pl_map_expect(const struct pl_map *m, uint64_t k0, uint64_t k1);
/** Remove; true if it was there. */
bool pl_map_remove(struct pl_map *m, uint64_t k0, uint64_t k1);

#endif
