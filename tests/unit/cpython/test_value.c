/* SPDX-License-Identifier: Apache-2.0 */
/* Values made by hand, the damaged ones above all: whatever memory says, a value is one short line made with few reads.
 * What real objects look like is proved on real interpreters: tests/golden/cpython, capture.py --print variables. */
#include "unit.h"

#include <string.h>

#include "fake.h"
#include "value_parts.h"

#define FLAG_HEAP (UINT64_C(1) << 9)
#define FLAG_LONG (UINT64_C(1) << 24)
#define FLAG_LIST (UINT64_C(1) << 25)
#define FLAG_STR  (UINT64_C(1) << 28)

static pl_addr put_type(struct fake *f, const struct pl_py *py, const char *name, uint64_t flags)
{
	pl_addr type = fake_new(f, py->layout.type.size), text = fake_new(f, 128); /* names are read in one piece */

	fake_put(f, text, name, strlen(name));
	fake_field(f, type, py->layout.type.tp_name, text, 8);
	fake_field(f, type, py->layout.type.tp_flags, flags, 8);
	return type;
}

static pl_addr put_object(struct fake *f, const struct pl_py *py, const char *type, uint64_t flags, size_t size)
{
	pl_addr obj = fake_new(f, size);

	fake_field(f, obj, py->layout.object.type, put_type(f, py, type, flags), 8);
	return obj;
}

static pl_addr put_int(struct fake *f, const struct pl_py *py, const uint32_t *digits, size_t n, uint64_t claimed,
		       bool negative)
{
	const struct pl_layout *lay = &py->layout;
	pl_addr obj = put_object(f, py, "int", FLAG_LONG, lay->longobj.digits + n * 4);
	uint64_t tag = lay->longobj.tagged ? claimed << 3 | (negative  ? 2
							     : claimed ? 0
								       : 1)
		       : negative	   ? -claimed
					   : claimed;

	fake_field(f, obj, lay->longobj.tag, tag, 8);
	fake_put(f, obj + lay->longobj.digits, digits, n * 4);
	return obj;
}

static pl_addr put_list(struct fake *f, const struct pl_py *py, const pl_addr *items, size_t n, uint64_t claimed)
{
	pl_addr obj = put_object(f, py, "list", FLAG_LIST, 64), array = fake_new(f, n * 8 + 8);

	fake_field(f, obj, py->layout.bytes.ob_size, claimed, 8);
	fake_field(f, obj, py->layout.list.items, array, 8);
	fake_put(f, array, items, n * 8);
	return obj;
}

static pl_addr put_str(struct fake *f, const struct pl_py *py, const char *text)
{
	pl_addr obj = fake_str(f, py, text);

	fake_field(f, obj, py->layout.object.type, put_type(f, py, "str", FLAG_STR), 8);
	return obj;
}

static const char *text_limited(struct fake *f, const struct pl_py *py, pl_addr obj, const char *name,
				const struct pl_value_limits *limits)
{
	static char text[8192];
	struct pl_buf out = PL_BUF_INIT(sizeof text - 1);
	struct pl_values v;
	size_t reads = f->reads;

	pl_values_init(&v, &f->mem, py, limits);
	assert_ok(pl_value_add(&v, obj, name, name ? strlen(name) : 0, &out));
	assert_true(f->reads - reads <= v.limits.reads);
	memcpy(text, out.data, out.len);
	text[out.len] = '\0';
	pl_buf_deinit(&out);
	return text;
}

static const char *text_of(struct fake *f, const struct pl_py *py, pl_addr obj)
{
	return text_limited(f, py, obj, NULL, NULL);
}

