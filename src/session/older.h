/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/session: a recording with samples does not give way to one without. */
#ifndef PL_SESSION_OLDER_H
#define PL_SESSION_OLDER_H

#include "profile.h"

/** @p p is to be written as a recording to @p path, which nobody has said to replace whatever is there (NULL: they
 * have). Errors: PLUMB_ERR_EXISTS, there is a recording with samples, and @p p has nothing to tell;
 * PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_older_gives_way(const struct plumb_profile *p, const char *path) PLUMB_MUST_CHECK;

#endif
