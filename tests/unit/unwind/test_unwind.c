/* SPDX-License-Identifier: Apache-2.0 */
/* This process unwinds itself, and the unwinder of the C compiler (libgcc's) tells what is right. */
#include "unwind.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unwind.h>

#include "own.h"
#include "rules.h"
#include "unit.h"

#define DEPTH_MAX 256

static struct pl_unwind_image images[OWN_IMAGES_MAX];
static struct pl_unwinder unwinder;
static pl_native_frame_vec frames, again;
static struct pl_unwind_rules *rules;

static int set_up(void **state)
{
	(void)state;
	unwinder = (struct pl_unwinder){own_mem(), &pl_unwind_x86_64, images, own_images(images), PL_UNWIND_STEPS, NULL,
					NULL};
	assert_ok(pl_unwind_rules_create(&rules));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pl_vec_deinit(&frames);
	pl_vec_deinit(&again);
	pl_unwind_rules_destroy(rules);
	return 0;
}

static enum pl_unwind_end unwind_with(struct pl_unwind_rules *by, const ucontext_t *c, pl_native_frame_vec *ret)
{
	struct pl_registers regs;

	own_registers(c, &regs);
	pl_vec_clear(ret);
	unwinder.steps = PL_UNWIND_STEPS;
	unwinder.rules = by;
	return pl_unwind(&unwinder, &regs, PL_NATIVE_EXACT_PC, UINT64_MAX, ret);
}

/* By the tables, and by the rules that were kept of those, which is the same. */
static enum pl_unwind_end unwind_here(const ucontext_t *c)
{
	enum pl_unwind_end end = unwind_with(NULL, c, &frames);

	for (int i = 0; i < 2; i++) {
		assert_int_equal(unwind_with(rules, c, &again), end);
		assert_int_equal(again.len, frames.len);
		for (size_t k = 0; k < frames.len; k++) {
			const struct pl_native_frame *a = &frames.data[k], *b = &again.data[k];

			assert_true(a->pc == b->pc && a->sp == b->sp && a->cfa == b->cfa);
			assert_true(a->function == b->function && a->image == b->image && a->flags == b->flags);
		}
	}
	return end;
}

struct expected {
	pl_addr pc[DEPTH_MAX];
	size_t n;
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *c, void *ctx)
{
	struct expected *e = ctx;

	/* Above the outermost frame it puts one without an address. */
	if (e->n < DEPTH_MAX && _Unwind_GetIP(c))
		e->pc[e->n++] = _Unwind_GetIP(c);
	return _URC_NO_REASON;
}

/* Both begin in the caller; where they are in it differs. */
static __attribute__((noinline)) void compare_with_compiler(void)
{
	struct expected e = {.n = 0};
	ucontext_t c;

	getcontext(&c);
	assert_int_equal(unwind_here(&c), PL_UNWIND_ROOT);
	(void)_Unwind_Backtrace(note_frame, &e);
	assert_int_equal(frames.len, e.n);
	for (size_t i = 1; i < e.n; i++)
		assert_int_equal(frames.data[i].pc, e.pc[i]);
	for (size_t i = 1; i < frames.len; i++)
		assert_int_equal(frames.data[i].sp, frames.data[i - 1].cfa);
}

static void the_same_as_the_compiler(void **state)
{
	(void)state;
	compare_with_compiler();
	/* That the outermost one has no caller is kept, too. */
	const struct pl_native_frame *root = &frames.data[frames.len - 1];
	const struct pl_unwind_rule *rule = pl_unwind_rules_get(rules, pl_native_frame_place(root));
	assert_true(rule && rule->root);
}

static int compare_and_order(const void *a, const void *b)
{
	static bool done;

	if (!done)
		compare_with_compiler();
	done = true;
	return *(const int *)a - *(const int *)b;
}

static void through_the_c_library(void **state)
{
	int numbers[] = {3, 1, 2};

	(void)state;
	qsort(numbers, 3, sizeof *numbers, compare_and_order);
	assert_int_equal(numbers[0], 1);
}

/* A frame whose size is known at run time only: it has a frame pointer. */
static __attribute__((noinline)) void with_alloca(size_t n)
{
	volatile char *p = __builtin_alloca(n);

	p[0] = 1;
	compare_with_compiler();
	p[n - 1] = 1;
}

/* And one that aligns its stack: its CFA is in a register, or on the stack itself. */
static __attribute__((noinline)) void aligned(size_t n)
{
	volatile char p[64] __attribute__((aligned(64)));

	p[0] = 1;
	with_alloca(n);
	assert_int_equal(p[0], 1);
}

static void frames_of_unusual_shape(void **state)
{
	(void)state;
	for (size_t n = 1; n < 5000; n += 999)
		aligned(n);
}

static volatile sig_atomic_t handled;

static void handler(int signo)
{
	(void)signo;
	compare_with_compiler();
	handled = 1;
}

/* The kernel's frame is one of them, and what was interrupted is where it is, not after a call. */
static void through_a_signal(void **state)
{
	size_t signals = 0;

	(void)state;
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	assert_true(handled);
	for (size_t i = 0; i + 1 < frames.len; i++) {
		if (!(frames.data[i].flags & PL_NATIVE_SIGNAL))
			continue;
		signals++;
		assert_true(frames.data[i + 1].flags & PL_NATIVE_EXACT_PC);
	}
	assert_int_equal(signals, 1);
	assert_true(frames.data[0].flags & PL_NATIVE_EXACT_PC);
	assert_false(frames.data[1].flags & PL_NATIVE_EXACT_PC);
}

