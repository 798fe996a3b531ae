/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of threads and tasks. */
#ifndef PL_DUMP_PARTS_H
#define PL_DUMP_PARTS_H

#include "code.h"
#include "dump_model.h"
#include "dump_source.h"

/** The frame that runs @p code at byte @p offset. @p sources NULL: without its source line. */
struct pl_dump_frame pl_dump_frame_of(struct pl_dump *d, struct pl_dump_sources *sources, const struct pl_py *py,
				      const struct pl_code *code, int32_t offset);

/** The number of the thread that threading knows as @p ident; 0: none. */
uint64_t pl_dump_tid_of(const struct pl_dump_process *p, uint64_t ident);

#endif
