/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "beside.h"
#include "stage.h"
#include "thread_clock.h"

#define PROVED 50 /* times */
#define LOOKS  1000

struct scene {
	stage_word ready;
	_Atomic uint64_t count;
	pid_t pid;
	struct pl_thread_clock clock;
	struct pl_beside beside;
};

static struct scene *begin(void)
{
	struct scene *s = stage_share(sizeof *s);

	pid_t pid = stage_fork(); /* the child shares what `s` is in */
	if (pid == 0) {
		stage_set(&s->ready, 1);
		for (;;)
			atomic_fetch_add(&s->count, 1);
	}
	stage_await(&s->ready, 1);
	s->pid = pid;
	pl_thread_clock_open(&s->clock, s->pid, s->pid);
	pl_beside_init(&s->beside);
	return s;
}

static void end(struct scene *s)
{
	pl_beside_end(&s->beside);
	pl_thread_clock_close(&s->clock);
	stage_kill(s->pid);
	munmap(s, sizeof *s);
}

static uint64_t runs(const struct scene *s)
{
	struct pl_run_counters c;

	assert_int_equal(pl_thread_clock_counters(&s->clock, &c), PL_CLOCK_OK);
	return c.runs;
}

/* True if it was found not to have run; then what it counts has not changed. */
static bool stood_beside(struct scene *s)
{
	uint64_t before = runs(s);
	int cpu = pl_beside_where(&s->beside, s->pid, s->pid);

	assert_true(cpu >= 0);
	if (cpu != s->beside.cpu) {
		assert_true(pl_beside_go(&s->beside, cpu));
		return false;
	}
	assert_true(pl_beside_is_there(&s->beside));
	uint64_t first = atomic_load(&s->count), last = first;
	for (int i = 0; i < LOOKS; i++)
		last = atomic_load(&s->count);
	if (runs(s) != before)
		return false;
	assert_int_equal(last, first);
	return true;
}

static void a_thread_does_not_run_while_we_are_on_its_processor(void **state)
{
	struct scene *s = begin();
	int proved = 0;

	await (proved >= PROVED) {
		uint64_t count = atomic_load(&s->count);
		proved += stood_beside(s);
		(void)pl_beside_taken_ns(&s->beside);
		stage_await_count(&s->count, count); /* and runs on when we have gone */
	}
	assert_true(pl_beside_go(&s->beside, s->beside.cpu));
	await (pl_beside_taken_ns(&s->beside) > 0)
		continue;
	end(s);
}

static void assert_may_run(const cpu_set_t *where)
{
	cpu_set_t now;

	assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
	assert_true(CPU_EQUAL(&now, where));
}

static void who_leaves_may_run_where_it_could_before(void **state)
{
	struct scene *s = begin();
	cpu_set_t before, one;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	int cpu = pl_beside_where(&s->beside, s->pid, s->pid);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_true(pl_beside_go(&s->beside, cpu));
	assert_may_run(&one);
	assert_int_equal(pl_beside_leave(&s->beside), CPU_COUNT(&before) > 1);
	assert_may_run(&before);
	assert_true(pl_beside_leave(&s->beside) || CPU_COUNT(&before) == 1);
	assert_true(pl_beside_go(&s->beside, cpu));
	pl_beside_free(&s->beside); /* by whoever sees that we do not get on */
	assert_may_run(&before);
	end(s);
}

static int last_of(const cpu_set_t *set)
{
	int last = PL_BESIDE_NOBODY;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		last = CPU_ISSET(cpu, set) ? cpu : last;
	return last;
}

