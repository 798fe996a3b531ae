/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a JIT compiler has written into a file for perf: /tmp/perf-PID.map, a line for each. */
#ifndef PL_PERF_MAP_H
#define PL_PERF_MAP_H

#include "elf_functions.h"
#include "target_file.h"

/** Pure: "START SIZE NAME" in lines, numbers in base 16 (hostile: any bytes). What makes no sense is left out; of two
 * that begin at one place the later one holds. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_perf_map_parse(const char *text, size_t len, struct pl_functions *f) PLUMB_MUST_CHECK;

/**
 * Those of process @p pid, whose view of files is @p seen: of the file that it names by the number it has itself,
 * opened as it would. It counts if it is of the process's user or of root, and was written since the process began:
 * another process may have had that number. Errors: PLUMB_ERR_NOT_FOUND, PLUMB_ERR_NO_MEMORY. Owner of *ret: caller.
 */
struct plumb_error *pl_perf_map_functions(pid_t pid, const struct pl_file_view *seen, struct pl_work *work,
					  struct pl_functions **ret) PLUMB_MUST_CHECK;

#endif
