/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>

#include "clock.h"
#include "late_stack.h"
#include "native_reader.h"
#include "prove.h"
#include "python.h"
#include "scripts.h"
#include "share.h"
#include "stage.h"
#include "thread_state.h"
#include "thread_sampler.h"

#define FOR_LONG_NS 1000000 /* a burst that may be stopped */
#define WHILE_NS    3000000000ull
#define AT_LEAST    20
#define IN_A_ROW    50 /* without giving the CPU away */

struct scene {
	struct python p;
	struct pl_thread_sampler thread;
	struct pl_stopper stopper;
	struct pl_reading reading;
};

static enum pl_stop_policy policy;
static struct pl_beside *beside;

/* As the sampling thread does between two samples. */
static void settle(struct scene *s)
{
	await (pl_stopper_settle(&s->stopper))
		continue;
}

static void with_each(const char *script, void (*check)(struct scene *s))
{
	const char *exe;
	size_t tried = 0;

	for (size_t i = 0; (exe = python_exe(i)); i++) {
		struct scene s = {
			.stopper = {.policy = policy, .beside = beside, .started_ns = pl_clock_monotonic_ns()}};
		char line[16];
		python_start(&s.p, exe, script);
		python_hear(&s.p, line, sizeof line);
		if (python_attach(&s.p)) {
			pl_thread_sampler_init(&s.thread, &s.p.reader, s.p.pid, s.p.pid, &s.p.main, &s.p.interp);
			check(&s);
			settle(&s);
			pl_thread_sampler_deinit(&s.thread);
			pl_stopper_deinit(&s.stopper);
			tried++;
		}
		python_end(&s.p);
	}
	assert_true(tried > 0);
}

static enum pl_take_result sample(struct scene *s, bool running_only, struct pl_raw_sample *ret)
{
	settle(s);
	memset(&s->reading, 0xa5, sizeof s->reading); /* what is not read must not be used */
	memset(ret, 0xa5, sizeof *ret);
	return pl_thread_sampler_take(&s->thread, &s->p.reader, &s->stopper, running_only, &s->reading, ret);
}

/* The kernel counts how often it got a CPU and how often it left one. */
static bool has_cpu(const struct scene *s, uint64_t *runs)
{
	struct pl_run_counters counters;
	struct pl_thread_state st;

	assert_int_equal(pl_thread_clock_counters(&s->thread.clock, &counters), PL_CLOCK_OK);
	pl_thread_state_read(s->p.pid, s->p.pid, &st);
	*runs = counters.runs;
	return counters.runs > st.ends;
}

/* A thread shows as sleeping a moment before it has left its CPU. */
static void await_blocked(const struct scene *s)
{
	uint64_t runs;

	await (stage_state(s->p.pid, s->p.pid) == 'S' && !has_cpu(s, &runs))
		continue;
}

static void check_blocked(struct scene *s)
{
	struct pl_raw_sample a;

	await_blocked(s);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(sample(s, false, &a), PL_TAKE_SAMPLE);
		assert_int_equal(a.quality, PL_EXACT);
		assert_int_equal(a.marker, PL_MARKER_NONE);
		assert_int_equal(a.state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN), 0);
		assert_chain(&s->p, a.node, blocking_chain, 4);
		assert_true(s->thread.still);
		uint64_t readings = s->p.reader.tick;
		uint32_t node = a.node;
		for (int i = 0; i < 100; i++) { /* and is not read again */
			assert_int_equal(sample(s, false, &a), PL_TAKE_SAMPLE);
			assert_int_equal(a.quality, PL_EXACT);
			assert_int_equal(a.node, node);
		}
		assert_int_equal(s->p.reader.tick, readings);
		assert_int_equal(sample(s, true, &a), PL_TAKE_NOTHING);
		struct pl_run_counters before = s->thread.counters, now = before;
		python_say(&s->p, "x");
		await (now.runs != before.runs)
			assert_int_equal(pl_thread_clock_counters(&s->thread.clock, &now), PL_CLOCK_OK);
		await_blocked(s);
		assert_int_equal(sample(s, false, &a), PL_TAKE_SAMPLE);
		assert_true(s->p.reader.tick > readings); /* it has run: read again */
	}
	assert_int_equal(s->stopper.stops, 0);
	assert_int_equal(s->stopper.stopped_ns, 0);
}

