/* SPDX-License-Identifier: Apache-2.0 */
#include "cfi.h"

#include "own.h"
#include "unit.h"

#define AT    0x1000u
#define START 0x400000u

static struct pl_cfi_row row;
static size_t steps;

/* The program at the beginning (CIE) says: CFA = rsp + 8, return address at CFA - 8. */
#define CIE	  0x0c, 0x07, 0x08, 0x90, 0x01
#define CIE_BYTES 5u

static bool row_at(pl_addr pc, const uint8_t *bytes, size_t len)
{
	const struct pl_fde f = {.start = START,
				 .end = START + 0x1000,
				 .code_align = 1,
				 .data_align = -8,
				 .pc_column = PL_X86_64_RIP,
				 .encoding = 0x1b,
				 .shared = {AT, AT + CIE_BYTES},
				 .own = {AT + CIE_BYTES, AT + len}};

	steps = 100;
	return pl_cfi_row_at(&f, own_bytes(AT, bytes, len), pc, &steps, &row);
}

#define ROW_AT(offset, ...)                                                                                            \
	row_at(START + (offset), (const uint8_t[]){CIE, __VA_ARGS__}, sizeof(const uint8_t[]){CIE, __VA_ARGS__})

static bool cfa_is(unsigned reg, int64_t offset)
{
	return row.cfa.kind == PL_CFI_IS && row.cfa.reg == reg && row.cfa.offset == offset;
}

/* push %rbp; mov %rsp,%rbp; ...; leave; ret; ... */
#define WITH_FRAME_POINTER                                                                                             \
	0x41, 0x0e, 0x10, 0x86, 0x02, 0x43, 0x0d, 0x06, 0x02, 0x20, 0x0a, 0x0c, 0x07, 0x08, 0xc6, 0x41, 0x0b

static void a_function_with_a_frame_pointer(void **state)
{
	(void)state;
	assert_true(ROW_AT(0, WITH_FRAME_POINTER) && cfa_is(PL_X86_64_RSP, 8));
	assert_int_equal(row.regs[PL_X86_64_RIP].offset, -8);
	assert_int_equal(row.regs[PL_X86_64_RBP].kind, PL_CFI_UNSAID);
	assert_true(ROW_AT(1, WITH_FRAME_POINTER) && cfa_is(PL_X86_64_RSP, 16));
	assert_int_equal(row.regs[PL_X86_64_RBP].offset, -16);
	assert_true(ROW_AT(4, WITH_FRAME_POINTER) && cfa_is(PL_X86_64_RBP, 16));
	assert_true(ROW_AT(35, WITH_FRAME_POINTER) && cfa_is(PL_X86_64_RBP, 16));
	assert_true(ROW_AT(36, WITH_FRAME_POINTER) && cfa_is(PL_X86_64_RSP, 8)); /* after "leave" */
	assert_int_equal(row.regs[PL_X86_64_RBP].kind, PL_CFI_UNSAID);
	assert_true(ROW_AT(37, WITH_FRAME_POINTER) && cfa_is(PL_X86_64_RBP, 16)); /* as before it */
	assert_int_equal(row.regs[PL_X86_64_RBP].kind, PL_CFI_AT);
}

