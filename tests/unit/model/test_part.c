/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a profile, of all or of some of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "view.h"

static struct plumb_profile *copy_of(const struct plumb_profile *p)
{
	struct plumb_profile *c;

	check(pl_profile_copy(p, &c));
	return c;
}

static void a_copy_says_the_same_and_grows_alone(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct plumb_profile *p = random_profile(seed, 400), *same = random_profile(seed, 400), *c = copy_of(p);
		struct generator g = {.rng = {seed}, .profile = c, .step_ns = 1000000, .depth = 6, .processes = 2};

		assert_same_profile(p, c);
		for (int i = 0; i < 300; i++) { /* what is known is found, what is new is appended */
			struct pl_sample s = generate_sample(&g);
			check(pl_profile_add(c, &s));
		}
		assert_true(c->cell_count > p->cell_count);
		assert_same_profile(p, same);
		pl_profile_destroy(p);
		char *text = profile_dump(c); /* it needs nothing of what it was copied from */
		assert_true(strlen(text) > 0);
		free(text);
		pl_profile_destroy(c);
		pl_profile_destroy(same);
	}
}

/* What is interned in a copy has the number that it had. */
static void a_copy_finds_what_it_has(void **state)
{
	struct plumb_profile *p = random_profile(7, 500), *c = copy_of(p);

	for (uint32_t i = 1; i < p->stack_count; i++) {
		uint32_t id;

		check(pl_profile_stack(c, p->stacks[i].parent, p->stacks[i].location, &id));
		assert_int_equal(id, i);
	}
	for (uint32_t i = 0; i < pl_strtab_count(p->strings); i++) {
		size_t len;
		const char *text = pl_strtab_get(p->strings, i, &len);
		uint32_t id;

		check(pl_profile_string(c, text, len, &id));
		assert_int_equal(id, i);
		assert_ptr_not_equal(pl_strtab_get(c->strings, i, NULL), text);
	}
	pl_profile_destroy(p);
	pl_profile_destroy(c);
}

static uint64_t sum(const struct plumb_profile *p, uint64_t *weight_ns)
{
	uint64_t samples = 0;

	*weight_ns = 0;
	for (uint32_t i = 0; i < p->cell_count; i++) {
		samples += p->cells[i].samples;
		*weight_ns += p->cells[i].weight_ns;
	}
	return samples;
}

static const char *function_of(const struct plumb_profile *p, uint32_t stack)
{
	const struct pl_function *f = &p->functions[p->locations[p->stacks[stack].location].function];

	return pl_strtab_get(p->strings, f->name, NULL);
}

static void assert_same_stack(const struct plumb_profile *a, uint32_t at_a, const struct plumb_profile *b,
			      uint32_t at_b)
{
	for (; at_a && at_b; at_a = a->stacks[at_a].parent, at_b = b->stacks[at_b].parent) {
		assert_string_equal(function_of(a, at_a), function_of(b, at_b));
		assert_int_equal(a->locations[a->stacks[at_a].location].line,
				 b->locations[b->stacks[at_b].location].line);
	}
	assert_true(at_a == 0 && at_b == 0);
}

/* The parts of a profile have all its samples, and no rows that they do not need. */
static void parts_add_up(void **state)
{
	struct plumb_profile *p = random_profile(3, 900);
	uint64_t weight_ns, samples = 0, weights_ns = 0, part_ns, all = sum(p, &weight_ns);

	for (uint32_t from = 0; from < p->cell_count; from += 50) {
		uint32_t count = p->cell_count - from < 50 ? p->cell_count - from : 50;
		struct plumb_profile *part;

		for (uint32_t i = 0; i < count; i++)
			p->cells[from + i].batch = 0;
		check(pl_profile_part(p, p->cells + from, count, p->batch_ns, false, &part));
		assert_true(part->cell_count <= count && part->thread_count <= p->thread_count);
		assert_same_stack(p, p->cells[from].stack, part, part->cells[0].stack);
		assert_int_equal(part->threads[part->cells[0].thread].tid, p->threads[p->cells[from].thread].tid);
		assert_true(part->meta.ticks == 0 && part->meta.period_ns == p->meta.period_ns);
		assert_string_equal(pl_strtab_get(part->strings, part->meta.engine, NULL),
				    pl_strtab_get(p->strings, p->meta.engine, NULL));
		samples += sum(part, &part_ns);
		weights_ns += part_ns;
		pl_profile_destroy(part);
	}
	assert_true(samples == all && weights_ns == weight_ns);
	pl_profile_destroy(p);
}

/* Shares of a part and of all are of the same threads. */
static void what_is_idle_in_all_is_idle_in_a_part(void **state)
{
	struct plumb_profile *p, *part;
	uint32_t id;

	check(pl_profile_create(&p));
	uint32_t f = add_frame(p, 0, "f", "/app/m.py", 3);
	struct pl_thread rests = {.tid = 2, .cpu_known = true, .cpu_ns = 100};
	add_samples(p, f, add_thread(p, 7, 1, "MainThread", true), PL_STATE_ON_CPU, 0, 5, 1000000);
	check(pl_profile_thread(p, &rests, &id));
	add_samples(p, f, id, 0, 0, 5, 1000000);
	assert_true(pl_view_thread_idle(p, id));
	for (int same = 0; same < 2; same++) {
		check(pl_profile_part(p, p->cells, p->cell_count, p->batch_ns, same, &part));
		assert_true(part->thread_count == 2 && part->threads[1].tid == 2);
		assert_true(pl_view_thread_idle(part, 1) == same && !pl_view_thread_idle(part, 0));
		pl_profile_destroy(part);
	}
	pl_profile_destroy(p);
}

static void a_part_of_nothing_is_empty(void **state)
{
	struct plumb_profile *p = random_profile(5, 100), *part;

	check(pl_profile_part(p, NULL, 0, PL_BATCH_MIN_NS, false, &part));
	assert_true(part->cell_count == 0 && part->stack_count == 1 && part->thread_count == 0);
	pl_profile_destroy(part);
	pl_profile_destroy(p);
}

static void counting_again_is_counting(void **state)
{
	struct plumb_profile *p = random_profile(9, 300);
	uint32_t stacks = p->stack_count;
	uint64_t weight_ns;

	pl_profile_forget(p);
	assert_true(sum(p, &weight_ns) == 0 && p->stack_count == stacks && p->batch_ns == PL_BATCH_MIN_NS);
	check(pl_profile_add(p, &(struct pl_sample){.stack = stacks - 1, .weight_ns = 5}));
	check(pl_profile_add(p, &(struct pl_sample){.stack = stacks - 1, .weight_ns = 5}));
	assert_true(sum(p, &weight_ns) == 2 && weight_ns == 10 && p->cell_count == 1);
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_says_the_same_and_grows_alone),
		cmocka_unit_test(a_copy_finds_what_it_has),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(what_is_idle_in_all_is_idle_in_a_part),
		cmocka_unit_test(a_part_of_nothing_is_empty),
		cmocka_unit_test(counting_again_is_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
