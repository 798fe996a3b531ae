/* SPDX-License-Identifier: Apache-2.0 */
/* Cut, flipped, missing, doubled: what is whole is read, what is not is counted, nothing is made up. */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format.h"
#include "recording.h"

#define FLIPS 3000

/* Chunks that are whole in the first @p len bytes. */
static size_t whole_chunks(const struct recording *r, size_t len)
{
	size_t n = 0;
	while (n < r->chunks && r->end[n] <= len)
		n++;
	return n;
}

static void assert_error(struct plumb_error *err, enum plumb_error_code code)
{
	assert_int_equal(plumb_error_code(err), code);
	assert_true(plumb_error_message(err)[0] != '\0');
	plumb_error_destroy(err);
}

static void check_cut(const struct recording *r, size_t len)
{
	struct plumb_profile *p = NULL;
	struct pl_capture_info info = {0};
	size_t whole = whole_chunks(r, len);
	struct plumb_error *err = read_bytes(r->bytes, len, &p, &info);
	if (len < PL_FILE_HEADER_LEN) {
		assert_error(err, PLUMB_ERR_NOT_A_RECORDING);
	} else if (!whole) {
		assert_error(err, PLUMB_ERR_EMPTY);
	} else {
		check(err);
		assert_int_equal(info.chunks, whole);
		assert_int_equal(info.damaged_chunks, 0);
		assert_int_equal(info.ignored_bytes, len - r->end[whole - 1]);
		assert_int_equal(info.complete, whole == r->chunks);
		char *dump = profile_dump(p);
		assert_string_equal(dump, r->dump[whole - 1]);
		free(dump);
	}
	pl_profile_destroy(p);
}

static void a_cut_at_any_byte_keeps_all_whole_chunks(void **state)
{
	struct recording r;
	recording_make(&r, 11, 4, 60);
	for (size_t len = 0; len <= r.len; len++)
		check_cut(&r, len);
	recording_free(&r);
}

static uint64_t lost(const struct plumb_profile *p)
{
	return p->meta.losses[PL_LOSS_DAMAGED];
}

/* The totals of an undamaged recording have random losses of their own: those of the last chunk that was read. */
static uint64_t recorded_losses(const struct recording *r, size_t chunk)
{
	const char *line = strstr(r->dump[chunk], "loss 3=");
	assert_non_null(line);
	return strtoull(line + 7, NULL, 10);
}

/* One chunk of a recording replaced by bytes that are none; all others must come through. */
static void a_damaged_chunk_is_counted_and_the_others_are_read(void **state)
{
	struct recording r;
	recording_make(&r, 12, 6, 80);
	for (size_t bad = 0; bad < r.chunks; bad++) {
		size_t from = bad ? r.end[bad - 1] : PL_FILE_HEADER_LEN;
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;
		uint8_t *bytes = malloc(r.len);
		memcpy(bytes, r.bytes, r.len);
		bytes[from + PL_CHUNK_HEADER_LEN + 30] ^= 0x10; /* in the payload: the header still tells its samples */
		check(read_bytes(bytes, r.len, &p, &info));
		bool last = bad == r.chunks - 1;
		assert_int_equal(info.chunks, r.chunks - 1);
		assert_int_equal(info.damaged_chunks, 1);
		assert_int_equal(info.complete, !last);
		assert_int_equal(info.ignored_bytes, last ? r.len - from : 0);
		assert_int_equal(samples_in(p), (r.chunks - 1) * 80);
		/* 80 were in the chunk; others may have lost a part of their stack with it. */
		assert_in_range(lost(p) - recorded_losses(&r, r.chunks - 1 - last), 80, 80 * r.chunks);
		free(bytes);
		pl_profile_destroy(p);
	}
	recording_free(&r);
}

static void a_missing_chunk_is_noticed(void **state)
{
	struct recording r;
	recording_make(&r, 13, 5, 50);
	uint8_t *bytes = malloc(r.len);
	size_t cut = r.end[2] - r.end[1];
	memcpy(bytes, r.bytes, r.end[1]);
	memcpy(bytes + r.end[1], r.bytes + r.end[2], r.len - r.end[2]);
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	check(read_bytes(bytes, r.len - cut, &p, &info));
	assert_int_equal(info.chunks, 4);
	assert_int_equal(info.damaged_chunks, 1);
	assert_true(info.complete);
	assert_int_equal(samples_in(p), 200);
	assert_in_range(lost(p) - recorded_losses(&r, 4), 50, 250);
	free(bytes);
	pl_profile_destroy(p);
	recording_free(&r);
}

