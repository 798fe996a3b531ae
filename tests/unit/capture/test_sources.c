/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of files: they come back whole, from as many chunks as they need, and as they were when they changed. */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format.h"
#include "recording.h"

#define LARGE 20

static void assert_same(const struct kept *s)
{
	char *p = profile_dump(s->p), *back = profile_dump(s->back);

	assert_string_equal(back, p);
	free(p);
	free(back);
}

/* The dumps that the other tests of recordings compare have them, too. */
static void random_texts_come_back(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct recording r;
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;

		recording_make_rich(&r, seed, 1 + seed, 20);
		assert_true(r.profile->source_count > 0);
		for (size_t i = 0; i < r.chunks; i++) {
			check(read_bytes(r.bytes, r.end[i], &p, &info));
			char *dump = profile_dump(p);
			assert_string_equal(dump, r.dump[i]);
			free(dump);
			pl_profile_destroy(p);
		}
		recording_free(&r);
	}
}

/* More than one chunk takes, none of which can be compressed. */
static void many_large_texts_come_back(void **state)
{
	struct kept s;
	struct pl_rng rng = {.state = 5};
	uint64_t *text = malloc(PL_SOURCE_MAX_BYTES);

	kept_init(&s);
	for (int i = 0; i < LARGE; i++) {
		char name[24];
		snprintf(name, sizeof name, "m%d.py", i);
		for (size_t j = 0; j < PL_SOURCE_MAX_BYTES / sizeof *text; j++)
			text[j] = pl_rng_next(&rng);
		check(pl_profile_source(s.p, add_string(s.p, name), text, PL_SOURCE_MAX_BYTES, i % 2));
	}
	free(text);
	check(pl_capture_flush(s.w, s.p));
	uint64_t chunks = pl_capture_chunks(s.w);
	assert_true(chunks > 2);
	check(pl_capture_flush(s.w, s.p));
	assert_int_equal(pl_capture_chunks(s.w), chunks + 1); /* not written again */
	kept_read(&s);
	assert_int_equal(s.back->source_count, LARGE);
	assert_int_equal(s.info.damaged_chunks, 0);
	for (uint32_t i = 0; i < LARGE; i++) {
		assert_int_equal(s.back->sources[i].len, PL_SOURCE_MAX_BYTES);
		assert_memory_equal(s.back->sources[i].text, s.p->sources[i].text, PL_SOURCE_MAX_BYTES);
		assert_int_equal(s.back->sources[i].changed, i % 2);
	}
	kept_deinit(&s);
}

static void what_changes_later_is_written_again(void **state)
{
	struct kept s;

	kept_init(&s);
	uint32_t a = add_string(s.p, "a.py"), b = add_string(s.p, "b.py");
	check(pl_profile_source(s.p, a, "x = 2\n", 6, false));
	check(pl_profile_source(s.p, b, "y = 2\n", 6, false));
	check(pl_capture_flush(s.w, s.p));
	check(pl_profile_source(s.p, a, "x = 1\n", 6, false));
	check(pl_profile_source(s.p, b, "y = 2\n", 6, true));
	kept_read(&s);
	assert_same(&s);
	assert_string_equal(pl_profile_source_of(s.back, s.back->sources[0].file)->text, "x = 1\n");
	assert_true(s.back->sources[0].changed && s.back->sources[1].changed);
	kept_deinit(&s);
}

/* As of a profiler that was killed, or a disk that got full. */
static void samples_stand_before_the_texts_of_their_files(void **state)
{
	struct recording r;
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;

	recording_make_rich(&r, 7, 1, 20);
	check(read_bytes(r.bytes, r.len - 1, &p, &info));
	assert_true(r.profile->source_count > 0);
	assert_int_equal(p->source_count, 0);
	assert_int_equal(samples_in(p), r.samples[0]);
	assert_false(p->meta.complete);
	pl_profile_destroy(p);
	recording_free(&r);
}

/* A recording of one chunk, whose content is @p content. */
static void read_section(const struct pl_buf *content, struct plumb_profile **p, struct pl_capture_info *info)
{
	struct pl_chunk_header h = {.kind = PL_CHUNK_LAST};
	uint8_t header[PL_FILE_HEADER_LEN];
	struct pl_buf raw = PL_BUF_INIT(4u << 20), file = PL_BUF_INIT(4u << 20), strings = PL_BUF_INIT(64);
	struct pl_encoder e = {.buf = &raw}, s = {.buf = &strings};

	pl_encode(&s, 1); /* one string, a.py */
	pl_encode(&s, 1);
	pl_encode(&s, 4);
	pl_encode_bytes(&s, "a.py", 4);
	pl_encode_section(&e, PL_SECTION_STRINGS, &strings);
	pl_encode_section(&e, PL_SECTION_SOURCES, content);
	check(e.err);
	pl_file_header_encode(header, PL_RECORDING_VERSION);
	check(pl_buf_add(&file, header, sizeof header));
	check(pl_chunk_seal(&h, &raw, &file));
	check(read_bytes(file.data, file.len, p, info));
	pl_buf_deinit(&raw);
	pl_buf_deinit(&file);
	pl_buf_deinit(&strings);
}

static void row(struct pl_encoder *e, uint32_t file, uint64_t flags, uint64_t len, const char *text)
{
	pl_encode(e, file);
	pl_encode(e, flags);
	pl_encode(e, len);
	pl_encode_bytes(e, text, strlen(text));
}

static void hostile_rows_give_nothing(void **state)
{
	static const struct {
		uint64_t count, file, len;
		uint32_t kept, damaged;
	} cases[] = {{1, 1, 4, 1, 0},
		     {1, 9, 4, 0, 0},
		     {1, 1, 5, 0, 1},
		     {2, 1, 4, 1, 1},
		     {9, 1, 4, 0, 1},
		     {1, 1, UINT64_MAX, 0, 1},
		     {1, 1, PL_SOURCE_MAX_BYTES + 1, 0, 1}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct pl_buf content = PL_BUF_INIT(64);
		struct pl_encoder e = {.buf = &content};
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;

		pl_encode(&e, cases[i].count);
		row(&e, (uint32_t)cases[i].file, 0, cases[i].len, "pass");
		check(e.err);
		read_section(&content, &p, &info);
		assert_int_equal(p->source_count, cases[i].kept);
		assert_int_equal(info.damaged_chunks, cases[i].damaged);
		pl_buf_deinit(&content);
		pl_profile_destroy(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_texts_come_back),
		cmocka_unit_test(many_large_texts_come_back),
		cmocka_unit_test(what_changes_later_is_written_again),
		cmocka_unit_test(samples_stand_before_the_texts_of_their_files),
		cmocka_unit_test(hostile_rows_give_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
