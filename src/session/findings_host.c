/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: what the facts about this machine and ourselves mean for the user. Pure. The order of the findings
 * counts: the summary names the remedy of the first one that does not work. */
#include "findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CAP_DAC_OVERRIDE_BIT	1
#define CAP_DAC_READ_SEARCH_BIT 2
#define CAP_SYS_PTRACE_BIT	19
#define CAP_SYS_ADMIN_BIT	21
#define CAP_PERFMON_BIT		38
#define CAP_BPF_BIT		39
#define COARSE_TIMER_NS		1000000ull
#define FEW_FILES		1024

static bool has(const struct pl_host_facts *f, int bit)
{
	return f->caps >> bit & 1;
}

/* Root without the capability is root of a container: sudo would not help. */
static const char *get_ptrace(const struct pl_host_facts *f)
{
	if (f->uid)
		return "sudo plumb ...";
	return strcmp(f->container, "kubernetes") == 0 ? "securityContext.capabilities.add: [SYS_PTRACE]"
						       : "docker run --cap-add SYS_PTRACE ...";
}

static void tell_kernel(struct plumb_doctor *d, const struct pl_host_facts *f)
{
	bool tested = strcmp(f->machine, "x86_64") == 0;
	struct pl_finding *k = pl_finding_add(d, "kernel", false, tested ? PLUMB_FINDING_OK : PLUMB_FINDING_NOTE,
					      "Linux %s, %s", f->release, f->machine);

	if (!tested)
		pl_finding_costs(k, "plumb is tested on x86_64 only", "", "");
	pl_finding_add(d, "user", false, PLUMB_FINDING_OK, "%s", f->user);
}

static const char end_of_yama[] = "set kernel.yama.ptrace_scope below 3 in /etc/sysctl.d and reboot";

static bool is_older(const char *release, unsigned major, unsigned minor)
{
	unsigned is[2];

	return sscanf(release, "%u.%u", &is[0], &is[1]) == 2 && (is[0] < major || (is[0] == major && is[1] < minor));
}

/* One of the things that were tried on a child. */
struct trial {
	const char *id, *what, *cost, *unlocks;
	int errnum;
	bool access;  /* the kernel asks the rules about who may read whom */
	bool by_name; /* ... and those about files, which no seccomp filter looks at */
};

/* Reading memory, opening it and seizing a thread need the same right: one that works clears the rules for all. */
static bool rules_allow(const struct pl_host_facts *f, const struct trial *t)
{
	return !t->access || (!t->by_name && (!f->readv_errno || !f->mem_errno || !f->seize_errno));
}

/* The kernel's own rules would refuse it, whatever filters and modules there are. */
static const char *refused_by_rules(const struct pl_host_facts *f, const struct trial *t)
{
	if (!t->access && t->errnum == ENOSYS && is_older(f->release, 5, 3))
		return "Linux 5.3 or newer";
	if (t->access && t->errnum == ENOSYS && !f->seccomp)
		return "a kernel with CONFIG_CROSS_MEMORY_ATTACH=y";
	if (rules_allow(f, t) || (has(f, CAP_SYS_PTRACE_BIT) && f->yama_scope < 3))
		return NULL;
	if (f->yama_scope >= 3)
		return end_of_yama;
	if (f->yama_scope == 2)
		return get_ptrace(f);
	return f->not_dumpable ? "make the program file of plumb readable for its user (plumb is not dumpable)" : NULL;
}

/* What a refusal of something that every kernel allows on a child comes from. */
static void explain_refusal(struct pl_finding *to, const struct pl_host_facts *f, const struct trial *t)
{
	const char *rule = refused_by_rules(f, t);
	bool cleared = rules_allow(f, t) || f->no_modules;
	char remedy[320];

	if (rule)
		snprintf(remedy, sizeof remedy, "%s", rule);
	else if (f->seccomp && cleared && !t->by_name)
		snprintf(remedy, sizeof remedy,
			 "docker run --cap-add SYS_PTRACE ... (the seccomp filter that plumb runs under refuses; the "
			 "kernel's own "
			 "rules allow it)");
	else if (cleared)
		snprintf(remedy, sizeof remedy,
			 "journalctl -k (the kernel's own rules allow it, and plumb runs under no seccomp filter)");
	else
		snprintf(remedy, sizeof remedy, "journalctl -k (%s%s)",
			 f->seccomp ? "plumb runs under a seccomp filter, and " : "", f->modules);
	pl_finding_costs(to, t->cost, remedy, t->unlocks);
}

