/* SPDX-License-Identifier: Apache-2.0 */
/* What the first instructions of a function tell of its frame pointer; and how long instructions are. */
#include "frame_pointer.h"

#include <string.h>

#include "instruction.h"
#include "own.h"
#include "unit.h"

#define AT 0x1000u
#define SP 0x7000u

/* How far above the stack pointer the frame pointer points, after @p done bytes; -1: that is not told. What follows is
 * not known: it cannot be decoded. */
static int after(const char *code, size_t len, size_t done)
{
	uint8_t all[1024];

	assert_true(len + 64 <= sizeof all);
	memset(all, 0x06, sizeof all);
	memcpy(all, code, len);
	const struct pl_native_frame f = {.pc = AT + done, .sp = SP, .function = AT};
	struct pl_unwinder u = {
		.mem = own_bytes(AT, all, sizeof all), .arch = &pl_unwind_x86_64, .steps = PL_UNWIND_STEPS};
	pl_addr ret = 0;

	return pl_frame_pointer_by_code(&u, &f, &ret) ? (int)(ret - SP) : -1;
}

#define AFTER(code, done) after(code, sizeof code - 1, done)
#define ALL_OF(code)	  AFTER(code, sizeof code - 1)
#define BEGINS		  "\x55\x48\x89\xe5" /* push %rbp; mov %rsp,%rbp */

static void pushes_and_room_are_added_up(void **state)
{
	static const char usual[] = "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x41\x57\x49\x89\xff\x41\x56\x53\x48\x83\xec\x48"
				    "\x50\x90"; /* endbr64; ...; push %r15; mov; push %r14; push %rbx; sub $72 */

	(void)state;
	assert_int_equal(AFTER(usual, 4), -1);
	assert_int_equal(AFTER(usual, 5), -1);
	assert_int_equal(AFTER(usual, 8), 0);
	assert_int_equal(AFTER(usual, 10), 8);
	assert_int_equal(AFTER(usual, 13), 8);
	assert_int_equal(AFTER(usual, 15), 16);
	assert_int_equal(AFTER(usual, 16), 24);
	assert_int_equal(AFTER(usual, 20), 96);
	assert_int_equal(ALL_OF(usual), 96); /* what it pushes for a call is gone again */
	assert_int_equal(ALL_OF(BEGINS "\x48\x81\xec\xe0\0\0\0\x90"), 224);
	assert_int_equal(ALL_OF(BEGINS "\x53\xe8\0\0\0\0\x53"), 8); /* up to a call, */
	assert_int_equal(ALL_OF(BEGINS "\x53\xff\xd0\x53"), 8);
	assert_int_equal(ALL_OF(BEGINS "\x53\x74\x05\x53"), 8); /* or a jump */
	assert_int_equal(ALL_OF("\x85\xff\x74\x05" BEGINS "\x53"), 8);
	assert_int_equal(ALL_OF(BEGINS "\x6a\x05"), 8);
	assert_int_equal(ALL_OF(BEGINS "\xc5\xf8\x77\x48\x83\xec\x48"), 72); /* vzeroupper */
	assert_int_equal(ALL_OF(BEGINS "\x53\x48\x83\xec\x08\x50\x50"), 16);
}

static void what_is_not_told_is_not_known(void **state)
{
	(void)state;
	assert_int_equal(ALL_OF("\x53\x48\x83\xec\x48\x90"), -1);    /* it keeps none */
	assert_int_equal(ALL_OF(BEGINS "\x48\x29\xc4"), -1);	     /* sub %rax,%rsp */
	assert_int_equal(ALL_OF(BEGINS "\x48\x83\xe4\xe0"), -1);     /* and $-32,%rsp */
	assert_int_equal(ALL_OF(BEGINS "\x48\x8d\x64\x24\xf8"), -1); /* lea -8(%rsp),%rsp */
	assert_int_equal(ALL_OF(BEGINS "\x48\x83\xec\xf8"), -1);     /* sub $-8,%rsp */
	assert_int_equal(ALL_OF(BEGINS "\x48\x83\xec\x04"), -1);     /* of no whole words */
	assert_int_equal(ALL_OF(BEGINS "\x5b"), -1);		     /* pop %rbx */
	assert_int_equal(ALL_OF(BEGINS "\x06\x48\x83\xec\x48"), -1); /* not known */
	assert_int_equal(ALL_OF(BEGINS "\x9c\x48\x83\xec\x48"), -1); /* pushf */
	assert_int_equal(ALL_OF(BEGINS "\x48\x0f\x44\xe0"), -1);     /* cmove %rax,%rsp */
	assert_int_equal(AFTER("", 0), -1);
	assert_int_equal(AFTER(BEGINS, 2000), -1); /* it cannot be read */
}

