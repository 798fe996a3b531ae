/* SPDX-License-Identifier: Apache-2.0 */
/* File header, chunk header, compression, checksums, numbers (layer capture). Any thread; keeps nothing.
 *
 * Two sums, because they answer two questions. The header's own says whether its length can be believed, so that a
 * damaged payload can be stepped over and its samples counted as lost; the payload's says whether the content can be
 * used. They guard against accidents, not against malice: everything behind them is decoded as hostile input all the
 * same. */
#include "format.h"

#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

/* Chunks are a few kilobytes, mostly one-byte numbers without repetitions, which zstd packs with a Huffman code at
 * every level: measured with 1,000 samples in a chunk, level 19 gains nothing and costs three times the CPU. */
#define LEVEL	       3
#define LONG_SECTION   200 /* bytes that repay a Huffman code of their own */
#define BLOCK_OVERHEAD 16

double *pl_collector_figure(struct pl_collector *c, size_t i)
{
	double *const figures[] = {&c->interval_usec, &c->run_interval_usec, &c->duration_sec, &c->sample_rate,
				   &c->error_rate,    &c->missed_samples,    &c->mode};

	return i < sizeof figures / sizeof *figures ? figures[i] : NULL;
}

uint64_t pl_checksum(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t sum = 0xcbf29ce484222325ull;
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ p[i]) * 0x100000001b3ull;
	return sum;
}

static void put_le(uint8_t *at, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t get_le(const uint8_t *at, int bytes)
{
	uint64_t v = 0;
	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)at[i] << 8 * i;
	return v;
}

void pl_file_header_encode(uint8_t ret[PL_FILE_HEADER_LEN], uint16_t version)
{
	memset(ret, 0, PL_FILE_HEADER_LEN);
	memcpy(ret, PL_FILE_MAGIC, PL_FILE_MAGIC_LEN);
	put_le(ret + 8, version, 2);
	put_le(ret + 16, pl_checksum(ret, 16), 8);
}

enum pl_file_header_status pl_file_header_decode(const uint8_t *bytes, uint16_t *version_ret)
{
	if (memcmp(bytes, PL_FILE_MAGIC, PL_FILE_MAGIC_LEN) != 0)
		return PL_FILE_HEADER_FOREIGN;
	if (get_le(bytes + 16, 8) != pl_checksum(bytes, 16))
		return PL_FILE_HEADER_DAMAGED;
	*version_ret = (uint16_t)get_le(bytes + 8, 2);
	return PL_FILE_HEADER_GOOD;
}

static void chunk_header_encode(uint8_t ret[PL_CHUNK_HEADER_LEN], const struct pl_chunk_header *h)
{
	memset(ret, 0, PL_CHUNK_HEADER_LEN);
	memcpy(ret, PL_CHUNK_MAGIC, PL_CHUNK_MAGIC_LEN);
	ret[4] = h->kind;
	put_le(ret + 8, h->sequence, 4);
	put_le(ret + 12, h->samples, 4);
	put_le(ret + 16, h->samples_before, 8);
	put_le(ret + 24, h->payload_len, 4);
	put_le(ret + 28, h->raw_len, 4);
	put_le(ret + 32, h->payload_sum, 8);
	put_le(ret + 40, pl_checksum(ret, 40), 8);
}

bool pl_chunk_header_decode(const uint8_t *bytes, struct pl_chunk_header *ret)
{
	if (memcmp(bytes, PL_CHUNK_MAGIC, PL_CHUNK_MAGIC_LEN) != 0 || get_le(bytes + 40, 8) != pl_checksum(bytes, 40))
		return false;
	struct pl_chunk_header h = {.kind = bytes[4],
				    .sequence = (uint32_t)get_le(bytes + 8, 4),
				    .samples = (uint32_t)get_le(bytes + 12, 4),
				    .samples_before = get_le(bytes + 16, 8),
				    .payload_len = (uint32_t)get_le(bytes + 24, 4),
				    .raw_len = (uint32_t)get_le(bytes + 28, 4),
				    .payload_sum = get_le(bytes + 32, 8)};
	if (h.payload_len > PL_CHUNK_MAX_BYTES || h.raw_len > PL_CHUNK_MAX_BYTES || h.samples > PL_CHUNK_MAX_SAMPLES)
		return false;
	*ret = h;
	return true;
}

/* Where the section that begins at @p at ends; the end of the payload if there is none. */
static size_t section_end(const struct pl_buf *raw, size_t at)
{
	struct pl_decoder d = pl_decoder_of(raw->data + at, raw->len - at);
	pl_decode(&d);
	uint64_t len = pl_decode(&d);
	return d.bad || len > pl_cursor_left(&d.cursor) ? raw->len : (size_t)(d.cursor.p - raw->data) + (size_t)len;
}

/* The end of the block that begins at @p at: a long section, or a row of short ones. */
static size_t block_end(const struct pl_buf *raw, size_t at)
{
	size_t end = section_end(raw, at);
	while (end - at < LONG_SECTION && end < raw->len) {
		size_t next = section_end(raw, end);
		if (next - end >= LONG_SECTION)
			break;
		end = next;
	}
	return end;
}

