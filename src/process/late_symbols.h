/* SPDX-License-Identifier: Apache-2.0 */
/* Names of native functions that had none when they were sampled, from files that are here by now. Files are read aside
 * (symbol_reader.h). One thread; not in the program itself. */
#ifndef PL_LATE_SYMBOLS_H
#define PL_LATE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct pl_late_symbols;

/** Errors: PLUMB_ERR_NO_MEMORY. Owner of *ret: caller. */
struct plumb_error *pl_late_symbols_create(struct pl_late_symbols **ret) PLUMB_MUST_CHECK;
/** NULL-safe. */
void pl_late_symbols_destroy(struct pl_late_symbols *s);
/** The file that is asked from now on: the one at @p path, if it has this build-id, and what is kept of it by build-id
 * (PLUMB_DEBUG_PATH, /usr/lib/debug). False: none of these is here, or can be read in some seconds. */
bool pl_late_symbols_open(struct pl_late_symbols *s, const char *path, const uint8_t *build_id, size_t len);
/** The name of the function at @p address of that file, as people write it. NULL: it has none. Valid until the next
 * call. */
const char *pl_late_symbols_name(struct pl_late_symbols *s, uint64_t address);

#endif
