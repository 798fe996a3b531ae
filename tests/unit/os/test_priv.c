/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "priv.h"
#include "refusal.h"

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
	assert_hint(&f, "set-user-ID program (real 1000, effective 54321, saved 54321)");
	f = equal_facts();
	f.gids[1] = f.gids[2] = 7;
	assert_hint(&f, "another group (gid 7, plumb's is 100)");
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
	assert_hint(&f, "capabilities that plumb lacks (400)");
	f.our_caps = 1 << 10;
	assert_hint(&f, "security module");
	f = equal_facts();
	f.our_caps = ALL_CAPS; /* ids and dumpability do not hinder who may do all */
	f.uids[0] = f.not_dumpable = true;
	assert_hint(&f, "security module");
}

/* Whoever may trace all may not open the files of all. */
static void memory_is_a_file_of_its_user(void **state)
{
	struct pl_priv_facts f = equal_facts();

	f.our_caps = 1 << 19;
	assert_hint(&f, "security module");
	f.uids[1] = 1001;
	assert_hint(&f, "CAP_SYS_PTRACE is not enough: its memory is a file of uid 1001 in /proc; give plumb "
			"CAP_DAC_READ_SEARCH as well");
	f.uids[1] = 1000;
	f.not_dumpable = true;
	assert_hint(&f, "its memory is a file of root (uid 0) in /proc");
	for (int bit = 1; bit <= 2; bit++) {
		f.our_caps = 1 << 19 | 1 << bit;
		assert_hint(&f, "security module");
	}
}

static void assert_hint_lacks(const struct pl_priv_facts *f, const char *part)
{
	char hint[512] = "";

	pl_priv_hint(f, hint, sizeof hint);
	if (strstr(hint, part))
		fail_msg("\"%s\" says \"%s\"", hint, part);
}

/* To read a process that is traced is allowed as ever: only stopping it is not. */
static void expect_refusal(const struct pl_refusal_facts *f, enum pl_refusal_cause cause, const char *part)
{
	struct pl_refusal r;
	pl_refusal_judge(f, &r);
	assert_int_equal(r.cause, cause);
	if (!strstr(r.words, part))
		fail_msg("\"%s\" does not say \"%s\"", r.words, part);
}

static void a_refused_stop_has_a_cause_that_was_checked(void **state)
{
	struct pl_refusal_facts f = {.priv = equal_facts(), .readable = true};
	expect_refusal(&f, PL_REFUSAL_OTHER, "no seccomp filter");
	f.filtered = true; /* reading needs the same right: the rules allow it */
	expect_refusal(&f, PL_REFUSAL_FILTER, "seccomp filter around plumb");
	f.readable = false;
	expect_refusal(&f, PL_REFUSAL_OTHER, "ids, dumpability and Yama allow it");
	expect_refusal(&f, PL_REFUSAL_OTHER, "a seccomp filter is around plumb, too");
	f.priv.not_dumpable = true;
	expect_refusal(&f, PL_REFUSAL_RIGHTS, "it is not dumpable");
	f.priv.tracer = 99;
	expect_refusal(&f, PL_REFUSAL_TRACER, "a debugger (pid 99) traces it");
	strcpy(f.priv.tracer_name, "gdb");
	expect_refusal(&f, PL_REFUSAL_TRACER, "gdb (pid 99) traces it");
}

static void a_tracer_does_not_keep_us_from_reading(void **state)
{
	struct pl_priv_facts f = equal_facts();

	f.tracer = 99;
	strcpy(f.tracer_name, "gdb");
	assert_hint_lacks(&f, "gdb");
	assert_hint(&f, "security module");
}

static void user_namespaces(void **state)
{
	struct pl_priv_facts f = equal_facts();

	f.other_user_ns = true;
	f.our_caps = ALL_CAPS;
	assert_hint(&f, "another user namespace");
	f.yama_scope = 3; /* nobody may, wherever it lives */
	assert_hint(&f, "ptrace_scope is 3");
	assert_hint_lacks(&f, "namespace");
}

static void security_modules_are_named_if_they_are_there(void **state)
{
	struct pl_priv_facts f = equal_facts();

	assert_hint(&f, "cannot be read (/sys/kernel/security/lsm)");
	assert_hint_lacks(&f, "AppArmor");
	f.lsm.listed = true;
	assert_hint(&f, "there is no security module in /sys/kernel/security/lsm that could refuse it");
	pl_lsm_parse_list("lockdown,capability,landlock,yama,apparmor\n", f.lsm.modules, sizeof f.lsm.modules);
	assert_hint(&f, "security modules of this kernel: landlock, apparmor;");
	pl_lsm_parse_label("docker-default (enforce)\n", f.lsm.label, sizeof f.lsm.label);
	assert_hint(&f, "under the label \"docker-default (enforce)\"");
}

