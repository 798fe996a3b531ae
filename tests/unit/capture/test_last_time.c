/* SPDX-License-Identifier: Apache-2.0 */
/* How long a recording lasted, from its end. */
#include "last_time.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format.h"
#include "recording.h"

#define CHUNKS 4

static uint64_t last_time_of(const void *bytes, size_t len)
{
	uint64_t ret = 1;
	int fd = fd_of(bytes, len);
	check(pl_last_time(fd, &ret));
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0); /* it stands where it stood */
	close(fd);
	return ret;
}

static struct plumb_error *note_latest(void *ctx, const struct pl_sample *s)
{
	uint64_t *latest = ctx;
	*latest = s->time_ns > *latest ? s->time_ns : *latest;
	return NULL;
}

/* Of all samples that reading gives. */
static uint64_t latest_read(const void *bytes, size_t len)
{
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	uint64_t latest = 0;
	int fd = fd_of(bytes, len);
	check(pl_profile_create(&p));
	check(pl_capture_read(fd, p, note_latest, &latest, &info));
	close(fd);
	pl_profile_destroy(p);
	return latest;
}

static void it_is_that_of_the_latest_sample(void **state)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct recording r;
		recording_make(&r, seed, CHUNKS, 400);
		assert_int_equal(last_time_of(r.bytes, r.len), latest_read(r.bytes, r.len));
		/* Without the end it is that of the last chunk that is whole. */
		for (size_t i = 1; i < CHUNKS; i++)
			assert_int_equal(last_time_of(r.bytes, r.end[i] - 1), latest_read(r.bytes, r.end[i] - 1));
		recording_free(&r);
	}
}

/* A profile is the same, however much of its length was known before. */
static void a_pipe_gives_the_same_profile(void **state)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct recording r;
		struct plumb_profile *whole = NULL, *piped = NULL;
		struct pl_capture_info info;
		uint64_t time = 1;
		int ends[2];
		recording_make(&r, seed, CHUNKS, 400);
		check(read_bytes(r.bytes, r.len, &whole, &info));
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		assert_true(fcntl(ends[1], F_SETPIPE_SZ, (int)r.len) >= (int)r.len); /* nobody reads meanwhile */
		assert_int_equal(write(ends[1], r.bytes, r.len), r.len);
		close(ends[1]);
		check(pl_last_time(ends[0], &time));
		assert_int_equal(time, 0);
		check(pl_profile_create(&piped));
		check(pl_capture_read(ends[0], piped, NULL, NULL, &info));
		close(ends[0]);
		assert_true(whole->batch_ns > PL_BATCH_MIN_NS); /* there was something to know */
		assert_int_equal(whole->batch_ns, piped->batch_ns);
		assert_same_profile(whole, piped);
		pl_profile_destroy(whole);
		pl_profile_destroy(piped);
		recording_free(&r);
	}
}

static void what_is_no_recording_has_none(void **state)
{
	static uint8_t zeros[5000];
	assert_int_equal(last_time_of(zeros, 0), 0);
	assert_int_equal(last_time_of(zeros, 7), 0);
	assert_int_equal(last_time_of(zeros, sizeof zeros), 0);
	for (size_t at = 0; at + PL_CHUNK_MAGIC_LEN <= sizeof zeros; at += PL_CHUNK_MAGIC_LEN)
		memcpy(zeros + at, PL_CHUNK_MAGIC, PL_CHUNK_MAGIC_LEN);
	assert_int_equal(last_time_of(zeros, sizeof zeros), 0);
}

/* Whoever makes up a recording makes its sums up, too. */
static void a_unit_that_no_time_has_is_not_believed(void **state)
{
	struct pl_buf raw = PL_BUF_INIT(1000), unit = PL_BUF_INIT(10), chunk = PL_BUF_INIT(1000);
	struct pl_chunk_header h = {.samples = 1};
	struct pl_encoder e = {.buf = &raw};

	check(pl_buf_add_varint(&unit, 200));
	pl_encode_section(&e, PL_SECTION_UNITS, &unit);
	check(e.err);
	check(pl_chunk_seal(&h, &raw, &chunk));
	assert_int_equal(last_time_of(chunk.data, chunk.len), 0);
	pl_buf_deinit(&raw);
	pl_buf_deinit(&unit);
	pl_buf_deinit(&chunk);
}

/* Each bit of the last chunk is wrong once: its header is none then, or its sum another. */
static void damage_is_not_believed(void **state)
{
	struct recording r;
	recording_make(&r, 1, 2, 20);
	uint64_t before = last_time_of(r.bytes, r.end[0]);
	for (size_t i = r.end[0]; i < r.end[1]; i++) {
		r.bytes[i] ^= (uint8_t)(1u << i % 8);
		uint64_t time = last_time_of(r.bytes, r.len);
		assert_true(time == 0 || time == before);
		r.bytes[i] ^= (uint8_t)(1u << i % 8);
	}
	recording_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_that_of_the_latest_sample),
		cmocka_unit_test(a_pipe_gives_the_same_profile),
		cmocka_unit_test(what_is_no_recording_has_none),
		cmocka_unit_test(a_unit_that_no_time_has_is_not_believed),
		cmocka_unit_test(damage_is_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
