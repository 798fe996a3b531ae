/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of real interpreters (images of tests/golden/cpython), with single words of their memory replaced: whatever
 * lies, the walk ends, and the other tasks are still told. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asyncio_parts.h"
#include "dict.h"
#include "golden_image.h"
#include "slots.h"
#include "task_stack.h"

#define PATCHES 32
#define PAGE	4096
#define ENDLESS UINT64_C(0x100000000000) /* where there is nothing but one object after the other */
#define ALIKE	UINT64_C(0x200000000000) /* where there is the table of a set, with one member again and again */

/** An image with some words replaced. */
struct scene {
	struct pl_mem mem, *image;
	char *bytes; /* of the image */
	struct pl_mem_image *img;
	struct pl_py py;
	struct pl_interp interp;
	struct {
		pl_addr addr;
		uint64_t value;
	} patches[PATCHES];
	size_t patches_len, reads;
	pl_addr member; /* of the set */
	struct pl_tasks tasks;
};

/* An image has the bytes that were read when it was made; a process has whole pages. */
static struct plumb_error *read_page(struct scene *s, pl_addr addr, uint8_t *dst, size_t len)
{
	struct plumb_error *err = &pl_err_unreadable;

	for (size_t i = 0; i < len; i++) {
		if (pl_mem_read(s->image, addr + i, dst + i, 1))
			dst[i] = 0;
		else
			err = NULL;
	}
	return err;
}

static struct plumb_error *scene_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct scene *s = (struct scene *)mem;
	struct plumb_error *err;

	if (addr - ENDLESS < 2 * ALIKE && len == PAGE) /* no whole pages: what is looked at is counted */
		return &pl_err_unreadable;
	s->reads++;
	if (addr - ENDLESS < 8 * PL_MAX_TASKS && len == 8) {
		memcpy(dst, &addr, len);
		return NULL;
	}
	if (addr - ALIKE < ALIKE) {
		for (size_t i = 0; i < len / 8; i++)
			((uint64_t *)dst)[i] = i % 2 ? 1 : s->member;
		return NULL;
	}
	err = len == PAGE ? read_page(s, addr, dst, len) : pl_mem_read(s->image, addr, dst, len);
	for (size_t i = 0; !err && i < s->patches_len; i++) {
		pl_addr at = s->patches[i].addr;
		for (size_t k = 0; k < 8; k++) {
			if (at + k - addr < len)
				((uint8_t *)dst)[at + k - addr] = (uint8_t)(s->patches[i].value >> 8 * k);
		}
	}
	return err;
}

static void patch(struct scene *s, pl_addr addr, uint64_t value)
{
	assert_true(s->patches_len < PATCHES);
	s->patches[s->patches_len].addr = addr;
	s->patches[s->patches_len++].value = value;
}

static void open_scene(struct scene *s, const char *version)
{
	static const struct pl_mem_ops ops = {.read = scene_read};
	char name[64];
	size_t len;

	*s = (struct scene){.mem = {&ops}};
	snprintf(name, sizeof name, "tasks-%s", version);
	assert_non_null(s->bytes = golden_file(name, "img", &len));
	assert_ok(pl_mem_image_create(s->bytes, len, &s->img));
	s->image = pl_mem_image_mem(s->img);
	assert_ok(golden_tasks(s->image, &s->mem, &s->py, &s->interp, &s->tasks));
}

static void close_scene(struct scene *s)
{
	pl_tasks_deinit(&s->tasks);
	pl_mem_image_destroy(s->img);
	free(s->bytes);
}

static struct plumb_error *read_again(struct scene *s)
{
	s->reads = 0;
	return pl_tasks_read(&s->mem, &s->py, &s->interp, &s->tasks);
}

static const struct pl_task *find(const struct scene *s, const char *name)
{
	return golden_task(&s->tasks, name);
}

static uint64_t word_at(struct scene *s, pl_addr addr)
{
	uint64_t word;

	assert_ok(pl_mem_read_u64(&s->mem, addr, &word));
	return word;
}

static struct pl_task_layout words_of(struct scene *s)
{
	struct pl_asyncio a = {.mem = &s->mem, .py = &s->py, .interp = &s->interp};

	assert_ok(pl_module_open(a.mem, a.py, s->interp.modules, "_asyncio", &a.c_module, NULL));
	assert_ok(pl_task_layout_find(&a));
	return a.layout;
}