static void a_blocked_thread_is_exact_never_stopped_and_read_once(void **state)
{
	static const enum pl_stop_policy policies[] = {PL_STOP_AUTO, PL_STOP_NEVER, PL_STOP_ALWAYS};

	for (size_t i = 0; i < 3; i++) {
		policy = policies[i];
		with_each(blocking_script, check_blocked);
	}
}

static bool calls(const char *const pairs[][2], size_t n, const char *from, const char *to)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(pairs[i][0], from) == 0 && strcmp(pairs[i][1], to) == 0)
			return true;
	return false;
}

/* A stack that could have been, from the root; it need not reach the leaf. */
static void assert_possible_of(struct scene *s, const struct pl_raw_sample *a, const char *const pairs[][2], size_t n)
{
	struct python_chain c;

	python_chain(&s->p, a->node, &c);
	bool ok = c.depth == 0 ? a->quality == PL_PARTIAL : strcmp(c.names[0], "<module>") == 0;
	for (size_t i = 1; i < c.depth; i++)
		ok = ok && calls(pairs, n, c.names[i - 1], c.names[i]);
	for (size_t i = 0; !ok && i < c.depth; i++)
		print_message("%s: quality %d [%zu] %s\n", s->p.exe, a->quality, i, c.names[i]);
	assert_true(ok);
}

static void assert_possible(struct scene *s, const struct pl_raw_sample *a)
{
	assert_possible_of(s, a, churning_calls, sizeof churning_calls / sizeof *churning_calls);
}

struct tally {
	size_t of[8], lost, all;
	size_t allowed, allowed_sure; /* when it might have been stopped */
};

/* Where the machine is busy as many as come in some seconds will do: what they prove is a matter of statistics. */
static uint64_t in_a_while(void)
{
	return pl_clock_monotonic_ns() + WHILE_NS;
}

static bool enough(size_t done, size_t wanted, uint64_t until)
{
	return done >= wanted || (done >= AT_LEAST && pl_clock_monotonic_ns() > until);
}

static bool is_sure(const struct pl_raw_sample *a)
{
	return a->quality == PL_EXACT || a->quality == PL_STOPPED;
}

/* Samples of an unstable thread: all that claims to be true is possible. */
static struct tally sample_many(struct scene *s, size_t n)
{
	struct tally t = {0};

	for (uint64_t until = in_a_while(); !enough(t.all, n, until); t.all++) {
		struct pl_raw_sample a;
		settle(s);
		bool allowed = pl_stopper_may(&s->stopper, pl_clock_monotonic_ns());
		enum pl_take_result r = sample(s, false, &a);
		if (r == PL_TAKE_UNREADABLE) {
			t.lost++;
			continue;
		}
		assert_int_equal(r, PL_TAKE_SAMPLE);
		assert_true(a.quality < 8);
		t.of[a.quality]++;
		t.allowed += allowed;
		t.allowed_sure += allowed && is_sure(&a);
		assert_int_equal(a.quality == PL_PARTIAL, a.marker == PL_MARKER_MOVING);
		if (a.quality != PL_DOUBTFUL)
			assert_possible(s, &a);
	}
	print_message("%s: exact %zu, stopped %zu, doubtful %zu, partial %zu, lost %zu\n", s->p.exe, t.of[PL_EXACT],
		      t.of[PL_STOPPED], t.of[PL_DOUBTFUL], t.of[PL_PARTIAL], t.lost);
	return t;
}

static void check_churning(struct scene *s)
{
	s->thread.bursts.mean_ns = FOR_LONG_NS;
	struct tally t = sample_many(s, 2020);

	/* For the others the budget does not allow it: sooner where the machine keeps us from letting go in time. */
	assert_true(t.allowed > 0);
	assert_share("sure", t.allowed_sure, t.allowed, 0.98);
	assert_share("readable", t.all - t.lost, t.all, 0.995);
	assert_true(s->stopper.stops > 0 && s->stopper.stopped_ns > 0);
	assert_int_equal(s->stopper.refused_until_ns, 0);
	settle(s);
	assert_int_equal(stage_tracer(s->p.pid, s->p.pid), 0);
}

