/* SPDX-License-Identifier: Apache-2.0 */
/* Files without a name. */
#ifndef PL_TEMP_FILE_H
#define PL_TEMP_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/** A file for reading and writing that no one else can open: in TMPDIR, else in /tmp or /var/tmp, and unlinked at once.
 * Owner: the caller, close(). Errors: PLUMB_ERR_WRITE_FAILED naming the place and the reason. */
struct plumb_error *pl_temp_file(int *ret) PLUMB_MUST_CHECK;
/** The same for the time of one call: children of a fork close it. Owner: the caller, pl_own_fd_close(). */
struct plumb_error *pl_temp_file_of_call(int *ret) PLUMB_MUST_CHECK;
/** Append all of it. Errors: PLUMB_ERR_WRITE_FAILED, also when the file would take more than three quarters of what was
 * free where it is: others need room, too. */
struct plumb_error *pl_temp_write(int fd, const void *bytes, size_t len) PLUMB_MUST_CHECK;
/** Exactly @p len bytes from @p at. Errors: PLUMB_ERR_SYSTEM, also if the file ends before. */
struct plumb_error *pl_temp_read(int fd, void *bytes, size_t len, uint64_t at) PLUMB_MUST_CHECK;

#endif
