/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: the rows of a profile's tables that are new since the last chunk, and the running totals. */
#ifndef PL_CAPTURE_TABLES_H
#define PL_CAPTURE_TABLES_H

#include "format.h"
#include "profile.h"
#include "vec.h"

/** How much of the tables is in the file already. Ids are dense and for ever, so that one number per table will do;
 * only rows of threads, processes and waits change later and are compared one by one. */
struct pl_table_marks {
	uint32_t strings, functions, locations, stacks, processes, locks, modules;
	PL_VEC(struct pl_thread) threads; /* as last written */
	PL_VEC(struct pl_process) lives;
	PL_VEC(struct pl_wait) waits; /* as they were when they were last written */
	struct pl_waited waited;
};

/** At the beginning of a file: every reader knows the empty string and the empty stack. */
void pl_table_marks_init(struct pl_table_marks *m);
void pl_table_marks_deinit(struct pl_table_marks *m);

/** Append what is new since @p m to @p raw, at most about PL_TABLES_MAX_BYTES of it, in the order in which rows refer
 * to each other, and write to @p to how far that went. *whole_ret: nothing new is left. @p to is initialised by this
 * call and owned by the caller. */
struct plumb_error *pl_tables_encode(const struct plumb_profile *p, const struct pl_table_marks *m, struct pl_buf *raw,
				     struct pl_table_marks *to, bool *whole_ret) PLUMB_MUST_CHECK;
/** What is told of the whole: running totals, what a collector was told, the time of what was added up. */
struct plumb_error *pl_whole_encode(const struct plumb_profile *p, struct pl_buf *raw) PLUMB_MUST_CHECK;

/** A section of rows that carry their ids, as most are updates: their number, then @p rows. Nothing if there are none.
 * @p err: why they are not whole, NULL: they are. */
struct plumb_error *pl_rows_encode(const struct pl_encoder *rows, uint32_t count, enum pl_section tag,
				   struct pl_buf *raw, struct plumb_error *err) PLUMB_MUST_CHECK;

#define PL_TABLES_MAX_BYTES  (8u << 20)
#define PL_SECTION_MAX_BYTES (PL_TABLES_MAX_BYTES + 2 * PL_SOURCE_MAX_BYTES)

#endif