static void a_stop_that_does_not_come_about_is_looked_at_less_and_less_often(void **state)
{
	struct pl_stopper s = {0};
	uint64_t last = 0, wait = 0;

	assert_true(pl_vec_push(&s.late, ((struct pl_pause){.asked_ns = 1000})));
	for (uint64_t now = 1000, looks = 0; now < 10000000000ull; now += wait, looks++) {
		wait = pl_stopper_patience_ns(&s, now);
		assert_true(wait >= last && wait >= 100000 && wait <= 20000000);
		assert_true(wait == 100000 || wait <= (now - 1000) / 8);
		assert_true(looks < 600); /* in ten seconds */
		last = wait;
	}
	assert_int_equal(last, 20000000);
	assert_true(pl_vec_push(&s.late, ((struct pl_pause){.asked_ns = 9999000000ull})));
	assert_true(pl_stopper_patience_ns(&s, 10000000000ull) <= 125000); /* the latest decides */
	pl_stopper_deinit(&s);
}

static void a_churning_thread_is_stopped_and_never_shown_as_it_could_not_be(void **state)
{
	policy = PL_STOP_AUTO;
	with_each(churning_script, check_churning);
}

static void check_always(struct scene *s)
{
	s->thread.bursts.mean_ns = FOR_LONG_NS; /* it runs all the time, though it may have begun only now */
	struct tally t = sample_many(s, 1000);

	/* On its way out of a stop it stands still and need not be stopped again; so does one that was without the GIL
	 * when it lost its CPU. */
	assert_share("sure", t.of[PL_EXACT] + t.of[PL_STOPPED] + t.lost, t.all, 0.995);
	assert_share("readable", t.all - t.lost, t.all, 0.995);
	assert_int_equal(t.of[PL_DOUBTFUL], 0);
	assert_true(s->stopper.stops >= t.of[PL_STOPPED]);
}

static void with_stop_always_each_sample_of_a_running_thread_is_a_stop(void **state)
{
	policy = PL_STOP_ALWAYS;
	with_each(churning_script, check_always);
}

/* It and we on one CPU from now on; what was allowed before is for the end. */
static cpu_set_t share_a_cpu(const struct scene *s)
{
	cpu_set_t before, one;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &before) && CPU_COUNT(&one) == 0)
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
	sched_setaffinity(s->p.pid, sizeof one, &one);
	return before;
}

/* On a busy machine a thread that was told to stop may wait for milliseconds until it has a CPU to do so. Here it waits
 * for ours. */
static void begin_late_stop(struct scene *s)
{
	struct pl_pause pause = {.pid = s->p.pid, .tid = s->p.pid, .since_ns = pl_clock_monotonic_ns()};

	assert_int_equal(ptrace(PTRACE_SEIZE, s->p.pid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, s->p.pid, 0, 0), 0);
	assert_true(pl_vec_push(&s->stopper.late, pause));
}

static void check_held(struct scene *s)
{
	cpu_set_t before = share_a_cpu(s);
	size_t held = 0, sure = 0, all = 0;
	struct pl_raw_sample a;

	s->thread.bursts.mean_ns = FOR_LONG_NS;
	assert_int_equal(sample(s, false, &a), PL_TAKE_SAMPLE);
	for (uint64_t until = in_a_while(); !enough(all, 200, until); all++) {
		uint64_t stops = s->stopper.stops;
		settle(s);
		begin_late_stop(s);
		assert_int_equal(pl_thread_sampler_take(&s->thread, &s->p.reader, &s->stopper, false, &s->reading, &a),
				 PL_TAKE_SAMPLE);
		assert_int_equal(s->stopper.stops, stops);
		assert_possible(s, &a);
		held += a.quality == PL_STOPPED;
		/* Once it has stopped it is blocked as any other. */
		sure += is_sure(&a);
	}
	sched_setaffinity(0, sizeof before, &before);
	print_message("%s: held %zu times of %zu, sure %zu times\n", s->p.exe, held, all, sure);
	assert_true(held > 0);
	assert_share("sure", sure, all, 0.96); /* a few stand between the steps that link a frame */
}

static void a_thread_whose_stop_is_still_to_come_is_sampled_as_it_stands(void **state)
{
	policy = PL_STOP_ALWAYS;
	with_each(churning_script, check_held);
}

/* ---- a stop that comes late tells the native frames -------------------------------------------------------------- */

