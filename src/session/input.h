/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/session: the bytes of a file that somebody names, whatever it is. */
#ifndef PL_SESSION_INPUT_H
#define PL_SESSION_INPUT_H

#include "import.h"
#include "own_fd.h"

/** A file, a pipe or standard input, decompressed if it was gzip. It is opened once. */
struct pl_input {
	int fd; /* can be read again from its beginning; the file itself, or an unlinked copy; -1: moved away */
	struct pl_file_id file; /* that it is open for */
	bool is_copy;		/* nobody else can change it */
	void *map;		/* pl_input_map */
	size_t map_len;
	uint64_t packed_len; /* of what it was before it was unpacked; 0: it was not packed */
};

/** Whether the beginning of what is decompressed may be of use: the rest of what is not is not unpacked. */
typedef bool pl_input_look(void *ctx, const uint8_t *bytes, size_t len);

/** @p path "-": standard input. Errors, without the name of the file: PLUMB_ERR_NOT_FOUND, PLUMB_ERR_SYSTEM,
 * PLUMB_ERR_CORRUPT (damaged gzip), PLUMB_ERR_LIMIT (too large, also once decompressed), PLUMB_ERR_WRITE_FAILED. What
 * @p look says no to is cut short. */
struct plumb_error *pl_input_open(const char *path, pl_input_look *look, void *ctx,
				  struct pl_input *ret) PLUMB_MUST_CHECK;
/** Whether it begins like a recording. */
bool pl_input_is_recording(const struct pl_input *in);
/** Whether a plumb has it open to write a recording, which locks it. Of a pipe, or where files cannot be locked, that
 * is not known, and no. */
bool pl_input_is_being_written(const struct pl_input *in);
/** All bytes at once, and a NUL behind them: of a copy, for a file of somebody else could shrink under us. They live as
 * long as @p in. */
struct plumb_error *pl_input_map(struct pl_input *in, struct pl_import_input *ret) PLUMB_MUST_CHECK;
void pl_input_close(struct pl_input *in);

#endif
