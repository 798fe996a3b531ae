/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a frame: its variables, then its value stack. */
#ifndef PL_SLOTS_H
#define PL_SLOTS_H

#include "frame.h"
#include "value.h"

#define PL_MAX_SLOTS 4096

struct pl_slots {
	pl_addr variables, stack; /* the first of each; the stack follows the variables */
	uint32_t stack_size;	  /* how many of the stack there are; what lies above its top is left over */
};

/** Errors: pl_err_corrupt, also where the layout does not tell; pl_err_unreadable. */
struct plumb_error *pl_slots_of(struct pl_mem *mem, const struct pl_py *py, const struct pl_frame *f,
				struct pl_slots *ret) PLUMB_MUST_CHECK;
/** The object in slot @p i of those from @p first on; 0: none, or it cannot be read. */
pl_addr pl_slot_object(struct pl_mem *mem, const struct pl_py *py, pl_addr first, uint32_t i);

/** The first argument of a function, also where an inner function uses it; 0: it has none, or it cannot be read. */
pl_addr pl_slots_self(struct pl_values *v, const struct pl_frame *f, const struct pl_slots *s);

enum pl_method { PL_METHOD_NONE, PL_METHOD_IN_C, PL_METHOD_IN_PYTHON };
/** Is the object a bound method? Its first word says of what function, as each kind has it; *self_ret is what it is
 * bound to, 0: nothing. */
enum pl_method pl_bound_method(struct pl_values *v, pl_addr obj, pl_addr *self_ret);

#endif
