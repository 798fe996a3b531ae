/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up file with a module, types of both kinds and methods; then the same with bytes changed and cut off. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "c_functions.h"

#define BASE	 UINT64_C(0x10000)
#define CODE	 (BASE + 0x8000)
#define CODE_END (BASE + 0x9000)
#define SIZE	 0x1200
#define TEXTS	 0x1000 /* from there on */

static uint8_t bytes[SIZE];
static size_t texts;
static char told[4096];

struct teller {
	struct pl_c_function_sink sink; /* first */
	size_t most;
};

static bool tell(struct pl_c_function_sink *sink, uint64_t addr, const char *name)
{
	struct teller *t = (struct teller *)sink;
	size_t len = strlen(told);

	assert_true(addr >= CODE && addr < CODE_END);
	snprintf(told + len, sizeof told - len, "%s%lx %s", len ? "\n" : "", (unsigned long)(addr - CODE), name);
	return --t->most > 0;
}

static size_t tries; /* of the last search */

static void find(size_t len, size_t most)
{
	const struct pl_c_file f = {.bytes = bytes, .len = len, .base = BASE, .code = CODE, .code_end = CODE_END};
	struct teller t = {.sink.take = tell, .most = most};

	*told = '\0';
	pl_c_functions_find(&f, &t.sink);
	tries = t.sink.tries;
}

static void put(uint64_t at, uint64_t word)
{
	memcpy(bytes + at, &word, sizeof word);
}

static uint64_t text(const char *s)
{
	size_t at = TEXTS + texts;

	memcpy(bytes + at, s, strlen(s) + 1);
	texts += strlen(s) + 1;
	return BASE + at;
}

static void put_method(uint64_t at, const char *name, uint64_t function, uint64_t flags)
{
	put(at, text(name));
	put(at + 8, function);
	put(at + 16, flags);
}

static void put_type(uint64_t at, const char *name, uint64_t iternext, uint64_t methods)
{
	put(at + 24, text(name));
	put(at + 32, 56);
	put(at + 224, iternext);
	put(at + 232, methods);
}

static int set_up(void **state)
{
	(void)state;
	memset(bytes, 0, sizeof bytes);
	texts = 0;
	/* A module with two methods; the second is another file's. */
	put(0x128, text("zlib"));
	put(0x128 + 16, UINT64_MAX);
	put(0x128 + 24, BASE + 0x200);
	put_method(0x200, "compress", CODE + 0x10, 1);
	put_method(0x220, "elsewhere", 0, 1);
	put_method(0x240, "crc32", CODE + 0x20, 8);
	/* A type with a slot, a table of slots and a method; and one that shares its slot. */
	put_type(0x400, "map", CODE + 0x30, BASE + 0x600);
	put(0x400 + 104, BASE + 0x680);
	put(0x680 + 24, CODE + 0x38); /* sq_item */
	put_method(0x600, "__reduce__", CODE + 0x40, 4);
	put_type(0x800, "dict_keys", CODE + 0x50, 0);
	put_type(0xa00, "dict_items", CODE + 0x50, 0);
	/* A type that is made when it is needed. */
	put(0xc00, text("_json.Scanner"));
	put(0xc00 + 8, 64);
	put(0xc00 + 24, BASE + 0xd00);
	put(0xd00, 50); /* Py_tp_call */
	put(0xd08, CODE + 0x60);
	put(0xd10, 72); /* Py_tp_members */
	put(0xd18, BASE + 0x10);
	/* A method of nothing that is known; and what is none. */
	put_method(0xe00, "alone", CODE + 0x70, 1);
	put_method(0xe40, "flags", CODE + 0x80, 0x10000);
	put_method(0xe80, "no name", CODE + 0x90, 1);
	return 0;
}

static void functions_have_the_names_of_python(void **state)
{
	(void)state;
	find(SIZE, SIZE_MAX);
	assert_string_equal(told, "10 zlib.compress\n20 zlib.crc32\n30 map.__next__\n38 map.__getitem__\n"
				  "40 map.__reduce__\n50 __next__\n60 _json.Scanner.__call__\n70 alone");
	find(SIZE, 2);
	assert_string_equal(told, "10 zlib.compress\n20 zlib.crc32"); /* who takes them has enough */
}

static void a_function_of_builtins_is_called_as_it_is(void **state)
{
	(void)state;
	put(0x128, text("builtins"));
	find(SIZE, 1);
	assert_string_equal(told, "10 compress");
}

static void a_file_may_hold_anything(void **state)
{
	(void)state;
	for (size_t len = 0; len < SIZE; len += 61)
		find(len, SIZE_MAX);
	for (size_t at = 0x100; at < 0xf00; at += 8) {
		for (unsigned kind = 0; kind < 3; kind++) {
			static const uint64_t words[] = {UINT64_MAX, BASE + SIZE - 1, CODE};

			set_up(state);
			put(at, words[kind]);
			find(SIZE, SIZE_MAX);
		}
	}
	/* Lists without end: each record is a method, a module and the list of the next one. */
	set_up(state);
	const uint64_t name = text("x");
	for (size_t at = 0; at < TEXTS; at += 8)
		put(at, at % 32 == 8 ? CODE : at % 32 == 16 ? 1 : at % 32 ? BASE : name);
	find(SIZE, SIZE_MAX);
}

/* Each word points to a name: it may be a type, a module, or a method. */
static void what_is_looked_at_is_told(void **state)
{
	(void)state;
	for (size_t at = 0; at < SIZE; at += 8)
		put(at, 0);
	find(SIZE, SIZE_MAX);
	assert_int_equal(tries, 0);
	texts = 0;
	const uint64_t name = text("x");
	for (size_t at = 0; at < 0x400; at += 8)
		put(at, name);
	find(SIZE, SIZE_MAX);
	assert_true(tries >= 8 * (0x400 / 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(functions_have_the_names_of_python, set_up),
		cmocka_unit_test_setup(a_function_of_builtins_is_called_as_it_is, set_up),
		cmocka_unit_test_setup(a_file_may_hold_anything, set_up),
		cmocka_unit_test_setup(what_is_looked_at_is_told, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