static void tell_trial(struct plumb_doctor *d, const struct pl_host_facts *f, const struct trial *t)
{
	if (!t->errnum)
		pl_finding_add(d, t->id, false, PLUMB_FINDING_OK, "%s works, tried on a child", t->what);
	else
		explain_refusal(pl_finding_add(d, t->id, false, PLUMB_FINDING_NO, "%s on a child: %s", t->what,
					       strerror(t->errnum)),
				f, t);
}

static void tell_trials(struct plumb_doctor *d, const struct pl_host_facts *f)
{
	static const char nothing[] = "plumb cannot sample", sample[] = "sample programs";
	const struct trial trials[] = {
		{.id = "read-memory",
		 .what = "process_vm_readv",
		 .cost = f->mem_errno ? nothing : "a stack is read in pieces, and more of them are shown in part only",
		 .unlocks = f->mem_errno ? sample : "prove more stacks",
		 .errnum = f->readv_errno,
		 .access = true},
		{.id = "proc-mem",
		 .what = "reading /proc/PID/mem",
		 .cost = nothing,
		 .unlocks = sample,
		 .errnum = f->mem_errno,
		 .access = true,
		 .by_name = true},
		{.id = "pidfd", .what = "pidfd_open", .cost = nothing, .unlocks = sample, .errnum = f->pidfd_errno},
		{.id = "stop-threads",
		 .what = "PTRACE_SEIZE",
		 .cost = "a stack that changes too fast to be proved is shown in part only",
		 .unlocks = "prove every stack",
		 .errnum = f->seize_errno,
		 .access = true},
	};

	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
		tell_trial(d, f, &trials[i]);
}

static void tell_yama(struct plumb_doctor *d, const struct pl_host_facts *f)
{
	bool closed = f->yama_scope >= 3 || (f->yama_scope > 0 && !has(f, CAP_SYS_PTRACE_BIT));
	struct pl_finding *y;

	if (f->yama_scope < 0) {
		pl_finding_add(d, "yama", false, PLUMB_FINDING_OK, "there is no kernel.yama.ptrace_scope");
		return;
	}
	y = pl_finding_add(d, "yama", false, closed ? PLUMB_FINDING_NO : PLUMB_FINDING_OK,
			   "kernel.yama.ptrace_scope is %d", f->yama_scope);
	if (!closed)
		return;
	if (f->yama_scope == 1)
		pl_finding_costs(y, "'plumb run' works; 'plumb attach' does not, on anything that runs already",
				 "sudo sysctl kernel.yama.ptrace_scope=0", "attach to programs that run already");
	else
		pl_finding_costs(y, "no process may be read", f->yama_scope == 2 ? get_ptrace(f) : end_of_yama,
				 "sample programs");
}

/* What this version has no use for is told without advice to open it. */
static void tell_unused(struct plumb_doctor *d, const char *id, bool there, const char *cost, const char *fact)
{
	struct pl_finding *u = pl_finding_add(d, id, false, there ? PLUMB_FINDING_OK : PLUMB_FINDING_NOTE, "%s", fact);

	if (!there)
		pl_finding_costs(u, cost, "", "");
}

/* Memory is a file in /proc, too, which belongs to the user of the process. */
static bool reads_all_files(const struct pl_host_facts *f)
{
	return has(f, CAP_DAC_OVERRIDE_BIT) || has(f, CAP_DAC_READ_SEARCH_BIT);
}

