/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of which no more is read than is allowed: what is made up in it can be as much as its owner likes. */
#ifndef PL_MEM_LIMITED_H
#define PL_MEM_LIMITED_H

#include "mem.h"
#include "work.h"

/** Plain data; @p inner and @p work stay the caller's and outlive it. */
struct pl_mem_limited {
	struct pl_mem mem; /* first: the reader interface */
	struct pl_mem *inner;
	struct pl_work *work;
};

/** Reads count as work, and so does what is read of pages that were kept of it (mem_pages.h), for less; they fail with
 * pl_err_limit when it would be too much. Asks for nothing ahead. */
struct pl_mem *pl_mem_limited_init(struct pl_mem_limited *m, struct pl_mem *inner, struct pl_work *work);

#endif
