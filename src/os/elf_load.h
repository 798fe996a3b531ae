/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file as the loader would lay it out at the addresses that it has in the file. The file is hostile input, as in
 * elf.h. */
#ifndef PL_ELF_LOAD_H
#define PL_ELF_LOAD_H

#include "elf.h"

struct pl_elf_image {
	uint8_t *bytes;
	size_t len;
	uint64_t base;		 /* address of the first byte */
	uint64_t code, code_end; /* what may be executed lies in between */
};

/** Pointers in its data are those to the file itself; what another file has is 0. False: it is larger than @p
 * max_bytes, may not be looked at, or no memory. Release with pl_elf_image_deinit. */
bool pl_elf_load(const struct pl_elf *e, size_t max_bytes, struct pl_elf_image *ret);
void pl_elf_image_deinit(struct pl_elf_image *i);

/** So much had to be done with what it has, beside reading it. */
void pl_elf_note(const struct pl_elf *e, uint64_t units);

/** Does its dynamic symbol table name one of the @p n functions, be it its own or another file's? */
bool pl_elf_mentions(const struct pl_elf *e, const char *const *names, size_t n);

#endif