static void a_doubled_chunk_counts_once(void **state)
{
	struct recording r;
	recording_make(&r, 14, 4, 50);
	size_t len = r.end[1] - r.end[0];
	uint8_t *bytes = malloc(r.len + len);
	memcpy(bytes, r.bytes, r.end[1]);
	memcpy(bytes + r.end[1], r.bytes + r.end[0], len);
	memcpy(bytes + r.end[1] + len, r.bytes + r.end[1], r.len - r.end[1]);
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	check(read_bytes(bytes, r.len + len, &p, &info));
	assert_int_equal(samples_in(p), 200);
	assert_int_equal(info.chunks, 4);
	assert_true(info.complete);
	char *dump = profile_dump(p);
	assert_string_equal(dump, r.dump[3]);
	free(dump);
	free(bytes);
	pl_profile_destroy(p);
	recording_free(&r);
}

static void bytes_put_in_between_are_stepped_over(void **state)
{
	struct recording r;
	recording_make(&r, 15, 4, 50);
	/* With a magic number of its own, which leads nowhere. */
	static const char junk[] = "\x89PLC"
				   "this is not a chunk, and longer than the header of one would be, by far";
	uint8_t *bytes = malloc(r.len + sizeof junk);
	memcpy(bytes, r.bytes, r.end[1]);
	memcpy(bytes + r.end[1], junk, sizeof junk);
	memcpy(bytes + r.end[1] + sizeof junk, r.bytes + r.end[1], r.len - r.end[1]);
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	check(read_bytes(bytes, r.len + sizeof junk, &p, &info));
	char *dump = profile_dump(p);
	assert_string_equal(dump, r.dump[3]);
	free(dump);
	free(bytes);
	pl_profile_destroy(p);
	recording_free(&r);
}

static bool has_lost_frame(const struct plumb_profile *p, uint32_t stack)
{
	for (; stack; stack = p->stacks[stack].parent) {
		uint32_t function = p->locations[p->stacks[stack].location].function;
		if (strcmp(pl_strtab_get(p->strings, p->functions[function].name, NULL), "<lost>") == 0)
			return true;
	}
	return false;
}

/* Stacks that were described in the lost chunk: the part that is known is shown, nothing is invented. */
/* The first @p len bytes of @p a, and all of @p b. */
static uint8_t *together(const struct recording *a, size_t len, const struct recording *b)
{
	uint8_t *bytes = malloc(len + b->len);
	memcpy(bytes, a->bytes, len);
	memcpy(bytes + len, b->bytes, b->len);
	return bytes;
}

/* As cat(1) does it. Chunks do not say whose they are: none of the other one may be read as one of the first. */
static void another_recording_behind_one_is_left_out_and_told(void **state)
{
	struct recording a, b;
	recording_make(&a, 21, 3, 60);
	recording_make(&b, 22, 5, 70);
	for (size_t len = a.end[0]; len <= a.len; len++) {
		size_t whole = whole_chunks(&a, len);
		uint8_t *bytes = together(&a, len, &b);
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;
		check(read_bytes(bytes, len + b.len, &p, &info));
		assert_int_equal(info.chunks, whole);
		assert_int_equal(info.complete, whole == a.chunks);
		assert_true(info.another);
		assert_true(info.damaged_chunks > 0);
		assert_int_equal(info.ignored_bytes, len + b.len - a.end[whole - 1]);
		assert_int_equal(samples_in(p), whole * 60);
		assert_true(lost(p) - recorded_losses(&a, whole - 1) >= 5 * 70);
		free(bytes);
		pl_profile_destroy(p);
	}
	recording_free(&a);
	recording_free(&b);
}

static void bytes_behind_the_end_are_damage(void **state)
{
	struct recording r;
	recording_make(&r, 23, 3, 60);
	uint8_t *bytes = calloc(1, r.len + 5000);
	memcpy(bytes, r.bytes, r.len);
	for (size_t more = 1; more <= 5000; more += 1 + more / 2) {
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;
		check(read_bytes(bytes, r.len + more, &p, &info));
		assert_true(info.complete && !info.another);
		assert_int_equal(info.damaged_chunks, 1);
		assert_int_equal(info.ignored_bytes, more);
		pl_profile_destroy(p);
	}
	free(bytes);
	recording_free(&r);
}

