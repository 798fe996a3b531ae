/* SPDX-License-Identifier: Apache-2.0 */
/* A core file as memory (layer os). One thread at a time. The segments are read where they are in the file; what the
 * kernel leaves out of a core (code and constants of mapped files) comes from those files, if their first page is the
 * one in the core. What the notes say is in core_notes.c. */
#include "core.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core_notes.h"
#include "map.h"
#include "reopen.h"
#include "target_file.h"

#define MAX_SEGMENTS (1u << 20)
#define MAX_NOTES    (64u << 20)
#define PAGE	     4096

#define CUT_HINT                                                                                                       \
	"a full disk, a limit ('ulimit -c'; ProcessSizeMax of systemd-coredump) or a copy that was broken off cuts "   \
	"cores"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#endif

struct segment {
	pl_addr start, end; /* of what is in the file, if it was not cut */
	uint64_t offset;
};

/* A mapping of the process, in the core or not. */
struct load {
	pl_addr start, end;
	uint32_t flags;
};

struct mapped_file {
	bool asked;
	int fd;			       /* -1: cannot be used */
	const struct pl_mapping *head; /* of its first page, which is in the core; NULL: there is none */
};

struct pl_core {
	struct pl_mem mem; /* first: the reader interface */
	int fd;
	uint64_t size, whole, written_ns; /* whole: size of one that was not cut */
	PL_VEC(struct segment) segments;  /* by address */
	PL_VEC(struct load) loads;
	bool noted;
	struct pl_core_notes notes;
	struct pl_map by_tid;		  /* position among the threads */
	size_t named;			  /* of the mappings; those of files come first, by address */
	PL_VEC(struct mapped_file) files; /* by inode, from 1 */
	struct pl_rights rights;	  /* of whom the files are opened that it names */
	char *root;			  /* in which they are */
};

