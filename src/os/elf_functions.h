/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of an ELF file by address. The file is hostile input, as in elf.h. */
#ifndef PL_ELF_FUNCTIONS_H
#define PL_ELF_FUNCTIONS_H

#include "elf.h"

struct pl_functions;

/** An empty set. Owner of *ret: caller. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_functions_create(struct pl_functions **ret) PLUMB_MUST_CHECK;
void pl_functions_destroy(struct pl_functions *f);

/** Add the functions that @p e names: those of its .symtab, or, if it was stripped of that, of .dynsym and of the
 * .symtab that is packed in .gnu_debugdata. What cannot be read, or is too much, is not there. *stripped_ret: it has
 * neither .symtab. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_functions_add(struct pl_functions *f, const struct pl_elf *e,
				     bool *stripped_ret) PLUMB_MUST_CHECK;

/** Those that are not packed: nothing has to be unpacked for them. False without memory. */
bool pl_functions_add_plain(struct pl_functions *f, const struct pl_elf *e);
/** One more, that no symbol names and whose size is not known. False without memory. */
bool pl_functions_add_one(struct pl_functions *f, uint64_t addr, const char *name);

/** One that something else than a file tells of. @p name: not ended by a NUL. False without memory. */
bool pl_functions_add_sized(struct pl_functions *f, uint64_t addr, uint64_t size, const char *name, size_t len);

/** What they take in memory. */
uint64_t pl_functions_bytes(const struct pl_functions *f);
/** How many there are, and where one of them begins. */
size_t pl_functions_count(const struct pl_functions *f);
uint64_t pl_functions_begin(const struct pl_functions *f, size_t i);

/** Keep those whose names are wanted; and no more of them, nor of a name, than programs have. */
void pl_functions_keep(struct pl_functions *f, bool (*is_wanted)(const char *name));

/** Once, if it was not done yet: what the first question would cost. */
void pl_functions_sort(struct pl_functions *f);

/**
 * The name of the function that has @p addr, which is as in the file. Of several at one place the one that programs
 * call: "read", not "__libc_read". @p begin: where the function begins by another source, for those whose size the file
 * does not tell; 0: not known. NULL: none. Valid until the set changes.
 */
const char *pl_functions_find(struct pl_functions *f, uint64_t addr, uint64_t begin);

#endif
