/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the seed corpus of tests/fuzz/fuzz_capture.c, whose comment describes its two kinds of input:
 *
 *   ninja -C BUILD make_capture_corpus && .../make_capture_corpus tests/fuzz/corpus/capture
 *
 * To be run again when the format changes. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format.h"
#include "recording.h"

static const char *directory;

static void save(const char *kind, uint64_t number, const void *bytes, size_t len)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s-%" PRIu64, directory, kind, number);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* The payloads of a recording, decompressed. */
static void save_pieces(const struct recording *r, uint64_t number)
{
	struct pl_buf pieces = PL_BUF_INIT(1 << 20), raw = PL_BUF_INIT(1 << 20);
	for (size_t i = 0; i < r->chunks; i++) {
		const uint8_t *at = r->bytes + (i ? r->end[i - 1] : PL_FILE_HEADER_LEN);
		struct pl_chunk_header h;
		assert_true(pl_chunk_header_decode(at, &h));
		check(pl_chunk_unseal(&h, at + PL_CHUNK_HEADER_LEN, &raw));
		assert_true(raw.len <= UINT16_MAX && h.samples <= UINT16_MAX);
		const uint8_t head[] = {h.kind == PL_CHUNK_LAST, (uint8_t)h.samples, (uint8_t)(h.samples >> 8),
					(uint8_t)raw.len, (uint8_t)(raw.len >> 8)};
		check(pl_buf_add(&pieces, head, sizeof head));
		check(pl_buf_add(&pieces, raw.data, raw.len));
	}
	save("pieces", number, pieces.data, pieces.len);
	pl_buf_deinit(&pieces);
	pl_buf_deinit(&raw);
}

static void make_corpus(void **state)
{
	static const struct {
		size_t chunks;
		unsigned samples;
		bool rich;
	} sizes[] = {{1, 0, false}, {1, 1, false}, {2, 5, false}, {3, 12, false}, {4, 30, false}, {3, 12, true}};
	for (uint64_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct recording r;
		if (sizes[i].rich)
			recording_make_rich(&r, i, sizes[i].chunks, sizes[i].samples);
		else
			recording_make(&r, i, sizes[i].chunks, sizes[i].samples);
		save("recording", i, r.bytes, r.len);
		save("cut", i, r.bytes, r.len - r.len / 4);
		save_pieces(&r, i);
		recording_free(&r);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest steps[] = {cmocka_unit_test(make_corpus)};
	if (argc != 2)
		return 2;
	directory = argv[1];
	return cmocka_run_group_tests(steps, NULL, NULL);
}
