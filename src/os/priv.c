/* SPDX-License-Identifier: Apache-2.0 */
/* Why the kernel refuses (layer os). Any thread. Gathers the facts that the kernel's own check looks at, and names the
 * first that explains the refusal, in the order in which the kernel looks. It never tries anything on the target. */
#include "priv.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"
#include "proc.h"
#include "proc_file.h"

#define CAP_SYS_PTRACE_BIT 19
#define CAPS_TO_READ_ALL   (1ull << 1 | 1ull << 2) /* CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: any file */
#define MAX_ANCESTORS	   1024
#define LOOK_INTO_LOG	   "look into the kernel's log (journalctl -k)"
#define SECCOMP_FILTER	   2 /* in a status file */
#define UID_MAP_MAX	   4096

static void read_ids(const char *status, const char *key, unsigned ret[3])
{
	const char *text = pl_proc_status_field(status, key);
	if (text)
		sscanf(text, "%u %u %u", &ret[0], &ret[1], &ret[2]);
}

static bool is_descendant(pid_t pid)
{
	char stat[1024];
	uint64_t parent = (uint64_t)pid;
	for (int i = 0; i < MAX_ANCESTORS && parent > 1; i++) {
		if (pl_proc_file((pid_t)parent, "stat", stat, sizeof stat) < 0 || !pl_proc_stat_field(stat, 4, &parent))
			return false;
		if (parent == (uint64_t)getpid())
			return true;
	}
	return false;
}

/* The files below /proc/PID belong to the process's user while it is dumpable, else to root (of its user namespace).
 * The folder itself always belongs to the user. */
static bool is_not_dumpable(pid_t pid, const struct pl_priv_facts *f)
{
	char path[32];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pl_proc_live_task(pid));
	return stat(path, &st) == 0 && st.st_uid != f->uids[1];
}

/* Do our rights not count where it lives? The link is readable only for those whose rights do. Otherwise the maps of
 * the ids tell, which everybody may read: within one namespace they are the same. From the first namespace our rights
 * reach into all others. */
static bool is_other_user_ns(pid_t pid)
{
	char ours[UID_MAP_MAX], its[UID_MAP_MAX];

	if (pl_host_initial_namespace("user") == PL_NAMESPACE_SAME ||
	    pl_host_namespace(pid, "user") != PL_NAMESPACE_UNKNOWN)
		return false;
	return pl_proc_file(0, "uid_map", ours, sizeof ours) >= 0 &&
	       pl_proc_file(pl_proc_live_task(pid), "uid_map", its, sizeof its) >= 0 && strcmp(ours, its) != 0;
}

bool pl_priv_read(pid_t pid, struct pl_priv_facts *f)
{
	char status[PL_STATUS_MAX];
	*f = (struct pl_priv_facts){.pid = pid, .our_uid = getuid(), .our_gid = getgid()};
	if (pl_proc_status(0, "status", status, sizeof status) < 0)
		return false;
	f->our_caps = pl_proc_status_number(status, "CapEff", 16, 0);
	bool alive = pl_proc_status(pid, "status", status, sizeof status) >= 0;
	if (alive) {
		read_ids(status, "Uid", f->uids);
		read_ids(status, "Gid", f->gids);
		f->target_caps = pl_proc_status_number(status, "CapPrm", 16, 0);
		f->tracer = (pid_t)pl_proc_status_number(status, "TracerPid", 10, 0);
		f->target_seccomp = (int)pl_proc_status_number(status, "Seccomp", 10, 0);
	}
	if (!alive)
		return false;
	if (f->tracer)
		pl_proc_comm(f->tracer, f->tracer, f->tracer_name);
	f->yama_scope = pl_host_sysctl("kernel/yama/ptrace_scope", 0);
	f->descendant = is_descendant(pid);
	f->not_dumpable = is_not_dumpable(pid, f);
	f->other_user_ns = is_other_user_ns(pid);
	pl_lsm_read(&f->lsm);
	return true;
}

