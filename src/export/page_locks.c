/* SPDX-License-Identifier: Apache-2.0 */
/* The locks that threads waited for, and who held them, as tables of the report page (layer export; one owner at a
 * time). A lock state of the profile tells of lines and of what ran, too: those that differ in nothing else are one
 * here. Keys of more than two words are interned in steps. */
#include "page_parts.h"

#include "frame_name.h"
#include "lock_blame.h"

/* States; what is beyond is of a lock that is not known. */
#define MOST_STATES 4096u

/* The number of a key, that of a new one if *new_ret. There are no new ones when there are enough states. */
static struct plumb_error *number_of(const struct pl_page_locks *l, struct pl_map *m, uint64_t k0, uint64_t k1,
				     uint32_t *ret, bool *new_ret)
{
	*new_ret = !pl_map_get(m, k0, k1, ret);
	if (!*new_ret)
		return NULL;
	if (l->states.len >= MOST_STATES)
		return &pl_err_limit;
	*ret = (uint32_t)m->len;
	return pl_map_set(m, k0, k1, *ret) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *lock_of(struct pl_page_locks *l, uint32_t process, const struct pl_lock_state *state,
				   uint32_t *ret)
{
	const struct pl_page_lock lock = {.process = process, .object = state->object, .recursive = state->recursive};
	bool is_new;
	struct plumb_error *err = number_of(l, &l->by_lock, process, state->object, ret, &is_new);

	return err || !is_new || pl_vec_push(&l->locks, lock) ? err : &pl_err_no_memory;
}

static struct plumb_error *state_of(struct pl_page_locks *l, struct pl_page_lock_state row, uint32_t *ret)
{
	uint32_t holding;
	bool is_new;
	struct plumb_error *err =
		number_of(l, &l->by_holding, row.tid, (uint64_t)row.name << 32 | row.function, &holding, &is_new);

	if (!err)
		err = number_of(l, &l->by_state, (uint64_t)row.lock << 8 | row.holder, holding, ret, &is_new);
	return err || !is_new || pl_vec_push(&l->states, row) ? err : &pl_err_no_memory;
}

struct plumb_error *pl_page_locks_number(struct pl_page_locks *l, const struct plumb_profile *p, uint32_t process,
					 uint32_t state, uint32_t *ret)
{
	const struct pl_lock_state *from = &p->locks[state];
	struct pl_page_lock_state row = {.holder = from->holder, .tid = from->tid, .name = from->name};
	uint32_t number = 0;
	struct plumb_error *err = from->object ? lock_of(l, process, from, &row.lock) : &pl_err_limit;

	if (from->inside)
		row.function = 1 + p->locations[from->inside - 1].function;
	if (!err)
		err = state_of(l, row, &number);
	*ret = err ? PL_PAGE_LOCK_UNKNOWN : PL_PAGE_LOCK_FIRST + number;
	return err == &pl_err_limit ? NULL : err;
}

static void key_text(struct pl_json *j, const char *key, struct pl_text text)
{
	pl_json_key_strn(j, key, text.s, text.len);
}

static void write_lock(struct pl_json *j, const struct plumb_profile *p, const struct pl_page_lock *lock)
{
	pl_json_object(j);
	pl_lock_json_members(j, p->processes[lock->process].pid, lock->object, lock->recursive);
	pl_json_object_end(j);
}

static void write_inside(struct pl_json *j, const struct plumb_profile *p, const struct pl_page_tables *t,
			 uint32_t function)
{
	const struct pl_function *f = &p->functions[function];
	uint32_t row = t->function_of[function];

	pl_json_key_u64_or_null(j, "function", row != PL_PAGE_NONE, row);
	key_text(j, "name", pl_frame_qualname(p, f));
	key_text(j, "file", pl_text_of(p, f->file));
	pl_json_key_u64(j, "line", f->firstline);
}

static void write_state(struct pl_json *j, const struct plumb_profile *p, const struct pl_page_tables *t,
			const struct pl_page_lock_state *state)
{
	static const char *const holders[PL_LOCK_HOLDERS] = {"unknown", "passed_on", "held"};

	pl_json_object(j);
	pl_json_key_u64(j, "lock", state->lock);
	pl_json_key_str(j, "holder", holders[state->holder]);
	if (state->holder == PL_LOCK_HELD) {
		pl_json_key_u64(j, "tid", state->tid);
		key_text(j, "thread", pl_text_of(p, state->name));
	}
	if (state->function)
		write_inside(j, p, t, state->function - 1);
	pl_json_object_end(j);
}

void pl_page_locks_json(const struct pl_page_locks *l, const struct plumb_profile *p, const struct pl_page_tables *t,
			struct pl_json *j)
{
	if (!l->states.len)
		return;
	pl_json_key(j, "locks");
	pl_json_array(j);
	for (size_t i = 0; i < l->locks.len && !ferror(j->out); i++)
		write_lock(j, p, &l->locks.data[i]);
	pl_json_array_end(j);
	pl_json_key(j, "lock_states");
	pl_json_array(j);
	for (size_t i = 0; i < l->states.len && !ferror(j->out); i++)
		write_state(j, p, t, &l->states.data[i]);
	pl_json_array_end(j);
}

void pl_page_locks_deinit(struct pl_page_locks *l)
{
	pl_map_deinit(&l->by_lock);
	pl_map_deinit(&l->by_holding);
	pl_map_deinit(&l->by_state);
	pl_vec_deinit(&l->locks);
	pl_vec_deinit(&l->states);
}
