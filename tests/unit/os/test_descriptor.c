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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "descriptor.h"
#include "peers.h"
#include "proc_file.h"
#include "target_file.h"

uint64_t __wrap_pl_clock_monotonic_ns(void);
uint64_t __wrap_pl_clock_monotonic_ns(void)
{
	static uint64_t now_ns;

	return now_ns += PL_NS_PER_S;
}

/* So that the other end is found however long it takes. */
uint64_t __wrap_pl_clock_thread_cpu_ns(void);
uint64_t __wrap_pl_clock_thread_cpu_ns(void)
{
	static uint64_t now_ns;

	return now_ns += 1000;
}

static enum pl_fd_kind kind_of(int fd)
{
	struct pl_net net = {.pid = getpid()};
	struct pl_fd_facts f;

	pl_fd_look(getpid(), fd, &net, &f);
	pl_net_deinit(&net);
	close(fd);
	return f.kind;
}

/* Bytes that we have read so far; 0: the kernel does not count them. */
static uint64_t bytes_read(void)
{
	char text[1024];
	unsigned long long n = 0;

	if (pl_proc_file(getpid(), "io", text, sizeof text) > 0)
		sscanf(text, "rchar: %llu", &n);
	return n;
}

#define NUMBERS 300
#define FILES	20

/* Each number is watched once for each file that had it: more than any number of descriptors that a process may have.
 */
static void watch_many(int epoll, int files[static FILES], int first)
{
	struct epoll_event ev = {.events = EPOLLIN};

	for (int k = 0; k < FILES; k++) {
		files[k] = eventfd(0, 0);
		for (int i = 0; i < NUMBERS; i++) {
			assert_int_equal(dup2(files[k], first + i), first + i);
			assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, first + i, &ev), 0);
		}
	}
	for (int i = 0; i < NUMBERS; i++)
		close(first + i);
}

