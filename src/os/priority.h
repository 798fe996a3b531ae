/* SPDX-License-Identifier: Apache-2.0 */
/* How soon a thread gets onto a processor when it wakes. Layer os. */
#ifndef PL_PRIORITY_H
#define PL_PRIORITY_H

#include <stdbool.h>

#include "error.h"

/** The calling thread runs for some microseconds at a time: it asks for short slices (Linux 6.12), which puts it on a
 * CPU soon after it wakes, also on a busy machine, and takes no time from anybody. @p insist: before other programs,
 * too, at nice -10. What is not allowed is left as it was. */
void pl_priority_be_punctual(bool insist);

/** PLUMB_ERR_NOT_PERMITTED if a thread of this process may not insist: it has been tried. */
struct plumb_error *pl_priority_check(void) PLUMB_MUST_CHECK;

#endif
