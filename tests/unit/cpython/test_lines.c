/* SPDX-License-Identifier: Apache-2.0 */
/* The formats against tables made by hand. That they agree with real interpreters at every offset is for the dumps to
 * show. */
#include "unit.h"

#include <string.h>

#include "lines.h"

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static int line(enum pl_line_table kind, const uint8_t *table, size_t len, int first, int offset)
{
	return pl_lines_find(kind, table, len, first, offset).line;
}

static void an_entry_answers_up_to_its_end_exclusive(void **state)
{
	/* 6 bytes of line 10, then line 11 */
	assert_int_equal(line(PL_LINES_LNOTAB, BYTES(6, 1), 10, 5), 10);
	assert_int_equal(line(PL_LINES_LNOTAB, BYTES(6, 1), 10, 6), 11);
	assert_int_equal(line(PL_LINES_PEP626, BYTES(6, 0, 2, 1), 10, 5), 10);
	assert_int_equal(line(PL_LINES_PEP626, BYTES(6, 0, 2, 1), 10, 6), 11);
	/* no columns (13): 3 units + 0 lines, then 1 unit + 1 line */
	assert_int_equal(line(PL_LINES_PEP657, BYTES(0xea, 0, 0xe8, 2), 10, 5), 10);
	assert_int_equal(line(PL_LINES_PEP657, BYTES(0xea, 0, 0xe8, 2), 10, 6), 11);
}

static void lines_go_back_except_in_2_7(void **state)
{
	assert_int_equal(line(PL_LINES_LNOTAB, BYTES(2, 5, 2, 0xfe), 10, 4), 13);
	assert_int_equal(line(PL_LINES_LNOTAB_U8, BYTES(2, 5, 2, 0xfe), 10, 4), 10 + 5 + 254);
	assert_int_equal(line(PL_LINES_PEP626, BYTES(2, 5, 2, 0xfe), 10, 2), 13);
	assert_int_equal(line(PL_LINES_PEP657, BYTES(0xe8, 5), 10, 0), 8); /* svarint -2 */
}

static void instructions_without_a_line_have_line_0_and_change_nothing(void **state)
{
	assert_int_equal(line(PL_LINES_PEP626, BYTES(2, 1, 2, 0x80, 2, 1), 10, 2), 0);
	assert_int_equal(line(PL_LINES_PEP626, BYTES(2, 1, 2, 0x80, 2, 1), 10, 4), 12);
	assert_int_equal(line(PL_LINES_PEP657, BYTES(0xe8, 2, 0xf8, 0xe8, 2), 10, 2), 0);
	assert_int_equal(line(PL_LINES_PEP657, BYTES(0xe8, 2, 0xf8, 0xe8, 2), 10, 4), 12);
}

static void columns_come_in_all_forms(void **state)
{
	const struct {
		uint8_t table[12];
		size_t len;
		struct pl_position want;
	} cases[] = {
		{{0x80 | 3 << 3, 0x52}, 2, {10, 10, 29, 31}},	 /* short, same line */
		{{0x80 | 11 << 3, 7, 200}, 3, {11, 11, 7, 200}}, /* next line, two bytes */
		{{0x80 | 13 << 3, 4}, 2, {12, 12, -1, -1}},	 /* no columns */
		{{0x80 | 14 << 3, 0x40 | 8, 2, 3, 0x40 | 1, 2, 0},
		 7,
		 {78, 81, 128, -1}}, /* long, varints of two bytes */
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct pl_position p = pl_lines_find(PL_LINES_PEP657, cases[i].table, cases[i].len, 10, 0);
		assert_memory_equal(&p, &cases[i].want, sizeof p);
	}
}

static void before_the_first_instruction_stands_the_first_line(void **state)
{
	const enum pl_line_table kinds[] = {PL_LINES_LNOTAB_U8, PL_LINES_LNOTAB, PL_LINES_PEP626, PL_LINES_PEP657};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		assert_int_equal(line(kinds[i], BYTES(0x88, 9, 9), 42, -1), 42);
		assert_int_equal(line(kinds[i], NULL, 0, 42, 0), 42);
	}
}