/* One zstd frame, block by block. Columns differ in what their bytes are; a block has a Huffman code of its own. */
static size_t compress_blocks(ZSTD_CCtx *z, const struct pl_buf *raw, ZSTD_outBuffer *out)
{
	size_t left = ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL);
	if (!ZSTD_isError(left))
		left = ZSTD_CCtx_setPledgedSrcSize(z, raw->len);
	ZSTD_inBuffer in = {.src = raw->data};
	do {
		in.size = in.size < raw->len ? block_end(raw, in.size) : raw->len;
		ZSTD_EndDirective directive = in.size == raw->len ? ZSTD_e_end : ZSTD_e_flush;
		do {
			if (ZSTD_isError(left))
				return left;
			left = ZSTD_compressStream2(z, out, &in, directive);
		} while (left && out->pos < out->size);
	} while (in.size < raw->len && !left);
	return left;
}

struct plumb_error *pl_chunk_seal(struct pl_chunk_header *h, const struct pl_buf *raw, struct pl_buf *out)
{
	if (raw->len > PL_CHUNK_MAX_BYTES)
		return &pl_err_limit;
	size_t bound = ZSTD_compressBound(raw->len) + PL_SECTIONS * BLOCK_OVERHEAD;
	struct plumb_error *err = pl_buf_reserve(out, PL_CHUNK_HEADER_LEN + bound);
	if (err)
		return err;
	/* The context is as large as the chunk needs and is given back: between two chunks nothing of it is held. */
	ZSTD_CCtx *z = ZSTD_createCCtx();
	if (!z)
		return &pl_err_no_memory;
	uint8_t *header = out->data + out->len, *payload = header + PL_CHUNK_HEADER_LEN;
	ZSTD_outBuffer zout = {.dst = payload, .size = bound};
	size_t left = compress_blocks(z, raw, &zout);
	ZSTD_freeCCtx(z);
	if (left)
		return &pl_err_no_memory; /* all that can go wrong with room enough */
	h->payload_len = (uint32_t)zout.pos;
	h->raw_len = (uint32_t)raw->len;
	h->payload_sum = pl_checksum(payload, zout.pos);
	chunk_header_encode(header, h);
	out->len += PL_CHUNK_HEADER_LEN + zout.pos;
	return NULL;
}

struct plumb_error *pl_chunk_unseal(const struct pl_chunk_header *h, const uint8_t *payload, struct pl_buf *raw)
{
	if (h->raw_len / PL_CHUNK_MAX_RATIO > h->payload_len)
		return &pl_err_corrupt;
	pl_buf_clear(raw);
	struct plumb_error *err = pl_buf_reserve(raw, (size_t)h->raw_len + 1);
	if (err)
		return err;
	size_t len = ZSTD_decompress(raw->data, h->raw_len, payload, h->payload_len);
	if (ZSTD_getErrorCode(len) == ZSTD_error_memory_allocation)
		return &pl_err_no_memory;
	if (ZSTD_isError(len) || len != h->raw_len)
		return &pl_err_corrupt;
	raw->len = len;
	return NULL;
}

void pl_encode_section(struct pl_encoder *e, enum pl_section tag, const struct pl_buf *content)
{
	if (!content->len)
		return;
	pl_encode(e, tag);
	pl_encode(e, content->len);
	pl_encode_bytes(e, content->data, content->len);
}

bool pl_find_sections(const struct pl_buf *raw, struct pl_decoder sections[PL_SECTIONS])
{
	struct pl_decoder d = pl_decoder_of(raw->data, raw->len);
	while (pl_cursor_left(&d.cursor)) {
		uint64_t tag = pl_decode(&d), len = pl_decode(&d);
		const uint8_t *bytes = NULL;
		if (d.bad || len > pl_cursor_left(&d.cursor) || !pl_cursor_bytes(&d.cursor, (size_t)len, &bytes))
			return false;
		if (tag >= PL_SECTIONS)
			continue;
		if (pl_cursor_left(&sections[tag].cursor))
			return false; /* twice */
		sections[tag] = pl_decoder_of(bytes, (size_t)len);
	}
	return true;
}

uint64_t pl_decode_long(struct pl_decoder *d)
{
	uint64_t v = 0;
	if (!d->bad && pl_cursor_varint(&d->cursor, &v))
		return v;
	d->bad = true;
	return 0;
}

uint32_t pl_decode_u32(struct pl_decoder *d)
{
	uint64_t v = pl_decode(d);
	if (v <= UINT32_MAX)
		return (uint32_t)v;
	d->bad = true;
	return 0;
}

uint32_t pl_decode_delta_u32(struct pl_decoder *d, uint32_t from)
{
	uint64_t v = from + (uint64_t)pl_decode_signed(d);
	if (v <= UINT32_MAX)
		return (uint32_t)v;
	d->bad = true;
	return 0;
}
