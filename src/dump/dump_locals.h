/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and local variables for a dump. */
#ifndef PL_DUMP_LOCALS_H
#define PL_DUMP_LOCALS_H

#include "dump_model.h"
#include "variables.h"

/** Tell those that were taken of frame @p i; nothing if there was no time for it. */
void pl_dump_tell_locals(struct pl_dump *d, const struct pl_variables *t, size_t i, struct pl_dump_frame *ret);
/** Those of one frame, at once. */
void pl_dump_add_locals(struct pl_dump *d, struct pl_values *v, const struct pl_frame *f, struct pl_dump_frame *ret);

#endif
