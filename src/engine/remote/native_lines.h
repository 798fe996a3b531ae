/* SPDX-License-Identifier: Apache-2.0 */
/* Where in its source an instruction of a native function is, as locations of the profile: the function's own, and one
 * for each function that was compiled into it there. By debug information. Consumer thread only. */
#ifndef PL_NATIVE_LINES_H
#define PL_NATIVE_LINES_H

#include "codes.h"
#include "map.h"
#include "native_symbols.h"
#include "profile.h"
#include "vec.h"

/** What was found. All 0 at first. */
struct pl_native_lines {
	struct pl_map known;	    /* (code, offset) -> where its locations begin */
	PL_VEC(uint32_t) locations; /* how many, then these: the outermost first */
};

/** An instruction: of a node of the trie. */
struct pl_native_at {
	const struct pl_known_code *code;
	uint32_t function; /* of the profile */
	int32_t offset;	   /* 1 + how far it is from the beginning of the function; 0: not told */
};

void pl_native_lines_deinit(struct pl_native_lines *l);
/** The locations of @p at, at least one; the outermost first. Valid until the next call. */
struct plumb_error *pl_native_lines_find(struct pl_native_lines *l, struct pl_native_symbols *s,
					 const struct pl_native_at *at, struct plumb_profile *p, const uint32_t **ret,
					 uint32_t *count_ret) PLUMB_MUST_CHECK;

#endif
