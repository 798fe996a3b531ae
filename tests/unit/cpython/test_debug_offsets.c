/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "offsets.h"

static struct plumb_error *parse(const uint8_t *bytes, struct pl_layout *ret)
{
	return pl_debug_offsets_parse(bytes, PL_DEBUG_OFFSETS_MAX, ret);
}

static void words_become_the_layout_of_their_minor(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	for (int minor = 13; minor <= 15; minor++) {
		const struct pl_layout *r = pl_layout_reference(PL_PY_VERSION(3, minor, 0), false);
		offsets_make(minor, false, bytes);
		assert_ok(parse(bytes, &lay));
		assert_int_equal(lay.version, PL_PY_VERSION(3, minor, 7));
		assert_int_equal(lay.frame_model, PL_FRAME_CURRENT);
		assert_int_equal(lay.interp.modules, r->interp.modules);
		assert_int_equal(lay.interp.gc_collecting, r->interp.gc_collecting);
		assert_int_equal(lay.tstate.native_thread_id, r->tstate.native_thread_id);
		assert_int_equal(lay.tstate.datastack_top, r->tstate.datastack_chunk + 8);
		assert_int_equal(lay.gil.locked, 16);
		assert_int_equal(lay.code.version, r->code.version);
		assert_memory_equal(&lay.frame, &r->frame, sizeof lay.frame);
		assert_memory_equal(&lay.unicode, &r->unicode, sizeof lay.unicode);
		assert_true(lay.tstate_span && lay.frame_span && lay.code_span && lay.interp_reads[0].len);
	}
}

static void what_a_minor_does_not_publish_is_absent(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	offsets_make(13, false, bytes);
	assert_ok(parse(bytes, &lay));
	assert_int_equal(lay.interp.threads_main, PL_NONE);
	assert_int_equal(lay.interp.code_generation, PL_NONE);
	offsets_make(14, false, bytes);
	assert_ok(parse(bytes, &lay));
	assert_int_equal(lay.tstate.holds_gil, PL_NONE);
	assert_int_equal(lay.tstate.current_exception, PL_NONE);
	assert_int_equal(lay.tstate.exc_state, PL_NONE);
	assert_int_equal(lay.tstate.base_frame, PL_NONE);
	assert_int_equal(lay.code.tlbc, PL_NONE);
	offsets_make(15, false, bytes);
	assert_ok(parse(bytes, &lay));
	assert_int_equal(lay.tstate.base_frame, 80);
	assert_int_not_equal(lay.interp.gc_frame, PL_NONE);
}

static void values_that_moved_are_followed(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	/* 3.14.0 to 3.14.4 had sys.modules 24 bytes earlier. */
	offsets_make(14, false, bytes);
	offsets_set(14, PL_WORD_INTERPRETER_STATE_IMPORTS_MODULES, 7664, bytes);
	assert_ok(parse(bytes, &lay));
	assert_int_equal(lay.interp.modules, 7664);
}

static void members_of_a_changed_struct_are_not_taken_from_the_reference(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	offsets_make(14, false, bytes);
	offsets_set(14, PL_WORD_CODE_OBJECT_SIZE, 224, bytes);
	offsets_set(14, PL_WORD_TYPE_OBJECT_SIZE, 424, bytes);
	assert_ok(parse(bytes, &lay));
	assert_int_equal(lay.code.version, PL_NONE);
	assert_int_equal(lay.code.firsttraceable, PL_NONE);
	assert_int_equal(lay.type.ht_cached_keys, PL_NONE);
	assert_int_equal(lay.code.localsplusnames, PL_NONE);
	assert_int_equal(lay.type.tp_base, PL_NONE);
	assert_int_not_equal(lay.frame.stacktop, PL_NONE);
	offsets_make(14, false, bytes);
	offsets_set(14, PL_WORD_INTERPRETER_FRAME_OWNER, lay.frame.owner + 2, bytes);
	assert_ok(parse(bytes, &lay));
	assert_int_equal(lay.frame.stacktop, PL_NONE);
	assert_int_not_equal(lay.code.localsplusnames, PL_NONE);
}

