/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. Values are read and told by src/cpython. A variable that cannot be read says so
 * itself, and a frame whose variables cannot be had has none. */
#include "variables.h"

#include <string.h>

#include "clock.h"

struct taker {
	struct pl_variables *t;
	struct pl_frame_variables *frame;
	uint64_t end_ns;
};

void pl_variables_deinit(struct pl_variables *t)
{
	pl_vec_deinit(&t->frames);
	pl_vec_deinit(&t->list);
	pl_vec_deinit(&t->text);
	t->no_memory = false;
}

static bool add_text(struct pl_variables *t, const char *s, size_t len, size_t *at)
{
	*at = t->text.len;
	if (!pl_vec_reserve(&t->text, len))
		return false;
	if (len)
		memcpy(t->text.data + t->text.len, s, len);
	t->text.len += len;
	return true;
}

static bool take_one(void *ctx, const struct pl_local *l)
{
	struct taker *k = ctx;
	struct pl_variables *t = k->t;
	struct pl_variable v = {
		.name_len = l->name_len, .value_len = l->text_len, .argument = l->is_arg, .closure = l->is_free};

	k->frame->late = pl_clock_monotonic_ns() >= k->end_ns;
	if (k->frame->late)
		return false;
	t->no_memory |= !add_text(t, l->name, l->name_len, &v.name_at) ||
			!add_text(t, l->text, l->text_len, &v.value_at) || !pl_vec_push(&t->list, v);
	return !t->no_memory;
}

static void add_frame(struct pl_variables *t, struct pl_values *v, const struct pl_frame *f, uint64_t end_ns)
{
	struct pl_frame_variables frame = {.first = t->list.len};
	struct taker taker = {t, &frame, end_ns};
	struct plumb_error *err = pl_locals_each(v, f, take_one, &taker);

	frame.had = !err;
	frame.count = t->list.len - frame.first;
	t->no_memory |= !pl_vec_push(&t->frames, frame);
	plumb_error_destroy(err);
}

void pl_variables_add(struct pl_variables *t, struct pl_values *v, const struct pl_frame *f)
{
	add_frame(t, v, f, UINT64_MAX);
}

void pl_variables_take(struct pl_variables *t, struct pl_values *v, const pl_frame_vec *frames, uint64_t limit_ns)
{
	uint64_t now = pl_clock_monotonic_ns(), end = limit_ns < UINT64_MAX - now ? now + limit_ns : UINT64_MAX;

	pl_vec_clear(&t->frames);
	pl_vec_clear(&t->list);
	pl_vec_clear(&t->text);
	t->no_memory = false;
	for (size_t i = 0; i < frames->len && !t->no_memory && pl_clock_monotonic_ns() < end; i++)
		if (frames->data[i].kind == PL_FRAME_PYTHON)
			add_frame(t, v, &frames->data[i], end);
}