static void ints_are_told_whole_up_to_the_limit_and_then_by_their_size(void **state)
{
	for (int minor = 8; minor <= 15; minor++) {
		const uint32_t two[] = {5, 1}, big[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
		const uint32_t wrong[] = {UINT32_C(1) << 30};
		struct pl_py py = fake_py(minor);
		struct fake f;
		fake_init(&f);
		assert_string_equal(text_of(&f, &py, put_int(&f, &py, two, 0, 0, false)), "0");
		assert_string_equal(text_of(&f, &py, put_int(&f, &py, two, 2, 2, false)), "1073741829");
		assert_string_equal(text_of(&f, &py, put_int(&f, &py, two, 2, 2, true)), "-1073741829");
		assert_string_equal(text_of(&f, &py, put_int(&f, &py, big, 11, 11, false)), "<int, 301 bits>");
		assert_string_equal(text_of(&f, &py, put_int(&f, &py, wrong, 1, 1, false)), "<damaged>");
		/* more digits than there is memory */
		assert_string_equal(text_of(&f, &py, put_int(&f, &py, two, 2, 40, false)), "<unreadable>");
		assert_string_equal(text_of(&f, &py, put_int(&f, &py, two, 2, 1 << 30, false)), "<unreadable>");
		assert_string_equal(text_of(&f, &py, put_int(&f, &py, two, 2, UINT64_C(1) << 50, false)), "<damaged>");
		fake_deinit(&f);
	}
}

static void floats_are_the_shortest_text_that_reads_back(void **state)
{
	static const struct {
		double d;
		const char *text;
	} cases[] = {
		{0.0, "0.0"},
		{-0.0, "-0.0"},
		{1.0, "1.0"},
		{0.1, "0.1"},
		{-2.5, "-2.5"},
		{100.0, "100.0"},
		{1e15, "1000000000000000.0"},
		{1e16, "1e+16"},
		{1.5e300, "1.5e+300"},
		{0.0001, "0.0001"},
		{0.00001, "1e-05"},
		{5e-324, "5e-324"},
		{1.0 / 3, "0.3333333333333333"},
		{123456.789, "123456.789"},
		{2.0 / 3, "0.6666666666666666"},
	};
	char text[48];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		pl_format_double(cases[i].d, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void names_of_secrets_are_known_by_words_and_parts(void **state)
{
	static const char *const secret[] = {
		"password",	 "PASSWORD",
		"db_password",	 "userPasswd",
		"api_key",	 "apiKey",
		"X-API-Key",	 "auth",
		"authToken",	 "Authorization",
		"Set-Cookie",	 "access_token",
		"_token",	 "AWS_SECRET_ACCESS_KEY",
		"private_key",	 "credentials",
		"cookie",	 "jwt",
		"client_secret", "refreshTokens",
		"sessionid",
	};
	static const char *const plain[] = {
		"",  "author", "authority",    "tokenizer", "pint",   "key",	  "passed",
		"x", "keys",   "cookiecutter", "pinned",    "asalto", "username", "été",
	};

	for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++) {
		if (!pl_name_is_secret(secret[i], strlen(secret[i])))
			fail_msg("%s is no secret", secret[i]);
	}
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		if (pl_name_is_secret(plain[i], strlen(plain[i])))
			fail_msg("%s is a secret", plain[i]);
	}
}

/* What is at the end of a long one counts, too; what is too long to be looked at as a whole may be a secret's. */
static void long_names_of_secrets_are_known(void **state)
{
	struct pl_py py = fake_py(12);
	char name[3000];
	struct fake f;

	fake_init(&f);
	for (size_t len = 90; len < sizeof name; len *= 2) {
		memset(name, 'x', len);
		strcpy(name + len, "_token");
		assert_true(pl_name_is_secret(name, strlen(name)));
		const pl_addr pair[2] = {put_str(&f, &py, name), put_str(&f, &py, "hunter2")};
		assert_non_null(strstr(text_of(&f, &py, put_list(&f, &py, pair, 2, 2)), "***"));
		name[len] = '\0';
		assert_int_equal(pl_name_is_secret(name, len), len > 1024);
	}
	fake_deinit(&f);
}

static void secrets_are_masked_unless_they_are_asked_for(void **state)
{
	struct pl_py py = fake_py(12);
	struct pl_value_limits open = pl_value_usual;
	struct fake f;

	open.show_secrets = true;
	fake_init(&f);
	pl_addr text = put_str(&f, &py, "hunter2"), none = put_object(&f, &py, "NoneType", 0, 16);
	assert_string_equal(text_limited(&f, &py, text, "password", NULL), "***");
	assert_string_equal(text_limited(&f, &py, text, "user", NULL), "'hunter2'");
	assert_string_equal(text_limited(&f, &py, text, "password", &open), "'hunter2'");
	assert_string_equal(text_limited(&f, &py, none, "password", NULL), "None");
	fake_deinit(&f);
}

static void containers_that_hold_themselves_end(void **state)
{
	for (int minor = 8; minor <= 15; minor++) {
		struct pl_value_limits deep = pl_value_usual;
		struct pl_py py = fake_py(minor);
		struct fake f;
		const pl_addr nothing[3] = {0};
		fake_init(&f);
		pl_addr list = put_list(&f, &py, nothing, 3, 3), array;
		assert_ok(pl_mem_read_u64(&f.mem, list + py.layout.list.items, &array));
		for (int i = 0; i < 3; i++)
			fake_u64(&f, array + (pl_addr)i * 8, list);
		assert_string_equal(text_of(&f, &py, list), "[[...], [...], [...]]");
		/* Two that hold each other, as deep as can be asked for: the text stays within its bound. */
		pl_addr other = put_list(&f, &py, (pl_addr[]){list, list, list}, 3, 3);
		fake_u64(&f, array, other);
		deep.depth = 1000;
		assert_true(strlen(text_limited(&f, &py, list, NULL, &deep)) < 600);
		fake_deinit(&f);
	}
}

static void a_length_that_lies_is_told_but_not_believed(void **state)
{
	struct pl_py py = fake_py(11);
	struct fake f;

	fake_init(&f);
	pl_addr one = put_int(&f, &py, (uint32_t[]){7}, 1, 1, false);
	const pl_addr items[9] = {one, one, one, one, one, one, one, one, one};
	assert_string_equal(text_of(&f, &py, put_list(&f, &py, items, 9, UINT64_C(1) << 40)),
			    "[7, 7, 7, 7, 7, 7, 7, 7, ... 1099511627768 more]");
	assert_string_equal(text_of(&f, &py, put_list(&f, &py, items, 2, 8)), "[<unreadable>]");
	assert_string_equal(text_of(&f, &py, put_list(&f, &py, items, 2, UINT64_MAX)), "<damaged>");
	pl_addr str = put_str(&f, &py, "abc");
	fake_field(&f, str, py.layout.unicode.length, 1000, 8);
	assert_string_equal(text_of(&f, &py, str), "<unreadable>");
	fake_field(&f, str, py.layout.unicode.length, UINT64_C(1) << 40, 8);
	assert_string_equal(text_of(&f, &py, str), "<damaged>");
	fake_deinit(&f);
}

static void a_set_of_nothing_but_holes_is_given_up(void **state)
{
	struct pl_py py = fake_py(12);
	struct fake f;

	fake_init(&f);
	pl_addr set = put_object(&f, &py, "set", 0, 128), table = fake_new(&f, 16 * 8192);
	fake_field(&f, set, py.layout.set.used, 5, 8);
	fake_field(&f, set, py.layout.set.mask, UINT64_MAX, 8);
	fake_field(&f, set, py.layout.set.table, table, 8);
	assert_string_equal(text_of(&f, &py, set), "{... 5 more}");
	fake_field(&f, set, py.layout.set.table, 0x10, 8);
	assert_string_equal(text_of(&f, &py, set), "{<unreadable>}");
	fake_deinit(&f);
}

static void a_ring_of_deque_blocks_ends(void **state)
{
	struct pl_py py = fake_py(12);
	struct pl_value_limits many = pl_value_usual;
	struct fake f;

	many.items = 1000;
	many.total_bytes = 100000;
	fake_init(&f);
	pl_addr deque = put_object(&f, &py, "collections.deque", FLAG_HEAP, 128), block = fake_new(&f, 66 * 8);
	pl_addr one = put_int(&f, &py, (uint32_t[]){7}, 1, 1, false);
	for (pl_addr i = 0; i < 64; i++)
		fake_u64(&f, block + 8 + i * 8, one);
	fake_u64(&f, block + 8 + 64 * 8, block);
	fake_field(&f, deque, py.layout.bytes.ob_size, 1000, 8);
	fake_u64(&f, deque + 24, block);
	fake_u64(&f, deque + 40, 62);
	const char *text = text_limited(&f, &py, deque, NULL, &many);
	assert_memory_equal(text, "deque([7, 7, 7, 7, ", 19);
	assert_non_null(strstr(text, " more])"));
	fake_u64(&f, deque + 40, 65);
	assert_string_equal(text_of(&f, &py, deque), "deque([<damaged>])");
	fake_deinit(&f);
}

static void types_that_cannot_be_are_no_names(void **state)
{
	struct pl_py py = fake_py(12);
	struct fake f;
	pl_addr type;

	fake_init(&f);
	assert_string_equal(text_of(&f, &py, 0), "<damaged>");
	assert_string_equal(text_of(&f, &py, 0x1003), "<damaged>");
	assert_string_equal(text_of(&f, &py, 0x700000), "<unreadable>");
	assert_string_equal(text_of(&f, &py, put_object(&f, &py, "", 0, 16)), "<damaged>");
	assert_string_equal(text_of(&f, &py, put_object(&f, &py, "evil\x1b[2J", 0, 16)), "<damaged>");
	assert_string_equal(text_of(&f, &py,
				    put_object(&f, &py,
					       "\xe2\x80\xae"
					       "txt",
					       0, 16)),
			    "<damaged>");
	assert_string_equal(text_of(&f, &py, put_object(&f, &py, "a\xff", 0, 16)), "<damaged>");
	/* A class that is its own base; a class that calls itself int. */
	pl_addr ring = put_object(&f, &py, "app.Ring", FLAG_HEAP, 64);
	assert_ok(pl_mem_read_u64(&f.mem, ring + py.layout.object.type, &type));
	fake_field(&f, type, py.layout.type.tp_base, type, 8);
	assert_string_equal(text_of(&f, &py, ring), "<app.Ring>");
	assert_string_equal(text_of(&f, &py, put_object(&f, &py, "int", FLAG_HEAP, 64)), "<int>");
	fake_deinit(&f);
}

/* A class with one slot named "x" at @p offset, and an instance whose slot holds 7. Returns the class. */
static pl_addr put_slotted(struct fake *f, const struct pl_py *py, uint64_t count, uint64_t offset, pl_addr *obj_ret)
{
	const struct pl_layout *lay = &py->layout;
	pl_addr meta = put_type(f, py, "type", 0), type = fake_new(f, lay->type.size + 8 + 40), text = fake_new(f, 128);
	pl_addr members = type + lay->type.size;

	fake_field(f, meta, lay->type.tp_basicsize, lay->type.size, 8);
	fake_field(f, type, lay->object.type, meta, 8);
	fake_field(f, type, lay->bytes.ob_size, count, 8);
	fake_put(f, text, "app.Slotted", 12);
	fake_field(f, type, lay->type.tp_name, text, 8);
	fake_field(f, type, lay->type.tp_flags, FLAG_HEAP, 8);
	pl_addr name = fake_new(f, 128);
	fake_put(f, name, "x", 2);
	fake_u64(f, members, name);
	fake_u64(f, members + 8, 16); /* Py_T_OBJECT_EX */
	fake_u64(f, members + 16, offset);
	*obj_ret = fake_new(f, 64);
	fake_field(f, *obj_ret, lay->object.type, type, 8);
	fake_u64(f, *obj_ret + 24, put_int(f, py, (uint32_t[]){7}, 1, 1, false));
	return type;
}

static void slots_are_told_and_those_that_lie_are_not(void **state)
{
	for (int minor = 8; minor <= 15; minor++) {
		struct pl_py py = fake_py(minor);
		struct fake f;
		pl_addr obj;
		fake_init(&f);
		pl_addr type = put_slotted(&f, &py, 1, 24, &obj);
		assert_string_equal(text_of(&f, &py, obj), "<app.Slotted x=7>");
		fake_field(&f, type, py.layout.bytes.ob_size, UINT64_MAX, 8);
		assert_string_equal(text_of(&f, &py, obj), "<app.Slotted>");
		fake_field(&f, type, py.layout.bytes.ob_size, 2, 8); /* more than there are */
		assert_string_equal(text_of(&f, &py, obj), "<app.Slotted>");
		put_slotted(&f, &py, 1, 60, &obj); /* not aligned, then far away */
		assert_string_equal(text_of(&f, &py, obj), "<app.Slotted>");
		put_slotted(&f, &py, 1, UINT64_MAX - 7, &obj);
		assert_string_equal(text_of(&f, &py, obj), "<app.Slotted>");
		fake_deinit(&f);
	}
}

static void the_limits_hold_each_by_itself(void **state)
{
	struct pl_py py = fake_py(13);
	struct pl_value_limits few = pl_value_usual;
	struct fake f;

	fake_init(&f);
	pl_addr text = put_str(&f, &py, "0123456789"), items[8];
	for (int i = 0; i < 8; i++)
		items[i] = text;
	pl_addr list = put_list(&f, &py, items, 8, 8);
	few.reads = 0;
	assert_string_equal(text_limited(&f, &py, list, NULL, &few), "...");
	for (few.reads = 1; few.reads < 30; few.reads++)
		text_limited(&f, &py, list, NULL, &few); /* which checks the number of reads */
	few = pl_value_usual;
	few.total_bytes = 20;
	assert_string_equal(text_limited(&f, &py, list, NULL, &few), "['0123456789', '0123456789', ... 6 more]");
	few.text_bytes = 3;
	assert_string_equal(text_limited(&f, &py, text, NULL, &few), "'012'... (10 characters)");
	few.depth = 0;
	assert_string_equal(text_limited(&f, &py, list, NULL, &few), "[...]");
	few = pl_value_usual;
	few.items = 0;
	assert_string_equal(text_limited(&f, &py, list, NULL, &few), "[... 8 more]");
	fake_deinit(&f);
}

static void a_buffer_that_is_full_is_left_as_it_was(void **state)
{
	struct pl_py py = fake_py(10);
	struct pl_buf out = PL_BUF_INIT(4);
	struct pl_values v;
	struct fake f;

	fake_init(&f);
	pl_addr text = put_str(&f, &py, "0123456789");
	pl_values_init(&v, &f.mem, &py, NULL);
	assert_ok(pl_buf_add_str(&out, "ab"));
	struct plumb_error *err = pl_value_add(&v, text, NULL, 0, &out);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_LIMIT);
	plumb_error_destroy(err);
	assert_int_equal(out.len, 2);
	pl_buf_deinit(&out);
	fake_deinit(&f);
}

