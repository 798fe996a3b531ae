/* SPDX-License-Identifier: Apache-2.0 */
/* What a session tells while samples come, of an engine that is made up. */
#include "unit.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forks.h"
#include "session_parts.h"

/* With its first sample it tells other figures. */
struct pl_engine {
	struct pl_engine_stats stats, later;
	uint64_t sample_ns;
	bool ready;
	int waits, speaks_until; /* turns of the consumer; so many in which the sampling thread says something */
};

static void tell(struct pl_engine *e, struct pl_engine_stats *ret)
{
	*ret = e->stats;
}

static struct plumb_error *take(struct pl_engine *e, struct plumb_profile *p, pl_engine_sample_fn *fn, void *ctx)
{
	struct pl_process process = {.pid = 1};
	struct pl_thread thread = {.tid = 1};
	struct pl_sample s = {.time_ns = e->sample_ns, .weight_ns = 1000};

	assert_ok(pl_profile_process(p, &process, &thread.process));
	assert_ok(pl_profile_thread(p, &thread, &s.thread));
	e->stats = e->later;
	return fn(ctx, &s);
}

static struct plumb_error *take_nothing(struct pl_engine *e, struct plumb_profile *p, pl_engine_sample_fn *fn,
					void *ctx)
{
	return NULL;
}

static void wait_in_vain(struct pl_engine *e, int timeout_ms)
{
	e->waits++;
	if (e->waits <= e->speaks_until)
		e->stats.told_ns++;
}

static void leave(struct pl_engine *e)
{
	assert_false(e->stats.ended);
	e->stats.ended = true;
}

static bool is_ready(struct pl_engine *e)
{
	return e->ready;
}

static const struct pl_engine_ops ops = {.stats = tell, .take = take};
static const struct pl_engine_ops stands = {
	.stats = tell, .take = take_nothing, .wait = wait_in_vain, .ready = is_ready, .leave = leave};

static void session_init(struct plumb_session *s, struct pl_engine *e)
{
	*s = (struct plumb_session){.ops = &ops, .engine = e, .generation = pl_forks_generation(), .consuming = true};
	pthread_mutex_init(&s->work, NULL);
	pthread_mutex_init(&s->lock, NULL);
	assert_ok(pl_profile_create(&s->profile));
}

static void session_deinit(struct plumb_session *s)
{
	pl_profile_destroy(s->profile);
	pl_hottest_deinit(&s->hot);
	pl_cycles_deinit(&s->cycles);
	pl_session_events_deinit(s);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->work);
}

static void figures_are_not_older_than_the_samples_they_are_shown_with(void **state)
{
	struct pl_engine engine = {
		.later = {.found_python = true, .threads = 1, .processes = 1, .ticks = 1, .elapsed_ns = 1000},
		.sample_ns = 1000};
	struct plumb_session s;
	struct plumb_status st;

	session_init(&s, &engine);
	plumb_session_wait(&s, 0, &st);
	assert_int_equal(st.samples, 1);
	assert_true(st.found_python);
	assert_int_equal(st.threads, 1);
	assert_int_equal(st.processes, 1);
	assert_int_equal(st.ticks, 1);
	assert_int_equal(st.elapsed_ns, 1000);
	session_deinit(&s);
}

static void check_recent(struct plumb_session *s, uint64_t samples, uint64_t lasted_ns)
{
	struct plumb_profile *p;
	struct plumb_profile_info info;

	assert_ok(plumb_session_recent(s, &p));
	plumb_profile_info(p, &info);
	assert_int_equal(info.samples, samples);
	assert_int_equal(info.duration_ns, lasted_ns);
	plumb_profile_destroy(p);
}

/* The engine is 990 ns old, and gives one more sample, of the cycle that begins at 1,000 ns. */
static void recent_init(struct plumb_session *s, struct pl_engine *engine)
{
	*engine = (struct pl_engine){.stats = {.elapsed_ns = 990}, .later = {.elapsed_ns = 990}, .sample_ns = 1010};
	session_init(s, engine);
	s->cycles = (struct pl_cycles){.length_ns = 1000, .max = 10};
}

