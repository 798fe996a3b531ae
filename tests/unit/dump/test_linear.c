/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds what: the work follows the number of threads. */
#include "counted.h"
#include "dump_locks.h"
#include "unit.h"

#define THREADS 500

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holders_cost_what_their_threads_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
