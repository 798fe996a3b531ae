/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process, read two ways: single words by pread on an open /proc/PID/mem (the cheaper call for one
 * small range), and many ranges by one process_vm_readv. Layer os. One thread at a time per object.
 *
 * The descriptor is bound to the address space it was opened on: after an exec or an exit pread returns 0, which is how
 * a re-used pid or a new program image is told from a page that is merely not mapped. Never writes. */
#include "mem_live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "own_fd.h"
#include "priv.h"
#include "proc_file.h"

#define TASKS_TRIED 8 /* that may end one after the other */
#define PATH_LEN    64

struct pl_mem_live {
	struct pl_mem mem; /* first: the reader interface */
	pid_t pid, task;   /* `task`: the thread through which the memory is reached; any that lives will do */
	int fd;
	struct pl_file_id file; /* which `fd` is open for */
	struct iovec remote[PL_READV_MAX];
};

/* Addresses above the user half are never valid and would be negative file offsets. */
static bool user_range(pl_addr addr, size_t len)
{
	return addr < (1ull << 63) && len <= (1ull << 63) - addr;
}

static struct plumb_error *live_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_mem_live *m = (struct pl_mem_live *)mem;

	if (!user_range(addr, len))
		return &pl_err_unreadable;
	ssize_t n = pread(m->fd, dst, len, (off_t)addr);
	if (n == (ssize_t)len)
		return NULL;
	return n == 0 && len > 0 ? &pl_err_target_exited : &pl_err_unreadable;
}

static struct plumb_error *live_read_all(struct pl_mem *mem, const struct pl_range *ranges, size_t n, void *dst)
{
	size_t got;
	struct plumb_error *err = pl_mem_live_readv((struct pl_mem_live *)mem, ranges, n, dst, &got);

	return err || got == n ? err : &pl_err_unreadable;
}

static const struct pl_mem_ops live_ops = {.read = live_read, .read_all = live_read_all};

static int open_mem(pid_t task, char path[static PATH_LEN])
{
	snprintf(path, PATH_LEN, "/proc/%d/mem", (int)task);
	return PL_OWN_FD(open(path, O_RDONLY | O_CLOEXEC));
}

struct plumb_error *pl_mem_live_create(pid_t pid, struct pl_mem_live **ret)
{
	char path[PATH_LEN];
	pid_t task = pl_proc_live_task(pid);
	int fd = open_mem(task, path);

	if (fd < 0) {
		if (errno == EACCES || errno == EPERM)
			return pl_priv_explain(pid);
		if (errno == ENOENT || errno == ESRCH)
			return pl_error(PLUMB_ERR_NO_PROCESS, "there is no process %d", (int)pid);
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot open %s", path);
	}
	struct pl_mem_live *m = calloc(1, sizeof *m);
	if (!m) {
		pl_own_fd_close(fd);
		return &pl_err_no_memory;
	}
	m->mem.ops = &live_ops;
	m->pid = pid;
	m->task = task;
	m->fd = fd;
	m->file = pl_file_id(fd);
	*ret = m;
	return NULL;
}

void pl_mem_live_destroy(struct pl_mem_live *m)
{
	if (!m)
		return;
	pl_own_fd_close_as(m->fd, &m->file);
	free(m);
}

struct pl_mem *pl_mem_live_mem(struct pl_mem_live *m)
{
	return &m->mem;
}

bool pl_mem_live_gone(struct pl_mem_live *m)
{
	char byte;

	/* Address 0 is not mapped: EIO while the address space lives, 0 once it is gone. */
	return pread(m->fd, &byte, 1, 0) == 0;
}

bool pl_mem_live_reopen(struct pl_mem_live *m)
{
	char path[PATH_LEN];

	if (pl_file_id_is(&m->file, m->fd))
		return false;
	m->fd = open_mem(pl_proc_live_task(m->pid), path);
	m->file = pl_file_id(m->fd);
	return true;
}

/* How many leading ranges do @p bytes cover whole? */
static size_t whole_ranges(const struct pl_range *ranges, size_t n, size_t bytes)
{
	size_t i = 0;

	while (i < n && ranges[i].len <= bytes)
		bytes -= ranges[i++].len;
	return i;
}

/* The thread has ended: go on with another one of the same process. False if there is none. */
static bool change_task(struct pl_mem_live *m)
{
	pid_t before = m->task;

	m->task = pl_proc_live_task(m->pid);
	return m->task != before && !pl_mem_live_gone(m);
}

/* Bytes read, 0 if none could be, -1 if the process has ended. */
static ssize_t read_remote(struct pl_mem_live *m, const struct iovec *local, size_t n)
{
	for (int i = 0; i < TASKS_TRIED; i++) {
		ssize_t r = process_vm_readv(m->task, local, 1, m->remote, n, 0);
		if (r >= 0)
			return r;
		if (errno != ESRCH)
			return 0;
		if (!change_task(m))
			break;
	}
	return -1;
}

struct plumb_error *pl_mem_live_readv(struct pl_mem_live *m, const struct pl_range *ranges, size_t n, void *dst,
				      size_t *got)
{
	char *out = dst;
	size_t done = 0;

	*got = 0;
	while (done < n) {
		size_t batch = n - done < PL_READV_MAX ? n - done : PL_READV_MAX, total = 0;

		for (size_t i = 0; i < batch; i++) {
			const struct pl_range *r = &ranges[done + i];

			m->remote[i].iov_base = (void *)(uintptr_t)r->addr;
			m->remote[i].iov_len = r->len;
			total += r->len;
		}
		struct iovec local = {.iov_base = out, .iov_len = total};
		ssize_t r = read_remote(m, &local, batch);
		if (r < 0)
			return &pl_err_target_exited;
		size_t whole = whole_ranges(ranges + done, batch, (size_t)r);
		done += whole;
		*got = done;
		if (whole < batch)
			return NULL;
		out += total;
	}
	return NULL;
}

static struct plumb_error *try_both(struct pl_mem_live *m)
{
	static const uint64_t sign = 0x706c756d62;
	const struct pl_range range = {.addr = (uintptr_t)&sign, .len = sizeof sign};
	const char *refused = NULL;
	uint64_t copy;
	size_t got = 0;
	struct plumb_error *err = pl_mem_live_readv(m, &range, 1, &copy, &got);

	if (err || got < 1)
		refused = "process_vm_readv";
	plumb_error_destroy(err);
	err = pl_mem_read_u64(&m->mem, range.addr, &copy);
	if (err)
		refused = "reading /proc/self/mem";
	plumb_error_destroy(err);
	return refused ? pl_error(PLUMB_ERR_NOT_PERMITTED, "this process may not read its own memory: %s is refused",
				  refused)
		       : NULL;
}

/* The kernel's rules let a process read itself; filters for system calls, as containers have them, may not. */
struct plumb_error *pl_mem_live_try_own(void)
{
	struct pl_mem_live *m = NULL;
	struct plumb_error *err = pl_mem_live_create(getpid(), &m);

	if (!m)
		return err;
	err = try_both(m);
	pl_mem_live_destroy(m);
	return err;
}
