/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is read until some time: what is made up in it can take as long as its owner likes. */
#ifndef PL_MEM_UNTIL_H
#define PL_MEM_UNTIL_H

#include "mem.h"

/** Plain data; @p inner stays the caller's and outlives it. */
struct pl_mem_until {
	struct pl_mem mem; /* first: the reader interface */
	struct pl_mem *inner;
	uint64_t end_ns;
	unsigned reused; /* so often */
	bool late;
};

/** From @p end_ns (pl_clock_monotonic_ns) on reads fail with pl_err_limit, and so does what is read of pages that were
 * kept of it (mem_pages.h). Asks for nothing ahead. */
struct pl_mem *pl_mem_until_init(struct pl_mem_until *m, struct pl_mem *inner, uint64_t end_ns);

#endif
