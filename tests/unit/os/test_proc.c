/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "proc.h"
#include "proc_file.h"
#include "thread_state.h"

static void assert_message(struct plumb_error *err, enum plumb_error_code code, const char *part)
{
	if (plumb_error_code(err) != code || !strstr(plumb_error_message(err), part))
		fail_msg("got %s: \"%s\", wanted \"%s\"", plumb_error_name(plumb_error_code(err)),
			 plumb_error_message(err), part);
	plumb_error_destroy(err);
}

static void a_process_is_one_and_others_are_told_apart(void **state)
{
	assert_ok(pl_proc_check(getpid()));
	assert_message(pl_proc_check(0x3ffffff0), PLUMB_ERR_NO_PROCESS, "no process with pid 1073741808");
	assert_message(pl_proc_check(0), PLUMB_ERR_NO_PROCESS, "pid 0");
	assert_message(pl_proc_check(-5), PLUMB_ERR_NO_PROCESS, "pid -5");
}

static void a_zombie_has_ended(void **state)
{
	siginfo_t info;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_message(pl_proc_check(pid), PLUMB_ERR_NO_PROCESS, "has ended");
	waitpid(pid, NULL, 0);
	assert_message(pl_proc_check(pid), PLUMB_ERR_NO_PROCESS, "there is no process");
}

#define GROUPS_MAX 65536 /* the kernel's limit */

/* For a child, which ends where that cannot be. */
static void join_groups(size_t count)
{
	static gid_t groups[GROUPS_MAX];

	for (size_t i = 0; i < count; i++)
		groups[i] = 4000000000u + (gid_t)i;
	if (setgroups(count, groups))
		_exit(2);
}

