/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the standard library that wait for something: recognized by their file, their name and their `self`. */
#ifndef PL_ROLE_H
#define PL_ROLE_H

#include "frame.h"
#include "value.h"

struct pl_role {
	const char *file; /* how the path ends: "threading.py", "asyncio/locks.py"; NULL: any */
	const char *function;
	/** That of `self`, or one that it is derived from. One that ends in a dot: all of that module, of which 2.7
	 * does not tell what they are derived from. NULL: it is no method. */
	const char *class;
	uint8_t what, place; /* as the owner of the table has it */
};

/** The one of @p roles that the frame runs; NULL: none. *self_ret: its first argument, 0 if it has none. */
const struct pl_role *pl_role_of(struct pl_values *v, const struct pl_role *roles, size_t count,
				 const struct pl_frame *f, pl_addr *self_ret);

/** Can a frame of this code run the function, by file and name? True also where these cannot be read. */
bool pl_role_may_be(struct pl_values *v, const struct pl_role *role, pl_addr code);

/** Is the object of the class "threading.Event", which in 2.7 is threading._Event? */
bool pl_role_is_of(struct pl_values *v, pl_addr obj, const char *class);

#endif