static void a_cycle_that_has_just_begun_has_lasted_no_time(void **state)
{
	struct pl_engine engine;
	struct plumb_session s;

	recent_init(&s, &engine);
	check_recent(&s, 1, 0);
	session_deinit(&s);
}

static void add_to_cycle(struct plumb_session *s, uint64_t time_ns, uint64_t samples)
{
	while (samples-- > 0)
		assert_ok(pl_cycles_add(&s->cycles, &(struct pl_sample){.time_ns = time_ns, .weight_ns = 7}));
}

/* Samples of the next cycle are there before it is told that it is so late. */
static void what_has_not_ended_is_in_one_piece_while_the_next_cycle_has_samples_already(void **state)
{
	struct pl_engine engine;
	struct plumb_session s;

	recent_init(&s, &engine);
	add_to_cycle(&s, 500, 8);
	check_recent(&s, 9, 990);
	session_deinit(&s);
}

static void check_last(struct plumb_session *s, uint64_t ns, uint64_t samples, uint64_t lasted_ns)
{
	struct plumb_profile *p;
	struct plumb_profile_info info;

	assert_ok(plumb_session_last(s, ns, &p));
	plumb_profile_info(p, &info);
	assert_int_equal(info.samples, samples);
	assert_int_equal(info.duration_ns, lasted_ns);
	plumb_profile_destroy(p);
}

static void add_one_thread(struct plumb_profile *p)
{
	struct pl_thread thread = {.tid = 1};
	uint32_t id;

	assert_ok(pl_profile_process(p, &(struct pl_process){.pid = 1}, &thread.process));
	assert_ok(pl_profile_thread(p, &thread, &id));
}

#define HALF_S 500000000ull

/* Any number of times: none of them is taken. */
static void the_last_time_is_that_of_whole_cycles(void **state)
{
	struct pl_engine engine = {.stats = {.elapsed_ns = 7 * HALF_S}};
	struct plumb_session s;
	struct plumb_profile *p;

	session_init(&s, &engine);
	s.ops = &stands;
	add_one_thread(s.profile);
	check_last(&s, 2 * HALF_S, 0, 0); /* there are none */
	s.cycles = (struct pl_cycles){.length_ns = 2 * HALF_S, .max = 100};
	for (uint64_t i = 0; i < 3; i++)
		add_to_cycle(&s, 2 * HALF_S * i, 10 + i);
	add_to_cycle(&s, 6 * HALF_S + 1, 1);
	check_last(&s, 0, 1, HALF_S);
	check_last(&s, 4 * HALF_S - 1, 13, 3 * HALF_S);
	check_last(&s, 4 * HALF_S, 24, 5 * HALF_S);
	check_last(&s, 200 * HALF_S, 34, 7 * HALF_S);
	assert_ok(plumb_session_last(&s, 4 * HALF_S, &p));
	assert_true(p->cell_count == 3 && p->cells[2].batch == 3); /* each tells how the shares vary */
	assert_true(p->batch_ns == 1ull << 29);			   /* shorter than a cycle */
	plumb_profile_destroy(p);
	for (uint64_t i = 4; i < 80; i++)
		add_to_cycle(&s, 2 * HALF_S * i, 1);
	engine.stats.elapsed_ns = 159 * HALF_S;
	check_last(&s, 200 * HALF_S, 110, 159 * HALF_S);
	assert_ok(plumb_session_last(&s, 200 * HALF_S, &p));
	assert_true(p->cell_count == 37 && p->cells[36].batch == 36); /* two or three share a batch */
	plumb_profile_destroy(p);
	session_deinit(&s);
}

static void check_between(struct plumb_session *s, uint64_t from_ns, uint64_t to_ns, uint64_t samples,
			  uint64_t begin_ns, uint64_t end_ns)
{
	struct plumb_profile *p;
	struct plumb_profile_info info;
	uint64_t told_from_ns = from_ns, told_to_ns = to_ns;

	assert_ok(plumb_session_between(s, &from_ns, &to_ns, &p));
	assert_true(from_ns == begin_ns && to_ns == end_ns);
	plumb_profile_info(p, &info);
	assert_true(info.samples == samples && info.duration_ns == end_ns - begin_ns);
	plumb_profile_destroy(p);
	assert_ok(plumb_session_between(s, &told_from_ns, &told_to_ns, NULL));
	assert_true(told_from_ns == begin_ns && told_to_ns == end_ns);
}

