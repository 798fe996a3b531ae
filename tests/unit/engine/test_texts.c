/* SPDX-License-Identifier: Apache-2.0 */
/* Source files into the profile: once each, within limits, of the process that they belong to, and of nothing that is
 * no file. The target is ourselves. Linked with --wrap=pl_clock_monotonic_ns and
 * --wrap=pl_source_answered. */
#include "source_texts.h"

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"
#include "records.h"

#define VIEW 1 /* its number */

/* Each answer takes so long. */
static uint64_t answer_ns, passed_ns;

uint64_t __real_pl_clock_monotonic_ns(void);
uint64_t __wrap_pl_clock_monotonic_ns(void);

uint64_t __wrap_pl_clock_monotonic_ns(void)
{
	return __real_pl_clock_monotonic_ns() + passed_ns;
}

bool __real_pl_source_answered(struct pl_source_reader *r, int timeout_ms, int patience_ms,
			       struct pl_source_answer *ret);
bool __wrap_pl_source_answered(struct pl_source_reader *r, int timeout_ms, int patience_ms,
			       struct pl_source_answer *ret);

bool __wrap_pl_source_answered(struct pl_source_reader *r, int timeout_ms, int patience_ms,
			       struct pl_source_answer *ret)
{
	passed_ns += answer_ns;
	if (answer_ns > (uint64_t)timeout_ms * 1000000)
		return false;
	return __real_pl_source_answered(r, timeout_ms, patience_ms, ret);
}

struct scene {
	char dir[32];
	struct plumb_profile *p;
	struct pl_texts t;
	struct pl_process_info self;
};

