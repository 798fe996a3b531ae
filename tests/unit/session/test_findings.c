/* SPDX-License-Identifier: Apache-2.0 */
/* What facts mean: each cause gives its cost and its remedy. The facts are made up. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"

#define SYS_PTRACE	(1ull << 19)
#define DAC_READ_SEARCH (1ull << 2)

/* An ordinary user on a machine that allows all that it can. */
static struct pl_host_facts open_host(void)
{
	return (struct pl_host_facts){.release = "6.1.0",
				      .machine = "x86_64",
				      .uid = 1000,
				      .user = "me (uid 1000)",
				      .yama_scope = -1,
				      .perf_paranoid = 1,
				      .btf = true,
				      .proc_mounted = true,
				      .proc_ours = true,
				      .initial_pid_ns = PL_YES,
				      .initial_user_ns = PL_YES,
				      .container = "",
				      .run_counters = true,
				      .timer_ns = 1,
				      .files_soft = 1024,
				      .files_hard = UINT64_MAX};
}

static struct pl_process_facts open_process(void)
{
	return (struct pl_process_facts){.pid = 12,
					 .comm = "python",
					 .user = "me (uid 1000)",
					 .same_pid_ns = PL_YES,
					 .same_mnt_ns = PL_YES,
					 .same_user_ns = PL_YES};
}

