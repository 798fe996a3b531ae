/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file that another process has mapped (layer os). Any thread.
 *
 * The path in /proc/PID/maps is relative to our root when the target was chroot-ed in our mount namespace, and to the
 * target's root when it lives in a container; and another file may have taken its place since. So several routes are
 * tried, and device and inode decide. The kernel's own links (exe, map_files) always lead to the right file, even a
 * deleted one, but map_files needs a privilege. If no route is left, the loaded parts of the file are copied out of the
 * process. */
#include "image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "mem_live.h"
#include "own_fd.h"
#include "proc_file.h"
#include "target_file.h"

#define MAX_LOADED (128u << 20)
#define COPY_STEP  (64u << 10)

#define WORK_A_MAPPING 4

/* How sure we are that a path leads to the mapped file. Devices differ on overlayfs and btrfs, where stat and maps
 * disagree. */
enum match { MATCH_NONE, MATCH_PATH, MATCH_INODE, MATCH_ALL };

/* No route leads to the file. That we have no descriptor left to try with says nothing about it. */
static struct plumb_error *no_route(const char *what)
{
	if (pl_out_of_descriptors(errno))
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot open the program's files");
	return pl_error(PLUMB_ERR_NOT_FOUND, "%s", what);
}

/* A handle on @p path that neither blocks on a FIFO nor wakes a device; -1 if it is no plain file. */
static int locate(const char *path, const struct pl_mapping *m, enum match *match)
{
	struct stat st;
	int fd = pl_own_fd(open(path, O_PATH | O_CLOEXEC)); /* a file system may be waited for */
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		pl_own_fd_close(fd);
		return -1;
	}
	bool same_device = major(st.st_dev) == m->dev_major && minor(st.st_dev) == m->dev_minor;
	*match = st.st_ino != m->inode ? MATCH_PATH : same_device ? MATCH_ALL : MATCH_INODE;
	return fd;
}

/* A file with a lease on it is one that may not be read: the kernel would keep us waiting until whoever has the lease
 * gives it back (or for lease-break-time, 45 s), at each of his files. */
