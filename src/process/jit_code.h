/* SPDX-License-Identifier: Apache-2.0 */
/* Code that a JIT compiler has made, and tells of by the interface that GDB has for that (LLVM, and so numba, do so): a
 * list in the memory of the process, of object files as they are in memory. They have names and unwind tables. */
#ifndef PL_JIT_CODE_H
#define PL_JIT_CODE_H

#include "elf_functions.h"
#include "image_in_memory.h"
#include "maps.h"

#define PL_JIT_LISTS_MAX 8

/** The head of a list: `struct jit_descriptor`. */
struct pl_jit_head {
	uint32_t version, action;
	pl_addr last, first; /* the entry that was added or removed last, the first one of the list */
};

/** A list, and how it began when it was read. */
struct pl_jit_list {
	pl_addr at;
	struct pl_jit_head head;
};

struct pl_jit_object; /* private */

/** A piece of code of an object. */
struct pl_jit_piece {
	pl_addr start, end;
	struct pl_jit_object *object;
};

/** Of one process. Starts as {0}. */
struct pl_jit_code {
	struct pl_jit_list lists[PL_JIT_LISTS_MAX];
	size_t list_count;
	PL_VEC(struct pl_jit_object *) objects; /* by the place of their tables */
	PL_VEC(struct pl_jit_piece) pieces;	/* sorted, not overlapping */
};

void pl_jit_code_deinit(struct pl_jit_code *j);

/** Has the process made or dropped code since the last look? */
bool pl_jit_code_moved(const struct pl_jit_code *j, struct pl_mem *live);

/**
 * Read the lists. @p search: look for them first, in what is mapped to be written to. What makes no sense, or is too
 * much, is not there. *changed_ret: pieces are other ones than before, which are gone.
 * *work_ret: about how many bytes were looked at. Errors: PLUMB_ERR_NO_MEMORY.
 */
struct plumb_error *pl_jit_code_look(struct pl_jit_code *j, struct pl_mem *live, const pl_mapping_vec *maps,
				     bool search, bool *changed_ret, uint64_t *work_ret) PLUMB_MUST_CHECK;

/** The image of a piece. */
struct pl_unwind_image pl_jit_piece_image(const struct pl_jit_piece *p);
/** Its functions, by address. */
struct pl_functions *pl_jit_piece_functions(const struct pl_jit_piece *p);
/** Bytes of unwind tables, as they were when they were read. False: these are none. */
bool pl_jit_code_read(const struct pl_jit_code *j, pl_addr addr, void *dst, size_t len);

#endif