/* On a stack of its own, which may lie above or below. */
static void through_a_signal_on_another_stack(void **state)
{
	static char stack[1 << 16];
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack}, none = {.ss_flags = SS_DISABLE};
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	(void)state;
	handled = 0;
	assert_int_equal(sigaltstack(&other, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
	assert_true(handled);
	assert_int_equal(sigaltstack(&none, NULL), 0);
}

/* At any instruction whatsoever: prologues, epilogues, the PLT, the vDSO. The interrupted registers are what counts;
 * what called whom is proved by the root that is reached. */
static volatile size_t interrupted, to_root;

static void on_timer(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)info;
	interrupted++;
	to_root += unwind_here(context) == PL_UNWIND_ROOT;
}

static int ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void work(void)
{
	static int numbers[512];
	struct timespec ts;
	char text[64];

	for (size_t i = 0; i < 512; i++)
		numbers[i] = (int)((i * 7919) % 512);
	qsort(numbers, 512, sizeof *numbers, ascending);
	for (int i = 0; i < 64; i++) {
		snprintf(text, sizeof text, "%d %g", numbers[i], (double)i);
		clock_gettime(CLOCK_MONOTONIC, &ts);
	}
}

static void at_any_instruction(void **state)
{
	const struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {0};

	(void)state;
	assert_true(pl_vec_reserve(&frames, DEPTH_MAX) &&
		    pl_vec_reserve(&again, DEPTH_MAX)); /* in the handler nothing is allocated */
	assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_PROF, &often, NULL), 0);
	await (interrupted >= 50)
		work();
	assert_int_equal(setitimer(ITIMER_PROF, &never, NULL), 0);
	assert_int_equal(to_root, interrupted);
}

static __attribute__((noinline)) enum pl_unwind_end with_registers(uint64_t known)
{
	struct pl_registers regs;
	ucontext_t c;

	getcontext(&c);
	own_registers(&c, &regs);
	regs.known &= known;
	pl_vec_clear(&frames);
	unwinder.steps = PL_UNWIND_STEPS;
	unwinder.rules = NULL;
	return pl_unwind(&unwinder, &regs, PL_NATIVE_EXACT_PC, UINT64_MAX, &frames);
}

static void what_is_not_known_is_not_guessed(void **state)
{
	(void)state;
	assert_int_equal(with_registers(0), PL_UNWIND_REGISTER);
	assert_int_equal(frames.len, 0);
	unwinder.image_count = 0;
	assert_int_equal(with_registers(UINT64_MAX), PL_UNWIND_NO_IMAGE);
	assert_int_equal(frames.len, 1);
	assert_int_equal(frames.data[0].image, PL_NO_IMAGE);
	unwinder.image_count = own_images(images);
	for (size_t i = 0; i < unwinder.image_count; i++)
		images[i].opened = true; /* and found nothing */
	assert_int_equal(with_registers(UINT64_MAX), PL_UNWIND_NO_TABLE);
	unwinder.image_count = own_images(images);
}

#define NESTED 500

/* The table of this function says nothing, 60,000 times. */
static __attribute__((noinline)) size_t with_a_long_table(size_t n, size_t *left)
{
	struct pl_registers regs;
	ucontext_t c;

	__asm__ volatile(".rept 6000\n.cfi_escape 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\n.endr");
	if (n) {
		n = with_a_long_table(n - 1, left);
		__asm__ volatile("" : "+r"(n)); /* it is a call, and no loop */
		return n + 1;
	}
	getcontext(&c);
	own_registers(&c, &regs);
	pl_vec_clear(&frames);
	unwinder.steps = *left;
	unwinder.rules = NULL;
	assert_int_equal(pl_unwind(&unwinder, &regs, PL_NATIVE_EXACT_PC, UINT64_MAX, &frames), PL_UNWIND_LIMIT);
	*left = unwinder.steps;
	return 0;
}

static void tables_cost_what_is_in_them(void **state)
{
	size_t left = PL_UNWIND_STEPS;

	(void)state;
	assert_int_equal(with_a_long_table(NESTED, &left), NESTED);
	assert_int_equal(left, 0);
	assert_in_range(frames.len, 10, NESTED / 2);
}

static void images_have_their_build_ids(void **state)
{
	size_t with_id = 0;

	(void)state;
	for (size_t i = 0; i < unwinder.image_count; i++) {
		pl_unwind_image_open(&images[i], own_mem(), &pl_unwind_x86_64);
		with_id += images[i].build_id_len != 0;
		assert_ptr_equal(pl_unwind_image_at(images, unwinder.image_count, images[i].start), &images[i]);
		assert_ptr_equal(pl_unwind_image_at(images, unwinder.image_count, images[i].end - 1), &images[i]);
	}
	assert_true(with_id > 0); /* the vDSO's always */
	assert_null(pl_unwind_image_at(images, unwinder.image_count, 8));
	assert_null(pl_unwind_image_at(images, unwinder.image_count, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_as_the_compiler),	     cmocka_unit_test(through_the_c_library),
		cmocka_unit_test(frames_of_unusual_shape),	     cmocka_unit_test(through_a_signal),
		cmocka_unit_test(through_a_signal_on_another_stack), cmocka_unit_test(at_any_instruction),
		cmocka_unit_test(what_is_not_known_is_not_guessed),  cmocka_unit_test(images_have_their_build_ids),
		cmocka_unit_test(tables_cost_what_is_in_them),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