static void frames_of_a_lost_chunk_are_shown_as_lost(void **state)
{
	struct plumb_profile *p = NULL, *back = NULL;
	struct pl_capture_writer *w = NULL;
	struct pl_capture_info info;
	char *path = temp_file();
	check(pl_profile_create(&p));
	check(pl_capture_create(path, p, &w));
	uint32_t t = add_thread(p, 1, 1, "t", true), known = add_frame(p, 0, "known", "x.py", 1);
	struct pl_sample s = {.thread = t, .stack = known, .weight_ns = 10};
	check(pl_capture_add(w, &s));
	check(pl_capture_flush(w, p));
	size_t from = 0, len = 0;
	free(file_bytes(path, &from));
	uint32_t gone = add_frame(p, known, "gone", "x.py", 2);
	s.stack = gone;
	check(pl_capture_add(w, &s));
	check(pl_capture_flush(w, p));
	size_t to = 0;
	free(file_bytes(path, &to));
	uint32_t late = add_frame(p, gone, "late", "x.py", 3);
	for (int i = 0; i < 3; i++) { /* whole stack lost, outer part lost, nothing lost */
		s.stack = i == 0 ? gone : i == 1 ? late : known;
		check(pl_capture_add(w, &s));
	}
	check(pl_capture_finish(w, p));
	uint8_t *bytes = file_bytes(path, &len);
	memset(bytes + from, 0, to - from);
	check(read_bytes(bytes, len, &back, &info));
	assert_int_equal(samples_in(back), 4);
	assert_int_equal(lost(back), 1 + 2);
	uint64_t with_hole = 0, exact = 0;
	for (uint32_t i = 0; i < back->cell_count; i++) {
		const struct pl_cell *c = &back->cells[i];
		assert_int_equal(has_lost_frame(back, c->stack), c->quality == PL_PARTIAL);
		with_hole += c->quality == PL_PARTIAL ? c->samples : 0;
		exact += c->quality == PL_EXACT ? c->samples : 0;
		const struct pl_function *leaf =
			&back->functions[back->locations[back->stacks[c->stack].location].function];
		assert_string_not_equal(pl_strtab_get(back->strings, leaf->name, NULL), "gone");
	}
	assert_int_equal(with_hole, 2);
	assert_int_equal(exact, 2);
	free(bytes);
	unlink(path);
	free(path);
	pl_capture_destroy(w);
	pl_profile_destroy(p);
	pl_profile_destroy(back);
}

/* Bytes changed at random: no crash, and never more samples than there were; those of untouched chunks are all there.
 */
static void changed_bytes_never_add_samples(void **state)
{
	struct recording r;
	struct pl_rng rng = {.state = 99};
	recording_make(&r, 16, 6, 60);
	uint8_t *bytes = malloc(r.len);
	for (int round = 0; round < FLIPS; round++) {
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;
		bool touched[MAX_CHUNKS] = {0}, header = false;
		memcpy(bytes, r.bytes, r.len);
		uint64_t flips = 1 + random_below(&rng, 4), intact = 0;
		for (uint64_t i = 0; i < flips; i++) {
			size_t at = random_below(&rng, r.len), chunk = whole_chunks(&r, at);
			bytes[at] ^= (uint8_t)(1 + random_below(&rng, 255));
			header = header || at < PL_FILE_MAGIC_LEN;
			touched[chunk] = touched[chunk] || at >= PL_FILE_HEADER_LEN;
		}
		for (size_t i = 0; i < r.chunks; i++)
			intact += memcmp(bytes + (i ? r.end[i - 1] : PL_FILE_HEADER_LEN),
					 r.bytes + (i ? r.end[i - 1] : PL_FILE_HEADER_LEN),
					 r.end[i] - (i ? r.end[i - 1] : PL_FILE_HEADER_LEN)) == 0;
		struct plumb_error *err = read_bytes(bytes, r.len, &p, &info);
		if (header && memcmp(bytes, r.bytes, PL_FILE_MAGIC_LEN) != 0 &&
		    memcmp(bytes + PL_FILE_HEADER_LEN, r.bytes + PL_FILE_HEADER_LEN, PL_CHUNK_HEADER_LEN) != 0) {
			assert_error(err, PLUMB_ERR_NOT_A_RECORDING);
		} else {
			check(err);
			assert_int_equal(samples_in(p), intact * 60);
			assert_int_equal(info.chunks, intact);
			assert_int_equal(info.complete, !touched[r.chunks - 1] || intact == r.chunks);
		}
		pl_profile_destroy(p);
	}
	free(bytes);
	recording_free(&r);
}

