/* SPDX-License-Identifier: Apache-2.0 */
/* Captured memory and its recorder. One thread at a time.
 *
 * An image is kept as small blocks, each with a bitmap of the bytes it knows: ranges of any number, order and overlap
 * go in at a cost that follows their bytes, and a read needs one look-up per block. 256 bytes bound what a hostile file
 * of one-byte ranges can make us allocate to about 25 times its own size. */
#include "mem_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "cursor.h"
#include "map.h"
#include "vec.h"

#define BLOCK	   256u
#define RECORD_MAX (1ull << 30)

static const char magic[] = "PLIMG1\n";
#define MAGIC_LEN (sizeof magic - 1)

struct block {
	uint64_t known[BLOCK / 64];
	uint8_t data[BLOCK];
};

struct pl_mem_image {
	struct pl_mem mem;   /* first: pl_mem is cast back */
	struct pl_map index; /* addr / BLOCK -> block */
	PL_VEC(struct block) blocks;
};

static bool is_known(const struct block *b, size_t i)
{
	return b->known[i / 64] >> (i % 64) & 1;
}

static struct block *block_at(struct pl_mem_image *img, pl_addr addr, bool create)
{
	uint32_t i;
	if (pl_map_get(&img->index, addr / BLOCK, 0, &i))
		return &img->blocks.data[i];
	if (!create || img->blocks.len >= UINT32_MAX || !pl_vec_reserve(&img->blocks, 1))
		return NULL;
	if (!pl_map_set(&img->index, addr / BLOCK, 0, (uint32_t)img->blocks.len))
		return NULL;
	struct block *b = &img->blocks.data[img->blocks.len++];
	memset(b, 0, sizeof *b);
	return b;
}

/* Take in the bytes that no earlier range holds. The caller has checked that addr + len does not wrap. */
static bool image_put(struct pl_mem_image *img, pl_addr addr, const uint8_t *bytes, size_t len)
{
	while (len) {
		struct block *b = block_at(img, addr, true);
		if (!b)
			return false;
		size_t at = addr % BLOCK, n = BLOCK - at < len ? BLOCK - at : len;
		for (size_t i = 0; i < n; i++) {
			if (is_known(b, at + i))
				continue;
			b->data[at + i] = bytes[i];
			b->known[(at + i) / 64] |= 1ull << ((at + i) % 64);
		}
		addr += n;
		bytes += n;
		len -= n;
	}
	return true;
}

static struct plumb_error *image_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_mem_image *img = (struct pl_mem_image *)mem;
	uint8_t *out = dst;
	if (len > UINT64_MAX - addr)
		return &pl_err_unreadable;
	while (len) {
		const struct block *b = block_at(img, addr, false);
		if (!b)
			return &pl_err_unreadable;
		size_t at = addr % BLOCK, n = BLOCK - at < len ? BLOCK - at : len;
		for (size_t i = at; i < at + n; i++)
			if (!is_known(b, i))
				return &pl_err_unreadable;
		memcpy(out, b->data + at, n);
		addr += n;
		out += n;
		len -= n;
	}
	return NULL;
}

static const struct pl_mem_ops image_ops = {.read = image_read};

static struct plumb_error *image_parse(struct pl_mem_image *img, struct pl_cursor *c)
{
	const uint8_t *bytes;
	if (!pl_cursor_bytes(c, MAGIC_LEN, &bytes) || memcmp(bytes, magic, MAGIC_LEN) != 0)
		return &pl_err_corrupt;
	while (pl_cursor_left(c)) {
		uint64_t addr;
		uint32_t len;
		if (!pl_cursor_u64(c, &addr) || !pl_cursor_u32(c, &len) || !pl_cursor_bytes(c, len, &bytes))
			return &pl_err_truncated;
		if (len > UINT64_MAX - addr)
			return &pl_err_corrupt;
		if (!image_put(img, addr, bytes, len))
			return &pl_err_no_memory;
	}
	return NULL;
}

