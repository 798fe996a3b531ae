/* SPDX-License-Identifier: Apache-2.0 */
/* What xz has compressed. */
#ifndef PL_XZ_H
#define PL_XZ_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/** Decompress the stream @p bytes, piece by piece into @p fn, whose first error ends it.
 * Errors: PLUMB_ERR_CORRUPT; PLUMB_ERR_LIMIT past @p max bytes, and if it takes more than 64 MiB of memory;
 * PLUMB_ERR_NOT_SUPPORTED: this build has no liblzma. */
struct plumb_error *pl_unxz(const uint8_t *bytes, size_t len, uint64_t max,
			    struct plumb_error *(*fn)(void *ctx, const void *bytes, size_t len),
			    void *ctx) PLUMB_MUST_CHECK;

#endif