/* To tell what it watches the kernel takes seconds, if it is much. */
static void what_an_epoll_is_does_not_ask_what_it_watches(void **state)
{
	struct pl_net net = {.pid = getpid()};
	struct pl_fd_facts f;
	int epoll = epoll_create1(0), files[FILES], fds[4];
	uint32_t total = 0;

	watch_many(epoll, files, 500);
	uint64_t before = bytes_read();
	pl_fd_look(getpid(), epoll, &net, &f);
	uint64_t once = bytes_read() - before;
	assert_int_equal(f.kind, PL_FD_EPOLL);
	assert_true(pl_fd_watched(getpid(), epoll, fds, 4, &total));
	assert_int_equal(total, NUMBERS * FILES);
	for (int i = 0; i < 4; i++)
		assert_in_range(fds[i], 500, 500 + NUMBERS - 1);
	assert_true(!before || once < NUMBERS * FILES); /* asking how much was read is a read, too */
	for (int k = 0; k < FILES; k++)
		close(files[k]);
	close(epoll);
	pl_net_deinit(&net);
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

/* Two processes with an end each, and a pipe and a socket that only we have. */
static void test_peers(void **state)
{
	struct pl_peers peers = {.pid = getpid()};
	struct pl_net net = {.pid = getpid()};
	struct pl_fd_facts f;
	int shared[2], ours[2], pair[2], control[2];
	char ready;

	assert_int_equal(pipe(shared) + pipe(ours) + pipe(control), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pid_t child = fork();
	if (child == 0) {
		char c;
		close(ours[0]);
		close(ours[1]);
		close(pair[0]);
		close(pair[1]);
		close(control[1]);
		(void)!write(shared[1], "r", 1); /* it has nothing else any more */
		(void)!read(control[0], &c, 1);
		_exit(0);
	}
	close(shared[1]);
	close(control[0]);
	assert_int_equal(read(shared[0], &ready, 1), 1);
	pl_fd_look(getpid(), shared[0], &net, &f);
	assert_false(f.writes);
	pid_t writer = pl_peers_of_pipe(&peers, f.inode, true);
	pl_fd_look(getpid(), ours[1], &net, &f);
	assert_true(f.writes);
	pid_t reader = pl_peers_of_pipe(&peers, f.inode, false);
	pl_fd_look(getpid(), pair[0], &net, &f);
	pid_t other = pl_peers_of_socket(&peers, f.socket.peer_inode);
	close(control[1]);
	waitpid(child, NULL, 0);
	assert_int_equal(writer, child);
	assert_int_equal(other, getpid());
	assert_int_equal(reader, getpid());
	assert_int_equal(pl_peers_of_pipe(&peers, 1, true), 0);
	pl_peers_deinit(&peers);
	pl_net_deinit(&net);
	close(shared[0]);
	close(ours[0]);
	close(ours[1]);
	close(pair[0]);
	close(pair[1]);
}

/* Anybody can have a process beside any other one. */
static void test_a_process_of_many_descriptors_holds_up_nobody(void **state)
{
	enum { MANY = 6000, MOST = 4096 };
	struct pl_peers peers = {.pid = getpid()};
	struct rlimit limit;
	int control[2], ready[2];
	size_t seen = 0;
	char c;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max < MANY + 100)
		skip();
	assert_int_equal(pipe(control) + pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		limit.rlim_cur = MANY + 100;
		int fd = setrlimit(RLIMIT_NOFILE, &limit) ? -1 : 0;
		for (int i = 0; i < MANY && fd >= 0; i++)
			fd = socket(AF_UNIX, SOCK_STREAM, 0);
		close(control[1]);
		(void)!write(ready[1], fd < 0 ? "n" : "y", 1);
		(void)!read(control[0], &c, 1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(pl_peers_of_pipe(&peers, 1, true), 0);
	for (size_t i = 0; i < peers.ends.len; i++)
		seen += peers.ends.data[i].pid == child;
	close(control[1]);
	waitpid(child, NULL, 0);
	close(control[0]);
	close(ready[0]);
	close(ready[1]);
	pl_peers_deinit(&peers);
	assert_int_equal(c, 'y');
	assert_in_range(seen, MOST / 2, MOST);
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

/* A text that was read before. */
static void table_init(struct pl_net *n, int table, const char *text)
{
	*n = (struct pl_net){.pid = getpid()};
	n->tables[table] = (struct pl_net_table){
		.text = strdup(text), .len = strlen(text), .fd = -1, .opened = true, .ended = true};
}

static bool inet_facts(const char *text, uint64_t inode, struct pl_socket_facts *ret)
{
	struct pl_net net;

	table_init(&net, PL_NET_TCP, text);
	const char *row = pl_net_row(&net, PL_NET_TCP, inode);
	bool found = row && pl_net_parse_inet(row, true, ret);
	pl_net_deinit(&net);
	return found;
}

static bool unix_facts(const char *text, uint64_t inode, struct pl_socket_facts *ret)
{
	struct pl_net net;

	table_init(&net, PL_NET_UNIX, text);
	const char *row = pl_net_row(&net, PL_NET_UNIX, inode);
	bool found = row && pl_net_parse_unix(row, ret);
	pl_net_deinit(&net);
	return found;
}

static void test_inet_table(void **state)
{
	struct pl_socket_facts s = {0};

	assert_true(inet_facts(tcp_table, 41, &s));
	assert_string_equal(s.local, "127.0.0.1:8080");
	assert_string_equal(s.state, "listening");
	assert_string_equal(s.peer, "");
	assert_true(inet_facts(tcp_table, 42, &s));
	assert_string_equal(s.local, "127.0.0.1:40000");
	assert_string_equal(s.peer, "10.0.0.2:80");
	assert_string_equal(s.state, "connected");
	assert_true(inet_facts(tcp_table, 43, &s));
	assert_string_equal(s.local, "[::1]:22");
	assert_false(inet_facts(tcp_table, 44, &s));
	assert_false(inet_facts(tcp_table, 45, &s));
	assert_false(inet_facts("", 45, &s));
}

static void test_unix_table(void **state)
{
	static const char table[] = "Num       RefCount Protocol Flags    Type St Inode Path\n"
				    "0000000000000000: 00000002 00000000 00010000 0001 01 51 /run/a b.sock\n"
				    "0000000000000000: 00000003 00000000 00000000 0001 03 52\n"
				    "0000000000000000: 00000002 0";
	struct pl_socket_facts s = {0};

	assert_true(unix_facts(table, 51, &s));
	assert_string_equal(s.local, "/run/a b.sock");
	assert_string_equal(s.state, "listening");
	s = (struct pl_socket_facts){0};
	assert_true(unix_facts(table, 52, &s));
	assert_string_equal(s.local, "");
	assert_string_equal(s.state, "connected");
	assert_false(unix_facts(table, 53, &s));
}

/* The kernel writes the name of a Unix socket as it is: what follows a line break in it is somebody's word. */
static void test_a_row_that_a_name_makes_up(void **state)
{
	static const char heading[] = "Num       RefCount Protocol Flags    Type St Inode Path\n";
	static const char true_row[] = "0000000000000000: 00000002 00000000 00010000 0001 01 51 /run/true\n";
	static const char made_up[] = "0000000000000000: 00000002 00000000 00010000 0001 01 60 @x\n"
				      "0: 00000002 00000000 00010000 0001 01 51 /run/made-up\n";
	struct pl_socket_facts s = {0};
	char table[512];

	snprintf(table, sizeof table, "%s%s%s", heading, made_up, true_row);
	assert_false(unix_facts(table, 51, &s));
	snprintf(table, sizeof table, "%s%s%s%s", heading, true_row, made_up, true_row);
	assert_false(unix_facts(table, 51, &s));
	assert_true(unix_facts(table, 60, &s));
	assert_string_equal(s.local, "@x");
	/* The kernel tells the same row twice if sockets come while it is read. */
	snprintf(table, sizeof table, "%s%s%s", heading, true_row, true_row);
	assert_true(unix_facts(table, 51, &s));
	assert_string_equal(s.local, "/run/true");
}

/* The same with real sockets, of which the first in the table is the one with such a name. */
static void test_nobody_names_the_socket_of_another(void **state)
{
	struct pl_net net = {.pid = getpid()};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/plumb-unix-XXXXXX";
	int ours = socket(AF_UNIX, SOCK_STREAM, 0), others[64];
	struct pl_fd_facts f;
	struct stat st;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(fstat(ours, &st), 0);
	snprintf(address.sun_path, sizeof address.sun_path, "%s/true", dir);
	assert_int_equal(bind(ours, (struct sockaddr *)&address, sizeof address), 0);
	for (int i = 0; i < 64; i++) {
		snprintf(address.sun_path, sizeof address.sun_path,
			 "%s/%d\n0: 00000002 00000000 00010000 0001 01 %lu @made-up\n", dir, i,
			 (unsigned long)st.st_ino);
		others[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		assert_int_equal(bind(others[i], (struct sockaddr *)&address, sizeof address), 0);
		unlink(address.sun_path);
	}
	pl_fd_look(getpid(), ours, &net, &f);
	assert_string_equal(f.socket.protocol, "unix");
	assert_string_equal(f.socket.local, "");
	assert_string_equal(f.socket.state, "");
	pl_net_deinit(&net);
	for (int i = 0; i < 64; i++)
		close(others[i]);
	pl_fd_look(getpid(), ours, &net, &f);
	snprintf(address.sun_path, sizeof address.sun_path, "%s/true", dir);
	assert_string_equal(f.socket.local, address.sun_path);
	pl_net_deinit(&net);
	unlink(address.sun_path);
	rmdir(dir);
	close(ours);
}

static void test_target_file(void **state)
{
	char dir[] = "/tmp/plumb-file-XXXXXX", path[64], name[64];
	struct pl_file_view view;
	int fd;

	assert_true(pl_file_view_of(getpid(), &view));
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/f", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "hello", 5), 5);
	close(fd);
	fd = pl_target_file_open(getpid(), &view, path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chdir(dir), 0);
	fd = pl_target_file_open(getpid(), &view, "f");
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pl_target_file_open(getpid(), &view, "g"), -1);
	assert_int_equal(errno, ENOENT);
	/* Nothing that would block is opened. */
	snprintf(name, sizeof name, "%s/fifo", dir);
	assert_int_equal(mkfifo(name, 0600), 0);
	assert_int_equal(pl_target_file_open(getpid(), &view, name), -1);
	assert_int_equal(pl_target_file_open(getpid(), &view, "/dev/null"), -1);
	/* Nor what the kernel makes up: of ours there would be what is nobody's business. */
	assert_int_equal(pl_target_file_open(getpid(), &view, "/proc/self/environ"), -1);
	assert_int_equal(pl_target_file_open(getpid(), &view, "/proc/1/environ"), -1);
	assert_int_equal(pl_target_file_open(getpid(), &view, "/sys/kernel/uevent_seqnum"), -1);
	unlink(name);
	unlink(path);
	assert_int_equal(chdir("/"), 0);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_epoll_is_does_not_ask_what_it_watches),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_pidfd),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_inet_table),
		cmocka_unit_test(test_unix_table),
		cmocka_unit_test(test_a_row_that_a_name_makes_up),
		cmocka_unit_test(test_a_process_of_many_descriptors_holds_up_nobody),
		cmocka_unit_test(test_nobody_names_the_socket_of_another),
		cmocka_unit_test(test_target_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
