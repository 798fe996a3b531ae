/* SPDX-License-Identifier: Apache-2.0 */
/* The code objects seen so far. Code objects die and their addresses are used again, so an address alone says nothing:
 * each use is proved fresh, by the interpreter's code generation (3.14+) or by reading the object's own words again. */
#ifndef PL_CODES_H
#define PL_CODES_H

#include "code.h"
#include "code_modules.h"
#include "frame.h"
#include "map.h"
#include "native_names.h"
#include "ration.h"
#include "vec.h"

/** A native function: where it is. Its name is looked for by who shows it. */
struct pl_native_code {
	const struct pl_code_module *module; /* NULL: it is in no file, and has its name with it */
	uint64_t place, begin; /* in the file: some address in it; where it begins by the unwind tables, 0: not known */
	struct pl_native_role role;
	bool jit;    /* a JIT compiler has made it */
	bool kernel; /* of the kernel, in no file */
};

/** The content of a code object. Immutable and at a fixed address once published. */
struct pl_known_code {
	struct pl_code code;
	enum pl_line_table lines; /* how its line table is to be read */
	bool is_native;		  /* a function of C, C++ or Rust, and no code object: */
	struct pl_native_code native;
	uint32_t id;
	uint32_t same_hash; /* next code with the same content hash, UINT32_MAX at the end */
	uint32_t process;   /* number in the output of the first that ran it */
	uint32_t view; /* of that process, when the code was seen; 0: it changed just then, or a thread has another */
};

/** A code object's address and what proves that it still holds that content. */
struct pl_code_slot {
	struct pl_code_proof proof;
	struct pl_code_file_end file_end;
	uint64_t instr_base;
	uint64_t tick;	     /* of the last proof */
	uint64_t generation; /* of the last proof; 0 unknown */
	uint32_t code;
	PL_VEC(pl_addr) copies; /* free-threaded 3.14+: where each thread's bytecode begins, by its index; 0 unknown */
};

/** Contents, shared by all targets: the workers of one program run the same code. */
struct pl_code_store {
	PL_VEC(struct pl_known_code *) known; /* by id */
	struct pl_map by_hash;		      /* content hash -> first known code */
	size_t max;			      /* 0: no limit */
	size_t bytes, max_bytes;	      /* of their contents */
	struct pl_code_modules modules;
};

void pl_code_store_deinit(struct pl_code_store *s);
/** The id of a native function. @p name: of one that is in no file. Errors: pl_err_limit, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_code_store_native(struct pl_code_store *s, const struct pl_native_code *native, const char *name,
					 uint32_t process, uint32_t *ret) PLUMB_MUST_CHECK;

/** Addresses, which mean something in one address space only. */
struct pl_codes {
	struct pl_code_store *store; /* the caller's */
	uint32_t process;	     /* number in the output */
	struct pl_ration ration;     /* for code that was not seen before */
	PL_VEC(struct pl_code_slot) slots;
	struct pl_map by_addr; /* address -> position in `slots` */
	size_t most;	       /* of them, then all are forgotten: a program can have code at ever more addresses */
	uint32_t first;	       /* number of the first of them: none is used again */
	size_t copies;	       /* of bytecode, that are remembered for all of them */
	uint32_t tlbc_generation;
};

void pl_codes_init(struct pl_codes *c, struct pl_code_store *store);
void pl_codes_deinit(struct pl_codes *c);
/** The target runs another program: no address means anything any more. Published codes and their ids stay. */
void pl_codes_forget(struct pl_codes *c);

/** Copies of bytecode have been freed since the last reading if @p generation (of pl_interp) has moved: their addresses
 * mean nothing any more. */
void pl_codes_note_copies(struct pl_codes *c, uint32_t generation);

/** NULL: it was forgotten. */
static inline const struct pl_code_slot *pl_codes_slot(const struct pl_codes *c, uint32_t slot)
{
	const uint32_t at = slot - c->first;

	return at < c->slots.len ? &c->slots.data[at] : NULL;
}

/** Is the slot proved for this reading already? */
static inline bool pl_codes_fresh(const struct pl_codes *c, uint32_t slot, uint64_t tick, uint64_t generation)
{
	const struct pl_code_slot *s = pl_codes_slot(c, slot);

	return s && (s->tick == tick || (generation && s->generation == generation));
}

/** The reading of a stack for which code is proved. */
struct pl_codes_reading {
	const struct pl_py *py;
	struct pl_mem *mem;  /* the snapshot, for the proof */
	struct pl_mem *live; /* the process, for code not seen before */
	uint64_t tick;	     /* changes with each reading */
	uint64_t generation; /* of pl_interp, 0 if there is none */
};

/** What a frame runs. */
struct pl_code_place {
	uint32_t slot, code; /* its id */
	int32_t offset;	     /* in bytes */
};

/** Errors: pl_err_stale, pl_err_limit, pl_err_corrupt, pl_err_unreadable, pl_err_no_memory. */
struct plumb_error *pl_codes_resolve(struct pl_codes *c, const struct pl_codes_reading *reading,
				     const struct pl_frame *frame, struct pl_code_place *ret) PLUMB_MUST_CHECK;

#endif