static const struct pl_known_code *code_of(const struct scene *s, uint32_t node)
{
	return s->p.tables.codes.known.data[s->p.tables.trie.nodes.data[node].code];
}

static uint32_t parent_of(const struct scene *s, uint32_t node)
{
	return s->p.tables.trie.nodes.data[node].parent;
}

/* The same frame of Python: its function, and the instruction. */
static bool is_same_frame(const struct scene *s, uint32_t a, uint32_t b)
{
	const struct pl_node *nodes = s->p.tables.trie.nodes.data;

	return a && b && nodes[a].code == nodes[b].code && nodes[a].offset == nodes[b].offset;
}

/* From @p node outwards: the next one that is of Python, or 0. */
static uint32_t python_from(const struct scene *s, uint32_t node, size_t *natives)
{
	for (; node && code_of(s, node)->is_native; node = parent_of(s, node))
		++*natives;
	return node;
}

/* The frames of Python of both are the same, each at the same instruction. How many native ones @p whole has. */
static size_t natives_of(const struct scene *s, uint32_t python, uint32_t whole)
{
	size_t natives = 0;

	for (whole = python_from(s, whole, &natives); whole || python; python = parent_of(s, python)) {
		assert_true(is_same_frame(s, python, whole));
		whole = python_from(s, parent_of(s, whole), &natives);
	}
	return natives;
}

static void begin_native(struct scene *s)
{
	struct pl_reader *r = &s->p.reader;

	s->thread.bursts.mean_ns = FOR_LONG_NS;
	r->native_frames = true;
	assert_ok(pl_native_reader_create(s->p.pid, r->mem, &r->py, &r->native));
}

static void end_native(struct scene *s)
{
	pl_native_reader_destroy(s->p.reader.native);
	s->p.reader.native = NULL;
}

static bool take_due(struct scene *s, struct pl_raw_sample *ret)
{
	return pl_thread_sampler_take(&s->thread, &s->p.reader, &s->stopper, false, &s->reading, ret) ==
		       PL_TAKE_SAMPLE &&
	       pl_late_stack_is_due(&s->thread, &s->stopper, ret);
}

static void come(struct scene *s, struct pl_late_stack *ret)
{
	await (pl_stopper_has_come(&s->stopper, s->p.pid))
		continue;
	pl_late_stack_read(ret, &s->thread, &s->p.reader, &s->stopper);
	settle(s);
	pl_late_stack_make(ret, &s->thread, &s->p.reader);
}

/* Until it gets a CPU again it stands where it stood, and is not stopped for that. */
static bool check_holds(struct scene *s, const struct pl_raw_sample *whole)
{
	uint64_t runs = s->thread.counters.runs, stops = s->stopper.stops;
	struct pl_run_counters after;
	struct pl_raw_sample a;

	enum pl_take_result r = pl_thread_sampler_take(&s->thread, &s->p.reader, &s->stopper, false, &s->reading, &a);
	assert_int_equal(pl_thread_clock_counters(&s->thread.clock, &after), PL_CLOCK_OK);
	if (after.runs != runs)
		return false;
	assert_int_equal(r, PL_TAKE_SAMPLE);
	assert_int_equal(s->stopper.stops, stops);
	assert_true(a.node == whole->node && a.quality == PL_STOPPED && !a.native_untold);
	return true;
}

/* Two ticks between the question and the stop: both get the native frames of the stop, and keep their Python frames. */
static bool check_kept_one(struct scene *s, size_t *held)
{
	struct pl_raw_sample first, second;
	struct pl_late_stack late;

	settle(s);
	s->thread.stood = false; /* else nothing is asked */
	begin_late_stop(s);
	bool due = take_due(s, &first) && take_due(s, &second);
	come(s, &late);
	if (!due || !late.whole)
		return false;
	assert_int_equal(first.node, second.node);
	uint32_t python = first.node;
	assert_true(pl_late_stack_give(&late, &first) && pl_late_stack_give(&late, &second));
	assert_int_equal(first.node, second.node);
	assert_true((first.state & PL_STATE_ON_CPU) && first.quality == PL_STOPPED);
	if (first.native_untold)
		return false;
	assert_true(natives_of(s, python, first.node) > 0);
	*held += check_holds(s, &first);
	return true;
}