/* 2.7: a class that is no type. Its name is a str, which is bytes. */
static pl_addr put_old_class(struct fake *f, const struct pl_py *py, pl_addr name)
{
	pl_addr class = put_object(f, py, "classobj", 0, 64), dict = fake_new(f, 64), table = fake_new(f, 8 * 24);

	fake_field(f, class, py->layout.old_class.name, name, 8);
	fake_field(f, class, py->layout.old_class.dict, dict, 8);
	fake_field(f, dict, py->layout.dict.mask, 7, 8);
	fake_field(f, dict, py->layout.dict.keys, table, 8);
	return class;
}

static pl_addr put_old_instance(struct fake *f, const struct pl_py *py, pl_addr class, pl_addr dict)
{
	pl_addr obj = put_object(f, py, "instance", 0, 64);

	fake_field(f, obj, py->layout.old_instance.type, class, 8);
	fake_field(f, obj, py->layout.old_instance.dict, dict, 8);
	return obj;
}

static void old_classes_that_lie_are_damaged(void **state)
{
	struct pl_py py = fake_py27();
	struct fake f;

	(void)state;
	fake_init(&f);
	pl_addr good = put_old_class(&f, &py, fake_str(&f, &py, "Old"));
	pl_addr bad = put_old_class(&f, &py, fake_str(&f, &py, "\x1b[31m"));
	pl_addr nameless = put_old_class(&f, &py, fake_str(&f, &py, ""));
	assert_string_equal(text_of(&f, &py, good), "<class 'Old'>");
	assert_string_equal(text_of(&f, &py, bad), "<damaged>");
	assert_string_equal(text_of(&f, &py, nameless), "<damaged>");
	assert_string_equal(text_of(&f, &py, put_old_class(&f, &py, 0x123450)), "<unreadable>");
	assert_string_equal(text_of(&f, &py, put_old_instance(&f, &py, bad, 0)), "<damaged>");
	assert_string_equal(text_of(&f, &py, put_old_instance(&f, &py, 0, 0)), "<damaged>");
	/* Attributes that cannot be read leave the class. */
	assert_string_equal(text_of(&f, &py, put_old_instance(&f, &py, good, 0)), "<Old>");
	assert_string_equal(text_of(&f, &py, put_old_instance(&f, &py, good, 0x123450)), "<Old>");
	fake_deinit(&f);
}

