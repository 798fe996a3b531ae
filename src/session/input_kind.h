/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/session: whether what a name leads to is read at all. */
#ifndef PL_SESSION_INPUT_KIND_H
#define PL_SESSION_INPUT_KIND_H

#include "error.h"

/** What is packed is this many times as long at most, and what has holes as long as what is there of it. Deflate does
 * up to 1,032 with what repeats itself all over; stacks and JSON of profiles become a tenth, a hundredth where a
 * program does the same for hours. Frames of two bytes take sixty times as much memory: see ROWS_A_BYTE. */
#define PL_INPUT_MAX_RATIO  200
#define PL_INPUT_RATIO_BASE (16ull << 20) /* bytes that anything may have beyond that */
/* And that what was read so far may have: profiles are packed about evenly. Else all that a long file may have would be
 * written to the disk before it is refused. */
#define PL_INPUT_RATIO_AHEAD (64ull << 20)

/** @p fd may be one of O_PATH, too. Errors, without the name of the file: PLUMB_ERR_SYSTEM (a directory),
 * PLUMB_ERR_NOT_A_RECORDING (a device, what the kernel makes up), PLUMB_ERR_LIMIT (holes; not seen of an O_PATH one).
 */
struct plumb_error *pl_input_check(int fd) PLUMB_MUST_CHECK;

#endif
