/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "priv.h"

#define ALL_CAPS 0x1ffffffffffull

/* Same user, nothing in the way. */
static struct pl_priv_facts equal_facts(void)
{
	return (struct pl_priv_facts){
		.pid = 12, .our_uid = 1000, .uids = {1000, 1000, 1000}, .our_gid = 100, .gids = {100, 100, 100}};
}

static void assert_hint(const struct pl_priv_facts *f, const char *part)
{
	char hint[512] = "";
	pl_priv_hint(f, hint, sizeof hint);
	if (!strstr(hint, part))
		fail_msg("\"%s\" does not say \"%s\"", hint, part);
}

static void users_and_groups(void **state)
{
	struct pl_priv_facts f = equal_facts();
	f.uids[0] = f.uids[1] = f.uids[2] = 0;
	assert_hint(&f, "belongs to user root (uid 0)");
	f.uids[0] = f.uids[1] = f.uids[2] = 54321;
	assert_hint(&f, "belongs to user uid 54321");
	f.uids[0] = 1000;
	assert_hint(&f, "set-user-ID program");
	f = equal_facts();
	f.gids[1] = f.gids[2] = 7;
	assert_hint(&f, "another group (gid 7, ours is 100)");
}

static void dumpability_comes_after_the_ids(void **state)
{
	struct pl_priv_facts f = equal_facts();
	f.not_dumpable = true;
	assert_hint(&f, "not dumpable");
	f.our_uid = 1001;
	assert_hint(&f, "belongs to user");
}

static void yama(void **state)
{
	struct pl_priv_facts f = equal_facts();
	f.yama_scope = 1;
	assert_hint(&f, "ptrace_scope is 1");
	f.descendant = true;
	assert_hint(&f, "security module"); /* a child of ours is allowed: it is not Yama */
	f.yama_scope = 2;
	assert_hint(&f, "ptrace_scope is 2");
	f.our_caps = ALL_CAPS;
	assert_hint(&f, "security module");
	f.yama_scope = 3;
	assert_hint(&f, "ptrace_scope is 3");
}

static void capabilities(void **state)
{
	struct pl_priv_facts f = equal_facts();
	f.target_caps = 1 << 10;
	assert_hint(&f, "capabilities that we lack (400)");
	f.our_caps = 1 << 10;
	assert_hint(&f, "security module");
	f = equal_facts();
	f.our_caps = ALL_CAPS; /* ids and dumpability do not hinder who may do all */
	f.uids[0] = f.not_dumpable = true;
	assert_hint(&f, "security module");
}

static void other_causes(void **state)
{
	struct pl_priv_facts f = equal_facts();
	f.tracer = 99;
	strcpy(f.tracer_name, "gdb");
	assert_hint(&f, "gdb (pid 99) already traces it");
	f = equal_facts();
	f.seccomp = true;
	assert_hint(&f, "seccomp");
	f = equal_facts();
	f.other_user_ns = true;
	f.our_caps = ALL_CAPS;
	assert_hint(&f, "another user namespace");
}

static void write_hint(int out, pid_t pid)
{
	struct plumb_error *err = pl_priv_explain(pid);
	dprintf(out, "%s|%s|%s", plumb_error_name(plumb_error_code(err)), plumb_error_message(err),
		plumb_error_hint(err));
	plumb_error_destroy(err);
}

static void explain_arg(int out, const void *arg)
{
	write_hint(out, *(const pid_t *)arg);
}

static void a_refused_call_names_what_was_checked(void **state)
{
	struct plumb_error *err = pl_priv_explain_call("pidfd_open", "5.3", ENOSYS);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_NOT_PERMITTED);
	assert_non_null(strstr(plumb_error_message(err), "does not let us call pidfd_open"));
	assert_non_null(strstr(plumb_error_hint(err), "Linux 5.3")); /* the tests run without a filter */
	plumb_error_destroy(err);
	err = pl_priv_explain_call("pidfd_open", "5.3", EPERM);
	assert_non_null(strstr(plumb_error_hint(err), "security module"));
	plumb_error_destroy(err);
}

static void a_process_of_root_is_named_as_such(void **state)
{
	char path[512], got[1024];
	if (geteuid() != 0) {
		print_message("needs root, to have a process of another user\n");
		skip();
	}
	struct fake f = fake_start(fake_path("fake_plain", path, sizeof path), NULL);
	run_unprivileged(explain_arg, &f.pid, got, sizeof got);
	assert_non_null(strstr(got, "not-permitted|the kernel does not let us read pid"));
	assert_non_null(strstr(got, "(fake_plain)|it belongs to user root (uid 0)"));
	fake_end(&f);
}

/* A child of the same user that does @p prepare and waits; *ret is its pid. */
static void start_child(void (*prepare)(void), pid_t *ret)
{
	int fds[2];
	char byte;
	if (pipe(fds) != 0)
		_exit(1);
	*ret = fork();
	if (*ret == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prepare();
		close(fds[1]);
		for (;;)
			pause();
	}
	close(fds[1]);
	if (read(fds[0], &byte, 1) != 0)
		_exit(1);
	close(fds[0]);
}

static void forbid_dumps(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

static void explain_not_dumpable(int out, const void *arg)
{
	pid_t pid;
	start_child(forbid_dumps, &pid);
	write_hint(out, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_process_that_forbids_it_is_found_out(void **state)
{
	char got[1024];
	run_unprivileged(explain_not_dumpable, NULL, got, sizeof got);
	assert_non_null(strstr(got, "it is not dumpable"));
}

static void be_traced(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
}

static void explain_traced(int out, const void *arg)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_traced();
		_exit(0);
	}
	waitpid(pid, &status, WUNTRACED);
	write_hint(out, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_tracer_is_named(void **state)
{
	char got[1024];
	run_unprivileged(explain_traced, NULL, got, sizeof got);
	assert_non_null(strstr(got, "test_os_priv (pid "));
	assert_non_null(strstr(got, "already traces it"));
}

static void a_process_that_is_gone_is_said_to_be(void **state)
{
	assert_code(pl_priv_explain(0x3ffffff0), PLUMB_ERR_NO_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_and_groups),
		cmocka_unit_test(dumpability_comes_after_the_ids),
		cmocka_unit_test(yama),
		cmocka_unit_test(capabilities),
		cmocka_unit_test(other_causes),
		cmocka_unit_test(a_refused_call_names_what_was_checked),
		cmocka_unit_test(a_process_of_root_is_named_as_such),
		cmocka_unit_test(a_process_that_forbids_it_is_found_out),
		cmocka_unit_test(a_tracer_is_named),
		cmocka_unit_test(a_process_that_is_gone_is_said_to_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
