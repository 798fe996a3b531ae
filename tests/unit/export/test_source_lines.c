/* SPDX-License-Identifier: Apache-2.0 */
/* Lines come from the text that the profile has; where it is none of ours, from the file that is there by now. */
#include "source_lines.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "build.h"

struct scene {
	struct build b;
	char path[40];
	uint32_t file;
	struct pl_sources *sources;
};

/* A file says "of the file"; @p text, if any, is what was recorded of it. */
static void scene_init(struct scene *s, const char *text)
{
	build_start(&s->b);
	strcpy(s->path, "/tmp/plumb-lines-XXXXXX");
	int fd = mkstemp(s->path);
	assert_int_equal(write(fd, "of the file\n", 12), 12);
	assert_int_equal(fchmod(fd, 0644), 0);
	close(fd);
	s->file = build_string(&s->b, s->path);
	if (text)
		assert_null(pl_profile_source(s->b.p, s->file, text, strlen(text), false));
	s->sources = pl_sources_create(s->b.p);
	assert_non_null(s->sources);
}

/* Under a sanitizer, which counts for itself: 0. */
static size_t allocated(void)
{
	struct mallinfo2 all = mallinfo2();

	return all.uordblks + all.hblkhd;
}

static void scene_deinit(struct scene *s)
{
	pl_sources_destroy(s->sources);
	unlink(s->path);
	build_end(&s->b);
}

static void assert_line(struct scene *s, int32_t number, const char *expected)
{
	struct pl_text line;

	assert_true(pl_sources_line(s->sources, s->file, number, &line));
	assert_int_equal(line.len, strlen(expected));
	assert_memory_equal(line.s, expected, line.len);
}

static void the_recorded_text_goes_before_the_file(void **state)
{
	struct pl_text line;
	struct scene s;

	scene_init(&s, "of the\nrecording");
	assert_line(&s, 1, "of the");
	assert_line(&s, 2, "recording");
	assert_false(pl_sources_line(s.sources, s.file, 3, &line));
	scene_deinit(&s);
}

static void without_one_the_file_is_read_for_what_was_imported(void **state)
{
	struct pl_text line;
	struct scene s;

	scene_init(&s, NULL);
	assert_false(pl_sources_line(s.sources, s.file, 1, &line));
	scene_deinit(&s);
	scene_init(&s, NULL);
	s.b.p->meta.imported = true;
	assert_line(&s, 1, "of the file");
	scene_deinit(&s);
}

/* By a profile that has not asked before. */
static bool root_shows(struct scene *s, const char *path)
{
	struct pl_sources *sources = pl_sources_create(s->b.p);
	struct pl_text line;
	bool shown = pl_sources_line(sources, build_string(&s->b, path), 1, &line);

	pl_sources_destroy(sources);
	return shown;
}

/* The name is a profile's, which anybody may have made. Who is in the group of a file is one of all, too. */
static void root_shows_what_all_may_read(void **state)
{
	static const mode_t shut[] = {0600, 0640, 0604};
	char dir[] = "/tmp/plumb-dir-XXXXXX", inside[64];
	struct pl_text line;
	struct scene s;

	if (geteuid() != 0)
		skip();
	scene_init(&s, NULL);
	s.b.p->meta.imported = true;
	for (unsigned i = 0; i < sizeof shut / sizeof *shut; i++) {
		assert_int_equal(chmod(s.path, shut[i]), 0);
		assert_false(root_shows(&s, s.path));
	}
	assert_int_equal(chmod(s.path, 0644), 0);
	assert_non_null(mkdtemp(dir)); /* root's alone */
	snprintf(inside, sizeof inside, "%s/f", dir);
	assert_int_equal(link(s.path, inside), 0);
	assert_false(root_shows(&s, inside));
	assert_int_equal(chmod(dir, 0705), 0);
	assert_false(root_shows(&s, inside));
	assert_int_equal(chmod(dir, 0755), 0);
	assert_true(root_shows(&s, inside));
	assert_false(pl_sources_line(s.sources, build_string(&s.b, "/proc/self/maps"), 1, &line));
	unlink(inside);
	rmdir(dir);
	scene_deinit(&s);
}

/* 0: this file is not shown, though it could be read. */
static int shown_with_the_capability(struct scene *s)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct has[2] = {
		{.effective = 1u << CAP_DAC_READ_SEARCH, .permitted = 1u << CAP_DAC_READ_SEARCH}};

	if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setresuid(65534, 65534, 65534) != 0 ||
	    syscall(SYS_capset, &header, has) != 0)
		return 2;
	int fd = open(s->path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? 3 : root_shows(s, s->path);
}