static void check_kept(struct scene *s)
{
	cpu_set_t before = share_a_cpu(s);
	size_t told = 0, held = 0, all = 0;

	begin_native(s);
	/* When it is let go it waits for our CPU until we sleep. */
	assert_int_equal(sched_setscheduler(s->p.pid, SCHED_BATCH, &(struct sched_param){0}), 0);
	for (uint64_t until = in_a_while(); !enough(all, 100, until); all++)
		told += check_kept_one(s, &held);
	sched_setaffinity(0, sizeof before, &before);
	print_message("%s: %zu of %zu stops that came late told native frames, %zu held for longer\n", s->p.exe, told,
		      all, held);
	assert_true(told > 0 && held > 0);
	end_native(s);
}

static void samples_of_a_stop_to_come_get_the_native_frames_that_it_tells(void **state)
{
	policy = PL_STOP_ALWAYS;
	with_each(churning_script, check_kept);
}

/* The thread has run since @p s was taken. */
static void samples_of_another_moment_get_nothing_of_a_late_stop(void **state)
{
	const struct pl_late_stack late = {.whole = true,
					   .python = {.node = 7, .quality = PL_STOPPED, .native_untold = true},
					   .all = {.node = 9, .quality = PL_STOPPED}};
	const struct pl_raw_sample other = {.node = 8, .quality = PL_STOPPED, .native_untold = true};
	struct pl_raw_sample s = other;

	assert_false(pl_late_stack_give(&late, &s));
	assert_memory_equal(&s, &other, sizeof s);
	s.node = 7;
	s.quality = PL_PARTIAL;
	assert_false(pl_late_stack_give(&late, &s));
	assert_true(s.node == 7 && s.native_untold);
	s.quality = PL_STOPPED;
	assert_true(pl_late_stack_give(&late, &s));
	assert_true(s.node == 9 && !s.native_untold);
}

/* To the kernel it is blocked: it stands because of us. */
static void check_come(struct scene *s)
{
	struct pl_late_stack late;
	struct pl_raw_sample a;
	uint64_t fp;
	int whole = 0;

	begin_native(s);
	for (int i = 0; i < AT_LEAST; i++) {
		settle(s);
		begin_late_stop(s);
		await (pl_thread_clock_activity(&s->thread.clock, NULL) == PL_ACTIVITY_BLOCKED)
			continue;
		assert_int_equal(pl_thread_sampler_take(&s->thread, &s->p.reader, &s->stopper, false, &s->reading, &a),
				 PL_TAKE_SAMPLE);
		assert_true(a.state & PL_STATE_ON_CPU);
		pl_late_stack_read(&late, &s->thread, &s->p.reader, &s->stopper);
		if (!late.whole)
			continue;
		assert_true(pl_register_get(&s->p.reader.native->taken.regs, pl_unwind_x86_64.fp, &fp));
		whole++;
	}
	assert_true(whole > 0);
	end_native(s);
}

static void one_that_has_come_to_its_stop_meanwhile_runs_and_all_its_registers_are_known(void **state)
{
	policy = PL_STOP_ALWAYS;
	with_each(churning_script, check_come);
}

/* Steady readings of a thread that was not running do not count. */
static void become_unstable(struct scene *s)
{
	s->thread.unstable = true;
	s->thread.steady_run = 0;
}

/* A sample of a thread that had a CPU all the while: one that waits for a CPU stands still. */
static void sample_unstable(struct scene *s, struct tally *t)
{
	struct pl_raw_sample a;
	uint64_t before, after;
	bool had = has_cpu(s, &before);
	enum pl_take_result r = sample(s, false, &a);

	if (!has_cpu(s, &after) || !had || before != after) {
		become_unstable(s);
		return;
	}
	t->all++;
	t->lost += r == PL_TAKE_UNREADABLE;
	if (r == PL_TAKE_SAMPLE)
		t->of[a.quality]++;
}

static struct tally sample_many_unstable(struct scene *s)
{
	struct tally t = {0};
	uint64_t until = in_a_while();

	await (t.of[PL_PARTIAL] > 0 && enough(t.all, 2000, until))
		for (int i = 0; i < IN_A_ROW; i++)
			sample_unstable(s, &t);
	print_message("%s: of %zu unstable exact %zu, doubtful %zu, partial %zu, lost %zu\n", s->p.exe, t.all,
		      t.of[PL_EXACT], t.of[PL_DOUBTFUL], t.of[PL_PARTIAL], t.lost);
	return t;
}

