/* SPDX-License-Identifier: Apache-2.0 */
/* Code without unwind tables between frames with anchors, in this process. */
#include "resume.h"

#include <string.h>
#include <sys/mman.h>

#include "epilogue.h"
#include "own.h"
#include "prologue.h"
#include "unit.h"

#define ANCHORS_MAX 16

/* A function that calls another; the assembler is told nothing of its frame. */
typedef void callee_fn(void);
void without_table(callee_fn *callee);
void with_frame_pointer(callee_fn *callee);
/* To be copied to where no table is. */
extern const char begins_as_usual[], begins_as_usual_end[];
extern const char compiled[], compiled_pushes[], compiled_end[];
__asm__(".text\n"
	"without_table:\n"
	"	sub $24, %rsp\n"
	"	push %rbp\n"
	"	xor %ebp, %ebp\n"
	"	sub $8, %rsp\n"
	"	call *%rdi\n"
	"	add $8, %rsp\n"
	"	pop %rbp\n"
	"	add $24, %rsp\n"
	"	ret\n"
	".skip 64, 0x90\n"
	"with_frame_pointer:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	call *%rdi\n"
	"	pop %rbp\n"
	"	ret\n"
	".skip 64, 0x90\n"
	"begins_as_usual:\n"
	"	test %rdi, %rdi\n"
	"	jz 1f\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	sub $24, %rsp\n"
	"	xor %ebp, %ebp\n"
	"	call *%rdi\n"
	"	xor %ebx, %ebx\n"
	"	add $24, %rsp\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"1:	ret\n"
	"begins_as_usual_end:\n"
	".skip 64, 0x90\n"
	/* What CPython's JIT compiler makes: the first part is called, the second one leaves no trace of how large its
	 * frame is. It pushes what compiled_pushes has. */
	"compiled:\n"
	"	push %r15\n"
	"	push %r14\n"
	"	push %r13\n"
	"	push %r12\n"
	"	push %rbx\n"
	"	call 1f\n"
	"	pop %rbx\n"
	"	pop %r12\n"
	"	pop %r13\n"
	"	pop %r14\n"
	"	pop %r15\n"
	"	ret\n"
	"1:	mov compiled_pushes(%rip), %rax\n"
	"	push %rax\n"
	"	call *%rdi\n"
	"	lea 8(%rsp), %rsp\n"
	"	ret\n"
	"compiled_pushes:\n"
	"	.quad 0\n"
	"compiled_end:\n"
	".skip 64, 0x90\n");

/* Functions that need a frame pointer, and say so. The first two leave in their frames what an earlier call of theirs
 * has put there, of a function that called another one: it lands. The second one takes its room as it likes to. */
void has_called(callee_fn *callee);
void left_a_call(callee_fn *callee);
void left_a_call_somewhere(callee_fn *callee);
void took_room_somewhere(callee_fn *callee);
extern const char called[]; /* what the call in the first one returns to */
#define BEGINS                                                                                                         \
	"	.cfi_startproc\n"                                                                                            \
	"	push %rbp\n"                                                                                                 \
	"	.cfi_def_cfa_offset 16\n"                                                                                    \
	"	.cfi_offset %rbp, -16\n"                                                                                     \
	"	mov %rsp, %rbp\n"                                                                                            \
	"	.cfi_def_cfa_register %rbp\n"
#define LEAVES_A_CALL                                                                                                  \
	"	lea called(%rip), %rax\n"                                                                                    \
	"	mov %rbp, -48(%rbp)\n"                                                                                       \
	"	mov %rax, -40(%rbp)\n"
#define ENDS                                                                                                           \
	"	leave\n"                                                                                                     \
	"	.cfi_def_cfa %rsp, 8\n"                                                                                      \
	"	ret\n"                                                                                                       \
	"	.cfi_endproc\n"