static bool read_at(int fd, uint64_t offset, void *dst, size_t len)
{
	char *p = dst;

	for (size_t at = 0; at < len;) {
		ssize_t n = offset + at < INT64_MAX ? pread(fd, p + at, len - at, (off_t)(offset + at)) : -1;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static const struct segment *find_segment(const struct pl_core *c, pl_addr addr)
{
	size_t low = 0, high = c->segments.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->segments.data[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->segments.len && c->segments.data[low].start <= addr ? &c->segments.data[low] : NULL;
}

/* The last of a file that begins at @p addr or before. */
static struct pl_mapping *named_before(const struct pl_core *c, pl_addr addr)
{
	struct pl_mapping *maps = c->notes.maps.data;
	size_t low = 0, high = c->named;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (maps[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &maps[low - 1] : NULL;
}

static const struct pl_mapping *find_mapping(const struct pl_core *c, pl_addr addr)
{
	const struct pl_mapping *m = named_before(c, addr);

	return m && addr < m->end ? m : NULL;
}

/* Where the core has the start of a file, that must be the start of the file that bears its name now. */
static bool is_same_file(const struct pl_core *c, int fd, const struct pl_mapping *head)
{
	const struct segment *s = head ? find_segment(c, head->start) : NULL;
	char then[PAGE], now[PAGE];

	if (!s)
		return true; /* this core has no first pages: there is nothing to compare */
	return read_at(c->fd, s->offset + (head->start - s->start), then, PAGE) && read_at(fd, 0, now, PAGE) &&
	       memcmp(then, now, PAGE) == 0;
}

static int open_mapped(struct pl_core *c, const struct pl_mapping *m)
{
	struct mapped_file *f = &c->files.data[m->inode - 1];

	if (f->asked)
		return f->fd;
	f->asked = true;
	if (m->path[0] == '/')
		f->fd = pl_file_open_below(c->root, &c->rights, m->path);
	if (f->fd >= 0 && !is_same_file(c, f->fd, f->head)) {
		close(f->fd);
		f->fd = -1;
	}
	return f->fd;
}

/* Some leading part of the range; 0 if it is nowhere. */
static size_t read_some(struct pl_core *c, pl_addr addr, void *dst, size_t len)
{
	const struct segment *s = find_segment(c, addr);
	const struct pl_mapping *m;

	if (s) {
		len = len < s->end - addr ? len : (size_t)(s->end - addr);
		return read_at(c->fd, s->offset + (addr - s->start), dst, len) ? len : 0;
	}
	m = find_mapping(c, addr);
	int fd = m ? open_mapped(c, m) : -1;
	if (fd < 0)
		return 0;
	len = len < m->end - addr ? len : (size_t)(m->end - addr);
	return read_at(fd, m->offset + (addr - m->start), dst, len) ? len : 0;
}

static struct plumb_error *core_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_core *c = (struct pl_core *)mem;
	char *p = dst;

	while (len) {
		size_t n = read_some(c, addr, p, len);

		if (n == 0)
			return &pl_err_unreadable;
		p += n;
		addr += n;
		len -= n;
	}
	return NULL;
}

static const struct pl_mem_ops core_ops = {.read = core_read};

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static struct plumb_error *not_a_core(const char *path, const char *what)
{
	return pl_error(PLUMB_ERR_NOT_A_CORE, "%s is %s", path, what);
}

static struct plumb_error *check_header(const char *path, const Elf64_Ehdr *e)
{
	if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
		return not_a_core(path, "no ELF file");
	if (e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_ident[EI_DATA] != ELFDATA2LSB || e->e_machine != OUR_MACHINE)
		return pl_error(PLUMB_ERR_NOT_SUPPORTED, "%s is of another kind of machine than this one", path);
	if (e->e_type != ET_CORE)
		return not_a_core(path, "a program or a library, not a core");
	if (e->e_phentsize != sizeof(Elf64_Phdr))
		return not_a_core(path, "damaged");
	return NULL;
}

/* More than 65534 segments: the number is in the first section header. */
static uint64_t segment_count(const struct pl_core *c, const Elf64_Ehdr *e)
{
	Elf64_Shdr first;

	if (e->e_phnum != PN_XNUM)
		return e->e_phnum;
	return read_at(c->fd, e->e_shoff, &first, sizeof first) ? first.sh_info : 0;
}

static int compare_segments(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int compare_mappings(const void *a, const void *b)
{
	const struct pl_mapping *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static struct plumb_error *index_threads(struct pl_core *c)
{
	for (size_t i = c->notes.threads.len; i-- > 0;) /* of several the first */
		if (!pl_map_set(&c->by_tid, (uint64_t)c->notes.threads.data[i].tid, 0, (uint32_t)i))
			return &pl_err_no_memory;
	return NULL;
}

/* The kernel writes one segment of notes. Another one could be the same bytes once more, and so could thousands. */
static struct plumb_error *read_notes(struct pl_core *c, const Elf64_Phdr *p)
{
	if (c->noted)
		return NULL;
	c->noted = true;
	uint64_t len = p->p_filesz < MAX_NOTES ? p->p_filesz : MAX_NOTES;
	void *bytes = malloc(len ? len : 1);

	if (!bytes)
		return &pl_err_no_memory;
	struct plumb_error *err =
		read_at(c->fd, p->p_offset, bytes, len) ? pl_core_notes_parse(bytes, len, &c->notes) : NULL;
	free(bytes);
	return err ? err : index_threads(c);
}

static struct plumb_error *take_load(struct pl_core *c, const Elf64_Phdr *p)
{
	struct load l = {.start = p->p_vaddr, .end = p->p_vaddr + p->p_memsz, .flags = p->p_flags};

	return l.end <= l.start || pl_vec_push(&c->loads, l) ? NULL : &pl_err_no_memory;
}

/* Headers of a forged core may say anything. */
static void take_extent(struct pl_core *c, const Elf64_Phdr *p)
{
	uint64_t end = p->p_offset + p->p_filesz < p->p_offset ? UINT64_MAX : p->p_offset + p->p_filesz;

	if (p->p_filesz && end > c->whole)
		c->whole = end;
}

static struct plumb_error *take_segment(struct pl_core *c, const Elf64_Phdr *p)
{
	uint64_t len = p->p_filesz;
	struct plumb_error *err;

	take_extent(c, p);
	if (p->p_type == PT_NOTE)
		return read_notes(c, p);
	if (p->p_type == PT_LOAD && (err = take_load(c, p)))
		return err;
	/* What was cut off stays a part of it: the file that was mapped has other bytes there. */
	if (p->p_type != PT_LOAD || len == 0 || p->p_vaddr + len < p->p_vaddr)
		return NULL;
	struct segment s = {.start = p->p_vaddr, .end = p->p_vaddr + len, .offset = p->p_offset};
	return pl_vec_push(&c->segments, s) ? NULL : &pl_err_no_memory;
}

/* The notes know files, the segments know rights, and what is no file. */
static struct plumb_error *complete_mapping(struct pl_core *c, const struct load *l)
{
	struct pl_mapping anonymous = {.start = l->start, .end = l->end}, *m = named_before(c, l->start);

	if (!m || m->start != l->start)
		m = &anonymous;
	m->readable = l->flags & PF_R;
	m->writable = l->flags & PF_W;
	m->executable = l->flags & PF_X;
	if (m != &anonymous)
		return NULL;
	anonymous.path = strdup("");
	if (anonymous.path && pl_vec_push(&c->notes.maps, anonymous))
		return NULL;
	free(anonymous.path);
	return &pl_err_no_memory;
}

static struct plumb_error *complete_mappings(struct pl_core *c)
{
	struct plumb_error *err = NULL;

	c->named = c->notes.maps.len;
	if (c->named)
		qsort(c->notes.maps.data, c->named, sizeof *c->notes.maps.data, compare_mappings);
	for (size_t i = 0; i < c->loads.len && !err; i++)
		err = complete_mapping(c, &c->loads.data[i]);
	return err;
}

static bool has_first_page(const struct pl_core *c, const struct pl_mapping *m)
{
	const struct segment *s = m->offset == 0 ? find_segment(c, m->start) : NULL;

	return s && s->end - m->start >= PAGE && s->offset < c->size &&
	       c->size - s->offset >= m->start - s->start + PAGE;
}

static struct plumb_error *list_files(struct pl_core *c)
{
	for (size_t i = 0; i < c->named; i++) {
		const struct pl_mapping *m = &c->notes.maps.data[i];

		while (c->files.len < m->inode)
			if (!pl_vec_push(&c->files, ((struct mapped_file){.fd = -1})))
				return &pl_err_no_memory;
		struct mapped_file *f = &c->files.data[m->inode - 1];
		if (!f->head && has_first_page(c, m))
			f->head = m;
	}
	return NULL;
}

static struct plumb_error *read_segments(struct pl_core *c, const char *path)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;
	struct plumb_error *err;

	if (!read_at(c->fd, 0, &e, sizeof e))
		return not_a_core(path, "too short for a core");
	if ((err = check_header(path, &e)))
		return err;
	uint64_t count = segment_count(c, &e);
	for (uint64_t i = 0; i < count && i < MAX_SEGMENTS && !err; i++) {
		if (!read_at(c->fd, e.e_phoff + i * sizeof p, &p, sizeof p))
			return pl_error_hint(not_a_core(path, "cut within its headers"), CUT_HINT);
		err = take_segment(c, &p);
	}
	if (!err && c->segments.len)
		qsort(c->segments.data, c->segments.len, sizeof *c->segments.data, compare_segments);
	if (err || (err = complete_mappings(c)))
		return err;
	return list_files(c);
}

/* Whom systemd-coredump notes at the cores it keeps: from the kernel, and of the first user namespace. */
static bool noted_user(int fd, uint32_t *ret)
{
	char text[16] = "", *end;
	ssize_t len = fgetxattr(fd, "user.coredump.uid", text, sizeof text - 1);
	unsigned long v = strtoul(text, &end, 10);

	*ret = (uint32_t)v;
	return len > 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && v < UINT32_MAX;
}

/* Whose file a core is cannot be made up, but if others may write to it they may have written it. And root keeps what
 * others dumped: gcore, and whatever is given the cores by the kernel. What stands in the core then tells nothing of
 * its user: the kernel writes the ids as the process's own user namespace has them, in which everybody can be root, or
 * anyone else. And a root that was noted from outside need not be ours: that of most containers has no namespace for
 * users, but other files, and takes on any group. */
static void judge_owner(struct pl_core *c, const struct stat *st)
{
	bool alone = !(st->st_mode & (S_IWGRP | S_IWOTH)); /* with a list the group's bits are of all that it names */
	uint32_t uid;

	if (alone && st->st_uid != 0)
		pl_rights_of_owner(st->st_uid, &c->rights);
	else if (alone && noted_user(c->fd, &uid) && uid)
		pl_rights_of_owner(uid, &c->rights);
	else
		pl_rights_of_all(&c->rights);
}

/* What it is comes first: to open a device can do something (a watchdog restarts the machine). */
static struct plumb_error *open_plain(struct pl_core *c, const char *path, struct stat *st)
{
	c->fd = open(path, O_PATH | O_CLOEXEC);
	if (c->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return pl_error_hint(pl_error(PLUMB_ERR_NOT_FOUND, "there is no file %s", path), "%s",
				     "'cat /proc/sys/kernel/core_pattern' shows where cores go");
	if (c->fd >= 0 && fstat(c->fd, st) == 0 && !S_ISREG(st->st_mode))
		return not_a_core(path, "no plain file");
	int handle = c->fd;
	c->fd = handle < 0 ? -1 : pl_reopen_or_open(handle, AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
	int why = errno;
	if (handle >= 0)
		close(handle);
	return c->fd < 0 || fstat(c->fd, st) != 0 ? pl_error_errno(PLUMB_ERR_SYSTEM, why, "cannot open %s", path)
						  : NULL;
}

static struct plumb_error *open_file(struct pl_core *c, const char *path, bool trusted)
{
	struct stat st;
	struct plumb_error *err = open_plain(c, path, &st);

	if (err)
		return err;
	c->size = c->whole = (uint64_t)st.st_size;
	c->written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	if (!trusted || !pl_rights_of(getpid(), &c->rights))
		judge_owner(c, &st);
	return NULL;
}

struct plumb_error *pl_core_open(const char *path, const char *root, bool trusted, struct pl_core **ret)
{
	struct pl_core *c = calloc(1, sizeof *c);

	if (!c)
		return &pl_err_no_memory;
	c->mem.ops = &core_ops;
	c->fd = -1;
	c->root = strdup(root ? root : "/");
	struct plumb_error *err = c->root ? open_file(c, path, trusted) : &pl_err_no_memory;
	if (!err)
		err = read_segments(c, path);
	if (err) {
		pl_core_close(c);
		return err;
	}
	*ret = c;
	return NULL;
}

void pl_core_close(struct pl_core *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->files.len; i++)
		if (c->files.data[i].fd >= 0)
			close(c->files.data[i].fd);
	pl_vec_deinit(&c->files);
	pl_vec_deinit(&c->segments);
	pl_vec_deinit(&c->loads);
	pl_core_notes_deinit(&c->notes);
	pl_map_deinit(&c->by_tid);
	if (c->fd >= 0)
		close(c->fd);
	free(c->root);
	free(c);
}

struct pl_mem *pl_core_mem(struct pl_core *c)
{
	return &c->mem;
}

const pl_mapping_vec *pl_core_maps(const struct pl_core *c)
{
	return &c->notes.maps;
}

const pl_core_thread_vec *pl_core_threads(const struct pl_core *c)
{
	return &c->notes.threads;
}

const struct pl_core_thread *pl_core_thread_of(const struct pl_core *c, pid_t tid)
{
	uint32_t at;

	return pl_map_get(&c->by_tid, (uint64_t)tid, 0, &at) ? &c->notes.threads.data[at] : NULL;
}

pid_t pl_core_pid(const struct pl_core *c)
{
	return c->notes.pid;
}

const char *pl_core_command(const struct pl_core *c)
{
	return c->notes.command;
}

const char *pl_core_exe(const struct pl_core *c)
{
	return c->notes.exe;
}

uint64_t pl_core_length(const struct pl_core *c, uint64_t *whole)
{
	*whole = c->whole;
	return c->size;
}

/* That there is no Python among the files is not for want of memory, if the notes name them. */
static bool is_for_want_of_memory(const struct pl_core *c, const struct plumb_error *err)
{
	switch (plumb_error_code(err)) {
	case PLUMB_ERR_UNREADABLE:
	case PLUMB_ERR_NOT_READY:
	case PLUMB_ERR_CORRUPT:
		return true;
	case PLUMB_ERR_NOT_PYTHON:
		return c->named == 0;
	default:
		return false;
	}
}

/* Where the kernel left written pages out they are read as they are in the file: as at the start of the program. */
static bool is_state_missing(const struct plumb_error *err)
{
	return plumb_error_code(err) == PLUMB_ERR_UNREADABLE || plumb_error_code(err) == PLUMB_ERR_NOT_READY;
}

static struct plumb_error *without_state(struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);

	plumb_error_destroy(err);
	return pl_error_hint(pl_error(code, "the core does not hold the state of an interpreter"), "%s",
			     "the program ended before there was one, or its /proc/PID/coredump_filter left it out");
}

struct plumb_error *pl_core_blame(const struct pl_core *c, struct plumb_error *err)
{
	if (!is_for_want_of_memory(c, err))
		return err;
	if (c->whole == c->size)
		return is_state_missing(err) ? without_state(err) : err;
	struct plumb_error *cut =
		pl_error(PLUMB_ERR_TRUNCATED, "the core is cut, %" PRIu64 " of %" PRIu64 " bytes are there: %s",
			 c->size, c->whole, plumb_error_message(err));
	plumb_error_destroy(err);
	return pl_error_hint(cut, CUT_HINT);
}

uint64_t pl_core_written_ns(const struct pl_core *c)
{
	return c->written_ns;
}

void pl_core_rights(const struct pl_core *c, struct pl_rights *ret)
{
	*ret = c->rights;
}