static void check_never(struct scene *s)
{
	struct tally t = sample_many(s, 500), unstable = sample_many_unstable(s);

	assert_share("readable", t.all - t.lost, t.all, 0.995);
	/* What is steady by chance is not believed. */
	assert_share("not exact", unstable.all - unstable.of[PL_EXACT], unstable.all, 0.995);
	assert_int_equal(s->stopper.stops, 0);
	assert_int_equal(t.of[PL_STOPPED] + unstable.of[PL_STOPPED], 0);
}

static void without_stops_a_churning_thread_is_doubtful_or_partial(void **state)
{
	policy = PL_STOP_NEVER;
	with_each(churning_script, check_never);
}

static void check_beside(struct scene *s)
{
	s->stopper.started_ns = 0; /* the budget is not what is tested */
	struct tally t = sample_many(s, 1000);

	assert_share("sure", t.of[PL_EXACT], t.all, 0.95);
	assert_share("readable", t.all - t.lost, t.all, 0.995);
	assert_int_equal(s->stopper.stops, 0);
}

static void beside_a_churning_thread_it_is_proved_without_a_stop(void **state)
{
	struct pl_beside here = {0};

	pl_beside_init(&here);
	beside = &here;
	policy = PL_STOP_NEVER;
	with_each(churning_script, check_beside);
	pl_beside_end(&here);
	beside = NULL;
}

/* Whether it counts as unstable behind many steady readings, between which it has run each time. */
static bool unstable_behind_steady_readings(int our_cpu)
{
	struct pl_thread_sampler thread = {.unstable = true};
	struct pl_beside here = {.cpu = our_cpu};
	struct pl_stopper stopper = {.beside = &here};
	struct pl_attempt a = {.thread = &thread, .stopper = &stopper};

	for (thread.counters.run_ns = 1; thread.counters.run_ns <= PL_STABLE_AFTER; thread.counters.run_ns++)
		pl_attempt_note_steadiness(&a, &(struct pl_reading){.steady = true});
	return thread.unstable;
}

static void what_stands_still_because_we_have_its_cpu_is_not_taken_for_stable(void **state)
{
	assert_true(unstable_behind_steady_readings(0));
	assert_false(unstable_behind_steady_readings(PL_BESIDE_NOBODY));
}

/* It has a processor on which we may not run. */
static void check_apart(struct scene *s)
{
	cpu_set_t ours, its = {0};

	assert_int_equal(sched_getaffinity(0, sizeof ours, &ours), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&its) == 0; cpu++)
		if (CPU_ISSET(cpu, &ours))
			CPU_SET(cpu, &its);
	CPU_XOR(&ours, &ours, &its);
	assert_int_equal(sched_setaffinity(s->p.pid, sizeof its, &its), 0);
	assert_int_equal(sched_setaffinity(0, sizeof ours, &ours), 0);
	pl_beside_init(beside);
	assert_int_equal(sample_many_unstable(s).of[PL_STOPPED], 0);
	pl_beside_end(beside);
	CPU_OR(&ours, &ours, &its);
	assert_int_equal(sched_setaffinity(0, sizeof ours, &ours), 0);
}

static void where_it_runs_apart_from_us_it_is_doubtful_or_partial(void **state)
{
	struct pl_beside here = {0};
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
	if (CPU_COUNT(&cpus) < 2) {
		print_message("with one processor there is no other\n");
		skip();
	}
	beside = &here;
	policy = PL_STOP_NEVER;
	with_each(churning_script, check_apart);
	beside = NULL;
}

static pl_addr innermost(const struct scene *s)
{
	pl_addr frame = 0;

	assert_ok(pl_tstate_frame(pl_mem_live_mem(s->p.live), &s->p.py, s->thread.stack.tstate, &frame));
	return frame;
}

/* One that waits for a CPU, or was lucky, tells nothing. */
static void sample_hopping(struct scene *s, size_t *partial, size_t *bare)
{
	struct pl_raw_sample a;
	pl_addr before = innermost(s);

	assert_int_equal(sample(s, false, &a), PL_TAKE_SAMPLE);
	if (a.quality != PL_PARTIAL || innermost(s) == before)
		return;
	assert_possible_of(s, &a, hopping_calls, sizeof hopping_calls / sizeof *hopping_calls);
	++*partial;
	*bare += a.node == 0;
}