static void tell_capabilities(struct plumb_doctor *d, const struct pl_host_facts *f)
{
	static const char no_perf[] = "nothing: this version uses no perf events",
			  no_bpf[] = "nothing: this version uses no BPF";
	bool ptrace = has(f, CAP_SYS_PTRACE_BIT), admin = has(f, CAP_SYS_ADMIN_BIT), files = reads_all_files(f);
	struct pl_finding *p = pl_finding_add(
		d, "cap-sys-ptrace", false, ptrace && files ? PLUMB_FINDING_OK : PLUMB_FINDING_NOTE, "%s",
		!ptrace	 ? "plumb does not have it"
		: !files ? "plumb has it, but neither CAP_DAC_READ_SEARCH nor CAP_DAC_OVERRIDE"
			 : "plumb has it");

	if (!ptrace)
		pl_finding_costs(p, "processes of other users, and such as are not dumpable, cannot be read",
				 get_ptrace(f), "sample processes of other users");
	else if (!files)
		pl_finding_costs(p, "processes of other users, and such as are not dumpable, cannot be read",
				 "give plumb CAP_DAC_READ_SEARCH as well", "sample processes of other users");
	p = pl_finding_add(d, "cap-sys-admin", false, admin ? PLUMB_FINDING_OK : PLUMB_FINDING_NOTE,
			   admin ? "plumb has it" : "plumb does not have it");
	if (!admin)
		pl_finding_costs(p,
				 "program files are opened by name; deleted ones are read from memory, which is slower",
				 "", "");
	tell_unused(d, "cap-perfmon", has(f, CAP_PERFMON_BIT), no_perf,
		    has(f, CAP_PERFMON_BIT) ? "plumb has it" : "plumb does not have it");
	tell_unused(d, "cap-bpf", has(f, CAP_BPF_BIT), no_bpf,
		    has(f, CAP_BPF_BIT) ? "plumb has it" : "plumb does not have it");
}

static void tell_setting(struct plumb_doctor *d, const char *id, const char *name, int value, int highest,
			 const char *cost)
{
	char fact[128];

	if (value < 0)
		snprintf(fact, sizeof fact, "there is no %s", name);
	else
		snprintf(fact, sizeof fact, "%s is %d", name, value);
	tell_unused(d, id, value <= highest, cost, fact);
}

static void tell_settings(struct plumb_doctor *d, const struct pl_host_facts *f)
{
	bool perf = has(f, CAP_PERFMON_BIT) || has(f, CAP_SYS_ADMIN_BIT), any = has(f, CAP_SYS_ADMIN_BIT);
	bool bpf = has(f, CAP_BPF_BIT) && has(f, CAP_PERFMON_BIT);

	tell_setting(d, "perf-events", "kernel.perf_event_paranoid", f->perf_paranoid, perf ? 4 : 1,
		     "nothing: this version uses no perf events");
	tell_setting(d, "kernel-symbols", "kernel.kptr_restrict", f->kptr_restrict, any ? 1 : 0,
		     "nothing: this version shows no kernel frames");
	tell_setting(d, "bpf", "kernel.unprivileged_bpf_disabled", f->bpf_disabled, bpf || any ? 2 : 0,
		     "nothing: this version uses no BPF");
	tell_unused(d, "btf", f->btf, "nothing: this version uses no BPF",
		    f->btf ? "/sys/kernel/btf/vmlinux" : "there is no /sys/kernel/btf/vmlinux");
}

static void tell_proc(struct plumb_doctor *d, const struct pl_host_facts *f)
{
	/* Members of the group that gid= names and holders of CAP_SYS_PTRACE see all in spite of it. */
	bool hides = f->hidepid > 0 && !has(f, CAP_SYS_PTRACE_BIT);
	struct pl_finding *p;

	if (!f->proc_ours) {
		p = pl_finding_add(d, "proc", false, PLUMB_FINDING_NO,
				   f->proc_mounted ? "the /proc that is mounted here is that of another pid namespace"
						   : "/proc is not mounted");
		pl_finding_costs(p, "plumb finds no process", "mount -t proc proc /proc", "sample programs");
		return;
	}
	p = pl_finding_add(d, "proc", false, hides ? PLUMB_FINDING_NOTE : PLUMB_FINDING_OK,
			   "/proc is mounted with hidepid=%d%s", f->hidepid, f->proc_only_pids ? ", subset=pid" : "");
	if (hides)
		pl_finding_costs(p, "processes that plumb may not read are not shown",
				 "mount -o remount,hidepid=0 /proc", "");
}

