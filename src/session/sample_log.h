/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/session: samples as they came, to be given again: of a file of another tool, which then is read once.
 * They are some ten bytes each, in memory as long as they are few, else in a file without a name. */
#ifndef PL_SESSION_SAMPLE_LOG_H
#define PL_SESSION_SAMPLE_LOG_H

#include "buf.h"
#include "profile.h"

#define PL_SAMPLE_LOG_PIECE (256u << 10) /* bytes that are kept in memory */

struct pl_sample_log {
	struct pl_buf piece; /* not yet in the file */
	struct pl_sample last;
	int fd; /* -1: there is no file */
	size_t file_len;
};

void pl_sample_log_init(struct pl_sample_log *log);
void pl_sample_log_deinit(struct pl_sample_log *log);
struct plumb_error *pl_sample_log_add(struct pl_sample_log *log, const struct pl_sample *s) PLUMB_MUST_CHECK;
/** All that was added, in that order; nothing is left in @p log. Caller owns *ret. */
struct plumb_error *pl_sample_log_stream(struct pl_sample_log *log, struct pl_stream *ret) PLUMB_MUST_CHECK;

#endif
