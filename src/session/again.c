/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: samples again, from the file they were read from. One thread at a time: a file has one place. */
#include "again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "own_fd.h"
#include "reopen.h"
#include "temp_file.h"

struct recording {
	struct plumb_profile *profile;
	int fd;
	struct pl_file_id file; /* that it was when it was opened */
	struct pl_capture_info info;
};

struct mapping {
	struct plumb_profile *profile;
	void *bytes;
	size_t len;
	struct pl_capture_info info;
};

/* A profile can be kept for long, and by the children of a fork, too: programs that close all descriptors there are, as
 * daemons do, have given its number to another file. */
static bool is_still_open(const struct recording *r)
{
	return pl_file_id_is(&r->file, r->fd);
}

static struct plumb_error *recording_each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	struct recording *r = ctx;

	if (!is_still_open(r))
		return pl_error(PLUMB_ERR_SYSTEM, "cannot read the recording again: the program has closed it");
	if (lseek(r->fd, 0, SEEK_SET) != 0)
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot read the recording again");
	return pl_capture_read_again(r->fd, r->profile, &r->info, fn, fn_ctx);
}

static void recording_destroy(void *ctx)
{
	struct recording *r = ctx;

	if (is_still_open(r))
		close(r->fd);
	free(r);
}

struct plumb_error *pl_again_from_recording(struct plumb_profile *p, int fd, const struct pl_capture_info *info)
{
	struct recording *r = malloc(sizeof *r);

	if (!r) {
		close(fd);
		return &pl_err_no_memory;
	}
	*r = (struct recording){.profile = p, .fd = fd, .file = pl_file_id(fd), .info = *info};
	p->stream = (struct pl_stream){.each = recording_each, .destroy = recording_destroy, .ctx = r};
	return NULL;
}

/* Asked of the kernel: who reads what is missing of a mapping gets a SIGBUS. */
static bool is_cut(const struct mapping *m, int fd)
{
	return pwrite(fd, (const char *)m->bytes + m->len - 1, 1, 0) < 0 && errno == EFAULT;
}

static struct plumb_error *copy_mapping(const struct mapping *m, int fd)
{
	if (is_cut(m, fd))
		return pl_error(PLUMB_ERR_CORRUPT, "somebody has cut the recording since it was written");
	struct plumb_error *err = pl_temp_write(fd, m->bytes, m->len);

	(void)madvise(m->bytes, m->len, MADV_DONTNEED);
	if (err || lseek(fd, 0, SEEK_SET) == 0)
		return err;
	return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot read the recording again");
}

static struct plumb_error *mapping_each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	struct mapping *m = ctx;
	int fd;
	struct plumb_error *err = pl_temp_file_of_call(&fd);

	if (err)
		return err;
	err = copy_mapping(m, fd);
	if (!err)
		err = pl_capture_read_again(fd, m->profile, &m->info, fn, fn_ctx);
	pl_own_fd_close(fd);
	return err;
}

static void mapping_destroy(void *ctx)
{
	struct mapping *m = ctx;

	munmap(m->bytes, m->len);
	free(m);
}

/* What is mapped by a descriptor to write counts for the kernel as a file that is written to, and plumb keeps such. */
static void *map_to_read(int fd, size_t len)
{
	int to_read = pl_own_fd(pl_reopen(fd, O_RDONLY | O_NONBLOCK)); /* a server may keep it */
	void *bytes = mmap(NULL, len, PROT_READ, MAP_SHARED, to_read < 0 ? fd : to_read, 0);
	pl_own_fd_close(to_read);
	return bytes;
}

struct plumb_error *pl_again_from_mapping(struct plumb_profile *p, int fd, size_t len,
					  const struct pl_capture_info *info)
{
	struct mapping *m = malloc(sizeof *m);
	void *bytes = m ? map_to_read(fd, len) : MAP_FAILED;

	if (bytes == MAP_FAILED) {
		free(m);
		return &pl_err_no_memory;
	}
	*m = (struct mapping){.profile = p, .bytes = bytes, .len = len, .info = *info};
	p->stream = (struct pl_stream){.each = mapping_each, .destroy = mapping_destroy, .ctx = m};
	return NULL;
}
