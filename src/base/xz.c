/* SPDX-License-Identifier: Apache-2.0 */
/* xz on liblzma (layer base). Any thread. */
#include "xz.h"

#ifdef PL_HAVE_LZMA
#include <lzma.h>

#define MEMORY_MAX (64ull << 20) /* xz -6, which is what packs such data, takes 9 MiB */
#define PIECE	   (64u << 10)

static struct plumb_error *error_of(lzma_ret status)
{
	switch (status) {
	case LZMA_OK:
	case LZMA_STREAM_END:
		return NULL;
	case LZMA_MEM_ERROR:
		return &pl_err_no_memory;
	case LZMA_MEMLIMIT_ERROR:
		return &pl_err_limit;
	default:
		return &pl_err_corrupt;
	}
}

static struct plumb_error *decode(lzma_stream *s, uint64_t max,
				  struct plumb_error *(*fn)(void *ctx, const void *bytes, size_t len), void *ctx)
{
	uint8_t piece[PIECE];
	lzma_ret status;

	do {
		s->next_out = piece;
		s->avail_out = sizeof piece;
		status = lzma_code(s, LZMA_FINISH);
		struct plumb_error *err = error_of(status);
		size_t got = sizeof piece - s->avail_out;

		if (!err && s->total_out > max)
			err = &pl_err_limit;
		if (!err && got)
			err = fn(ctx, piece, got);
		if (err)
			return err;
	} while (status != LZMA_STREAM_END);
	return NULL;
}

struct plumb_error *pl_unxz(const uint8_t *bytes, size_t len, uint64_t max,
			    struct plumb_error *(*fn)(void *ctx, const void *bytes, size_t len), void *ctx)
{
	lzma_stream s = LZMA_STREAM_INIT;
	struct plumb_error *err = error_of(lzma_stream_decoder(&s, MEMORY_MAX, 0));

	s.next_in = bytes;
	s.avail_in = len;
	err = err ? err : decode(&s, max, fn, ctx);
	lzma_end(&s);
	return err;
}
#else
struct plumb_error *pl_unxz(const uint8_t *bytes, size_t len, uint64_t max,
			    struct plumb_error *(*fn)(void *ctx, const void *bytes, size_t len), void *ctx)
{
	return pl_error(PLUMB_ERR_NOT_SUPPORTED, "this plumb was built without liblzma");
}
#endif
