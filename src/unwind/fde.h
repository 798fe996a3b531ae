/* SPDX-License-Identifier: Apache-2.0 */
/* The description of one function in .eh_frame (FDE) and what it shares with others (CIE). */
#ifndef PL_UNWIND_FDE_H
#define PL_UNWIND_FDE_H

#include "image_in_memory.h"

#define PL_FDE_BYTES (1u << 20) /* the longest that is read; real ones have some thousand bytes at most */

struct pl_cfi_program {
	pl_addr from, to;
};

struct pl_fde {
	pl_addr start, end; /* of the code that it describes */
	uint64_t code_align;
	int64_t data_align;
	uint64_t pc_column;
	uint8_t encoding;		   /* of addresses of code */
	bool signal;			   /* its caller was interrupted: the kernel has called it */
	struct pl_cfi_program shared, own; /* the instructions of the CIE, then its own */
};

/** All that the .eh_frame at @p from has, sorted by their code, for an image without an index; each is some steps. What
 * makes no sense ends it. False without memory. */
bool pl_fde_list(struct pl_mem *mem, pl_addr from, pl_addr to, size_t *steps, pl_fde_place_vec *ret);

/** That of the code at @p pc. False: nothing describes it, or makes no sense. */
bool pl_fde_find(const struct pl_unwind_image *i, struct pl_mem *mem, pl_addr pc, struct pl_fde *ret);

#endif
