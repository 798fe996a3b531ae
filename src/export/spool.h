/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a profile, sorted by thread: for formats that want one thread after the other. */
#ifndef PL_SPOOL_H
#define PL_SPOOL_H

#include "profile.h"

struct pl_spool;

/** Take all samples of @p p (pl_profile_each). They are sorted in memory of a fixed size (10 MB, and a little for each
 * thread) and kept in an unlinked temporary file, 32 bytes each; a profile that fits into the memory needs no file.
 * @p p is not kept. Errors: those of the stream, PLUMB_ERR_WRITE_FAILED, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_spool_create(const struct plumb_profile *p, struct pl_spool **ret) PLUMB_MUST_CHECK;
/** How many pl_spool_each will give for @p thread: rows, each of which may stand for several samples (`extra`). */
uint64_t pl_spool_count(const struct pl_spool *s, uint32_t thread);
/** Give the samples of @p thread to @p fn in the order of the profile, as often as wanted; the first error of @p fn
 * ends it. Threads may come in any order. */
struct plumb_error *pl_spool_each(struct pl_spool *s, uint32_t thread, pl_sample_fn *fn, void *ctx) PLUMB_MUST_CHECK;
void pl_spool_destroy(struct pl_spool *s); /* NULL-safe */

#endif
