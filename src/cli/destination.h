/* SPDX-License-Identifier: Apache-2.0 */
/* Where a command that reads recordings writes to, and what it says of the recordings. */
#ifndef DESTINATION_H
#define DESTINATION_H

#include "cli.h"

struct destination {
	struct plumb_output *file; /* NULL: standard output */
	int fd;
};

/** Whether the file @p output is the recording @p input; "-" is standard output, or input. No pipe or device is: a
 * terminal is both. */
bool destination_is_input(const char *output, const char *input);
/** Open @p output, or standard output if it is NULL or "-". Refuses one of the @p count @p inputs. */
bool destination_open(const char *output, enum plumb_output_name name, char *const *inputs, size_t count,
		      struct destination *ret, struct failure *why);
/** Nothing was written, and nothing is left. */
void destination_drop(struct destination *t);
/** Close, and tell what went wrong, @p err (NULL: nothing; destroyed) or the closing. Returns 0 or EXIT_OWN_FAILURE;
 * then no file is left of it. A reader of a pipe that went away, as head(1) and pagers do, is not told. */
int destination_close(struct destination *t, struct plumb_error *err);
/** Refuse to write binary @p format to a terminal. */
bool destination_takes(const struct destination *t, const char *format, struct failure *why);
/** As what a recording is written that may be called "-": @p output becomes the name of standard output. */
bool destination_for_recording(const char **output, struct failure *why);
/** Note how much of @p path, a file of another tool, was no sample. */
void destination_note_skipped(const char *path, const struct plumb_recording_info *info);
/** Say if the recording @p path is not whole. */
void destination_warn_incomplete(const char *path, const struct plumb_recording_info *info);

#endif