static void tell_namespace(struct plumb_doctor *d, const char *id, enum pl_known initial, const char *cost,
			   const char *remedy)
{
	struct pl_finding *n =
		pl_finding_add(d, id, false, initial == PL_YES ? PLUMB_FINDING_OK : PLUMB_FINDING_NOTE, "%s",
			       initial == PL_YES  ? "the machine's own"
			       : initial == PL_NO ? "one of its own, not the machine's"
						  : "not known");

	if (initial == PL_NO)
		pl_finding_costs(n, cost, remedy, "");
}

static void tell_surroundings(struct plumb_doctor *d, const struct pl_host_facts *f)
{
	static const char *const modes[] = {"none", "strict", "a filter checks plumb's system calls"};

	tell_proc(d, f);
	struct pl_finding *s =
		pl_finding_add(d, "seccomp", false, f->seccomp ? PLUMB_FINDING_NOTE : PLUMB_FINDING_OK, "%s",
			       f->seccomp >= 0 && f->seccomp <= 2 ? modes[f->seccomp] : "not known");
	if (f->seccomp)
		pl_finding_costs(s, "nothing that the trials above do not show", "", "");
	pl_finding_add(d, "container", false, PLUMB_FINDING_OK, "%s%s", *f->container ? "marks of " : "no marks of one",
		       f->container);
	tell_namespace(d, "pid-namespace", f->initial_pid_ns, "only processes of this container are seen",
		       "run plumb on the host");
	tell_namespace(d, "user-namespace", f->initial_user_ns, "rights count inside it only", "run plumb on the host");
}

/* What RLIMIT_NOFILE is, in words. */
static const char *files(uint64_t limit, char buf[static 24])
{
	if (limit == UINT64_MAX)
		return "unlimited";
	snprintf(buf, 24, "%" PRIu64, limit);
	return buf;
}

static void tell_resources(struct plumb_doctor *d, const struct pl_host_facts *f)
{
	char soft[24], hard[24];
	bool fine = f->timer_ns < COARSE_TIMER_NS, enough = f->files_hard >= FEW_FILES;
	struct pl_finding *r;

	r = pl_finding_add(d, "run-counters", false, f->run_counters ? PLUMB_FINDING_OK : PLUMB_FINDING_NO, "%s",
			   f->run_counters ? "/proc/PID/schedstat counts" : "/proc/PID/schedstat does not count");
	if (!f->run_counters)
		pl_finding_costs(r, "no '--mode cpu', and a blocked thread is read again at each tick",
				 "a kernel with CONFIG_SCHED_INFO=y", "sample CPU time");
	r = pl_finding_add(d, "timers", false, fine ? PLUMB_FINDING_OK : PLUMB_FINDING_NO, "resolution %" PRIu64 " ns",
			   f->timer_ns);
	if (!fine)
		pl_finding_costs(r, "1000 samples per second are not reached",
				 "a kernel with CONFIG_HIGH_RES_TIMERS=y, started without highres=off",
				 "sample at high rates");
	r = pl_finding_add(d, "descriptors", false, enough ? PLUMB_FINDING_OK : PLUMB_FINDING_NO,
			   "RLIMIT_NOFILE is %s, may be raised to %s; plumb needs two a thread",
			   files(f->files_soft, soft), files(f->files_hard, hard));
	if (!enough)
		pl_finding_costs(r, "some threads of large programs are read without their run counters",
				 "sudo prlimit --nofile=65536 --pid $$", "sample programs with many threads");
}

void pl_findings_host(struct plumb_doctor *d, const struct pl_host_facts *f)
{
	bool ptrace = has(f, CAP_SYS_PTRACE_BIT);

	tell_kernel(d, f);
	tell_trials(d, f);
	tell_yama(d, f);
	tell_capabilities(d, f);
	tell_surroundings(d, f);
	tell_resources(d, f);
	tell_settings(d, f);
	d->works = !f->mem_errno && !f->pidfd_errno && f->proc_ours;
	d->reach = ptrace && reads_all_files(f)	  ? "every process that it sees"
		   : f->yama_scope > 0 && !ptrace ? "programs that it starts (plumb run)"
						  : "processes of the same user";
}
