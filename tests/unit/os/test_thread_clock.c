/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core.h"
#include "stage.h"
#include "thread_clock.h"
#include "thread_state.h"

enum what { IN_READ, IN_FUTEX, IN_EPOLL, SPINNING };

struct scene {
	stage_word futex, ready;
	_Atomic uint64_t count;
};

static int fds[2], epfd;
static uint8_t byte;

static _Noreturn void act(struct scene *s, enum what what)
{
	struct epoll_event ev;

	stage_set(&s->ready, 1);
	for (;;) {
		if (what == IN_READ)
			(void)!read(fds[0], &byte, 1);
		else if (what == IN_EPOLL)
			epoll_wait(epfd, &ev, 1, -1);
		else if (what == IN_FUTEX)
			syscall(SYS_futex, &s->futex, FUTEX_WAIT, 0, NULL, NULL, 0);
		atomic_fetch_add(&s->count, 1);
	}
}

static pid_t begin(enum what what, struct scene **ret, struct pl_thread_clock *c)
{
	struct scene *s = *ret = stage_share(sizeof *s);

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	epoll_ctl(epfd, EPOLL_CTL_ADD, fds[0], &ev);
	pid_t pid = stage_fork();
	if (pid == 0)
		act(s, what);
	stage_await(&s->ready, 1);
	pl_thread_clock_open(c, pid, pid);
	return pid;
}

static void end(pid_t pid, struct scene *s, struct pl_thread_clock *c)
{
	pl_thread_clock_close(c);
	assert_int_equal(c->schedstat_fd, -1);
	assert_int_equal(c->syscall_fd, -1);
	stage_kill(pid);
	close(fds[0]);
	close(fds[1]);
	close(epfd);
	munmap(s, sizeof *s);
}

static void wake(enum what what, struct scene *s)
{
	if (what == IN_FUTEX)
		syscall(SYS_futex, &s->futex, FUTEX_WAKE, 1, NULL, NULL, 0);
	else
		assert_int_equal(write(fds[1], "x", 1), 1);
}

/* `s` was mapped before the fork: its address is the same over there. */
static void check_args(enum what what, const struct scene *s, const struct pl_activity_info *info)
{
	static const int number[] = {[IN_READ] = SYS_read, [IN_FUTEX] = SYS_futex, [IN_EPOLL] = SYS_epoll_wait};

	assert_int_equal(info->syscall, number[what]);
	if (what == IN_READ) {
		assert_int_equal(info->args[0], fds[0]);
		assert_int_equal(info->args[1], (uintptr_t)&byte);
		assert_int_equal(info->args[2], 1);
	} else if (what == IN_FUTEX) {
		assert_int_equal(info->args[0], (uintptr_t)&s->futex);
		assert_int_equal(info->args[1], FUTEX_WAIT);
	} else {
		assert_int_equal(info->args[0], epfd);
		assert_int_equal((int)info->args[3], -1);
	}
}

/* A thread shows as sleeping a moment before it has left its CPU. */
static enum pl_activity await_blocked(const struct pl_thread_clock *c, struct pl_activity_info *ret)
{
	enum pl_activity a = PL_ACTIVITY_RUNNING;

	await (a != PL_ACTIVITY_RUNNING)
		a = pl_thread_clock_activity(c, ret);
	return a;
}

/* The kernel counts how often it got a CPU and how often it left one. */
static bool has_cpu(pid_t pid, const struct pl_thread_clock *c)
{
	struct pl_run_counters counters;
	struct pl_thread_state st;

	assert_int_equal(pl_thread_clock_counters(c, &counters), PL_CLOCK_OK);
	pl_thread_state_read(pid, pid, &st);
	return counters.runs > st.ends;
}

static void blocked_thread(enum what what)
{
	struct pl_thread_clock c;
	struct scene *s;
	struct pl_activity_info info;
	struct pl_run_counters before, again, after;
	pid_t pid = begin(what, &s, &c);
	for (int round = 0; round < 3; round++) {
		stage_await_state(pid, pid, "S");
		assert_int_equal(await_blocked(&c, &info), PL_ACTIVITY_BLOCKED);
		check_args(what, s, &info);
		assert_int_equal(pl_thread_clock_activity(&c, NULL), PL_ACTIVITY_BLOCKED);
		assert_false(has_cpu(pid, &c));
		assert_int_equal(pl_thread_clock_counters(&c, &before), PL_CLOCK_OK);
		for (int i = 0; i < 100; i++) {
			sched_yield();
			assert_int_equal(pl_thread_clock_counters(&c, &again), PL_CLOCK_OK);
			assert_int_equal(again.runs, before.runs);
			assert_int_equal(again.run_ns, before.run_ns);
		}
		uint64_t count = atomic_load(&s->count);
		wake(what, s);
		stage_await_count(&s->count, count);
		assert_int_equal(pl_thread_clock_counters(&c, &after), PL_CLOCK_OK);
		assert_true(after.runs > before.runs);
	}
	end(pid, s, &c);
}