/* Where the frame keeps what it awaits. */
static pl_addr awaited_slot(struct scene *s, const struct pl_frame *f)
{
	const struct pl_layout *lay = &s->py.layout;
	uint64_t top = word_at(s, f->addr + lay->frame.stacktop);

	if (lay->version >= PL_PY_VERSION(3, 15, 0))
		return top - 16;
	return lay->version >= PL_PY_VERSION(3, 14, 0) ? top - 8
						       : f->addr + lay->frame.localsplus + (uint32_t)top * 8 - 8;
}

static void a_coroutine_that_awaits_itself_is_cut(void **state)
{
	static const char *const versions[] = {"3.11.7", "3.12.1", "3.13.0", "3.14.10", "3.15.2"};

	for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
		struct scene s;
		open_scene(&s, versions[i]);
		const struct pl_task *t = find(&s, "sleep");
		size_t before = s.tasks.list.len;
		assert_non_null(t);
		assert_int_equal(t->frames, 4);
		patch(&s, awaited_slot(&s, &s.tasks.frames.data[t->frames_at]), t->coro);
		assert_ok(read_again(&s));
		t = find(&s, "sleep");
		assert_non_null(t);
		assert_true(t->cut);
		assert_int_equal(t->frames, PL_MAX_TASK_FRAMES);
		assert_int_equal(s.tasks.list.len, before);
		close_scene(&s);
	}
}

static void a_list_that_does_not_come_back_ends_and_is_counted(void **state)
{
	struct scene s;

	open_scene(&s, "3.14.10");
	struct pl_task_layout words = words_of(&s);
	const struct pl_task *t = find(&s, "sleep");
	size_t before = s.tasks.list.len;
	assert_non_null(t);
	assert_int_equal(s.tasks.lost, 0);
	patch(&s, t->addr + words.node, t->addr + words.node);
	assert_ok(read_again(&s));
	assert_int_equal(s.tasks.lost, 1);
	assert_non_null(find(&s, "blocked")); /* of another thread */
	assert_true(s.tasks.list.len < before);
	close_scene(&s);
}

static void words_that_lie_cost_their_own_task_only(void **state)
{
	static const char *const versions[] = {"3.8.18", "3.10.13", "3.12.1", "3.15.2"};

	for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
		struct scene s;
		open_scene(&s, versions[i]);
		struct pl_task_layout words = words_of(&s);
		size_t before = s.tasks.list.len;
		pl_addr named = find(&s, "lock")->addr, chained = find(&s, "queue")->addr;
		patch(&s, named + words.name, 0x1003);
		patch(&s, chained + words.coro, 0x7000);
		patch(&s, chained + words.fut_waiter, 0x7001);
		assert_ok(read_again(&s));
		assert_int_equal(s.tasks.list.len, before);
		assert_non_null(find(&s, "?"));
		const struct pl_task *t = find(&s, "queue");
		assert_non_null(t);
		assert_int_equal(t->frames, 0);
		assert_int_equal(t->inner_len, 1); /* "?" */
		close_scene(&s);
	}
}

static void a_set_that_claims_to_be_huge_is_refused_or_read_in_part(void **state)
{
	struct scene s;
	pl_addr weak, set, table;

	open_scene(&s, "3.11.7");
	const struct pl_layout *lay = &s.py.layout;
	struct pl_asyncio a = {.mem = &s.mem, .py = &s.py, .interp = &s.interp};
	assert_ok(pl_module_attr(a.mem, a.py, s.interp.modules, "asyncio.tasks", "_all_tasks", &weak));
	assert_ok(pl_instance_attr(a.mem, a.py, weak, "data", &set));
	table = word_at(&s, set + lay->set.table);
	patch(&s, set + lay->set.mask, UINT64_MAX - 1);
	assert_int_equal(plumb_error_code(read_again(&s)), PLUMB_ERR_CORRUPT);
	patch(&s, set + lay->set.mask, (UINT64_C(1) << 40) - 1);
	assert_int_equal(plumb_error_code(read_again(&s)), PLUMB_ERR_UNREADABLE);
	assert_true(s.reads < 100000);
	patch(&s, set + lay->set.table, table + 4);
	assert_int_equal(plumb_error_code(read_again(&s)), PLUMB_ERR_CORRUPT);
	close_scene(&s);
}

static void what_tasks_share_is_not_read_for_each_of_them(void **state)
{
	static const char *const versions[] = {"3.8.18", "3.12.1", "3.15.2"};

	for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
		struct scene s;
		open_scene(&s, versions[i]);
		assert_ok(read_again(&s));
		assert_in_range(s.tasks.list.len, 20, 40);
		assert_true(s.reads < 20 * s.tasks.list.len);
		close_scene(&s);
	}
}

