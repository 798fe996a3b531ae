/* SPDX-License-Identifier: Apache-2.0 */
/* ELF64 files, read piece by piece (layer os). A pl_elf may be read from any thread; nothing is cached after opening.
 *
 * Files are read with pread and never mapped: a file that is truncated while we look at it yields a failed read, where
 * a mapping would kill us with SIGBUS. A name is looked up through the GNU hash of .dynsym, whose Bloom filter answers
 * "not here" with one read of 8 bytes. No run-time addresses here: see pl_elf_bias and image.c. */
#include "elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_tables.h"
#include "own_fd.h"

#define MAX_SEGMENTS 512u
#define PAGE	     4096u

static struct plumb_error *check_header(const Elf64_Ehdr *h)
{
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return &pl_err_corrupt;
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return pl_error(PLUMB_ERR_NOT_SUPPORTED, "it is a 32-bit or big-endian program");
	if (h->e_phentsize != sizeof(Elf64_Phdr) && h->e_phnum)
		return &pl_err_corrupt;
	return NULL;
}

/* The section headers, or none: a program runs without them. */
static void read_sections(struct pl_elf *e, const Elf64_Ehdr *h)
{
	if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum)
		return;
	e->sections = pl_elf_copy(e, h->e_shoff, h->e_shnum, sizeof *e->sections, SIZE_MAX);
	e->section_count = e->sections ? h->e_shnum : 0;
	e->section_names = h->e_shstrndx;
}

static struct plumb_error *read_headers(struct pl_elf *e)
{
	Elf64_Ehdr h;
	if (!pl_elf_read(e, 0, &h, sizeof h))
		return &pl_err_corrupt;
	struct plumb_error *err = check_header(&h);
	if (err)
		return err;
	e->object = h.e_type == ET_REL;
	e->segments = pl_elf_copy(e, h.e_phoff, h.e_phnum, sizeof *e->segments, MAX_SEGMENTS * sizeof *e->segments);
	e->segment_count = e->segments ? h.e_phnum : 0;
	read_sections(e, &h);
	pl_elf_find_tables(e);
	return NULL;
}

static struct plumb_error *elf_open(struct pl_elf *e, struct pl_elf **ret)
{
	struct plumb_error *err = read_headers(e);
	if (err) {
		pl_elf_close(e);
		return err;
	}
	*ret = e;
	return NULL;
}

struct plumb_error *pl_elf_open_fd(int fd, struct pl_work *work, struct pl_elf **ret)
{
	struct stat st;
	struct pl_elf *e = calloc(1, sizeof *e);
	if (!e)
		return &pl_err_no_memory;
	e->work = work;
	e->fd = pl_own_fd(fcntl(fd, F_DUPFD_CLOEXEC, 3)); /* to close it may take a file system */
	if (e->fd < 0 || fstat(e->fd, &st) != 0) {
		int saved = errno;
		pl_elf_close(e);
		return pl_error_errno(PLUMB_ERR_SYSTEM, saved, "cannot look at the file");
	}
	e->size = S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
	return elf_open(e, ret);
}

struct plumb_error *pl_elf_open_bytes(const void *bytes, size_t len, struct pl_elf **ret)
{
	return pl_elf_open_loaded(bytes, len, 0, NULL, ret);
}

struct plumb_error *pl_elf_open_loaded(const void *bytes, size_t len, uint64_t bias, struct pl_work *work,
				       struct pl_elf **ret)
{
	struct pl_elf *e = calloc(1, sizeof *e);
	if (!e)
		return &pl_err_no_memory;
	e->fd = -1;
	e->bytes = bytes;
	e->size = len;
	e->bias = bias;
	e->work = work;
	return elf_open(e, ret);
}

void pl_elf_close(struct pl_elf *e)
{
	if (!e)
		return;
	pl_own_fd_close(e->fd);
	free(e->segments);
	free(e->sections);
	free(e);
}

const Elf64_Shdr *pl_elf_section_named(const struct pl_elf *e, const char *name)
{
	char text[32];
	size_t len = strlen(name) + 1;
	if (!e->section_count || len > sizeof text)
		return NULL;
	const Elf64_Shdr *names = &e->sections[e->section_names];
	for (size_t i = 0; i < e->section_count; i++) {
		const Elf64_Shdr *s = &e->sections[i];
		if (s->sh_name >= names->sh_size || len > names->sh_size - s->sh_name)
			continue;
		if (!pl_elf_read(e, names->sh_offset + s->sh_name, text, len) || memcmp(text, name, len) != 0)
			continue;
		return s;
	}
	return NULL;
}

bool pl_elf_section(const struct pl_elf *e, const char *name, struct pl_elf_symbol *ret)
{
	const Elf64_Shdr *s = pl_elf_section_named(e, name);
	if (s)
		*ret = (struct pl_elf_symbol){.value = s->sh_addr, .size = s->sh_size};
	return s;
}

void *pl_elf_copy_section(const struct pl_elf *e, const char *name, size_t max_bytes, size_t *len_ret)
{
	const Elf64_Shdr *s = pl_elf_section_named(e, name);
	if (!s || s->sh_type == SHT_NOBITS)
		return NULL;
	*len_ret = s->sh_size;
	return pl_elf_copy(e, s->sh_offset, s->sh_size, 1, max_bytes);
}

bool pl_elf_placed_code(const struct pl_elf *e, size_t *at, struct pl_elf_symbol *ret)
{
	while (*at < e->section_count) {
		const Elf64_Shdr *s = &e->sections[(*at)++];

		if (!(s->sh_flags & SHF_EXECINSTR) || !s->sh_addr || !s->sh_size ||
		    s->sh_addr + s->sh_size < s->sh_addr)
			continue;
		*ret = (struct pl_elf_symbol){.value = s->sh_addr, .size = s->sh_size};
		return true;
	}
	return false;
}

uint64_t pl_elf_load_base(const struct pl_elf *e)
{
	for (size_t i = 0; i < e->segment_count; i++)
		if (e->segments[i].p_type == PT_LOAD)
			return e->segments[i].p_vaddr & ~(uint64_t)(PAGE - 1);
	return 0;
}

/* The file offset where the kernel begins to map a segment: it maps whole pages. */
static uint64_t mapped_offset(const Elf64_Phdr *s)
{
	return s->p_offset & ~(uint64_t)(PAGE - 1);
}

static bool maps_offset(const struct pl_elf *e, const Elf64_Phdr *s, uint64_t offset, bool executable)
{
	if (s->p_type != PT_LOAD || !(s->p_flags & PF_X) != !executable)
		return false;
	if (s->p_offset > e->size || s->p_filesz > e->size - s->p_offset)
		return false;
	return offset >= mapped_offset(s) && offset < s->p_offset + s->p_filesz;
}

bool pl_elf_bias(const struct pl_elf *e, uint64_t start, uint64_t offset, bool executable, uint64_t *ret)
{
	const Elf64_Phdr *best = NULL;
	for (size_t i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *s = &e->segments[i];
		/* Two neighbours share a page of the file: it is mapped twice, and begins the mapping of the second. */
		if (maps_offset(e, s, offset, executable) && (!best || mapped_offset(s) > mapped_offset(best)))
			best = s;
	}
	if (!best)
		return false;
	*ret = start - (best->p_vaddr - best->p_offset + offset);
	return true;
}