static void a_thread_blocked_in_read_is_seen_so(void **state)
{
	blocked_thread(IN_READ);
}

static void a_thread_blocked_in_futex_is_seen_so(void **state)
{
	blocked_thread(IN_FUTEX);
}

static void a_thread_blocked_in_epoll_wait_is_seen_so(void **state)
{
	blocked_thread(IN_EPOLL);
}

static void a_spinning_thread_runs_and_its_time_grows(void **state)
{
	struct pl_thread_clock c;
	struct scene *s;
	struct pl_activity_info info;
	struct pl_run_counters first, now;
	pid_t pid = begin(SPINNING, &s, &c);
	stage_await_count(&s->count, 1000);
	assert_int_equal(pl_thread_clock_counters(&c, &first), PL_CLOCK_OK);
	now = first;
	await (now.run_ns > first.run_ns) {
		assert_int_equal(pl_thread_clock_activity(&c, &info), PL_ACTIVITY_RUNNING);
		assert_int_equal(pl_thread_clock_counters(&c, &now), PL_CLOCK_OK);
	}
	await (has_cpu(pid, &c))
		continue;
	end(pid, s, &c);
}

static void an_ended_thread_is_gone(void **state)
{
	struct pl_thread_clock c;
	struct scene *s;
	struct pl_run_counters now;
	pid_t pid = begin(IN_READ, &s, &c);
	stage_kill(pid);
	assert_int_equal(pl_thread_clock_activity(&c, NULL), PL_ACTIVITY_GONE);
	assert_int_equal(pl_thread_clock_counters(&c, &now), PL_CLOCK_GONE);
	end(pid, s, &c);
}

static void what_cannot_be_opened_is_unknown(void **state)
{
	struct pl_thread_clock c;
	struct pl_run_counters now;
	pl_thread_clock_open(&c, getpid(), 1 << 30);
	assert_int_equal(pl_thread_clock_activity(&c, NULL), PL_ACTIVITY_UNKNOWN);
	assert_int_equal(pl_thread_clock_counters(&c, &now), PL_CLOCK_UNKNOWN);
	pl_thread_clock_close(&c);
}

static void a_thread_of_a_core_does_what_was_noted(void **state)
{
	const struct pl_core_thread runs = {.tid = 7},
				    waits = {.tid = 8, .in_call = true, .call = {.syscall = SYS_read}};
	struct pl_thread_clock c;
	struct pl_activity_info info = {.syscall = -1};
	struct pl_run_counters counters;

	pl_thread_clock_of_core(&c, &runs);
	assert_int_equal(pl_thread_clock_activity(&c, &info), PL_ACTIVITY_RUNNING);
	pl_thread_clock_of_core(&c, &waits);
	assert_int_equal(pl_thread_clock_activity(&c, NULL), PL_ACTIVITY_BLOCKED);
	assert_int_equal(pl_thread_clock_activity(&c, &info), PL_ACTIVITY_BLOCKED);
	assert_int_equal(info.syscall, SYS_read);
	assert_int_equal(pl_thread_clock_counters(&c, &counters), PL_CLOCK_UNKNOWN);
	pl_thread_clock_of_core(&c, NULL); /* nothing was noted of it */
	assert_int_equal(pl_thread_clock_activity(&c, &info), PL_ACTIVITY_UNKNOWN);
	pl_thread_clock_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_blocked_in_read_is_seen_so),
		cmocka_unit_test(a_thread_blocked_in_futex_is_seen_so),
		cmocka_unit_test(a_thread_blocked_in_epoll_wait_is_seen_so),
		cmocka_unit_test(a_spinning_thread_runs_and_its_time_grows),
		cmocka_unit_test(an_ended_thread_is_gone),
		cmocka_unit_test(what_cannot_be_opened_is_unknown),
		cmocka_unit_test(a_thread_of_a_core_does_what_was_noted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