static void large_frames_are_made_page_by_page(void **state)
{
	(void)state;
	assert_int_equal(ALL_OF(BEGINS "\x48\x81\xec\0\x10\0\0\x48\x83\x0c\x24\0\x48\x83\xec\x18\x53"), 4096 + 24);
}

/* At its end, and where it has pushed arguments of a call. */
static void what_comes_next_is_given_back_first(void **state)
{
	static const char ends[] = BEGINS "\x41\x54\x53\x48\x83\xec\x18\xff\xd1"	      /* ...; call *%rcx */
					  "\x48\x83\xc4\x18\x89\xc2\x5b\x41\x5c\x5d\xc3";     /* add; mov; pop... */
	static const char calls[] = BEGINS "\x53\x48\x83\xec\x18\x6a\x70\x6a\x01\xe8\0\0\0\0" /* push twice; call */
					   "\x59\x5e\x85\xc0\x74\0";

	(void)state;
	assert_int_equal(AFTER(ends, 13), 40);
	assert_int_equal(AFTER(ends, 17), 16);
	assert_int_equal(AFTER(ends, 20), 8);
	assert_int_equal(AFTER(ends, 22), 0);
	assert_int_equal(AFTER(calls, 18), 48);
	assert_int_equal(AFTER(calls, 20), 32);
}

static void steps_are_bounded(void **state)
{
	const struct pl_native_frame f = {.pc = AT + 4, .sp = SP, .function = AT};
	struct pl_unwinder u = {
		.mem = own_bytes(AT, (const uint8_t *)BEGINS, 4), .arch = &pl_unwind_x86_64, .steps = 1};
	pl_addr ret;

	(void)state;
	assert_false(pl_frame_pointer_by_code(&u, &f, &ret));
	assert_int_equal(u.steps, 0);
}

static int length(const char *code, size_t len)
{
	uint8_t bytes[PL_INSTRUCTION_MAX] = {0};
	struct pl_instruction in;

	memcpy(bytes, code, len);
	if (!pl_instruction_read(bytes, &in))
		return -1;
	assert_true(in.len > 0 && in.len <= PL_INSTRUCTION_MAX);
	return in.len == len;
}

#define IS_ONE(code) assert_int_equal(length(code, sizeof code - 1), 1)

