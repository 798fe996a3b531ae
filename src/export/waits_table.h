/* SPDX-License-Identifier: Apache-2.0 */
/* What asyncio tasks waited for, by the coroutine that it was for: the table of the text report, and what JSON tells.
 * Inside the layer only. */
#ifndef PL_WAITS_TABLE_H
#define PL_WAITS_TABLE_H

#include "json.h"
#include "line.h"
#include "vec.h"
#include "view.h"

/** The tasks of one outermost coroutine; or, of these, what is waited for at one place. */
struct pl_wait_sum {
	uint32_t root;	   /* function of the outermost frame */
	uint32_t location; /* the innermost frame of the program's own code, or of any; of a root: PL_WAIT_ROOT */
	const char *what;
	uint64_t tasks, task_ns;
	uint64_t root_ns;     /* of its root */
	uint64_t computed_ns; /* of a root: time on a CPU, of samples */
};
#define PL_WAIT_ROOT UINT32_MAX

struct pl_waits {
	const struct plumb_profile *p;
	struct pl_filter filter;
	PL_VEC(struct pl_wait_sum) sums; /* each root before its places; most first */
	PL_VEC(uint64_t) ranks;		 /* their times, most first */
	uint64_t task_ns;		 /* of all */
};

/** @p ret is to be released with pl_waits_deinit, also after an error. */
struct plumb_error *pl_waits_find(const struct plumb_profile *p, const struct pl_filter *f,
				  struct pl_waits *ret) PLUMB_MUST_CHECK;
void pl_waits_deinit(struct pl_waits *w);

/** The heaviest @p max rows, with a heading; nothing if there are none. @p scale: of samples' times. */
void pl_waits_write(const struct pl_waits *w, int max, double scale, struct pl_page *page);
/** "waits", where tasks were looked at. */
struct plumb_error *pl_waits_json(const struct pl_waits *w, struct pl_json *j) PLUMB_MUST_CHECK;

/** "waits" of the report page: the heaviest roots with their places; nothing where no task was seen to wait. */
void pl_waits_page_json(const struct pl_waits *w, struct pl_json *j);

#endif
