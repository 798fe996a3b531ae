/* SPDX-License-Identifier: Apache-2.0 */
/* Where the symbols of a stripped file are kept, by its build-id. */
#ifndef PL_DEBUG_FILE_H
#define PL_DEBUG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "elf.h"
#include "rights.h"

/**
 * Open @p fd as a file that says itself that it is of this build, and close it. *ret: NULL if it is none that can be
 * read, or @p fd is -1. Errors: PLUMB_ERR_NO_MEMORY. Owner of *ret: caller.
 */
struct plumb_error *pl_elf_open_of_build(int fd, const uint8_t *build_id, size_t len, struct pl_work *work,
					 struct pl_elf **ret) PLUMB_MUST_CHECK;

/**
 * The same with the first file there is for a build-id in the directories that PLUMB_DEBUG_PATH names, separated by
 * colons, then in /usr/lib/debug, where packages put it: DIRECTORY/.build-id/ab/cdef.debug, or
 * DIRECTORY/abcdef/debuginfo, as clients of debuginfod keep it.
 * @param as with whose rights it is looked for, NULL: our own. Any file can say that it is of any build: what is shown
 * for a process has to be open to the process.
 */
struct plumb_error *pl_debug_elf_open(const uint8_t *build_id, size_t len, const struct pl_rights *as,
				      struct pl_work *work, struct pl_elf **ret) PLUMB_MUST_CHECK;

#endif