/* As many tasks wait for one gather as can be patched, and its children are as many as are looked at of one. */
static void children_of_a_gather_are_not_looked_at_when_there_is_no_room_for_them(void **state)
{
	struct scene s;
	pl_addr gather = 0, list;
	size_t waiting = 0;

	open_scene(&s, "3.12.1");
	const struct pl_layout *lay = &s.py.layout;
	struct pl_task_layout words = words_of(&s);
	for (size_t i = 0; i < s.tasks.list.len; i++)
		if (s.tasks.list.data[i].wait_kind == PL_WAIT_GATHER)
			gather = s.tasks.list.data[i].waits_for;
	assert_int_not_equal(gather, 0);
	assert_ok(pl_instance_attr(&s.mem, &s.py, gather, "_children", &list));
	patch(&s, list + lay->bytes.ob_size, PL_MAX_TASKS);
	patch(&s, list + lay->list.items, ENDLESS);
	for (size_t i = 0; i < s.tasks.list.len && s.patches_len < PATCHES; i++) {
		const struct pl_task *t = &s.tasks.list.data[i];
		if (t->state == PL_TASK_WAITING) {
			patch(&s, t->addr + words.fut_waiter, gather);
			waiting++;
		}
	}
	assert_true(waiting >= 8);
	assert_ok(read_again(&s));
	assert_in_range(s.tasks.needs.len, 3 * PL_MAX_TASKS, 4 * PL_MAX_TASKS); /* others take some of the room */
	assert_true(s.reads < 5 * PL_MAX_TASKS);
	close_scene(&s);
}

/* The set that a task waits for in asyncio.wait. */
static pl_addr set_of(struct scene *s, const struct pl_task *t)
{
	struct pl_slots slots;

	assert_ok(pl_slots_of(&s->mem, &s->py, &s->tasks.frames.data[t->frames_at], &slots));
	return pl_slot_object(&s->mem, &s->py, slots.variables, 0);
}

/* All tasks wait in one asyncio.wait, for a set that is as large as one may be, and has @p member in each slot. */
static void wait_for_one_set(struct scene *s, pl_addr member)
{
	const struct pl_layout *lay = &s->py.layout;
	struct pl_task_layout words = words_of(s);
	const struct pl_task *waiter = find(s, "wait");

	assert_non_null(waiter);
	s->member = member;
	pl_addr set = set_of(s, waiter);
	patch(s, set + lay->set.mask, 8 * PL_MAX_TASKS - 1);
	patch(s, set + lay->set.table, ALIKE);
	for (size_t i = 0; i < s->tasks.list.len && s->patches_len < PATCHES; i++)
		if (s->tasks.list.data[i].state == PL_TASK_WAITING)
			patch(s, s->tasks.list.data[i].addr + words.coro, waiter->coro);
	assert_true(s->patches_len >= 20);
	assert_ok(read_again(s));
}

static void a_set_that_all_tasks_wait_for_is_not_gone_through_for_each_of_them(void **state)
{
	struct scene s;

	open_scene(&s, "3.12.1");
	wait_for_one_set(&s, 0);
	assert_true(s.reads < 20 * 1024); /* of 64 slots, and others; a set has 2,048 of these */
	close_scene(&s);
}

/* Where 3.12 has all its tasks. */
static pl_addr set_of_tasks(struct scene *s)
{
	struct pl_dict module;
	pl_addr set;

	assert_ok(pl_module_open(&s->mem, &s->py, s->interp.modules, "asyncio.tasks", &module, NULL));
	assert_ok(pl_dict_get(&s->mem, &s->py, &module, "_scheduled_tasks", &set));
	assert_ok(pl_instance_attr(&s->mem, &s->py, set, "data", &set));
	return set;
}