static void removed_members_of_a_set_of_2_7_are_none(void **state)
{
	struct pl_py py = fake_py27();
	const struct pl_layout *lay = &py.layout;
	struct fake f;

	(void)state;
	fake_init(&f);
	pl_addr dummy = put_object(&f, &py, "str", UINT64_C(1) << 27, 64), table = fake_new(&f, 8 * 16);
	pl_addr set = put_object(&f, &py, "set", 0, 64);
	fake_field(&f, dummy, lay->bytes.ob_size, 11, 8);
	fake_put(&f, dummy + lay->bytes.sval, "<dummy key>", 11);
	fake_field(&f, set, lay->set.mask, 7, 8);
	fake_field(&f, set, lay->set.table, table, 8);
	fake_u64(&f, table + 16 * 3 + lay->set.key, dummy);
	fake_u64(&f, table + 16 * 5 + lay->set.key, dummy);
	fake_field(&f, set, lay->set.used, 2, 8);
	fake_field(&f, set, lay->set.used - 8, 2, 8); /* nothing was removed */
	assert_string_equal(text_of(&f, &py, set), "{'<dummy key>', '<dummy key>'}");
	fake_field(&f, set, lay->set.used - 8, 3, 8);
	assert_string_equal(text_of(&f, &py, set), "{... 2 more}");
	fake_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ints_are_told_whole_up_to_the_limit_and_then_by_their_size),
		cmocka_unit_test(floats_are_the_shortest_text_that_reads_back),
		cmocka_unit_test(names_of_secrets_are_known_by_words_and_parts),
		cmocka_unit_test(long_names_of_secrets_are_known),
		cmocka_unit_test(secrets_are_masked_unless_they_are_asked_for),
		cmocka_unit_test(containers_that_hold_themselves_end),
		cmocka_unit_test(a_length_that_lies_is_told_but_not_believed),
		cmocka_unit_test(a_set_of_nothing_but_holes_is_given_up),
		cmocka_unit_test(a_ring_of_deque_blocks_ends),
		cmocka_unit_test(types_that_cannot_be_are_no_names),
		cmocka_unit_test(slots_are_told_and_those_that_lie_are_not),
		cmocka_unit_test(the_limits_hold_each_by_itself),
		cmocka_unit_test(a_buffer_that_is_full_is_left_as_it_was),
		cmocka_unit_test(old_classes_that_lie_are_damaged),
		cmocka_unit_test(removed_members_of_a_set_of_2_7_are_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
