/* SPDX-License-Identifier: Apache-2.0 */
/* The work follows the number of threads, and of frames. */
#include "counted.h"
#include "dump_locks.h"
#include "dump_source.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 500
#define FRAMES	100
#define LINES	1000000
#define STEPS	1000 /* of a frame in the last of these lines; from the first one on they were millions */

static struct plumb_error *nothing_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	(void)mem, (void)addr, (void)dst, (void)len;
	return &pl_err_unreadable;
}

/* All take back the same lock, and stand inside of it. */
static void tell_holders(void *ctx, unsigned threads)
{
	static const struct pl_mem_ops ops = {.read = nothing_read};
	const struct pl_lock_wait wait = {.what = PL_FOR_LOCK, .object = 4096, .kind = PL_LOCK_PLAIN};
	struct pl_mem mem = {&ops};
	struct pl_py py = {0};
	struct pl_dump_process p = {0};
	struct pl_lock_finder locks = {0};
	struct pl_dump *d;

	(void)ctx;
	assert_ok(pl_dump_create(&d));
	pl_lock_finder_init(&locks, d, &p, &mem, &py, UINT64_MAX);
	for (unsigned i = 1; i <= threads; i++) {
		struct pl_dump_thread t = {.tid = i};
		const struct pl_lock_hold h = {.lock = wait.object, .inside = true, .innermost = true};

		pl_lock_finder_add(&locks, &wait, &t);
		assert_int_equal(t.awaited, 1);
		assert_true(pl_vec_push(&p.threads, t));
		pl_lock_finder_take(&locks, &h, i);
	}
	counted_begin();
	pl_lock_finder_tell(&locks);
	counted_end();
	assert_false(p.awaited.data[0].lock_known);
	pl_lock_finder_deinit(&locks);
	pl_dump_process_deinit(&p);
	pl_dump_destroy(d);
}

static void holders_cost_what_their_threads_do(void **state)
{
	(void)state;
	counted_linear(tell_holders, NULL, THREADS);
}

/* Almost as long as a source may be. */
static void write_lines(int fd)
{
	char *text = malloc(LINES);

	assert_non_null(text);
	memset(text, '\n', LINES);
	memcpy(text + LINES - 5, "last\n", 5);
	assert_int_equal(write(fd, text, LINES), LINES);
	free(text);
}

static void a_line_far_behind_is_found_at_once(void **state)
{
	char path[] = "/tmp/plumb-lines-XXXXXX";
	struct pl_dump_sources s = {.root = "/", .patience_ms = 60000};
	const int32_t last = LINES - 4;
	struct pl_dump *d;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	write_lines(fd);
	close(fd);
	assert_true(pl_file_view_of(getpid(), &s.view));
	assert_ok(pl_dump_create(&d));
	struct pl_dump_frame f = {.file = pl_dump_text(d, path, strlen(path)), .line = 1};
	pl_dump_sources_add(&s, d, &f);
	assert_true(f.has_source);
	const uint64_t before = counted_now().work;
	for (int i = 0; i < FRAMES; i++) {
		struct pl_dump_frame deep = {.file = f.file, .line = last};

		pl_dump_sources_add(&s, d, &deep);
		assert_string_equal(deep.source.s, "last");
	}
	assert_in_range(counted_now().work - before, 1, FRAMES * STEPS);
	struct pl_dump_frame beyond = {.file = f.file, .line = last + 2};
	pl_dump_sources_add(&s, d, &beyond);
	assert_false(beyond.has_source);
	pl_dump_sources_deinit(&s);
	pl_dump_destroy(d);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holders_cost_what_their_threads_do),
		cmocka_unit_test(a_line_far_behind_is_found_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
