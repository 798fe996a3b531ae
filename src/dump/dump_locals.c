/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: variables for a dump. Values are read and told by src/cpython; a variable that cannot be read says so
 * itself, and a frame whose variables cannot be had has none. */
#include "dump_locals.h"

#include "clock.h"

struct taker {
	struct pl_dump *d;
	pl_dump_local_vec *ret;
	uint64_t end_ns;
	bool late; /* there were more when the time was over */
};

static bool take_local(void *ctx, const struct pl_local *l)
{
	struct taker *t = ctx;

	t->late = pl_clock_monotonic_ns() >= t->end_ns;
	if (t->late)
		return false;
	struct pl_dump_local local = {.name = pl_dump_text(t->d, l->name, l->name_len),
				      .value = pl_dump_text(t->d, l->text, l->text_len),
				      .argument = l->is_arg,
				      .closure = l->is_free};

	return pl_vec_push(t->ret, local);
}

/* False: they cannot be had. */
static bool take_frame(struct pl_dump *d, struct pl_values *v, const struct pl_frame *f, uint64_t end_ns,
		       pl_dump_local_vec *ret)
{
	struct taker t = {.d = d, .ret = ret, .end_ns = end_ns};
	struct plumb_error *err = pl_locals_each(v, f, take_local, &t);

	if (t.late)
		(void)pl_vec_push(ret, ((struct pl_dump_local){.name = pl_dump_str(d, "..."),
							       .value = pl_dump_str(d, "<no time>")}));
	plumb_error_destroy(err);
	return !err;
}

static void clear(struct pl_taken_locals *t)
{
	for (size_t i = 0; i < t->frames.len; i++)
		pl_vec_deinit(&t->frames.data[i].locals);
	pl_vec_clear(&t->frames);
}

void pl_taken_locals_deinit(struct pl_taken_locals *t)
{
	clear(t);
	pl_vec_deinit(&t->frames);
}

void pl_dump_take_locals(struct pl_dump *d, struct pl_values *v, const pl_frame_vec *frames, uint64_t limit_ns,
			 struct pl_taken_locals *ret)
{
	uint64_t now = pl_clock_monotonic_ns(), end = limit_ns < UINT64_MAX - now ? now + limit_ns : UINT64_MAX;

	clear(ret);
	for (size_t i = 0; i < frames->len && pl_clock_monotonic_ns() < end; i++) {
		struct pl_taken_frame taken = {0};

		if (frames->data[i].kind != PL_FRAME_PYTHON)
			continue;
		taken.had = take_frame(d, v, &frames->data[i], end, &taken.locals);
		if (pl_vec_push(&ret->frames, taken))
			continue;
		pl_vec_deinit(&taken.locals);
		break;
	}
}

void pl_dump_give_locals(struct pl_taken_locals *t, size_t i, struct pl_dump_frame *f)
{
	if (i >= t->frames.len)
		return;
	f->locals = t->frames.data[i].locals;
	f->has_locals = t->frames.data[i].had;
	t->frames.data[i] = (struct pl_taken_frame){0};
}

void pl_dump_add_locals(struct pl_dump *d, struct pl_values *v, const struct pl_frame *f, struct pl_dump_frame *ret)
{
	ret->has_locals = take_frame(d, v, f, UINT64_MAX, &ret->locals);
}
