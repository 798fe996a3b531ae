/* SPDX-License-Identifier: Apache-2.0 */
/* A session as `plumb top` has it, for a day: an engine whose clock runs as fast as it is told to. */
#include "unit.h"

#include <malloc.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <plumb/plumb.h>

#include "engine.h"
#include "profile.h"

#define NS_PER_S     1000000000ull
#define STEP_S	     10
#define MINUTE_S     60ull
#define DAY_S	     86400ull
#define THREADS	     10
#define STACKS	     30
#define EACH	     100 /* samples a second and thread, as one that stands for all of them */
#define CYCLE_NS     (1ull << 29)
#define CYCLES	     1118 /* ten minutes, as top has it */
#define RECENT_S     5
#define RECENT_ENDED (RECENT_S * NS_PER_S / CYCLE_NS)

static atomic_uint_least64_t now_ns;

struct pl_engine {
	uint64_t given_s;
	uint32_t threads[THREADS], stacks[STACKS];
	atomic_bool over;
};

static struct plumb_error *day_probe(const struct pl_engine_options *o, unsigned *can_ret)
{
	*can_ret = 0;
	return NULL;
}

static struct plumb_error *day_open(const struct pl_engine_options *o, struct pl_engine **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? NULL : &pl_err_no_memory;
}

static struct plumb_error *day_start(struct pl_engine *e)
{
	return NULL;
}

static void day_wait(struct pl_engine *e, int timeout_ms)
{
	poll(NULL, 0, timeout_ms);
}

static struct plumb_error *add_stack(struct plumb_profile *p, unsigned i, uint32_t *ret)
{
	char name[] = {'f', (char)('A' + i)};
	struct pl_function f = {.firstline = 1};
	struct pl_location l = {.line = 1};
	struct plumb_error *err = pl_profile_string(p, name, sizeof name, &f.name);

	f.qualname = f.file = f.name;
	err = err ? err : pl_profile_function(p, &f, &l.function);
	uint32_t location;
	err = err ? err : pl_profile_location(p, &l, &location);
	return err ? err : pl_profile_stack(p, 0, location, ret);
}

static struct plumb_error *begin(struct pl_engine *e, struct plumb_profile *p)
{
	const struct pl_process process = {.pid = getpid()};
	struct pl_thread t = {0};
	struct plumb_error *err = pl_profile_process(p, &process, &t.process);

	for (unsigned i = 0; i < THREADS && !err; i++) {
		t.tid = (uint64_t)getpid() + i;
		err = pl_profile_thread(p, &t, &e->threads[i]);
	}
	for (unsigned i = 0; i < STACKS && !err; i++)
		err = add_stack(p, i, &e->stacks[i]);
	return err;
}

/* Each thread has its turn in all stacks, the next one each minute. */
static struct plumb_error *day_take(struct pl_engine *e, struct plumb_profile *p, pl_engine_sample_fn *fn, void *ctx)
{
	uint64_t until_s = atomic_load(&now_ns) / NS_PER_S;
	struct plumb_error *err = e->given_s || !until_s ? NULL : begin(e, p);

	for (; e->given_s < until_s && !err; e->given_s++)
		for (unsigned i = 0; i < THREADS && !err; i++) {
			const struct pl_sample s = {.time_ns = e->given_s * NS_PER_S,
						    .weight_ns = NS_PER_S,
						    .extra = EACH - 1,
						    .thread = e->threads[i],
						    .stack = e->stacks[(e->given_s / MINUTE_S + i) % STACKS]};
			err = fn(ctx, &s);
		}
	return err;
}

static void day_stats(struct pl_engine *e, struct pl_engine_stats *ret)
{
	*ret = (struct pl_engine_stats){
		.ended = atomic_load(&e->over), .found_python = true, .elapsed_ns = atomic_load(&now_ns)};
}

static void day_order(struct pl_engine *e, struct pl_order order)
{
}

static void day_stop(struct pl_engine *e)
{
	atomic_store(&e->over, true);
}

static struct plumb_error *day_take_error(struct pl_engine *e)
{
	return NULL;
}

static void day_close(struct pl_engine *e)
{
	free(e);
}

static const struct pl_engine_ops day = {.name = "day",
					 .probe = day_probe,
					 .open = day_open,
					 .start = day_start,
					 .wait = day_wait,
					 .take = day_take,
					 .stats = day_stats,
					 .order = day_order,
					 .stop = day_stop,
					 .take_error = day_take_error,
					 .close = day_close};
/* Instead of plumb's. */
const struct pl_engine_ops *const pl_engines[] = {&day, NULL};

/* From the beginning of the first of these cycles to now, whole seconds: that is when there are samples. */
static void assert_last(struct plumb_session *s, uint64_t second)
{
	uint64_t open = second * NS_PER_S / CYCLE_NS, first = open > RECENT_ENDED ? open - RECENT_ENDED : 0;
	uint64_t from_s = (first * CYCLE_NS + NS_PER_S - 1) / NS_PER_S;
	struct plumb_profile_info info;
	struct plumb_profile *p;

	assert_ok(plumb_session_last(s, RECENT_S * NS_PER_S, &p));
	plumb_profile_info(p, &info);
	assert_int_equal(info.samples, (second - from_s) * THREADS * EACH);
	plumb_profile_destroy(p);
}

/* All that is kept: ten minutes, up to the cycle that has not ended. */
static void assert_kept(struct plumb_session *s, uint64_t second)
{
	uint64_t from_ns = 0, to_ns = UINT64_MAX, open = second * NS_PER_S / CYCLE_NS;

	assert_ok(plumb_session_between(s, &from_ns, &to_ns, NULL));
	assert_int_equal(to_ns, open * CYCLE_NS);
	assert_int_equal(from_ns, open > CYCLES ? (open - CYCLES) * CYCLE_NS : 0);
}

static void assert_all(struct plumb_session *s, uint64_t second)
{
	struct plumb_profile_info info;
	struct plumb_profile *p;

	assert_ok(plumb_session_snapshot(s, &p));
	plumb_profile_info(p, &info);
	assert_int_equal(info.samples, second * THREADS * EACH);
	assert_int_equal(info.duration_ns, second * NS_PER_S);
	plumb_profile_destroy(p);
}

/* Once all threads have been in all stacks, and the ring is full, what grows is what is known of when they were: from
 * 546 kB after an hour up to 932 kB after nine, when that becomes coarser. */
static void a_day_takes_no_more_than_twice_an_hour(void **state)
{
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;
	struct plumb_session *s;
	struct plumb_result result;
	size_t after_an_hour = 0;

	o.no_recording = true;
	o.cycle_ns = CYCLE_NS;
	o.max_cycles = CYCLES;
	o.max_cycle_stacks = 256u << 10;
	assert_ok(plumb_session_attach(&o, getpid(), &s));
	for (uint64_t second = STEP_S; second <= DAY_S; second += STEP_S) {
		atomic_store(&now_ns, second * NS_PER_S);
		assert_last(s, second);
		assert_kept(s, second);
		if (second % (60 * MINUTE_S))
			continue;
		assert_all(s, second);
		size_t now = mallinfo2().uordblks; /* a sanitizer has its own, and tells nothing of it here */
		after_an_hour = after_an_hour ? after_an_hour : now;
		assert_true(now <= 2 * after_an_hour);
	}
	plumb_session_stop(s);
	assert_ok(plumb_session_finish(s, &result));
	plumb_session_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_day_takes_no_more_than_twice_an_hour),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
