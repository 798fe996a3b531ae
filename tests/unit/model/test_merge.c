/* SPDX-License-Identifier: Apache-2.0 */
/* Adding profiles: in any order, in any grouping, nothing lost, nothing mixed up. */
#include "profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#define ROUNDS 20

/* Sum of the random profiles with these seeds, from left to right. */
static struct plumb_profile *sum_of(const uint64_t *seeds, size_t n)
{
	struct plumb_profile *sum = random_profile(seeds[0], 300);
	for (size_t i = 1; i < n; i++) {
		struct plumb_profile *p = random_profile(seeds[i], 200 + 100 * (unsigned)(seeds[i] % 5));
		check(pl_profile_merge(sum, p));
		pl_profile_destroy(p);
	}
	return sum;
}

static void order_does_not_matter(void **state)
{
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct plumb_profile *a = random_profile(i, 400), *b = random_profile(1000 + i, 200);
		struct plumb_profile *c = random_profile(i, 400), *d = random_profile(1000 + i, 200);
		check(pl_profile_merge(a, b));
		check(pl_profile_merge(d, c));
		assert_same_profile(a, d);
		pl_profile_destroy(a);
		pl_profile_destroy(b);
		pl_profile_destroy(c);
		pl_profile_destroy(d);
	}
}

static void grouping_does_not_matter(void **state)
{
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		const uint64_t left[] = {i, 100 + i, 200 + i}, right[] = {100 + i, 200 + i};
		struct plumb_profile *ab_c = sum_of(left, 3), *a_bc = random_profile(i, 300);
		struct plumb_profile *bc = random_profile(right[0], 200 + 100 * (unsigned)(right[0] % 5));
		struct plumb_profile *c = random_profile(right[1], 200 + 100 * (unsigned)(right[1] % 5));
		check(pl_profile_merge(bc, c));
		check(pl_profile_merge(a_bc, bc));
		assert_same_profile(ab_c, a_bc);
		pl_profile_destroy(ab_c);
		pl_profile_destroy(a_bc);
		pl_profile_destroy(bc);
		pl_profile_destroy(c);
	}
}

static void an_empty_profile_changes_nothing(void **state)
{
	struct plumb_profile *p = random_profile(5, 300), *same = random_profile(5, 300);
	struct plumb_profile *empty = empty_profile(), *into = empty_profile();
	check(pl_profile_merge(p, empty));
	check(pl_profile_merge(into, p));
	assert_same_profile(p, same);
	assert_same_profile(into, same);
	pl_profile_destroy(p);
	pl_profile_destroy(same);
	pl_profile_destroy(empty);
	pl_profile_destroy(into);
}

static uint64_t total(const struct plumb_profile *p, uint64_t *weight_ns)
{
	uint64_t samples = 0;
	*weight_ns = 0;
	for (uint32_t i = 0; i < p->cell_count; i++) {
		samples += p->cells[i].samples;
		*weight_ns += p->cells[i].weight_ns;
	}
	return samples;
}

static void counts_add_up(void **state)
{
	struct plumb_profile *a = random_profile(1, 500), *b = random_profile(2, 700);
	uint64_t wa = 0, wb = 0, w = 0;
	assert_int_equal(total(a, &wa) + total(b, &wb), 1200);
	struct pl_meta before = a->meta;
	check(pl_profile_merge(a, b));
	assert_int_equal(total(a, &w), 1200);
	assert_int_equal(w, wa + wb);
	assert_int_equal(a->meta.ticks, before.ticks + b->meta.ticks);
	for (int i = 0; i < PL_LOSSES; i++)
		assert_int_equal(a->meta.losses[i], before.losses[i] + b->meta.losses[i]);
	assert_int_equal(a->meta.complete, before.complete && b->meta.complete);
	assert_true(a->meta.duration_ns >= before.duration_ns && a->meta.duration_ns >= b->meta.duration_ns);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
}

/* Merging a deep trie must not depend on the C stack. */
static void deep_stacks_merge(void **state)
{
	struct plumb_profile *p = empty_profile(), *into = empty_profile();
	uint32_t stack = 0, t = add_thread(p, 1, 1, "", true);
	for (int i = 0; i < 65536; i++)
		stack = add_frame(p, stack, "f", "x.py", 1);
	add_samples(p, stack, t, 0, 0, 1, 1);
	check(pl_profile_merge(into, p));
	check(pl_profile_merge(into, p));
	assert_int_equal(into->stack_count, 65537);
	assert_int_equal(into->cell_count, 1);
	assert_int_equal(into->stacks[into->cells[0].stack].depth, 65536);
	pl_profile_destroy(p);
	pl_profile_destroy(into);
}