static void lists_and_labels_of_any_kind(void **state)
{
	char text[160], small[12];

	pl_lsm_parse_list("", text, sizeof text);
	assert_string_equal(text, "");
	pl_lsm_parse_list(",,selinuxes,selinux,\nbpf", text, sizeof text);
	assert_string_equal(text, "selinux, bpf");
	pl_lsm_parse_list("selinux,apparmor,bpf", small, sizeof small);
	assert_string_equal(small, "selinux");
	pl_lsm_parse_label("unconfined\n", text, sizeof text);
	assert_string_equal(text, "");
	pl_lsm_parse_label("", text, sizeof text);
	assert_string_equal(text, "");
	pl_lsm_parse_label("u:r:container_t:s0", text, sizeof text);
	assert_string_equal(text, "u:r:container_t:s0");
	pl_lsm_parse_label("0123456789abcdef", small, sizeof small);
	assert_string_equal(small, "0123456789a");
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

static void assert_call_hint(const char *since, int errnum, const char *part)
{
	struct plumb_error *err = pl_priv_explain_call("pidfd_open", since, errnum);

	assert_int_equal(plumb_error_code(err), PLUMB_ERR_NOT_PERMITTED);
	assert_non_null(strstr(plumb_error_message(err), "does not let plumb call pidfd_open"));
	if (!strstr(plumb_error_hint(err), part))
		fail_msg("\"%s\" does not say \"%s\"", plumb_error_hint(err), part);
	plumb_error_destroy(err);
}

static void a_refused_call_names_what_was_checked(void **state)
{
	char status[65536] = "";
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, status, sizeof status - 1);

	close(fd);
	assert_true(n > 0);
	assert_call_hint("999.1", ENOSYS, "Linux 999.1 or newer; this is ");
	if (strstr(status, "\nSeccomp:\t2")) {
		assert_call_hint("5.3", ENOSYS, "plumb runs under a seccomp filter");
		assert_call_hint("5.3", EPERM, "plumb runs under a seccomp filter");
	} else {
		assert_call_hint("5.3", ENOSYS, "plumb runs under no seccomp filter");
		assert_call_hint("5.3", EPERM, "security module");
	}
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
	assert_non_null(strstr(got, "not-permitted|the kernel does not let plumb read pid"));
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

static void do_nothing(void)
{
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return written;
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

static void a_process_that_is_traced_is_not_called_refused_for_that(void **state)
{
	char got[1024];
	run_unprivileged(explain_traced, NULL, got, sizeof got);
	assert_non_null(strstr(got, "the kernel does not let plumb read pid"));
	assert_null(strstr(got, "traces it"));
}

/* Of our user, outside of the namespace in which we are root: all that the kernel looks at seems to allow it. */
static void explain_from_a_namespace(int out, const void *arg)
{
	char map[32];
	pid_t pid;
	uid_t uid = getuid();

	start_child(do_nothing, &pid);
	snprintf(map, sizeof map, "0 %u 1", (unsigned)uid);
	if (unshare(CLONE_NEWUSER) != 0)
		dprintf(out, "cannot");
	else if (write_file("/proc/self/uid_map", map))
		write_hint(out, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_process_outside_of_our_user_namespace_is_found_out(void **state)
{
	char got[1024];

	run_unprivileged(explain_from_a_namespace, NULL, got, sizeof got);
	if (strcmp(got, "cannot") == 0) {
		print_message("user namespaces are not allowed here\n");
		skip();
	}
	if (!strstr(got, "another user namespace"))
		fail_msg("\"%s\"", got);
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
		cmocka_unit_test(memory_is_a_file_of_its_user),
		cmocka_unit_test(a_tracer_does_not_keep_us_from_reading),
		cmocka_unit_test(a_refused_stop_has_a_cause_that_was_checked),
		cmocka_unit_test(user_namespaces),
		cmocka_unit_test(security_modules_are_named_if_they_are_there),
		cmocka_unit_test(lists_and_labels_of_any_kind),
		cmocka_unit_test(a_refused_call_names_what_was_checked),
		cmocka_unit_test(a_process_of_root_is_named_as_such),
		cmocka_unit_test(a_process_that_forbids_it_is_found_out),
		cmocka_unit_test(a_process_that_is_traced_is_not_called_refused_for_that),
		cmocka_unit_test(a_process_outside_of_our_user_namespace_is_found_out),
		cmocka_unit_test(a_process_that_is_gone_is_said_to_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
