/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a captured memory image: what it took in can be read again, the first range of an address winning, and
 * through the cache of pages it can be read as well. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "mem_image.h"
#include "mem_pages.h"

#define MAGIC_LEN 7

/* Read back each range of the file. */
static void read_ranges(struct pl_mem *pages, struct pl_mem *mem, const uint8_t *data, size_t size)
{
	static uint8_t copy[1 << 16];
	struct pl_cursor c = {.p = data + MAGIC_LEN, .end = data + size};
	uint64_t addr;
	uint32_t len;
	const uint8_t *bytes;
	bool first = true;
	while (pl_cursor_u64(&c, &addr) && pl_cursor_u32(&c, &len) && pl_cursor_bytes(&c, len, &bytes)) {
		if (len > sizeof copy)
			continue;
		if (pl_mem_read(pages, addr, copy, len) || pl_mem_read(mem, addr, copy, len))
			abort();
		if (first && memcmp(copy, bytes, len) != 0)
			abort();
		first = false;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_mem_image *img;
	uint8_t some[64];
	struct plumb_error *err = pl_mem_image_create(data, size, &img);
	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	struct pl_mem_pages *pages;
	if (!pl_mem_pages_create(pl_mem_image_mem(img), &pages)) {
		read_ranges(pl_mem_pages_mem(pages), pl_mem_image_mem(img), data, size);
		pl_mem_pages_destroy(pages);
	}
	plumb_error_destroy(pl_mem_read(pl_mem_image_mem(img), UINT64_MAX - 8, some, sizeof some));
	pl_mem_image_destroy(img);
	return 0;
}