static void the_longer_batch_wins(void **state)
{
	struct plumb_profile *a = empty_profile(), *b = empty_profile();
	uint32_t ta = add_thread(a, 1, 1, "", true), tb = add_thread(b, 1, 1, "", true);
	add_samples(a, 0, ta, 0, 3 * PL_BATCH_MIN_NS, 1, 1);
	add_samples(b, 0, tb, 0, 0, 1, 1);
	add_samples(b, 0, tb, 0, 100 * PL_BATCH_MIN_NS, 1, 1);
	check(pl_profile_merge(a, b));
	assert_int_equal(a->batch_ns, 2 * PL_BATCH_MIN_NS);
	uint64_t by_batch[PL_BATCHES] = {0};
	for (uint32_t i = 0; i < a->cell_count; i++)
		by_batch[a->cells[i].batch] += a->cells[i].samples;
	assert_int_equal(by_batch[0], 1);
	assert_int_equal(by_batch[1], 1);
	assert_int_equal(by_batch[50], 1);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
}

static void processes_are_kept_apart(void **state)
{
	struct plumb_profile *a = empty_profile(), *b = empty_profile();
	add_samples(a, 0, add_thread(a, 1, 9, "x", true), 0, 0, 1, 1);
	add_samples(b, 0, add_thread(b, 2, 9, "x", true), 0, 0, 1, 1);
	check(pl_profile_merge(a, b));
	assert_int_equal(a->process_count, 2);
	assert_int_equal(a->thread_count, 2);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
}

/* Half of a CPU time would make a busy thread look idle. */
static void cpu_time_is_known_only_if_all_of_it_is(void **state)
{
	struct plumb_profile *a = empty_profile(), *b = empty_profile(), *c = empty_profile();
	uint32_t t = add_thread(a, 1, 9, "", true);
	add_thread(b, 1, 9, "", true);
	add_thread(c, 1, 9, "", true);
	a->threads[t].cpu_known = b->threads[t].cpu_known = true;
	a->threads[t].cpu_ns = 3;
	b->threads[t].cpu_ns = 4;
	check(pl_profile_merge(a, b));
	assert_true(a->threads[t].cpu_known);
	assert_int_equal(a->threads[t].cpu_ns, 7);
	check(pl_profile_merge(a, c));
	assert_false(a->threads[t].cpu_known);
	assert_int_equal(a->threads[t].cpu_ns, 0);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
	pl_profile_destroy(c);
}

/* Whoever was refused nothing has no reason to give, also if it began first. */
static void refusals_add_up_and_a_reason_stands(void **state)
{
	struct plumb_profile *sums[2];
	for (int k = 0; k < 2; k++) {
		struct plumb_profile *first, *second;
		assert_null(pl_profile_create(&first));
		assert_null(pl_profile_create(&second));
		first->meta.start_real_ns = 1;
		second->meta.start_real_ns = 2;
		second->meta.refused[PL_REFUSED_TRACER] = 3;
		second->meta.taken_ns = 50;
		second->meta.missed_ns = 7;
		assert_null(pl_profile_string(second, "gdb traces it", 13, &second->meta.refused_why));
		assert_null(pl_profile_merge(k ? second : first, k ? first : second));
		sums[k] = k ? second : first;
		pl_profile_destroy(k ? first : second);
		assert_int_equal(sums[k]->meta.refused[PL_REFUSED_TRACER], 3);
		assert_int_equal(sums[k]->meta.taken_ns, 50);
		assert_int_equal(sums[k]->meta.missed_ns, 7);
		assert_string_equal(pl_strtab_get(sums[k]->strings, sums[k]->meta.refused_why, NULL), "gdb traces it");
		pl_profile_destroy(sums[k]);
	}
}

static void different_modes_are_refused(void **state)
{
	struct plumb_profile *a = random_profile(1, 10), *b = random_profile(2, 10);
	struct plumb_profile *same = random_profile(1, 10);
	b->meta.mode = PL_MODE_CPU;
	struct plumb_error *err = pl_profile_merge(a, b);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_INVALID);
	plumb_error_destroy(err);
	assert_same_profile(a, same);
	pl_profile_destroy(a);
	pl_profile_destroy(b);
	pl_profile_destroy(same);
}

