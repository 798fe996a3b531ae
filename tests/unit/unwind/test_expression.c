/* SPDX-License-Identifier: Apache-2.0 */
#include "expression.h"

#include "own.h"
#include "unit.h"

#define AT 0x1000u

static struct pl_registers regs;
static size_t steps = SIZE_MAX;

static bool eval(const uint8_t *bytes, size_t len, const uint64_t *start, uint64_t *ret)
{
	const struct pl_expression e = {AT, AT + len};

	return pl_expression_eval(&e, own_bytes(AT, bytes, len), &regs, start, &steps, ret);
}

#define EVAL(ret, ...) eval((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__}, NULL, ret)

/* What every linker writes for the PLT: the CFA is one word further once the entry has pushed its index. */
static void the_plt(void **state)
{
#define PLT 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	uint64_t v;

	(void)state;
	pl_register_set(&regs, PL_X86_64_RSP, 0x7000);
	pl_register_set(&regs, PL_X86_64_RIP, 0x401020);
	assert_true(EVAL(&v, PLT) && v == 0x7008);
	pl_register_set(&regs, PL_X86_64_RIP, 0x40102b);
	assert_true(EVAL(&v, PLT) && v == 0x7010);
}

static void arithmetic(void **state)
{
	uint64_t v;

	(void)state;
	assert_true(EVAL(&v, 0x35, 0x33, 0x1c) && v == 2);			  /* 5 - 3 */
	assert_true(EVAL(&v, 0x09, 0xf8, 0x34, 0x1b) && v == (uint64_t)-2);	  /* -8 / 4 */
	assert_true(EVAL(&v, 0x37, 0x34, 0x1d) && v == 3);			  /* 7 % 4 */
	assert_true(EVAL(&v, 0x31, 0x32, 0x33, 0x17, 0x1c) && v == (uint64_t)-1); /* 3, 1, 2: 1 - 2 */
	assert_true(EVAL(&v, 0x31, 0x32, 0x15, 0x01) && v == 1);
	assert_true(EVAL(&v, 0x31, 0x28, 0x01, 0x00, 0x39, 0x34) && v == 4); /* over lit9 */
	assert_true(EVAL(&v, 0x09, 0xff, 0x31, 0x2d) && v == 1);	     /* -1 < 1 */
	assert_true(EVAL(&v, 0x0b, 0x00, 0x80, 0x19) && v == 0x8000);
	assert_true(EVAL(&v, 0x09, 0x80, 0x08, 0xff, 0x26) && v == UINT64_MAX);
	assert_false(EVAL(&v, 0x31, 0x30, 0x1b)); /* by nothing */
	assert_true(EVAL(&v, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b) && v == UINT64_C(1) << 63);
}

static void memory(void **state)
{
	uint64_t v, start = AT;

	(void)state;
	assert_true(eval((const uint8_t[]){0x94, 0x02}, 2, &start, &v) && v == 0x0294); /* the expression itself */
	start = 0x10;
	assert_false(eval((const uint8_t[]){0x06}, 1, &start, &v));
	assert_false(EVAL(&v, 0x31, 0x94, 0x09));
}

static void what_makes_no_sense_ends(void **state)
{
	uint8_t deep[80];
	uint64_t v;

	(void)state;
	assert_false(EVAL(&v, 0x22));		  /* nothing to add */
	assert_false(EVAL(&v, 0x2f, 0xfd, 0xff)); /* for ever */
	assert_false(EVAL(&v, 0x2f, 0x00, 0x70)); /* out of it */
	assert_false(EVAL(&v, 0x2f, 0xfc, 0xff)); /* to before it */
	assert_false(EVAL(&v, 0x78, 0x00));	  /* a register that is not known */
	assert_false(EVAL(&v, 0x92, 0x80, 0x7f, 0x00));
	assert_false(EVAL(&v, 0x08));
	assert_false(EVAL(&v, 0xff));
	for (size_t i = 0; i < sizeof deep; i++)
		deep[i] = 0x31;
	assert_false(eval(deep, sizeof deep, NULL, &v));
	assert_false(eval(deep, 0, NULL, &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plt),
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(memory),
		cmocka_unit_test(what_makes_no_sense_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
