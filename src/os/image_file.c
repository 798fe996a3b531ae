/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file that another process has mapped (layer os). Any thread.
 *
 * The path in /proc/PID/maps is relative to our root when the target was chroot-ed in our mount namespace, and to the
 * target's root when it lives in a container; and another file may have taken its place since. So several routes are
 * tried, and device and inode decide. The kernel's own links (exe, map_files) always lead to the right file, even a
 * deleted one, but map_files needs a privilege. If no route is left, the loaded parts of the file are copied out of the
 * process.
 *
 * That is for an interpreter, of whose file nothing is shown. What is shown of a file the target must have been able to
 * read itself: it has chosen the file, and we may be root. */
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
#define PATH_BYTES 4200

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

static enum match match_of(int fd, const struct pl_mapping *m)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return MATCH_NONE;
	bool same_device = major(st.st_dev) == m->dev_major && minor(st.st_dev) == m->dev_minor;
	return st.st_ino != m->inode ? MATCH_PATH : same_device ? MATCH_ALL : MATCH_INODE;
}

/* A handle on @p path that neither blocks on a FIFO nor wakes a device; -1 if it is no plain file. */
static int locate(const char *path, const struct pl_mapping *m, enum match *match)
{
	int fd = pl_own_fd(open(path, O_PATH | O_CLOEXEC)); /* a file system may be waited for */
	if (fd < 0)
		return -1;
	*match = match_of(fd, m);
	if (*match != MATCH_NONE)
		return fd;
	pl_own_fd_close(fd);
	return -1;
}

static struct plumb_error *open_located(int path_fd, struct pl_work *work, struct pl_elf **ret)
{
	int fd = pl_own_fd(pl_file_reopen(NULL, path_fd));
	if (fd < 0)
		return no_route("the file may not be read");
	struct plumb_error *err = pl_elf_open_fd(fd, work, ret);
	pl_own_fd_close(fd);
	return err;
}

/* ---- to look for an interpreter ---------------------------------------------------------------------------------- */

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

static void path_in_root(pid_t pid, const struct pl_mapping *m, char ret[static PATH_BYTES])
{
	snprintf(ret, PATH_BYTES, "/proc/%d/root%s", (int)pl_proc_live_task(pid), m->path);
}

/* By name: the route with the better match wins, the target's root before ours. */
static struct plumb_error *open_named(pid_t pid, const struct pl_image_file *f, struct pl_work *work,
				      struct pl_elf **ret)
{
	const struct pl_mapping *m = f->map;
	char in_root[PATH_BYTES];
	path_in_root(pid, m, in_root);
	const char *const routes[] = {in_root, m->path};
	int best = -1;
	errno = 0;
	/* A deleted file's name alone says nothing. */
	enum match best_match = m->deleted ? MATCH_PATH : MATCH_NONE;
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

/* ---- to show something of it ------------------------------------------------------------------------------------- */

/* By our rights to where it is, by the target's into it. *barred: it is the file, and not for the target. The number of
 * the inode alone is no proof that it is: who makes files chooses it. It is enough where the target could have opened
 * the file itself, by its rights and from where it is. */
static int reopen(const struct pl_image_place *place, const char *route, const struct pl_mapping *m, enum match least,
		  bool *barred)
{
	enum match match;
	int handle = locate(route, m, &match), fd = -1;

	if (handle >= 0 && match >= least) {
		fd = pl_own_fd(pl_file_reopen(&place->shown_to->rights, handle));
		*barred |= fd < 0 && errno == EACCES;
	}
	pl_own_fd_close(handle);
	return fd;
}

/* The kernel's own link leads to what is mapped there now, which may be a program that the target has executed since
 * and may not read. */
static int open_mapped(const struct pl_image_place *place, const struct pl_mapping *m, bool *barred)
{
	char link[80];

	snprintf(link, sizeof link, "/proc/%d/map_files/%llx-%llx", (int)pl_proc_live_task(place->pid),
		 (unsigned long long)m->start, (unsigned long long)m->end);
	int fd = reopen(place, link, m, MATCH_INODE, barred);
	if (fd >= 0 && !pl_file_view_holds(place->pid, place->shown_to)) {
		pl_own_fd_close(fd);
		return -1;
	}
	return fd;
}

static int if_it_is(int fd, const struct pl_mapping *m)
{
	fd = pl_own_fd(fd);
	if (fd < 0 || match_of(fd, m) >= MATCH_INODE)
		return fd;
	pl_own_fd_close(fd);
	return -1;
}

/* As the target would itself, from its root directory; that of one that has ended was ours if it saw what we see. */
static int open_as_target(const struct pl_image_place *place, const struct pl_mapping *m)
{
	const struct pl_file_view *v = place->shown_to;
	int fd = if_it_is(pl_target_file_open(place->pid, v, m->path), m);

	if (fd < 0 && pl_file_view_has_our_mounts(v))
		fd = if_it_is(pl_file_open_below("/", &v->rights, m->path), m);
	return fd;
}

static struct plumb_error *open_shown(const struct pl_image_place *place, struct pl_image_file *f)
{
	const struct pl_mapping *m = f->map;
	char in_root[PATH_BYTES];
	bool barred = false;

	errno = 0;
	int fd = open_mapped(place, m, &barred);
	path_in_root(place->pid, m, in_root);
	if (fd < 0 && !barred)
		fd = reopen(place, in_root, m, MATCH_ALL, &barred);
	if (fd < 0 && !barred)
		fd = reopen(place, m->path, m, MATCH_ALL, &barred);
	if (fd < 0 && !barred)
		fd = open_as_target(place, m);
	if (barred)
		return pl_error(PLUMB_ERR_NOT_PERMITTED, "the program may not read the file");
	if (fd < 0)
		return no_route("no route leads to the file");
	struct plumb_error *err = pl_elf_open_fd(fd, place->work, &f->elf);
	pl_own_fd_close(fd);
	return err;
}

/* ---- from memory ------------------------------------------------------------------------------------------------- */

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
	if (place->shown_to && !pl_file_view_holds(place->pid, place->shown_to))
		return pl_error(PLUMB_ERR_NOT_FOUND, "the process is another one by now");
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

static struct plumb_error *open_to_look(const struct pl_image_place *place, struct pl_image_file *f)
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
	return err;
}

static struct plumb_error *open_live(const struct pl_image_place *place, struct pl_image_file *f)
{
	struct plumb_error *err = place->shown_to ? open_shown(place, f) : open_to_look(place, f);

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
