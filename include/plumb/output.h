/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written so that nothing is lost by it. */
#ifndef PLUMB_OUTPUT_H
#define PLUMB_OUTPUT_H

#include <stdbool.h>

#include <plumb/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A file that takes its name when it is whole: until then what is there keeps it. It is its owner's alone (0600). A
 * pipe or a device is written to as it is, and so is a file that is open already (/dev/stdout). One thread at a time.
 */
struct plumb_output;

enum plumb_output_name {
	PLUMB_OUTPUT_CHOSEN, /* by plumb: links of that name are not followed */
	PLUMB_OUTPUT_NAMED,  /* by the user */
	PLUMB_OUTPUT_FORCED, /* the same, and whatever is there may go */
	PLUMB_OUTPUT_FREE,   /* nothing is there: the file has the name at once */
};

/** Errors: PLUMB_ERR_EXISTS (a file that plumb did not write is there, or with PLUMB_OUTPUT_FREE anything),
 * PLUMB_ERR_WRITE_FAILED; both name @p path. */
PLUMB_API struct plumb_error *plumb_output_open(const char *path, enum plumb_output_name name,
						struct plumb_output **ret) PLUMB_MUST_CHECK;
/** Whether that would be possible now. Nothing is left of it, and no pipe or device is opened. Errors: the same. */
PLUMB_API struct plumb_error *plumb_output_try(const char *path, enum plumb_output_name name) PLUMB_MUST_CHECK;
/** To write to; stays open until the next call of these. */
PLUMB_API int plumb_output_fd(const struct plumb_output *o);
/** It is whole: close it, give it its name, free @p o. Errors: PLUMB_ERR_WRITE_FAILED; PLUMB_ERR_EXISTS, what has the
 * name by now stays, and the message says what it is called instead. */
PLUMB_API struct plumb_error *plumb_output_publish(struct plumb_output *o) PLUMB_MUST_CHECK;
/** It was never there. NULL-safe. */
PLUMB_API void plumb_output_discard(struct plumb_output *o);

#ifdef __cplusplus
}
#endif
#endif
