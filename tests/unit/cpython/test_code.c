/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "fake.h"

static void expect_text(struct pl_buf *b, const char *want)
{
	assert_string_equal(pl_buf_str(b), want);
}

static void everything_is_read_on_every_version(void **state)
{
	for (int minor = 6; minor <= 15; minor++) {
		struct pl_py py = fake_py(minor);
		struct pl_code c;
		struct fake f;
		fake_init(&f);
		pl_code_init(&c);
		pl_addr code = fake_code(&f, &py, "work", "/a/b.py", 17, 20);
		fake_field(&f, code, py.layout.code.linetable, fake_bytes(&f, &py, "\1\2", 2), 8);
		assert_ok(pl_code_read(&f.mem, &py, code, &c));
		expect_text(&c.name, "work");
		expect_text(&c.qualname, "work");
		expect_text(&c.filename, "/a/b.py");
		assert_int_equal(c.firstlineno, 17);
		assert_int_equal(c.code_bytes, 40);
		assert_int_equal(c.linetable.len, 2);
		assert_int_equal(c.instr_base, minor < 11 ? 0 : code + py.layout.code.code_bytes);
		assert_false(c.hidden);
		/* again into the same struct */
		assert_ok(pl_code_read(&f.mem, &py, code, &c));
		expect_text(&c.name, "work");
		pl_code_deinit(&c);
		fake_deinit(&f);
	}
}

static void the_proof_changes_with_each_of_its_words(void **state)
{
	struct pl_py py = fake_py(12);
	const struct pl_layout *lay = &py.layout;
	const struct {
		uint32_t at;
		size_t width;
	} words[] = {{lay->code.name, 8},
		     {lay->code.filename, 8},
		     {lay->code.linetable, 8},
		     {lay->code.firstlineno, 4},
		     {lay->code.version, 4}};
	struct pl_code_proof a, b;
	struct fake f;

	fake_init(&f);
	pl_addr code = fake_code(&f, &py, "work", "/a/b.py", 17, 20);
	assert_ok(pl_code_proof_read(&f.mem, &py, code, &a));
	assert_ok(pl_code_proof_read(&f.mem, &py, code, &b));
	assert_true(pl_code_proof_equal(&a, &b));
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		fake_field(&f, code, words[i].at, 0x12345678, words[i].width);
		assert_ok(pl_code_proof_read(&f.mem, &py, code, &b));
		assert_false(pl_code_proof_equal(&a, &b));
		a = b;
	}
	fake_deinit(&f);
}

/* Maps exactly the range that is announced: one read, and below 3.12 the name's hash. */
static void a_proof_is_one_read_of_the_range_it_names(void **state)
{
	for (int minor = 6; minor <= 15; minor++) {
		struct pl_py py = fake_py(minor);
		pl_addr code = 0x200000;
		struct pl_range range = pl_code_proof_range(&py, code);
		struct pl_code_proof p;
		struct fake f;
		fake_init(&f);
		assert_true(range.len <= 150);
		fake_map(&f, range.addr, range.len);
		fake_map(&f, 0x210000, 64);
		fake_field(&f, code, py.layout.object.type, py.code_type, 8);
		fake_field(&f, code, py.layout.code.name, 0x210000, 8);
		fake_field(&f, code, py.layout.code.filename, 0x210100, 8);
		fake_field(&f, code, py.layout.code.linetable, 0x210200, 8);
		assert_ok(pl_code_proof_read(&f.mem, &py, code, &p));
		assert_int_equal(f.reads, py.layout.code.version == PL_NONE ? 2 : 1);
		assert_int_equal(p.linetable, 0x210200);
		fake_deinit(&f);
	}
}