__asm__(".text\n"
	"has_called:\n" BEGINS "	call *%rdi\n"
	"called:\n"
	"	nop\n" ENDS "left_a_call:\n" BEGINS "	push %rbx\n"
	"	mov %rdi, %rdx\n"
	"	sub $72, %rsp\n" LEAVES_A_CALL "	call *%rdx\n"
	"	nop\n" ENDS "left_a_call_somewhere:\n" BEGINS "	mov $80, %eax\n"
	"	sub %rax, %rsp\n" LEAVES_A_CALL "	call *%rdi\n"
	"	nop\n" ENDS "took_room_somewhere:\n" BEGINS "	mov $80, %eax\n"
	"	sub %rax, %rsp\n"
	"	movq $0, -48(%rbp)\n"
	"	movq $0, -40(%rbp)\n"
	"	call *%rdi\n"
	"	nop\n" ENDS);

static struct pl_unwind_image images[OWN_IMAGES_MAX];
static struct pl_unwinder unwinder;
static struct pl_landing landing;
static pl_native_frame_vec frames;
static pl_addr anchors[ANCHORS_MAX]; /* the outermost first */
static size_t anchor_count;
static uint64_t known; /* registers that are told */
static pl_addr shift;  /* added to each anchor that is told */
static enum pl_unwind_end end;

static __attribute__((noinline)) void unwind_now(void)
{
	pl_addr ascending[ANCHORS_MAX];
	struct pl_registers regs;
	ucontext_t c;

	for (size_t i = 0; i < anchor_count; i++)
		ascending[i] = anchors[anchor_count - 1 - i] + shift;
	getcontext(&c);
	own_registers(&c, &regs);
	regs.known &= known;
	pl_vec_clear(&frames);
	unwinder.steps = PL_UNWIND_STEPS;
	end = pl_unwind_on(&unwinder, &regs, ascending, anchor_count, &landing, &frames);
}

/* As of a caller that is blocked where it has called this: where it is, and its stack pointer; or with its frame
 * pointer. */
static bool frame_pointer_is_known;

static __attribute__((noinline)) void unwind_caller(void)
{
	const uint64_t *frame = __builtin_frame_address(0);
	pl_addr ascending[ANCHORS_MAX];
	struct pl_registers regs = {0};

	for (size_t i = 0; i < anchor_count; i++)
		ascending[i] = anchors[anchor_count - 1 - i];
	pl_register_set(&regs, PL_X86_64_RIP, frame[1]);
	pl_register_set(&regs, PL_X86_64_RSP, (uintptr_t)(frame + 2));
	if (frame_pointer_is_known)
		pl_register_set(&regs, PL_X86_64_RBP, frame[0]);
	pl_vec_clear(&frames);
	unwinder.steps = PL_UNWIND_STEPS;
	end = pl_unwind_on(&unwinder, &regs, ascending, anchor_count, &landing, &frames);
}

/* Which function each evaluation calls the next one through, the innermost first; then how many are left. */
static void (*const *through)(callee_fn *);
static size_t left;

static bool evaluation_is_innermost;

/* As the interpreter's eval loop: an object in its frame, and the same function each time. */
static __attribute__((noinline)) void evaluate(void)
{
	volatile uint64_t anchor[4] = {left};

	anchors[anchor_count++] = (uintptr_t)(anchor + 2); /* above its stack pointer */
	if (left == 0) {
		if (evaluation_is_innermost)
			unwind_caller();
		else
			unwind_now();
	} else {
		left--;
		through[left](evaluate);
	}
	anchor_count--;
	assert_int_equal(anchor[1], 0);
}

static __attribute__((noinline)) void plainly(callee_fn *callee)
{
	callee();
	__asm__ volatile("");
}

static void leaf_of_asm(callee_fn *callee)
{
	(void)callee;
	without_table(unwind_now);
}

static void leaf_that_left_a_call(callee_fn *callee)
{
	void (*volatile call)(callee_fn *) = left_a_call;

	(void)callee;
	call(unwind_caller);
	__asm__ volatile("");
}

static void leaf_that_left_a_call_somewhere(callee_fn *callee)
{
	void (*volatile call)(callee_fn *) = left_a_call_somewhere;

	(void)callee;
	call(unwind_caller);
	__asm__ volatile("");
}

static void leaf_that_took_room(callee_fn *callee)
{
	(void)callee;
	took_room_somewhere(unwind_caller);
	__asm__ volatile("");
}

static void run(void (*const *calls)(callee_fn *), size_t n)
{
	through = calls;
	left = n;
	evaluate();
}

