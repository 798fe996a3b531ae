/* SPDX-License-Identifier: Apache-2.0 */
/* Facts from /proc about processes and threads (layer os). Any thread; each call opens what it needs and closes it
 * again. How a process is named for people is in proc_names.c; scheduler state and run time are read elsewhere. */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "own_fd.h"
#include "proc_file.h"

#define NS_PER_S      1000000000ull
#define STATUS_MAX    4096 /* what we look for comes before the lists that may be long */
#define PF_FORKNOEXEC 0x00000040u

bool pl_proc_is_ours(void)
{
	char self[16] = "";
	return readlink("/proc/self", self, sizeof self - 1) > 0 && atoi(self) == getpid();
}

/* Its numbers must be ours: in a pid namespace of our own, the /proc of outside shows other processes under them. */
static struct plumb_error *check_proc(void)
{
	struct stat st;
	if (pl_proc_is_ours())
		return NULL;
	return pl_error_hint(lstat("/proc/self", &st) == 0
				     ? pl_error(PLUMB_ERR_SYSTEM, "the /proc that is mounted here is that of another "
								  "pid namespace")
				     : pl_error(PLUMB_ERR_SYSTEM, "/proc is not mounted"),
			     "mount it: mount -t proc proc /proc");
}

/* The mount option hidepid shows us only what we may read. */
static struct plumb_error *hidden(pid_t pid, int hidepid, bool ours)
{
	const char *remedy = geteuid() == 0 ? "give plumb CAP_SYS_PTRACE"
			     : ours	    ? "run plumb as root (sudo plumb ...)"
					    : "run plumb as the user that owns the process, or as root";

	return pl_error_hint(pl_error(PLUMB_ERR_NOT_PERMITTED, "/proc hides pid %d from us", (int)pid),
			     "/proc is mounted with hidepid=%d, which hides what we may not read; %s", hidepid, remedy);
}

/* /proc shows nothing for @p pid: are we at fault, is it gone, or hidden by a mount option? */
static struct plumb_error *no_entry(pid_t pid, int errnum)
{
	struct pl_proc_mount mount = {0};

	if (pl_out_of_descriptors(errnum))
		return pl_error_errno(PLUMB_ERR_SYSTEM, errnum, "cannot look at pid %d", (int)pid);
	bool ours = kill(pid, 0) == 0; /* may be sent a signal: it is of our user, or we are root */
	bool there = ours || errno == EPERM;
	if (there && pl_host_proc_mount(&mount) && mount.hidepid)
		return hidden(pid, mount.hidepid, ours);
	if (there && errnum)
		return pl_error_hint(
			pl_error_errno(PLUMB_ERR_NOT_PERMITTED, errnum, "cannot look at pid %d in /proc", (int)pid),
			"the process is there; 'plumb doctor' says how /proc is mounted");
	return pl_error(PLUMB_ERR_NO_PROCESS, "there is no process with pid %d", (int)pid);
}

static struct plumb_error *is_a_thread(pid_t pid, pid_t process)
{
	char comm[16];
	pl_proc_comm(process, process, comm);
	return pl_error_hint(pl_error(PLUMB_ERR_NO_PROCESS, "%d is a thread of process %d (%s), not a process",
				      (int)pid, (int)process, comm),
			     "use the pid of the process: %d", (int)process);
}

/* A main thread that called pthread_exit is a zombie too, while the other threads of its process live on. */
static uint64_t thread_count(pid_t pid)
{
	char stat[1024];
	uint64_t threads;
	if (pl_proc_file(pid, "stat", stat, sizeof stat) < 0 || !pl_proc_stat_field(stat, 20, &threads))
		return 0;
	return threads;
}

struct plumb_error *pl_proc_check(pid_t pid)
{
	char status[STATUS_MAX];
	struct plumb_error *err = check_proc();
	if (err)
		return err;
	if (pid <= 0)
		return pl_error(PLUMB_ERR_NO_PROCESS, "there is no process with pid %d", (int)pid);
	if (pl_proc_file(pid, "status", status, sizeof status) < 0)
		return no_entry(pid, errno);
	pid_t process = (pid_t)pl_proc_status_number(status, "Tgid", 10, (uint64_t)pid);
	if (process != pid)
		return is_a_thread(pid, process);
	const char *state = pl_proc_status_field(status, "State");
	if (state && (*state == 'Z' || *state == 'X') && thread_count(pid) <= 1)
		return pl_error(PLUMB_ERR_NO_PROCESS,
				"pid %d has ended; only its exit status is left for its parent to collect (a zombie)",
				(int)pid);
	return NULL;
}

struct plumb_error *pl_proc_start_time(pid_t pid, uint64_t *ret)
{
	char stat[1024];
	if (pl_proc_file(pid, "stat", stat, sizeof stat) < 0)
		return no_entry(pid, errno);
	return pl_proc_stat_field(stat, 22, ret) ? NULL : no_entry(pid, 0);
}

uint64_t pl_proc_ticks_ns(uint64_t ticks)
{
	return ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t pl_proc_started_ns(pid_t pid)
{
	uint64_t ticks = 0;
	struct plumb_error *err = pl_proc_start_time(pid, &ticks);
	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	return pl_proc_ticks_ns(ticks);
}

uint64_t pl_proc_booted_real_ns(void)
{
	struct timespec up, now;

	clock_gettime(CLOCK_BOOTTIME, &up);
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)(now.tv_sec - up.tv_sec) * NS_PER_S + (uint64_t)now.tv_nsec - (uint64_t)up.tv_nsec;
}

