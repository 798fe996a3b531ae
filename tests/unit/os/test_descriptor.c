/* SPDX-License-Identifier: Apache-2.0 */
/* What descriptors are, the tables of sockets, and files as another process sees them. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "descriptor.h"
#include "target_file.h"

static enum pl_fd_kind kind_of(int fd)
{
	struct pl_net net = {.pid = getpid()};
	struct pl_fd_facts f;

	pl_fd_look(getpid(), fd, &net, &f);
	pl_net_deinit(&net);
	close(fd);
	return f.kind;
}

static void test_kinds(void **state)
{
	sigset_t none;
	int fds[2];

	sigemptyset(&none);
	assert_int_equal(kind_of(epoll_create1(0)), PL_FD_EPOLL);
	assert_int_equal(kind_of(eventfd(0, 0)), PL_FD_EVENT);
	assert_int_equal(kind_of(timerfd_create(CLOCK_MONOTONIC, 0)), PL_FD_TIMER);
	assert_int_equal(kind_of(signalfd(-1, &none, 0)), PL_FD_SIGNAL);
	assert_int_equal(kind_of(open("/", O_RDONLY)), PL_FD_FOLDER);
	assert_int_equal(kind_of(open("/dev/null", O_RDONLY)), PL_FD_DEVICE);
	assert_int_equal(kind_of(open("/proc/self/exe", O_RDONLY)), PL_FD_FILE);
	assert_int_equal(kind_of(memfd_create("m", 0)), PL_FD_FILE);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(kind_of(fds[0]), PL_FD_PIPE);
	assert_int_equal(kind_of(fds[0]), PL_FD_UNKNOWN); /* closed */
	close(fds[1]);
}

static void test_pidfd(void **state)
{
	struct pl_net net = {.pid = getpid()};
	struct pl_fd_facts f;
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	pl_fd_look(getpid(), fd, &net, &f);
	assert_int_equal(f.kind, PL_FD_PIDFD);
	assert_int_equal(f.process, getpid());
	close(fd);
	pl_net_deinit(&net);
}

static void test_links(void **state)
{
	struct pl_fd_facts f;

	f = (struct pl_fd_facts){0};
	pl_fd_parse_link("/tmp/pipe:[7] (deleted)", &f);
	assert_int_equal(f.kind, PL_FD_FILE);
	assert_true(f.deleted);
	assert_string_equal(f.path, "/tmp/pipe:[7]");
	f = (struct pl_fd_facts){0};
	pl_fd_parse_link("socket:[99]", &f);
	assert_int_equal(f.kind, PL_FD_SOCKET);
	assert_int_equal(f.inode, 99);
	f = (struct pl_fd_facts){0};
	pl_fd_parse_link("anon_inode:[io_uring]", &f);
	assert_int_equal(f.kind, PL_FD_OTHER);
	pl_fd_parse_link("", &f);
	assert_int_equal(f.kind, PL_FD_OTHER);
}

static const char tcp_table[] =
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1 0 100 0 0 10 "
	"0\n"
	"  11: 0100007F:9C40 0200000A:0050 01 00000000:00000000 00:00000000 00000000     0        0 42 1 0 20 4 0 10 "
	"-1\n"
	"  12: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 "
	"00:00000000 00000000     0        0 43 1\n"
	"  13: nonsense 0 01 0 0 0 0 0 44\n"
	"  14: 0100007F:9C40";

static void test_inet_table(void **state)
{
	struct pl_socket_facts s = {0};

	assert_true(pl_net_parse_inet(tcp_table, 41, true, &s));
	assert_string_equal(s.local, "127.0.0.1:8080");
	assert_string_equal(s.state, "listening");
	assert_string_equal(s.peer, "");
	assert_true(pl_net_parse_inet(tcp_table, 42, true, &s));
	assert_string_equal(s.local, "127.0.0.1:40000");
	assert_string_equal(s.peer, "10.0.0.2:80");
	assert_string_equal(s.state, "connected");
	assert_true(pl_net_parse_inet(tcp_table, 43, true, &s));
	assert_string_equal(s.local, "[::1]:22");
	assert_false(pl_net_parse_inet(tcp_table, 44, true, &s));
	assert_false(pl_net_parse_inet(tcp_table, 45, true, &s));
	assert_false(pl_net_parse_inet("", 45, true, &s));
}

static void test_unix_table(void **state)
{
	static const char table[] = "Num       RefCount Protocol Flags    Type St Inode Path\n"
				    "0000000000000000: 00000002 00000000 00010000 0001 01 51 /run/a b.sock\n"
				    "0000000000000000: 00000003 00000000 00000000 0001 03 52\n"
				    "0000000000000000: 00000002 0";
	struct pl_socket_facts s = {0};

	assert_true(pl_net_parse_unix(table, 51, &s));
	assert_string_equal(s.local, "/run/a b.sock");
	assert_string_equal(s.state, "listening");
	s = (struct pl_socket_facts){0};
	assert_true(pl_net_parse_unix(table, 52, &s));
	assert_string_equal(s.local, "");
	assert_string_equal(s.state, "connected");
	assert_false(pl_net_parse_unix(table, 53, &s));
}

static void test_target_file(void **state)
{
	char dir[] = "/tmp/plumb-file-XXXXXX", path[64], name[64];
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/f", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "hello", 5), 5);
	close(fd);
	fd = pl_target_file_open(getpid(), path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chdir(dir), 0);
	fd = pl_target_file_open(getpid(), "f");
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pl_target_file_open(getpid(), "g"), -1);
	assert_int_equal(errno, ENOENT);
	/* Nothing that would block is opened. */
	snprintf(name, sizeof name, "%s/fifo", dir);
	assert_int_equal(mkfifo(name, 0600), 0);
	assert_int_equal(pl_target_file_open(getpid(), name), -1);
	assert_int_equal(pl_target_file_open(getpid(), "/dev/null"), -1);
	unlink(name);
	unlink(path);
	assert_int_equal(chdir("/"), 0);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	   cmocka_unit_test(test_pidfd),
		cmocka_unit_test(test_links),	   cmocka_unit_test(test_inet_table),
		cmocka_unit_test(test_unix_table), cmocka_unit_test(test_target_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
