/* SPDX-License-Identifier: Apache-2.0 */
/* Layer examine: facts about the machine and about a process, put together from src/os. Any thread. Decides nothing and
 * words nothing; the Python in a process is remote/examine.c. */
#include "examine.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "mem_live.h"
#include "priv.h"
#include "proc.h"

static enum pl_known known(enum pl_namespace ns)
{
	return ns == PL_NAMESPACE_UNKNOWN ? PL_UNKNOWN : ns == PL_NAMESPACE_SAME ? PL_YES : PL_NO;
}

static void examine_kernel(struct pl_host_facts *f)
{
	struct utsname name;

	if (uname(&name) == 0) {
		snprintf(f->release, sizeof f->release, "%s", name.release);
		snprintf(f->machine, sizeof f->machine, "%s", name.machine);
	}
	f->yama_scope = pl_host_sysctl("kernel/yama/ptrace_scope", -1);
	f->perf_paranoid = pl_host_sysctl("kernel/perf_event_paranoid", -1);
	f->kptr_restrict = pl_host_sysctl("kernel/kptr_restrict", -1);
	f->bpf_disabled = pl_host_sysctl("kernel/unprivileged_bpf_disabled", -1);
	f->btf = pl_host_has_btf();
	f->run_counters = pl_host_has_run_counters();
}

static void examine_ourselves(struct pl_host_facts *f)
{
	struct rlimit files;
	struct timespec resolution;

	f->uid = geteuid();
	pl_priv_user(f->uid, f->user, sizeof f->user);
	f->caps = pl_host_own_status("CapEff", 16, 0);
	f->not_dumpable = prctl(PR_GET_DUMPABLE) != 1;
	f->seccomp = (int)pl_host_own_status("Seccomp", 10, 0);
	if (clock_getres(CLOCK_MONOTONIC, &resolution) == 0)
		f->timer_ns = (uint64_t)resolution.tv_sec * 1000000000ull + (uint64_t)resolution.tv_nsec;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		f->files_soft = files.rlim_cur;
		f->files_hard = files.rlim_max;
	}
}

static void examine_modules(struct pl_host_facts *f)
{
	struct pl_lsm lsm;

	pl_lsm_read(&lsm);
	pl_lsm_tell(&lsm, f->modules, sizeof f->modules);
	f->no_modules = lsm.listed && !*lsm.modules && !*lsm.label;
}

static void examine_surroundings(struct pl_host_facts *f)
{
	struct pl_proc_mount mount = {0};

	f->proc_mounted = pl_host_proc_mount(&mount);
	f->proc_ours = pl_proc_is_ours();
	f->proc_only_pids = mount.only_pids;
	f->hidepid = mount.hidepid;
	f->initial_pid_ns = known(pl_host_initial_namespace("pid"));
	f->initial_user_ns = known(pl_host_initial_namespace("user"));
	f->container = pl_host_container();
}

struct plumb_error *pl_examine_host(struct pl_host_facts *ret)
{
	struct pl_host_facts f = {0};
	struct pl_host_trial trial;
	struct plumb_error *err = pl_host_try(&trial);

	if (err)
		return err;
	f.readv_errno = trial.readv;
	f.mem_errno = trial.mem;
	f.seize_errno = trial.seize;
	f.pidfd_errno = trial.pidfd;
	examine_kernel(&f);
	examine_ourselves(&f);
	examine_modules(&f);
	examine_surroundings(&f);
	*ret = f;
	return NULL;
}

static void examine_namespaces(struct pl_process_facts *f)
{
	pid_t inner = 0;
	unsigned levels = pl_host_nspid(f->pid, f->pid, &inner);

	f->same_pid_ns = known(pl_host_namespace(f->pid, "pid"));
	f->same_mnt_ns = known(pl_host_namespace(f->pid, "mnt"));
	f->same_user_ns = known(pl_host_namespace(f->pid, "user"));
	f->inner_pid = levels ? inner : 0;
	/* Everybody may read the numbers; the links need the right to read the process. */
	if (f->same_pid_ns == PL_UNKNOWN && levels > 1)
		f->same_pid_ns = PL_NO;
}

/* The same door that sampling goes through. */
static struct plumb_error *examine_access(pid_t pid)
{
	struct pl_mem_live *live;
	struct plumb_error *err = pl_mem_live_create(pid, &live);

	if (!err)
		pl_mem_live_destroy(live);
	return err;
}

struct plumb_error *pl_examine_process(pid_t pid, struct pl_process_facts *ret)
{
	struct pl_process_facts f = {.pid = pid};
	struct pl_priv_facts priv;
	struct pl_priv_reason reason;
	struct plumb_error *err = pl_proc_check(pid);

	if (err)
		return err;
	if (!pl_priv_read(pid, &priv))
		return pl_error(PLUMB_ERR_NO_PROCESS, "there is no process %d", (int)pid);
	pl_proc_comm(pid, pid, f.comm);
	f.uid = priv.uids[1];
	pl_priv_user(f.uid, f.user, sizeof f.user);
	f.not_dumpable = priv.not_dumpable;
	f.descendant = priv.descendant;
	f.seccomp = priv.target_seccomp;
	f.tracer = priv.tracer;
	memcpy(f.tracer_name, priv.tracer_name, sizeof f.tracer_name);
	examine_namespaces(&f);
	f.refused = examine_access(pid);
	if (plumb_error_code(f.refused) == PLUMB_ERR_NOT_PERMITTED) {
		pl_priv_reason(&priv, &reason);
		memcpy(f.cause, reason.cause, sizeof f.cause);
		memcpy(f.remedy, reason.remedy, sizeof f.remedy);
	}
	*ret = f;
	return NULL;
}

void pl_process_facts_deinit(struct pl_process_facts *f)
{
	plumb_error_destroy(f->refused);
	f->refused = NULL;
}
