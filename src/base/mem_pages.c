/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of another reader, kept until they are to be forgotten. Layer: base. One thread; allocates only when it is
 * made.
 *
 * Each page has one slot where it may be: one that needs the slot takes the place of the other. A range is mapped or
 * not by whole pages, so a read that fails here would have failed there. */
#include "mem_pages.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u
#define SLOTS	   64u

struct pl_mem_pages {
	struct pl_mem mem; /* first: the reader interface */
	struct pl_mem *under;
	pl_addr pages[SLOTS]; /* the page in each slot, plus 1; 0: none */
	uint8_t bytes[SLOTS][PAGE_BYTES];
};

static struct plumb_error *find_page(struct pl_mem_pages *p, pl_addr page, const uint8_t **ret)
{
	size_t slot = (page / PAGE_BYTES) % SLOTS;

	if (p->pages[slot] != page + 1) {
		p->pages[slot] = 0;
		struct plumb_error *err = pl_mem_read(p->under, page, p->bytes[slot], PAGE_BYTES);
		if (err)
			return err;
		p->pages[slot] = page + 1;
	}
	*ret = p->bytes[slot];
	return NULL;
}

static struct plumb_error *pages_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_mem_pages *p = (struct pl_mem_pages *)mem;
	uint8_t *out = dst;

	if (len > PAGE_BYTES || addr + len < addr)
		return pl_mem_read(p->under, addr, dst, len);
	while (len) {
		pl_addr page = addr & ~(pl_addr)(PAGE_BYTES - 1);
		size_t at = addr - page, n = PAGE_BYTES - at < len ? PAGE_BYTES - at : len;
		const uint8_t *bytes;
		struct plumb_error *err = find_page(p, page, &bytes);

		if (err)
			return err;
		memcpy(out, bytes + at, n);
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

void pl_mem_pages_forget(struct pl_mem_pages *p)
{
	memset(p->pages, 0, sizeof p->pages);
}
