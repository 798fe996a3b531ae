/* SPDX-License-Identifier: Apache-2.0 */
/* Filters, totals, thread rows and stack rows. */
#include "view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stats.h"
#include "support.h"

#define MS 1000000ull

struct scene {
	struct plumb_profile *p;
	uint32_t main, worker, sleeper, stack_a, stack_b;
};

/* A busy main thread, a worker that runs a little, a thread that sleeps all the time. */
static int set_up(void **state)
{
	static struct scene s;
	check(pl_profile_create(&s.p));
	s.main = add_thread(s.p, 1, 10, "MainThread", true);
	s.worker = add_thread(s.p, 1, 11, "worker", false);
	s.sleeper = add_thread(s.p, 1, 12, "", false);
	s.stack_a = add_frame(s.p, 0, "a", "x.py", 1);
	s.stack_b = add_frame(s.p, s.stack_a, "b", "x.py", 2);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = i * 50 * MS;
		add_samples(s.p, s.stack_a, s.main, PL_STATE_ON_CPU | PL_STATE_HAS_GIL, at, 3, MS);
		add_samples(s.p, s.stack_b, s.worker, PL_STATE_ON_CPU, at, i % 2, MS);
		add_samples(s.p, s.stack_b, s.worker, PL_STATE_WANTS_GIL, at, 1, MS);
		add_samples(s.p, s.stack_b, s.sleeper, 0, at, 2, MS);
	}
	const uint32_t threads[] = {s.main, s.worker, s.sleeper};
	for (int i = 0; i < 3; i++)
		s.p->threads[threads[i]].cpu_known = true;
	s.p->threads[s.main].cpu_ns = 60 * MS;
	s.p->threads[s.worker].cpu_ns = 10 * MS;
	*state = &s;
	return 0;
}

static int tear_down(void **state)
{
	pl_profile_destroy(((struct scene *)*state)->p);
	return 0;
}

static void only_threads_that_did_nothing_are_idle(void **state)
{
	struct scene *s = *state;
	assert_false(pl_view_thread_idle(s->p, s->main));
	assert_false(pl_view_thread_idle(s->p, s->worker));
	assert_true(pl_view_thread_idle(s->p, s->sleeper));
	/* A thousandth of the 40 ms it was sampled. */
	s->p->threads[s->sleeper].cpu_ns = 39999;
	assert_true(pl_view_thread_idle(s->p, s->sleeper));
	s->p->threads[s->sleeper].cpu_ns = 40000;
	assert_false(pl_view_thread_idle(s->p, s->sleeper));
}

static void main_and_unknown_threads_are_never_idle(void **state)
{
	struct scene *s = *state;
	s->p->threads[s->main].cpu_ns = 0;
	s->p->threads[s->sleeper].cpu_known = false;
	assert_false(pl_view_thread_idle(s->p, s->main));
	assert_false(pl_view_thread_idle(s->p, s->sleeper));
}

static struct pl_totals totals(const struct plumb_profile *p, const struct pl_filter *f)
{
	struct pl_totals t = {0};
	check(pl_view_totals(p, f, &t));
	uint64_t samples = 0, weight_ns = 0;
	for (uint32_t i = 0; i < p->cell_count; i++) {
		bool passes = pl_view_passes(p, f, &p->cells[i]);
		samples += passes ? p->cells[i].samples : 0;
		weight_ns += passes ? p->cells[i].weight_ns : 0;
	}
	assert_int_equal(t.samples, samples);
	assert_int_equal(t.weight_ns, weight_ns);
	return t;
}

static void main_threads_of_children_can_be_idle(void **state)
{
	struct scene *s = *state;
	uint32_t helper = add_thread(s->p, 2, 20, "MainThread", true); /* its parent is process 1 */
	uint32_t other = add_thread(s->p, 9, 90, "MainThread", true);
	add_samples(s->p, s->stack_a, helper, 0, 0, 20, MS);
	add_samples(s->p, s->stack_a, other, 0, 0, 20, MS);
	assert_false(pl_view_thread_idle(s->p, helper)); /* not known to be */
	s->p->threads[helper].cpu_known = s->p->threads[other].cpu_known = true;
	assert_true(pl_view_thread_idle(s->p, helper));
	assert_false(pl_view_thread_idle(s->p, other));
}

