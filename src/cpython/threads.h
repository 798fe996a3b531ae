/* SPDX-License-Identifier: Apache-2.0 */
/* Interpreters and thread states. */
#ifndef PL_THREADS_H
#define PL_THREADS_H

#include "detect.h"
#include "vec.h"

#define PL_MAX_INTERPRETERS 256
#define PL_MAX_THREADS	    8192

/** The words of one PyThreadState that sampling needs, from one read of layout.tstate_span bytes (plus the cframe). */
struct pl_tstate {
	pl_addr addr, interp, next;
	pl_addr frame;		  /* innermost frame, 0 if no Python frame runs */
	pl_addr cframe;		  /* 3.11, 3.12: where `frame` was read from; else 0 */
	pl_addr cframe_previous;  /* 3.11, 3.12: the C frame of the evaluation that called this one; else 0 */
	pl_addr base_frame;	  /* 3.15: where every chain ends; else 0 */
	pl_addr chunk, chunk_top; /* live part of the newest data-stack chunk, 3.11+; else 0 */
	uint64_t thread_id;	  /* pthread_t */
	uint64_t native_id;	  /* 3.11+: tid in the target's pid namespace; else 0 */
	pl_addr exception;	  /* non-0: an exception is set or being handled, as far as the layout tells; not by a
				     generator: pl_exception_handled */
	pl_addr exc_info;	  /* 3.7+: the newest of the handlers' states; else 0 */
	bool holds_gil, gil_requested, gil_words; /* gil_words: the two flags exist in this release */
	bool attached, attach_word;		  /* free-threaded: may run Python code; attach_word: that is known */
};

/** Does it run a Python frame? */
static inline bool pl_tstate_runs_frames(const struct pl_tstate *ts)
{
	return ts->frame && ts->frame != ts->base_frame;
}

struct plumb_error *pl_tstate_read(struct pl_mem *mem, const struct pl_py *py, pl_addr addr,
				   struct pl_tstate *ret) PLUMB_MUST_CHECK;

/** The address of its innermost frame alone, 0 if no Python frame runs: the smallest read that tells. */
struct plumb_error *pl_tstate_frame(struct pl_mem *mem, const struct pl_py *py, pl_addr tstate,
				    pl_addr *ret) PLUMB_MUST_CHECK;

/** The words that tell how much of its newest data-stack chunk is in use; len 0: this release has no data stack. */
struct pl_range pl_data_stack_range(const struct pl_py *py, pl_addr tstate);

/** @p raw: these words as they were at one moment. Was a frame at @p addr popped by then: in that chunk, but above what
 * is in use? False also if that cannot be told. */
bool pl_data_stack_above(const struct pl_py *py, const uint8_t *raw, pl_addr addr);

/** Does it run code that the JIT compiler made? Such code notes where it is only now and then: the instruction of the
 * innermost frame may be behind. False also if that cannot be told: *known_ret, which may be NULL. */
bool pl_tstate_in_jit(struct pl_mem *mem, const struct pl_py *py, pl_addr tstate, bool *known_ret);

/** State of one interpreter that every sample carries. */
struct pl_interp {
	pl_addr addr, next, threads_head, threads_main, modules;
	pl_addr gil;	    /* 3.7+: its GIL structure, which stays the same while the interpreter lives; before, what
			       threads wait in for the GIL; 0 unknown */
	uint32_t gil_bytes; /* a thread that waits in a futex within these from `gil` on wants the GIL */
	pl_addr gil_holder; /* tstate that holds the GIL, 0 if nobody does */
	bool gil_known;	    /* there is a GIL (free-threaded: it is switched on) and gil_holder tells who has it */
	uint64_t code_generation; /* 3.14+: moves when a code object is freed; else 0 */
	uint32_t tlbc_generation; /* free-threaded 3.14+: moves when a thread's copies of bytecode are freed; else 0 */
	pl_addr gc_frame;	  /* 3.15: the frame that triggered the running collection */
	bool gc_collecting;
};

/** Does a thread that waits in the futex at @p futex wait for the interpreter's GIL? */
static inline bool pl_interp_gil_has(const struct pl_interp *in, pl_addr futex)
{
	return in->gil && futex >= in->gil && futex - in->gil < in->gil_bytes;
}

/** May an interpreter have a GIL of its own (3.12+)? Else a process has one for all. */
static inline bool pl_interp_has_own_gil(const struct pl_py *py)
{
	return py->layout.interp.gil != PL_NONE;
}

/** Does the thread hold the GIL of @p in, which is its interpreter? */
bool pl_tstate_has_gil(const struct pl_tstate *ts, const struct pl_interp *in);
/** May it run Python code? With a GIL whoever holds it may; free-threaded builds let each thread attach for itself, and
 * detach around whatever may block. Yes where neither is known. */
bool pl_tstate_may_run(const struct pl_tstate *ts, const struct pl_interp *in);

/** Is there a GIL? A free-threaded build may have switched its on. Errors: those of reading an interpreter. */
struct plumb_error *pl_gil_exists(struct pl_mem *mem, const struct pl_py *py, bool *ret) PLUMB_MUST_CHECK;

struct plumb_error *pl_interp_read(struct pl_mem *mem, const struct pl_py *py, pl_addr addr,
				   struct pl_interp *ret) PLUMB_MUST_CHECK;

/** As pl_interp_read of known->addr, one read less: the place of the GIL is taken from @p known. */
struct plumb_error *pl_interp_read_again(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *known,
					 struct pl_interp *ret) PLUMB_MUST_CHECK;

/** Address of the first interpreter; PLUMB_ERR_NOT_READY if there is none (yet, or any more). */
struct plumb_error *pl_interp_head(struct pl_mem *mem, const struct pl_py *py, pl_addr *ret) PLUMB_MUST_CHECK;

typedef PL_VEC(struct pl_interp) pl_interp_vec;
typedef PL_VEC(struct pl_tstate) pl_tstate_vec;

/** All interpreters / all thread states of one interpreter, appended; of more than PL_MAX_INTERPRETERS or
 * PL_MAX_THREADS the first ones, which are the newest threads. Lists that change meanwhile may come out short. Then,
 * too, *whole_ret is false, and who is not listed may live on; may be NULL. Cycles end with PLUMB_ERR_CORRUPT, and what
 * was met so far, hardly more than once. */
struct plumb_error *pl_interp_list(struct pl_mem *mem, const struct pl_py *py, pl_interp_vec *ret,
				   bool *whole_ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_tstate_list(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
				   pl_tstate_vec *ret, bool *whole_ret) PLUMB_MUST_CHECK;

/**
 * <= 3.10 know only the pthread_t. Offset of `tid` inside the C library's struct pthread: where glibc or musl have it
 * if that holds one of the @p n numbers @p tids, else where the first of them is met in the first 1600 bytes (give the
 * main thread's). PLUMB_ERR_CORRUPT if nowhere.
 */
struct plumb_error *pl_pthread_tid_offset(struct pl_mem *mem, pl_addr pthread, const pid_t *tids, size_t n,
					  uint32_t *ret) PLUMB_MUST_CHECK;

/** threading.Thread names: called once per live Thread object with its ident (pthread_t) and UTF-8 name. */
typedef void pl_thread_name_fn(void *ctx, uint64_t thread_id, const char *name, size_t len);
struct plumb_error *pl_thread_names(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
				    pl_thread_name_fn *fn, void *ctx) PLUMB_MUST_CHECK;

#endif
