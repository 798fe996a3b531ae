/* SPDX-License-Identifier: Apache-2.0 */
/* Finding processes: by name, or all that run Python. */
#ifndef PLUMB_PROCESSES_H
#define PLUMB_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <plumb/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Strings live as long as the list. */
struct plumb_process {
	int pid, parent;
	const char *user;	  /* "alice (uid 1000)" */
	uint64_t started_real_ns; /* since 1970, 0 if not known */
	const char *command;	  /* the command line */
};

struct plumb_processes;

/**
 * All processes that are called @p name, the oldest first: by their script ("app.py", "app", "dir/app.py", or a path to
 * that very file), by their module (of python -m) or by their program. That there is none is no error.
 * Errors: PLUMB_ERR_NO_MEMORY, PLUMB_ERR_SYSTEM (no /proc). Owner of *ret: caller.
 */
PLUMB_API struct plumb_error *plumb_processes_find(const char *name, struct plumb_processes **ret) PLUMB_MUST_CHECK;
/**
 * All processes that run Python, by the names of their programs, and that may be sampled; the oldest first. *refused:
 * how many run Python and may not be. Errors and owner: as above.
 */
PLUMB_API struct plumb_error *plumb_processes_pythons(struct plumb_processes **ret, size_t *refused) PLUMB_MUST_CHECK;
PLUMB_API void plumb_processes_destroy(struct plumb_processes *p);

/** The @p i-th of them, from 0; false past the last. */
PLUMB_API bool plumb_processes_at(const struct plumb_processes *p, size_t i, struct plumb_process *ret);
/** The CPU time that the @p i-th had used when it was found; 0 past the last. */
PLUMB_API uint64_t plumb_processes_cpu_ns(const struct plumb_processes *p, size_t i);
/** The name of the @p i-th process that is not called so and runs Python, from 0; NULL past the last. */
PLUMB_API const char *plumb_processes_other(const struct plumb_processes *p, size_t i);

#ifdef __cplusplus
}
#endif
#endif
