/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python.h"

/* Code objects made at run time; says their addresses. Told "go", it lets the third die and makes others until one has
 * its address. */
static const char script[] =
	"import sys\n"
	"def make(name, line):\n"
	"    d = {}\n"
	"    exec(compile('\\n' * line + 'def %s():\\n    return 1\\n' % name, 'made.py', 'exec'), d)\n"
	"    return d[name]\n"
	"def say(x):\n"
	"    sys.stdout.write('%d\\n' % x)\n"
	"    sys.stdout.flush()\n"
	"a = make('same', 5)\n"
	"b = make('same', 5)\n"
	"c = make('other', 5)\n"
	"d = make('same', 6)\n"
	"for f in (a, b, c, d): say(id(f.__code__))\n"
	"f = None\n"
	"sys.stdin.readline()\n"
	"addr = id(c.__code__)\n"
	"c = None\n"
	"kept = []\n"
	"for i in range(20000):\n"
	"    f = make('fresh', 50)\n"
	"    kept.append(f)\n"
	"    if id(f.__code__) == addr: break\n"
	"else:\n"
	"    addr = 0\n"
	"say(addr)\n"
	"sys.stdin.readline()\n";

static pl_addr hear_address(struct python *p)
{
	char line[64];

	python_hear(p, line, sizeof line);
	return strtoull(line, NULL, 10);
}

static uint64_t generation(struct python *p)
{
	struct pl_interp in;

	assert_ok(pl_interp_read(pl_mem_live_mem(p->live), &p->py, p->interp.addr, &in));
	return in.code_generation;
}

static struct plumb_error *try_resolve(struct python *p, pl_addr code, uint64_t tick, uint64_t gen,
				       struct pl_code_place *ret)
{
	const struct pl_frame f = {.kind = PL_FRAME_PYTHON, .code = code};
	struct pl_mem *mem = pl_mem_live_mem(p->live);
	const struct pl_codes_reading reading = {&p->py, mem, mem, tick, gen};

	return pl_codes_resolve(&p->reader.codes, &reading, &f, ret);
}

static uint32_t resolve(struct python *p, pl_addr code, uint64_t tick, uint64_t gen, const char *name)
{
	struct pl_code_place at;

	assert_ok(try_resolve(p, code, tick, gen, &at));
	const struct pl_known_code *k = p->tables.codes.known.data[at.code];
	assert_int_equal(k->id, at.code);
	assert_int_equal(k->code.name.len, strlen(name));
	assert_memory_equal(k->code.name.data, name, strlen(name));
	assert_true(pl_codes_fresh(&p->reader.codes, at.slot, tick, gen));
	assert_false(pl_codes_fresh(&p->reader.codes, at.slot, tick + 1, gen + 1));
	return at.code;
}

static void equal_codes_share_an_id(struct python *p, const pl_addr *at)
{
	uint32_t a = resolve(p, at[0], 1, 0, "same"), b = resolve(p, at[1], 1, 0, "same");

	assert_int_not_equal(at[0], at[1]);
	assert_int_equal(a, b);
	assert_int_not_equal(resolve(p, at[2], 1, 0, "other"), a);
	assert_int_not_equal(resolve(p, at[3], 1, 0, "same"), a); /* another line, another function */
	assert_int_equal(resolve(p, at[0], 2, 0, "same"), a);
	size_t known = p->tables.codes.known.len;
	pl_codes_forget(&p->reader.codes);
	assert_int_equal(p->tables.codes.known.len, known); /* the consumer may still read them */
}

static void a_used_again_address_is_noticed(struct python *p, pl_addr code)
{
	uint64_t before = generation(p);
	uint32_t old = resolve(p, code, 10, before, "other");

	python_say(p, "go\n");
	pl_addr again = hear_address(p);
	if (!again) {
		print_message("%s: the address was not used again\n", p->exe);
		return;
	}
	assert_int_equal(again, code);
	uint64_t after = generation(p);
	assert_int_equal(before == 0, after == 0);
	if (before)
		assert_int_not_equal(before, after);
	assert_int_not_equal(resolve(p, code, 11, after, "fresh"), old);
}

