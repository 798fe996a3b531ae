/* SPDX-License-Identifier: Apache-2.0 */
/* What a look at the locks of a round may cost. Time is the test's: each stack that is read takes a millisecond of it.
 */
#include "unit.h"

#include <unistd.h>

#include "mem_live.h"
#include "python_process.h"

#define MS	     1000000ull
#define THREADS	     500
#define LOCKS	     60 /* of which each may be asked */
#define STALE	     7	/* a node of the round before */
#define READINGS_MAX 8	/* in the time that a look has, with those of the thread at which it ended */

static uint64_t now_ns = MS;
static unsigned readings, looked_at;

uint64_t __wrap_pl_clock_monotonic_ns(void);
struct plumb_error *__wrap_pl_stack_read(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret);

uint64_t __wrap_pl_clock_monotonic_ns(void)
{
	return now_ns;
}

/* It moved meanwhile, as if on purpose. */
struct plumb_error *__wrap_pl_stack_read(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret)
{
	(void)r;
	(void)s;
	*ret = (struct pl_reading){0};
	now_ns += MS;
	readings++;
	return NULL;
}

static void count(void *ctx, const struct pl_thread_sampler *thread)
{
	(void)ctx;
	(void)thread;
	looked_at++;
}

static void a_look_at_many_threads_that_run_ends_in_time(void **state)
{
	static struct pl_thread_sampler threads[THREADS];
	static struct pl_python_process p;
	static uint64_t lock[8];
	struct pl_awaits awaits = {.object = (uintptr_t)lock, .kind = PL_LOCK_PLAIN};
	struct pl_lock_looks *looks;
	struct pl_mem_live *live;
	uint32_t at;

	(void)state;
	assert_ok(pl_mem_live_create(getpid(), &live));
	p.reader.mem = pl_mem_live_mem(live);
	assert_ok(pl_lock_looks_create(&p.reader, &looks));
	for (size_t i = 0; i < THREADS; i++) {
		threads[i].holds.whole = true; /* of the round before */
		assert_true(pl_vec_push(&p.threads.samplers, &threads[i]));
	}
	pl_lock_looks_begin(looks);
	assert_true(pl_lock_looks_add(looks, &awaits, &at));
	pl_lock_looks_ask(looks, &p, count, NULL);
	assert_in_range(readings, 1, READINGS_MAX);
	assert_in_range(looked_at, 1, READINGS_MAX);
	for (size_t i = 0; i < THREADS; i++)
		assert_false(threads[i].holds.whole); /* what is not looked at may hold any */
	assert_int_not_equal(looks->locks.data[at].known, PL_HOLDER_THREAD);
	pl_vec_deinit(&p.threads.samplers);
	pl_lock_looks_destroy(looks);
	pl_mem_live_destroy(live);
}

/* Each thread has an RLock, which says so itself. */
static void the_holders_of_many_locks_are_looked_at_in_time(void **state)
{
	static struct pl_thread_sampler threads[LOCKS];
	static struct pl_python_process p;
	static uint64_t held, locks[LOCKS][3]; /* its semaphore, its owner, its count */
	struct pl_lock_looks *looks;
	struct pl_mem_live *live;
	uint32_t at;

	(void)state;
	readings = looked_at = 0;
	assert_ok(pl_mem_live_create(getpid(), &live));
	p.reader.mem = pl_mem_live_mem(live);
	assert_ok(pl_lock_looks_create(&p.reader, &looks));
	pl_lock_looks_begin(looks);
	for (size_t i = 0; i < LOCKS; i++) {
		const struct pl_awaits awaits = {.object = (uintptr_t)locks[i], .kind = PL_LOCK_RECURSIVE};

		locks[i][0] = (uintptr_t)&held;
		locks[i][1] = threads[i].ident = 1 + i;
		locks[i][2] = 1;
		threads[i].holds.node = STALE;
		assert_true(pl_vec_push(&p.threads.samplers, &threads[i]));
		assert_true(pl_lock_looks_add(looks, &awaits, &at));
	}
	pl_lock_looks_ask(looks, &p, count, NULL);
	assert_in_range(readings, 1, READINGS_MAX);
	assert_in_range(looked_at, 1, READINGS_MAX);
	for (size_t i = 0; i < LOCKS; i++) {
		assert_int_equal(looks->locks.data[i].known, PL_HOLDER_THREAD);
		assert_ptr_equal(looks->locks.data[i].holder, &threads[i]);
		assert_int_equal(looks->locks.data[i].node, 0); /* where it is, is not known */
	}
	pl_vec_deinit(&p.threads.samplers);
	pl_lock_looks_destroy(looks);
	pl_mem_live_destroy(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_look_at_many_threads_that_run_ends_in_time),
		cmocka_unit_test(the_holders_of_many_locks_are_looked_at_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