static size_t count(uint8_t flag)
{
	size_t n = 0;

	for (size_t i = 0; i < frames.len; i++)
		n += (frames.data[i].flags & flag) != 0;
	return n;
}

static int set_up(void **state)
{
	(void)state;
	unwinder = (struct pl_unwinder){own_mem(), &pl_unwind_x86_64, images, own_images(images), 0, NULL, NULL};
	landing = (struct pl_landing){0};
	shift = 0;
	known = UINT64_MAX;
	evaluation_is_innermost = false;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pl_vec_deinit(&frames);
	return 0;
}

static void tables_alone_teach(void **state)
{
	static void (*const calls[])(callee_fn *) = {plainly, plainly};

	(void)state;
	run(calls, 2);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED | PL_NATIVE_GUESSED), 0);
	assert_true(landing.distance > 0 && landing.distance % 8 == 0);
	assert_true(landing.saved >> PL_X86_64_RIP & 1);
	assert_int_equal(landing.offset[PL_X86_64_RIP], -8);
}

static void it_goes_on_at_the_next_anchor(void **state)
{
	static void (*const calls[])(callee_fn *) = {without_table, plainly, without_table, plainly};

	(void)state;
	run(calls, 4);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED), 2);
	size_t resumed = frames.len, lost = 0;
	for (size_t i = 0; i < frames.len; i++) {
		const struct pl_native_frame *f = &frames.data[i];

		lost += f->cfa == 0; /* the one without a table, before the gap */
		if (f->flags & PL_NATIVE_RESUMED && resumed == frames.len)
			resumed = i;
	}
	assert_int_equal(lost, 2);
	assert_int_equal(frames.data[resumed].cfa - frames.data[resumed].sp, landing.distance);
	assert_int_equal(frames.data[resumed + 1].sp, frames.data[resumed].cfa);
}

/* The innermost frames have no table, so no distance was learnt on the way. */
static void a_distance_is_found_by_trying(void **state)
{
	static void (*const calls[])(callee_fn *) = {leaf_of_asm, plainly, plainly};
	static void (*const ordinary[])(callee_fn *) = {plainly, plainly};

	(void)state;
	run(ordinary, 2);
	uint64_t truth = landing.distance;
	landing = (struct pl_landing){0};
	run(calls, 3);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED), 1);
	assert_int_equal(landing.distance, truth);
}

static void frame_pointers_count_if_they_land(void **state)
{
	static void (*const calls[])(callee_fn *) = {with_frame_pointer, plainly};

	(void)state;
	run(calls, 2);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED), 0);
	assert_true(count(PL_NATIVE_GUESSED) > 0);
}

/* As of a thread that is blocked: the kernel tells where it is and its stack pointer. This program is built with frame
 * pointers. */
static void a_frame_pointer_that_is_not_known_is_found(void **state)
{
	static void (*const calls[])(callee_fn *) = {plainly, plainly};
	pl_native_frame_vec truth = {0};

	(void)state;
	run(calls, 2);
	assert_int_equal(end, PL_UNWIND_ROOT);
	truth = frames;
	frames = (pl_native_frame_vec){0};
	known = UINT64_C(1) << PL_X86_64_RSP | UINT64_C(1) << PL_X86_64_RIP;
	run(calls, 2);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED), 0);
	assert_true(count(PL_NATIVE_GUESSED) > 0);
	assert_int_equal(frames.len, truth.len);
	for (size_t i = 1; i < truth.len; i++)
		assert_true(frames.data[i].cfa == truth.data[i].cfa || i == truth.len - 1);
	/* Nothing was learnt before: it is on the way. */
	landing = (struct pl_landing){0};
	run(calls, 2);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED), 0);
	pl_vec_deinit(&truth);
}

/* The frames that are found without a frame pointer, beside those with one. @p taught: these have taught something. */
static void assert_same_frames(void (*const *calls)(callee_fn *), size_t n, bool taught)
{
	pl_native_frame_vec truth = {0};

	frame_pointer_is_known = true;
	run(calls, n);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED | PL_NATIVE_GUESSED), 0);
	truth = frames;
	frames = (pl_native_frame_vec){0};
	frame_pointer_is_known = false;
	if (!taught)
		landing = (struct pl_landing){0};
	run(calls, n);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED), 0);
	assert_int_equal(frames.len, truth.len);
	for (size_t i = 0; i < truth.len; i++)
		assert_int_equal(frames.data[i].function, truth.data[i].function);
	pl_vec_deinit(&truth);
}