static void codes_of_each_interpreter(void **state)
{
	const char *exe;
	size_t tried = 0;

	for (size_t i = 0; (exe = python_exe(i)); i++) {
		struct python p;
		pl_addr at[4];
		python_start(&p, exe, script);
		for (size_t k = 0; k < 4; k++)
			at[k] = hear_address(&p);
		if (python_attach(&p)) {
			equal_codes_share_an_id(&p, at);
			a_used_again_address_is_noticed(&p, at[2]);
			tried++;
		}
		python_end(&p);
	}
	assert_true(tried > 0);
}

static void what_is_no_code_object_is_refused(void **state)
{
	struct python p;
	python_start(&p, python_exe(0), script);
	pl_addr code = hear_address(&p);
	if (python_attach(&p)) {
		pl_addr wrong[] = {0, 8, code + 8, code + 1, p.main.addr, p.interp.addr, 1ull << 63};
		for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
			struct pl_code_place at;
			struct plumb_error *err = try_resolve(&p, wrong[i], 1, 0, &at);

			assert_non_null(err);
			plumb_error_destroy(err);
		}
		assert_int_equal(p.reader.codes.slots.len, 0);
	}
	python_end(&p);
}

/* A program that names its functions as it likes cannot take all memory: what is known stays, what is too much is
 * refused. */
static void contents_are_kept_up_to_a_limit(void **state)
{
	struct python p;
	pl_addr at[4];
	struct plumb_error *err = NULL;
	struct pl_code_place place;

	python_start(&p, python_exe(0), script);
	for (size_t k = 0; k < 4; k++)
		at[k] = hear_address(&p);
	if (python_attach(&p)) {
		p.tables.codes.max = 1000;
		p.tables.codes.max_bytes = p.tables.codes.bytes + sizeof(struct pl_known_code) + 4096;
		uint32_t same = resolve(&p, at[0], 1, 0, "same");
		assert_true(p.tables.codes.bytes > sizeof(struct pl_known_code));
		p.tables.codes.max_bytes = p.tables.codes.bytes + sizeof(struct pl_known_code);
		err = try_resolve(&p, at[2], 1, 0, &place);
		assert_ptr_equal(err, &pl_err_limit);
		assert_int_equal(resolve(&p, at[1], 2, 0, "same"), same);
	}
	python_end(&p);
}

/* Functions that differ in the name of their code alone, which a program can make any number of. */
static const char alike_script[] = "import sys\n"
				   "c = compile('1', 'made.py', 'exec')\n"
				   "if hasattr(c, 'co_qualname'):\n"
				   "    codes = tuple(c.replace(co_name='n%05d' % i) for i in range(2500))\n"
				   "    sys.stdout.write('%d\\n' % id(codes))\n"
				   "else:\n"
				   "    sys.stdout.write('0\\n')\n"
				   "sys.stdout.flush()\n"
				   "sys.stdin.readline()\n";

/* The work of learning those from number @p first on. */
static uint64_t learn_alike(struct python *p, pl_addr tuple, unsigned first, unsigned count)
{
	struct pl_ration *ration = &p->reader.codes.ration;
	uint64_t before = ration->spent;
	char name[16];
	pl_addr code;

	for (unsigned i = first; i < first + count; i++) {
		pl_addr at = tuple + p->py.layout.tuple.items + i * 8ull;

		assert_ok(pl_mem_read_u64(pl_mem_live_mem(p->live), at, &code));
		snprintf(name, sizeof name, "n%05u", i);
		resolve(p, code, 1, 0, name);
	}
	return ration->spent - before;
}

static void codes_that_are_alike_cost_no_more(void **state)
{
	const char *exe;

	for (size_t i = 0; (exe = python_exe(i)); i++) {
		struct python p;

		python_start(&p, exe, alike_script);
		pl_addr tuple = hear_address(&p);
		if (tuple && python_attach(&p)) {
			p.reader.codes.ration = (struct pl_ration){.unlimited = true, .at_ns = UINT64_MAX};
			uint64_t few = learn_alike(&p, tuple, 0, 500), more = learn_alike(&p, tuple, 500, 2000);

			assert_in_range(more, 3 * few, 6 * few);
		}
		python_end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_of_each_interpreter),
		cmocka_unit_test(what_is_no_code_object_is_refused),
		cmocka_unit_test(contents_are_kept_up_to_a_limit),
		cmocka_unit_test(codes_that_are_alike_cost_no_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
