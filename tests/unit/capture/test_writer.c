/* SPDX-License-Identifier: Apache-2.0 */
/* The writer when the disk is full, when it is killed, and while somebody reads what it writes. */
#include "capture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "format.h"
#include "recording.h"

struct scene {
	struct plumb_profile *p;
	struct pl_capture_writer *w;
	struct generator g;
	char *path;
};

static int set_up(void **state)
{
	static struct scene s;
	s = (struct scene){.path = temp_file()};
	check(pl_profile_create(&s.p));
	s.p->meta.period_ns = 1000000;
	s.g = (struct generator){.rng = {.state = 5}, .profile = s.p, .depth = 8, .processes = 1, .step_ns = 2000000};
	check(pl_capture_create(s.path, s.p, &s.w));
	*state = &s;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *s = *state;
	pl_capture_destroy(s->w);
	pl_profile_destroy(s->p);
	unlink(s->path);
	free(s->path);
	return 0;
}

static void add_random(struct scene *s, unsigned samples)
{
	for (unsigned i = 0; i < samples; i++) {
		struct pl_sample sample = generate_sample(&s->g);
		check(pl_profile_add(s->p, &sample));
		check(pl_capture_add(s->w, &sample));
	}
}

static struct plumb_profile *read_path(const char *path, struct pl_capture_info *info)
{
	struct plumb_profile *p = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	check(pl_profile_create(&p));
	check(pl_capture_read(fd, p, NULL, NULL, info));
	close(fd);
	return p;
}

static void assert_write_failed(struct plumb_error *err, const char *path)
{
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_WRITE_FAILED);
	assert_non_null(strstr(plumb_error_message(err), path));
	plumb_error_destroy(err);
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
	static const char *const paths[] = {"/dev/full", "/nonexistent/x.plumb", "/"};
	struct scene *s = *state;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct pl_capture_writer *w = NULL;
		assert_write_failed(pl_capture_create(paths[i], s->p, &w), paths[i]);
		assert_null(w);
	}
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The disk fills up in the middle of a chunk: the file keeps its whole chunks, the chunk stays in memory. */
static void a_full_disk_loses_nothing_that_was_whole(void **state)
{
	struct scene *s = *state;
	struct pl_capture_info info;
	struct stat st;
	void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
	add_random(s, 500);
	check(pl_capture_flush(s->w, s->p));
	assert_int_equal(stat(s->path, &st), 0);
	add_random(s, 500);
	limit_file_size((rlim_t)st.st_size + 100);
	struct plumb_error *err = pl_capture_flush(s->w, s->p);
	struct plumb_error *again = pl_capture_finish(s->w, s->p);
	limit_file_size(RLIM_INFINITY);
	signal(SIGXFSZ, old);
	assert_write_failed(err, s->path);
	assert_write_failed(again, s->path);
	struct plumb_profile *back = read_path(s->path, &info);
	assert_int_equal(samples_in(back), 500);
	assert_false(info.complete);
	assert_int_equal(info.ignored_bytes, 0);
	pl_profile_destroy(back);
	/* There is room again. */
	add_random(s, 10);
	s->p->meta.complete = true;
	check(pl_capture_finish(s->w, s->p));
	back = read_path(s->path, &info);
	assert_true(info.complete);
	char *a = profile_dump(s->p), *b = profile_dump(back);
	assert_string_equal(a, b);
	free(a);
	free(b);
	pl_profile_destroy(back);
}

static void a_growing_recording_can_be_read(void **state)
{
	struct scene *s = *state;
	struct pl_capture_info info;
	for (unsigned i = 1; i <= 5; i++) {
		add_random(s, 100);
		check(pl_capture_flush(s->w, s->p));
		add_random(s, 7); /* in memory only */
		struct plumb_profile *back = read_path(s->path, &info);
		assert_int_equal(samples_in(back), 100 * i + 7 * (i - 1));
		assert_int_equal(info.chunks, i);
		assert_false(info.complete || back->meta.complete);
		pl_profile_destroy(back);
	}
}

static void a_chunk_is_due_after_its_time(void **state)
{
	struct scene *s = *state;
	struct pl_sample sample = {.thread = add_thread(s->p, 1, 1, "", true), .time_ns = 5000000000};
	assert_false(pl_capture_wants_flush(s->w));
	check(pl_capture_add(s->w, &sample));
	sample.time_ns += PL_CAPTURE_CHUNK_NS - 1;
	check(pl_capture_add(s->w, &sample));
	assert_false(pl_capture_wants_flush(s->w));
	sample.time_ns++;
	check(pl_capture_add(s->w, &sample));
	assert_true(pl_capture_wants_flush(s->w));
	check(pl_capture_flush(s->w, s->p));
	assert_false(pl_capture_wants_flush(s->w));
}