uid_t pl_proc_owner(pid_t pid)
{
	char path[32];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return stat(path, &st) == 0 ? st.st_uid : (uid_t)-1;
}

/* "12 (comm) S 1 ..."; comm may hold anything. */
static void copy_comm(const char *stat, char ret[static 16])
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	size_t len = open && close > open ? (size_t)(close - open - 1) : 0;
	len = len > 15 ? 15 : len;
	memcpy(ret, len ? open + 1 : "", len);
	ret[len] = '\0';
}

bool pl_proc_cpu_ns(pid_t pid, uint64_t *ret)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) != 0)
		return false;
	*ret = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	return true;
}

bool pl_proc_stat_read(pid_t pid, struct pl_proc_stat *ret)
{
	char stat[1024];
	uint64_t parent, session, flags, threads, user, system;
	if (pl_proc_file(pid, "stat", stat, sizeof stat) <= 0 || !pl_proc_stat_field(stat, 4, &parent) ||
	    !pl_proc_stat_field(stat, 6, &session) || !pl_proc_stat_field(stat, 9, &flags) ||
	    !pl_proc_stat_field(stat, 14, &user) || !pl_proc_stat_field(stat, 15, &system) ||
	    !pl_proc_stat_field(stat, 20, &threads) || !pl_proc_stat_field(stat, 22, &ret->start_ticks) ||
	    !pl_proc_stat_field(stat, 23, &ret->vsize))
		return false;
	ret->pid = pid;
	ret->parent = (pid_t)parent;
	ret->cpu_ticks = user + system;
	ret->session = (pid_t)session;
	ret->forked = flags & PF_FORKNOEXEC;
	ret->state = strrchr(stat, ')')[2];
	ret->ended = (ret->state == 'Z' || ret->state == 'X') && threads <= 1;
	copy_comm(stat, ret->comm);
	return true;
}

bool pl_proc_may_be_read(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	int fd = PL_OWN_FD(open(path, O_RDONLY | O_CLOEXEC));
	pl_own_fd_close(fd);
	return fd >= 0;
}

bool pl_proc_is_process(pid_t pid)
{
	char status[STATUS_MAX];
	return pl_proc_file(pid, "status", status, sizeof status) > 0 &&
	       (pid_t)pl_proc_status_number(status, "Tgid", 10, 0) == pid;
}

static int compare_tids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return (x > y) - (x < y);
}

/* Append what @p dir lists; false without memory. */
static bool read_tids(struct pl_own_dir *dir, pl_tid_vec *ret)
{
	for (const char *name; (name = pl_own_dir_next(dir));) {
		int tid = atoi(name); /* 0 for "." and ".." */
		if (tid > 0 && !pl_vec_push(ret, tid))
			return false;
	}
	return true;
}

struct plumb_error *pl_proc_all(pl_tid_vec *ret)
{
	struct plumb_error *err = check_proc();
	if (err)
		return err;
	struct pl_own_dir dir;
	if (!pl_own_dir_open(&dir, "/proc"))
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot list the processes in /proc");
	bool complete = read_tids(&dir, ret);
	pl_own_dir_close(&dir);
	if (!complete) {
		pl_vec_deinit(ret);
		return &pl_err_no_memory;
	}
	if (ret->len)
		qsort(ret->data, ret->len, sizeof *ret->data, compare_tids);
	return NULL;
}

struct plumb_error *pl_proc_tids(pid_t pid, pl_tid_vec *ret)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	struct pl_own_dir dir;
	if (!pl_own_dir_open(&dir, path))
		return errno == ENOMEM ? &pl_err_no_memory : &pl_err_target_exited;
	size_t before = ret->len;
	bool complete = read_tids(&dir, ret);
	pl_own_dir_close(&dir);
	if (!complete || ret->len == before) {
		ret->len = before;
		return complete ? &pl_err_target_exited : &pl_err_no_memory;
	}
	qsort(ret->data + before, ret->len - before, sizeof *ret->data, compare_tids);
	return NULL;
}

void pl_proc_comm(pid_t pid, pid_t tid, char ret[static 16])
{
	char name[32], text[64];
	snprintf(name, sizeof name, "task/%d/comm", (int)tid);
	ret[0] = '\0';
	ssize_t len = pl_proc_file(pid, name, text, sizeof text);
	if (len <= 0)
		return;
	/* Only the last newline is the kernel's: a name may hold others. */
	len -= text[len - 1] == '\n';
	len = len > 15 ? 15 : len;
	memcpy(ret, text, (size_t)len);
	ret[len] = '\0';
}

static bool identify_exe(pid_t task, uint64_t *dev, uint64_t *ino)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/exe", (int)task);
	return pl_proc_identify(path, dev, ino);
}

bool pl_proc_exe_id(pid_t pid, uint64_t *dev, uint64_t *ino)
{
	/* Asked often of process trees: whether the main thread lives costs as much again. */
	return identify_exe(pid, dev, ino) || identify_exe(pl_proc_live_task(pid), dev, ino);
}
