/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols and sections of an ELF64 file (x86-64 and any little-endian LP64). The file is hostile input: every offset is
 * checked, every loop is bounded. */
#ifndef PL_ELF_H
#define PL_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "work.h"

struct pl_elf; /* a file that is read piece by piece, or bytes in memory */

/** Keeps a duplicate of @p fd, which may be closed. What is read of it takes from @p work (borrowed; NULL: no limit);
 * what would take more than is left counts as not there. Errors: PLUMB_ERR_CORRUPT (static: no ELF file),
 * PLUMB_ERR_NOT_SUPPORTED (32 bits or big endian), PLUMB_ERR_NO_MEMORY, PLUMB_ERR_SYSTEM. */
struct plumb_error *pl_elf_open_fd(int fd, struct pl_work *work, struct pl_elf **ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_elf_open_bytes(const void *bytes, size_t len,
				      struct pl_elf **ret) PLUMB_MUST_CHECK; /* borrows */
/** As pl_elf_open_bytes, for a file put together from the memory of a process that has it mapped: the addresses in its
 * dynamic section may have had @p bias added. */
struct plumb_error *pl_elf_open_loaded(const void *bytes, size_t len, uint64_t bias, struct pl_work *work,
				       struct pl_elf **ret) PLUMB_MUST_CHECK;
void pl_elf_close(struct pl_elf *e);

struct pl_elf_symbol {
	uint64_t value, size;
};

enum pl_elf_table {
	PL_ELF_DYNAMIC = 1, /* .dynsym: through its hash, a few small reads */
	PL_ELF_STATIC = 2,  /* .symtab: reads all of it */
};

/**
 * Look up @p n <= 32 defined symbols at once in @p tables (bits of enum pl_elf_table). Entries of @p ret whose value is
 * not 0 are taken as found before and kept; what is not found stays as it is. Returns how many have a value then.
 */
size_t pl_elf_symbols(const struct pl_elf *e, unsigned tables, const char *const *names, size_t n,
		      struct pl_elf_symbol *ret);
/** Look in .dynsym, then in .symtab. */
bool pl_elf_symbol(const struct pl_elf *e, const char *name, struct pl_elf_symbol *ret);
bool pl_elf_section(const struct pl_elf *e, const char *name, struct pl_elf_symbol *ret /* value: address */);
/** The bytes of a section, in a new block. NULL: there is none, it has more than @p max_bytes, or no memory. */
void *pl_elf_copy_section(const struct pl_elf *e, const char *name, size_t max_bytes, size_t *len_ret);
/** The next section of code that was put somewhere, from the section @p at on, which starts as 0: of an object file
 * that a JIT compiler tells of. value: its address. False: there are no more. */
bool pl_elf_placed_code(const struct pl_elf *e, size_t *at, struct pl_elf_symbol *ret);
/** Virtual address of the first PT_LOAD, page-truncated; run-time address = symbol + (lowest mapping - this). */
uint64_t pl_elf_load_base(const struct pl_elf *e);
/** What to add to a symbol's value when the file's bytes from @p offset on are mapped at @p start; false if no segment
 * (that is or is not @p executable) holds them. Certain for code and for offset 0; data segments may share a page of
 * the file. */
bool pl_elf_bias(const struct pl_elf *e, uint64_t start, uint64_t offset, bool executable, uint64_t *ret);
/** True if a library whose name begins with @p prefix is needed (DT_NEEDED). */
bool pl_elf_needs(const struct pl_elf *e, const char *prefix);

#endif