static void a_chunk_is_due_when_it_is_large(void **state)
{
	struct scene *s = *state;
	struct pl_sample sample = {.thread = add_thread(s->p, 1, 1, "", true)};
	unsigned added = 0;
	for (; !pl_capture_wants_flush(s->w) && added < 2000000; added++)
		check(pl_capture_add(s->w, &sample));
	assert_int_equal(added, 1000000);
	/* Nobody flushes: there is an end to it, and what was added is whole. */
	struct plumb_error *err = NULL;
	for (; !err && added < 10000000; added++)
		err = pl_capture_add(s->w, &sample);
	assert_ptr_equal(err, &pl_err_limit);
	check(pl_capture_finish(s->w, s->p));
	struct pl_capture_info info;
	struct plumb_profile *back = read_path(s->path, &info);
	assert_int_equal(samples_in(back), added - 1);
	pl_profile_destroy(back);
}

/* Each chunk of the size of a second is one write: a kill leaves at most the last one in part, for the kernel looks for
 * one at each page. */
static void a_killed_writer_leaves_whole_chunks(void **state)
{
	struct scene *s = *state;
	int fds[2];
	pl_capture_destroy(s->w); /* a child of a fork has its own or none */
	s->w = NULL;
	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0) {
		check(pl_capture_create(s->path, s->p, &s->w));
		for (;;) {
			add_random(s, 1000);
			check(pl_capture_flush(s->w, s->p));
			if (write(fds[1], "x", 1) != 1)
				_exit(1);
		}
	}
	close(fds[1]);
	char byte;
	for (int i = 0; i < 5; i++)
		assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(kill(child, SIGKILL), 0);
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	close(fds[0]);
	struct pl_capture_info info;
	struct plumb_profile *back = read_path(s->path, &info);
	assert_true(info.chunks >= 5 && !info.complete && !info.damaged_chunks);
	assert_int_equal(samples_in(back), 1000 * info.chunks);
	pl_profile_destroy(back);
}

static void an_older_file_of_that_name_is_replaced(void **state)
{
	struct scene *s = *state;
	struct pl_capture_writer *again = NULL;
	struct stat st;
	add_random(s, 1000);
	check(pl_capture_finish(s->w, s->p));
	pl_capture_destroy(s->w);
	s->w = NULL;
	check(pl_capture_create(s->path, s->p, &again));
	assert_int_equal(stat(s->path, &st), 0);
	assert_int_equal(st.st_size, PL_FILE_HEADER_LEN);
	pl_capture_destroy(again);
}

static void a_recording_that_is_written_is_not_replaced(void **state)
{
	struct scene *s = *state;
	struct pl_capture_writer *again = NULL;
	add_random(s, 1000);
	check(pl_capture_flush(s->w, s->p));
	struct plumb_error *err = pl_capture_create(s->path, s->p, &again);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_EXISTS);
	assert_non_null(strstr(plumb_error_message(err), "is being written"));
	plumb_error_destroy(err);
}

/* However many chunks come before the one that fails. */
static void an_older_file_stays_until_the_new_one_is_published(void **state)
{
	struct scene *s = *state;
	struct pl_new_file file;
	struct pl_capture_info info;
	add_random(s, 100);
	check(pl_capture_finish(s->w, s->p));
	pl_capture_destroy(s->w);
	for (int published = 0; published < 2; published++) {
		check(pl_new_file_open(s->path, PL_REPLACE_NAMED, &file));
		check(pl_capture_create_in(&file, s->p, &s->w));
		add_random(s, 50);
		check(pl_capture_flush(s->w, s->p));
		add_random(s, 50);
		check(pl_capture_finish(s->w, s->p));
		if (published)
			check(pl_capture_publish(s->w));
		pl_capture_destroy(s->w);
		s->w = NULL;
		struct plumb_profile *back = read_path(s->path, &info);
		assert_int_equal(info.chunks, published ? 2 : 1);
		pl_profile_destroy(back);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_place_that_cannot_be_written_is_named),
		TEST(a_full_disk_loses_nothing_that_was_whole),
		TEST(a_growing_recording_can_be_read),
		TEST(a_chunk_is_due_after_its_time),
		TEST(a_chunk_is_due_when_it_is_large),
		TEST(a_killed_writer_leaves_whole_chunks),
		TEST(an_older_file_of_that_name_is_replaced),
		TEST(a_recording_that_is_written_is_not_replaced),
		TEST(an_older_file_stays_until_the_new_one_is_published),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
