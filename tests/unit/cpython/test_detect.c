/* SPDX-License-Identifier: Apache-2.0 */
/* What detection refuses and what it waits for, on a made-up process. What it accepts is shown by the golden images. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "minors.h"
#include "offsets.h"

#define RUNTIME 0x600000
#define STACK	UINT64_C(0x7f0000010000)
#define C_STACK 0x7ff000000000

struct scene {
	struct fake f;
	struct pl_py py;
	struct pl_py_facts facts;
	pl_addr interp, thread, frame, code;
};

/* What the release finds its first interpreter by. */
static void put_runtime(struct scene *s)
{
	const struct pl_layout *lay = &s->py.layout;
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX] = {0};

	fake_map(&s->f, RUNTIME, 4096);
	if (lay->version < PL_PY_VERSION(3, 7, 0)) {
		s->facts.tstate_current = RUNTIME + 64;
		fake_u64(&s->f, RUNTIME + 64, s->thread);
		fake_u64(&s->f, RUNTIME + 80, s->interp);
		return;
	}
	s->facts.runtime = RUNTIME;
	if (lay->version >= PL_PY_VERSION(3, 13, 0)) {
		offsets_make((int)(lay->version >> 8 & 0xff), lay->free_threaded, bytes);
		fake_put(&s->f, RUNTIME, bytes, sizeof bytes);
	}
	fake_field(&s->f, RUNTIME, lay->runtime.interp_head, s->interp, 8);
}

/* One thread that runs one function. */
static void open_scene_of(struct scene *s, struct pl_py py)
{
	*s = (struct scene){.py = py};
	const struct pl_layout *lay = &s->py.layout;

	fake_init(&s->f);
	fake_map(&s->f, C_STACK, 4096);
	s->facts = (struct pl_py_facts){.code_type = s->py.code_type, .name_version = lay->version & ~0xffu};
	s->interp = fake_new(&s->f, 16384);
	s->thread = fake_new(&s->f, 1024);
	s->frame = lay->chunk.data == PL_NONE ? fake_new(&s->f, 256) : STACK + lay->chunk.data;
	s->code = fake_code(&s->f, &s->py, "work", "/a/b.py", 1, 20);
	fake_map(&s->f, STACK, 16384);
	fake_u64(&s->f, STACK + 8, 16384);
	put_runtime(s);
	fake_field(&s->f, s->interp, lay->interp.threads_head, s->thread, 8);
	fake_field(&s->f, s->thread, lay->tstate.interp, s->interp, 8);
	fake_field(&s->f, s->thread, lay->tstate.frame, s->frame, 8);
	fake_field(&s->f, s->thread, lay->tstate.cframe, C_STACK + 1024, 8);
	fake_field(&s->f, C_STACK + 1024, lay->cframe.current_frame, s->frame, 8);
	fake_field(&s->f, C_STACK + 1024, lay->cframe.current_frame + 8, C_STACK + 2048, 8);
	fake_field(&s->f, s->thread, lay->tstate.datastack_chunk, STACK, 8);
	fake_field(&s->f, s->thread, lay->tstate.base_frame, C_STACK, 8);
	bool shim = lay->version >= PL_PY_VERSION(3, 12, 0);
	fake_frame(&s->f, &s->py, s->frame, shim ? C_STACK : 0, s->code, 0, 4);
	fake_field(&s->f, s->frame, lay->frame.is_entry, 1, 1);
	fake_field(&s->f, C_STACK, lay->frame.owner, 3, 1);
}

static void open_scene(struct scene *s, int minor)
{
	open_scene_of(s, fake_py(minor));
}

static struct plumb_error *detect(struct scene *s, struct pl_py *ret)
{
	return pl_py_detect(&s->f.mem, &s->facts, ret);
}

static void each_version_is_found_by_name_or_by_cookie(void **state)
{
	for (int minor = 6; minor <= 15; minor++) {
		struct scene s;
		struct pl_py py;
		char text[PL_VERSION_TEXT];
		open_scene(&s, minor);
		assert_ok(detect(&s, &py));
		assert_int_equal(py.layout.version >> 8, PL_PY_VERSION(3, minor, 0) >> 8);
		assert_int_equal(py.from_debug_offsets, minor >= 13);
		assert_int_equal(py.code_type, s.py.code_type);
		/* no sys module to ask for the micro version */
		char want[16];
		snprintf(want, sizeof want, minor >= 13 ? "3.%d.7" : "3.%d", minor);
		assert_string_equal(pl_py_version_text(&py, text), want);
		fake_deinit(&s.f);
	}
}

