/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/session: the streams of profiles that were read from files. */
#ifndef PL_SESSION_AGAIN_H
#define PL_SESSION_AGAIN_H

#include "capture.h"

/** @p p gives its samples from the recording @p fd, as it was when @p info told of it. Takes @p fd over, also on
 * errors. */
struct plumb_error *pl_again_from_recording(struct plumb_profile *p, int fd,
					    const struct pl_capture_info *info) PLUMB_MUST_CHECK;
/** The same from the file as it is now, @p len bytes of @p fd, and without a descriptor: a program may keep many. @p fd
 * stays the caller's. */
struct plumb_error *pl_again_from_mapping(struct plumb_profile *p, int fd, size_t len,
					  const struct pl_capture_info *info) PLUMB_MUST_CHECK;

#endif
