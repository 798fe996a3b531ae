/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects: what a frame runs. */
#ifndef PL_CODE_H
#define PL_CODE_H

#include "buf.h"
#include "detect.h"

#define PL_MAX_NAME_BYTES      (64 * 1024)
#define PL_MAX_LINETABLE_BYTES (4 * 1024 * 1024)

/** The words that prove that a code object at a reused address is still the one we know. */
struct pl_code_proof {
	pl_addr type, name, filename, linetable;
	uint32_t firstlineno, version; /* version: co_version, 3.12+ (0 below) */
	uint64_t name_hash; /* <= 3.11: the name's own hash; a new function can get all the old one's addresses */
};

/** One small read. pl_err_corrupt if the object is not a code object (when py->code_type is known). */
struct plumb_error *pl_code_proof_read(struct pl_mem *mem, const struct pl_py *py, pl_addr code,
				       struct pl_code_proof *ret) PLUMB_MUST_CHECK;
bool pl_code_proof_equal(const struct pl_code_proof *a, const struct pl_code_proof *b);
/** The range pl_code_proof_read reads: so that a caller can fetch it together with others. */
struct pl_range pl_code_proof_range(const struct pl_py *py, pl_addr code);

/** <= 3.11: the last 8 bytes of the file name. Code that is made anew under a name that all such code has (<lambda>)
 * can get every word of the proof of what was there before, down to the address of its file name. */
struct pl_code_file_end {
	pl_addr addr; /* 0: nothing to compare */
	uint64_t bytes;
};

/** Is it what it was? One small read. */
bool pl_code_file_end_holds(struct pl_mem *mem, const struct pl_code_file_end *end);

/** Everything about a code object that outlives it. Text is UTF-8 (surrogates passed through). */
struct pl_code {
	struct pl_code_proof proof;
	struct pl_buf name, qualname, filename, linetable; /* qualname == name below 3.11 */
	struct pl_code_file_end file_end;
	uint32_t firstlineno;
	uint64_t instr_base;	 /* 3.11+: address of the first code unit; <= 3.10: 0 */
	uint32_t code_bytes;	 /* length of the bytecode if known, else UINT32_MAX */
	uint32_t firsttraceable; /* in bytes from instr_base; 0 if unknown */
	bool suspends; /* generators, coroutines; false where the layout does not tell (3.13+: the frame's owner does)
			*/
	bool hidden;   /* code that never gets as far as its first traceable instruction: 3.13+ puts such a frame (named
			* __init__) between a class call and the real __init__. Python does not show it in tracebacks; nor
			* should we. And code named <plumb>: wrappers of the Python package (_unseen.py). */
};

void pl_code_init(struct pl_code *c);
void pl_code_deinit(struct pl_code *c);
/** Read all of it. Re-reads the proof words at the end: PLUMB_ERR_STALE if they moved. @p ret must be init-ed;
 * reusable. */
struct plumb_error *pl_code_read(struct pl_mem *mem, const struct pl_py *py, pl_addr code,
				 struct pl_code *ret) PLUMB_MUST_CHECK;

struct pl_frame;
/**
 * Free-threaded 3.14+: each thread runs a copy of the bytecode of its own. Where the copy that @p f runs begins; for
 * copy 0, and in all other builds, that is the code object's own bytecode. Copies stay where they are until
 * pl_interp.tlbc_generation moves. Errors: pl_err_unreadable, pl_err_corrupt.
 */
struct plumb_error *pl_code_copy_base(struct pl_mem *mem, const struct pl_py *py, const struct pl_frame *f,
				      pl_addr *ret) PLUMB_MUST_CHECK;
/** Make @p f, which runs the copy that begins at @p base, a frame that runs the bytecode that begins at @p own. */
void pl_code_leave_copy(struct pl_frame *f, pl_addr base, pl_addr own);

/** Byte offset of frame->instr inside the bytecode, -1 if the frame is still being set up, if it runs a copy (see
 * above) or if the pointer is outside the code. */
int32_t pl_code_offset(const struct pl_py *py, const struct pl_code *c, const struct pl_frame *f);

#endif
