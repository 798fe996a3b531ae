/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom in a dump (layer model). Pure; one owner at a time.
 *
 * Each thread waits for one thing, and that has at most one holder: from thread to thread leads one way at most, and a
 * deadlock is a ring on it. */
#include "dump_model.h"

#include <stdlib.h>

const struct pl_dump_awaited *pl_dump_awaited_of(const struct pl_dump_process *p, const struct pl_dump_thread *t)
{
	return t->awaited && t->awaited <= p->awaited.len ? &p->awaited.data[t->awaited - 1] : NULL;
}

const struct pl_dump_thread *pl_dump_find_thread(const struct pl_dump_process *p, uint64_t tid)
{
	for (size_t i = 0; i < p->threads.len; i++)
		if (p->threads.data[i].tid == tid)
			return &p->threads.data[i];
	return NULL;
}

/* The thread waits for ever, as far as it is up to itself. */
static bool waits_for_ever(const struct pl_dump_thread *t)
{
	return t->awaited && t->waits_on && !t->wait.limited;
}

/* A thread that has been in several interpreters is there several times: the entry that waits. */
static uint32_t waiting_entry(const struct pl_dump_process *p, uint64_t tid)
{
	for (size_t i = 0; i < p->threads.len && tid; i++)
		if (p->threads.data[i].tid == tid && waits_for_ever(&p->threads.data[i]))
			return (uint32_t)i;
	return PL_DUMP_NOBODY;
}

static bool add_ring(pl_dump_deadlock_vec *rings, const uint32_t *next, uint32_t first)
{
	struct pl_dump_deadlock ring = {0};
	uint32_t at = first;
	bool ok = true;

	do {
		ok = pl_vec_push(&ring.members, at);
		at = next[at];
	} while (ok && at != first);
	if (ok && pl_vec_push(rings, ring))
		return true;
	pl_vec_deinit(&ring.members);
	return false;
}

/* @p seen: 1 + the member from which the search came by first. Each is come by once, so this is linear. */
struct plumb_error *pl_dump_find_rings(const uint32_t *next, uint32_t *seen, uint32_t count, pl_dump_deadlock_vec *ret)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = i;

		while (at != PL_DUMP_NOBODY && !seen[at]) {
			seen[at] = i + 1;
			at = next[at];
		}
		if (at != PL_DUMP_NOBODY && seen[at] == i + 1 && !add_ring(ret, next, at))
			return &pl_err_no_memory;
	}
	return NULL;
}

/* @p next: of each thread the one that it waits for, if that waits, too; @p holders: the same of each thing awaited. */
static void find_next(struct pl_dump_process *p, uint32_t *next, uint32_t *holders)
{
	for (size_t i = 0; i < p->awaited.len; i++)
		holders[i] = waiting_entry(p, p->awaited.data[i].holder);
	for (size_t i = 0; i < p->threads.len; i++) {
		const struct pl_dump_thread *t = &p->threads.data[i];
		next[i] = waits_for_ever(t) ? holders[t->awaited - 1] : PL_DUMP_NOBODY;
		if (t->awaited && t->waits_on)
			p->awaited.data[t->awaited - 1].waiters++;
	}
}

struct plumb_error *pl_dump_find_deadlocks(struct pl_dump_process *p)
{
	size_t n = p->threads.len;
	uint32_t *next;
	struct plumb_error *err;

	if (!p->awaited.len)
		return NULL;
	next = calloc(2 * n + p->awaited.len, sizeof *next);
	if (!next)
		return &pl_err_no_memory;
	find_next(p, next, next + 2 * n);
	err = pl_dump_find_rings(next, next + n, (uint32_t)n, &p->deadlocks);
	free(next);
	return err;
}