static void processes_are_asked_for_by_name_or_number(void **state)
{
	struct scene *s = *state;
	uint32_t other = add_thread(s->p, 9, 90, "MainThread", true);
	struct pl_filter f = {.idle = PL_IDLE_KEEP, .process_count = 1};
	struct pl_totals all, one, none;
	add_samples(s->p, s->stack_a, other, 0, 0, 20, MS);
	f.processes = (const char *const[]){"app.py"};
	check(pl_view_totals(s->p, &f, &all));
	f.processes = (const char *const[]){"9"};
	check(pl_view_totals(s->p, &f, &one));
	f.processes = (const char *const[]){"90"};
	check(pl_view_totals(s->p, &f, &none));
	assert_int_equal(one.samples, 20);
	assert_int_equal(none.samples, 0);
	assert_true(all.samples > 20);
}

static void idle_threads_are_hidden_and_counted(void **state)
{
	struct scene *s = *state;
	struct pl_totals t = totals(s->p, &(struct pl_filter){.idle = PL_IDLE_HIDE_THREADS});
	assert_int_equal(t.samples, 60 + 10 + 20);
	assert_int_equal(t.threads, 2);
	assert_int_equal(t.idle_threads_hidden, 1);
	assert_int_equal(t.on_cpu, 70);
	assert_int_equal(t.has_gil, 60);
	assert_int_equal(t.wants_gil, 20);
	assert_int_equal(t.by_quality[PL_EXACT], 90);
}

static void keeping_idle_keeps_everything(void **state)
{
	struct scene *s = *state;
	struct pl_totals t = totals(s->p, &(struct pl_filter){.idle = PL_IDLE_KEEP});
	assert_int_equal(t.samples, 130);
	assert_int_equal(t.threads, 3);
	assert_int_equal(t.idle_threads_hidden, 0);
}

static void skipping_idle_samples_keeps_cpu_and_gil(void **state)
{
	struct scene *s = *state;
	struct pl_totals t = totals(s->p, &(struct pl_filter){.idle = PL_IDLE_SKIP_SAMPLES});
	assert_int_equal(t.samples, 70);
	assert_int_equal(t.threads, 2);
	assert_int_equal(t.idle_threads_hidden, 0);
	assert_int_equal(t.wants_gil, 0);
}

static void threads_pass_by_name_or_tid(void **state)
{
	struct scene *s = *state;
	const char *const by_name[] = {"nobody", "worker"}, *const by_tid[] = {"12"}, *const empty[] = {""};
	assert_int_equal(totals(s->p, &(struct pl_filter){.threads = by_name, .thread_count = 2}).samples, 30);
	/* Asked for by name, a sleeping thread is shown. */
	struct pl_totals t = totals(s->p, &(struct pl_filter){.threads = by_tid, .thread_count = 1});
	assert_int_equal(t.samples, 40);
	assert_int_equal(t.idle_threads_hidden, 0);
	/* A thread without a name is not the thread named "". */
	assert_int_equal(totals(s->p, &(struct pl_filter){.threads = empty, .thread_count = 1}).samples, 0);
	assert_int_equal(totals(s->p, &(struct pl_filter){.threads = by_tid, .thread_count = 0}).samples, 0);
}

static bool near(double a, double b)
{
	return a > b - 1e-9 && a < b + 1e-9;
}

static void state_shares_have_the_interval_of_their_batches(void **state)
{
	struct scene *s = *state;
	double hit[PL_BATCHES] = {0}, all[PL_BATCHES] = {0};
	for (uint32_t i = 0; i < s->p->cell_count; i++) {
		const struct pl_cell *c = &s->p->cells[i];
		all[c->batch] += (double)c->samples;
		hit[c->batch] += c->state & PL_STATE_ON_CPU ? (double)c->samples : 0;
	}
	struct pl_totals t = totals(s->p, &(struct pl_filter){.idle = PL_IDLE_KEEP});
	double expected = pl_stats_share_half_width(hit, all, PL_BATCHES);
	assert_true(t.doing.on_cpu.half_width > 0 && near(t.doing.on_cpu.half_width, expected));
}

