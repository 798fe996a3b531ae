/* SPDX-License-Identifier: Apache-2.0 */
/* What blocked threads wait for, by processes that really block. */
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "blocked.h"
#include "clock.h"
#include "descriptor.h"
#include "mem_live.h"
#include "stage.h"
#include "syscalls.h"
#include "thread_state.h"
#include "wait_reason.h"

#define HOUR	3600
#define TICK_NS 10000000 /* of the kernel's times of start */

static int pipe_fds[2], event_fd, epoll_fd, listener, pair[2], lock_fd;
static uint16_t port;
static char lock_path[] = "/tmp/plumb-blocked-XXXXXX";
static stage_word futex_word;

static int set_up(void **state)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof addr;
	struct epoll_event ev = {.events = EPOLLIN};

	assert_int_equal(pipe(pipe_fds), 0);
	event_fd = eventfd(0, 0);
	epoll_fd = epoll_create1(0);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_fds[0], &ev);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event_fd, &ev);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&addr, sizeof addr), 0);
	assert_int_equal(listen(listener, 1), 0);
	getsockname(listener, (struct sockaddr *)&addr, &len);
	port = ntohs(addr.sin_port);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	lock_fd = mkstemp(lock_path);
	assert_int_equal(flock(lock_fd, LOCK_EX), 0);
	return 0;
}

static int tear_down(void **state)
{
	unlink(lock_path);
	return 0;
}

typedef void act_fn(void);

static enum pl_reason reason; /* of who was examined last */

/* A child that blocks in @p act, and what we find out about it. */
static void examine(act_fn *act, struct pl_blocked *ret)
{
	struct pl_file_locks locks = PL_FILE_LOCKS_INIT;
	stage_word *ready = stage_share(sizeof *ready);
	struct pl_thread_clock clock;
	struct pl_activity_info info;
	struct pl_mem_live *live;
	pid_t pid = stage_fork();

	if (pid == 0) {
		stage_set(ready, 1);
		act();
		_exit(0);
	}
	stage_await(ready, 1);
	stage_await_state(pid, pid, "S");
	pl_thread_clock_open(&clock, pid, pid);
	assert_ok(pl_mem_live_create(pid, &live));
	/* Between "ready" and the call it may have waited for something else, or just woken up from that. */
	await (pl_thread_clock_activity(&clock, &info) == PL_ACTIVITY_BLOCKED &&
	       !(info.syscall == SYS_futex && info.args[0] == (uint64_t)(uintptr_t)ready))
		continue;
	pl_blocked_describe(pid, pl_mem_live_mem(live), &locks, &info, ret);
	reason = pl_wait_reason(pid, pid, pl_mem_live_mem(live), &info);
	pl_file_locks_deinit(&locks);
	pl_mem_live_destroy(live);
	pl_thread_clock_close(&clock);
	stage_kill(pid);
	munmap(ready, sizeof *ready);
}

static void do_read(void)
{
	char c;
	(void)!read(pipe_fds[0], &c, 1);
}

static void test_read(void **state)
{
	struct pl_blocked b;

	examine(do_read, &b);
	assert_int_equal(reason, PL_REASON_PIPE);
	assert_string_equal(b.call, "read");
	assert_int_equal(b.on, PL_ON_FD);
	assert_int_equal(b.fd, pipe_fds[0]);
	assert_false(b.limited);
}

static void do_epoll(void)
{
	struct epoll_event ev;
	epoll_wait(epoll_fd, &ev, 1, HOUR * 1000);
}

static void test_epoll(void **state)
{
	struct pl_blocked b;

	examine(do_epoll, &b);
	assert_int_equal(reason, PL_REASON_POLL);
	assert_string_equal(b.call, "epoll_wait");
	assert_int_equal(b.fd, epoll_fd);
	assert_int_equal(b.on, PL_ON_FD);
	assert_true(b.limited);
	assert_int_equal(b.limit_ns, HOUR * 1000000000ull);
}

static void do_poll(void)
{
	struct pollfd fds[] = {{.fd = pipe_fds[0], .events = POLLIN}, {.fd = -1}, {.fd = event_fd, .events = POLLIN}};
	poll(fds, 3, -1);
}

