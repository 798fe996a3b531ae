/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing (layer base). One thread at a time.
 *
 * Removal shifts the following entries back instead of leaving tombstones, so that a cache that lives for days with as
 * many removals as insertions never degrades. At most 3/4 of the slots are used: every search ends at a free one. */
#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

#define FIRST_CAP  16
#define MOST_SLOTS 64 /* for each key, that clearing wipes */

/* The slot that holds the key, or the free one where it belongs. Needs cap > 0. */
static size_t find_slot(const struct pl_map *m, uint64_t k0, uint64_t k1)
{
	size_t mask = m->cap - 1;
	size_t i = pl_hash_words(k0, k1) & mask;
	while (m->slots[i].used && (m->slots[i].k0 != k0 || m->slots[i].k1 != k1))
		i = (i + 1) & mask;
	return i;
}

static bool map_resize(struct pl_map *m, size_t cap)
{
	struct pl_map bigger = {.slots = calloc(cap, sizeof *m->slots), .cap = cap, .len = m->len};
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < m->cap; i++) {
		const struct pl_map_slot *s = &m->slots[i];
		if (s->used)
			bigger.slots[find_slot(&bigger, s->k0, s->k1)] = *s;
	}
	free(m->slots);
	*m = bigger;
	return true;
}

void pl_map_deinit(struct pl_map *m)
{
	free(m->slots);
	*m = (struct pl_map)PL_MAP_INIT;
}

/* Clearing costs no more than filling did: a map that was large once is not wiped for a few keys. */
void pl_map_clear(struct pl_map *m)
{
	if (!m->len)
		return;
	if (m->len < m->cap / MOST_SLOTS) {
		pl_map_deinit(m);
		return;
	}
	memset(m->slots, 0, m->cap * sizeof *m->slots);
	m->len = 0;
}

bool pl_map_get(const struct pl_map *m, uint64_t k0, uint64_t k1, uint32_t *ret)
{
	if (!m->len)
		return false;
	const struct pl_map_slot *s = &m->slots[find_slot(m, k0, k1)];
	if (!s->used)
		return false;
	*ret = s->value;
	return true;
}

bool pl_map_set(struct pl_map *m, uint64_t k0, uint64_t k1, uint32_t value)
{
	if (!m->cap && !map_resize(m, FIRST_CAP))
		return false;
	size_t i = find_slot(m, k0, k1);
	if (m->slots[i].used) {
		m->slots[i].value = value;
		return true;
	}
	if (m->len + 1 > m->cap / 4 * 3) {
		if (!map_resize(m, m->cap * 2))
			return false;
		i = find_slot(m, k0, k1);
	}
	m->slots[i] = (struct pl_map_slot){.k0 = k0, .k1 = k1, .value = value, .used = 1};
	m->len++;
	return true;
}

bool pl_map_reserve(struct pl_map *m, size_t extra)
{
	size_t cap = m->cap ? m->cap : FIRST_CAP;
	while (m->len + extra > cap / 4 * 3) {
		if (cap > SIZE_MAX / 2)
			return false;
		cap *= 2;
	}
	return cap == m->cap || map_resize(m, cap);
}

void pl_map_expect(const struct pl_map *m, uint64_t k0, uint64_t k1)
{
	if (m->cap)
		__builtin_prefetch(&m->slots[pl_hash_words(k0, k1) & (m->cap - 1)]);
}

bool pl_map_remove(struct pl_map *m, uint64_t k0, uint64_t k1)
{
	if (!m->len)
		return false;
	size_t mask = m->cap - 1, hole = find_slot(m, k0, k1);
	if (!m->slots[hole].used)
		return false;
	for (size_t i = (hole + 1) & mask; m->slots[i].used; i = (i + 1) & mask) {
		size_t home = pl_hash_words(m->slots[i].k0, m->slots[i].k1) & mask;
		/* It may move into the hole only if its home does not lie between the hole and itself. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].used = 0;
	m->len--;
	return true;
}