struct plumb_error *pl_mem_image_create(const void *bytes, size_t len, struct pl_mem_image **ret)
{
	struct pl_mem_image *img = calloc(1, sizeof *img);
	if (!img)
		return &pl_err_no_memory;
	img->mem.ops = &image_ops;
	struct pl_cursor c = {.p = bytes, .end = (const uint8_t *)bytes + len};
	struct plumb_error *err = image_parse(img, &c);
	if (err) {
		pl_mem_image_destroy(img);
		return err;
	}
	*ret = img;
	return NULL;
}

void pl_mem_image_destroy(struct pl_mem_image *img)
{
	if (!img)
		return;
	pl_map_deinit(&img->index);
	pl_vec_deinit(&img->blocks);
	free(img);
}

struct pl_mem *pl_mem_image_mem(struct pl_mem_image *img)
{
	return &img->mem;
}

struct pl_mem_record {
	struct pl_mem mem; /* first: pl_mem is cast back */
	struct pl_mem *inner;
	struct pl_map seen; /* (addr, len) of the ranges in file */
	struct pl_buf file;
	struct plumb_error *lost; /* static; the first range that found no room */
};

static struct plumb_error *record_range(struct pl_mem_record *rec, pl_addr addr, const void *bytes, size_t len)
{
	uint32_t ignored, len32 = (uint32_t)len;
	if (len > UINT32_MAX)
		return &pl_err_limit;
	if (pl_map_get(&rec->seen, addr, len, &ignored))
		return NULL; /* the first reading wins, here as in the image */
	struct plumb_error *err = pl_buf_reserve(&rec->file, sizeof addr + sizeof len32 + len);
	if (err)
		return err;
	if (!pl_map_set(&rec->seen, addr, len, 1))
		return &pl_err_no_memory;
	/* Little endian, as the machines that plumb runs on; none of these fails after the reserve. */
	if ((err = pl_buf_add(&rec->file, &addr, sizeof addr)) || (err = pl_buf_add(&rec->file, &len32, sizeof len32)))
		return err;
	return pl_buf_add(&rec->file, bytes, len);
}

static struct plumb_error *record_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_mem_record *rec = (struct pl_mem_record *)mem;
	struct plumb_error *err = pl_mem_read(rec->inner, addr, dst, len);
	if (err)
		return err;
	err = record_range(rec, addr, dst, len);
	if (err && !rec->lost)
		rec->lost = err; /* the reader goes on; saving will fail */
	return NULL;
}

static void record_prefetch(struct pl_mem *mem, pl_addr addr, size_t len)
{
	pl_mem_prefetch(((struct pl_mem_record *)mem)->inner, addr, len);
}

static const struct pl_mem_ops record_ops = {.read = record_read, .prefetch = record_prefetch};

struct plumb_error *pl_mem_record_create(struct pl_mem *inner, struct pl_mem_record **ret)
{
	struct pl_mem_record *rec = calloc(1, sizeof *rec);
	if (!rec)
		return &pl_err_no_memory;
	rec->mem.ops = &record_ops;
	rec->inner = inner;
	rec->file.max = RECORD_MAX;
	struct plumb_error *err = pl_buf_add(&rec->file, magic, MAGIC_LEN);
	if (err) {
		pl_mem_record_destroy(rec);
		return err;
	}
	*ret = rec;
	return NULL;
}

void pl_mem_record_destroy(struct pl_mem_record *rec)
{
	if (!rec)
		return;
	pl_map_deinit(&rec->seen);
	pl_buf_deinit(&rec->file);
	free(rec);
}

struct pl_mem *pl_mem_record_mem(struct pl_mem_record *rec)
{
	return &rec->mem;
}

struct plumb_error *pl_mem_record_save(struct pl_mem_record *rec, int fd)
{
	if (rec->lost)
		return rec->lost;
	for (size_t done = 0; done < rec->file.len;) {
		ssize_t n = write(fd, rec->file.data + done, rec->file.len - done);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return pl_error_errno(PLUMB_ERR_WRITE_FAILED, n ? errno : ENOSPC,
					      "cannot write the memory image");
	}
	return NULL;
}