static void a_set_is_read_as_far_as_all_sets_together_may_be(void **state)
{
	static const struct {
		size_t slots;
		bool whole;
	} cases[] = {{16 * PL_MAX_TASKS, true}, {128 * PL_MAX_TASKS, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scene s;

		open_scene(&s, "3.12.1");
		pl_addr set = set_of_tasks(&s);
		patch(&s, set + s.py.layout.set.mask, cases[i].slots - 1);
		patch(&s, set + s.py.layout.set.table, ALIKE);
		assert_ok(read_again(&s));
		assert_int_equal(s.tasks.lost == 0, cases[i].whole);
		close_scene(&s);
	}
}

static void futures_that_all_tasks_wait_for_are_not_asked_for_each_of_them(void **state)
{
	struct scene s;

	open_scene(&s, "3.12.1");
	pl_addr future = find(&s, "executor")->waits_for;
	patch(&s, future + words_of(&s).state, 1);
	wait_for_one_set(&s, future);
	assert_true(s.reads < 20 * PL_MAX_TASKS);
	close_scene(&s);
}

/* A program can say so in the debug section of _asyncio. */
static void the_state_may_stand_behind_the_other_words(void **state)
{
	struct scene s;
	struct pl_task_words words;

	open_scene(&s, "3.14.10");
	const struct pl_task_layout real = words_of(&s);
	pl_addr task = s.tasks.list.data[0].addr;
	struct pl_asyncio a = {.mem = &s.mem, .py = &s.py, .interp = &s.interp, .layout = real};
	a.task_type = word_at(&s, task + s.py.layout.object.type);
	a.layout.fut_waiter = a.layout.coro = a.layout.name = s.py.layout.object.size;
	a.layout.state = real.coro;
	for (uint32_t value = 0; value < 2; value++) {
		patch(&s, task + real.coro, value);
		assert_ok(pl_task_words_read(&a, task, &words));
		assert_int_equal(words.done, value);
	}
	close_scene(&s);
}

static void without_asyncio_or_without_modules_there_are_no_tasks(void **state)
{
	struct scene s;

	open_scene(&s, "3.13.0");
	s.interp.modules = 0;
	assert_ok(read_again(&s));
	assert_int_equal(s.tasks.list.len, 0);
	s.interp.modules = 0x1001;
	assert_int_equal(plumb_error_code(read_again(&s)), PLUMB_ERR_CORRUPT);
	close_scene(&s);
}

/* Those that have what is called when a task is done. */
static const char *const images[] = {"3.7.16", "3.8.18", "3.9.18", "3.10.13", "3.11.7", "3.12.1", "3.13.0"};

static struct pl_task_stacks *stacks_of(struct scene *s)
{
	struct pl_task_stacks *stacks = NULL;

	assert_ok(pl_task_stacks_create(&s->mem, &s->py, &s->interp, &stacks));
	assert_non_null(stacks);
	return stacks;
}

static const struct pl_task *at_address(const struct scene *s, pl_addr addr)
{
	for (size_t i = 0; i < s->tasks.list.len; i++)
		if (s->tasks.list.data[i].addr == addr)
			return &s->tasks.list.data[i];
	return NULL;
}

/* Is the frame that of a task that waits for @p t, which has one? */
static bool is_of_waiter(const struct scene *s, const struct pl_task *t, pl_addr frame)
{
	for (uint32_t i = 0; i < t->waiters; i++) {
		const struct pl_task *w = at_address(s, s->tasks.waiters.data[t->waiters_at + i]);

		if (w && w->frames == 1 && s->tasks.frames.data[w->frames_at].addr == frame)
			return true;
	}
	return false;
}

/* From the task "awaited", which one or two await. */
static void who_awaits_a_task_is_found_from_the_task(void **state)
{
	for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
		struct scene s;
		pl_frame_vec frames = {0};

		open_scene(&s, images[i]);
		struct pl_task_stacks *stacks = stacks_of(&s);
		const struct pl_task *t = find(&s, "awaited");
		assert_non_null(t);
		assert_ok(pl_task_awaiters_read(stacks, &s.mem, t->addr, &frames));
		assert_int_equal(frames.len, 1);
		assert_true(is_of_waiter(&s, t, frames.data[0].addr));
		pl_vec_deinit(&frames);
		pl_task_stacks_destroy(stacks);
		close_scene(&s);
	}
}

static void a_task_that_waits_for_something_else_awaits_nobody(void **state)
{
	for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
		struct scene s;
		pl_frame_vec frames = {0};

		open_scene(&s, images[i]);
		struct pl_task_stacks *stacks = stacks_of(&s);
		struct pl_task_layout words = words_of(&s);
		const struct pl_task *t = find(&s, "awaited");
		for (uint32_t k = 0; k < t->waiters; k++)
			patch(&s, s.tasks.waiters.data[t->waiters_at + k] + words.fut_waiter, find(&s, "sleep")->addr);
		/* An image has not all callbacks of the task: none of them is looked at where the first one does. */
		plumb_error_destroy(pl_task_awaiters_read(stacks, &s.mem, t->addr, &frames));
		assert_int_equal(frames.len, 0);
		pl_vec_deinit(&frames);
		pl_task_stacks_destroy(stacks);
		close_scene(&s);
	}
}

