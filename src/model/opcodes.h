/* SPDX-License-Identifier: Apache-2.0 */
/* What CPython's instructions are called. From 3.11 on the interpreter puts a specialised instruction in the place of a
 * general one when it has seen what it works on. */
#ifndef PL_OPCODES_H
#define PL_OPCODES_H

#include <stddef.h>
#include <stdint.h>

struct pl_opcode {
	const char *name; /* NULL: there is none with this number */
	uint16_t base;	  /* the general instruction it stands for; itself if it is general */
};

struct pl_opcodes {
	int minor;
	size_t count; /* with those that only the compiler uses, beyond 255 */
	const struct pl_opcode *rows;
};

/** Those of CPython 3.@p minor; NULL for a release that is not known. */
const struct pl_opcodes *pl_opcodes(int minor);
/** The name of instruction @p opcode; NULL if there is none, or @p known is NULL. */
const char *pl_opcode_name(const struct pl_opcodes *known, unsigned opcode);

struct plumb_profile;
/** Those of the Python that all processes of @p p ran; NULL if they ran several, or one that is not known. */
const struct pl_opcodes *pl_opcodes_of(const struct plumb_profile *p);

#endif
