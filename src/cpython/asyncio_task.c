/* SPDX-License-Identifier: Apache-2.0 */
/* One task or future, and the sets that hold them. Layer: cpython. Pure over pl_mem; any thread.
 *
 * A task is an instance of _asyncio.Task, whose words are in a C struct, or of a class written in Python, whose words
 * are attributes: asyncio's own without the C module, or another library's. */
#include "asyncio_parts.h"

#include "dict.h"
#include "pick.h"
#include "text.h"

#define TASK_MAX_BYTES 1024
#define BASES_MAX      16
#define SET_BATCH      64
#define SLOTS_MAX      (PL_MAX_TASKS * 64) /* of all sets of a walk: many tasks can wait for the same one */
#define PENDING	       0		   /* fut_state */
#define FLAG_LONG      (UINT64_C(1) << 24)
#define FLAG_STR       (UINT64_C(1) << 28)

bool pl_task_derives(const struct pl_asyncio *a, pl_addr obj, pl_addr base)
{
	uint32_t tp_base = a->py->layout.type.tp_base;
	pl_addr type = 0;
	struct plumb_error *err =
		pl_pointer_ok(obj) ? pl_mem_read_u64(a->mem, obj + a->py->layout.object.type, &type) : &pl_err_corrupt;

	for (int i = 0; !err && base && type != base && i < BASES_MAX; i++) {
		if (!pl_pointer_ok(type) || tp_base == PL_NONE)
			break;
		err = pl_mem_read_u64(a->mem, type + tp_base, &type);
	}
	bool found = !err && base && type == base;
	plumb_error_destroy(err);
	return found;
}

/* The last word of a task that is looked at: from 3.14 on the program says where each of them is. */
static uint32_t last_word(const struct pl_asyncio *a)
{
	const struct pl_task_layout *t = &a->layout;
	const uint32_t words[] = {a->py->layout.object.size, t->state, t->fut_waiter, t->name};
	uint32_t last = t->coro;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i] != PL_NONE && words[i] > last)
			last = words[i];
	return last;
}

static struct plumb_error *read_struct(const struct pl_asyncio *a, pl_addr task, struct pl_task_words *ret)
{
	const struct pl_task_layout *t = &a->layout;
	uint8_t raw[TASK_MAX_BYTES];
	uint32_t last = last_word(a);
	struct plumb_error *err = last > sizeof raw - 8 ? &pl_err_corrupt : pl_mem_read(a->mem, task, raw, last + 8);

	if (err)
		return err;
	*ret = (struct pl_task_words){
		.loop = pl_pick_u64(raw, a->py->layout.object.size),
		.coro = pl_pick_u64(raw, t->coro),
		.waits_for = pl_pick_u64(raw, t->fut_waiter),
		.name = pl_pick_u64_if(raw, t->name),
		.done = pl_pick_u32(raw, t->state) != PENDING,
		.in_c = true,
	};
	return NULL;
}

static pl_addr attribute(const struct pl_asyncio *a, pl_addr obj, const char *name)
{
	pl_addr value = 0;
	struct plumb_error *err = pl_instance_attr(a->mem, a->py, obj, name, &value);

	if (err)
		value = 0;
	plumb_error_destroy(err);
	return value == a->py->none ? 0 : value;
}

/* _state of a future written in Python: 'PENDING', 'CANCELLED', 'FINISHED'. */
static bool attribute_says_done(const struct pl_asyncio *a, pl_addr obj)
{
	struct pl_buf text = PL_BUF_INIT(16);
	pl_addr state = attribute(a, obj, "_state");
	struct plumb_error *err = state ? pl_text_read_str(a->mem, a->py, state, 8, &text) : &pl_err_stale;
	bool done = !err && text.len && text.data[0] != 'P';

	plumb_error_destroy(err);
	pl_buf_deinit(&text);
	return done;
}

struct plumb_error *pl_task_words_read(const struct pl_asyncio *a, pl_addr task, struct pl_task_words *ret)
{
	if (pl_task_derives(a, task, a->task_type))
		return read_struct(a, task, ret);
	*ret = (struct pl_task_words){
		.loop = attribute(a, task, "_loop"),
		.coro = attribute(a, task, "_coro"),
		.waits_for = attribute(a, task, "_fut_waiter"),
		.name = attribute(a, task, "_name"),
		.done = attribute_says_done(a, task),
	};
	return ret->coro ? NULL : &pl_err_corrupt;
}

bool pl_future_is_done(const struct pl_asyncio *a, pl_addr future)
{
	uint32_t state = PENDING;
	struct plumb_error *err;

	if (!pl_task_derives(a, future, a->future_type) && !pl_task_derives(a, future, a->task_type))
		return attribute_says_done(a, future);
	err = pl_mem_read(a->mem, future + a->layout.state, &state, sizeof state);
	bool done = !err && state != PENDING;
	plumb_error_destroy(err);
	return done;
}

