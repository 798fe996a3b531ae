/* SPDX-License-Identifier: Apache-2.0 */
/* A pl_mem that keeps the pages it has read from another one: for many small reads close to one another, of memory that
 * stands still meanwhile. Not thread-safe. */
#ifndef PL_MEM_PAGES_H
#define PL_MEM_PAGES_H

#include "mem.h"

struct pl_mem_pages;

/** @p under must outlive it, and is asked before what is kept is used once more (pl_mem_reuse). Owner: caller. */
struct plumb_error *pl_mem_pages_create(struct pl_mem *under, struct pl_mem_pages **ret) PLUMB_MUST_CHECK;
void pl_mem_pages_destroy(struct pl_mem_pages *p);

struct pl_mem *pl_mem_pages_mem(struct pl_mem_pages *p);

/** How often the other one was read, so far. @p p may be NULL: never. */
uint64_t pl_mem_pages_reads(const struct pl_mem_pages *p);

/** What was read may have changed since: read everything anew. */
void pl_mem_pages_forget(struct pl_mem_pages *p);

#endif