static void python_2_7_is_found_by_its_name_or_by_trial(void **state)
{
	struct scene s;
	struct pl_py py;
	char text[PL_VERSION_TEXT];

	open_scene_of(&s, fake_py27());
	assert_ok(detect(&s, &py));
	assert_string_equal(pl_py_version_text(&py, text), "2.7");
	assert_int_equal(py.tstate_current, RUNTIME + 64);
	assert_int_equal(py.interp_head, RUNTIME + 80);
	s.facts.interp_head = RUNTIME + 80; /* a file that is not stripped tells it */
	assert_ok(detect(&s, &py));
	/* Without a name, sys.hexversion would have to tell it from 3.6, and there is none here. */
	s.facts.name_version = 0;
	assert_code(detect(&s, &py), PLUMB_ERR_CORRUPT);
	fake_deinit(&s.f);
}

/* A stripped 2.7: its code names the lock; what it names must be there. */
static void the_gil_of_2_7_is_found_in_its_code(void **state)
{
	uint8_t code[] = {0x48, 0x83, 0x3d, 0xf8, 0, 0, 0, 0, 0x0f, 0x95, 0xc0, 0xc3};
	uint8_t bytes[32] = {0};
	struct scene s;
	struct pl_py py;

	(void)state;
	open_scene_of(&s, fake_py27());
	s.facts.threads_begun = RUNTIME + 512;
	fake_put(&s.f, RUNTIME + 512, code, sizeof code);
	assert_ok(detect(&s, &py));
	assert_int_equal(py.gil_lock, RUNTIME + 512 + 8 + 0xf8);
	code[6] = 0x7f; /* far away */
	fake_put(&s.f, RUNTIME + 512, code, sizeof code);
	assert_ok(detect(&s, &py));
	assert_int_equal(py.gil_lock, 0);
	fake_put(&s.f, RUNTIME + 512, bytes, sizeof bytes); /* other code */
	assert_ok(detect(&s, &py));
	assert_int_equal(py.gil_lock, 0);
	s.facts.gil_lock = RUNTIME + 256; /* a file that is not stripped tells it */
	assert_ok(detect(&s, &py));
	assert_int_equal(py.gil_lock, RUNTIME + 256);
	fake_deinit(&s.f);
}

static void the_list_of_interpreters_is_looked_for_nearby(void **state)
{
	struct scene s;
	struct pl_py py;

	open_scene(&s, 6);
	fake_u64(&s.f, RUNTIME + 80, 0x1234); /* no pointer */
	assert_code(detect(&s, &py), PLUMB_ERR_NOT_READY);
	fake_u64(&s.f, RUNTIME + 72, s.thread); /* a pointer, not to an interpreter */
	assert_code(detect(&s, &py), PLUMB_ERR_NOT_READY);
	fake_u64(&s.f, RUNTIME + 8, s.interp);
	assert_ok(detect(&s, &py));
	assert_int_equal(py.interp_head, RUNTIME + 8);
	fake_deinit(&s.f);
}

static void a_free_threaded_build_is_found_by_its_cookie(void **state)
{
	for (int minor = 13; minor <= 15; minor++) {
		struct scene s;
		struct pl_py py;
		char text[PL_VERSION_TEXT], want[24];

		open_scene_of(&s, fake_py_free_threaded(minor));
		assert_ok(detect(&s, &py));
		snprintf(want, sizeof want, "3.%d.7t", minor);
		assert_string_equal(pl_py_version_text(&py, text), want);
		fake_deinit(&s.f);
	}
}

static void objects_with_two_more_pointers_in_front_are_noticed(void **state)
{
	struct pl_py plain[] = {fake_py27(), fake_py(6), fake_py(7), fake_py(9), fake_py(11), fake_py(12)};

	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		struct scene s;
		struct pl_py py, traced = plain[i];
		pl_layout_trace_refs(&plain[i].layout, &traced.layout);
		assert_true(pl_layout_finish(&traced.layout));
		open_scene_of(&s, traced);
		assert_ok(detect(&s, &py));
		assert_int_equal(py.layout.object.type, 24);
		assert_int_equal(py.layout.tstate.frame, plain[i].layout.tstate.frame);
		fake_deinit(&s.f);
	}
}

static void the_version_word_beats_the_name(void **state)
{
	struct scene s;
	struct pl_py py;
	char text[PL_VERSION_TEXT];

	open_scene(&s, 12);
	fake_field(&s.f, RUNTIME, 2048, 0x030c03f0, 4);
	s.facts.version = RUNTIME + 2048;
	s.facts.name_version = PL_PY_VERSION(3, 11, 0);
	assert_ok(detect(&s, &py));
	assert_string_equal(pl_py_version_text(&py, text), "3.12.3");
	fake_deinit(&s.f);
}

