/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/session: a profile as a recording. */
#ifndef PL_SESSION_SAVE_H
#define PL_SESSION_SAVE_H

#include "profile.h"

/** The name of recordings among the formats. */
#define PL_RECORDING_FORMAT "plumb"

/** Write @p p as a recording to @p fd, which stays the caller's. Errors: those of the stream of @p p,
 * PLUMB_ERR_WRITE_FAILED, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_save(const struct plumb_profile *p, int fd) PLUMB_MUST_CHECK;

/** The same to the file @p path. Errors: PLUMB_ERR_EXISTS (a file that plumb did not write is there, or a
 * recording with samples and @p p has none, and not @p force), too. */
struct plumb_error *pl_save_as(const struct plumb_profile *p, const char *path, bool force) PLUMB_MUST_CHECK;

#endif