static struct plumb_error *open_located(int path_fd, struct pl_work *work, struct pl_elf **ret)
{
	char path[40];
	snprintf(path, sizeof path, "/proc/self/fd/%d", path_fd);
	int fd = pl_own_fd(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	if (fd < 0)
		return no_route("the file may not be read");
	struct plumb_error *err = pl_elf_open_fd(fd, work, ret);
	pl_own_fd_close(fd);
	return err;
}

static struct plumb_error *open_link(const char *link, struct pl_work *work, struct pl_elf **ret)
{
	enum match ignored;
	struct pl_mapping any = {0};
	errno = 0;
	int fd = locate(link, &any, &ignored);
	if (fd < 0)
		return no_route("the kernel shows no link to the file");
	struct plumb_error *err = open_located(fd, work, ret);
	pl_own_fd_close(fd);
	return err;
}

/* By name: the route with the better match wins, the target's root before ours. */
static struct plumb_error *open_named(pid_t pid, const struct pl_image_file *f, struct pl_work *work,
				      struct pl_elf **ret)
{
	const struct pl_mapping *m = f->map;
	char in_root[4200];
	snprintf(in_root, sizeof in_root, "/proc/%d/root%s", (int)pl_proc_live_task(pid), m->path);
	const char *const routes[] = {in_root, m->path};
	int best = -1;
	errno = 0;
	/* A deleted file's name alone says nothing. */
	enum match best_match = m->deleted || f->itself ? MATCH_PATH : MATCH_NONE;
	for (int i = 0; i < 2; i++) {
		enum match match = MATCH_NONE;
		int fd = locate(routes[i], m, &match);
		if (fd >= 0 && match > best_match) {
			if (best >= 0)
				pl_own_fd_close(best);
			best = fd;
			best_match = match;
		} else if (fd >= 0) {
			pl_own_fd_close(fd);
		}
	}
	if (best < 0)
		return no_route("no path leads to the file");
	struct plumb_error *err = open_located(best, work, ret);
	pl_own_fd_close(best);
	return err;
}

static bool same_file(const struct pl_mapping *a, const struct pl_mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/* Copy what the process has mapped of the file to where it is in the file; what cannot be read stays zero, and so does
 * what would be too much. */
static void copy_mapping(struct pl_mem *mem, const struct pl_mapping *m, struct pl_work *work, uint8_t *file,
			 uint64_t size)
{
	uint64_t len = m->end - m->start;
	for (uint64_t at = 0; at < len && m->offset + at < size && pl_work_spend(work, COPY_STEP); at += COPY_STEP) {
		uint64_t step = len - at < COPY_STEP ? len - at : COPY_STEP;
		plumb_error_destroy(pl_mem_read(mem, m->start + at, file + m->offset + at, step));
	}
}

static uint64_t loaded_size(const pl_mapping_vec *maps, const struct pl_mapping *file)
{
	uint64_t size = 0;
	for (size_t i = 0; i < maps->len; i++) {
		const struct pl_mapping *m = &maps->data[i];
		uint64_t len = m->end - m->start;
		if (same_file(m, file) && m->offset < MAX_LOADED && len < MAX_LOADED && m->offset + len > size)
			size = m->offset + len;
	}
	return size;
}

static uint64_t load_bias_of(const struct pl_mapping *m, const uint8_t *file, uint64_t size)
{
	struct pl_elf *e;
	uint64_t bias = 0;
	struct plumb_error *err = pl_elf_open_bytes(file, size, &e);
	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	pl_elf_bias(e, m->start, m->offset, m->executable, &bias);
	pl_elf_close(e);
	return bias;
}

static struct plumb_error *open_loaded(const struct pl_image_place *place, struct pl_image_file *f)
{
	const pl_mapping_vec *maps = place->maps;
	struct pl_mem_live *live;
	uint64_t size = pl_work_spend(place->work, WORK_A_MAPPING * maps->len) ? loaded_size(maps, f->map) : 0;
	if (!size)
		return pl_error(PLUMB_ERR_NOT_FOUND, "nothing of the file can be read");
	struct plumb_error *err = pl_mem_live_create(place->pid, &live);
	if (err)
		return err;
	f->copy = calloc(1, size);
	for (size_t i = 0; f->copy && i < maps->len; i++) {
		const struct pl_mapping *m = &maps->data[i];
		/* Two mappings may share a page of the file: they differ only where data was relocated, which we want.
		 */
		if (same_file(m, f->map) && m->readable && m->end - m->start < MAX_LOADED && m->offset < MAX_LOADED)
			copy_mapping(pl_mem_live_mem(live), m, place->work, f->copy, size);
	}
	pl_mem_live_destroy(live);
	if (!f->copy)
		return &pl_err_no_memory;
	return pl_elf_open_loaded(f->copy, size, load_bias_of(f->map, f->copy, size), place->work, &f->elf);
}

/* Nobody has it open any more: its name is all there is. */
static struct plumb_error *open_below(const struct pl_image_place *place, struct pl_image_file *f)
{
	errno = 0;
	int fd = pl_file_open_below(place->root, place->as, f->map->path);
	if (fd < 0)
		return no_route("no path leads to the file");
	struct plumb_error *err = pl_elf_open_fd(fd, place->work, &f->elf);
	close(fd);
	return err;
}

static struct plumb_error *open_live(const struct pl_image_place *place, struct pl_image_file *f)
{
	char link[80];
	int task = (int)pl_proc_live_task(place->pid);
	if (f->rank == PL_IMAGE_EXE)
		snprintf(link, sizeof link, "/proc/%d/exe", task);
	else
		snprintf(link, sizeof link, "/proc/%d/map_files/%llx-%llx", task, (unsigned long long)f->map->start,
			 (unsigned long long)f->map->end);
	struct plumb_error *err = open_link(link, place->work, &f->elf);
	if (plumb_error_code(err) == PLUMB_ERR_NOT_FOUND) {
		plumb_error_destroy(err);
		err = open_named(place->pid, f, place->work, &f->elf);
	}
	if (plumb_error_code(err) == PLUMB_ERR_NOT_FOUND && (f->rank != PL_IMAGE_OTHER || f->loaded)) {
		plumb_error_destroy(err);
		err = open_loaded(place, f);
	}
	return err;
}

struct plumb_error *pl_image_file_open(const struct pl_image_place *place, struct pl_image_file *f)
{
	if (f->elf)
		return NULL;
	if (f->failed)
		return pl_error(PLUMB_ERR_NOT_FOUND, "the file cannot be opened");
	if (!pl_work_spend(place->work, PL_WORK_OPEN))
		return pl_error(PLUMB_ERR_NOT_FOUND, "enough files were looked into");
	struct plumb_error *err = place->pid ? open_live(place, f) : open_below(place, f);
	f->failed = err != NULL;
	return err;
}

bool pl_image_file_bias(const struct pl_image_file *f, uint64_t *ret)
{
	return pl_elf_bias(f->elf, f->map->start, f->map->offset, f->map->executable, ret);
}

void pl_image_file_close(struct pl_image_file *f)
{
	pl_elf_close(f->elf);
	free(f->copy);
	f->elf = NULL;
	f->copy = NULL;
}