static void the_type_of_code_is_learnt_by_its_name(void **state)
{
	struct scene s;
	struct pl_py py;

	open_scene(&s, 11);
	s.facts.code_type = 0;
	fake_map(&s.f, s.py.code_type, 512);
	pl_addr name = fake_new(&s.f, 8);
	fake_put(&s.f, name, "code", 5);
	fake_field(&s.f, s.py.code_type, s.py.layout.type.tp_name, name, 8);
	assert_ok(detect(&s, &py));
	assert_int_equal(py.code_type, s.py.code_type);
	fake_put(&s.f, name, "cell", 5);
	assert_code(detect(&s, &py), PLUMB_ERR_STALE);
	fake_deinit(&s.f);
}

static void early_in_start_up_it_is_not_ready(void **state)
{
	for (int minor = 8; minor <= 15; minor++) {
		struct scene s;
		struct pl_py py;
		open_scene(&s, minor);
		fake_field(&s.f, s.interp, s.py.layout.interp.threads_head, 0, 8);
		assert_code(detect(&s, &py), PLUMB_ERR_NOT_READY);
		fake_field(&s.f, RUNTIME, s.py.layout.runtime.interp_head, 0, 8);
		assert_code(detect(&s, &py), PLUMB_ERR_NOT_READY);
		fake_deinit(&s.f);
	}
}

static void without_python_frames_a_certain_layout_is_enough(void **state)
{
	struct scene s;
	struct pl_py py;

	open_scene(&s, 12);
	fake_field(&s.f, C_STACK + 1024, s.py.layout.cframe.current_frame, 0, 8);
	assert_code(detect(&s, &py), PLUMB_ERR_NOT_READY); /* a file name alone */
	s.facts.runtime_size = s.py.layout.runtime_size;
	assert_ok(detect(&s, &py)); /* and the size of _PyRuntime */
	s.facts.code_type = 0;
	assert_code(detect(&s, &py), PLUMB_ERR_NOT_READY);
	fake_deinit(&s.f);
}

static void the_wrong_row_is_corrupt(void **state)
{
	struct scene s;
	struct pl_py py;

	open_scene(&s, 12);
	s.facts.name_version = PL_PY_VERSION(3, 11, 0);
	fake_u64(&s.f, s.interp + 16, C_STACK); /* what the row of 3.11 takes for the list of threads */
	assert_code(detect(&s, &py), PLUMB_ERR_CORRUPT);
	fake_deinit(&s.f);
	open_scene(&s, 11);
	fake_field(&s.f, s.thread, s.py.layout.tstate.interp, s.interp + 8, 8);
	assert_code(detect(&s, &py), PLUMB_ERR_CORRUPT);
	fake_deinit(&s.f);
	open_scene(&s, 13);
	fake_field(&s.f, s.code, s.py.layout.object.type, 0x12340, 8);
	assert_code(detect(&s, &py), PLUMB_ERR_STALE); /* a stack can be torn, so it is worth another try */
	fake_deinit(&s.f);
}

static void without_a_name_the_size_finds_the_row(void **state)
{
	struct scene s;
	struct pl_py py;

	open_scene(&s, 9);
	s.facts.name_version = 0;
	s.facts.runtime_size = 656;
	assert_ok(detect(&s, &py));
	assert_int_equal(py.layout.version >> 8, 0x309);
	/* Nothing at all, and no sys module: 3.8, 3.9 and 3.10 all walk this stack, so none is believed. */
	s.facts.runtime_size = 0;
	assert_code(detect(&s, &py), PLUMB_ERR_CORRUPT);
	fake_deinit(&s.f);
}

static void a_newer_minor_is_attached_to_by_name(void **state)
{
	const uint64_t version = 0x031001f0;
	char text[PL_VERSION_TEXT];
	struct scene s;
	struct pl_py py;

	open_scene(&s, 15);
	fake_u64(&s.f, RUNTIME + 8, version);
	assert_ok(detect(&s, &py));
	assert_string_equal(pl_py_version_text(&py, text), "3.16.1 read as 3.15");
	/* Its stacks have to prove it: an interpreter that runs nothing proves nothing. */
	fake_field(&s.f, s.thread, s.py.layout.tstate.frame, C_STACK, 8);
	assert_code(detect(&s, &py), PLUMB_ERR_NOT_READY);
	fake_deinit(&s.f);
}

