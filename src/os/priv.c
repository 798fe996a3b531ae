/* SPDX-License-Identifier: Apache-2.0 */
/* Why the kernel refuses (layer os). Any thread. Gathers the facts that the kernel's own check looks at, and names the
 * first that explains the refusal, in the order in which the kernel looks. It never tries anything on the target. */
#include "priv.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"
#include "proc_file.h"

#define CAP_SYS_PTRACE_BIT 19
#define MAX_ANCESTORS	   1024
#define STATUS_MAX	   65536 /* a process in many groups has a long list of them */

static void read_ids(const char *status, const char *key, unsigned ret[3])
{
	const char *text = pl_proc_status_field(status, key);
	if (text)
		sscanf(text, "%u %u %u", &ret[0], &ret[1], &ret[2]);
}

static int read_yama_scope(void)
{
	int scope = 0;
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope;
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

/* Both links are readable only if we may read the target, which is what was refused; the ids tell in the common case: a
 * user who does not exist in our namespace is shown as the overflow user. */
static bool is_other_user_ns(pid_t pid, const struct pl_priv_facts *f)
{
	char path[40], ours[64] = "", its[64] = "";
	snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pl_proc_live_task(pid));
	ssize_t n = readlink(path, its, sizeof its - 1), m = readlink("/proc/self/ns/user", ours, sizeof ours - 1);
	if (n > 0 && m > 0)
		return strcmp(ours, its) != 0;
	char map[256];
	unsigned inside, outside, count;
	if (pl_proc_file(0, "uid_map", map, sizeof map) <= 0 || sscanf(map, "%u %u %u", &inside, &outside, &count) != 3)
		return false;
	bool initial = inside == 0 && outside == 0 && count == UINT32_MAX;
	return !initial && f->uids[0] == 65534;
}

bool pl_priv_read(pid_t pid, struct pl_priv_facts *f)
{
	char *status = malloc(STATUS_MAX);
	*f = (struct pl_priv_facts){.pid = pid, .our_uid = getuid(), .our_gid = getgid()};
	if (!status || pl_proc_file(0, "status", status, STATUS_MAX) < 0) {
		free(status);
		return false;
	}
	f->our_caps = pl_proc_status_number(status, "CapEff", 16, 0);
	f->seccomp = pl_proc_status_number(status, "Seccomp", 10, 0) != 0;
	bool alive = pl_proc_file(pid, "status", status, STATUS_MAX) >= 0;
	if (alive) {
		read_ids(status, "Uid", f->uids);
		read_ids(status, "Gid", f->gids);
		f->target_caps = pl_proc_status_number(status, "CapPrm", 16, 0);
		f->tracer = (pid_t)pl_proc_status_number(status, "TracerPid", 10, 0);
		f->target_seccomp = (int)pl_proc_status_number(status, "Seccomp", 10, 0);
	}
	free(status);
	if (!alive)
		return false;
	if (f->tracer)
		pl_proc_comm(f->tracer, f->tracer, f->tracer_name);
	f->yama_scope = read_yama_scope();
	f->descendant = is_descendant(pid);
	f->not_dumpable = is_not_dumpable(pid, f);
	f->other_user_ns = is_other_user_ns(pid, f);
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
		set_cause(ret, "it runs a set-user-ID program, which only root, or CAP_SYS_PTRACE, may read");
		need_root(f, ret);
	} else if (f->uids[0] != f->our_uid) {
		pl_priv_user(f->uids[0], who, sizeof who);
		set_cause(ret, "it belongs to user %s", who);
		need_root(f, ret);
		if (f->our_uid)
			set_remedy(ret, "run plumb as that user or as root (sudo plumb ...)");
	} else if (!all_are(f->gids, f->our_gid)) {
		set_cause(ret, "it runs with another group (gid %u, ours is %u)", (unsigned)f->gids[1],
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
		set_cause(ret, "it is not dumpable: it gained rights when it started, its file is not readable, or it "
			       "called prctl(PR_SET_DUMPABLE, 0)");
	else if (lacking)
		set_cause(ret, "it holds capabilities that we lack (%llx)", (unsigned long long)lacking);
	else
		return false;
	need_root(f, ret);
	return true;
}

static void other_reason(const struct pl_priv_facts *f, struct pl_priv_reason *ret)
{
	if (f->tracer) {
		set_cause(ret, "%s (pid %d) already traces it", *f->tracer_name ? f->tracer_name : "a debugger",
			  (int)f->tracer);
		set_remedy(ret, "end that first");
	} else if (f->seccomp) {
		set_cause(ret, "ids, Yama and dumpability allow it, so the seccomp filter around us refuses");
		set_remedy(ret, "start the container with --cap-add SYS_PTRACE");
	} else {
		set_cause(ret, "ids, Yama and dumpability allow it, so a security module (SELinux, AppArmor, Landlock) "
			       "refuses");
		set_remedy(ret, "look into its log (journalctl -k)");
	}
}

/* In the order in which the kernel looks: capabilities stand in for ids, dumpability and Yama. */
void pl_priv_reason(const struct pl_priv_facts *f, struct pl_priv_reason *ret)
{
	bool capable = f->our_caps >> CAP_SYS_PTRACE_BIT & 1 && !f->other_user_ns;
	*ret = (struct pl_priv_reason){0};
	if (f->other_user_ns) {
		set_cause(ret, "it lives in another user namespace, where our rights do not count");
		set_remedy(ret, "run plumb inside it, or as root outside of all containers");
		return;
	}
	if ((!capable && ids_reason(f, ret)) || (!capable && f->not_dumpable && rights_reason(f, ret)) ||
	    yama_reason(f, capable, ret) || (!capable && rights_reason(f, ret)))
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
	err = pl_error(PLUMB_ERR_NOT_PERMITTED, "the kernel does not let us read pid %d (%s)", (int)pid, comm);
	if (!pl_priv_read(pid, &f))
		return err;
	pl_priv_hint(&f, hint, sizeof hint);
	return pl_error_hint(err, "%s", hint);
}

struct plumb_error *pl_priv_explain_call(const char *call, const char *since, int errnum)
{
	char *status = malloc(STATUS_MAX);
	bool filtered = status && pl_proc_file(0, "status", status, STATUS_MAX) > 0 &&
			pl_proc_status_number(status, "Seccomp", 10, 0) != 0;
	free(status);
	struct plumb_error *err =
		pl_error_errno(PLUMB_ERR_NOT_PERMITTED, errnum, "the kernel does not let us call %s", call);
	if (filtered)
		return pl_error_hint(err, "a seccomp filter is around us; start the container with --security-opt "
					  "seccomp=unconfined or with a newer profile");
	if (errnum == ENOSYS)
		return pl_error_hint(err, "it needs Linux %s or newer", since);
	return pl_error_hint(err, "there is no seccomp filter around us, so a security module (SELinux, AppArmor) "
				  "refuses; look into its log (journalctl -k)");
}
