/* SPDX-License-Identifier: Apache-2.0 */
/* gzip, both ways. Equal input gives equal bytes: no time and no name is written. */
#ifndef PL_GZIP_H
#define PL_GZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

/** A stream for writing whose bytes go to @p out compressed; fclose() writes the end, and does not close @p out. What
 * goes wrong with @p out shows in ferror(out). NULL: no memory. */
FILE *pl_gzip_open(FILE *out);

bool pl_gzip_is(const uint8_t *bytes, size_t len);
/** Takes a piece of what was packed. @p packed: how many of the packed bytes all so far came from. */
typedef struct plumb_error *pl_gunzip_fn(void *ctx, const void *bytes, size_t len, size_t packed);

/** Decompress all members of @p bytes, piece by piece into @p fn, whose first error ends it.
 * Errors: PLUMB_ERR_CORRUPT (also for what follows the last member), PLUMB_ERR_LIMIT past @p max bytes. */
struct plumb_error *pl_gunzip(const uint8_t *bytes, size_t len, uint64_t max, pl_gunzip_fn *fn,
			      void *ctx) PLUMB_MUST_CHECK;

#endif