static void what_is_not_a_code_object_is_corrupt(void **state)
{
	struct pl_py py = fake_py(11);
	struct pl_code_proof p;
	struct fake f;

	fake_init(&f);
	pl_addr code = fake_code(&f, &py, "work", "/a/b.py", 17, 20);
	fake_field(&f, code, py.layout.object.type, py.code_type + 8, 8);
	assert_ptr_equal(pl_code_proof_read(&f.mem, &py, code, &p), &pl_err_corrupt);
	py.code_type = 0; /* not known yet: any type goes */
	assert_ok(pl_code_proof_read(&f.mem, &py, code, &p));
	fake_field(&f, code, py.layout.code.name, 3, 8);
	assert_ptr_equal(pl_code_proof_read(&f.mem, &py, code, &p), &pl_err_corrupt);
	assert_ptr_equal(pl_code_proof_read(&f.mem, &py, code + 4, &p), &pl_err_corrupt);
	assert_ptr_equal(pl_code_proof_read(&f.mem, &py, 0x8000, &p), &pl_err_unreadable);
	fake_deinit(&f);
}

/* A reader under which the code object is replaced after the first read. */
struct replacing {
	struct pl_mem mem;
	struct fake *f;
	pl_addr code;
	uint32_t at;
	bool done;
};

static struct plumb_error *read_then_replace(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct replacing *r = (struct replacing *)mem;
	struct plumb_error *err = pl_mem_read(&r->f->mem, addr, dst, len);

	if (addr == r->code && !r->done) {
		fake_u64(r->f, r->code + r->at, 0x654320);
		r->done = true;
	}
	return err;
}

static void a_code_object_replaced_while_it_is_read_is_stale(void **state)
{
	static const struct pl_mem_ops ops = {.read = read_then_replace};
	struct pl_py py = fake_py(10);
	struct pl_code c;
	struct fake f;

	fake_init(&f);
	pl_code_init(&c);
	fake_map(&f, 0x654000, 0x1000);
	struct replacing r = {.mem = {&ops},
			      .f = &f,
			      .code = fake_code(&f, &py, "work", "/a/b.py", 17, 20),
			      .at = py.layout.code.name};
	assert_ptr_equal(pl_code_read(&r.mem, &py, r.code, &c), &pl_err_stale);
	pl_code_deinit(&c);
	fake_deinit(&f);
}

static void offsets_are_bytes_inside_the_code_and_minus_one_elsewhere(void **state)
{
	for (int minor = 6; minor <= 15; minor++) {
		struct pl_py py = fake_py(minor);
		struct pl_code c = {.code_bytes = 40, .instr_base = minor < 11 ? 0 : 0x200000};
		struct pl_frame fr = {.owner = py.layout.owner_thread, .instr = c.instr_base};
		assert_int_equal(pl_code_offset(&py, &c, &fr), 0);
		fr.instr = c.instr_base + 38;
		assert_int_equal(pl_code_offset(&py, &c, &fr), 38);
		fr.instr = c.instr_base + 40;
		assert_int_equal(pl_code_offset(&py, &c, &fr), -1);
		fr.instr = minor < 11 ? (pl_addr)-1 : c.instr_base - 2;
		assert_int_equal(pl_code_offset(&py, &c, &fr), -1);
		fr.instr = c.instr_base + 4;
		fr.kind = PL_FRAME_SHIM;
		assert_int_equal(pl_code_offset(&py, &c, &fr), -1);
	}
}

