/* SPDX-License-Identifier: Apache-2.0 */
/* Files into profiles and back: recordings, files of other tools, gzip, standard input; and files that change while
 * they are read. */
#include <plumb/profile.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "gzip.h"
#include "protobuf.h"
#include "recording.h"

#define LABELS 16 /* of a sample, the most that are read */

static const char folded[] = "main;load 3\nmain;load;parse 4\nother 2\nthis is no stack\n";

static char *file_of(const void *bytes, size_t len)
{
	char *path = temp_file();
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void drop(char *path)
{
	unlink(path);
	free(path);
}

static struct plumb_profile *open_file(const char *path, const char *from, struct plumb_recording_info *info)
{
	struct plumb_profile *p = NULL;

	check(plumb_profile_open_as(path, from, info, &p));
	return p;
}

static struct plumb_error *write_as(const struct plumb_profile *p, const char *format, const char *path)
{
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	o.format = format;
	struct plumb_error *err = plumb_profile_write(p, &o, fd);
	close(fd);
	return err;
}

/* Its samples, one by one, make it again. */
static struct plumb_error *add_to(void *copy, const struct pl_sample *s)
{
	return pl_profile_add(copy, s);
}

static void assert_stream_is_the_profile(const char *path, const struct plumb_profile *p)
{
	struct plumb_profile *copy = open_file(path, NULL, NULL);

	for (uint32_t i = 0; i < copy->cell_count; i++)
		copy->cells[i].samples = copy->cells[i].weight_ns = 0;
	check(pl_profile_each(p, add_to, copy));
	assert_same_profile(p, copy);
	plumb_profile_destroy(copy);
}

static void a_recording_gives_its_samples_as_often_as_wanted(void **state)
{
	struct recording r;
	struct plumb_recording_info info;

	recording_make_rich(&r, 11, 4, 300);
	char *path = file_of(r.bytes, r.len);
	struct plumb_profile *p = open_file(path, NULL, &info);
	assert_true(info.complete && !info.skipped && strcmp(info.format, "plumb") == 0);
	assert_true(pl_profile_is_timed(p));
	for (int i = 0; i < 3; i++)
		assert_stream_is_the_profile(path, p);
	plumb_profile_destroy(p);
	drop(path);
	recording_free(&r);
}

static void what_is_saved_is_what_was_read(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct recording r;
		recording_make_rich(&r, seed, 3, 200);
		char *path = file_of(r.bytes, r.len), *saved = temp_file();
		struct plumb_profile *p = open_file(path, NULL, NULL);
		check(write_as(p, "plumb", saved));
		struct plumb_profile *back = open_file(saved, NULL, NULL);
		assert_same_profile(p, back);
		assert_stream_is_the_profile(saved, back);
		plumb_profile_destroy(p);
		plumb_profile_destroy(back);
		drop(path);
		drop(saved);
		recording_free(&r);
	}
}

/* Counts of another tool become a recording whose samples stand for several. */
static void an_import_is_saved_too(void **state)
{
	struct plumb_recording_info info;
	char *path = file_of(folded, sizeof folded - 1), *saved = temp_file();
	struct plumb_profile *p = open_file(path, "collapsed", &info);

	assert_string_equal(info.format, "collapsed");
	assert_int_equal(info.skipped, 1);
	assert_int_equal(samples_in(p), 9);
	assert_false(pl_profile_is_timed(p));
	check(write_as(p, "plumb", saved));
	struct plumb_profile *back = open_file(saved, NULL, &info);
	assert_string_equal(info.format, "plumb");
	assert_false(pl_profile_is_timed(back));
	assert_same_profile(p, back);
	plumb_profile_destroy(p);
	plumb_profile_destroy(back);
	drop(path);
	drop(saved);
}

static char *gzip_of(const void *bytes, size_t len)
{
	char *path = temp_file();
	FILE *out = fopen(path, "wb"), *z = pl_gzip_open(out);

	assert_int_equal(fwrite(bytes, 1, len, z), len);
	assert_int_equal(fclose(z), 0);
	assert_int_equal(fclose(out), 0);
	return path;
}