/* As a plumb that may read the processes of all users. */
static void who_may_read_all_files_shows_what_all_may_read(void **state)
{
	struct scene s;
	int status;

	if (geteuid() != 0)
		skip();
	scene_init(&s, NULL);
	s.b.p->meta.imported = true;
	assert_int_equal(chmod(s.path, 0600), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(shown_with_the_capability(&s));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	scene_deinit(&s);
}

static void it_is_decoded_as_it_says(void **state)
{
	struct scene s;

	scene_init(&s, "# coding: latin-1\nx = '\xe4'\n");
	assert_line(&s, 2, "x = '\xc3\xa4'");
	assert_int_equal((unsigned char)pl_profile_source_of(s.b.p, s.file)->text[23],
			 0xe4); /* the profile's own is as it was */
	scene_deinit(&s);
}

/* The file may be another by now: what was recorded, be it of no use, is what ran. */
static void a_text_that_cannot_be_told_has_no_lines(void **state)
{
	struct pl_text line;
	struct scene s;

	scene_init(&s, "x = '\xe4'\n");
	assert_false(pl_sources_line(s.sources, s.file, 1, &line));
	scene_deinit(&s);
}

/* As many as a text has, by the rule and nothing else. */
static void assert_lines_of(const char *text)
{
	const char *at = text, *end;
	struct pl_text line;
	struct scene s;
	int32_t number = 0;

	scene_init(&s, text);
	for (; *at; at = end + (*end != '\0') + (end[0] == '\r' && end[1] == '\n')) {
		end = at + strcspn(at, "\r\n");
		assert_true(pl_sources_line(s.sources, s.file, ++number, &line));
		assert_int_equal(line.len, end - at);
		assert_memory_equal(line.s, at, line.len);
	}
	assert_false(pl_sources_line(s.sources, s.file, number + 1, &line));
	scene_deinit(&s);
}

static void lines_end_where_they_end_wherever_they_lie(void **state)
{
	char text[257];
	uint32_t random = 1;

	for (size_t len = 0; len < sizeof text; len++) {
		for (size_t i = 0; i < len; i++) {
			random = random * 1664525 + 1013904223;
			text[i] = "ab\r\n"[random >> 30];
		}
		text[len] = '\0';
		assert_lines_of(text);
	}
}

static void a_text_of_line_breaks_takes_no_more_memory_than_another(void **state)
{
	size_t len = PL_SOURCE_MAX_BYTES;
	char *text = malloc(len + 1);
	struct pl_text line;
	struct scene s;

	assert_non_null(text);
	memset(text, '\n', len);
	text[len] = '\0';
	scene_init(&s, text);
	size_t before = allocated();
	assert_true(pl_sources_line(s.sources, s.file, (int32_t)len, &line));
	assert_in_range(allocated() - before, 0, 2 * len);
	scene_deinit(&s);
	free(text);
}

/* Two-byte characters; of the second line the last one that there is room for is cut. */
static void a_line_is_shown_up_to_a_limit(void **state)
{
	char text[2 * PL_LINE_SHOWN_BYTES + 16], *end = text;
	struct pl_text line;
	struct scene s;

	for (size_t i = 0; i < PL_LINE_SHOWN_BYTES / 2; i++)
		end = stpcpy(end, "\xc3\xa9");
	end = stpcpy(end, "\nx");
	for (size_t i = 0; i < PL_LINE_SHOWN_BYTES / 2; i++)
		end = stpcpy(end, "\xc3\xa9");
	scene_init(&s, text);
	assert_true(pl_sources_line(s.sources, s.file, 1, &line));
	assert_int_equal(line.len, PL_LINE_SHOWN_BYTES);
	assert_true(pl_sources_line(s.sources, s.file, 2, &line));
	assert_int_equal(line.len, PL_LINE_SHOWN_BYTES - 1);
	scene_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_recorded_text_goes_before_the_file),
		cmocka_unit_test(without_one_the_file_is_read_for_what_was_imported),
		cmocka_unit_test(root_shows_what_all_may_read),
		cmocka_unit_test(who_may_read_all_files_shows_what_all_may_read),
		cmocka_unit_test(it_is_decoded_as_it_says),
		cmocka_unit_test(a_text_that_cannot_be_told_has_no_lines),
		cmocka_unit_test(a_line_is_shown_up_to_a_limit),
		cmocka_unit_test(lines_end_where_they_end_wherever_they_lie),
		cmocka_unit_test(a_text_of_line_breaks_takes_no_more_memory_than_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