/* Whether the reader says that something is missing, to whoever has only the profile. */
static bool is_told(const struct plumb_profile *p, const struct pl_capture_info *info)
{
	assert_true(p->meta.damaged_parts >= info->damaged_chunks);
	return info->damaged_chunks > 0;
}

static void check_changed(const struct recording *r, const uint8_t *bytes, size_t at)
{
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	struct plumb_error *err = read_bytes(bytes, r->len, &p, &info);

	if (err) {
		assert_true(plumb_error_message(err)[0]);
		plumb_error_destroy(err);
	} else if (!is_told(p, &info)) {
		fail_msg("byte %zu of %zu changes in silence", at, r->len);
	}
	pl_profile_destroy(p);
}

/* One byte, and as many as a bad sector of a very small disk has. Nothing in a recording belongs to nobody. */
static void each_changed_byte_is_told(void **state)
{
	static const size_t widths[] = {1, 4};
	struct recording r;
	struct pl_rng rng = {.state = 101};

	recording_make_rich(&r, 18, 4, 20);
	for (size_t at = 0; at < r.len; at++) {
		for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
			uint8_t *bytes = malloc(r.len);
			memcpy(bytes, r.bytes, r.len);
			for (size_t i = at; i < at + widths[w] && i < r.len; i++)
				bytes[i] ^= (uint8_t)(1 + random_below(&rng, 255));
			check_changed(&r, bytes, at);
			free(bytes);
		}
	}
	recording_free(&r);
}

static void a_changed_magic_costs_nothing_and_is_told(void **state)
{
	struct recording r;
	recording_make(&r, 24, 3, 60);
	for (size_t at = 0; at < PL_FILE_MAGIC_LEN; at++) {
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;
		r.bytes[at] ^= 0x20;
		assert_true(pl_capture_is(r.bytes, PL_CAPTURE_BEGINNING));
		check(read_bytes(r.bytes, r.len, &p, &info));
		assert_int_equal(samples_in(p), 3 * 60);
		assert_true(info.complete);
		assert_int_equal(info.damaged_chunks, 1);
		r.bytes[at] ^= 0x20;
		pl_profile_destroy(p);
	}
	recording_free(&r);
}

static void foreign_files_are_named(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum plumb_error_code code;
	} files[] = {
		{"", 0, PLUMB_ERR_NOT_A_RECORDING},
		{"plumb\0\r\n", 8, PLUMB_ERR_NOT_A_RECORDING},
		{"\x7f"
		 "ELF and so on, long enough to be a header",
		 40, PLUMB_ERR_NOT_A_RECORDING},
		{"plumb\0\n and the rest of a text mode transfer", 40, PLUMB_ERR_NOT_A_RECORDING},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;
		assert_error(read_bytes(files[i].bytes, files[i].len, &p, &info), files[i].code);
		pl_profile_destroy(p);
	}
}

static void newer_formats_are_refused_by_number(void **state)
{
	uint8_t bytes[PL_FILE_HEADER_LEN];
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	pl_file_header_encode(bytes, PL_RECORDING_VERSION + 1);
	struct plumb_error *err = read_bytes(bytes, sizeof bytes, &p, &info);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_NEWER_RECORDING);
	assert_non_null(strstr(plumb_error_message(err), "format 2"));
	plumb_error_destroy(err);
	pl_profile_destroy(p);
}

static void a_directory_cannot_be_read(void **state)
{
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	check(pl_profile_create(&p));
	assert_error(pl_capture_read(fds[1], p, NULL, NULL, &info), PLUMB_ERR_SYSTEM); /* the end for writing */
	close(fds[0]);
	close(fds[1]);
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_at_any_byte_keeps_all_whole_chunks),
		cmocka_unit_test(a_damaged_chunk_is_counted_and_the_others_are_read),
		cmocka_unit_test(a_missing_chunk_is_noticed),
		cmocka_unit_test(a_doubled_chunk_counts_once),
		cmocka_unit_test(bytes_put_in_between_are_stepped_over),
		cmocka_unit_test(another_recording_behind_one_is_left_out_and_told),
		cmocka_unit_test(bytes_behind_the_end_are_damage),
		cmocka_unit_test(frames_of_a_lost_chunk_are_shown_as_lost),
		cmocka_unit_test(changed_bytes_never_add_samples),
		cmocka_unit_test(each_changed_byte_is_told),
		cmocka_unit_test(a_changed_magic_costs_nothing_and_is_told),
		cmocka_unit_test(foreign_files_are_named),
		cmocka_unit_test(newer_formats_are_refused_by_number),
		cmocka_unit_test(a_directory_cannot_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