static void a_chain_that_cannot_be_read_is_none(void **state)
{
	for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
		struct scene s;
		pl_frame_vec frames = {0};

		open_scene(&s, images[i]);
		struct pl_task_stacks *stacks = stacks_of(&s);
		struct pl_task_layout words = words_of(&s);
		const struct pl_task *t = find(&s, "awaited");
		for (uint32_t k = 0; k < t->waiters; k++)
			patch(&s, s.tasks.waiters.data[t->waiters_at + k] + words.coro, 0x7000);
		struct plumb_error *err = pl_task_awaiters_read(stacks, &s.mem, t->addr, &frames);
		assert_non_null(err);
		plumb_error_destroy(err);
		pl_vec_deinit(&frames);
		pl_task_stacks_destroy(stacks);
		close_scene(&s);
	}
}

/* The same ones as are read, with the threads of their loops; again and again. */
static void tasks_are_listed_without_being_read(void **state)
{
	for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
		struct scene s;
		struct pl_tasks_again *again = NULL;

		open_scene(&s, images[i]);
		assert_ok(pl_tasks_again_create(&s.mem, &s.py, &s.interp, &again));
		for (int n = 0; n < 2; n++) {
			pl_task_at_vec list = {0};
			size_t lost = 1;

			assert_ok(pl_tasks_again_list(again, &list, &lost));
			assert_int_equal(lost, 0);
			assert_int_equal(list.len, s.tasks.list.len);
			for (size_t k = 0; k < list.len; k++) {
				const struct pl_task *t = at_address(&s, list.data[k].addr);
				assert_non_null(t);
				assert_true(t->thread_id == list.data[k].thread_id);
			}
			pl_vec_deinit(&list);
		}
		pl_tasks_again_destroy(again);
		close_scene(&s);
	}
}

/* Its words are elsewhere. */
static void a_task_that_is_written_in_python_is_refused(void **state)
{
	struct scene s;
	pl_frame_vec frames = {0};

	open_scene(&s, "3.10.13");
	struct pl_task_stacks *stacks = stacks_of(&s);
	struct plumb_error *err = pl_task_awaiters_read(stacks, &s.mem, find(&s, "python")->addr, &frames);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_CORRUPT);
	pl_vec_deinit(&frames);
	pl_task_stacks_destroy(stacks);
	close_scene(&s);
}

static void a_release_that_is_not_known_says_so(void **state)
{
	struct scene s;

	open_scene(&s, "3.12.1");
	s.py.layout.version = PL_PY_VERSION(3, 6, 15);
	struct plumb_error *err = read_again(&s);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_NOT_SUPPORTED);
	assert_non_null(strstr(plumb_error_message(err), "3.6.15"));
	plumb_error_destroy(err);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_coroutine_that_awaits_itself_is_cut),
		cmocka_unit_test(a_list_that_does_not_come_back_ends_and_is_counted),
		cmocka_unit_test(words_that_lie_cost_their_own_task_only),
		cmocka_unit_test(a_set_that_claims_to_be_huge_is_refused_or_read_in_part),
		cmocka_unit_test(what_tasks_share_is_not_read_for_each_of_them),
		cmocka_unit_test(children_of_a_gather_are_not_looked_at_when_there_is_no_room_for_them),
		cmocka_unit_test(a_set_that_all_tasks_wait_for_is_not_gone_through_for_each_of_them),
		cmocka_unit_test(a_set_is_read_as_far_as_all_sets_together_may_be),
		cmocka_unit_test(futures_that_all_tasks_wait_for_are_not_asked_for_each_of_them),
		cmocka_unit_test(the_state_may_stand_behind_the_other_words),
		cmocka_unit_test(without_asyncio_or_without_modules_there_are_no_tasks),
		cmocka_unit_test(a_release_that_is_not_known_says_so),
		cmocka_unit_test(who_awaits_a_task_is_found_from_the_task),
		cmocka_unit_test(a_task_that_waits_for_something_else_awaits_nobody),
		cmocka_unit_test(a_chain_that_cannot_be_read_is_none),
		cmocka_unit_test(tasks_are_listed_without_being_read),
		cmocka_unit_test(a_task_that_is_written_in_python_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