/* Its switches come behind its groups. */
static void how_often_a_process_in_many_groups_has_left_its_cpu_is_known(void **state)
{
	struct pl_thread_state now;
	int status;

	if (geteuid() != 0)
		skip();
	pid_t pid = fork();
	if (pid == 0) {
		join_groups(20000);
		pl_thread_state_read(getpid(), getpid(), &now);
		_exit(now.letter != 'R' || now.blocks == UINT64_MAX || now.ends == UINT64_MAX);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Its groups alone are longer than what there is room for. */
static void what_stands_around_many_groups_is_read(void **state)
{
	char text[PL_STATUS_MAX];
	int status;

	if (geteuid() != 0)
		skip();
	pid_t pid = fork();
	if (pid == 0) {
		join_groups(GROUPS_MAX);
		ssize_t n = pl_proc_status(0, "status", text, sizeof text);
		_exit(n != (ssize_t)strlen(text) || pl_proc_status_field(text, "Groups") ||
		      pl_proc_status_number(text, "Tgid", 10, 0) != (uint64_t)getpid() ||
		      pl_proc_status_number(text, "NSpid", 10, 0) == 0 ||
		      pl_proc_status_number(text, "Seccomp", 10, 77) == 77 ||
		      pl_proc_status_number(text, "nonvoluntary_ctxt_switches", 10, UINT64_MAX) == UINT64_MAX);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

struct worker {
	pthread_t thread;
	pthread_barrier_t started, done;
	pid_t tid;
	const char *name;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	w->tid = (pid_t)syscall(SYS_gettid);
	prctl(PR_SET_NAME, w->name);
	pthread_barrier_wait(&w->started);
	pthread_barrier_wait(&w->done);
	return NULL;
}

static void worker_start(struct worker *w, const char *name)
{
	w->name = name;
	pthread_barrier_init(&w->started, NULL, 2);
	pthread_barrier_init(&w->done, NULL, 2);
	assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
	pthread_barrier_wait(&w->started);
}

static void worker_end(struct worker *w)
{
	pthread_barrier_wait(&w->done);
	pthread_join(w->thread, NULL);
	pthread_barrier_destroy(&w->started);
	pthread_barrier_destroy(&w->done);
}

static void a_thread_is_no_process_and_its_process_is_named(void **state)
{
	struct worker w;
	char want[64];
	worker_start(&w, "worker");
	snprintf(want, sizeof want, "%d is a thread of process %d", (int)w.tid, (int)getpid());
	assert_message(pl_proc_check(w.tid), PLUMB_ERR_NO_PROCESS, want);
	worker_end(&w);
}

static void threads_are_listed_in_order_and_named(void **state)
{
	struct worker w[3];
	static const char *const names[] = {"plain", ") R 1 2 3", "fifteen-bytes-x"};
	pl_tid_vec tids = {0};
	char comm[16];
	pl_vec_push(&tids, 7);
	for (int i = 0; i < 3; i++)
		worker_start(&w[i], names[i]);
	assert_ok(pl_proc_tids(getpid(), &tids));
	assert_true(tids.len >= 5); /* a sanitizer may have a thread of its own */
	assert_int_equal(tids.data[0], 7);
	bool first = false; /* somewhere: numbers may have begun anew between it and the others */
	for (size_t i = 1; i < tids.len; i++) {
		first |= tids.data[i] == getpid();
		assert_true(i == 1 || tids.data[i] > tids.data[i - 1]);
	}
	assert_true(first);
	for (int i = 0; i < 3; i++) {
		pl_proc_comm(getpid(), w[i].tid, comm);
		assert_string_equal(comm, names[i]);
		worker_end(&w[i]);
	}
	pl_vec_deinit(&tids);
}

static void what_is_gone_has_no_threads_and_no_name(void **state)
{
	pl_tid_vec tids = {0};
	char comm[16] = "x", text[16] = "x";
	uint64_t time;
	assert_ptr_equal(pl_proc_tids(0x3ffffff0, &tids), &pl_err_target_exited);
	pl_proc_comm(getpid(), 0x3ffffff0, comm);
	assert_string_equal(comm, "");
	pl_proc_exe(0x3ffffff0, text, sizeof text);
	assert_string_equal(text, "");
	pl_proc_program(0x3ffffff0, text, sizeof text);
	assert_string_equal(text, "program");
	assert_code(pl_proc_start_time(0x3ffffff0, &time), PLUMB_ERR_NO_PROCESS);
}

static void start_times_tell_processes_apart(void **state)
{
	uint64_t parent, child;
	char path[512];
	struct fake f = fake_start(fake_path("fake_plain", path, sizeof path), NULL);
	assert_ok(pl_proc_start_time(getpid(), &parent));
	assert_ok(pl_proc_start_time(f.pid, &child));
	assert_true(parent > 0 && child >= parent);
	fake_end(&f);
}

static void stat_fields_are_counted_behind_the_last_bracket(void **state)
{
	uint64_t v;
	assert_true(pl_proc_stat_field("12 (a) R 3) S 77 88 ", 4, &v));
	assert_int_equal(v, 77);
	assert_true(pl_proc_stat_field("12 (a) R 3) S 77 88 ", 5, &v));
	assert_int_equal(v, 88);
	assert_true(pl_proc_stat_field("12 (a) R -5 -", 4, &v));
	assert_int_equal((int64_t)v, -5);
	assert_false(pl_proc_stat_field("12 (a) R -5 -", 5, &v));
	assert_false(pl_proc_stat_field("12 (a) R 3) S 77 88 ", 6, &v));
	assert_false(pl_proc_stat_field("12 (a) R 3) S 77 88 ", 40, &v));
	assert_false(pl_proc_stat_field("no bracket", 4, &v));
	assert_false(pl_proc_stat_field("", 3, &v));
}

static void status_fields_are_whole_keys_at_line_starts(void **state)
{
	static const char text[] = "Name:\tPid: 5\nTracerPid:\t7\nPid:\t9\nCapEff:\t00ff\n";
	assert_int_equal(pl_proc_status_number(text, "Pid", 10, 0), 9);
	assert_int_equal(pl_proc_status_number(text, "TracerPid", 10, 0), 7);
	assert_int_equal(pl_proc_status_number(text, "CapEff", 16, 0), 255);
	assert_int_equal(pl_proc_status_number(text, "Uid", 10, 42), 42);
	assert_int_equal(pl_proc_status_number(text, "Name", 10, 42), 42);
}

static void assert_command(char *const argv[], const char *want)
{
	char path[512], got[256];
	struct fake f = fake_start(fake_path("fake_plain", path, sizeof path), argv);
	pl_proc_command(f.pid, got, sizeof got);
	assert_string_equal(got, want);
	pl_proc_command(f.pid, got, 6);
	assert_true(strlen(got) <= 5 && strncmp(got, want, strlen(got)) == 0);
	fake_end(&f);
}

static void commands_are_quoted_where_needed(void **state)
{
	assert_command((char *[]){"python", "app.py", "--x=1", NULL}, "python app.py --x=1");
	assert_command((char *[]){"sh", "-c", "echo it's $HOME", "", NULL}, "sh -c 'echo it'\\''s $HOME'");
	assert_command((char *[]){"a", "", "b", NULL}, "a '' b");
	assert_command((char *[]){"caf\xc3\xa9", "\x1b[31m", NULL}, "caf\xc3\xa9 '?[31m'");
	assert_command((char *[]){"gunicorn: master [app]", NULL}, "gunicorn: master [app]");
}

static void a_command_without_arguments_is_its_name_in_brackets(void **state)
{
	char path[512], got[64];
	struct fake f = fake_start(fake_path("fake_plain", path, sizeof path), (char *[]){"", NULL});
	pl_proc_command(f.pid, got, sizeof got);
	assert_string_equal(got, "[fake_plain]");
	fake_end(&f);
}

static void assert_program(char *const argv[], const char *want)
{
	char path[512], got[64];
	struct fake f = fake_start(fake_path("fake_plain", path, sizeof path), argv);
	pl_proc_program(f.pid, got, sizeof got);
	assert_string_equal(got, want);
	fake_end(&f);
}

/* Of the @p names (ends with NULL) those that start with '!' are not its names. */
static void assert_called(char *const argv[], const char *const names[])
{
	char path[512];
	struct fake f = fake_start(fake_path("fake_plain", path, sizeof path), argv);
	for (size_t i = 0; names[i]; i++)
		if (pl_proc_is_called(f.pid, names[i] + (*names[i] == '!')) == (*names[i] == '!'))
			fail_msg("%s ...: wrong about '%s'", argv[0], names[i]);
	assert_int_equal(pl_proc_is_python(f.pid), strstr(argv[0], "python") != NULL);
	fake_end(&f);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void a_process_answers_to_its_script_module_program_and_title(void **state)
{
	assert_called((char *[]){"python3", "-u", "/srv/my app/app.py", "other.py", NULL},
		      NAMES("app.py", "app", "my app/app.py", "/srv/my app/app.py", "python3", "fake_plain", "!pp.py",
			    "!other.py", "!srv", "!my app", "!app.p", "!", "!/", "!y", "!APP.py"));
	assert_called((char *[]){"/usr/bin/python3.11", "-m", "pkg.mod", "x", NULL},
		      NAMES("pkg.mod", "python3.11", "bin/python3.11", "!mod", "!pkg", "!x", "!python"));
	assert_called((char *[]){"python3", "/srv/folder/", NULL}, NAMES("folder", "srv/folder", "!srv"));
	assert_called((char *[]){"python3", "-c", "app.py", NULL}, NAMES("!app.py", "python3"));
	assert_called((char *[]){"vim", "app.py", NULL}, NAMES("!app.py", "vim"));
	assert_called((char *[]){"gunicorn: worker [app.py]", NULL}, NAMES("gunicorn", "!app.py", "!worker"));
	assert_false(pl_proc_is_called(0x3ffffff0, "x"));
	assert_false(pl_proc_is_called(2, "kthreadd")); /* runs no program */
}

static void a_path_is_the_script_if_it_leads_to_the_same_file(void **state)
{
	char dir[] = "/tmp/plumb-proc-XXXXXX", path[64], from[64];
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/app.py", dir);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(chdir(dir), 0); /* the fake starts here, we go on elsewhere */
	struct fake p = fake_start(fake_path("fake_plain", (char[512]){0}, 512), (char *[]){"python3", "app.py", NULL});
	assert_int_equal(chdir("/tmp"), 0);
	snprintf(from, sizeof from, "./%s/app.py", dir + strlen("/tmp/"));
	assert_true(pl_proc_is_called(p.pid, path));
	assert_true(pl_proc_is_called(p.pid, from));
	assert_false(pl_proc_is_called(p.pid, "./app.py"));
	assert_false(pl_proc_is_called(p.pid, "/tmp"));
	fake_end(&p);
	/* By a link, in its path or in ours. */
	char linked[80], by[96];
	snprintf(linked, sizeof linked, "%s-link", dir);
	snprintf(by, sizeof by, "%s/app.py", linked);
	assert_int_equal(symlink(dir, linked), 0);
	p = fake_start(fake_path("fake_plain", (char[512]){0}, 512), (char *[]){"python3", by, NULL});
	assert_true(pl_proc_is_called(p.pid, path));
	assert_false(pl_proc_is_called(p.pid, "/tmp"));
	fake_end(&p);
	p = fake_start(fake_path("fake_plain", (char[512]){0}, 512), (char *[]){"python3", path, NULL});
	assert_true(pl_proc_is_called(p.pid, by));
	fake_end(&p);
	unlink(linked);
	unlink(path);
	rmdir(dir);
}

static void all_processes_are_listed_with_owner_and_start(void **state)
{
	pl_tid_vec pids = {0};
	struct timespec before, after;
	bool found = false;
	assert_ok(pl_proc_all(&pids));
	for (size_t i = 0; i < pids.len; i++) {
		found |= pids.data[i] == getpid();
		assert_true(i == 0 || pids.data[i] > pids.data[i - 1]);
	}
	assert_true(found);
	pl_vec_deinit(&pids);
	assert_int_equal(pl_proc_owner(getpid()), geteuid());
	assert_int_equal(pl_proc_owner(0x3ffffff0), (uid_t)-1);
	assert_int_equal(pl_proc_started_ns(0x3ffffff0), 0);
	clock_gettime(CLOCK_REALTIME, &before);
	struct fake f = fake_start(fake_path("fake_plain", (char[512]){0}, 512), NULL);
	uint64_t started_s = (pl_proc_booted_real_ns() + pl_proc_started_ns(f.pid)) / 1000000000;
	fake_end(&f);
	clock_gettime(CLOCK_REALTIME, &after);
	assert_true(started_s + 1 >= (uint64_t)before.tv_sec && started_s <= (uint64_t)after.tv_sec + 1);
}

static void programs_are_called_after_their_script_or_module(void **state)
{
	assert_program((char *[]){"python3", "/srv/my app/app.py", "arg", NULL}, "app.py");
	assert_program((char *[]){"/usr/bin/python3.11", "-m", "pkg.mod", "x", NULL}, "pkg.mod");
	assert_program((char *[]){"python", "-Bum", "http.server", NULL}, "http.server");
	assert_program((char *[]){"python", "-mtimeit", "-n", "1", NULL}, "timeit");
	assert_program((char *[]){"python", "-X", "dev", "-W", "error", "-Wignore", "-u", "run it.py", NULL},
		       "run_it.py");
	assert_program((char *[]){"python", "--check-hash-based-pycs", "never", "x.py", NULL}, "x.py");
	assert_program((char *[]){"python", "dir/sub/", NULL}, "sub");
	assert_program((char *[]){"python", "s\xc3\xa9.py", NULL}, "s__.py");
}

static void programs_without_a_script_are_called_after_the_executable(void **state)
{
	assert_program((char *[]){"python", "-c", "pass", NULL}, "fake_plain");
	assert_program((char *[]){"python", "-", NULL}, "fake_plain");
	assert_program((char *[]){"python", NULL}, "fake_plain");
	assert_program((char *[]){"python", "-m", NULL}, "fake_plain");
	assert_program((char *[]){"other", "app.py", NULL}, "fake_plain");
	assert_program((char *[]){"", NULL}, "fake_plain");
}

static void the_executable_is_known_by_path_and_by_inode(void **state)
{
	char path[512], got[512];
	uint64_t dev = 0, ino = 0, own_dev = 0, own_ino = 0;
	struct fake f = fake_start(fake_path("fake_plain", path, sizeof path), NULL);
	pl_proc_exe(f.pid, got, sizeof got);
	assert_string_equal(strrchr(got, '/'), "/fake_plain");
	assert_true(pl_proc_exe_id(f.pid, &dev, &ino) && pl_proc_exe_id(getpid(), &own_dev, &own_ino));
	assert_true(ino != own_ino);
	fake_end(&f);
	assert_false(pl_proc_exe_id(f.pid, &dev, &ino));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_one_and_others_are_told_apart),
		cmocka_unit_test(a_zombie_has_ended),
		cmocka_unit_test(how_often_a_process_in_many_groups_has_left_its_cpu_is_known),
		cmocka_unit_test(what_stands_around_many_groups_is_read),
		cmocka_unit_test(a_thread_is_no_process_and_its_process_is_named),
		cmocka_unit_test(threads_are_listed_in_order_and_named),
		cmocka_unit_test(what_is_gone_has_no_threads_and_no_name),
		cmocka_unit_test(start_times_tell_processes_apart),
		cmocka_unit_test(stat_fields_are_counted_behind_the_last_bracket),
		cmocka_unit_test(status_fields_are_whole_keys_at_line_starts),
		cmocka_unit_test(commands_are_quoted_where_needed),
		cmocka_unit_test(a_command_without_arguments_is_its_name_in_brackets),
		cmocka_unit_test(a_process_answers_to_its_script_module_program_and_title),
		cmocka_unit_test(a_path_is_the_script_if_it_leads_to_the_same_file),
		cmocka_unit_test(all_processes_are_listed_with_owner_and_start),
		cmocka_unit_test(programs_are_called_after_their_script_or_module),
		cmocka_unit_test(programs_without_a_script_are_called_after_the_executable),
		cmocka_unit_test(the_executable_is_known_by_path_and_by_inode),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