static void check_outer(struct scene *s)
{
	size_t partial = 0, bare = 0;
	uint64_t until = in_a_while();

	await (enough(partial, 300, until))
		for (int i = 0; i < IN_A_ROW; i++)
			sample_hopping(s, &partial, &bare);
	print_message("%s: %zu partial, %zu of them bare\n", s->p.exe, partial, bare);
	assert_share("not bare", partial - bare, partial, 0.9);
}

static void of_a_stack_that_changes_all_the_time_the_outer_part_is_known(void **state)
{
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
	if (CPU_COUNT(&cpus) < 2) {
		print_message("on one processor it stands still while it is read\n");
		skip();
	}
	policy = PL_STOP_NEVER;
	with_each(hopping_script, check_outer);
}

/* Whenever we wake it has to leave the CPU, after some microseconds: but it does not block. */
static void check_pushed_off(struct scene *s)
{
	cpu_set_t before = share_a_cpu(s);
	size_t sure = 0, all = 0;

	s->thread.bursts.mean_ns = FOR_LONG_NS;
	for (uint64_t until = in_a_while(); !enough(all, 500, until); all++) {
		struct pl_raw_sample a;
		assert_int_equal(sample(s, false, &a), PL_TAKE_SAMPLE);
		sure += is_sure(&a);
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	sched_setaffinity(0, sizeof before, &before);
	print_message("%s: %zu of %zu sure\n", s->p.exe, sure, all);
	assert_share("sure", sure, all, 0.99);
}

static void a_thread_that_is_often_pushed_off_its_cpu_is_stopped_all_the_same(void **state)
{
	policy = PL_STOP_ALWAYS;
	with_each(churning_script, check_pushed_off);
}

/* On one CPU with us it runs only when we do not: it has proved nothing by standing still. */
static void check_starved(struct scene *s)
{
	cpu_set_t cpus = share_a_cpu(s);
	uint64_t runs = 0, before, after;

	for (int stood = 0; stood < 300;) {
		struct pl_raw_sample a;
		bool had = has_cpu(s, &before);
		(void)!sample(s, false, &a);
		bool has = has_cpu(s, &after), ran = had || has || before != after || runs != after;
		if (ran)
			become_unstable(s);
		assert_true(s->thread.unstable && s->thread.steady_run <= 1); /* however long it stands: once */
		stood += !ran;
		runs = after;
	}
	sched_setaffinity(0, sizeof cpus, &cpus);
}

static void a_moving_thread_that_waits_for_a_cpu_does_not_become_stable(void **state)
{
	policy = PL_STOP_NEVER;
	with_each(churning_script, check_starved);
}

static void check_refused(struct scene *s)
{
	s->stopper.refused_until_ns = UINT64_MAX;
	struct tally t = sample_many(s, 500);
	assert_int_equal(s->stopper.stops, 0);
	assert_int_equal(t.of[PL_STOPPED], 0);
}

static void where_stops_are_refused_nothing_is_made_up(void **state)
{
	policy = PL_STOP_ALWAYS;
	with_each(churning_script, check_refused);
	policy = PL_STOP_AUTO;
	with_each(churning_script, check_refused);
}

static void check_budget(struct scene *s)
{
	s->stopper.stopped_ns = UINT64_MAX / 4000; /* far more than it has lived */
	struct tally t = sample_many(s, 200);
	assert_int_equal(s->stopper.stops, 0);
	assert_int_equal(t.of[PL_STOPPED], 0);
}

static void beyond_the_budget_nothing_is_stopped(void **state)
{
	policy = PL_STOP_AUTO;
	with_each(churning_script, check_budget);
}

static void check_stable(struct scene *s)
{
	struct pl_raw_sample a;
	size_t exact = 0;

	await (!s->thread.unstable)
		(void)!sample(s, false, &a);
	uint64_t stops = s->stopper.stops;
	for (int i = 0; i < 400; i++) {
		assert_int_equal(sample(s, false, &a), PL_TAKE_SAMPLE);
		exact += a.quality == PL_EXACT;
		assert_chain(&s->p, a.node, spinning_chain, 3);
		assert_true(a.state & PL_STATE_ON_CPU);
	}
	print_message("%s: exact %zu of 400, stops %zu, late %zu, unstable %d\n", s->p.exe, exact,
		      (size_t)(s->stopper.stops - stops), s->stopper.late.len, s->thread.unstable);
	assert_share("exact", exact, 400, 0.97);
	assert_share("not stopped", 400 - (size_t)(s->stopper.stops - stops), 400, 0.97);
}

static void a_stable_thread_is_exact_without_stops(void **state)
{
	policy = PL_STOP_AUTO;
	with_each(spinning_script, check_stable);
}

static void assert_without_python(struct scene *s)
{
	struct pl_raw_sample a;

	for (int i = 0; i < 100; i++) {
		assert_int_equal(sample(s, false, &a), PL_TAKE_SAMPLE);
		assert_true(a.quality == PL_EXACT && a.node == 0 && a.marker == PL_MARKER_NO_FRAME);
		assert_int_equal(a.state & ~PL_STATE_ON_CPU, 0);
	}
}

/* The words that tell are as another's: of a stack that is steady, nothing else keeps it from being believed. */
static void check_ended_state(struct scene *s)
{
	struct pl_raw_sample a;

	await (!s->thread.unstable)
		(void)!sample(s, false, &a);
	s->thread.stack.thread_id ^= 1;
	assert_without_python(s);
	s->thread.stack.thread_id ^= 1;
	s->thread.stack.interp.addr ^= 8;
	assert_without_python(s);
	s->thread.stack.interp.addr ^= 8;
}

static void a_state_that_has_ended_has_no_frames_and_lends_none(void **state)
{
	policy = PL_STOP_NEVER;
	with_each(spinning_script, check_ended_state);
}

static void check_end(struct scene *s)
{
	struct pl_raw_sample a;

	sample_many(s, 10);
	kill(s->p.pid, SIGKILL);
	assert_true(stage_ended(s->p.pid));
	for (int i = 0; i < 5; i++) {
		enum pl_take_result r = sample(s, false, &a);
		assert_true(r == PL_TAKE_GONE || r == PL_TAKE_EXITED);
	}
}

static void a_target_that_has_ended_gives_no_samples(void **state)
{
	policy = PL_STOP_AUTO;
	with_each(churning_script, check_end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_blocked_thread_is_exact_never_stopped_and_read_once),
		cmocka_unit_test(of_a_stack_that_changes_all_the_time_the_outer_part_is_known),
		cmocka_unit_test(a_stop_that_does_not_come_about_is_looked_at_less_and_less_often),
		cmocka_unit_test(a_churning_thread_is_stopped_and_never_shown_as_it_could_not_be),
		cmocka_unit_test(with_stop_always_each_sample_of_a_running_thread_is_a_stop),
		cmocka_unit_test(a_thread_that_is_often_pushed_off_its_cpu_is_stopped_all_the_same),
		cmocka_unit_test(a_thread_whose_stop_is_still_to_come_is_sampled_as_it_stands),
		cmocka_unit_test(samples_of_a_stop_to_come_get_the_native_frames_that_it_tells),
		cmocka_unit_test(samples_of_another_moment_get_nothing_of_a_late_stop),
		cmocka_unit_test(one_that_has_come_to_its_stop_meanwhile_runs_and_all_its_registers_are_known),
		cmocka_unit_test(without_stops_a_churning_thread_is_doubtful_or_partial),
		cmocka_unit_test(beside_a_churning_thread_it_is_proved_without_a_stop),
		cmocka_unit_test(what_stands_still_because_we_have_its_cpu_is_not_taken_for_stable),
		cmocka_unit_test(where_it_runs_apart_from_us_it_is_doubtful_or_partial),
		cmocka_unit_test(a_moving_thread_that_waits_for_a_cpu_does_not_become_stable),
		cmocka_unit_test(where_stops_are_refused_nothing_is_made_up),
		cmocka_unit_test(beyond_the_budget_nothing_is_stopped),
		cmocka_unit_test(a_stable_thread_is_exact_without_stops),
		cmocka_unit_test(a_state_that_has_ended_has_no_frames_and_lends_none),
		cmocka_unit_test(a_target_that_has_ended_gives_no_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