/* What is not on a CPU waits: the same interval, unless there is something of which nothing is known. */
static void waiting_is_as_certain_as_running(void **state)
{
	struct scene *s = *state;
	struct pl_totals t = totals(s->p, &(struct pl_filter){.idle = PL_IDLE_KEEP});
	assert_true(near(t.doing.waiting.half_width, t.doing.on_cpu.half_width));
	assert_true(t.doing.wants_gil.half_width > 0 && !near(t.doing.wants_gil.half_width, t.doing.on_cpu.half_width));
	assert_true(t.doing.in_gc.half_width > 0 &&
		    t.doing.in_gc.half_width < t.doing.wants_gil.half_width); /* none seen: Wilson's */
	add_samples(s->p, s->stack_a, s->main, PL_STATE_UNKNOWN, 0, 40, MS);
	t = totals(s->p, &(struct pl_filter){.idle = PL_IDLE_KEEP});
	assert_false(near(t.doing.waiting.half_width, t.doing.on_cpu.half_width));
	assert_true(t.doing.unknown.half_width > t.doing.in_gc.half_width);
}

/* Samples that were taken at a lower rate stand for more time, as they do in rows. */
static void what_part_of_the_time_threads_were_in_a_state(void **state)
{
	struct scene *s = *state;
	struct pl_filter all = {.idle = PL_IDLE_KEEP};
	struct pl_totals even = totals(s->p, &all), t;
	uint64_t each = even.weight_ns / 10 * 3;
	double added;

	assert_true(near(even.doing.on_cpu.share, (double)even.on_cpu / (double)even.samples));
	add_samples(s->p, s->stack_a, s->main, PL_STATE_ON_CPU | PL_STATE_IN_GC, 0, 10, each);
	t = totals(s->p, &all);
	added = 10 * (double)each / (double)t.weight_ns;
	assert_int_equal(t.in_gc, 10);
	assert_true(added > 0.7 && near(t.doing.in_gc.share, added));
	assert_true(near(t.doing.on_cpu.share, added + even.doing.on_cpu.share * (1 - added)));
	assert_true(near(t.doing.on_cpu.share + t.doing.waiting.share + t.doing.unknown.share, 1));
	/* But for wall clock weights are no time of what was waited. */
	s->p->meta.mode = PL_MODE_CPU;
	t = totals(s->p, &all);
	assert_true(near(t.doing.in_gc.share, 10.0 / (double)t.samples));
	assert_true(near(t.doing.exception.share, (double)t.exception / (double)t.samples));
}

static void compiled_code_is_counted(void **state)
{
	struct scene *s = *state;
	struct pl_totals t = totals(s->p, &(struct pl_filter){.idle = PL_IDLE_KEEP});
	double none = t.doing.jit.half_width;

	assert_int_equal(t.jit, 0);
	add_samples(s->p, s->stack_a, s->main, PL_STATE_ON_CPU | PL_STATE_JIT, 0, 7, MS);
	t = totals(s->p, &(struct pl_filter){.idle = PL_IDLE_KEEP});
	assert_int_equal(t.jit, 7);
	assert_true(t.doing.jit.half_width > none);
}

/* The share of a process is that of its only function. */
static void processes_have_the_interval_of_their_share(void **state)
{
	struct scene *s = *state;
	uint32_t other = add_thread(s->p, 2, 20, "MainThread", true);
	uint32_t stack = add_frame(s->p, 0, "other", "y.py", 1);
	struct pl_filter f = {.idle = PL_IDLE_KEEP};
	pl_process_rows rows = {0};
	pl_function_rows functions = {0};

	add_samples(s->p, stack, other, PL_STATE_ON_CPU, 500 * MS, 300, MS);
	check(pl_view_processes(s->p, &f, &rows));
	check(pl_view_functions(s->p, &f, &functions));
	assert_int_equal(rows.len, 2);
	assert_int_equal(s->p->processes[rows.data[0].process].pid, 2);
	assert_int_equal(rows.data[0].total.samples, 300);
	assert_int_equal(rows.data[1].total.samples, 130);
	assert_int_equal(functions.data[0].self.samples, 300);
	assert_true(near(rows.data[0].total.share, functions.data[0].self.share));
	assert_true(near(rows.data[0].total.half_width, functions.data[0].self.half_width));
	assert_true(near(rows.data[0].total.half_width, rows.data[1].total.half_width));
	pl_vec_deinit(&rows);
	pl_vec_deinit(&functions);
}