/* A cycle belongs to the time in which most of it lies: what two times that follow each other have is all there is. */
static void a_time_is_that_of_the_cycles_in_it(void **state)
{
	struct pl_engine engine = {.stats = {.elapsed_ns = 4500}};
	struct plumb_session s;

	session_init(&s, &engine);
	s.ops = &stands;
	add_one_thread(s.profile);
	s.cycles = (struct pl_cycles){.length_ns = 1000, .max = 3};
	for (uint64_t i = 0, samples = 1; i < 5; i++, samples *= 10)
		add_to_cycle(&s, 1000 * i, samples);
	check_between(&s, 0, UINT64_MAX, 1110, 1000, 4000); /* the first has gone, the last has not ended */
	check_between(&s, 1500, 2500, 10, 1000, 2000);
	check_between(&s, 2500, 3501, 1100, 2000, 4000);
	check_between(&s, 1501, 2499, 0, 1501, 1501);
	check_between(&s, 9000, 9999, 0, 9000, 9000);
	check_between(&s, 3000, 1000, 0, 3000, 3000);
	session_deinit(&s);
}

/* @p how: how it comes that sampling is to end. @p ready: whether the sampling thread is. */
static void check_waits_for(void (*how)(struct plumb_session *), bool ready, int turns, int most_turns)
{
	struct pl_engine engine = {.speaks_until = 1000, .ready = ready};
	struct plumb_session s;

	session_init(&s, &engine);
	s.ops = &stands;
	pthread_cond_init(&s.ended_cond, NULL);
	how(&s);
	pl_session_consume(&s);
	assert_true(s.left && s.status.ended);
	assert_in_range(engine.waits, 1000 + turns, 1000 + most_turns);
	assert_code(s.failure, PLUMB_ERR_TIMEOUT);
	pthread_cond_destroy(&s.ended_cond);
	session_deinit(&s);
}

static void check_who_does_not_come_back(void (*how)(struct plumb_session *))
{
	check_waits_for(how, false, 1, 100);
}

static void ask_for_the_end(struct plumb_session *s)
{
	atomic_store(&s->hurry, true);
}

static void be_over_by_now(struct plumb_session *s)
{
	s->options.duration_ns = 1;
}

static void launch_what_has_ended(struct plumb_session *s)
{
	siginfo_t info;

	s->options.launched = true;
	s->pid = fork();
	if (!s->pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOWAIT), 0);
}

static void who_does_not_come_back_is_left_behind_when_the_end_was_asked_for(void **state)
{
	check_who_does_not_come_back(ask_for_the_end);
}

static void who_does_not_come_back_is_left_behind_when_the_time_is_over(void **state)
{
	check_who_does_not_come_back(be_over_by_now);
}

static void who_does_not_come_back_is_left_behind_when_the_program_has_ended(void **state)
{
	check_who_does_not_come_back(launch_what_has_ended);
	wait(NULL);
}

/* As on a machine that has far too much to do; but an end there is. */
static void who_waits_for_a_processor_is_waited_for(void **state)
{
	check_waits_for(ask_for_the_end, true, 500, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_not_older_than_the_samples_they_are_shown_with),
		cmocka_unit_test(a_cycle_that_has_just_begun_has_lasted_no_time),
		cmocka_unit_test(what_has_not_ended_is_in_one_piece_while_the_next_cycle_has_samples_already),
		cmocka_unit_test(a_time_is_that_of_the_cycles_in_it),
		cmocka_unit_test(the_last_time_is_that_of_whole_cycles),
		cmocka_unit_test(who_waits_for_a_processor_is_waited_for),
		cmocka_unit_test(who_does_not_come_back_is_left_behind_when_the_end_was_asked_for),
		cmocka_unit_test(who_does_not_come_back_is_left_behind_when_the_time_is_over),
		cmocka_unit_test(who_does_not_come_back_is_left_behind_when_the_program_has_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