void pl_priv_user(uid_t uid, char *buf, size_t size)
{
	char text[2048];
	struct passwd entry, *found = NULL;
	if (getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found)
		snprintf(buf, size, "%s (uid %u)", entry.pw_name, (unsigned)uid);
	else
		snprintf(buf, size, "uid %u", (unsigned)uid);
}

static bool all_are(const unsigned ids[3], unsigned id)
{
	return ids[0] == id && ids[1] == id && ids[2] == id;
}

PL_PRINTF(2, 3) static void set_cause(struct pl_priv_reason *ret, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vsnprintf(ret->cause, sizeof ret->cause, fmt, args);
	va_end(args);
}

static void set_remedy(struct pl_priv_reason *ret, const char *remedy)
{
	snprintf(ret->remedy, sizeof ret->remedy, "%s", remedy);
}

/* Root without the capability is root of a container: sudo would not help. */
static void need_root(const struct pl_priv_facts *f, struct pl_priv_reason *ret)
{
	set_remedy(ret, f->our_uid ? "run plumb as root (sudo plumb ...)"
				   : "give plumb CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)");
}

static bool ids_reason(const struct pl_priv_facts *f, struct pl_priv_reason *ret)
{
	char who[128];
	if (!all_are(f->uids, f->uids[0])) {
		set_cause(ret,
			  "its user ids differ, as those of a set-user-ID program (real %u, effective %u, saved %u)",
			  f->uids[0], f->uids[1], f->uids[2]);
		need_root(f, ret);
	} else if (f->uids[0] != f->our_uid) {
		pl_priv_user(f->uids[0], who, sizeof who);
		set_cause(ret, "it belongs to user %s", who);
		need_root(f, ret);
		if (f->our_uid)
			set_remedy(ret, "run plumb as that user or as root (sudo plumb ...)");
	} else if (!all_are(f->gids, f->our_gid)) {
		set_cause(ret, "it runs with another group (gid %u, plumb's is %u)", (unsigned)f->gids[1],
			  (unsigned)f->our_gid);
		need_root(f, ret);
	} else {
		return false;
	}
	return true;
}

static bool yama_reason(const struct pl_priv_facts *f, bool capable, struct pl_priv_reason *ret)
{
	if (f->yama_scope >= 3) {
		set_cause(ret, "kernel.yama.ptrace_scope is 3: nobody may read another process until the next boot");
		return true;
	}
	if (f->yama_scope == 2 && !capable)
		set_cause(ret, "kernel.yama.ptrace_scope is 2: only root, or CAP_SYS_PTRACE, may read another process");
	else if (f->yama_scope == 1 && !capable && !f->descendant)
		set_cause(ret,
			  "kernel.yama.ptrace_scope is 1: only a parent may read a process, as 'plumb run' is of what "
			  "it starts");
	else
		return false;
	need_root(f, ret);
	return true;
}

/* What a process may do that we may not. */
static bool rights_reason(const struct pl_priv_facts *f, struct pl_priv_reason *ret)
{
	uint64_t lacking = f->target_caps & ~f->our_caps;
	if (f->not_dumpable)
		set_cause(ret, "it is not dumpable: its files in /proc are not its user's (see prctl(2), "
			       "PR_SET_DUMPABLE)");
	else if (lacking)
		set_cause(ret, "it holds capabilities that plumb lacks (%llx)", (unsigned long long)lacking);
	else
		return false;
	need_root(f, ret);
	return true;
}

/* Memory is a file in /proc, too, that is its owner's alone: root's, if the process is not dumpable. */
static bool file_reason(const struct pl_priv_facts *f, struct pl_priv_reason *ret)
{
	const unsigned owner = f->not_dumpable ? 0 : f->uids[1];
	char who[128];

	if (owner == f->our_uid || f->our_caps & CAPS_TO_READ_ALL)
		return false;
	pl_priv_user(owner, who, sizeof who);
	set_cause(ret, "CAP_SYS_PTRACE is not enough: its memory is a file of %s in /proc", who);
	set_remedy(ret, "give plumb CAP_DAC_READ_SEARCH as well");
	return true;
}