static struct plumb_error *add_str_name(const struct pl_asyncio *a, pl_addr name, struct pl_buf *ret)
{
	struct plumb_error *err = pl_text_read_str(a->mem, a->py, name, PL_MAX_TASK_NAME, ret);

	if (plumb_error_code(err) != PLUMB_ERR_CORRUPT && plumb_error_code(err) != PLUMB_ERR_UNREADABLE)
		return err;
	plumb_error_destroy(err);
	return pl_buf_add_str(ret, "?");
}

/* A str, or the number of a task that was never asked for its name (3.13+). */
static struct plumb_error *add_name(const struct pl_asyncio *a, pl_addr name, struct pl_buf *ret)
{
	const struct pl_layout *lay = &a->py->layout;
	pl_addr type = 0;
	uint64_t flags = 0, number;
	struct plumb_error *err =
		pl_pointer_ok(name) ? pl_mem_read_u64(a->mem, name + lay->object.type, &type) : &pl_err_corrupt;

	if (!err)
		err = pl_pointer_ok(type) ? pl_mem_read_u64(a->mem, type + lay->type.tp_flags, &flags)
					  : &pl_err_corrupt;
	if (!err && flags & FLAG_STR)
		return add_str_name(a, name, ret);
	if (!err && flags & FLAG_LONG)
		err = pl_long_value(a->mem, a->py, name, &number);
	if (err || !(flags & FLAG_LONG)) {
		plumb_error_destroy(err);
		return pl_buf_add_str(ret, "?");
	}
	return pl_buf_printf(ret, "Task-%llu", (unsigned long long)number);
}

/* 3.7: a task has no name, so it is called by its coroutine. */
static struct plumb_error *add_coroutine_name(struct pl_asyncio *a, pl_addr coro, struct pl_buf *ret)
{
	struct pl_buf type = PL_BUF_INIT(128);
	struct plumb_error *err = pl_value_add_type(&a->values, coro, &type);
	bool named =
		!err && ((type.len == 9 && (!memcmp(type.data, "coroutine", 9) || !memcmp(type.data, "generator", 9))));
	pl_addr name = 0;

	pl_buf_deinit(&type);
	if (named)
		err = pl_mem_read_u64(a->mem, coro + a->py->layout.gen.qualname, &name);
	if (!err && name)
		return add_str_name(a, name, ret);
	plumb_error_destroy(err);
	return pl_buf_add_str(ret, "?");
}

struct plumb_error *pl_task_name_add(struct pl_asyncio *a, const struct pl_task_words *words, struct pl_buf *ret)
{
	bool unnamed = !words->name && a->layout.name == PL_NONE;

	return unnamed ? add_coroutine_name(a, words->coro, ret) : add_name(a, words->name, ret);
}

/* One batch of {key, hash}. A removed member keeps a key, with the hash -1. */
static struct plumb_error *each_of_batch(const struct pl_asyncio *a, const uint64_t *entries, size_t n, bool weak,
					 pl_set_fn *fn, void *ctx)
{
	struct plumb_error *err = NULL;

	for (size_t i = 0; !err && i < n; i++) {
		pl_addr obj = entries[i * 2];
		if (!obj || entries[i * 2 + 1] == UINT64_MAX)
			continue;
		if (weak)
			err = pl_pointer_ok(obj) ? pl_mem_read_u64(a->mem, obj + a->py->layout.weakref.object, &obj)
						 : &pl_err_corrupt;
		if (!err && obj && obj != a->py->none)
			err = fn(ctx, obj);
	}
	return err;
}

struct plumb_error *pl_set_each(struct pl_asyncio *a, pl_addr set, bool weak, pl_set_fn *fn, void *ctx)
{
	const struct pl_layout *lay = &a->py->layout;
	uint64_t mask, entries[SET_BATCH * 2];
	pl_addr table;
	struct plumb_error *err;

	if (!pl_pointer_ok(set))
		return &pl_err_corrupt;
	err = pl_mem_read_u64(a->mem, set + lay->set.mask, &mask);
	if (!err)
		err = pl_mem_read_u64(a->mem, set + lay->set.table, &table);
	if (!err && (mask & (mask + 1) || !pl_pointer_ok(table)))
		err = &pl_err_corrupt;
	for (uint64_t at = 0; !err && at <= mask; at += SET_BATCH) {
		size_t n = mask - at < SET_BATCH ? (size_t)(mask - at) + 1 : SET_BATCH;
		if (a->slots >= SLOTS_MAX)
			return &pl_err_limit;
		a->slots += n;
		err = pl_mem_read(a->mem, table + at * 16, entries, n * 16);
		if (!err)
			err = each_of_batch(a, entries, n, weak, fn, ctx);
	}
	return err;
}
