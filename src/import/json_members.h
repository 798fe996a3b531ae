/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of JSON whose members are plain values: a table says which member goes where in a struct. */
#ifndef PL_JSON_MEMBERS_H
#define PL_JSON_MEMBERS_H

#include "json_reader.h"
#include "profile.h"

enum pl_member_kind {
	PL_MEMBER_TEXT, /* uint32_t: id of a string of the profile */
	PL_MEMBER_U32,	/* up to INT32_MAX: so it fits all places that hold lines, columns and pids */
	PL_MEMBER_U64,
	PL_MEMBER_BOOL,
};

struct pl_member {
	const char *key;
	enum pl_member_kind kind;
	size_t offset; /* in the struct */
};

/** The current token begins an object: read its @p members (ends with a NULL key) into the struct at @p base. What is
 * not there, of another type or too large for its place leaves the struct as it is.
 * Errors: PLUMB_ERR_CORRUPT if it is no object, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_members_read(struct pl_json_reader *r, const struct pl_member *members, struct plumb_profile *p,
				    void *base) PLUMB_MUST_CHECK;

#endif
