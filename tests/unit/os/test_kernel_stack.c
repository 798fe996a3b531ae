/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the kernel a thread is: what the kernel's text says, and threads that really wait. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel_stack.h"
#include "stage.h"

static void functions_are_read_without_what_leads_to_them(void **state)
{
	struct pl_kernel_stack k;

	(void)state;
	pl_kernel_stack_parse("[<0>] do_epoll_wait+0x63/0x80\n[<0>] fuse_wait [fuse]\n"
			      "[<0>] __x64_sys_epoll_wait+0x6b/0x110\n[<0>] x64_sys_call+0x1/0x2\n"
			      "[<0>] do_syscall_64+0x71/0x280\n[<0>] entry_SYSCALL_64_after_hwframe+0x76/0x7e\n",
			      &k);
	assert_int_equal(k.count, 3);
	assert_string_equal(k.names[0], "do_epoll_wait");
	assert_string_equal(k.names[1], "fuse_wait");
	assert_string_equal(k.names[2], "__x64_sys_epoll_wait");
}

static void any_text_is_bounded(void **state)
{
	static const char *const nothing[] = {"",	    "\n\n",	   "[<0>]",	   "[<0>] ",
					      "[<0>] +0x1", "[<0>]\nname", "name+0x1/0x2", "[<ffff>] 0xffffffff",
					      "] \n]"};
	char text[64 * 100 + 1] = "";
	struct pl_kernel_stack k;

	(void)state;
	for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
		pl_kernel_stack_parse(nothing[i], &k);
		assert_int_equal(k.count, 0);
	}
	for (int i = 0; i < 64; i++) /* more than there is room for, and longer */
		memset(memset(text + i * 100, 'x', 100), '[', 1), text[i * 100 + 1] = ']', text[i * 100 + 2] = ' ',
										 text[i * 100 + 99] = '\n';
	pl_kernel_stack_parse(text, &k);
	assert_int_equal(k.count, PL_KERNEL_FRAMES);
	for (uint32_t i = 0; i < k.count; i++)
		assert_int_equal(strlen(k.names[i]), PL_KERNEL_NAME - 1);
}

struct stage {
	stage_word tid, told;
	int empty[2];
	struct pl_kernel_stack seen;
};

static void *wait_for_data(void *arg)
{
	struct stage *s = arg;
	char byte;

	stage_set(&s->tid, (uint32_t)syscall(SYS_gettid));
	return read(s->empty[0], &byte, 1) == 1 ? arg : NULL;
}

static void look(pid_t tid, struct pl_kernel_stack *ret)
{
	struct pl_activity_info info = {.syscall = -1};
	struct pl_thread_clock clock;

	pl_thread_clock_open(&clock, getpid(), tid);
	if (pl_thread_clock_activity(&clock, &info) == PL_ACTIVITY_BLOCKED)
		pl_kernel_stack_read(getpid(), tid, &info, ret);
	pl_thread_clock_close(&clock);
}

/* @p anybody: it gives up what it may. */
_Noreturn static void play(struct stage *s, bool anybody)
{
	pthread_t thread;

	if (anybody && geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* it went with the rights */
	if (pthread_create(&thread, NULL, wait_for_data, s) != 0)
		_exit(1);
	stage_await(&s->tid, 1);
	stage_await_state(getpid(), (pid_t)s->tid, "S");
	look((pid_t)s->tid, &s->seen);
	stage_set(&s->told, 1);
	stage_block();
}

static struct pl_kernel_stack seen_by(bool anybody)
{
	struct stage *s = stage_share(sizeof *s);

	assert_int_equal(pipe(s->empty), 0);
	pid_t pid = stage_fork();
	if (pid == 0)
		play(s, anybody);
	stage_await(&s->told, 1);
	stage_kill(pid);
	close(s->empty[0]);
	close(s->empty[1]);
	return s->seen;
}

static void a_thread_that_waits_is_found_in_the_kernel(void **state)
{
	const struct pl_kernel_stack k = seen_by(false);

	(void)state;
	assert_true(k.count >= 1);
	assert_non_null(strstr(k.names[k.count - 1], "read"));
}

/* Whoever may not ask for its stack sees its system call. */
static void without_rights_it_is_its_system_call(void **state)
{
	const struct pl_kernel_stack k = seen_by(true);

	(void)state;
	assert_int_equal(k.count, 1);
	assert_memory_equal(k.names[0], "read", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_read_without_what_leads_to_them),
		cmocka_unit_test(any_text_is_bounded),
		cmocka_unit_test(a_thread_that_waits_is_found_in_the_kernel),
		cmocka_unit_test(without_rights_it_is_its_system_call),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