/* What an earlier call has left in the frame leads to the next anchor, too, by one frame more. */
static void what_earlier_calls_have_left_is_no_frame(void **state)
{
	static void (*const calls[])(callee_fn *) = {leaf_that_left_a_call, plainly, plainly};

	(void)state;
	assert_same_frames(calls, 3, true);
}

/* One evaluation alone teaches nothing: then it is the root. */
static void a_frame_pointer_may_lead_to_the_root(void **state)
{
	static void (*const calls[])(callee_fn *) = {leaf_that_left_a_call};

	(void)state;
	assert_same_frames(calls, 1, false);
	assert_int_equal(landing.distance, 0); /* nor does what was guessed */
}

/* How large the frame is stands nowhere: then frames are missing. */
static void which_frame_pointer_is_right_must_be_known(void **state)
{
	static void (*const calls[])(callee_fn *) = {leaf_that_left_a_call_somewhere, plainly, plainly};

	(void)state;
	frame_pointer_is_known = false;
	run(calls, 3);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED), 1);
	assert_int_equal(count(PL_NATIVE_GUESSED), 0);
}

/* Nor is it here, but one call leads to it. */
static void the_one_call_of_a_function_tells_its_frame(void **state)
{
	static void (*const calls[])(callee_fn *) = {leaf_that_took_room, plainly, plainly};

	(void)state;
	assert_same_frames(calls, 3, true);
	assert_true(count(PL_NATIVE_GUESSED) > 0);
}

/* Where its stack pointer is, only the frame of an evaluation has it. */
static void an_evaluation_itself_is_known(void **state)
{
	static void (*const calls[])(callee_fn *) = {plainly, plainly, plainly};

	(void)state;
	evaluation_is_innermost = true;
	assert_same_frames(calls, 3, true);
}

/* Anchors that are none: nothing is accepted, and what the tables gave stays. */
static void what_does_not_land_is_not_taken(void **state)
{
	static void (*const good[])(callee_fn *) = {plainly, plainly};
	static void (*const calls[])(callee_fn *) = {without_table, plainly, with_frame_pointer};

	(void)state;
	run(good, 2);
	shift = 8;
	run(calls, 3);
	assert_int_not_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED | PL_NATIVE_GUESSED), 0);
}

/* What they have left to do leads to their callers: nothing is missing, and nothing is guessed. */
static void code_that_only_returns_is_followed(void **state)
{
	static void (*const calls[])(callee_fn *) = {without_table, plainly, with_frame_pointer, plainly,
						     without_table};

	(void)state;
	unwinder.code = own_mem();
	run(calls, 5);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED | PL_NATIVE_GUESSED), 0);
	assert_int_equal(count(PL_NATIVE_RETURNS), 3);
}

/* The code behind five bytes of a call, on the stack two words: does it return to the second one, with the first in
 * rbx? */
static bool returns(const char *code, size_t len, uint8_t flags)
{
	static uint64_t stack[8];
	static uint8_t bytes[64];
	const struct pl_native_frame f = {.pc = (uintptr_t)bytes + 5, .flags = flags};
	struct pl_registers regs = {0};
	uint64_t pc, rbx;

	memset(bytes, 0x90, sizeof bytes);
	memcpy(bytes, code, len);
	for (size_t i = 0; i < 8; i++)
		stack[i] = 100 + i;
	pl_register_set(&regs, PL_X86_64_RSP, (uintptr_t)stack);
	unwinder.steps = PL_UNWIND_STEPS;
	unwinder.code = own_mem();
	if (!pl_epilogue_follow(&unwinder, &f, &regs)) {
		assert_false(pl_register_get(&regs, PL_X86_64_RIP, &pc));
		return false;
	}
	return pl_register_get(&regs, PL_X86_64_RIP, &pc) && pc == 101 && pl_register_get(&regs, PL_X86_64_RBX, &rbx) &&
	       rbx == 100;
}

#define RETURNS(code, flags) returns(code, sizeof code - 1, flags)