static void gzip_and_standard_input_are_the_file(void **state)
{
	struct recording r;
	int kept = dup(STDIN_FILENO), ends[2];

	recording_make(&r, 5, 2, 100);
	assert_true(r.len < 60000); /* a pipe holds it */
	char *path = file_of(r.bytes, r.len), *packed = gzip_of(r.bytes, r.len);
	struct plumb_profile *p = open_file(path, NULL, NULL), *unpacked = open_file(packed, NULL, NULL);
	assert_same_profile(p, unpacked);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], r.bytes, r.len), r.len);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	struct plumb_profile *piped = open_file("-", NULL, NULL);
	assert_same_profile(p, piped);
	assert_stream_is_the_profile(path, piped);
	dup2(kept, STDIN_FILENO);
	close(kept);
	plumb_profile_destroy(p);
	plumb_profile_destroy(unpacked);
	plumb_profile_destroy(piped);
	drop(path);
	drop(packed);
	recording_free(&r);
}

static void assert_refused(const char *path, const char *from, enum plumb_error_code code, const char *words)
{
	struct plumb_profile *p = NULL;
	struct plumb_error *err = plumb_profile_open_as(path, from, NULL, &p);

	assert_non_null(err);
	assert_null(p);
	assert_int_equal(plumb_error_code(err), code);
	if (!strstr(plumb_error_message(err), words) || !strstr(plumb_error_message(err), path))
		fail_msg("%s", plumb_error_message(err));
	plumb_error_destroy(err);
}

