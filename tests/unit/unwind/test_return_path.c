/* SPDX-License-Identifier: Apache-2.0 */
/* From code without tables to where it returns. */
#include "return_path.h"

#include <string.h>

#include "cfi.h"
#include "effect.h"
#include "own.h"
#include "unit.h"

#define WORDS 16
#define FP    3 /* the word on the stack that the frame pointer points to */

static uint64_t stack[WORDS];
static uint8_t code[512];
static const uint8_t caller[] = {0xe8, 0, 0, 0, 0, 0x90}; /* call; nop */
static struct pl_registers regs;

/* The code goes on at @p from and returns to the caller: by which of the words on the stack? -1: that is not told.
 * Other words lead nowhere. */
static int returns(const char *bytes, size_t len, size_t from)
{
	const struct pl_native_frame f = {.pc = (uintptr_t)code + from, .flags = PL_NATIVE_EXACT_PC};
	uint64_t sp;
	int found = -1;

	memset(code, 0x06, sizeof code);
	memcpy(code, bytes, len);
	for (int word = 0; word < WORDS && found < 0; word++) {
		struct pl_unwinder u = {
			.mem = own_mem(), .code = own_mem(), .arch = &pl_unwind_x86_64, .steps = PL_UNWIND_STEPS};

		for (size_t i = 0; i < WORDS; i++)
			stack[i] = 100 + i;
		stack[word] = (uintptr_t)caller + 5;
		regs = (struct pl_registers){0};
		for (unsigned n = 0; n < PL_X86_64_COUNT; n++)
			pl_register_set(&regs, n, 1000 + n);
		pl_register_set(&regs, PL_X86_64_RSP, (uintptr_t)stack);
		pl_register_set(&regs, PL_X86_64_RBP, (uintptr_t)(stack + FP));
		if (!pl_return_path_follow(&u, &f, &regs))
			continue;
		assert_true(pl_register_get(&regs, PL_X86_64_RSP, &sp) && sp == (uintptr_t)(stack + word + 1));
		found = word;
	}
	return found;
}

#define RETURNS(bytes) returns(bytes, sizeof bytes - 1, 0)

/* Of the caller; 0: not known. */
static uint64_t value(unsigned n)
{
	uint64_t v = 0;

	return pl_register_get(&regs, n, &v) ? v : 0;
}

static void whatever_stands_on_the_way(void **state)
{
	(void)state;
	assert_int_equal(RETURNS("\xc3"), 0);
	assert_int_equal(RETURNS("\xf3\xc3"), 0);				      /* repz ret */
	assert_int_equal(RETURNS("\xc5\xf8\x77\xc3"), 0);			      /* vzeroupper */
	assert_int_equal(RETURNS("\x62\xf1\xfd\x48\x10\x44\x24\x01\xdd\xd8\xc3"), 0); /* vmovupd; fstp */
	assert_int_equal(RETURNS("\x48\xff\xc9\x75\xf0\xc3"), 0);		      /* dec %rcx; jne: a loop */
	assert_int_equal(RETURNS("\x0f\x8f\x00\xff\xff\xff\xc3"), 0);		      /* jg, far away */
	assert_int_equal(RETURNS("\xeb\x02\x06\x06\x5b\xc3"), 1); /* jmp over what is not known; pop %rbx */
	assert_int_equal(RETURNS("\xe9\x02\0\0\0\x06\x06\x5b\xc3"), 1);
	assert_int_equal(RETURNS("\x48\x83\xc4\x10\x5d\xc3"), 3); /* add $16,%rsp; pop %rbp */
	assert_int_equal(value(PL_X86_64_RBP), 102);
	assert_int_equal(RETURNS("\x48\x83\xec\x10\x48\x83\xc4\x10\xc3"), 0); /* sub $16,%rsp, and back */
	assert_int_equal(RETURNS("\xc9\xc3"), FP + 1);			      /* leave */
	assert_int_equal(value(PL_X86_64_RBP), 100 + FP);
	assert_int_equal(value(PL_X86_64_RBX), 1000 + PL_X86_64_RBX);
	assert_int_equal(value(PL_X86_64_RAX), 0); /* which no function preserves */
}