static void scene_init(struct scene *s)
{
	memset(s, 0, sizeof *s);
	strcpy(s->dir, "/tmp/plumb-texts-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	assert_ok(pl_profile_create(&s->p));
	s->self = (struct pl_process_info){
		.pid = (uint32_t)getpid(), .start_ns = pl_proc_started_ns(getpid()), .view_number = VIEW};
	assert_true(pl_file_view_of(getpid(), &s->self.view));
	assert_ok(pl_texts_process(&s->t, &s->self));
}

/* The same process under one more number. */
static struct plumb_error *again_as(struct scene *s, uint32_t index)
{
	struct pl_process_info info = s->self;

	info.index = index;
	return pl_texts_process(&s->t, &info);
}

static void scene_deinit(struct scene *s)
{
	char command[64];

	pl_texts_deinit(&s->t);
	pl_profile_destroy(s->p);
	snprintf(command, sizeof command, "rm -r %s", s->dir);
	assert_int_equal(system(command), 0);
}

static const char *path_of(const struct scene *s, const char *name)
{
	static char path[64];

	snprintf(path, sizeof path, "%s/%s", s->dir, name);
	return path;
}

static void write_file(const struct scene *s, const char *name, const char *text, size_t len)
{
	FILE *f = fopen(path_of(s, name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void make_old(const struct scene *s, const char *name)
{
	const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	assert_int_equal(utimensat(AT_FDCWD, path_of(s, name), times, 0), 0);
}

static uint32_t want(struct scene *s, const char *path, uint32_t process)
{
	uint32_t file = 0;

	assert_ok(pl_profile_string(s->p, path, strlen(path), &file));
	assert_ok(pl_texts_want(&s->t, file, process, VIEW));
	return file;
}

/* The text of the file of that name; NULL: there is none. */
static const struct pl_source *got(struct scene *s, uint32_t file)
{
	assert_ok(pl_texts_finish(&s->t, s->p));
	return pl_profile_source_of(s->p, file);
}

static void a_file_is_read(void **state)
{
	struct scene s;

	scene_init(&s);
	write_file(&s, "a.py", "pass\n", 5);
	make_old(&s, "a.py");
	const struct pl_source *a = got(&s, want(&s, path_of(&s, "a.py"), 0));
	assert_non_null(a);
	assert_int_equal(a->len, 5);
	assert_string_equal(a->text, "pass\n");
	assert_false(a->changed);
	write_file(&s, "b.py", "fail\n", 5);
	a = got(&s, want(&s, path_of(&s, "b.py"), 0));
	assert_string_equal(a->text, "fail\n");
	assert_int_equal(s.t.bytes, 10);
	scene_deinit(&s);
}

static void what_is_younger_than_the_process_is_marked(void **state)
{
	const struct timespec times[2] = {{.tv_sec = 4000000000}, {.tv_sec = 4000000000}};
	struct scene s;

	scene_init(&s);
	write_file(&s, "a.py", "pass\n", 5);
	assert_int_equal(utimensat(AT_FDCWD, path_of(&s, "a.py"), times, 0), 0);
	assert_true(got(&s, want(&s, path_of(&s, "a.py"), 0))->changed);
	scene_deinit(&s);
}

static void what_is_no_file_is_not_read(void **state)
{
	static const char *const names[] = {"",		 "<string>",	   "<frozen os>",     "/dev/null",
					    "/dev/zero", "/proc/self/mem", "/proc/self/stat", "/nothing/there.py"};
	struct scene s;

	scene_init(&s);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_null(got(&s, want(&s, names[i], 0)));
	assert_int_equal(mkfifo(path_of(&s, "fifo.py"), 0600), 0);
	assert_null(got(&s, want(&s, path_of(&s, "fifo.py"), 0)));
	assert_null(got(&s, want(&s, s.dir, 0)));
	write_file(&s, "a.py", "pass\n", 5);
	uint32_t cut = 0;
	char name[80] = {0};
	size_t len = (size_t)snprintf(name, sizeof name, "%s", path_of(&s, "a.py"));
	assert_ok(pl_profile_string(s.p, name, len + 3, &cut));
	assert_ok(pl_texts_want(&s.t, cut, 0, VIEW));
	assert_null(got(&s, cut));
	assert_int_equal(s.p->source_count, 0);
	assert_int_equal(s.p->meta.sources_left_out, 0);
	scene_deinit(&s);
}

static void large_files_are_left_out_and_counted_once(void **state)
{
	char *text = calloc(1, PL_SOURCE_MAX_BYTES + 1);
	struct scene s;

	scene_init(&s);
	write_file(&s, "large.py", text, PL_SOURCE_MAX_BYTES + 1);
	write_file(&s, "full.py", text, PL_SOURCE_MAX_BYTES);
	free(text);
	assert_ok(again_as(&s, 1));
	assert_null(got(&s, want(&s, path_of(&s, "large.py"), 0)));
	assert_null(got(&s, want(&s, path_of(&s, "large.py"), 1)));
	assert_int_equal(s.p->meta.sources_left_out, 1);
	assert_int_equal(got(&s, want(&s, path_of(&s, "full.py"), 0))->len, PL_SOURCE_MAX_BYTES);
	assert_int_equal(s.p->meta.sources_left_out, 1);
	scene_deinit(&s);
}

static void all_of_them_have_a_limit(void **state)
{
	char *text = calloc(1, PL_SOURCE_MAX_BYTES), name[24];
	struct scene s;

	scene_init(&s);
	for (uint32_t i = 0; i < PL_TEXTS_MAX_BYTES / PL_SOURCE_MAX_BYTES + 3; i++) {
		snprintf(name, sizeof name, "m%u.py", i);
		write_file(&s, name, text, PL_SOURCE_MAX_BYTES);
		want(&s, path_of(&s, name), 0);
	}
	free(text);
	assert_ok(pl_texts_finish(&s.t, s.p));
	assert_int_equal(s.p->source_count, PL_TEXTS_MAX_BYTES / PL_SOURCE_MAX_BYTES);
	assert_int_equal(s.p->meta.sources_left_out, 3);
	assert_int_equal(s.t.bytes, PL_TEXTS_MAX_BYTES);
	scene_deinit(&s);
}

/* Files that are read when the end is waited for, and those that are left out, each of which takes a while. */
static uint32_t read_at_end(uint32_t files)
{
	struct scene s;
	char name[24];

	scene_init(&s);
	for (uint32_t i = 0; i < files; i++) {
		snprintf(name, sizeof name, "m%u.py", i);
		write_file(&s, name, "pass\n", 5);
		want(&s, path_of(&s, name), 0);
	}
	want(&s, "<string>", 0); /* is not left out */
	answer_ns = 50000000;
	assert_ok(pl_texts_finish(&s.t, s.p));
	answer_ns = 0;
	uint32_t read = s.p->source_count;
	assert_int_equal(s.p->meta.sources_left_out, files - read);
	assert_ok(pl_texts_finish(&s.t, s.p));
	assert_int_equal(s.p->source_count, read);
	scene_deinit(&s);
	return read;
}

static void who_waits_for_the_end_does_not_wait_for_more_when_there_is_more(void **state)
{
	uint32_t read = read_at_end(200);

	assert_in_range(read, 10, 150);
	assert_in_range(read_at_end(400), 10, 150);
}

/* A worker that was started again after the file was edited. */
static void another_text_for_another_process_is_seen(void **state)
{
	struct scene s;

	scene_init(&s);
	write_file(&s, "a.py", "x = 2\n", 6);
	make_old(&s, "a.py");
	uint32_t file = want(&s, path_of(&s, "a.py"), 0);
	assert_string_equal(got(&s, file)->text, "x = 2\n");
	for (uint32_t i = 1; i < 3; i++)
		assert_ok(again_as(&s, i));
	want(&s, path_of(&s, "a.py"), 1);
	assert_false(got(&s, file)->changed);
	assert_int_equal(s.t.bytes, 6); /* not read again */
	write_file(&s, "a.py", "x = 1\n", 6);
	want(&s, path_of(&s, "a.py"), 1); /* asked already */
	assert_string_equal(got(&s, file)->text, "x = 2\n");
	want(&s, path_of(&s, "a.py"), 2);
	assert_string_equal(got(&s, file)->text, "x = 1\n");
	assert_true(got(&s, file)->changed);
	assert_int_equal(s.t.bytes, 12);
	scene_deinit(&s);
}

static void a_process_may_become_known_later(void **state)
{
	struct scene s;

	scene_init(&s);
	write_file(&s, "a.py", "pass\n", 5);
	uint32_t file = want(&s, path_of(&s, "a.py"), 7);
	assert_null(got(&s, file));
	s.self.index = 7;
	assert_ok(pl_texts_process(&s.t, &s.self));
	assert_non_null(got(&s, file));
	scene_deinit(&s);
}

static pid_t ended_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void of_one_that_has_ended_they_are_read_if_it_saw_ours(void **state)
{
	struct scene s;

	scene_init(&s);
	write_file(&s, "a.py", "pass\n", 5);
	struct pl_process_info other = s.self;
	other.index = 1;
	other.pid = (uint32_t)ended_process();
	other.view.mounts_ino++;
	assert_ok(pl_texts_process(&s.t, &other));
	assert_null(got(&s, want(&s, path_of(&s, "a.py"), 1)));
	/* Its number is that of another process by now. */
	other = s.self;
	other.index = 2;
	other.view.start_ticks--;
	other.view.root_ino++;
	assert_ok(pl_texts_process(&s.t, &other));
	assert_null(got(&s, want(&s, path_of(&s, "a.py"), 2)));
	other = s.self;
	other.index = 3;
	other.pid = (uint32_t)ended_process();
	assert_ok(pl_texts_process(&s.t, &other));
	assert_non_null(got(&s, want(&s, path_of(&s, "a.py"), 3)));
	scene_deinit(&s);
}

/* What it may read by now, or might read then, is not known to be what it could when its code ran. */
static void of_one_that_has_other_rights_by_now_nothing_is_read(void **state)
{
	struct pl_process_info other;
	struct scene s;

	scene_init(&s);
	write_file(&s, "a.py", "pass\n", 5);
	other = s.self;
	other.index = 1;
	other.view.rights.gid++;
	assert_ok(pl_texts_process(&s.t, &other));
	assert_null(got(&s, want(&s, path_of(&s, "a.py"), 1)));
	/* It was told meanwhile that they have changed. */
	uint32_t file = want(&s, path_of(&s, "a.py"), 2);
	other = s.self;
	other.index = 2;
	other.view_number = VIEW + 1;
	assert_ok(pl_texts_process(&s.t, &other));
	assert_null(got(&s, file));
	/* Not even known when the code was seen: asked for again when it is. */
	assert_ok(again_as(&s, 3));
	assert_ok(pl_texts_want(&s.t, file, 3, 0));
	assert_null(got(&s, file));
	assert_non_null(got(&s, want(&s, path_of(&s, "a.py"), 3)));
	scene_deinit(&s);
}

static void without_them_nothing_is_read(void **state)
{
	struct scene s;

	scene_init(&s);
	s.t.off = true;
	write_file(&s, "a.py", "pass\n", 5);
	assert_null(got(&s, want(&s, path_of(&s, "a.py"), 0)));
	assert_int_equal(s.t.wishes.len, 0);
	scene_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read),
		cmocka_unit_test(what_is_younger_than_the_process_is_marked),
		cmocka_unit_test(what_is_no_file_is_not_read),
		cmocka_unit_test(large_files_are_left_out_and_counted_once),
		cmocka_unit_test(all_of_them_have_a_limit),
		cmocka_unit_test(who_waits_for_the_end_does_not_wait_for_more_when_there_is_more),
		cmocka_unit_test(another_text_for_another_process_is_seen),
		cmocka_unit_test(a_process_may_become_known_later),
		cmocka_unit_test(of_one_that_has_ended_they_are_read_if_it_saw_ours),
		cmocka_unit_test(of_one_that_has_other_rights_by_now_nothing_is_read),
		cmocka_unit_test(without_them_nothing_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