static void put_behind(const char *path, const void *bytes, size_t len)
{
	FILE *out = fopen(path, "ab");

	assert_int_equal(fwrite(bytes, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
}

/* As where a file was filled up to whole blocks. */
static void zeros_behind_gzip_are_nothing(void **state)
{
	static const char zeros[512];
	char *packed = gzip_of(folded, sizeof folded - 1);

	put_behind(packed, zeros, sizeof zeros);
	struct plumb_profile *p = open_file(packed, "collapsed", NULL);
	assert_int_equal(samples_in(p), 9);
	plumb_profile_destroy(p);
	put_behind(packed, "x", 1);
	assert_refused(packed, "collapsed", PLUMB_ERR_CORRUPT, "damaged or cut short");
	drop(packed);
}

static void write_recording(const char *from, const char *to)
{
	struct plumb_profile *p = open_file(from, "collapsed", NULL);

	check(write_as(p, "plumb", to));
	plumb_profile_destroy(p);
}

/* Shares of what cannot be counted would be more than 100 % together. */
static void more_than_can_be_counted_is_refused(void **state)
{
	static const char half[] = "a 9223372036854775807\nb 9223372036854775807\n";
	static const char more[] = "a 9223372036854775807\nb 9223372036854775807\nc 9\n";
	char *good = file_of(half, sizeof half - 1), *bad = file_of(more, sizeof more - 1), *recording = temp_file();

	write_recording(good, recording);
	plumb_profile_destroy(open_file(recording, NULL, NULL));
	assert_refused(bad, "collapsed", PLUMB_ERR_LIMIT, "more than can be counted");
	drop(good);
	drop(bad);
	drop(recording);
}

static void what_is_none_of_all_is_told(void **state)
{
	char *empty = file_of("", 0), *text = file_of("dear reader,\n", 13), *zeros = calloc(1, 4 << 20);
	char *bomb = gzip_of(zeros, 4 << 20);

	assert_refused("/no/such/file", NULL, PLUMB_ERR_NOT_FOUND, "there is no file");
	assert_refused("/", NULL, PLUMB_ERR_SYSTEM, "cannot be read");
	assert_refused(empty, NULL, PLUMB_ERR_NOT_A_RECORDING, "empty file");
	assert_refused(text, NULL, PLUMB_ERR_NOT_A_RECORDING, "neither a plumb recording nor");
	assert_refused(text, "plumb", PLUMB_ERR_NOT_A_RECORDING, "");
	assert_refused(bomb, NULL, PLUMB_ERR_NOT_A_RECORDING, "neither a plumb recording nor");
	struct plumb_profile *p = NULL;
	struct plumb_error *err = plumb_profile_open_as(text, "none", NULL, &p);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_UNKNOWN_FORMAT);
	plumb_error_destroy(err);
	drop(empty);
	drop(text);
	drop(bomb);
	free(zeros);
}

/* As JSON has them between its values: there is nothing to say no to before the end. */
static char *gzip_of_blanks(size_t mib)
{
	char *path = temp_file(), *blanks = malloc(1 << 20);
	FILE *out = fopen(path, "wb"), *z = pl_gzip_open(out);

	memset(blanks, ' ', 1 << 20);
	fputc('{', z);
	for (size_t i = 0; i < mib; i++)
		assert_int_equal(fwrite(blanks, 1, 1 << 20, z), 1 << 20);
	assert_int_equal(fclose(z), 0);
	assert_int_equal(fclose(out), 0);
	free(blanks);
	return path;
}

static void gzip_that_unpacks_too_far_is_refused(void **state)
{
	char *little = gzip_of_blanks(12), *bomb = gzip_of_blanks(32);

	assert_refused(little, "samples", PLUMB_ERR_CORRUPT, "");
	assert_refused(bomb, "samples", PLUMB_ERR_LIMIT, "unpacks to more than 200 times its length");
	drop(little);
	drop(bomb);
}

/* What cannot be packed. */
static void put_noise_behind(const char *path, size_t len)
{
	uint32_t *noise = malloc(len), x = 1;

	for (size_t i = 0; i < len / sizeof *noise; i++)
		noise[i] = x = x * 1664525 + 1013904223;
	char *packed = gzip_of(noise, len);
	FILE *in = fopen(packed, "rb");
	for (size_t n; (n = fread(noise, 1, len, in)) > 0;)
		put_behind(path, noise, n);
	assert_int_equal(fclose(in), 0);
	drop(packed);
	free(noise);
}

/* Whatever comes behind it, where the whole file is long enough for all of it. */
static void gzip_of_which_a_part_unpacks_too_far_is_refused(void **state)
{
	char *little = gzip_of_blanks(60), *bomb = gzip_of_blanks(96);

	put_noise_behind(little, 1 << 20);
	put_noise_behind(bomb, 1 << 20);
	assert_refused(little, "samples", PLUMB_ERR_CORRUPT, "");
	assert_refused(bomb, "samples", PLUMB_ERR_LIMIT, "unpacks to more than 200 times its length");
	drop(little);
	drop(bomb);
}

/* Frames of two bytes, in stacks that have none in common. */
static char *gzip_of_deep_stacks(unsigned count, unsigned depth)
{
	char *path = temp_file();
	FILE *out = fopen(path, "wb"), *z = pl_gzip_open(out);

	for (unsigned i = 0; i < count; i++) {
		fprintf(z, "root%u", i);
		for (unsigned k = 0; k < depth; k++)
			fputs(k % 2 ? ";a" : ";b", z);
		fputs(" 1\n", z);
	}
	assert_int_equal(fclose(z), 0);
	assert_int_equal(fclose(out), 0);
	return path;
}

static void gzip_of_frames_without_end_is_refused(void **state)
{
	char *deep = gzip_of_deep_stacks(8, 100000), *bomb = gzip_of_deep_stacks(26, 130000);

	plumb_profile_destroy(open_file(deep, "collapsed", NULL));
	assert_refused(bomb, "collapsed", PLUMB_ERR_LIMIT, "million frames, too many for a file of its size");
	drop(deep);
	drop(bomb);
}

/* A call in a call, as deep as that, and its return. */
static char *nested_calls(unsigned depth, bool packed)
{
	char *path = temp_file();
	FILE *out = fopen(path, "wb"), *z = packed ? pl_gzip_open(out) : out;

	fputs("{\"shared\":{\"frames\":[{\"name\":\"a_function\"}]},\"profiles\":[{\"type\":\"evented\",\"name\":\"t\","
	      "\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":1000000,\"events\":[",
	      z);
	for (unsigned i = 0; i < 2 * depth; i++)
		fprintf(z, "%s{\"type\":\"%c\",\"frame\":0,\"at\":%u}", i ? "," : "", i < depth ? 'O' : 'C', i);
	fputs("]}]}", z);
	assert_int_equal(fclose(z), 0);
	if (packed)
		assert_int_equal(fclose(out), 0);
	return path;
}

static enum plumb_error_code write_nowhere(const char *path, const char *format)
{
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;
	struct plumb_profile *p = open_file(path, "speedscope", NULL);
	int null = open("/dev/null", O_WRONLY);

	o.format = format;
	struct plumb_error *err = plumb_profile_write(p, &o, null);
	enum plumb_error_code code = plumb_error_code(err);
	plumb_error_destroy(err);
	close(null);
	plumb_profile_destroy(p);
	return code;
}

/* In collapsed stacks each depth is a line of its own: of 2 MB they would be 5 GB. */
static void what_another_tool_wrote_does_not_fill_the_disk(void **state)
{
	char *honest = nested_calls(1000, false), *bomb = nested_calls(30000, false),
	     *packed_bomb = nested_calls(30000, true);

	assert_int_equal(write_nowhere(honest, "collapsed"), PLUMB_OK);
	assert_int_equal(write_nowhere(bomb, "collapsed"), PLUMB_ERR_LIMIT);
	assert_int_equal(write_nowhere(bomb, "speedscope"), PLUMB_ERR_LIMIT);
	assert_int_equal(write_nowhere(packed_bomb, "collapsed"), PLUMB_ERR_LIMIT);
	drop(honest);
	drop(bomb);
	drop(packed_bomb);
}

static void write_labels(struct pl_pb *w, unsigned values)
{
	for (unsigned i = 0; i < LABELS; i++) {
		size_t label = pl_pb_begin(w, 3);

		pl_pb_u64(w, 1, 3 + i);
		pl_pb_u64(w, 2, 3 + LABELS + (values >> i & 1));
		pl_pb_end(w, label);
	}
}

static void write_strings(struct pl_pb *w, unsigned value_len)
{
	char value[1000];

	pl_pb_item(w, 6, "", 0);
	pl_pb_item(w, 6, "plumb: 0.1.0", 12);
	pl_pb_item(w, 6, "count", 5);
	for (char name = 'a'; name < 'a' + LABELS; name++)
		pl_pb_item(w, 6, &name, 1);
	memset(value, 'v', sizeof value);
	pl_pb_item(w, 6, value, value_len);
	pl_pb_item(w, 6, value, value_len - 1);
}

/* A pprof of plumb whose samples have all labels there may be, with one of two long values each, in @p combinations. */
static char *gzip_of_labels(unsigned samples, unsigned value_len, unsigned combinations)
{
	char *path = temp_file();
	FILE *out = fopen(path, "wb"), *z = pl_gzip_open(out);
	struct pl_pb w;

	pl_pb_init(&w, z);
	size_t message = pl_pb_begin(&w, 1);
	pl_pb_u64(&w, 2, 2);
	pl_pb_end(&w, message);
	write_strings(&w, value_len);
	pl_pb_u64(&w, 13, 1); /* its comment, that plumb made it */
	for (unsigned i = 0; i < samples; i++) {
		message = pl_pb_begin(&w, 2);
		pl_pb_u64(&w, 2, 1);
		write_labels(&w, i % combinations);
		pl_pb_end(&w, message);
	}
	check(pl_pb_flush(&w));
	pl_pb_deinit(&w);
	assert_int_equal(fclose(z), 0);
	assert_int_equal(fclose(out), 0);
	return path;
}

static void labels_are_counted_once_in_each_combination(void **state)
{
	char *few = gzip_of_labels(8192, 1000, 2), *many = gzip_of_labels(8192, 200, 8192);

	plumb_profile_destroy(open_file(few, "pprof", NULL));
	assert_refused(many, "pprof", PLUMB_ERR_LIMIT, "million bytes of names and labels, too many for a file of its");
	drop(few);
	drop(many);
}

/* Of a MiB, where temporary files are; 0: what there is. The C library has fstatvfs by that name, for large files. */
static unsigned long free_blocks;

int __real_fstatvfs64(int fd, struct statvfs *fs);
int __wrap_fstatvfs64(int fd, struct statvfs *fs);
int __wrap_fstatvfs64(int fd, struct statvfs *fs)
{
	if (!free_blocks)
		return __real_fstatvfs64(fd, fs);
	*fs = (struct statvfs){.f_frsize = 1 << 20, .f_blocks = 1000, .f_bavail = free_blocks};
	return 0;
}

static void temporary_files_leave_room_for_others(void **state)
{
	char *packed = gzip_of_blanks(18);

	free_blocks = 5;
	assert_refused(packed, "samples", PLUMB_ERR_WRITE_FAILED, "would leave too little room");
	free_blocks = 100;
	assert_refused(packed, "samples", PLUMB_ERR_CORRUPT, "");
	free_blocks = 0;
	drop(packed);
}

/* Whoever cuts or rewrites a file between two readings gets an error, or what was there at first; never a crash. */
static void a_file_may_change_under_us(void **state)
{
	struct recording r, other;
	char *out = temp_file();

	recording_make(&r, 6, 3, 100);
	recording_make(&other, 7, 5, 300);
	char *path = file_of(r.bytes, r.len), *stacks = file_of(folded, sizeof folded - 1);
	struct plumb_profile *p = open_file(path, NULL, NULL), *imported = open_file(stacks, "collapsed", NULL);
	char *before = profile_dump(p);
	for (int i = 0; i < 2; i++) {
		FILE *f = fopen(path, "r+b");
		if (i)
			assert_int_equal(fwrite(other.bytes, 1, other.len, f), other.len);
		else
			assert_int_equal(ftruncate(fileno(f), (off_t)r.end[0]), 0);
		fclose(f);
		struct plumb_error *err = write_as(p, "plumb", out);
		assert_int_equal(plumb_error_code(err), PLUMB_ERR_CORRUPT);
		assert_non_null(strstr(plumb_error_message(err), "changed while it was read"));
		plumb_error_destroy(err);
	}
	char *after = profile_dump(p);
	assert_string_equal(before, after);
	assert_int_equal(truncate(stacks, 0), 0);
	check(write_as(imported, "speedscope", out));
	free(before);
	free(after);
	plumb_profile_destroy(p);
	plumb_profile_destroy(imported);
	drop(path);
	drop(stacks);
	drop(out);
	recording_free(&r);
	recording_free(&other);
}

static void keep_note(void *ctx, const char *message)
{
	snprintf(ctx, 256, "%s", message);
}

static void what_a_format_has_no_room_for_is_said_once(void **state)
{
	struct recording r;
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;
	char note[256] = "";
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	recording_make(&r, 8, 2, 100);
	char *path = file_of(r.bytes, r.len);
	struct plumb_profile *p = open_file(path, NULL, NULL);
	o.note = keep_note;
	o.note_ctx = note;
	o.format = "pstats";
	check(plumb_profile_write(p, &o, null));
	assert_string_equal(note, "pstats has no room for threads, processes, states, lines, times, losses, certainty, "
				  "whole stacks: left out");
	note[0] = '\0';
	o.format = "text";
	check(plumb_profile_write(p, &o, null));
	assert_string_equal(note, "");
	o.focus = "no such function";
	check(plumb_profile_write(p, &o, null));
	assert_string_equal(note, "no sample passes the filters");
	close(null);
	plumb_profile_destroy(p);
	drop(path);
	recording_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_gives_its_samples_as_often_as_wanted),
		cmocka_unit_test(what_is_saved_is_what_was_read),
		cmocka_unit_test(an_import_is_saved_too),
		cmocka_unit_test(gzip_and_standard_input_are_the_file),
		cmocka_unit_test(what_is_none_of_all_is_told),
		cmocka_unit_test(gzip_that_unpacks_too_far_is_refused),
		cmocka_unit_test(gzip_of_which_a_part_unpacks_too_far_is_refused),
		cmocka_unit_test(more_than_can_be_counted_is_refused),
		cmocka_unit_test(gzip_of_frames_without_end_is_refused),
		cmocka_unit_test(what_another_tool_wrote_does_not_fill_the_disk),
		cmocka_unit_test(labels_are_counted_once_in_each_combination),
		cmocka_unit_test(zeros_behind_gzip_are_nothing),
		cmocka_unit_test(temporary_files_leave_room_for_others),
		cmocka_unit_test(a_file_may_change_under_us),
		cmocka_unit_test(what_a_format_has_no_room_for_is_said_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
