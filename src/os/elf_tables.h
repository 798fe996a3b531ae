/* SPDX-License-Identifier: Apache-2.0 */
/* What elf.c (the file), elf_symbols.c (its symbol tables) and elf_read.c (its bytes) share. */
#ifndef PL_ELF_TABLES_H
#define PL_ELF_TABLES_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "work.h"

/* File offsets of one symbol table; all zero: there is none. */
struct pl_elf_symtab {
	uint64_t symbols, symbol_count;
	uint64_t strings, strings_len;
	uint64_t hash, hash_len; /* DT_GNU_HASH; length 0: none */
};

struct pl_elf {
	int fd; /* -1: bytes */
	const uint8_t *bytes;
	uint64_t size;
	struct pl_work *work; /* NULL: no limit */
	uint64_t bias;	      /* of addresses in PT_DYNAMIC, where the loader may have relocated them; else 0 */
	bool object;	      /* ET_REL: symbols count from their sections */
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	size_t segment_count, section_count, section_names;
	struct pl_elf_symtab dynamic, all;
};

/** May so much more be looked at? */
bool pl_elf_may(const struct pl_elf *e, uint64_t units);
/** Copy exactly @p len bytes at @p offset of the file; false if they are not all there, or may not be looked at. */
bool pl_elf_read(const struct pl_elf *e, uint64_t offset, void *dst, size_t len);
/** The same into a new block of @p count items; NULL for none, for more than @p max_bytes, and without memory. */
void *pl_elf_copy(const struct pl_elf *e, uint64_t offset, uint64_t count, size_t size, size_t max_bytes);
/** NULL: there is none. */
const Elf64_Shdr *pl_elf_section_named(const struct pl_elf *e, const char *name);
/** Fill in e->dynamic and e->all from the headers. */
void pl_elf_find_tables(struct pl_elf *e);

#endif
