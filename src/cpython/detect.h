/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPython is this, and is the layout really right? */
#ifndef PL_DETECT_H
#define PL_DETECT_H

#include "layout.h"
#include "mem.h"

/** What the ELF files of the target say; found by src/os, 0 where unknown. Addresses are run-time ones (load bias
 * added). */
struct pl_py_facts {
	pl_addr runtime;	/* symbol _PyRuntime, or section .PyRuntime */
	uint64_t runtime_size;	/* its st_size or section size */
	pl_addr version;	/* symbol Py_Version (3.11+) */
	pl_addr code_type;	/* symbol PyCode_Type */
	pl_addr tstate_current; /* symbol _PyThreadState_Current (2.7, 3.6) */
	pl_addr interp_head;	/* symbol interp_head (2.7, 3.6, unstripped) */
	pl_addr gil_lock;	/* symbol interpreter_lock (2.7, unstripped) */
	pl_addr gil;	       /* symbols gil_mutex, gil_cond, switch_mutex, switch_cond (3.6, unstripped): the first */
	uint32_t gil_bytes;    /* ... from there to the end of the last */
	pl_addr threads_begun; /* symbol PyEval_ThreadsInitialized, a function (2.7) */
	uint32_t name_version; /* PL_PY_VERSION(major, minor, 0) from "python3.11" or "libpython3.8.so"; 0 unknown */
};

/** A Python found in the target. Plain data, copy freely. */
struct pl_py {
	struct pl_layout layout;
	pl_addr runtime; /* 0 up to 3.6, which have no _PyRuntime but the two words that follow; 0 from 3.7 on */
	pl_addr interp_head, tstate_current;
	pl_addr gil_lock; /* 2.7: where the address of the lock is that is the GIL; 0 unknown */
	pl_addr gil;	  /* 3.6: what threads wait in for the GIL; 0 unknown */
	uint32_t gil_bytes;
	pl_addr code_type; /* PyCode_Type: given by the facts or learnt from the first stack; required of every code
			      object */
	pl_addr none;	   /* Py_None, 0 if it could not be learnt: then only exceptions being raised are seen */
	uint32_t unicode_bytes; /* 2.7: of one character of a unicode, 2 or 4 as it was built; 0 if it could not be
				   learnt */
	bool from_debug_offsets;
};

/**
 * Find version and layout. Trusts nothing: debug offsets are range-checked, and whatever named the layout, every
 * interpreter's threads must point back to it and a stack must walk to its end over code objects of one type with
 * printable names. runtime_size only chooses a row when nothing names the version: within a minor it moves
 * (3.11, 3.12). Errors: PLUMB_ERR_NOT_READY (early in start-up: try again), PLUMB_ERR_NOT_PYTHON,
 * PLUMB_ERR_NOT_SUPPORTED (names the version), PLUMB_ERR_CORRUPT (names the check that failed), PLUMB_ERR_STALE (no
 * stack was whole, or no list: it may have been torn, try again), PLUMB_ERR_UNREADABLE, PLUMB_ERR_TARGET_EXITED. A
 * target that runs is read many times until one stack is whole; nothing waits.
 */
struct plumb_error *pl_py_detect(struct pl_mem *mem, const struct pl_py_facts *facts,
				 struct pl_py *ret) PLUMB_MUST_CHECK;

#define PL_VERSION_TEXT 40
/** "3.11.7", "3.13.0t" into @p buf; "3.8" if the micro version is unknown; "3.16.0 read as 3.15" if it is newer than
 * all that are known. */
const char *pl_py_version_text(const struct pl_py *py, char buf[static PL_VERSION_TEXT]);

#endif
