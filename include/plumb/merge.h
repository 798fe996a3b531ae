/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings added up to one. */
#ifndef PLUMB_MERGE_H
#define PLUMB_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include <plumb/error.h>
#include <plumb/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plumb_merge;

/** An empty sum. Owner of *ret: caller, plumb_merge_destroy(). */
PLUMB_API struct plumb_error *plumb_merge_create(struct plumb_merge **ret) PLUMB_MUST_CHECK;
PLUMB_API void plumb_merge_destroy(struct plumb_merge *m);

/**
 * Read the recording @p path and add it. Memory follows the distinct stacks of the sum and of this recording.
 * @param info may be NULL. @param again_ret whether what was added before holds the same samples already.
 * Errors: those of plumb_profile_open(); PLUMB_ERR_INVALID for another mode than that of the others.
 */
PLUMB_API struct plumb_error *plumb_merge_add(struct plumb_merge *m, const char *path,
					      struct plumb_recording_info *info, bool *again_ret) PLUMB_MUST_CHECK;

/** Write the sum as a recording. The file depends on what was added and not on the order. Errors: PLUMB_ERR_EXISTS (a
 * file that plumb did not write is there, and not @p force), PLUMB_ERR_WRITE_FAILED; what was there before is there
 * still. */
PLUMB_API struct plumb_error *plumb_merge_write(const struct plumb_merge *m, const char *path,
						bool force) PLUMB_MUST_CHECK;

/** What was added up: for a summary. */
PLUMB_API void plumb_merge_totals(const struct plumb_merge *m, uint64_t *samples_ret, uint64_t *stacks_ret,
				  size_t *processes_ret, size_t *hosts_ret);

#ifdef __cplusplus
}
#endif
#endif
