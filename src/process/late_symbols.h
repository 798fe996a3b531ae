/* SPDX-License-Identifier: Apache-2.0 */
/* Names of native functions that had none when they were sampled, and lines, from files that are here by now. Files are
 * read aside (symbol_reader.h). One thread; not in the program itself. */
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

/** The debug information that is asked from now on: of that file, or what is kept of it, likewise. False: there is
 * none, and none that is left out for want of work. */
bool pl_late_symbols_open_lines(struct pl_late_symbols *s, const char *path, const uint8_t *build_id, size_t len);
/** A function that has an instruction, or was compiled into one that has it. Valid during the call that tells of it. */
struct pl_late_place {
	const char *name;   /* of one that was compiled into the next; NULL: it is the one that symbols tell of */
	const char *source; /* NULL: the line is not told */
	int32_t line;
	bool plumbing; /* of one with a name: it only passes a call on */
};
/** Tell of the instruction at @p address of that file, of the innermost function first. *left_out: something was not
 * told, or may not have been, for want of work. */
void pl_late_symbols_places(struct pl_late_symbols *s, uint64_t address,
			    void (*tell)(void *ctx, const struct pl_late_place *p), void *ctx, bool *left_out);

#endif
