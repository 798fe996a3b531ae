/* SPDX-License-Identifier: Apache-2.0 */
/* The Python inside a process: which mapped ELF file holds the interpreter and where its symbols are at run time.
 * Reads /proc/PID/maps and the files themselves (through /proc/PID/map_files, /proc/PID/root or the plain path: the one
 * whose device and inode match); runs nothing of the target. Works for static, shared, stripped, renamed and deleted
 * files. */
#ifndef PL_IMAGE_H
#define PL_IMAGE_H

#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "maps.h"
#include "mem.h"
#include "rights.h"
#include "work.h"

struct pl_python_image {
	/* run-time addresses (load bias added), 0 if not found */
	pl_addr runtime; /* symbol _PyRuntime, else section .PyRuntime */
	uint64_t runtime_size;
	pl_addr version;	/* Py_Version */
	pl_addr code_type;	/* PyCode_Type */
	pl_addr tstate_current; /* _PyThreadState_Current */
	pl_addr interp_head;
	pl_addr gil_lock;      /* 2.7: interpreter_lock */
	pl_addr gil;	       /* 3.6: gil_mutex and the other words that a thread waits in for the GIL */
	uint32_t gil_bytes;    /* ... all of them */
	pl_addr threads_begun; /* the function PyEval_ThreadsInitialized; used for 2.7 */
	uint32_t name_version; /* (major << 16 | minor << 8) from the file name, 0 if it does not tell */
	char path[512];	       /* the file, as the target sees it */
};

/** Enough for all files and stacks of a process: 600 libraries take a tenth of it, a Python a hundredth at most. */
#define PL_IMAGE_WORK (512u << 20)

/**
 * @param work what may be done for it. With work->ran_out it may be that there is a Python all the same.
 * Errors: PLUMB_ERR_NO_PROCESS; PLUMB_ERR_NOT_PERMITTED with a hint that names the cause that was checked (other user,
 * Yama, not dumpable, missing capability: see priv.h); PLUMB_ERR_NOT_PYTHON: "pid 12 runs /usr/bin/vim, not Python".
 */
struct plumb_error *pl_python_image_find(pid_t pid, struct pl_work *work, struct pl_python_image *ret) PLUMB_MUST_CHECK;

/** The same for a process that has ended, by what it had mapped and the path of its program. The files must still be
 * there, below @p root, and are opened @p as the process was. Errors: PLUMB_ERR_NOT_PYTHON. */
struct plumb_error *pl_python_image_find_mapped(const pl_mapping_vec *maps, const char *exe, const char *root,
						const struct pl_rights *as, struct pl_work *work,
						struct pl_python_image *ret) PLUMB_MUST_CHECK;

#endif
