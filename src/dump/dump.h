/* SPDX-License-Identifier: Apache-2.0 */
/* Dumping instead of sampling: all threads of one process once, each with a proved stack and what it waits for.
 * docs/design/004-dump.md. All calls for one process from one thread of ours (ptrace's rule); any thread. */
#ifndef PL_DUMP_H
#define PL_DUMP_H

#include <sys/types.h>

#include "dump_model.h"
#include "stop_policy.h"

struct pl_dump_options {
	enum pl_stop_policy stop;
	bool source;	  /* read the source lines */
	bool locals;	  /* and the values of arguments and local variables */
	const char *root; /* of a core: the directory that was the process's root; NULL: ours */
	bool trust_core;  /* open what it names with our own rights */
	bool native;	  /* of a living process: native frames between those of Python */
	bool native_all;  /* and the interpreter's plumbing */
	bool kernel;	  /* with native: where in the kernel a blocked thread is */
	/* Only these threads, and those that they wait for, and no tasks; NULL: all. */
	const uint64_t *threads;
	size_t thread_count;
	const char *const *words; /* and those of these names or numbers, all of which must be there */
	size_t word_count;
	uint64_t limit_ns; /* try to prove stacks for so long; 0: as long as it takes by default */
};

/** For how long to try. */
static inline uint64_t pl_dump_limit_ns(const struct pl_dump_options *o)
{
	return o->limit_ns ? o->limit_ns : 1250000000;
}

/**
 * Add @p pid to @p d. Errors: those of pl_python_process_open; then nothing was added. A thread that cannot be read is
 * no error.
 */
struct plumb_error *pl_dump_live(pid_t pid, const struct pl_dump_options *o, struct pl_dump *d) PLUMB_MUST_CHECK;

/** Add the process that the core file @p path was written of. Errors: those of pl_core_open (os/core.h),
 * PLUMB_ERR_NOT_PYTHON, PLUMB_ERR_NOT_SUPPORTED. */
struct plumb_error *pl_dump_core(const char *path, const struct pl_dump_options *o, struct pl_dump *d) PLUMB_MUST_CHECK;

#endif