/* Free-threaded 3.14+: {count, copy 0, copy 1, ...}; copy 0 is the code object's own. */
static void a_thread_that_runs_a_copy_of_the_bytecode_is_where_it_is_in_the_copy(void **state)
{
	struct pl_py py = fake_py_free_threaded(14);
	struct pl_code c = {.code_bytes = 40};
	pl_addr base;
	struct fake f;

	fake_init(&f);
	pl_addr code = fake_code(&f, &py, "work", "/a/b.py", 17, 20), array = fake_new(&f, 32);
	c.instr_base = code + py.layout.code.code_bytes;
	struct pl_frame fr = {.code = code, .owner = py.layout.owner_thread, .instr = 0x300006, .tlbc_index = 2};
	fake_field(&f, code, py.layout.code.tlbc, array, 8);
	fake_u64(&f, array, 3);
	fake_u64(&f, array + 8, c.instr_base);
	fake_u64(&f, array + 24, 0x300002);
	assert_int_equal(pl_code_offset(&py, &c, &fr), -1);
	assert_ok(pl_code_copy_base(&f.mem, &py, &fr, &base));
	assert_int_equal(base, 0x300002);
	pl_code_leave_copy(&fr, base, c.instr_base);
	assert_int_equal(pl_code_offset(&py, &c, &fr), 4);
	fr.tlbc_index = 1; /* not made yet */
	assert_ptr_equal(pl_code_copy_base(&f.mem, &py, &fr, &base), &pl_err_corrupt);
	fr.tlbc_index = 3;
	assert_ptr_equal(pl_code_copy_base(&f.mem, &py, &fr, &base), &pl_err_corrupt);
	fr.tlbc_index = 0;
	assert_ok(pl_code_copy_base(&f.mem, &py, &fr, &base));
	assert_int_equal(base, c.instr_base);
	fake_deinit(&f);
}

static void a_frame_before_its_first_traceable_instruction_has_no_offset(void **state)
{
	struct pl_py py = fake_py(12);
	struct pl_code c = {.code_bytes = 40, .instr_base = 0x200000, .firsttraceable = 6};
	struct pl_frame fr = {.owner = py.layout.owner_thread, .instr = c.instr_base + 4};

	assert_int_equal(pl_code_offset(&py, &c, &fr), -1);
	fr.owner = py.layout.owner_generator;
	assert_int_equal(pl_code_offset(&py, &c, &fr), 4);
	fr.owner = py.layout.owner_thread;
	fr.instr += 2;
	assert_int_equal(pl_code_offset(&py, &c, &fr), 6);
}

static void code_that_never_becomes_traceable_is_hidden(void **state)
{
	struct pl_py py = fake_py(13);
	struct pl_code c;
	struct fake f;

	fake_init(&f);
	pl_code_init(&c);
	pl_addr code = fake_code(&f, &py, "__init__", "__init__", 0, 3);
	fake_field(&f, code, py.layout.code.firsttraceable, 4, 4);
	assert_ok(pl_code_read(&f.mem, &py, code, &c));
	assert_true(c.hidden);
	pl_code_deinit(&c);
	fake_deinit(&f);
}

/* One that only begins or ends like it is anybody's. */
static void wrappers_of_the_package_are_hidden(void **state)
{
	static const char *const names[] = {"<plumb>", "<plumb", "<plumb>>", "plumb"};

	for (int minor = 8; minor <= 15; minor++) {
		for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
			struct pl_py py = fake_py(minor);
			struct pl_code c;
			struct fake f;

			fake_init(&f);
			pl_code_init(&c);
			assert_ok(
				pl_code_read(&f.mem, &py, fake_code(&f, &py, names[i], "/plumb/_tags.py", 17, 20), &c));
			assert_int_equal(c.hidden, i == 0);
			pl_code_deinit(&c);
			fake_deinit(&f);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_read_on_every_version),
		cmocka_unit_test(the_proof_changes_with_each_of_its_words),
		cmocka_unit_test(a_proof_is_one_read_of_the_range_it_names),
		cmocka_unit_test(what_is_not_a_code_object_is_corrupt),
		cmocka_unit_test(a_code_object_replaced_while_it_is_read_is_stale),
		cmocka_unit_test(offsets_are_bytes_inside_the_code_and_minus_one_elsewhere),
		cmocka_unit_test(a_thread_that_runs_a_copy_of_the_bytecode_is_where_it_is_in_the_copy),
		cmocka_unit_test(a_frame_before_its_first_traceable_instruction_has_no_offset),
		cmocka_unit_test(code_that_never_becomes_traceable_is_hidden),
		cmocka_unit_test(wrappers_of_the_package_are_hidden),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
