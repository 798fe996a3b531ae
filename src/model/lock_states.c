/* SPDX-License-Identifier: Apache-2.0 */
/* The locks that samples waited for, and who held them (layer model). One owner at a time. */
#include "index.h"
#include "profile.h"

/* All that makes two of them differ goes in: a recording can have as many as it likes that are alike but for one of
 * them. */
static uint32_t hash_of(const struct pl_lock_state *l)
{
	const uint64_t who = pl_hash_words(l->object, l->tid), where = (uint64_t)l->location << 32 | l->inside;
	const uint64_t how = (uint64_t)l->name << 32 | (uint32_t)l->holder << 1 | l->recursive;

	return pl_row_hash(who, pl_hash_words(where, how));
}

static bool same(const struct pl_lock_state *a, const struct pl_lock_state *b)
{
	return a->object == b->object && a->holder == b->holder && a->recursive == b->recursive && a->tid == b->tid &&
	       a->name == b->name && a->location == b->location && a->inside == b->inside;
}

static bool find(const struct plumb_profile *p, const struct pl_lock_state *l, uint32_t *ret)
{
	uint32_t hash = hash_of(l);

	for (size_t at = pl_row_index_start(&p->index->locks, hash);
	     pl_row_index_next(&p->index->locks, hash, &at, ret);)
		if (same(&p->locks[*ret], l))
			return true;
	return false;
}

static struct plumb_error *add(struct plumb_profile *p, const struct pl_lock_state *l, uint32_t *ret)
{
	struct pl_profile_index *x = p->index;
	struct plumb_error *err = pl_row_room(p, (void **)&p->locks, &x->lock_cap, p->lock_count, sizeof *p->locks);

	if (err)
		return err;
	if (!pl_row_index_add(&x->locks, hash_of(l), p->lock_count))
		return &pl_err_no_memory;
	p->locks[p->lock_count] = *l;
	*ret = p->lock_count++;
	return NULL;
}

struct plumb_error *pl_profile_lock(struct plumb_profile *p, const struct pl_lock_state *l, uint32_t *ret)
{
	static const struct pl_lock_state unknown;
	struct plumb_error *err = p->lock_count ? NULL : add(p, &unknown, ret);

	if (err || find(p, l, ret))
		return err;
	if (p->lock_count < PL_MAX_LOCK_STATES)
		return add(p, l, ret);
	*ret = 0;
	return NULL;
}
