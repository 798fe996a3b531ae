/* SPDX-License-Identifier: Apache-2.0 */
/* gzip on zlib (layer base). Any thread. */
#include "gzip.h"

#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* largest window, gzip header */
#define PIECE	    (64u << 10)

struct deflater {
	z_stream z;
	FILE *out;
	unsigned char piece[PIECE];
};

/* Compress what z->next_in holds. False: out took no more. */
static bool deflate_all(struct deflater *d, int flush)
{
	do {
		d->z.next_out = d->piece;
		d->z.avail_out = sizeof d->piece;
		if (deflate(&d->z, flush) == Z_STREAM_ERROR)
			return false;
		size_t len = sizeof d->piece - d->z.avail_out;
		if (fwrite(d->piece, 1, len, d->out) != len)
			return false;
	} while (d->z.avail_out == 0);
	return true;
}

static ssize_t deflater_write(void *cookie, const char *bytes, size_t len)
{
	struct deflater *d = cookie;
	size_t done = 0;

	while (done < len) {
		size_t part = len - done < PIECE ? len - done : PIECE;

		d->z.next_in = (unsigned char *)(bytes + done); /* zlib's type; it does not write there */
		d->z.avail_in = (unsigned)part;
		if (!deflate_all(d, Z_NO_FLUSH))
			return 0;
		done += part;
	}
	return (ssize_t)len;
}

static int deflater_close(void *cookie)
{
	struct deflater *d = cookie;

	d->z.avail_in = 0;
	bool good = deflate_all(d, Z_FINISH);
	deflateEnd(&d->z);
	free(d);
	return good ? 0 : EOF;
}

FILE *pl_gzip_open(FILE *out)
{
	struct deflater *d = calloc(1, sizeof *d);

	if (!d)
		return NULL;
	d->out = out;
	if (deflateInit2(&d->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(d);
		return NULL;
	}
	FILE *in = fopencookie(d, "w", (cookie_io_functions_t){.write = deflater_write, .close = deflater_close});
	if (!in) {
		deflateEnd(&d->z);
		free(d);
	}
	return in;
}

bool pl_gzip_is(const uint8_t *bytes, size_t len)
{
	return len >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8;
}

static struct plumb_error *inflate_error(int status)
{
	return status == Z_MEM_ERROR ? &pl_err_no_memory
				     : pl_error(PLUMB_ERR_CORRUPT, "its gzip data is damaged or cut short");
}

/* What was written to a device of blocks, or into an archive, is filled up. */
static bool is_padding(const uint8_t *p, const uint8_t *end)
{
	while (p < end && !*p)
		p++;
	return p == end;
}

/* All members, one after the other. */
static struct plumb_error *inflate_all(z_stream *z, uint64_t max, pl_gunzip_fn *fn, void *ctx, const uint8_t *bytes,
				       size_t len)
{
	static const size_t max_in = 1u << 30; /* avail_in has 32 bits */
	unsigned char *piece = malloc(PIECE);
	struct plumb_error *err = piece ? NULL : &pl_err_no_memory;
	const uint8_t *end = bytes + len;
	uint64_t total = 0;

	z->next_in = (unsigned char *)bytes;
	while (!err) {
		size_t left = (size_t)(end - z->next_in);

		z->avail_in = (unsigned)(left < max_in ? left : max_in);
		z->next_out = piece;
		z->avail_out = PIECE;
		int status = inflate(z, Z_NO_FLUSH);
		size_t got = PIECE - z->avail_out;
		total += got;
		if (status != Z_OK && status != Z_STREAM_END)
			err = inflate_error(status);
		else if (total > max)
			err = &pl_err_limit;
		else
			err = got ? fn(ctx, piece, got, (size_t)(z->next_in - bytes)) : NULL;
		if (err || status != Z_STREAM_END)
			continue;
		if (is_padding(z->next_in, end))
			break;
		if (inflateReset(z) != Z_OK)
			err = &pl_err_no_memory;
	}
	free(piece);
	return err;
}

struct plumb_error *pl_gunzip(const uint8_t *bytes, size_t len, uint64_t max, pl_gunzip_fn *fn, void *ctx)
{
	z_stream z = {0};

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return &pl_err_no_memory;
	struct plumb_error *err = inflate_all(&z, max, fn, ctx, bytes, len);
	inflateEnd(&z);
	return err;
}