static void free_threaded_builds_give_their_own_layout(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	for (int minor = 13; minor <= 15; minor++) {
		offsets_make(minor, true, bytes);
		assert_ok(parse(bytes, &lay));
		assert_true(lay.free_threaded);
		assert_int_equal(lay.object.type, 24);
		assert_true((lay.code.tlbc != PL_NONE) == (minor >= 14));
		assert_true((lay.interp.tlbc_generation != PL_NONE) == (minor >= 14));
		assert_int_equal(lay.gil.enabled, 0);
		assert_int_not_equal(lay.tstate.attach_state, PL_NONE);
	}
}

static void the_switch_of_the_gil_must_be_in_the_gil(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	offsets_make(13, true, bytes);
	offsets_set(13, PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_ENABLED, 7752, bytes);
	assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
}

static void the_attach_state_is_believed_only_where_the_words_around_it_are(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	offsets_make(14, true, bytes);
	offsets_set(14, PL_WORD_THREAD_STATE_CURRENT_FRAME, 80, bytes);
	assert_ok(parse(bytes, &lay));
	assert_int_equal(lay.tstate.attach_state, PL_NONE);
}

static bool is_unchecked(enum pl_debug_word word, int minor)
{
	/* Not used with a GIL, or nothing that a value could contradict. */
	return word == PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_ENABLED || word == PL_WORD_CODE_OBJECT_CO_TLBC ||
	       word == PL_WORD_INTERPRETER_FRAME_TLBC_INDEX || word == PL_WORD_INTERPRETER_STATE_TLBC_GENERATION;
}

static void every_word_that_leaves_its_struct_is_corrupt(void **state)
{
	const uint64_t values[] = {70u << 20, UINT64_C(1) << 32, UINT64_MAX, UINT64_MAX - 7};
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	for (int minor = 13; minor <= 15; minor++) {
		for (int word = 0; word < PL_WORDS; word++) {
			for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
				offsets_make(minor, false, bytes);
				if (offsets_set(minor, word, values[i], bytes) && !is_unchecked(word, minor))
					assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
			}
		}
	}
}

static void offsets_that_are_not_aligned_are_corrupt(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	offsets_make(15, false, bytes);
	offsets_set(15, PL_WORD_THREAD_STATE_CURRENT_FRAME, 76, bytes);
	assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
}

/* The words that prove a code object are read from its type word on. */
static void words_of_a_code_object_that_lie_in_its_head_are_corrupt(void **state)
{
	static const enum pl_debug_word proved[] = {PL_WORD_CODE_OBJECT_NAME, PL_WORD_CODE_OBJECT_FILENAME,
						    PL_WORD_CODE_OBJECT_LINETABLE, PL_WORD_CODE_OBJECT_FIRSTLINENO};
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	for (size_t i = 0; i < sizeof proved / sizeof proved[0]; i++) {
		offsets_make(14, false, bytes);
		offsets_set(14, proved[i], 0, bytes);
		assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
	}
}

/* Where it is looked at, the head of a str is what was read of it. */
static void the_length_of_a_str_that_lies_behind_its_head_is_corrupt(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	for (int minor = 13; minor <= 15; minor++) {
		const struct pl_layout *r = pl_layout_reference(PL_PY_VERSION(3, minor, 0), false);
		offsets_make(minor, false, bytes);
		offsets_set(minor, PL_WORD_UNICODE_OBJECT_SIZE, 256, bytes);
		assert_ok(parse(bytes, &lay));
		offsets_set(minor, PL_WORD_UNICODE_OBJECT_LENGTH, r->unicode.ascii_size, bytes);
		assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
		offsets_set(minor, PL_WORD_UNICODE_OBJECT_LENGTH, 248, bytes);
		assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
	}
}