/* The one sentence that names the releases outside of the table. */
static void the_hint_names_the_newest_row(void **state)
{
	struct plumb_error *err = pl_error(PLUMB_ERR_NOT_SUPPORTED, "x");
	uint32_t newest = pl_minor_newest()->version;
	char want[16];

	snprintf(want, sizeof want, "to %u.%u", newest >> 16, newest >> 8 & 0xff);
	assert_non_null(strstr(plumb_error_hint(err), want));
	plumb_error_destroy(err);
}

static void unsupported_versions_are_named(void **state)
{
	const struct {
		uint32_t version;
		const char *message;
	} cases[] = {
		{PL_PY_VERSION(2, 6, 0), "CPython 2.6 is not supported"},
		{PL_PY_VERSION(3, 5, 0), "CPython 3.5 is not supported"},
	};
	struct scene s;
	struct pl_py py;

	open_scene(&s, 9);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		s.facts.name_version = cases[i].version;
		struct plumb_error *err = detect(&s, &py);
		assert_string_equal(plumb_error_message(err), cases[i].message);
		assert_code(err, PLUMB_ERR_NOT_SUPPORTED);
	}
	s.facts.name_version = PL_PY_VERSION(3, 16, 0); /* which would have debug offsets */
	assert_code(detect(&s, &py), PLUMB_ERR_CORRUPT);
	s.facts.name_version = PL_PY_VERSION(3, 6, 0); /* a name that lies */
	assert_code(detect(&s, &py), PLUMB_ERR_CORRUPT);
	s.facts = (struct pl_py_facts){0};
	assert_code(detect(&s, &py), PLUMB_ERR_NOT_PYTHON);
	fake_deinit(&s.f);
}

/* A process that runs: at each reading of its newest thread another one is the newest. */
struct running {
	struct pl_mem mem;
	struct scene *s;
	bool spawns;
	uint32_t looks;
};

static struct plumb_error *read_running(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct running *r = (struct running *)mem;
	const struct pl_layout *lay = &r->s->py.layout;

	bool thread = addr >= r->s->thread && addr < r->s->thread + 128;
	if (thread && r->spawns)
		fake_field(&r->s->f, r->s->interp, lay->interp.threads_head, r->s->thread + 16 * (++r->looks & 3), 8);
	return pl_mem_read(&r->s->f.mem, addr, dst, len);
}

static void a_list_that_is_wrong_twice_alike_is_no_race(void **state)
{
	static const struct pl_mem_ops ops = {.read = read_running};
	struct scene s;
	struct pl_py py;

	open_scene(&s, 14);
	struct running r = {.mem = {&ops}, .s = &s};
	fake_field(&s.f, s.thread, s.py.layout.tstate.interp, s.interp + 8, 8);
	assert_code(pl_py_detect(&r.mem, &s.facts, &py), PLUMB_ERR_CORRUPT);
	r.spawns = true;
	assert_code(pl_py_detect(&r.mem, &s.facts, &py), PLUMB_ERR_STALE);
	fake_deinit(&s.f);
}

static void unreadable_memory_is_said_so(void **state)
{
	struct scene s;
	struct pl_py py;

	open_scene(&s, 14);
	s.facts.runtime = 0x10;
	assert_code(detect(&s, &py), PLUMB_ERR_UNREADABLE);
	fake_deinit(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_version_is_found_by_name_or_by_cookie),
		cmocka_unit_test(python_2_7_is_found_by_its_name_or_by_trial),
		cmocka_unit_test(the_gil_of_2_7_is_found_in_its_code),
		cmocka_unit_test(the_list_of_interpreters_is_looked_for_nearby),
		cmocka_unit_test(a_free_threaded_build_is_found_by_its_cookie),
		cmocka_unit_test(objects_with_two_more_pointers_in_front_are_noticed),
		cmocka_unit_test(the_version_word_beats_the_name),
		cmocka_unit_test(the_type_of_code_is_learnt_by_its_name),
		cmocka_unit_test(early_in_start_up_it_is_not_ready),
		cmocka_unit_test(without_python_frames_a_certain_layout_is_enough),
		cmocka_unit_test(the_wrong_row_is_corrupt),
		cmocka_unit_test(without_a_name_the_size_finds_the_row),
		cmocka_unit_test(a_newer_minor_is_attached_to_by_name),
		cmocka_unit_test(the_hint_names_the_newest_row),
		cmocka_unit_test(unsupported_versions_are_named),
		cmocka_unit_test(a_list_that_is_wrong_twice_alike_is_no_race),
		cmocka_unit_test(unreadable_memory_is_said_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
