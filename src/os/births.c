/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os. One thread at a time per object. It tells who is there; whose child that is, is for the engine to say. */
#include "births.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc_file.h"

#define MAX_RANGE      4096 /* more new numbers than this at once: sweep instead */
#define MAX_LATE       64
#define RESERVED_PIDS  300 /* where the kernel begins again after the largest number */
#define LARGEST_PID    4194304
#define SWEEP_EVERY_NS 1000000000ull
#define SWEEP_OFTEN_NS 10000000ull /* at least; and not more than a twentieth of the time */
#define SWEEP_COST_NS  60000ull	   /* of an entry, twenty times */
#define SWEEP_PER_LOOK 16

/* A number is given out before its process can be seen, and by then the process can also be gone again. */
static const uint64_t retry_ns[] = {1000000, 5000000, 25000000};
#define RETRIES (sizeof retry_ns / sizeof *retry_ns)

struct late {
	pid_t pid;
	uint64_t due_ns;
	uint8_t tries;
};

struct pl_births {
	int loadavg_fd;
	pid_t seen, last; /* numbers up to `seen` were looked at; `last` was given out last */
	pid_t largest;
	struct late late[MAX_LATE];
	size_t late_count;
	unsigned budget, sweep_budget; /* of this look */
	DIR *proc;
	unsigned swept;		       /* in this sweep */
	bool sweeping, again, trusted; /* again: when this sweep is over */
	uint64_t sweep_next_ns;
};

/* "0.10 0.20 0.30 1/234 5678\n"; 0: it cannot be read. */
static pid_t last_given_out(const struct pl_births *b)
{
	char text[128];
	ssize_t n = b->loadavg_fd < 0 ? -1 : pread(b->loadavg_fd, text, sizeof text - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	const char *blank = strrchr(text, ' ');
	long pid = blank ? strtol(blank + 1, NULL, 10) : 0;
	return pid > 0 && pid <= LARGEST_PID ? (pid_t)pid : 0;
}

static pid_t largest_number(void)
{
	FILE *f = fopen("/proc/sys/kernel/pid_max", "re");
	int v = LARGEST_PID;
	if (!f)
		return v;
	if (fscanf(f, "%d", &v) != 1 || v <= RESERVED_PIDS || v > LARGEST_PID)
		v = LARGEST_PID;
	fclose(f);
	return v;
}

static pid_t numbers_between(const struct pl_births *b, pid_t from, pid_t to)
{
	return to >= from ? to - from : to - from + b->largest;
}

struct plumb_error *pl_births_create(pid_t since, struct pl_births **ret)
{
	struct pl_births *b = calloc(1, sizeof *b);
	if (!b)
		return &pl_err_no_memory;
	b->loadavg_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	b->proc = opendir("/proc");
	if (!b->proc) {
		int errnum = errno;
		pl_births_destroy(b);
		return pl_error_errno(PLUMB_ERR_SYSTEM, errnum, "cannot list /proc");
	}
	b->largest = largest_number();
	b->last = last_given_out(b);
	/* A number from before @p since is a stale one, or another namespace's. */
	b->trusted = b->last && numbers_between(b, since, b->last) < b->largest / 2;
	b->seen = b->trusted ? since : b->last;
	b->sweeping = true;
	*ret = b;
	return NULL;
}

void pl_births_destroy(struct pl_births *b)
{
	if (!b)
		return;
	if (b->loadavg_fd >= 0)
		close(b->loadavg_fd);
	if (b->proc)
		closedir(b->proc);
	free(b);
}

static uint64_t sweep_pause(const struct pl_births *b)
{
	uint64_t often = b->swept * SWEEP_COST_NS;
	if (b->trusted)
		return SWEEP_EVERY_NS;
	return often > SWEEP_OFTEN_NS ? often : SWEEP_OFTEN_NS;
}

void pl_births_look(struct pl_births *b, uint64_t now_ns)
{
	pid_t last = last_given_out(b);
	if (last)
		b->last = last;
	if (numbers_between(b, b->seen, b->last) > MAX_RANGE) {
		b->seen = b->last;
		pl_births_sweep(b);
	}
	if (now_ns >= b->sweep_next_ns && !b->sweeping) {
		b->sweep_next_ns = now_ns + sweep_pause(b);
		pl_births_sweep(b);
	}
	b->budget = PL_BIRTHS_PER_LOOK;
	b->sweep_budget = SWEEP_PER_LOOK;
}

static void try_later(struct pl_births *b, pid_t pid, uint8_t tries, uint64_t now_ns)
{
	if (tries >= RETRIES)
		return;
	if (b->late_count == MAX_LATE) /* most of them are gone for good: the oldest most likely */
		memmove(b->late, b->late + 1, --b->late_count * sizeof *b->late);
	b->late[b->late_count++] = (struct late){.pid = pid, .due_ns = now_ns + retry_ns[tries], .tries = tries};
}

static bool next_late(struct pl_births *b, uint64_t now_ns, struct pl_proc_stat *ret)
{
	for (size_t i = 0; i < b->late_count;) {
		struct late l = b->late[i];
		if (l.due_ns > now_ns) {
			i++;
			continue;
		}
		memmove(b->late + i, b->late + i + 1, (--b->late_count - i) * sizeof *b->late);
		if (pl_proc_stat_read(l.pid, ret))
			return true;
		try_later(b, l.pid, (uint8_t)(l.tries + 1), now_ns);
	}
	return false;
}

static bool next_number(struct pl_births *b, uint64_t now_ns, struct pl_proc_stat *ret)
{
	while (b->seen != b->last && b->budget) {
		b->budget--;
		b->seen = b->seen >= b->largest && b->last < b->seen ? RESERVED_PIDS : b->seen + 1;
		if (pl_proc_stat_read(b->seen, ret))
			return true;
		try_later(b, b->seen, 0, now_ns);
	}
	return false;
}

static void begin_sweep(struct pl_births *b)
{
	rewinddir(b->proc);
	b->swept = 0;
	b->sweeping = true;
	b->again = false;
}

static void end_sweep(struct pl_births *b)
{
	b->sweeping = false;
	if (b->again)
		begin_sweep(b);
}

static bool next_swept(struct pl_births *b, struct pl_proc_stat *ret)
{
	while (b->sweeping && b->sweep_budget) {
		const struct dirent *d = readdir(b->proc);
		int pid = d ? atoi(d->d_name) : 0;
		if (!d)
			end_sweep(b);
		b->sweep_budget -= pid > 0;
		b->swept += pid > 0;
		if (pid > 0 && pl_proc_stat_read(pid, ret))
			return true;
	}
	return false;
}

enum pl_birth pl_births_next(struct pl_births *b, uint64_t now_ns, struct pl_proc_stat *ret)
{
	if (next_late(b, now_ns, ret))
		return PL_BIRTH_LATE;
	if (next_number(b, now_ns, ret))
		return PL_BIRTH_NEW;
	return next_swept(b, ret) ? PL_BIRTH_SWEPT : PL_BIRTH_NONE;
}

/* One that is under way goes on: whoever asks for one with each process that is found would not come to an end of them.
 */
void pl_births_sweep(struct pl_births *b)
{
	if (b->sweeping && b->swept)
		b->again = true;
	else
		begin_sweep(b);
}

void pl_births_enough(struct pl_births *b)
{
	b->again = false;
}

void pl_births_distrust(struct pl_births *b)
{
	b->trusted = false;
}

bool pl_births_sweeping(const struct pl_births *b)
{
	return b->sweeping;
}
