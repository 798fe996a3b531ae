/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of another reader, kept until they are to be forgotten. Layer: base. One thread; allocates only when it is
 * made.
 *
 * Each page has one slot where it may be: one that needs the slot takes the place of the other. A page that cannot be
 * had whole (the last one of a core that was cut) is not kept: of it is read what is asked for. What is read of a page
 * that is kept the other reader may refuse: it takes little time, and yet may be asked for without end. */
#include "mem_pages.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u
#define SLOTS	   2048u /* only those that are used take memory */

struct pl_mem_pages {
	struct pl_mem mem; /* first: the reader interface */
	struct pl_mem *under;
	uint64_t reads;	      /* of it */
	pl_addr pages[SLOTS]; /* the page in each slot, plus 1; 0: none */
	uint8_t bytes[SLOTS][PAGE_BYTES];
};

/* False: it cannot be had whole. */
static bool keep_page(struct pl_mem_pages *p, pl_addr page, size_t slot)
{
	p->pages[slot] = 0;
	p->reads++;
	struct plumb_error *err = pl_mem_read(p->under, page, p->bytes[slot], PAGE_BYTES);
	plumb_error_destroy(err);
	if (!err)
		p->pages[slot] = page + 1;
	return !err;
}

static struct plumb_error *read_in_page(struct pl_mem_pages *p, pl_addr addr, uint8_t *out, size_t len)
{
	size_t at = addr % PAGE_BYTES, slot = (addr / PAGE_BYTES) % SLOTS;
	struct plumb_error *err = NULL;

	if (p->pages[slot] == addr - at + 1)
		err = pl_mem_reuse(p->under, len);
	else if (!keep_page(p, addr - at, slot))
		return pl_mem_read(p->under, addr, out, len);
	if (!err)
		memcpy(out, p->bytes[slot] + at, len);
	return err;
}

static struct plumb_error *pages_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_mem_pages *p = (struct pl_mem_pages *)mem;
	uint8_t *out = dst;

	if (len > PAGE_BYTES || addr + len < addr)
		return pl_mem_read(p->under, addr, dst, len);
	while (len) {
		size_t left = PAGE_BYTES - addr % PAGE_BYTES, n = left < len ? left : len;
		struct plumb_error *err = read_in_page(p, addr, out, n);

		if (err)
			return err;
		addr += n;
		out += n;
		len -= n;
	}
	return NULL;
}

static const struct pl_mem_ops pages_ops = {.read = pages_read};

struct plumb_error *pl_mem_pages_create(struct pl_mem *under, struct pl_mem_pages **ret)
{
	struct pl_mem_pages *p = malloc(sizeof *p);

	if (!p)
		return &pl_err_no_memory;
	p->mem.ops = &pages_ops;
	p->under = under;
	p->reads = 0;
	pl_mem_pages_forget(p);
	*ret = p;
	return NULL;
}

void pl_mem_pages_destroy(struct pl_mem_pages *p)
{
	free(p);
}

struct pl_mem *pl_mem_pages_mem(struct pl_mem_pages *p)
{
	return &p->mem;
}

uint64_t pl_mem_pages_reads(const struct pl_mem_pages *p)
{
	return p ? p->reads : 0;
}

void pl_mem_pages_forget(struct pl_mem_pages *p)
{
	memset(p->pages, 0, sizeof p->pages);
}
