/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines of a dump: a stack can name as many files as it likes, and of all together no more is kept than is
 * allowed. */
#include "dump_source.h"

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES	  80
#define FILE_LEN  (1 << 20)
#define ALL_BYTES (64u << 20)
#define NAMES	  5000

static void name_of(const char *dir, int i, char path[static 64])
{
	snprintf(path, 64, "%s/%d.py", dir, i);
}

/* One file under many names: a line, and nothing behind it. */
static void make_files(const char *dir)
{
	char first[64], path[64];

	name_of(dir, 0, first);
	int fd = open(first, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "work()\n", 7), 7);
	assert_int_equal(ftruncate(fd, FILE_LEN), 0);
	close(fd);
	for (int i = 1; i < FILES; i++) {
		name_of(dir, i, path);
		assert_int_equal(link(first, path), 0);
	}
}

static void remove_files(const char *dir)
{
	char path[64];

	for (int i = 0; i < FILES; i++) {
		name_of(dir, i, path);
		unlink(path);
	}
	rmdir(dir);
}

static bool has_source(struct pl_dump_sources *s, struct pl_dump *d, const char *path)
{
	struct pl_dump_frame f = {.file = pl_dump_text(d, path, strlen(path)), .line = 1};

	pl_dump_sources_add(s, d, &f);
	return f.has_source;
}

static void files_are_kept_up_to_a_limit(void **state)
{
	char dir[] = "/tmp/plumb-lines-XXXXXX", path[64];
	struct pl_dump_sources s = {.root = "/", .patience_ms = 60000};
	struct pl_dump *d;
	unsigned shown = 0;

	assert_non_null(mkdtemp(dir));
	make_files(dir);
	assert_true(pl_file_view_of(getpid(), &s.view));
	assert_ok(pl_dump_create(&d));
	for (int i = 0; i < FILES; i++) {
		name_of(dir, i, path);
		shown += has_source(&s, d, path);
	}
	name_of(dir, 0, path);
	bool again = has_source(&s, d, path);
	pl_dump_sources_deinit(&s);
	pl_dump_destroy(d);
	remove_files(dir);
	assert_int_equal(shown, ALL_BYTES / FILE_LEN);
	assert_true(again);
	assert_int_equal(s.left_out, FILES - ALL_BYTES / FILE_LEN);
}

static void files_are_asked_for_up_to_a_number(void **state)
{
	struct pl_dump_sources s = {.root = "/", .patience_ms = 60000};
	struct pl_dump *d;
	char path[64];

	assert_true(pl_file_view_of(getpid(), &s.view));
	assert_ok(pl_dump_create(&d));
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < NAMES; i++) {
			name_of("/nowhere", i, path);
			assert_false(has_source(&s, d, path));
		}
	assert_int_equal(s.asked, PL_SOURCES_MOST);
	assert_int_equal(s.left_out, NAMES - PL_SOURCES_MOST);
	assert_null(s.silent);
	pl_dump_sources_deinit(&s);
	pl_dump_destroy(d);
}

/* Native functions come from many files, which are seldom here. */
static void files_of_native_functions_leave_room_for_others(void **state)
{
	struct pl_dump_sources s = {.root = "/", .patience_ms = 60000};
	struct pl_dump *d;
	char path[64];

	assert_true(pl_file_view_of(getpid(), &s.view));
	assert_ok(pl_dump_create(&d));
	for (int i = 0; i < NAMES; i++) {
		name_of("/nowhere", i, path);
		struct pl_dump_frame f = {
			.kind = PL_DUMP_FRAME_NATIVE, .file = pl_dump_text(d, path, strlen(path)), .line = 1};

		pl_dump_sources_add(&s, d, &f);
		assert_false(f.has_source);
	}
	assert_int_equal(s.asked, PL_SOURCES_MOST / 2);
	assert_false(has_source(&s, d, "/nowhere/else"));
	assert_int_equal(s.asked, PL_SOURCES_MOST / 2 + 1);
	pl_dump_sources_deinit(&s);
	pl_dump_destroy(d);
}

/* They all answer, but take too long together. */
static void files_are_asked_for_in_a_part_of_the_time(void **state)
{
	struct pl_dump_sources s = {.root = "/", .patience_ms = 1000, .waited_ns = 1250000000};
	struct pl_dump *d;

	assert_true(pl_file_view_of(getpid(), &s.view));
	assert_ok(pl_dump_create(&d));
	assert_false(has_source(&s, d, "/nowhere/0.py"));
	assert_int_equal(s.asked, 0);
	assert_int_equal(s.left_out, 1);
	assert_null(s.silent);
	pl_dump_sources_deinit(&s);
	pl_dump_destroy(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_kept_up_to_a_limit),
		cmocka_unit_test(files_are_asked_for_up_to_a_number),
		cmocka_unit_test(files_of_native_functions_leave_room_for_others),
		cmocka_unit_test(files_are_asked_for_in_a_part_of_the_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