static struct plumb_profile *on_host(const char *host, uint64_t start_real_ns)
{
	struct plumb_profile *p = empty_profile();
	struct pl_process proc = {.pid = 7, .start_ns = 10000000};
	struct pl_thread t = {.tid = 7, .main = true};
	uint32_t thread = 0;
	p->meta.host = add_string(p, host);
	p->meta.start_real_ns = start_real_ns;
	check(pl_profile_process(p, &proc, &t.process));
	check(pl_profile_thread(p, &t, &thread));
	add_samples(p, add_frame(p, 0, "f", "x.py", 1), thread, 0, 0, 5, 1);
	return p;
}

/* The same pid, started at the same time since boot: one process on one machine, two on two. */
static void processes_of_two_hosts_stay_two(void **state)
{
	struct plumb_profile *same = on_host("a", 1), *again = on_host("a", 2), *b = on_host("b", 3);
	struct plumb_profile *unknown = on_host("", 4);
	check(pl_profile_merge(same, again));
	assert_int_equal(same->process_count, 1);
	assert_int_equal(same->processes[0].host, 0);
	check(pl_profile_merge(same, b));
	assert_int_equal(same->process_count, 2);
	assert_string_equal(pl_strtab_get(same->strings, same->processes[0].host, NULL), "a");
	assert_string_equal(pl_strtab_get(same->strings, same->processes[1].host, NULL), "b");
	check(pl_profile_merge(same, b));
	check(pl_profile_merge(same, again));
	assert_int_equal(same->process_count, 2);
	check(pl_profile_merge(same, unknown));
	assert_int_equal(same->process_count, 3);
	assert_string_equal(pl_strtab_get(same->strings, same->processes[2].host, NULL), "?");
	assert_int_equal(same->cell_count, 3);
	pl_profile_destroy(same);
	pl_profile_destroy(again);
	pl_profile_destroy(b);
	pl_profile_destroy(unknown);
}

/* The tables as they are, ids and all. */
static void assert_same_ids(const struct plumb_profile *a, const struct plumb_profile *b)
{
	assert_int_equal(pl_strtab_count(a->strings), pl_strtab_count(b->strings));
	for (uint32_t i = 0; i < pl_strtab_count(a->strings); i++)
		assert_string_equal(pl_strtab_get(a->strings, i, NULL), pl_strtab_get(b->strings, i, NULL));
	assert_int_equal(a->stack_count, b->stack_count);
	assert_memory_equal(a->stacks, b->stacks, a->stack_count * sizeof *a->stacks);
	assert_int_equal(a->cell_count, b->cell_count);
	for (uint32_t i = 0; i < a->cell_count; i++) {
		assert_int_equal(a->cells[i].stack, b->cells[i].stack);
		assert_int_equal(a->cells[i].thread, b->cells[i].thread);
		assert_int_equal(a->cells[i].samples, b->cells[i].samples);
	}
}

static void equal_profiles_are_put_in_one_order(void **state)
{
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct plumb_profile *a = random_profile(i, 400), *b = random_profile(1000 + i, 200);
		struct plumb_profile *c = random_profile(i, 400), *d = random_profile(1000 + i, 200), *x, *y;
		check(pl_profile_merge(a, b));
		check(pl_profile_merge(d, c));
		check(pl_profile_in_order(a, &x));
		check(pl_profile_in_order(d, &y));
		assert_same_profile(a, x);
		assert_same_ids(x, y);
		pl_profile_destroy(a);
		pl_profile_destroy(b);
		pl_profile_destroy(c);
		pl_profile_destroy(d);
		pl_profile_destroy(x);
		pl_profile_destroy(y);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(grouping_does_not_matter),
		cmocka_unit_test(an_empty_profile_changes_nothing),
		cmocka_unit_test(counts_add_up),
		cmocka_unit_test(deep_stacks_merge),
		cmocka_unit_test(the_longer_batch_wins),
		cmocka_unit_test(processes_are_kept_apart),
		cmocka_unit_test(processes_of_two_hosts_stay_two),
		cmocka_unit_test(equal_profiles_are_put_in_one_order),
		cmocka_unit_test(cpu_time_is_known_only_if_all_of_it_is),
		cmocka_unit_test(refusals_add_up_and_a_reason_stands),
		cmocka_unit_test(different_modes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