static void instructions_are_as_long_as_they_are(void **state)
{
	(void)state;
	IS_ONE("\xf3\x0f\x1e\xfa");				     /* endbr64 */
	IS_ONE("\x64\x4c\x8b\x34\x25\xe8\xff\xff\xff");		     /* mov %fs:-24,%r14 */
	IS_ONE("\x48\x8b\x47\x10");				     /* mov 16(%rdi),%rax */
	IS_ONE("\x48\x8b\x05\1\2\3\4");				     /* mov 0x4030201(%rip),%rax */
	IS_ONE("\x48\x8b\x84\x24\1\2\3\4");			     /* mov 0x4030201(%rsp),%rax */
	IS_ONE("\x48\x8b\x04\xc5\1\2\3\4");			     /* mov 0x4030201(,%rax,8),%rax */
	IS_ONE("\x48\xb8\1\2\3\4\5\6\7\x08");			     /* movabs */
	IS_ONE("\xb8\1\2\3\4");					     /* mov $,%eax */
	IS_ONE("\x66\xb8\1\2");					     /* mov $,%ax */
	IS_ONE("\xc7\x45\xe0\1\2\3\4");				     /* movl $,-32(%rbp) */
	IS_ONE("\x64\x48\xc7\x04\x25\xe0\xff\xff\xff\0\0\0\0");	     /* movq $0,%fs:-32 */
	IS_ONE("\xf7\xc7\1\2\3\4");				     /* test $,%edi */
	IS_ONE("\xf7\xd8");					     /* neg %eax */
	IS_ONE("\xf6\x47\x08\x20");				     /* testb $32,8(%rdi) */
	IS_ONE("\x66\x0f\xef\xc0");				     /* pxor %xmm0,%xmm0 */
	IS_ONE("\x0f\x16\x0d\1\2\3\4");				     /* movhps 0x4030201(%rip),%xmm1 */
	IS_ONE("\x66\x0f\x6f\x0d\1\2\3\4");			     /* movdqa 0x4030201(%rip),%xmm1 */
	IS_ONE("\x48\x0f\xba\xf2\x3f");				     /* btr $63,%rdx */
	IS_ONE("\x0f\x84\1\2\3\4");				     /* je */
	IS_ONE("\x49\x0f\x46\xc2");				     /* cmovbe %r10,%rax */
	IS_ONE("\x0f\xb6\x7f\x18");				     /* movzbl 24(%rdi),%edi */
	IS_ONE("\x66\x0f\x1f\x84\0\0\0\0\0");			     /* nopw 0(%rax,%rax,1) */
	IS_ONE("\x3c\x05");					     /* cmp $5,%al */
	IS_ONE("\x48\x3d\1\2\3\4");				     /* cmp $,%rax */
	IS_ONE("\xc5\xf8\x77");					     /* vzeroupper */
	IS_ONE("\xc5\xfb\x10\x0e");				     /* vmovsd (%rsi),%xmm1 */
	IS_ONE("\xc5\xf9\x70\xc0\x4e");				     /* vpshufd $78,%xmm0,%xmm0 */
	IS_ONE("\xc4\xe2\xfd\x19\x05\1\2\3\4");			     /* vbroadcastsd 0x4030201(%rip),%ymm0 */
	IS_ONE("\xc4\xe3\x7d\x19\xc1\x01");			     /* vextractf128 $1,%ymm0,%xmm1 */
	IS_ONE("\xc4\x42\xb9\xf7\xd1");				     /* shlx %r8,%r9,%r10 */
	IS_ONE("\x62\xf1\xfd\x48\x10\x44\x24\x01");		     /* vmovupd 64(%rsp),%zmm0 */
	IS_ONE("\x62\xf3\xfd\x48\x1b\xc1\x01");			     /* vextractf64x4 $1,%zmm0,%ymm1 */
	IS_ONE("\x62\xf5\x7c\x48\x58\xc1");			     /* vaddph %zmm1,%zmm0,%zmm0 */
	IS_ONE("\x66\x0f\x38\x17\xc0");				     /* ptest %xmm0,%xmm0 */
	IS_ONE("\x66\x0f\x3a\x0f\xc1\x08");			     /* palignr $8,%xmm1,%xmm0 */
	IS_ONE("\xd9\x44\x24\x08");				     /* flds 8(%rsp) */
	IS_ONE("\xdd\xd8");					     /* fstp %st(0) */
	IS_ONE("\xf3\xa4");					     /* rep movsb */
	IS_ONE("\xf0\x48\x0f\xb1\x0f");				     /* lock cmpxchg %rcx,(%rdi) */
	IS_ONE("\x66\x66\x48\xe8\1\2\3\4");			     /* data16 data16 call: of thread-local data */
	IS_ONE("\x67\x8d\x51\xff");				     /* lea -1(%ecx),%edx */
	IS_ONE("\xc2\x08\x00");					     /* ret $8 */
	assert_int_equal(length("\x66\xe8\1\2\3\4", 6), -1);	     /* not the same for all processors */
	assert_int_equal(length("\x8f\xe8\x78\xc2\xf5\x0b", 6), -1); /* of AMD's alone: vprotd */
	assert_int_equal(length("\x06", 1), -1);		     /* none in 64-bit code */
	assert_int_equal(length("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66", 15), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_and_room_are_added_up),
		cmocka_unit_test(what_is_not_told_is_not_known),
		cmocka_unit_test(large_frames_are_made_page_by_page),
		cmocka_unit_test(what_comes_next_is_given_back_first),
		cmocka_unit_test(steps_are_bounded),
		cmocka_unit_test(instructions_are_as_long_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
