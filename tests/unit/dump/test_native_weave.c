/* SPDX-License-Identifier: Apache-2.0 */
/* Native frames of a thread in a dump. */
#include "native_weave.h"

#include "unit.h"

/* Python frames stay as they are when there is no time for native ones. */
static void threads_are_shown_without_when_the_time_is_over(void **state)
{
	const struct pl_py py = {0};
	const struct pl_native_taken taken = {.taken = true};
	const pl_dump_shown_vec none = {0};
	struct pl_native n = {.py = &py};
	struct pl_dump_thread t = {0};
	struct pl_dump *d;

	(void)state;
	assert_ok(pl_dump_create(&d));
	assert_true(pl_native_is_late(&n));
	assert_true(pl_vec_push(&t.frames, ((struct pl_dump_frame){.line = 7})));
	assert_ok(pl_native_weave(&n, &taken, d, NULL, &none, &t));
	assert_int_equal(t.native, PL_DUMP_NATIVE_UNREAD);
	assert_int_equal(t.frames.len, 1);
	n.end_ns = UINT64_MAX;
	assert_ok(pl_native_weave(&n, &taken, d, NULL, &none, &t));
	assert_int_not_equal(t.native, PL_DUMP_NATIVE_UNREAD);
	pl_dump_thread_deinit(&t);
	pl_dump_destroy(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_shown_without_when_the_time_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