static const struct pl_finding *find(const struct plumb_doctor *d, const char *id, bool of_process)
{
	for (size_t i = 0; i < d->findings.len; i++)
		if (d->findings.data[i].of_process == of_process && strcmp(d->findings.data[i].id, id) == 0)
			return &d->findings.data[i];
	fail_msg("there is no finding %s", id);
	return NULL;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* The facts give this finding, with words of its remedy, and this end of the summary. */
static void expect_host(const struct pl_host_facts *f, const char *id, enum plumb_finding_status status,
			const char *remedy, bool works, const char *summary)
{
	struct plumb_doctor d = {0};
	pl_findings_host(&d, f);
	pl_findings_conclude(&d);
	const struct pl_finding *found = find(&d, id, false);
	assert_int_equal(found->status, status);
	if (*remedy)
		assert_has(found->remedy, remedy);
	else
		assert_string_equal(found->remedy, "");
	assert_int_equal(*found->cost != '\0', status != PLUMB_FINDING_OK);
	assert_int_equal(d.works, works);
	assert_has(d.summary, summary);
	pl_vec_deinit(&d.findings);
}

static void nothing_is_in_the_way(void **state)
{
	struct pl_host_facts f = open_host();
	expect_host(&f, "yama", PLUMB_FINDING_OK, "", true, "processes of the same user now; to sample processes of");
	expect_host(&f, "cap-sys-ptrace", PLUMB_FINDING_NOTE, "sudo plumb", true, "other users: sudo plumb");
	expect_host(&f, "descriptors", PLUMB_FINDING_OK, "", true, "");
	f.caps = UINT64_MAX;
	expect_host(&f, "cap-sys-ptrace", PLUMB_FINDING_OK, "", true, "every process that it sees now");
}

static void yama_decides_about_attaching(void **state)
{
	struct pl_host_facts f = open_host();
	f.yama_scope = 0;
	expect_host(&f, "yama", PLUMB_FINDING_OK, "", true, "same user");
	f.yama_scope = 1;
	expect_host(&f, "yama", PLUMB_FINDING_NO, "sudo sysctl kernel.yama.ptrace_scope=0", true,
		    "programs that it starts (plumb run) now; to attach to programs that run already: sudo sysctl");
	f.caps = SYS_PTRACE;
	expect_host(&f, "yama", PLUMB_FINDING_OK, "", true, "same user");
	expect_host(&f, "cap-sys-ptrace", PLUMB_FINDING_NOTE, "give plumb CAP_DAC_READ_SEARCH as well", true,
		    "CAP_DAC_READ_SEARCH");
	f.caps = SYS_PTRACE | DAC_READ_SEARCH;
	expect_host(&f, "yama", PLUMB_FINDING_OK, "", true, "every process");
	f = open_host();
	f.yama_scope = 2;
	f.readv_errno = f.mem_errno = f.seize_errno = EPERM;
	expect_host(&f, "read-memory", PLUMB_FINDING_NO, "sudo plumb", false, "plumb cannot sample here");
	f.yama_scope = 3;
	f.caps = UINT64_MAX;
	expect_host(&f, "read-memory", PLUMB_FINDING_NO, "reboot", false, "reboot");
	expect_host(&f, "yama", PLUMB_FINDING_NO, "reboot", false, "reboot");
}

static void root_of_a_container_is_not_told_to_use_sudo(void **state)
{
	struct pl_host_facts f = open_host();
	f.uid = 0;
	f.container = "docker";
	expect_host(&f, "cap-sys-ptrace", PLUMB_FINDING_NOTE, "docker run --cap-add SYS_PTRACE", true, "--cap-add");
	f.container = "kubernetes";
	expect_host(&f, "cap-sys-ptrace", PLUMB_FINDING_NOTE, "securityContext.capabilities.add: [SYS_PTRACE]", true,
		    "securityContext");
}

#define MODULES "what is left are the security modules of this kernel: bpf"

static void refusals_are_traced_to_their_cause(void **state)
{
	struct pl_host_facts f = open_host();
	strcpy(f.modules, MODULES);
	f.readv_errno = f.mem_errno = f.seize_errno = EPERM;
	expect_host(&f, "proc-mem", PLUMB_FINDING_NO, "journalctl -k (" MODULES ")", false, "journalctl");
	f.seccomp = 2; /* the filter or the module: nothing tells them apart */
	expect_host(&f, "read-memory", PLUMB_FINDING_NO, "(plumb runs under a seccomp filter, and " MODULES ")", false,
		    "");
	f.no_modules = true;
	expect_host(&f, "read-memory", PLUMB_FINDING_NO, "--cap-add SYS_PTRACE ... (the seccomp filter", false,
		    "SYS_PTRACE");
	f.not_dumpable = true;
	expect_host(&f, "read-memory", PLUMB_FINDING_NO, "plumb is not dumpable", false, "readable");
	f.caps = SYS_PTRACE;
	expect_host(&f, "read-memory", PLUMB_FINDING_NO, "the seccomp filter", false, "seccomp");
	f = open_host();
	strcpy(f.modules, MODULES);
	f.mem_errno = EACCES; /* a file, by its name: reading as such is allowed, and no filter sees names */
	f.seccomp = 2;
	expect_host(&f, "proc-mem", PLUMB_FINDING_NO, MODULES, false, "journalctl");
	f = open_host();
	f.pidfd_errno = ENOSYS;
	expect_host(&f, "pidfd", PLUMB_FINDING_NO, "under no seccomp filter", false, "journalctl");
	strcpy(f.release, "5.2.11");
	expect_host(&f, "pidfd", PLUMB_FINDING_NO, "Linux 5.3", false, "Linux 5.3");
	f.pidfd_errno = EPERM; /* no rule about access speaks there */
	f.yama_scope = 3;
	f.seccomp = 2;
	expect_host(&f, "pidfd", PLUMB_FINDING_NO, "seccomp filter", false, "seccomp");
}

static void what_works_clears_the_rules_that_it_needs_too(void **state)
{
	struct pl_host_facts f = open_host();
	strcpy(f.modules, MODULES);
	f.readv_errno = EPERM; /* there is another way to read */
	expect_host(&f, "read-memory", PLUMB_FINDING_NO, "under no seccomp filter", true, "to prove more stacks");
	f.readv_errno = ENOSYS;
	expect_host(&f, "read-memory", PLUMB_FINDING_NO, "CONFIG_CROSS_MEMORY_ATTACH", true, "to prove more stacks");
	f = open_host();
	strcpy(f.modules, MODULES);
	f.seize_errno = EPERM; /* less is shown, but it works */
	expect_host(&f, "stop-threads", PLUMB_FINDING_NO, "the kernel's own rules allow it", true,
		    "to prove every stack");
	f.seccomp = 2;
	f.yama_scope = 2; /* which lets the child be read all the same, so it is not that */
	expect_host(&f, "stop-threads", PLUMB_FINDING_NO, "the seccomp filter that plumb runs under refuses", true,
		    "to prove every stack");
}

static void the_machine_lacks_something(void **state)
{
	struct pl_host_facts f = open_host();
	f.run_counters = false;
	expect_host(&f, "run-counters", PLUMB_FINDING_NO, "CONFIG_SCHED_INFO", true, "to sample CPU time");
	f = open_host();
	f.timer_ns = 4000000;
	expect_host(&f, "timers", PLUMB_FINDING_NO, "CONFIG_HIGH_RES_TIMERS", true, "high rates");
	f = open_host();
	f.files_hard = 256;
	expect_host(&f, "descriptors", PLUMB_FINDING_NO, "prlimit --nofile", true, "many threads");
	f = open_host();
	f.hidepid = 2;
	expect_host(&f, "proc", PLUMB_FINDING_NOTE, "remount,hidepid=0", true, "");
	f.proc_ours = false;
	expect_host(&f, "proc", PLUMB_FINDING_NO, "mount -t proc", false, "that of another pid namespace");
	f.proc_mounted = false;
	expect_host(&f, "proc", PLUMB_FINDING_NO, "mount -t proc", false, "mount -t proc");
	f = open_host();
	f.initial_pid_ns = PL_NO;
	expect_host(&f, "pid-namespace", PLUMB_FINDING_NOTE, "on the host", true, "");
	f.machine[0] = '\0';
	expect_host(&f, "kernel", PLUMB_FINDING_NOTE, "", true, "");
}

/* Opening what plumb has no use for is bad advice. */
static void what_is_not_used_costs_nothing(void **state)
{
	struct pl_host_facts f = open_host();
	f.perf_paranoid = 4;
	f.kptr_restrict = f.bpf_disabled = 2;
	f.btf = false;
	expect_host(&f, "perf-events", PLUMB_FINDING_NOTE, "", true, "");
	expect_host(&f, "kernel-symbols", PLUMB_FINDING_NOTE, "", true, "");
	expect_host(&f, "bpf", PLUMB_FINDING_NOTE, "", true, "");
	expect_host(&f, "btf", PLUMB_FINDING_NOTE, "", true, "");
}

static void expect_process(struct pl_process_facts *f, struct pl_python_facts *python, const char *id,
			   enum plumb_finding_status status, const char *remedy, bool works, const char *summary)
{
	struct plumb_doctor d = {.pid = 12};
	pl_findings_process(&d, f);
	if (python)
		pl_findings_python(&d, python);
	pl_findings_conclude(&d);
	const struct pl_finding *found = find(&d, id, true);
	assert_int_equal(found->status, status);
	assert_has(found->remedy, remedy);
	assert_int_equal(d.works, works);
	assert_has(d.summary, summary);
	pl_vec_deinit(&d.findings);
}

static void a_refusal_names_its_cause_and_its_remedy(void **state)
{
	struct pl_process_facts f = open_process();
	f.refused = pl_error(PLUMB_ERR_NOT_PERMITTED, "no");
	strcpy(f.cause, "it belongs to user root");
	strcpy(f.remedy, "use sudo");
	expect_process(
		&f, NULL, "access", PLUMB_FINDING_NO, "use sudo", false,
		"plumb cannot sample pid 12: the kernel does not let plumb read it: it belongs to user root; use "
		"sudo");
	pl_process_facts_deinit(&f);
}

static void a_tracer_keeps_us_from_stopping_only(void **state)
{
	struct pl_process_facts f = open_process();
	struct pl_thread_facts t = {.tid = 12, .name = "MainThread", .read = true, .depth = 3};
	struct pl_python_facts p = {.found = true, .verified = true, .version = "3.12.1"};
	assert_true(pl_vec_push(&p.threads, t));
	f.tracer = 99;
	strcpy(f.tracer_name, "gdb");
	expect_process(&f, &p, "tracer", PLUMB_FINDING_NO, "end gdb (pid 99)", true,
		       "plumb can sample pid 12 now; to prove every stack: end gdb (pid 99)");
	pl_python_facts_deinit(&p);
}

static void why_there_is_no_python(void **state)
{
	struct pl_process_facts f = open_process();
	struct pl_python_facts p = {.error = pl_error(PLUMB_ERR_NOT_PYTHON, "pid 12 runs /bin/vim, not Python")};
	expect_process(&f, &p, "python", PLUMB_FINDING_NO, "check the pid", false, "runs /bin/vim, not Python");
	p.found = true; /* a file is there, but what is in memory does not fit */
	expect_process(&f, &p, "layout", PLUMB_FINDING_NO, "check the pid", false, "runs /bin/vim, not Python");
	pl_python_facts_deinit(&p);
}

static void a_sample_needs_one_stack(void **state)
{
	struct pl_process_facts f = open_process();
	struct pl_thread_facts t = {.tid = 12, .name = "a"};
	struct pl_python_facts p = {.found = true, .verified = true};
	expect_process(&f, &p, "threads", PLUMB_FINDING_NO, "", false, "0 threads with Python");
	assert_true(pl_vec_push(&p.threads, t));
	expect_process(&f, &p, "sample", PLUMB_FINDING_NO, "", false, "0 of 1 stacks");
	t.read = true;
	assert_true(pl_vec_push(&p.threads, t));
	expect_process(&f, &p, "sample", PLUMB_FINDING_NOTE, "", true, "can sample pid 12 now");
	pl_python_facts_deinit(&p);
}

static void many_threads_with_long_names_fit(void **state)
{
	struct plumb_doctor d = {.pid = 12};
	struct pl_thread_facts t = {.tid = 2147483647, .read = true};
	struct pl_python_facts p = {.found = true, .verified = true};
	memset(t.name, 'x', sizeof t.name - 1);
	for (int i = 0; i < 1000; i++)
		assert_true(pl_vec_push(&p.threads, t));
	pl_findings_python(&d, &p);
	const struct pl_finding *threads = find(&d, "threads", true);
	assert_has(threads->fact, "1000 threads with Python");
	assert_has(threads->fact, "and 992 more");
	pl_vec_deinit(&d.findings);
	pl_python_facts_deinit(&p);
}

static void no_such_process(void **state)
{
	struct plumb_doctor d = {.pid = 12};
	struct plumb_error *err = pl_error(PLUMB_ERR_NO_PROCESS, "there is no process 12");
	pl_findings_no_process(&d, err);
	pl_findings_conclude(&d);
	assert_false(d.works);
	assert_has(d.summary, "plumb cannot sample pid 12: there is no process 12");
	plumb_error_destroy(err);
	pl_vec_deinit(&d.findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_in_the_way),
		cmocka_unit_test(yama_decides_about_attaching),
		cmocka_unit_test(root_of_a_container_is_not_told_to_use_sudo),
		cmocka_unit_test(refusals_are_traced_to_their_cause),
		cmocka_unit_test(what_works_clears_the_rules_that_it_needs_too),
		cmocka_unit_test(the_machine_lacks_something),
		cmocka_unit_test(what_is_not_used_costs_nothing),
		cmocka_unit_test(a_refusal_names_its_cause_and_its_remedy),
		cmocka_unit_test(a_tracer_keeps_us_from_stopping_only),
		cmocka_unit_test(why_there_is_no_python),
		cmocka_unit_test(a_sample_needs_one_stack),
		cmocka_unit_test(many_threads_with_long_names_fit),
		cmocka_unit_test(no_such_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