static void a_table_that_ends_early_answers_with_the_last_known_line(void **state)
{
	assert_int_equal(line(PL_LINES_LNOTAB, BYTES(2, 1), 10, 100), 11);
	assert_int_equal(line(PL_LINES_LNOTAB, BYTES(2, 1, 2), 10, 100), 11);
	assert_int_equal(line(PL_LINES_PEP626, BYTES(2, 1), 10, 100), 11);
	assert_int_equal(line(PL_LINES_PEP657, BYTES(0xe8, 2), 10, 100), 11);
	assert_int_equal(line(PL_LINES_PEP657, BYTES(0xe8, 2, 0xf0, 0x40), 10, 100), 11); /* cut inside an entry */
	assert_int_equal(line(PL_LINES_PEP657, BYTES(1, 2, 0xe8, 2), 10, 0), 11); /* not the start of an entry */
}

/* Entries of all lengths, garbage between them, and long stretches that say nothing. */
static void fill_long_table(uint8_t *table, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		bool silent = i / 1500 % 3 == 1;

		table[i] = silent ? 0 : (uint8_t)(seed >> 24 & (i % 2 ? 0xbf : 0x83));
	}
}

/* Each place around those from which tables are read on, and one of seven between: reading from the beginning takes
 * long. */
static bool is_asked(const struct pl_lines *l, int32_t at)
{
	bool asked = at % 7 == 0;

	for (size_t i = 0; i < l->marks.len && !asked; i++) {
		int64_t beyond = (int64_t)at - l->marks.data[i].end;

		asked = beyond > -20 && beyond < 20;
	}
	return asked;
}

static void a_long_table_that_is_asked_often_answers_alike(void **state)
{
	static uint8_t table[9000];
	struct pl_lines l;

	for (int kind = PL_LINES_LNOTAB_U8; kind <= PL_LINES_PEP657; kind++) {
		fill_long_table(table, sizeof table, (uint32_t)kind);
		assert_ok(pl_lines_open(kind, table, sizeof table, 10, &l));
		assert_in_range(l.marks.len, 10, sizeof table / 500);
		int32_t end = (int32_t)l.marks.data[l.marks.len - 1].end + 1000;
		for (int32_t at = -1; at < end; at++) {
			if (!is_asked(&l, at))
				continue;
			struct pl_position once = pl_lines_find(kind, table, sizeof table, 10, at),
					   often = pl_lines_at(&l, at);
			assert_memory_equal(&once, &often, sizeof once);
		}
		pl_lines_close(&l);
	}
	assert_ok(pl_lines_open(PL_LINES_PEP657, NULL, 0, 10, &l));
	assert_int_equal(pl_lines_at(&l, 0).line, 10);
	pl_lines_close(&l);
}

static void garbage_ends_and_overflow_wraps(void **state)
{
	uint8_t table[300];

	for (int fill = 0; fill < 256; fill++) {
		memset(table, fill, sizeof table);
		for (int kind = PL_LINES_LNOTAB_U8; kind <= PL_LINES_PEP657; kind++) {
			struct pl_position p = pl_lines_find(kind, table, sizeof table, INT32_MAX, 123);
			assert_true(p.line >= 0);
		}
	}
	/* a varint that never ends */
	assert_int_equal(line(PL_LINES_PEP657, BYTES(0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f), 3, 0), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_answers_up_to_its_end_exclusive),
		cmocka_unit_test(lines_go_back_except_in_2_7),
		cmocka_unit_test(instructions_without_a_line_have_line_0_and_change_nothing),
		cmocka_unit_test(columns_come_in_all_forms),
		cmocka_unit_test(before_the_first_instruction_stands_the_first_line),
		cmocka_unit_test(a_table_that_ends_early_answers_with_the_last_known_line),
		cmocka_unit_test(a_long_table_that_is_asked_often_answers_alike),
		cmocka_unit_test(garbage_ends_and_overflow_wraps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