static void every_rule(void **state)
{
	(void)state;
	assert_true(ROW_AT(0, 0x07, 0x10) && row.regs[16].kind == PL_CFI_UNDEFINED);
	assert_true(ROW_AT(0, 0x08, 0x03) && row.regs[3].kind == PL_CFI_SAME);
	assert_true(ROW_AT(0, 0x09, 0x03, 0x0c) && row.regs[3].kind == PL_CFI_REGISTER && row.regs[3].reg == 12);
	assert_true(ROW_AT(0, 0x05, 0x03, 0x04) && row.regs[3].offset == -32);
	assert_true(ROW_AT(0, 0x11, 0x03, 0x7f) && row.regs[3].offset == 8);
	assert_true(ROW_AT(0, 0x2f, 0x03, 0x01) && row.regs[3].offset == 8);
	assert_true(ROW_AT(0, 0x14, 0x03, 0x01) && row.regs[3].kind == PL_CFI_IS && row.regs[3].offset == -8);
	assert_true(ROW_AT(0, 0x15, 0x03, 0x7f) && row.regs[3].kind == PL_CFI_IS && row.regs[3].offset == 8);
	assert_true(ROW_AT(0, 0x10, 0x03, 0x02, 0x77, 0x08) && row.regs[3].kind == PL_CFI_AT_EXPRESSION);
	assert_int_equal(row.regs[3].expression.to - row.regs[3].expression.from, 2);
	assert_true(ROW_AT(0, 0x16, 0x03, 0x02, 0x77, 0x08) && row.regs[3].kind == PL_CFI_IS_EXPRESSION);
	assert_true(ROW_AT(0, 0x0f, 0x02, 0x77, 0x08) && row.cfa.kind == PL_CFI_IS_EXPRESSION);
	assert_true(ROW_AT(0, 0x12, 0x06, 0x7e) && cfa_is(6, 16));
	assert_true(ROW_AT(0, 0x13, 0x7e) && cfa_is(7, 16));
	assert_true(ROW_AT(0, 0x2e, 0x10, 0x0e, 0x20) && cfa_is(7, 32));
	assert_true(ROW_AT(0, 0x07, 0x10, 0x06, 0x10) && row.regs[16].kind == PL_CFI_AT); /* restored */
	assert_true(ROW_AT(0x100, 0x03, 0x00, 0x01, 0x0e, 0x20) && cfa_is(7, 32));
	assert_true(ROW_AT(0xff, 0x04, 0x00, 0x01, 0x00, 0x00, 0x0e, 0x20) && cfa_is(7, 8));
}

/* Vector registers, and the shadow stack pointer of libraries built with CET. */
static void registers_that_nobody_asks_for(void **state)
{
	(void)state;
	assert_true(ROW_AT(0, 0x05, 0x31, 0x04, 0x07, 0x80, 0x01, 0x0e, 0x20) && cfa_is(7, 32));
	assert_true(ROW_AT(0, 0xbf, 0x01, 0xff, 0x0e, 0x20) && cfa_is(7, 32)); /* offset and restore of number 63 */
	assert_true(ROW_AT(0, 0x09, 0x03, 0x80, 0x01) && row.regs[3].kind == PL_CFI_UNDEFINED);
}

static void what_makes_no_sense(void **state)
{
	(void)state;
	assert_false(ROW_AT(0, 0x3f));			       /* no such instruction */
	assert_false(ROW_AT(0, 0x0b));			       /* nothing was remembered */
	assert_false(ROW_AT(0, 0x0c, 0x80, 0x01, 0x08));       /* CFA by a register that there is not */
	assert_false(ROW_AT(0, 0x0f, 0x7f, 0x77));	       /* an expression beyond the end */
	assert_false(ROW_AT(0, 0x0f, 0x01, 0x77, 0x0e, 0x08)); /* an offset of no register */
	assert_false(ROW_AT(0, 0x02));			       /* cut */
	assert_false(ROW_AT(0, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a));
	assert_false(ROW_AT(0x2000, 0x01, 0x00, 0x00, 0x00, 0x00)); /* back to before the function */
}

static void each_instruction_is_a_step(void **state)
{
	(void)state;
	assert_true(ROW_AT(0, 0x00, 0x00, 0x0e, 0x20) && cfa_is(7, 32));
	assert_int_equal(steps, 100 - 2 - 3);
	assert_true(ROW_AT(0, 0x41, 0x0e, 0x20) && cfa_is(7, 8)); /* what holds for later addresses is not read */
	assert_int_equal(steps, 100 - 2 - 1);
	const uint8_t nothing[200] = {CIE};
	assert_false(row_at(START, nothing, sizeof nothing));
	assert_int_equal(steps, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_with_a_frame_pointer), cmocka_unit_test(every_rule),
		cmocka_unit_test(registers_that_nobody_asks_for),  cmocka_unit_test(what_makes_no_sense),
		cmocka_unit_test(each_instruction_is_a_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