static void registers_are_known_that_are_given_back(void **state)
{
	(void)state;
	/* mov (%rsp),%rbx; mov 8(%rsp),%r12; add $16,%rsp */
	assert_int_equal(RETURNS("\x48\x8b\x1c\x24\x4c\x8b\x64\x24\x08\x48\x83\xc4\x10\xc3"), 2);
	assert_int_equal(value(PL_X86_64_RBX), 100);
	assert_int_equal(value(12), 101);
	assert_int_equal(value(13), 1013);
	assert_int_equal(RETURNS("\x31\xdb\xc3"), 0); /* xor %ebx,%ebx */
	assert_int_equal(value(PL_X86_64_RBX), 0);
	assert_int_equal(RETURNS("\x31\xdb\x5b\xc3"), 1); /* and pop %rbx */
	assert_int_equal(value(PL_X86_64_RBX), 100);
	assert_int_equal(RETURNS("\x50\x5b\xc3"), 0); /* push %rax; pop %rbx: what is not there yet */
	assert_int_equal(value(PL_X86_64_RBX), 0);
	assert_int_equal(RETURNS("\xbb\1\0\0\0\xc3"), 0); /* mov $1,%ebx */
	assert_int_equal(value(PL_X86_64_RBX), 0);
	assert_int_equal(RETURNS("\xc5\xfb\x10\x1e\xc3"), 0); /* vmovsd (%rsi),%xmm3 */
	assert_int_equal(value(PL_X86_64_RBX), 1000 + PL_X86_64_RBX);
	assert_int_equal(RETURNS("\x66\x0f\x7e\xc3\xc3"), 0); /* movd %xmm0,%ebx */
	assert_int_equal(value(PL_X86_64_RBX), 0);
	assert_int_equal(RETURNS("\x31\xed\xc9\xc3"), -1); /* xor %ebp,%ebp; leave */
}

static void what_is_not_told_is_not_followed(void **state)
{
	char endless[512];

	(void)state;
	assert_int_equal(RETURNS("\x90"), -1);			   /* not known what comes next */
	assert_int_equal(RETURNS("\xe8\0\0\0\0\xc3"), -1);	   /* call */
	assert_int_equal(RETURNS("\xff\xe0\xc3"), -1);		   /* jmp *%rax */
	assert_int_equal(RETURNS("\x53\xc3"), -1);		   /* push %rbx */
	assert_int_equal(RETURNS("\x48\x83\xec\x08\xc3"), -1);	   /* sub $8,%rsp */
	assert_int_equal(RETURNS("\x48\x89\xc4\xc3"), -1);	   /* mov %rax,%rsp */
	assert_int_equal(RETURNS("\x48\x8d\x64\x24\x08\xc3"), -1); /* lea 8(%rsp),%rsp */
	assert_int_equal(RETURNS("\x5c\xc3"), -1);		   /* pop %rsp */
	assert_int_equal(RETURNS("\xc2\x08\0"), -1);		   /* ret $8 */
	assert_int_equal(RETURNS("\x0f\x0b\xc3"), -1);		   /* ud2: it does not go on */
	assert_int_equal(RETURNS("\xf4\xc3"), -1);		   /* hlt */
	assert_int_equal(RETURNS("\xcc\xc3"), -1);		   /* int3 */
	assert_int_equal(RETURNS("\xeb\xfe"), -1);		   /* jmp to itself */
	memset(endless, 0x90, sizeof endless);
	memcpy(endless + 500, "\xe9\x07\xfe\xff\xff", 5); /* jmp back */
	assert_int_equal(returns(endless, sizeof endless, 0), -1);
	memcpy(endless + 500, "\xc3", 1);
	assert_int_equal(returns(endless, sizeof endless, 0), 0);
	assert_int_equal(returns(endless, sizeof endless, 499), 0);
}

/* ---- beside the tables ------------------------------------------------------------------------------------------- */

#define STACK_AT    0x10000u
#define STACK_BYTES 0x8000u

/* A stack on which each word can be a return address; and this process. */
static struct plumb_error *any_return(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	const uint64_t word = (uintptr_t)caller + 5;

	(void)mem;
	if (addr < STACK_AT || addr >= STACK_AT + STACK_BYTES || len != sizeof word)
		return pl_mem_read(own_mem(), addr, dst, len);
	memcpy(dst, &word, len);
	return NULL;
}

struct compared {
	struct pl_mem mem;
	size_t same, not_told;
};

/* Where the table says that the caller's frame begins so far above the stack pointer, the way to the return says so, or
 * nothing. */
static void compare_at(struct compared *c, const struct pl_fde *fde, pl_addr pc)
{
	struct pl_unwinder u = {.mem = &c->mem, .code = own_mem(), .arch = &pl_unwind_x86_64, .steps = PL_UNWIND_STEPS};
	const struct pl_native_frame f = {.pc = pc, .flags = PL_NATIVE_EXACT_PC};
	struct pl_registers to = {0};
	struct pl_cfi_row row;
	uint64_t sp = 0;

	if (!pl_cfi_row_at(fde, own_mem(), pc, &u.steps, &row) || row.cfa.kind != PL_CFI_IS ||
	    row.cfa.reg != PL_X86_64_RSP)
		return;
	pl_register_set(&to, PL_X86_64_RSP, STACK_AT);
	if (!pl_return_path_follow(&u, &f, &to)) {
		c->not_told++;
		return;
	}
	assert_true(pl_register_get(&to, PL_X86_64_RSP, &sp));
	if (sp - STACK_AT != (uint64_t)row.cfa.offset)
		print_error("at %#lx of the function at %#lx\n", (unsigned long)pc, (unsigned long)fde->start);
	assert_int_equal(sp - STACK_AT, row.cfa.offset);
	c->same++;
}

