/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "c_stack.h"
#include "fake.h"

#define FRAME	0x7f0000010000
#define C_STACK 0x7ff000000000

static pl_frame_vec frames;
static pl_eval_vec evals;

static void add(pl_addr addr, uint8_t kind, bool entry)
{
	assert_true(pl_vec_push(&frames, ((struct pl_frame){.addr = addr, .kind = kind, .entry = entry})));
}

static int set_up(void **state)
{
	(void)state;
	pl_vec_clear(&frames);
	pl_vec_clear(&evals);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pl_vec_deinit(&frames);
	pl_vec_deinit(&evals);
	return 0;
}

static void assert_eval(size_t i, pl_addr anchor, uint32_t first, uint32_t count)
{
	assert_true(i < evals.len);
	assert_int_equal(evals.data[i].anchor, anchor);
	assert_int_equal(evals.data[i].first, first);
	assert_int_equal(evals.data[i].count, count);
}

static void up_to_3_10_each_frame_is_one(void **state)
{
	const struct pl_py py = fake_py(9);

	(void)state;
	for (int i = 0; i < 3; i++)
		add(FRAME + 64u * (unsigned)i, PL_FRAME_PYTHON, true);
	assert_false(pl_evals_have_anchors(&py));
	assert_ok(pl_evals_find(NULL, &py, 0, &frames, &evals));
	assert_int_equal(evals.len, 3);
	assert_eval(2, 0, 2, 1);
}

static void shims_end_them(void **state)
{
	(void)state;
	for (int minor = 12; minor <= 15; minor++) {
		const struct pl_py py = fake_py(minor);

		set_up(NULL);
		add(FRAME, PL_FRAME_PYTHON, false);
		add(FRAME + 100, PL_FRAME_PYTHON, false);
		add(C_STACK, PL_FRAME_SHIM, true);
		add(C_STACK + 512, PL_FRAME_SHIM, true); /* one that has just begun */
		add(FRAME + 200, PL_FRAME_PYTHON, false);
		add(C_STACK + 1024, PL_FRAME_SHIM, true);
		add(FRAME + 300, PL_FRAME_PYTHON, false); /* of no evaluation that is known */
		assert_true(pl_evals_have_anchors(&py));
		assert_ok(pl_evals_find(NULL, &py, 0, &frames, &evals));
		assert_int_equal(evals.len, 4);
		assert_eval(0, C_STACK, 0, 2);
		assert_eval(1, C_STACK + 512, 2, 0);
		assert_eval(2, C_STACK + 1024, 2, 1);
		assert_eval(3, 0, 3, 1);
	}
}

static void c_frames_of_3_11(void **state)
{
	const struct pl_py py = fake_py(11);
	const uint32_t at = py.layout.cframe.current_frame;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_map(&f, C_STACK, 4096);
	add(FRAME, PL_FRAME_PYTHON, false);
	add(FRAME + 100, PL_FRAME_PYTHON, true);
	add(FRAME + 200, PL_FRAME_PYTHON, true);
	fake_u64(&f, C_STACK + at, FRAME);
	fake_u64(&f, C_STACK + at + 8, C_STACK + 512);
	fake_u64(&f, C_STACK + 512 + at, FRAME + 200);
	assert_ok(pl_evals_find(&f.mem, &py, C_STACK, &frames, &evals));
	assert_int_equal(evals.len, 2);
	assert_eval(0, C_STACK, 0, 2);
	assert_eval(1, C_STACK + 512, 2, 1);

	/* One that runs another frame than the chain says: not of one moment. */
	fake_u64(&f, C_STACK + 512 + at, FRAME + 100);
	pl_vec_clear(&evals);
	assert_ptr_equal(pl_evals_find(&f.mem, &py, C_STACK, &frames, &evals), &pl_err_corrupt);
	fake_u64(&f, C_STACK + at + 8, 0x10);
	pl_vec_clear(&evals);
	assert_ptr_equal(pl_evals_find(&f.mem, &py, C_STACK, &frames, &evals), &pl_err_corrupt);
	fake_u64(&f, C_STACK + at + 8, C_STACK + 0x100000);
	pl_vec_clear(&evals);
	assert_ptr_equal(pl_evals_find(&f.mem, &py, C_STACK, &frames, &evals), &pl_err_unreadable);
	fake_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(up_to_3_10_each_frame_is_one, set_up),
		cmocka_unit_test_setup(shims_end_them, set_up),
		cmocka_unit_test_setup(c_frames_of_3_11, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, tear_down);
}
