/* SPDX-License-Identifier: Apache-2.0 */
/* Why the kernel refuses (layer os). Any thread. Gathers the facts that the kernel's own check looks at, and names the
 * first that explains the refusal, in the order in which the kernel looks. It never tries anything on the target. */
#include "priv.h"

#include <pwd.h>
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
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return stat(path, &st) == 0 && st.st_uid != f->uids[1];
}

/* Both links are readable only if we may read the target, which is what was refused; the ids tell in the common case: a
 * user who does not exist in our namespace is shown as the overflow user. */
static bool is_other_user_ns(pid_t pid, const struct pl_priv_facts *f)
{
	char path[40], ours[64] = "", its[64] = "";
	snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
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

static bool read_facts(pid_t pid, struct pl_priv_facts *f)
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

static void user_name(uid_t uid, char *buf, size_t size)
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

static bool ids_hint(const struct pl_priv_facts *f, char *buf, size_t size)
{
	char who[128];
	if (!all_are(f->uids, f->uids[0])) {
		snprintf(buf, size, "it runs a set-user-ID program; only root, or CAP_SYS_PTRACE, may read it");
	} else if (f->uids[0] != f->our_uid) {
		user_name(f->uids[0], who, sizeof who);
		snprintf(buf, size, "it belongs to user %s; run plumb as that user or as root (sudo plumb ...)", who);
	} else if (!all_are(f->gids, f->our_gid)) {
		snprintf(buf, size,
			 "it runs with another group (gid %u, ours is %u); run plumb with that group, or as root",
			 (unsigned)f->gids[1], (unsigned)f->our_gid);
	} else {
		return false;
	}
	return true;
}

static bool yama_hint(const struct pl_priv_facts *f, bool capable, char *buf, size_t size)
{
	if (f->yama_scope >= 3)
		snprintf(buf, size,
			 "kernel.yama.ptrace_scope is 3: nobody may read another process until the next boot");
	else if (f->yama_scope == 2 && !capable)
		snprintf(buf, size,
			 "kernel.yama.ptrace_scope is 2: only root, or CAP_SYS_PTRACE, may read another process");
	else if (f->yama_scope == 1 && !capable && !f->descendant)
		snprintf(buf, size,
			 "kernel.yama.ptrace_scope is 1: only a parent may read a process; start the program with "
			 "'plumb run', "
			 "run plumb as root, or set 'sudo sysctl kernel.yama.ptrace_scope=0'");
	else
		return false;
	return true;
}

void pl_priv_hint(const struct pl_priv_facts *f, char *buf, size_t size)
{
	bool capable = f->our_caps >> CAP_SYS_PTRACE_BIT & 1 && !f->other_user_ns;
	if (f->other_user_ns)
		snprintf(buf, size,
			 "it lives in another user namespace, where our rights do not count; run plumb inside it, or "
			 "as root "
			 "outside of all containers");
	else if (!capable && ids_hint(f, buf, size))
		return;
	else if (!capable && f->not_dumpable)
		snprintf(buf, size,
			 "it is not dumpable: it gained rights when it started, its file is not readable, or it called "
			 "prctl(PR_SET_DUMPABLE, 0); only root may read it");
	else if (yama_hint(f, capable, buf, size))
		return;
	else if (!capable && f->target_caps & ~f->our_caps)
		snprintf(buf, size, "it holds capabilities that we lack (%llx); run plumb as root",
			 (unsigned long long)(f->target_caps & ~f->our_caps));
	else if (f->tracer)
		snprintf(buf, size, "%s (pid %d) already traces it; end that first",
			 *f->tracer_name ? f->tracer_name : "a debugger", (int)f->tracer);
	else if (f->seccomp)
		snprintf(buf, size,
			 "ids, Yama and dumpability allow it, so the seccomp filter around us refuses; start the "
			 "container with --cap-add SYS_PTRACE");
	else
		snprintf(buf, size,
			 "ids, Yama and dumpability allow it, so a security module (SELinux, AppArmor, Landlock) "
			 "refuses; its "
			 "log (journalctl -k) says why");
}

struct plumb_error *pl_priv_explain(pid_t pid)
{
	char hint[512], comm[16];
	struct pl_priv_facts f;
	struct plumb_error *err = pl_proc_check(pid);
	if (err)
		return err;
	pl_proc_comm(pid, pid, comm);
	err = pl_error(PLUMB_ERR_NOT_PERMITTED, "the kernel does not let us read pid %d (%s)", (int)pid, comm);
	if (!read_facts(pid, &f))
		return err;
	pl_priv_hint(&f, hint, sizeof hint);
	return pl_error_hint(err, "%s", hint);
}