static void only_what_must_return_is_followed(void **state)
{
	(void)state;
	assert_true(RETURNS("\xe8\0\0\0\0\x5b\xc3", 0)); /* call; pop %rbx; ret */
	assert_true(RETURNS("\x90\x90\x90\xff\xd7\x5b\xc3", 0));
	assert_true(RETURNS("\x90\x90\x90\x90\x90\x5b\xc3", PL_NATIVE_EXACT_PC));
	assert_false(RETURNS("\x90\x90\x90\x90\x90\x5b\xc3", 0));	  /* behind no call */
	assert_false(RETURNS("\xe8\0\0\0\0\x90\x5b\xc3", 0));		  /* it does something else */
	assert_false(RETURNS("\xe8\0\0\0\0\x5b\x48\x83\xc4\xf8\xc3", 0)); /* add $-8,%rsp */
	assert_false(RETURNS("\xe8\0\0\0\0\x5c\x5b\xc3", 0));		  /* pop %rsp */
	assert_false(RETURNS(
		"\xe8\0\0\0\0"
		"\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\xc3",
		0)); /* for longer than is looked at */
	unwinder.steps = 1;
	const struct pl_native_frame nowhere = {.pc = 5, .flags = PL_NATIVE_EXACT_PC};
	struct pl_registers regs = {0};
	assert_false(pl_epilogue_follow(&unwinder, &nowhere, &regs)); /* no steps are left */
	unwinder.steps = PL_UNWIND_STEPS;
	assert_false(pl_epilogue_follow(&unwinder, &nowhere, &regs));
}

static callee_fn *made;

static void through_made(callee_fn *callee)
{
	void (*call)(callee_fn *) = (void (*)(callee_fn *))made;

	call(callee);
	__asm__ volatile("");
}

/* As JIT compilers do: code in memory of nobody's, where it is known where its function begins. */
static void what_a_function_begins_with_is_followed(void **state)
{
	static void (*const calls[])(callee_fn *) = {through_made, plainly, through_made};
	const size_t len = (size_t)(begins_as_usual_end - begins_as_usual);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at = 0;

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	memcpy(page, begins_as_usual, len);
	made = (callee_fn *)(uintptr_t)page;
	const struct pl_fde_place begins = {.start = (uintptr_t)page};
	const struct pl_unwind_image image = {.start = begins.start,
					      .end = begins.start + 4096,
					      .head = 1,
					      .opened = true,
					      .listed = &begins,
					      .listed_count = 1};
	assert_true(unwinder.image_count < OWN_IMAGES_MAX);
	while (at < unwinder.image_count && images[at].start < image.start)
		at++;
	memmove(images + at + 1, images + at, (unwinder.image_count - at) * sizeof *images);
	images[at] = image;
	unwinder.image_count++;
	unwinder.code = own_mem();
	run(calls, 3);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED | PL_NATIVE_GUESSED), 0);
	images[at].listed_count = 0; /* it is not known: frames are missing */
	run(calls, 3);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED), 2);
	assert_int_equal(munmap(page, 4096), 0);
}

static char *page_of_nobody;
static void leaf_through_code_of_nobody(callee_fn *callee);

/* Code: that page, and two functions. Nothing else that is on the stack points to code then. */

static struct plumb_error *read_code(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	const pl_addr of[] = {(uintptr_t)page_of_nobody, (uintptr_t)called, (uintptr_t)leaf_through_code_of_nobody};

	(void)mem;
	for (size_t i = 0; i < 3; i++)
		if (addr + 16 >= of[i] && addr < of[i] + 256)
			return pl_mem_read(own_mem(), addr, dst, len);
	return &pl_err_unreadable;
}

static const struct pl_mem_ops code_ops = {.read = read_code};
static struct pl_mem code_mem = {&code_ops};

static void make_code_of_nobody(void **state)
{
	const size_t len = (size_t)(compiled_end - compiled);

	(void)state;
	page_of_nobody = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page_of_nobody, MAP_FAILED);
	memcpy(page_of_nobody + 64, compiled, len);
	unwinder.code = &code_mem;
}

static void push_in_code_of_nobody(const char *word)
{
	memcpy(page_of_nobody + 64 + (compiled_pushes - compiled), &word, sizeof word);
}

