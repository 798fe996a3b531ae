/* SPDX-License-Identifier: Apache-2.0 */
/* One reading of one thread's stack, and whether it is proved. docs/design/002-true-stacks.md explains the proof. */
#ifndef PL_READING_H
#define PL_READING_H

#include <plumb/tags.h>

#include "codes.h"
#include "context.h"
#include "snapshot.h"
#include "task_finders.h"
#include "trie.h"

/** What samples refer to, the same for all targets; the sampling thread owns it. */
struct pl_tables {
	struct pl_code_store codes;
	struct pl_trie trie;
};

struct plumb_error *pl_tables_init(struct pl_tables *t) PLUMB_MUST_CHECK;
void pl_tables_deinit(struct pl_tables *t);

struct pl_native_reader;
struct pl_lock_looks;

#define PL_ROOT_CODES 8

/** What all readings of a target share; the sampling thread owns it. */
struct pl_reader {
	struct pl_py py;
	struct pl_mem *mem;	  /* of the process */
	struct pl_mem_live *live; /* the same; NULL of a core, in which nothing moves */
	struct pl_codes codes;
	struct pl_trie *trie; /* of the tables */
	uint64_t tick;	      /* counts readings; proofs of code objects hold for one reading */
	/* Code that outermost frames have run, of stacks that stood still; the oldest is overwritten. */
	uint32_t root_codes[PL_ROOT_CODES];
	uint32_t roots_seen;
	bool opcodes;		       /* read which instruction each frame runs */
	const struct plumb_tags *tags; /* read what the thread works for; NULL: not asked for */
	bool tasks;		       /* read who awaits the task that a thread runs */
	struct pl_task_finders task_finders;
	bool native_frames;
	bool kernel_frames;		  /* with them: of threads that are blocked */
	bool locks;			  /* tell which locks threads wait for */
	struct pl_lock_looks *lock_looks; /* NULL: that is not asked for, or there is no memory */
	struct pl_native_reader *native;  /* NULL: they were not asked for, or cannot be had */
};

void pl_reader_init(struct pl_reader *r, struct pl_tables *t);
void pl_reader_deinit(struct pl_reader *r);
/** Read this Python from now on; @p live stays the caller's. Node and code ids go on counting. */
void pl_reader_bind(struct pl_reader *r, const struct pl_py *py, struct pl_mem_live *live);
/** The same of a core. */
void pl_reader_bind_core(struct pl_reader *r, const struct pl_py *py, struct pl_mem *mem);

/** A frame as last seen, root first. */
struct pl_seen_frame {
	pl_addr addr, code, instr;
	uint32_t slot, code_id, node;
	int32_t offset;
	uint16_t opcode; /* 1 + the opcode; 0: not asked for, or not readable */
};
typedef PL_VEC(struct pl_seen_frame) pl_seen_vec;
struct pl_seen_stack {
	pl_seen_vec now, before; /* of the last complete reading, and of the one before */
};

#define PL_TAIL_RANGES 12

/** The outermost frames of the last walk, as far as they lie in few ranges of the snapshot's body (the data stack,
 * shims on the C stack, generators): while these bytes do not change, neither do these frames. A compare of memory
 * instead of a walk; never "the innermost frame is the same". */
struct pl_stack_tail {
	size_t count; /* 0: none is known */
	struct pl_range bytes[PL_TAIL_RANGES];
	size_t ranges;
	pl_addr root;
};