/* A tracer does not keep us from reading, and a seccomp filter cannot tell one path from another. */
static void other_reason(const struct pl_priv_facts *f, struct pl_priv_reason *ret)
{
	char left[200];

	pl_lsm_tell(&f->lsm, left, sizeof left);
	ret->known = false;
	set_cause(ret, "ids, dumpability and Yama allow it; %s", left);
	set_remedy(ret, LOOK_INTO_LOG);
}

/* In the order in which the kernel looks: capabilities stand in for ids, dumpability and Yama. */
void pl_priv_reason(const struct pl_priv_facts *f, struct pl_priv_reason *ret)
{
	bool capable = f->our_caps >> CAP_SYS_PTRACE_BIT & 1 && !f->other_user_ns;
	*ret = (struct pl_priv_reason){.known = true};
	if (f->yama_scope >= 3 && yama_reason(f, capable, ret))
		return; /* wherever it lives */
	if (f->other_user_ns) {
		set_cause(ret, "it lives in another user namespace, where plumb's rights do not count");
		set_remedy(ret, "run plumb inside it, or as root outside of all containers");
		return;
	}
	if ((!capable && ids_reason(f, ret)) || (!capable && f->not_dumpable && rights_reason(f, ret)) ||
	    yama_reason(f, capable, ret) || (!capable && rights_reason(f, ret)) || (capable && file_reason(f, ret)))
		return;
	other_reason(f, ret);
}

void pl_priv_hint(const struct pl_priv_facts *f, char *buf, size_t size)
{
	struct pl_priv_reason r;
	pl_priv_reason(f, &r);
	snprintf(buf, size, "%s%s%s", r.cause, *r.remedy ? "; " : "", r.remedy);
}

struct plumb_error *pl_priv_explain(pid_t pid)
{
	char hint[640], comm[16];
	struct pl_priv_facts f;
	struct plumb_error *err = pl_proc_check(pid);
	if (err)
		return err;
	pl_proc_comm(pid, pid, comm);
	err = pl_error(PLUMB_ERR_NOT_PERMITTED, "the kernel does not let plumb read pid %d (%s)", (int)pid, comm);
	if (!pl_priv_read(pid, &f)) { /* it has just ended */
		plumb_error_destroy(err);
		err = pl_proc_check(pid);
		return err ? err : &pl_err_target_exited;
	}
	pl_priv_hint(&f, hint, sizeof hint);
	return pl_error_hint(err, "%s", hint);
}

static bool is_older(const char *release, const char *since)
{
	unsigned is[2] = {0}, need[2] = {0};

	return sscanf(release, "%u.%u", &is[0], &is[1]) == 2 && sscanf(since, "%u.%u", &need[0], &need[1]) == 2 &&
	       (is[0] < need[0] || (is[0] == need[0] && is[1] < need[1]));
}

struct plumb_error *pl_priv_explain_call(const char *call, const char *since, int errnum)
{
	bool filtered = pl_host_own_status("Seccomp", 10, 0) == SECCOMP_FILTER;
	struct utsname kernel = {0};
	struct pl_lsm lsm;
	char left[200];
	struct plumb_error *err =
		pl_error_errno(PLUMB_ERR_NOT_PERMITTED, errnum, "the kernel does not let plumb call %s", call);

	(void)uname(&kernel);
	if (errnum == ENOSYS && is_older(kernel.release, since))
		return pl_error_hint(err, "it needs Linux %s or newer; this is %s", since, kernel.release);
	if (filtered && (errnum == EPERM || errnum == ENOSYS))
		return pl_error_hint(
			err,
			"plumb runs under a seccomp filter, and Linux %s itself lets everybody call it; start "
			"plumb without that filter (docker run --security-opt seccomp=unconfined), or with "
			"a newer profile",
			kernel.release);
	if (errnum == ENOSYS)
		return pl_error_hint(err,
				     "plumb runs under no seccomp filter, and Linux has it since %s; this one "
				     "says that it is %s",
				     since, kernel.release);
	pl_lsm_read(&lsm);
	pl_lsm_tell(&lsm, left, sizeof left);
	return pl_error_hint(err, "Linux itself lets everybody call it%s; %s; " LOOK_INTO_LOG,
			     filtered ? "" : ", and plumb runs under no seccomp filter", left);
}