static __attribute__((noinline)) void leaf_through_code_of_nobody(callee_fn *callee)
{
	(void)callee;
	((void (*)(callee_fn *))(uintptr_t)(page_of_nobody + 64))(unwind_now);
	__asm__ volatile("");
}

/* Each of them was called by an evaluation, and by nobody else. */
static void assert_evaluations_have_called(size_t calls)
{
	pl_addr evaluation = 0;

	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED | PL_NATIVE_GUESSED), 0);
	for (size_t i = 0; i < frames.len; i++)
		if (pl_native_frame_has(&frames.data[i], anchors[0]))
			evaluation = frames.data[i].function;
	for (size_t i = 0; i + 1 < frames.len; i++) {
		if (frames.data[i].image != PL_NO_IMAGE)
			continue;
		calls--;
		assert_int_equal(frames.data[i + 1].function, evaluation);
		assert_int_equal(frames.data[i + 1].sp, frames.data[i].cfa);
	}
	assert_int_equal(calls, 0);
}

/* Where an evaluation has its stack pointer when it calls is the same for all: nothing is missing, and nothing guessed,
 * where no word between it and the code without a table is what a call returns to. */
static void what_an_evaluation_has_called_is_known(void **state)
{
	make_code_of_nobody(state);
	void (*const made_by_compiler)(callee_fn *) = (void (*)(callee_fn *))(uintptr_t)(page_of_nobody + 64);
	void (*const calls[])(callee_fn *) = {made_by_compiler, plainly, made_by_compiler, plainly};
	void (*const without[])(callee_fn *) = {made_by_compiler, made_by_compiler, made_by_compiler};

	run(without, 3);
	assert_evaluations_have_called(3);
	run(calls, 4);
	assert_evaluations_have_called(2);
	push_in_code_of_nobody(called);
	run(calls, 4);
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_int_equal(count(PL_NATIVE_RESUMED), 2);
	push_in_code_of_nobody(called + 8); /* code, but behind no call */
	run(calls, 4);
	assert_evaluations_have_called(2);
	static void (*const leaf[])(callee_fn *) = {leaf_through_code_of_nobody, plainly, plainly};
	run(leaf, 3); /* no evaluation has called it, and it lands by the frame pointer */
	assert_int_equal(end, PL_UNWIND_ROOT);
	assert_true(count(PL_NATIVE_GUESSED) > 0);
	unwinder.code = NULL; /* what is code is not known */
	run(calls, 4);
	assert_int_equal(count(PL_NATIVE_RESUMED), 2);
	assert_int_equal(munmap(page_of_nobody, 4096), 0);
}

/* Of a function that begins so, and is there behind @p done bytes: which of the words on the stack does it return to?
 * -1: that is not told. */
static int entered(const char *code, size_t len, size_t done, bool by_the_way)
{
	static uint64_t stack[16];
	static uint8_t bytes[64];
	const struct pl_native_frame f = {.pc = (uintptr_t)bytes + done, .function = (uintptr_t)bytes};
	struct pl_registers regs = {0};
	uint64_t pc, sp = 0;

	memset(bytes, 0xcc, sizeof bytes);
	memcpy(bytes, code, len);
	for (size_t i = 0; i < 16; i++)
		stack[i] = 100 + i;
	pl_register_set(&regs, PL_X86_64_RSP, (uintptr_t)stack);
	unwinder.steps = PL_UNWIND_STEPS;
	unwinder.code = own_mem();
	if (!pl_prologue_follow(&unwinder, &f, by_the_way, &regs))
		return -1;
	assert_true(pl_register_get(&regs, PL_X86_64_RIP, &pc) && pl_register_get(&regs, PL_X86_64_RSP, &sp));
	assert_int_equal(sp, (uintptr_t)(stack + (pc - 100) + 1));
	return (int)(pc - 100);
}

#define ENTERED(code, done) entered(code, sizeof code - 1, done, true)

