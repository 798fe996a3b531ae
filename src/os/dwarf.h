/* SPDX-License-Identifier: Apache-2.0 */
/* Where in its source code an instruction of a file comes from, by the file's debug information (DWARF 2 to 5). The
 * file is hostile input, as in elf.h. */
#ifndef PL_DWARF_H
#define PL_DWARF_H

#include "elf.h"
#include "rights.h"

struct pl_dwarf;

/** Of @p e, which may be closed then. What it has in common with others is in a file of its own, which is opened with
 * the rights @p as, NULL: our own. What is read and looked at takes from the file's work, as in elf.h. *ret: NULL if
 * it has no debug information that can be read. Errors: PLUMB_ERR_NO_MEMORY. Owner of *ret: caller. */
struct plumb_error *pl_dwarf_open(const struct pl_elf *e, const struct pl_rights *as,
				  struct pl_dwarf **ret) PLUMB_MUST_CHECK;
/** NULL-safe. */
void pl_dwarf_close(struct pl_dwarf *d);

/** A function that an instruction is of. Valid during the call that tells of it. */
struct pl_dwarf_place {
	const char
		*function; /* as a symbol would have it where that is told, else as the source has it; NULL: not told */
	const char *file;  /* its path when it was compiled; NULL: not told */
	uint32_t line;	   /* that the instruction is of, or that calls the one before; 0: not told */
	bool inlined;	   /* into the next one */
};

/** Tell of the instruction at @p addr, which is as in the file: of the innermost function first, of that which it was
 * compiled into last. Returns how many there are; 0: nothing is known. */
size_t pl_dwarf_places(struct pl_dwarf *d, uint64_t addr, void (*tell)(void *ctx, const struct pl_dwarf_place *p),
		       void *ctx);

#endif
