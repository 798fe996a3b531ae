/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. Pure; allocates only to grow the caller's vector. */
#include "native_join.h"

#include "resume.h"

struct joiner {
	const struct pl_join *j;
	pl_join_vec *ret;
	size_t next;	    /* of the evaluations */
	bool missing, full; /* full: no memory */
};

static void add(struct joiner *u, enum pl_join_kind kind, size_t index)
{
	u->full |= !pl_vec_push(u->ret, ((struct pl_join_entry){kind, (uint32_t)index}));
}

static void add_python(struct joiner *u, const struct pl_eval *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		add(u, PL_JOIN_PYTHON, e->first + i);
}

static void add_gap(struct joiner *u)
{
	add(u, PL_JOIN_MISSING, 0);
	u->missing = true;
}

static bool runs_next_eval(const struct joiner *u, size_t i)
{
	const struct pl_join *j = u->j;

	if (u->next == j->evals->len)
		return false;
	if (j->anchors)
		return pl_native_frame_has(&j->native->data[i], j->evals->data[u->next].anchor);
	return j->is_eval[i];
}

/* An anchor below the frame at hand is in none. */
static bool was_passed(const struct joiner *u, size_t i)
{
	return u->j->anchors && u->next < u->j->evals->len &&
	       u->j->evals->data[u->next].anchor < u->j->native->data[i].sp;
}

size_t pl_native_join_own(const struct pl_join *j, const bool *greenlets)
{
	const size_t n = j->evals->len;
	size_t passed = 0;

	for (size_t i = 0; i < j->native->len && n; i++) {
		if (passed == n && greenlets[i])
			return i + 1;
		if (j->anchors && pl_native_frame_has(&j->native->data[i], j->evals->data[n - 1].anchor))
			passed = n;
		else if (!j->anchors && passed < n)
			passed += j->is_eval[i];
	}
	return j->native->len;
}

/* Where it could not be unwound, or goes on at an anchor, the frames in between are not known. */
static void add_native(struct joiner *u, size_t i, bool eval)
{
	const struct pl_native_frame *f = &u->j->native->data[i];
	bool last = i + 1 == u->j->native->len; /* what follows the last one is for who asks for more */

	if (!(f->flags & PL_NATIVE_RESUMED))
		add(u, eval ? PL_JOIN_EVAL : PL_JOIN_NATIVE, i);
	if (f->cfa == 0 && !last)
		add_gap(u);
}

/* Evaluations in between the last frame that could not be unwound and the anchor at which it goes on. */
static void add_evals_of_gap(struct joiner *u, size_t i)
{
	if (!(u->j->native->data[i].flags & PL_NATIVE_RESUMED))
		return;
	while (was_passed(u, i)) {
		add_python(u, &u->j->evals->data[u->next++]);
		add_gap(u);
	}
}

/* False: the frames are not of one moment, or not what we think. */
static bool join_natives(struct joiner *u)
{
	for (size_t i = 0; i < u->j->native->len && !u->full; i++) {
		add_evals_of_gap(u, i);
		bool eval = runs_next_eval(u, i);

		if (was_passed(u, i))
			return false;
		if (eval)
			add_python(u, &u->j->evals->data[u->next++]);
		if (runs_next_eval(u, i) && u->j->anchors)
			return false; /* two in one frame */
		add_native(u, i, eval);
	}
	return true;
}

/* By names alone: at its beginning and at its end a call of the eval loop runs no frame, so there may be one call more.
 * That is the innermost one, with what it calls then. How many native frames that are. */
static size_t without_frame(const struct pl_join *j)
{
	size_t n = 0, innermost = 0;

	if (j->anchors || !j->to_root)
		return 0;
	for (size_t i = j->native->len; i-- > 0;) {
		n += j->is_eval[i];
		innermost = j->is_eval[i] ? i : innermost;
	}
	return n == j->evals->len + 1 ? innermost + 1 : 0;
}

static void apart(struct joiner *u)
{
	const struct pl_join *j = u->j;

	pl_vec_clear(u->ret);
	for (size_t i = 0; i < j->evals->len; i++)
		add_python(u, &j->evals->data[i]);
	for (size_t i = 0; i < j->native->len; i++)
		add_native(u, i, false);
	if (!j->to_root)
		add_gap(u);
}

struct plumb_error *pl_native_join(const struct pl_join *j, pl_join_vec *ret, enum pl_joined *joined_ret)
{
	struct joiner u = {.j = j, .ret = ret};
	struct pl_join trimmed = *j;
	pl_native_frame_vec all = *j->native;
	const size_t skipped = without_frame(j);

	if (skipped) {
		all.data += skipped;
		all.len -= skipped;
		trimmed.native = &all;
		trimmed.is_eval += skipped;
		u.j = &trimmed;
	}
	bool whole = join_natives(&u);
	size_t left = j->evals->len - u.next;
	if (!whole || (left && j->to_root) || (left && !j->anchors && u.next == 0)) {
		u.j = j;
		apart(&u);
		*joined_ret = PL_JOINED_APART;
		return u.full ? &pl_err_no_memory : NULL;
	}
	for (size_t i = 0; i < ret->len; i++)
		if (ret->data[i].kind == PL_JOIN_NATIVE || ret->data[i].kind == PL_JOIN_EVAL)
			ret->data[i].index += (uint32_t)skipped;
	if (!j->to_root)
		add_gap(&u);
	for (; u.next < j->evals->len; u.next++)
		add_python(&u, &j->evals->data[u.next]);
	*joined_ret = u.missing ? PL_JOINED_IN_PART : PL_JOINED_WHOLE;
	return u.full ? &pl_err_no_memory : NULL;
}