/* Only the last one of ours. */
static int run_on_one(cpu_set_t *before)
{
	cpu_set_t one;

	assert_int_equal(sched_getaffinity(0, sizeof *before, before), 0);
	CPU_ZERO(&one);
	CPU_SET(last_of(before), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	return last_of(before);
}

static void nobody_goes_where_it_may_not_run(void **state)
{
	struct pl_beside b = {0};
	cpu_set_t before;
	int last = run_on_one(&before);

	pl_beside_init(&b);
	for (int cpu = -1; cpu < CPU_SETSIZE * PL_BESIDE_SETS + 1; cpu++)
		assert_int_equal(pl_beside_go(&b, cpu), cpu == last || cpu == PL_BESIDE_NOBODY);
	pl_beside_end(&b);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

/* An administrator, or a change of the cpuset. */
static void what_others_say_of_where_we_run_is_kept(void **state)
{
	struct pl_beside b = {0};
	cpu_set_t before, two, one;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	if (CPU_COUNT(&before) < 2) {
		print_message("with one processor there is no other\n");
		skip();
	}
	int last = last_of(&before);
	CPU_ZERO(&two);
	CPU_SET(last, &two);
	CPU_XOR(&one, &before, &two); /* all but the last */
	pl_beside_init(&b);
	assert_true(pl_beside_go(&b, last));
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_false(pl_beside_is_there(&b));
	assert_int_equal(b.cpu, PL_BESIDE_NOBODY);
	assert_false(pl_beside_go(&b, last)); /* it is none of ours any more */
	assert_true(pl_beside_go(&b, last_of(&one)));
	(void)pl_beside_leave(&b);
	pl_beside_end(&b);
	assert_may_run(&one);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

/* Whose number may be another thread's by now. */
static void who_has_ended_is_not_touched(void **state)
{
	struct pl_beside b = {0};
	cpu_set_t before;

	pl_beside_init(&b);
	assert_int_equal(b.tid, gettid());
	pl_beside_end(&b);
	assert_int_equal(b.tid, 0);
	(void)run_on_one(&before);
	cpu_set_t one;
	assert_int_equal(sched_getaffinity(0, sizeof one, &one), 0);
	pl_beside_free(&b);
	assert_may_run(&one);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void who_was_freed_goes_nowhere(void **state)
{
	struct pl_beside b = {0};
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	pl_beside_init(&b);
	assert_true(pl_beside_go(&b, last_of(&before)));
	assert_true(pl_beside_is_there(&b));
	pl_beside_free(&b);
	pl_beside_free(&b);
	assert_may_run(&before);
	assert_false(pl_beside_is_there(&b));
	assert_false(pl_beside_go(&b, last_of(&before)));
	pl_beside_end(&b);
	assert_may_run(&before);

	struct pl_beside early = {0};
	pl_beside_free(&early); /* before the thread has begun */
	pl_beside_init(&early);
	assert_false(pl_beside_go(&early, last_of(&before)));
	pl_beside_end(&early);
}

static void *free_again_and_again(void *beside)
{
	struct pl_beside *b = beside;

	do
		pl_beside_free(b);
	while (b->tid);
	return NULL;
}

static void one_can_be_freed_by_others_while_it_ends(void **state)
{
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	for (int i = 0; i < 200; i++) {
		struct pl_beside b = {0};
		pthread_t other;

		pl_beside_init(&b);
		(void)pl_beside_go(&b, last_of(&before));
		assert_int_equal(pthread_create(&other, NULL, free_again_and_again, &b), 0);
		pl_beside_end(&b);
		pthread_join(other, NULL);
		assert_int_equal(b.tid, 0);
		assert_may_run(&before);
	}
}

static void nobody_goes_where_it_could_wait_for_long(void **state)
{
	struct scene *s = begin();

	s->beside.nice = getpriority(PRIO_PROCESS, (id_t)s->pid);
	assert_true(pl_beside_where(&s->beside, s->pid, s->pid) >= 0);
	s->beside.nice++;
	assert_int_equal(pl_beside_where(&s->beside, s->pid, s->pid), PL_BESIDE_NOBODY);
	pid_t pid = s->pid;
	s->beside.nice--;
	end(s);
	struct pl_beside b = {0};
	pl_beside_init(&b);
	assert_int_equal(pl_beside_where(&b, pid, pid), PL_BESIDE_NOBODY); /* it is gone */
	pl_beside_end(&b);
}

static void those_that_the_kernel_prefers_are_found_too(void **state)
{
	struct scene *s = begin();

	if (setpriority(PRIO_PROCESS, (id_t)s->pid, -5)) {
		end(s);
		print_message("we may not give a process more than our own priority\n");
		skip();
	}
	s->beside.nice = -5;
	assert_true(pl_beside_where(&s->beside, s->pid, s->pid) >= 0);
	s->beside.nice = -4;
	assert_int_equal(pl_beside_where(&s->beside, s->pid, s->pid), PL_BESIDE_NOBODY);
	end(s);
}

static void *go_as_one_of_lower_rank(void *cpu)
{
	struct pl_beside b = {0};

	assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}), 0);
	pl_beside_init(&b);
	*(int *)cpu = pl_beside_go(&b, *(int *)cpu) ? *(int *)cpu : PL_BESIDE_NOBODY;
	pl_beside_end(&b);
	return NULL;
}

/* It would wait until the thread lets go of the processor. */
static void nobody_of_lower_rank_goes_anywhere(void **state)
{
	cpu_set_t before;
	pthread_t other;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	int cpu = last_of(&before);
	assert_int_equal(pthread_create(&other, NULL, go_as_one_of_lower_rank, &cpu), 0);
	pthread_join(other, NULL);
	assert_int_equal(cpu, PL_BESIDE_NOBODY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_does_not_run_while_we_are_on_its_processor),
		cmocka_unit_test(who_leaves_may_run_where_it_could_before),
		cmocka_unit_test(nobody_goes_where_it_may_not_run),
		cmocka_unit_test(what_others_say_of_where_we_run_is_kept),
		cmocka_unit_test(who_has_ended_is_not_touched),
		cmocka_unit_test(who_was_freed_goes_nowhere),
		cmocka_unit_test(one_can_be_freed_by_others_while_it_ends),
		cmocka_unit_test(nobody_goes_where_it_could_wait_for_long),
		cmocka_unit_test(those_that_the_kernel_prefers_are_found_too),
		cmocka_unit_test(nobody_of_lower_rank_goes_anywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