static bool is_nop(const struct pl_instruction *in)
{
	return in->map == PL_MAP_ONE_BYTE ? in->opcode == 0x90 : in->map == PL_MAP_0F && in->opcode == 0x1f;
}

/* What fills the room behind it, up to the next place that a jump leads to, may never be run: not every call returns.
 */
static bool goes_away(const struct pl_instruction *in)
{
	return in->map == PL_MAP_ONE_BYTE &&
	       (in->opcode == 0xc3 || in->opcode == 0xe8 || in->opcode == 0xe9 || in->opcode == 0xeb ||
		(in->opcode == 0xff && (in->reg == 2 || in->reg == 4)));
}

/* Some hand-written functions of the C library push without their tables saying so (__mpn_addmul_1): these are wrong.
 */
static bool has_silent_table(const struct pl_fde *fde)
{
	uint8_t bytes[PL_INSTRUCTION_MAX];
	struct pl_instruction in;
	struct pl_cfi_row row;
	size_t steps = PL_UNWIND_STEPS;
	uint64_t n;

	if (!pl_mem_get(own_mem(), fde->start, bytes, sizeof bytes) || !pl_instruction_read(bytes, &in) ||
	    pl_effect_of(&in, &n) != PL_EFFECT_PUSHES ||
	    !pl_cfi_row_at(fde, own_mem(), fde->start + in.len, &steps, &row))
		return false;
	return row.cfa.kind == PL_CFI_IS && row.cfa.reg == PL_X86_64_RSP && row.cfa.offset == 8;
}

static void compare_function(struct compared *c, const struct pl_unwind_image *i, pl_addr start)
{
	uint8_t bytes[PL_INSTRUCTION_MAX];
	struct pl_instruction in;
	bool filling = false;
	struct pl_fde fde;
	unsigned n = 0;

	if (!pl_fde_find(i, own_mem(), start, &fde) || fde.signal || has_silent_table(&fde))
		return;
	for (pl_addr pc = fde.start; pc < fde.end; pc += in.len) {
		if (!pl_mem_get(own_mem(), pc, bytes, sizeof bytes) || !pl_instruction_read(bytes, &in))
			return;
		filling = filling && is_nop(&in);
		if (n++ % 8 == 0 && !filling)
			compare_at(c, &fde, pc);
		filling |= goes_away(&in);
	}
}

static void the_same_as_the_tables_say(void **state)
{
	static const struct pl_mem_ops ops = {.read = any_return};
	struct pl_unwind_image images[OWN_IMAGES_MAX];
	const size_t n = own_images(images);
	struct compared c = {.mem = {&ops}};

	(void)state;
	for (size_t i = 0; i < n; i++) {
		pl_unwind_image_open(&images[i], own_mem(), &pl_unwind_x86_64);
		for (uint32_t k = 0; k < images[i].count; k++) {
			int32_t distance;

			assert_true(pl_mem_get(own_mem(), images[i].table + 8u * k, &distance, sizeof distance));
			compare_function(&c, &images[i], images[i].index + (uint64_t)(int64_t)distance);
		}
	}
	print_message("%zu places as the tables say, %zu that are not told\n", c.same, c.not_told);
	assert_true(c.same > 1000);
}

static void steps_are_bounded(void **state)
{
	const struct pl_native_frame f = {.pc = (uintptr_t)code, .flags = PL_NATIVE_EXACT_PC};
	struct pl_registers r = {0};
	bool found = false;

	(void)state;
	assert_int_equal(RETURNS("\x90\x90\x90\xc3"), 0);
	stack[0] = (uintptr_t)caller + 5;
	for (size_t steps = 0; steps < 1000; steps++) {
		struct pl_unwinder u = {.mem = own_mem(), .code = own_mem(), .arch = &pl_unwind_x86_64, .steps = steps};

		pl_register_set(&r, PL_X86_64_RSP, (uintptr_t)stack);
		const bool now = pl_return_path_follow(&u, &f, &r);
		assert_true(now || !found);
		assert_true(now || u.steps == 0);
		found = now;
	}
	assert_true(found);
	struct pl_unwinder u = {.mem = own_mem(), .code = own_mem(), .arch = &pl_unwind_x86_64, .steps = 1000};
	const struct pl_native_frame has_called = {.pc = f.pc};
	assert_false(pl_return_path_follow(&u, &has_called, &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_stands_on_the_way),
		cmocka_unit_test(registers_are_known_that_are_given_back),
		cmocka_unit_test(what_is_not_told_is_not_followed),
		cmocka_unit_test(the_same_as_the_tables_say),
		cmocka_unit_test(steps_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
