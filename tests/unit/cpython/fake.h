/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up process: memory that tests write Python's structs into, through the same layout that the code reads them
 * by. */
#ifndef PL_TEST_FAKE_H
#define PL_TEST_FAKE_H

#include "code.h"
#include "detect.h"
#include "frame.h"
#include "threads.h"

#define FAKE_PREFETCHES 512

struct fake_region {
	pl_addr addr;
	size_t len;
	uint8_t *bytes;
};

struct fake {
	struct pl_mem mem;
	PL_VEC(struct fake_region) regions;
	struct pl_range prefetched[FAKE_PREFETCHES];
	size_t prefetches, reads;
	pl_addr next; /* fake_new's next address */
};

void fake_init(struct fake *f);
void fake_deinit(struct fake *f);
/** @p len zero bytes at @p addr. */
void fake_map(struct fake *f, pl_addr addr, size_t len);
/** @p len zero bytes somewhere, 16-aligned, with unreadable bytes around them. */
pl_addr fake_new(struct fake *f, size_t len);
/** Write inside one region; an assert if it is not mapped. PL_NONE as a field offset writes nothing. */
void fake_put(struct fake *f, pl_addr addr, const void *bytes, size_t len);
void fake_u64(struct fake *f, pl_addr addr, uint64_t value);
void fake_field(struct fake *f, pl_addr addr, uint32_t at, uint64_t value, size_t width);

/** A detected Python of @p minor: its row, or for 3.13+ its reference row, finished. */
struct pl_py fake_py(int minor);
struct pl_py fake_py27(void);
/** The free-threaded build of 3.13+. */
struct pl_py fake_py_free_threaded(int minor);
/** A compact str of ASCII text; 2.7: bytes. */
pl_addr fake_str(struct fake *f, const struct pl_py *py, const char *text);
pl_addr fake_bytes(struct fake *f, const struct pl_py *py, const void *bytes, size_t len);
/** A code object of py->code_type; @p units of bytecode. */
pl_addr fake_code(struct fake *f, const struct pl_py *py, const char *name, const char *file, int firstlineno,
		  uint32_t units);
/** The count of references to an object that begins with it. */
void fake_refer(struct fake *f, const struct pl_py *py, pl_addr object, uint64_t count);
/** Write a frame's header at @p addr (mapped already). @p instr: a byte offset into the code. */
void fake_frame(struct fake *f, const struct pl_py *py, pl_addr addr, pl_addr previous, pl_addr code, uint8_t owner,
		uint32_t instr);

#endif
