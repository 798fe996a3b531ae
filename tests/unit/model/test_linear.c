/* SPDX-License-Identifier: Apache-2.0 */
/* Four times the rows are four times the work, whatever is in them: a recording says what they are. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "counted.h"
#include "profile.h"
#include "refine.h"

#define ITEMS 1024u

static uint32_t location_of(struct plumb_profile *p, const char *name, uint8_t origin)
{
	struct pl_location at = {.column = -1, .end_column = -1};
	struct pl_function f = {.origin = origin};
	uint32_t ret;

	assert_ok(pl_profile_string(p, name, strlen(name), &f.name));
	assert_ok(pl_profile_function(p, &f, &at.function));
	assert_ok(pl_profile_location(p, &at, &ret));
	return ret;
}

/* As many functions of Python as there are native frames, all of them called from the innermost of these. */
static uint32_t add_stacks(struct plumb_profile *p, unsigned items)
{
	uint32_t native = location_of(p, "native", PL_ORIGIN_NATIVE), stack = 0, ret = 0;
	char name[16];

	for (unsigned i = 0; i < items; i++)
		assert_ok(pl_profile_stack(p, stack, native, &stack));
	for (unsigned i = 0; i < items; i++) {
		snprintf(name, sizeof name, "f%u", i);
		assert_ok(pl_profile_stack(p, stack, location_of(p, name, PL_ORIGIN_PYTHON), &ret));
	}
	return ret;
}

static void hide_native(void *ctx, unsigned items)
{
	struct pl_refine leaf = {.native = PL_NATIVE_LEAF};
	struct plumb_profile *p, *refined;
	struct pl_process process = {.pid = 1};
	struct pl_thread thread = {.tid = 1};
	struct pl_sample s = {.weight_ns = 1};

	assert_ok(pl_profile_create(&p));
	assert_ok(pl_profile_process(p, &process, &thread.process));
	assert_ok(pl_profile_thread(p, &thread, &s.thread));
	s.stack = add_stacks(p, items);
	for (unsigned i = 0; i < items; i++, s.stack--)
		assert_ok(pl_profile_add(p, &s));
	counted_begin();
	assert_ok(pl_refine(p, &leaf, &refined));
	counted_end();
	assert_int_equal(refined->stack_count, 1 + items);
	pl_profile_destroy(refined);
	pl_profile_destroy(p);
}

static void functions_on_many_native_frames_find_their_caller_once(void **state)
{
	counted_linear(hide_native, NULL, ITEMS);
}

/* A state for each item, of which few words differ. */
static void add_locks(void *ctx, unsigned items)
{
	const char *differs = ctx;
	struct plumb_profile *p;
	uint32_t row;

	assert_ok(pl_profile_create(&p));
	counted_begin();
	for (unsigned i = 0; i < items; i++) {
		struct pl_lock_state l = {.object = 1, .holder = PL_LOCK_HELD};

		if (*differs == 'n')
			l.name = i;
		else
			l.tid = i, l.object ^= (uint64_t)i << 24;
		assert_ok(pl_profile_lock(p, &l, &row));
	}
	counted_end();
	assert_int_equal(p->lock_count, 1 + items);
	pl_profile_destroy(p);
}

static void states_of_locks_that_are_nearly_the_same_are_found_at_once(void **state)
{
	counted_linear(add_locks, "name", ITEMS);
	counted_linear(add_locks, "thread", ITEMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_on_many_native_frames_find_their_caller_once),
		cmocka_unit_test(states_of_locks_that_are_nearly_the_same_are_found_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
