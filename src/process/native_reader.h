/* SPDX-License-Identifier: Apache-2.0 */
/* Native frames in sampling: the stack of a sample as a node of the trie, with the functions of C, C++ and Rust between
 * those of Python. One for each process; the sampling thread owns it. docs/design/013-native-stacks.md, "Sampling" */
#ifndef PL_NATIVE_READER_H
#define PL_NATIVE_READER_H

#include "native.h"
#include "native_look.h"
#include "reading.h"

struct pl_native_reader {
	struct pl_native *native;
	struct pl_native_taken taken;	      /* of the thread at hand */
	struct pl_ration ration;	      /* for copying stacks, unwinding them, and looking at what is mapped */
	size_t modules;			      /* files that its functions were in */
	struct pl_map codes;		      /* where a native function begins, and its role -> id of its code */
	PL_VEC(struct pl_native_role) roles;  /* of the entries of the stack at hand */
	struct pl_native_look look;	      /* when to look again at what is mapped */
	uint32_t looks;			      /* how often that was */
	const struct pl_code_module *no_file; /* of code that is in no file, since the last look; NULL: none was met */
};

/** @p live, @p py: borrowed. Errors: as pl_native_create. */
struct plumb_error *pl_native_reader_create(pid_t pid, struct pl_mem *live, const struct pl_py *py,
					    struct pl_native_reader **ret) PLUMB_MUST_CHECK;
void pl_native_reader_destroy(struct pl_native_reader *n);
/** What it took to create it. */
uint64_t pl_native_reader_work(const struct pl_native_reader *n);

/** The thread of @p s stands still: its registers and its stack. @p info: it is blocked, and that is what was told of
 * it; NULL: we have stopped it. Could they be had? */
bool pl_native_reader_take(struct pl_native_reader *n, const struct pl_stack_reader *s, pid_t tid,
			   const struct pl_activity_info *info);

/**
 * What was taken becomes a stack; @p s: the reading of that moment, whose Python frames it has. 0: nothing was taken,
 * its frames do not fit together with those of Python, or there is no room for more.
 * Errors: PLUMB_ERR_NO_MEMORY.
 */
struct plumb_error *pl_native_reader_node(struct pl_native_reader *n, struct pl_reader *r,
					  const struct pl_stack_reader *s, uint32_t *ret) PLUMB_MUST_CHECK;

#endif
