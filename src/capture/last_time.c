/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a recording, looked at before its beginning (layer capture). Any thread; keeps nothing.
 *
 * Batches are as long as the recording needs. Who knows that before the first sample need not add batches up each time
 * that they get too short, which was a quarter of what opening millions of samples took. The file may be anything: what
 * cannot be had here is found out on the way. */
#include "last_time.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format.h"

#define TAIL (1u << 20) /* the last chunk is in it, but where 100,000 samples a second were taken */

/* The last bytes of a file, none of anything else. */
static struct plumb_error *read_tail(int fd, struct pl_buf *tail)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return NULL;
	size_t len = st.st_size < TAIL ? (size_t)st.st_size : TAIL;
	struct plumb_error *err = pl_buf_reserve(tail, len);
	if (err)
		return err;
	ssize_t n = pread(fd, tail->data, len, st.st_size - (off_t)len);
	tail->len = n > 0 ? (size_t)n : 0;
	return NULL;
}

/* The last header of a chunk that has samples and is whole; its sum is still to be checked. NULL: there is none. */
static const uint8_t *find_chunk(const struct pl_buf *tail, struct pl_chunk_header *h)
{
	for (size_t left = PL_CHUNK_HEADER_LEN; left <= tail->len; left++) {
		const uint8_t *at = tail->data + tail->len - left;
		if (pl_chunk_header_decode(at, h) && h->samples && h->payload_len <= left - PL_CHUNK_HEADER_LEN)
			return at + PL_CHUNK_HEADER_LEN;
	}
	return NULL;
}

/* Of the instants that samples have: a column may go on behind the last of them. */
static uint64_t latest(struct pl_decoder sections[PL_SECTIONS], uint64_t samples)
{
	struct pl_decoder *times = &sections[PL_SECTION_TIMES], *runs = &sections[PL_SECTION_RUNS];
	uint64_t shift = pl_decode(&sections[PL_SECTION_UNITS]), instant = 0, most = 0;
	if (shift > PL_MAX_TIME_SHIFT)
		return 0;
	while (samples) {
		instant += (uint64_t)pl_decode_signed(times);
		/* The last run is not written: it lasts to the end of the chunk. */
		uint64_t run = pl_cursor_left(&runs->cursor) ? pl_decode(runs) : samples;
		if (times->bad || runs->bad || !run || instant > UINT64_MAX >> shift)
			break;
		most = instant > most ? instant : most;
		samples -= run < samples ? run : samples;
	}
	return most << shift;
}

static struct plumb_error *find_time(const struct pl_buf *tail, struct pl_buf *raw, uint64_t *ret)
{
	struct pl_decoder sections[PL_SECTIONS] = {0};
	struct pl_chunk_header h;
	const uint8_t *payload = find_chunk(tail, &h);
	if (!payload || pl_checksum(payload, h.payload_len) != h.payload_sum)
		return NULL;
	struct plumb_error *err = pl_chunk_unseal(&h, payload, raw);
	if (!err && pl_find_sections(raw, sections))
		*ret = latest(sections, h.samples);
	return err == &pl_err_corrupt ? NULL : err;
}

struct plumb_error *pl_last_time(int fd, uint64_t *ret)
{
	struct pl_buf tail = PL_BUF_INIT(TAIL), raw = PL_BUF_INIT((size_t)PL_CHUNK_MAX_BYTES + 1);
	*ret = 0;
	struct plumb_error *err = read_tail(fd, &tail);
	if (!err)
		err = find_time(&tail, &raw, ret);
	pl_buf_deinit(&tail);
	pl_buf_deinit(&raw);
	return err;
}