static void as_far_as_it_has_come(void **state)
{
	static const char usual[] = "\x55\x41\x57\x50\x48\x83\xec\x10\x90"; /* %rbp, %r15, %rax, $16, and more */

	(void)state;
	assert_int_equal(ENTERED(usual, 0), 0);
	assert_int_equal(ENTERED(usual, 1), 1);
	assert_int_equal(ENTERED(usual, 3), 2);
	assert_int_equal(ENTERED(usual, 4), 3);
	assert_int_equal(ENTERED(usual, 8), 5);
	assert_int_equal(ENTERED(usual, 40), 5);
	assert_int_equal(entered(usual, sizeof usual - 1, 40, false), 0);
	assert_int_equal(ENTERED("\x48\x85\xd2\x7e\x2d\x53\x90", 30), 1);	/* test; jle; push %rbx */
	assert_int_equal(ENTERED("\x85\xff\x0f\x84\x12\0\0\0\x53\x90", 30), 1); /* the same, further away */
	assert_int_equal(ENTERED("\x48\x81\xec\x18\0\0\0\x90", 30), 3);		/* sub $24,%rsp */
	assert_int_equal(ENTERED("\x53\x48\x83\xec\xf8\x90", 30), 1); /* of a negative number: it is not taken */
	assert_int_equal(ENTERED("\x53\x48\x83\xec\x04\x90", 30), 1); /* of no whole words */
	assert_int_equal(ENTERED("\x54\x53\x90", 30), 0);	      /* push %rsp */
	assert_int_equal(ENTERED("\x50\x50\x50\x50\x50\x50\x50\x50\x50\x50", 30), 8); /* more than there are */
	const struct pl_native_frame nowhere = {.pc = 32, .function = 16};
	struct pl_registers regs = {0};
	pl_register_set(&regs, PL_X86_64_RSP, 8);
	assert_false(pl_prologue_follow(&unwinder, &nowhere, true, &regs));
	assert_false(pl_prologue_follow(&unwinder, &nowhere, false, &regs)); /* nor is there a stack */
	unwinder.steps = 1;
	assert_false(pl_prologue_follow(&unwinder, &nowhere, false, &regs));
}

static void steps_are_bounded(void **state)
{
	static void (*const calls[])(callee_fn *) = {plainly};

	(void)state;
	run(calls, 1);
	struct pl_registers here, regs;
	ucontext_t c;
	getcontext(&c);
	own_registers(&c, &here);
	end = PL_UNWIND_LIMIT;
	for (size_t steps = 0, before = 0; end == PL_UNWIND_LIMIT && steps < 100000; steps++) {
		regs = here;
		pl_vec_clear(&frames);
		unwinder.steps = steps;
		end = pl_unwind_on(&unwinder, &regs, NULL, 0, &landing, &frames);
		assert_true(end != PL_UNWIND_LIMIT || unwinder.steps == 0);
		assert_true(frames.len >= before && frames.len <= before + 1);
		before = frames.len;
	}
	assert_int_equal(end, PL_UNWIND_ROOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tables_alone_teach, set_up),
		cmocka_unit_test_setup(it_goes_on_at_the_next_anchor, set_up),
		cmocka_unit_test_setup(a_distance_is_found_by_trying, set_up),
		cmocka_unit_test_setup(frame_pointers_count_if_they_land, set_up),
		cmocka_unit_test_setup(a_frame_pointer_that_is_not_known_is_found, set_up),
		cmocka_unit_test_setup(what_earlier_calls_have_left_is_no_frame, set_up),
		cmocka_unit_test_setup(a_frame_pointer_may_lead_to_the_root, set_up),
		cmocka_unit_test_setup(which_frame_pointer_is_right_must_be_known, set_up),
		cmocka_unit_test_setup(the_one_call_of_a_function_tells_its_frame, set_up),
		cmocka_unit_test_setup(an_evaluation_itself_is_known, set_up),
		cmocka_unit_test_setup(what_does_not_land_is_not_taken, set_up),
		cmocka_unit_test_setup(code_that_only_returns_is_followed, set_up),
		cmocka_unit_test_setup(only_what_must_return_is_followed, set_up),
		cmocka_unit_test_setup(what_a_function_begins_with_is_followed, set_up),
		cmocka_unit_test_setup(what_an_evaluation_has_called_is_known, set_up),
		cmocka_unit_test_setup(as_far_as_it_has_come, set_up),
		cmocka_unit_test_setup(steps_are_bounded, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, tear_down);
}