/** The stack of one thread, kept from reading to reading. */
struct pl_stack_reader {
	pl_addr tstate;
	struct pl_interp interp; /* as listed: its address and its GIL's */
	uint64_t thread_id;	 /* as listed; 0: whoever's it is */
	pl_addr root;		 /* outermost frame of every proved stack so far, 0 unknown */
	pl_addr seen_root;	 /* of the last complete reading */
	pl_addr cframe;		 /* of its thread state then (3.11, 3.12), else 0 */
	pl_addr other_root;	 /* where recent readings ended instead, and how many agreed */
	uint32_t other_root_seen;
	uint32_t bare_readings; /* without a frame, in a row */
	struct pl_snapshot snap;
	pl_frame_vec frames; /* of the last walk, innermost first */
	pl_frame_vec walked; /* of the one before */
	struct pl_stack_tail tail;
	struct pl_seen_stack seen;
	pl_frame_vec task_frames; /* the stack of the task that it ran, innermost first */
	struct pl_seen_stack task_seen;
	size_t task_own; /* how many of the thread's Python frames it begins with; 0: no such stack is known */
};

void pl_stack_reader_init(struct pl_stack_reader *s, struct pl_reader *r, pl_addr tstate,
			  const struct pl_interp *interp);
void pl_stack_reader_deinit(struct pl_stack_reader *s);

struct pl_reading {
	struct pl_tstate tstate;
	struct pl_interp interp;
	uint32_t node; /* the stack, valid if complete */
	bool complete; /* the walk reached the end and every frame's code is known */
	bool steady;   /* and one fetch brought all of it, with equal anchors before and after */
	pl_addr root;  /* outermost frame, 0 if there is none */
	bool bare;     /* it runs no Python at all, or its state has ended, which one word says: however it was read */
	bool at_rest;  /* and the innermost instruction was the same before and after */
	bool folded;   /* `node` is the outer part alone: there is no room for more */
	bool in_jit;   /* it runs code that the JIT compiler made */
	struct pl_context context;
	uint32_t tag; /* that is set in it; 0: none, or not asked for */
	/* With reader.tasks. What was read of it holds where the stack does: while a task runs, none that awaits it
	 * does. */
	bool in_task;	    /* it ran a task, or what it ran could not be read */
	uint32_t task_node; /* the stack of that task; 0: not known */
	/* With reader.native, whoever has the thread stand still fills it in. */
	uint32_t native_node; /* the stack with native frames; 0: not known */
};

/** Read once. Errors: pl_err_target_exited, pl_err_no_memory; anything else shows as !complete. */
struct plumb_error *pl_stack_read(struct pl_reader *r, struct pl_stack_reader *s,
				  struct pl_reading *ret) PLUMB_MUST_CHECK;

/** After a reading that is not complete, of a core: there is no better one. The stack is made of the frames that it has
 * read, the innermost first, up to one whose code is damaged; ret->node 0: of none. Errors: pl_err_no_memory. */
struct plumb_error *pl_stack_read_inner(struct pl_reader *r, struct pl_stack_reader *s,
					struct pl_reading *ret) PLUMB_MUST_CHECK;
/** Name s->task_frames, innermost first, of a thread that stands still: their stack. 0: there is no room for it, or a
 * code of it could not be read. Errors: as those of pl_stack_read. */
struct plumb_error *pl_stack_name_task(struct pl_reader *r, struct pl_stack_reader *s, const struct pl_interp *now,
				       uint32_t *ret) PLUMB_MUST_CHECK;

/** The last reading is true for another reason (the thread was stopped or blocked): its root is the thread's root. */
void pl_stack_trust(struct pl_reader *r, struct pl_stack_reader *s, const struct pl_reading *reading);

/** Of a thread of which none is known yet: does the outermost frame of the last reading, @p root, run code that those
 * of other threads run? */
bool pl_stack_root_as_others(const struct pl_reader *r, const struct pl_stack_reader *s, pl_addr root);
/** Is this the thread's outermost frame? If it is another one than so far, it is learnt when it was found so often that
 * it must be, the first one also if it is as those of other threads. 0: no frames at all. */
bool pl_stack_root_known(const struct pl_reader *r, struct pl_stack_reader *s, pl_addr root);
/** The tag that is set in the thread now. */
uint32_t pl_stack_tag(struct pl_reader *r, struct pl_stack_reader *s);

#endif