static void test_poll(void **state)
{
	struct pl_blocked b;

	examine(do_poll, &b);
	assert_int_equal(reason, PL_REASON_POLL);
	assert_string_equal(b.call, "poll");
	assert_int_equal(b.on, PL_ON_FDS);
	assert_int_equal(b.fd_total, 2);
	assert_int_equal(b.fds[0], pipe_fds[0]);
	assert_int_equal(b.fds[1], event_fd);
	assert_false(b.limited);
}

static void do_select(void)
{
	struct timeval tv = {.tv_sec = HOUR};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(event_fd, &set);
	select(event_fd + 1, &set, NULL, NULL, &tv);
}

static void test_select(void **state)
{
	struct pl_blocked b;

	examine(do_select, &b);
	assert_int_equal(reason, PL_REASON_OTHER);
	assert_string_equal(b.call, "select");
	assert_int_equal(b.fd_total, 1);
	assert_int_equal(b.fds[0], event_fd);
	assert_true(b.limited);
	assert_int_equal(b.limit_ns, HOUR * 1000000000ull);
}

static void do_sleep(void)
{
	struct timespec ts = {.tv_sec = HOUR};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

static void test_sleep(void **state)
{
	struct pl_blocked b;

	examine(do_sleep, &b);
	assert_int_equal(reason, PL_REASON_SLEEP);
	assert_int_equal(b.on, PL_ON_TIME);
	assert_true(b.limited && !b.left_known);
	assert_int_equal(b.limit_ns, HOUR * 1000000000ull);
}

static void do_sleep_until(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += HOUR;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void test_sleep_until(void **state)
{
	struct pl_blocked b;

	examine(do_sleep_until, &b);
	assert_int_equal(reason, PL_REASON_SLEEP);
	assert_true(b.left_known);
	assert_in_range(b.left_ns, (HOUR - 2 * PATIENCE_S) * 1000000000ull, HOUR * 1000000000ull);
}

/* Of a core it would be other at each look. */
static void test_the_dead_have_no_time_left(void **state)
{
	struct timespec end = {.tv_sec = HOUR};
	struct pl_activity_info sleep = {.syscall = SYS_clock_nanosleep,
					 .args = {CLOCK_MONOTONIC, TIMER_ABSTIME, (uintptr_t)&end}};
	struct pl_activity_info lock = {.syscall = SYS_futex,
					.args = {(uintptr_t)&futex_word, FUTEX_WAIT_BITSET, 0, (uintptr_t)&end}};
	const struct pl_activity_info *infos[] = {&sleep, &lock};
	struct pl_mem_live *live;
	struct pl_blocked b;

	assert_ok(pl_mem_live_create(getpid(), &live));
	for (size_t i = 0; i < 2; i++) {
		pl_blocked_describe(0, pl_mem_live_mem(live), NULL, infos[i], &b);
		assert_true(b.limited && !b.left_known);
		assert_int_equal(b.limit_ns, 0);
	}
	pl_mem_live_destroy(live);
}

static void do_futex(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += HOUR;
	syscall(SYS_futex, &futex_word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &ts, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void test_futex(void **state)
{
	struct pl_blocked b;

	examine(do_futex, &b);
	assert_int_equal(reason, PL_REASON_LOCK);
	assert_string_equal(b.call, "futex");
	assert_int_equal(b.on, PL_ON_FUTEX);
	assert_int_equal(b.futex, (uintptr_t)&futex_word);
	assert_true(b.left_known);
	assert_in_range(b.left_ns, (HOUR - 2 * PATIENCE_S) * 1000000000ull, HOUR * 1000000000ull);
}

static void do_accept(void)
{
	accept(listener, NULL, NULL);
}

static void do_recv(void)
{
	char c;
	recv(pair[0], &c, 1, 0);
}

static void test_sockets(void **state)
{
	struct pl_net net = {.pid = getpid()};
	struct pl_blocked b;
	struct pl_fd_facts fd, other;
	char address[32];

	examine(do_accept, &b);
	assert_int_equal(reason, PL_REASON_SOCKET);
	assert_int_equal(b.fd, listener);
	pl_fd_look(getpid(), listener, &net, &fd);
	snprintf(address, sizeof address, "127.0.0.1:%d", port);
	assert_int_equal(fd.kind, PL_FD_SOCKET);
	assert_string_equal(fd.socket.protocol, "tcp");
	assert_string_equal(fd.socket.state, "listening");
	assert_string_equal(fd.socket.local, address);
	assert_string_equal(fd.socket.peer, "");

	examine(do_recv, &b);
	assert_int_equal(reason, PL_REASON_SOCKET);
	assert_string_equal(b.call, "recv");
	assert_int_equal(b.fd, pair[0]);
	pl_fd_look(getpid(), pair[0], &net, &fd);
	pl_fd_look(getpid(), pair[1], &net, &other);
	assert_string_equal(fd.socket.protocol, "unix");
	assert_string_equal(fd.socket.state, "connected");
	assert_int_equal(fd.socket.peer_inode, other.inode);
	pl_net_deinit(&net);
}

static pid_t grandchild;

static void do_wait(void)
{
	grandchild = stage_fork();
	if (grandchild == 0)
		stage_block();
	waitpid(grandchild, NULL, 0);
}

static void test_wait(void **state)
{
	struct pl_blocked b;

	examine(do_wait, &b);
	assert_int_equal(reason, PL_REASON_CHILD);
	kill(b.child, SIGKILL);
	assert_string_equal(b.call, "wait4");
	assert_int_equal(b.on, PL_ON_CHILD);
	assert_true(b.child > 0);
}

static void do_flock(void)
{
	flock(open(lock_path, O_RDWR), LOCK_EX);
}

static void test_file_lock(void **state)
{
	struct pl_blocked b;

	examine(do_flock, &b);
	assert_int_equal(reason, PL_REASON_LOCK);
	assert_string_equal(b.call, "flock");
	assert_int_equal(b.on, PL_ON_FILE_LOCK);
	assert_int_equal(b.lock_holder, getpid());
}

static void do_pause(void)
{
	pause();
}

static void test_signal(void **state)
{
	struct pl_blocked b;

	examine(do_pause, &b);
	assert_int_equal(reason, PL_REASON_SIGNAL);
	assert_int_equal(b.on, PL_ON_SIGNAL);
}

static void do_open(void)
{
	char path[64];

	snprintf(path, sizeof path, "%s.fifo", lock_path);
	mkfifo(path, 0600);
	(void)!open(path, O_RDONLY);
}

static void test_path(void **state)
{
	struct pl_blocked b;
	char path[64];

	examine(do_open, &b);
	assert_int_equal(reason, PL_REASON_FILE);
	snprintf(path, sizeof path, "%s.fifo", lock_path);
	unlink(path);
	assert_int_equal(b.on, PL_ON_PATH);
	assert_string_equal(b.path, path);
}

static void do_poll_a_socket(void)
{
	struct pollfd fd = {.fd = pair[0], .events = POLLIN};
	poll(&fd, 1, HOUR * 1000);
}

static void do_sleep_in_select(void)
{
	struct timeval tv = {.tv_sec = HOUR};
	select(0, NULL, NULL, NULL, &tv);
}

static void do_read_a_socket(void)
{
	char c;
	(void)!read(pair[0], &c, 1);
}

static void do_lock_a_record(void)
{
	struct flock range = {.l_type = F_WRLCK};
	fcntl(open(lock_path, O_RDWR), F_SETLKW, &range);
}

static void do_send(void)
{
	char bytes[4096] = "";
	while (write(pair[0], bytes, sizeof bytes) > 0)
		continue;
}

/* What a wait in poll, select, read and write is for, is what the descriptor is. */
static void test_what_the_descriptor_says(void **state)
{
	struct pl_blocked b;
	struct flock range = {.l_type = F_WRLCK};

	examine(do_poll_a_socket, &b);
	assert_int_equal(reason, PL_REASON_SOCKET);
	examine(do_sleep_in_select, &b);
	assert_int_equal(reason, PL_REASON_SLEEP);
	examine(do_read_a_socket, &b);
	assert_int_equal(reason, PL_REASON_SOCKET);
	examine(do_send, &b);
	assert_int_equal(reason, PL_REASON_SOCKET);
	assert_int_equal(fcntl(lock_fd, F_SETLK, &range), 0);
	examine(do_lock_a_record, &b);
	assert_int_equal(reason, PL_REASON_LOCK);
}

/* Each call that may block has a reason, or its descriptor has. */
static void test_every_call_has_a_reason(void **state)
{
	struct pl_mem_live *live;

	assert_ok(pl_mem_live_create(getpid(), &live));
	for (int number = 0; number < 600; number++) {
		const struct pl_call *call = pl_call_find(number);
		struct pl_activity_info info = {.syscall = number, .args = {(uint64_t)pipe_fds[0]}};
		enum pl_reason found = pl_wait_reason(getpid(), getpid(), pl_mem_live_mem(live), &info);

		assert_true(found > PL_REASON_GIL && found < PL_REASONS);
		if (call && call->kind == PL_CALL_FD)
			assert_int_equal(found, call->reason ? call->reason : PL_REASON_PIPE);
		if (!call)
			assert_int_equal(found, PL_REASON_OTHER);
	}
	for (unsigned kind = 0; kind <= PL_FD_OTHER; kind++)
		assert_true(pl_wait_reason_of_fd((enum pl_fd_kind)kind) > PL_REASON_GIL);
	pl_mem_live_destroy(live);
}

/* Pointers and counts of a program may be anything. */
static void test_arguments_that_lie(void **state)
{
	static const int calls[] = {SYS_ppoll,	     SYS_pselect6, SYS_clock_nanosleep, SYS_futex, SYS_openat,
				    SYS_epoll_pwait, SYS_flock,	   SYS_recvmmsg,	99999};
	static const uint64_t values[] = {0, 1, UINT64_MAX, UINT64_MAX / 2, 1ull << 47, 4095};
	struct pl_file_locks locks = PL_FILE_LOCKS_INIT;
	struct pl_mem_live *live;

	assert_ok(pl_mem_live_create(getpid(), &live));
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
			struct pl_activity_info info = {.syscall = calls[i]};
			struct pl_blocked b;

			for (int a = 0; a < 6; a++)
				info.args[a] = values[(k + (size_t)a) % (sizeof values / sizeof values[0])];
			pl_blocked_describe(getpid(), pl_mem_live_mem(live), &locks, &info, &b);
			assert_in_range(pl_wait_reason(getpid(), getpid(), pl_mem_live_mem(live), &info),
					PL_REASON_LOCK, PL_REASON_OTHER);
			assert_true(b.fd_count <= PL_BLOCKED_FDS);
			assert_true(b.fd_total >= b.fd_count);
		}
	}
	pl_file_locks_deinit(&locks);
	pl_mem_live_destroy(live);
}

static void test_state_and_age(void **state)
{
	struct pl_thread_state s;
	uint64_t age, later, start = pl_clock_monotonic_ns();
	pid_t pid = stage_fork();

	if (pid == 0)
		stage_block();
	kill(pid, SIGSTOP);
	stage_await_state(pid, pid, "T");
	pl_thread_state_read(pid, pid, &s);
	assert_int_equal(s.letter, 'T');
	assert_int_equal(s.tracer, 0);
	assert_true(pl_process_age(pid, &age));
	assert_true(pl_process_age(pid, &later));
	assert_true(age <= pl_clock_monotonic_ns() - start + TICK_NS && later >= age);
	stage_kill(pid);
	pl_thread_state_read(pid, pid, &s);
	assert_int_equal(s.letter, 0);
	assert_false(pl_process_age(pid, &age));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_epoll),
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_sleep_until),
		cmocka_unit_test(test_the_dead_have_no_time_left),
		cmocka_unit_test(test_futex),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_file_lock),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_what_the_descriptor_says),
		cmocka_unit_test(test_every_call_has_a_reason),
		cmocka_unit_test(test_arguments_that_lie),
		cmocka_unit_test(test_state_and_age),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