static void set_version(uint8_t *bytes, uint64_t hex)
{
	memcpy(bytes + 8, &hex, sizeof hex);
}

static void a_newer_minor_is_read_as_the_newest_one_if_its_words_fit(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay, newest;

	for (int free_threaded = 0; free_threaded < 2; free_threaded++) {
		offsets_make(15, free_threaded, bytes);
		assert_ok(parse(bytes, &newest));
		assert_int_equal(newest.read_as, 0);
		set_version(bytes, 0x031002f0);
		assert_ok(parse(bytes, &lay));
		assert_int_equal(lay.version, PL_PY_VERSION(3, 16, 2));
		assert_int_equal(lay.read_as, PL_PY_VERSION(3, 15, 0));
		assert_memory_equal(&lay.frame, &newest.frame, sizeof lay.frame);
	}
	offsets_set(15, PL_WORD_THREAD_STATE_SIZE, 8, bytes); /* its words are elsewhere */
	struct plumb_error *err = parse(bytes, &lay);
	assert_string_equal(plumb_error_message(err),
			    "CPython 3.16 is newer than this plumb knows, and unlike 3.15 (debug offsets: size word 16 "
			    "is 8)");
	assert_code(err, PLUMB_ERR_NOT_SUPPORTED);
	set_version(bytes, 0x040002f0);
	assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
}

static void other_versions_are_refused_by_name(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	offsets_make(15, false, bytes);
	set_version(bytes, 0x030c00f0);
	assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
	set_version(bytes, 0x0f030f00f0);
	assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
	/* a pre-release whose words are elsewhere */
	set_version(bytes, 0x030f00b2);
	offsets_set(15, PL_WORD_THREAD_STATE_SIZE, 8, bytes);
	struct plumb_error *err = parse(bytes, &lay);
	assert_string_equal(plumb_error_message(err), "CPython 3.15.0 beta 2 is a pre-release with another layout");
	assert_code(err, PLUMB_ERR_NOT_SUPPORTED);
}

static void short_or_foreign_bytes_are_no_debug_offsets(void **state)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout lay;

	offsets_make(13, false, bytes);
	assert_true(pl_debug_offsets_cookie(bytes, sizeof bytes));
	assert_false(pl_debug_offsets_cookie(bytes, 8));
	assert_ok(pl_debug_offsets_parse(bytes, 584, &lay));
	assert_code(pl_debug_offsets_parse(bytes, 583, &lay), PLUMB_ERR_CORRUPT);
	bytes[0] = 'X';
	assert_false(pl_debug_offsets_cookie(bytes, sizeof bytes));
	assert_code(parse(bytes, &lay), PLUMB_ERR_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_become_the_layout_of_their_minor),
		cmocka_unit_test(what_a_minor_does_not_publish_is_absent),
		cmocka_unit_test(values_that_moved_are_followed),
		cmocka_unit_test(members_of_a_changed_struct_are_not_taken_from_the_reference),
		cmocka_unit_test(free_threaded_builds_give_their_own_layout),
		cmocka_unit_test(the_switch_of_the_gil_must_be_in_the_gil),
		cmocka_unit_test(the_attach_state_is_believed_only_where_the_words_around_it_are),
		cmocka_unit_test(every_word_that_leaves_its_struct_is_corrupt),
		cmocka_unit_test(offsets_that_are_not_aligned_are_corrupt),
		cmocka_unit_test(words_of_a_code_object_that_lie_in_its_head_are_corrupt),
		cmocka_unit_test(the_length_of_a_str_that_lies_behind_its_head_is_corrupt),
		cmocka_unit_test(a_newer_minor_is_read_as_the_newest_one_if_its_words_fit),
		cmocka_unit_test(other_versions_are_refused_by_name),
		cmocka_unit_test(short_or_foreign_bytes_are_no_debug_offsets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
