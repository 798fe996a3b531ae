/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "layout.h"

static void every_supported_minor_has_one_row_and_later_ones_a_reference(void **state)
{
	for (int minor = 6; minor <= 15; minor++) {
		uint32_t version = PL_PY_VERSION(3, minor, 10);
		assert_true((pl_layout_find(version, false) != NULL) == (minor < 13));
		assert_true((pl_layout_reference(version, false) != NULL) == (minor >= 13));
		assert_null(pl_layout_find(version, true));
		assert_true((pl_layout_reference(version, true) != NULL) == (minor >= 13));
	}
	assert_non_null(pl_layout_find(PL_PY_VERSION(2, 7, 18), false));
	assert_null(pl_layout_find(PL_PY_VERSION(3, 16, 0), false));
	/* Newer than all rows: the newest. */
	assert_ptr_equal(pl_layout_reference(PL_PY_VERSION(3, 16, 0), false),
			 pl_layout_reference(PL_PY_VERSION(3, 15, 0), false));
}

static void the_words_that_3_7_4_moved_are_elsewhere_before(void **state)
{
	struct pl_layout lay = *pl_layout_find(PL_PY_VERSION(3, 7, 16), false);

	pl_layout_refine(&lay);
	assert_int_equal(lay.runtime.tstate_current, 1480);
	lay.version = PL_PY_VERSION(3, 7, 3);
	pl_layout_refine(&lay);
	assert_int_equal(lay.runtime.tstate_current, 1392);
	assert_int_equal(lay.runtime.gc_collecting, PL_NONE);
}

static void rows_hold_what_the_headers_say(void **state)
{
	const struct pl_layout *p38 = pl_layout_find(PL_PY_VERSION(3, 8, 0), false);
	const struct pl_layout *p312 = pl_layout_find(PL_PY_VERSION(3, 12, 4), false);
	const struct pl_layout *p314t = pl_layout_reference(PL_PY_VERSION(3, 14, 0), true);

	assert_int_equal(p38->runtime.tstate_current, 1368);
	assert_int_equal(p38->frame.lasti, 104);
	assert_int_equal(p38->runtime_size, 1464);
	assert_int_equal(p38->instr_scale, 1);
	assert_int_equal(p312->tstate.cframe, 56);
	assert_int_equal(p312->cframe.current_frame, 0);
	assert_int_equal(p312->code.code_bytes, 192);
	assert_int_equal(p312->owner_cstack, 3);
	assert_int_equal(p314t->object.size, 32);
	assert_int_equal(p314t->unicode.kind_shift, 8);
	assert_int_equal(p314t->unicode.ascii_bit, 12);
	assert_int_equal(pl_layout_find(PL_PY_VERSION(3, 10, 0), false)->instr_scale, 2);
}

/* The costs that sampling rests on: how many bytes of each struct a tick copies. */
static void spans_are_small_and_hold_every_field(void **state)
{
	size_t count;
	const struct pl_layout *rows = pl_layout_rows(&count);

	assert_true(count >= 14);
	for (size_t i = 0; i < count; i++) {
		struct pl_layout lay = rows[i];
		uint32_t bytes = 0;
		assert_true(pl_layout_finish(&lay));
		assert_true(lay.tstate_span <= 330);
		assert_true(lay.frame_span <= 128);
		assert_true(lay.frame.owner == PL_NONE || lay.frame_span > lay.frame.owner);
		assert_true(lay.code_span - lay.object.type <= 150);
		assert_true(lay.code_span >= lay.code.linetable + 8);
		for (int k = 0; k < PL_INTERP_READS; k++)
			bytes += lay.interp_reads[k].len;
		assert_true(bytes <= 512);
	}
}

static void a_layout_whose_words_are_too_far_apart_is_refused(void **state)
{
	struct pl_layout lay = *pl_layout_find(PL_PY_VERSION(3, 11, 0), false);

	lay.tstate.thread_id = PL_TSTATE_MAX;
	assert_false(pl_layout_finish(&lay));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_supported_minor_has_one_row_and_later_ones_a_reference),
		cmocka_unit_test(the_words_that_3_7_4_moved_are_elsewhere_before),
		cmocka_unit_test(rows_hold_what_the_headers_say),
		cmocka_unit_test(spans_are_small_and_hold_every_field),
		cmocka_unit_test(a_layout_whose_words_are_too_far_apart_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