static void an_empty_profile_has_empty_answers(void **state)
{
	struct plumb_profile *p = NULL;
	struct pl_filter f = {0};
	struct pl_totals t = {0};
	pl_thread_rows threads = {0};
	pl_stack_rows stacks = {0};
	pl_function_rows functions = {0};
	pl_tree_rows tree = {0};
	check(pl_profile_create(&p));
	check(pl_view_totals(p, &f, &t));
	check(pl_view_threads(p, &f, &threads));
	check(pl_view_stacks(p, &f, &stacks));
	check(pl_view_functions(p, &f, &functions));
	check(pl_view_tree(p, &f, 0.01, &tree));
	assert_int_equal(t.samples + threads.len + stacks.len + functions.len + tree.len, 0);
	pl_vec_deinit(&threads);
	pl_vec_deinit(&stacks);
	pl_vec_deinit(&functions);
	pl_vec_deinit(&tree);
	pl_profile_destroy(p);
}

static void thread_rows_are_busiest_first_and_mark_the_idle(void **state)
{
	struct scene *s = *state;
	pl_thread_rows rows = {0};
	add_thread(s->p, 1, 99, "never sampled", false);
	check(pl_view_threads(s->p, &(struct pl_filter){0}, &rows));
	assert_int_equal(rows.len, 3);
	assert_int_equal(rows.data[0].thread, s->main);
	assert_int_equal(rows.data[0].samples, 60);
	assert_int_equal(rows.data[0].has_gil, 60);
	assert_int_equal(rows.data[1].thread, s->worker);
	assert_int_equal(rows.data[1].on_cpu, 10);
	assert_int_equal(rows.data[1].wants_gil, 20);
	assert_false(rows.data[1].idle);
	assert_int_equal(rows.data[2].thread, s->sleeper);
	assert_true(rows.data[2].idle);
	assert_int_equal(rows.data[2].weight_ns, 40 * MS);
	pl_vec_deinit(&rows);
}

static void thread_rows_obey_names_and_skipped_samples(void **state)
{
	struct scene *s = *state;
	const char *const names[] = {"worker", "12"};
	pl_thread_rows rows = {0};
	check(pl_view_threads(s->p, &(struct pl_filter){.threads = names, .thread_count = 2}, &rows));
	assert_int_equal(rows.len, 2);
	pl_vec_deinit(&rows);
	check(pl_view_threads(s->p, &(struct pl_filter){.idle = PL_IDLE_SKIP_SAMPLES}, &rows));
	assert_int_equal(rows.len, 2);
	assert_int_equal(rows.data[1].samples, 10);
	pl_vec_deinit(&rows);
}

static void stack_rows_add_up_states_and_batches(void **state)
{
	struct scene *s = *state;
	pl_stack_rows rows = {0};
	check(pl_view_stacks(s->p, &(struct pl_filter){.idle = PL_IDLE_KEEP}, &rows));
	assert_int_equal(rows.len, 3);
	assert_true(rows.data[0].stack == s->stack_a && rows.data[0].samples == 60);
	assert_true(rows.data[1].stack == s->stack_b && rows.data[1].thread == s->worker);
	assert_int_equal(rows.data[1].samples, 30);
	assert_int_equal(rows.data[2].weight_ns, 40 * MS);
	pl_vec_deinit(&rows);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(only_threads_that_did_nothing_are_idle),
		TEST(main_and_unknown_threads_are_never_idle),
		TEST(main_threads_of_children_can_be_idle),
		TEST(processes_are_asked_for_by_name_or_number),
		TEST(idle_threads_are_hidden_and_counted),
		TEST(keeping_idle_keeps_everything),
		TEST(skipping_idle_samples_keeps_cpu_and_gil),
		TEST(threads_pass_by_name_or_tid),
		TEST(state_shares_have_the_interval_of_their_batches),
		TEST(waiting_is_as_certain_as_running),
		TEST(what_part_of_the_time_threads_were_in_a_state),
		TEST(compiled_code_is_counted),
		TEST(processes_have_the_interval_of_their_share),
		TEST(an_empty_profile_has_empty_answers),
		TEST(thread_rows_are_busiest_first_and_mark_the_idle),
		TEST(thread_rows_obey_names_and_skipped_samples),
		TEST(stack_rows_add_up_states_and_batches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
