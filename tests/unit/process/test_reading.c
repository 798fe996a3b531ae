/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <signal.h>
#include <string.h>

#include "outer.h"
#include "python.h"
#include "scripts.h"
#include "share.h"
#include "stage.h"

struct check {
	void (*run)(struct python *p, struct pl_stack_reader *s);
};

static void read_with(struct python *p, void *ctx)
{
	struct pl_stack_reader s;

	pl_stack_reader_init(&s, &p->reader, p->main.addr, &p->interp);
	((struct check *)ctx)->run(p, &s);
	pl_stack_reader_deinit(&s);
}

/* Run @p check against a fresh child of each interpreter. */
static void with_each(const char *script, void (*check)(struct python *p, struct pl_stack_reader *s))
{
	python_each(script, read_with, &(struct check){check});
}

static struct pl_reading read_once(struct python *p, struct pl_stack_reader *s)
{
	struct pl_reading r;

	assert_ok(pl_stack_read(&p->reader, s, &r));
	return r;
}

/* As a partial sample is made. */
static uint32_t agreed_prefix(struct python *p, struct pl_stack_reader *s)
{
	struct pl_reading r = {0};
	struct pl_outer o = {0};
	uint32_t node = 0;

	for (int i = 0; i < 100 && (!r.complete || !r.root); i++)
		r = read_once(p, s);
	assert_ok(pl_outer_read(&p->reader, s, &o, true, r.root, &node));
	pl_outer_deinit(&o);
	return node;
}

static void check_at_rest(struct python *p, struct pl_stack_reader *s)
{
	stage_await_state(p->pid, p->pid, "S");
	struct pl_reading r = read_once(p, s);
	assert_true(r.complete && !r.steady); /* nothing was planned yet */
	assert_chain(p, r.node, blocking_chain, 4);
	for (int i = 0; i < 5; i++)
		r = read_once(p, s);
	assert_true(r.complete && r.steady);
	uint32_t node = r.node;
	for (int i = 0; i < 300; i++) { /* through the ages of many plans */
		r = read_once(p, s);
		assert_true(r.complete);
		assert_int_equal(r.node, node);
	}
	assert_int_equal(agreed_prefix(p, s), node);
	size_t nodes = p->tables.trie.nodes.len;
	python_say(p, "x"); /* once round, and blocked again in the same place */
	stage_await_state(p->pid, p->pid, "S");
	for (int i = 0; i < 50; i++)
		r = read_once(p, s);
	assert_chain(p, r.node, blocking_chain, 4);
	assert_true(p->tables.trie.nodes.len <= nodes + 8);
}

static void a_stack_at_rest_is_read_whole_and_steady(void **state)
{
	with_each(blocking_script, check_at_rest);
}

/* A reader of a thread that has come to where it blocks. */
static void settle_in_wait(struct python *p, struct pl_stack_reader *s, pl_addr tstate, struct pl_reading *ret)
{
	struct python_chain chain = {0};

	pl_stack_reader_init(s, &p->reader, tstate, &p->interp);
	await (chain.depth &&strcmp(chain.names[chain.depth - 1], "wait") == 0) {
		*ret = read_once(p, s);
		if (ret->complete)
			python_chain(p, ret->node, &chain);
	}
}

static void check_other_root(struct python *p, struct pl_stack_reader *unused)
{
	struct pl_stack_reader first, second;
	struct pl_reading r;
	pl_tstate_vec threads = {0};
	bool whole = false;

	assert_ok(pl_tstate_list(pl_mem_live_mem(p->live), &p->py, &p->interp, &threads, &whole));
	assert_true(whole && threads.len == 3); /* the newest first */
	settle_in_wait(p, &first, threads.data[0].addr, &r);
	settle_in_wait(p, &second, threads.data[1].addr, &r);
	pl_stack_reader_deinit(&second);
	pl_stack_reader_init(&second, &p->reader, threads.data[1].addr, &p->interp);
	(void)read_once(p, &second); /* makes a plan */
	assert_false(read_once(p, &second).steady);
	pl_stack_reader_deinit(&second);

	r = read_once(p, &first);
	assert_true(r.complete);
	pl_stack_trust(&p->reader, &first, &r);
	pl_stack_reader_init(&second, &p->reader, threads.data[1].addr, &p->interp);
	(void)read_once(p, &second);
	assert_true(read_once(p, &second).steady);
	pl_stack_reader_deinit(&first);
	pl_stack_reader_deinit(&second);
	pl_vec_deinit(&threads);
}

static void the_first_root_of_a_thread_is_known_by_those_of_others(void **state)
{
	with_each(threads_script, check_other_root);
}

static void check_trust(struct python *p, struct pl_stack_reader *s)
{
	stage_await_state(p->pid, p->pid, "S");
	struct pl_reading r = {0};
	for (int i = 0; i < 8; i++)
		r = read_once(p, s);
	assert_true(r.steady);
	for (int i = 0; i < 20; i++) {
		pl_stack_trust(&p->reader, s, &r);
		r = read_once(p, s);
		r = read_once(p, s); /* one may make a new plan of an old one */
		if (!r.steady)
			print_message("%s: not steady after it was trusted\n", p->exe);
		assert_true(r.steady);
	}
}

static void a_reading_that_was_trusted_does_not_unsettle_the_next(void **state)
{
	with_each(blocking_script, check_trust);
}

static void check_spinning(struct python *p, struct pl_stack_reader *s)
{
	size_t steady = 0;

	for (int i = 0; i < 2000; i++) {
		struct pl_reading r = read_once(p, s);
		if (!r.complete || !r.steady)
			continue;
		assert_chain(p, r.node, spinning_chain, 3);
		steady++;
	}
	assert_share("steady", steady, 2000, 0.9);
}

static void a_thread_that_runs_in_one_place_is_steady(void **state)
{
	with_each(spinning_script, check_spinning);
}

static bool calls(const char *from, const char *to)
{
	for (size_t i = 0; i < sizeof churning_calls / sizeof *churning_calls; i++)
		if (strcmp(churning_calls[i][0], from) == 0 && strcmp(churning_calls[i][1], to) == 0)
			return true;
	return false;
}

static void check_common(struct python *p, struct pl_stack_reader *s)
{
	size_t agreed = 0;

	for (int i = 0; i < 1000; i++) {
		struct python_chain c;
		uint32_t node = agreed_prefix(p, s);
		agreed += node != 0;
		python_chain(p, node, &c);
		for (size_t k = 1; k < c.depth; k++) {
			if (!calls(c.names[k - 1], c.names[k]))
				print_message("%s: %s does not call %s\n", p->exe, c.names[k - 1], c.names[k]);
			assert_true(calls(c.names[k - 1], c.names[k]));
		}
	}
	assert_true(agreed > 0);
}

static void what_readings_of_a_moving_thread_agree_on_could_be(void **state)
{
	with_each(churning_script, check_common);
}

static void check_end(struct python *p, struct pl_stack_reader *s)
{
	struct pl_reading r;

	(void)read_once(p, s);
	(void)read_once(p, s);
	kill(p->pid, SIGKILL);
	assert_true(stage_ended(p->pid));
	assert_ptr_equal(pl_stack_read(&p->reader, s, &r), &pl_err_target_exited);
	assert_false(r.complete || r.steady);
}

static void a_target_that_has_ended_is_told(void **state)
{
	with_each(spinning_script, check_end);
}

#define DEEP_FUNCTIONS 48

/* Each function of the stack is another one. */
static const char deep_script[] =
	"import os\n"
	"fs = []\n"
	"def make(i):\n"
	"    d = {'fs': fs, 'os': os}\n"
	"    exec('def f%d():\\n    return fs[%d]() if len(fs) > %d else os.read(0, 1)\\n' % (i, i + 1, i + 1), d)\n"
	"    fs.append(d['f%d' % i])\n"
	"for i in range(48): make(i)\n"
	"os.write(1, b'ready\\n')\n"
	"fs[0]()\n";

/* With a ration that is for some of the functions only: each reading learns more of them, none is lost. */
static void check_deep(struct python *p, struct pl_stack_reader *s)
{
	struct pl_codes *c = &p->reader.codes;
	struct pl_reading r = {0};
	struct python_chain chain;
	size_t readings = 0;

	c->ration.at_ns = UINT64_MAX; /* no time passes */
	stage_await_state(p->pid, p->pid, "S");
	for (; !r.complete; readings++) {
		size_t known = c->slots.len;

		c->ration.spent = PL_RATION_MOST - (256 << 10);
		r = read_once(p, s);
		assert_true(c->slots.len > known);
		assert_true(s->snap.plan.len > 0); /* what was read comes at once the next time */
	}
	assert_true(readings > 1);
	assert_false(r.folded);
	python_chain(p, r.node, &chain);
	assert_int_equal(chain.depth, DEEP_FUNCTIONS + 1);
	c->ration.spent = PL_RATION_MOST; /* what is known needs none */
	r = read_once(p, s);
	assert_true(r.complete);
}

static void a_deep_stack_of_new_functions_is_learnt_by_and_by(void **state)
{
	with_each(deep_script, check_deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_at_rest_is_read_whole_and_steady),
		cmocka_unit_test(the_first_root_of_a_thread_is_known_by_those_of_others),
		cmocka_unit_test(a_reading_that_was_trusted_does_not_unsettle_the_next),
		cmocka_unit_test(a_thread_that_runs_in_one_place_is_steady),
		cmocka_unit_test(what_readings_of_a_moving_thread_agree_on_could_be),
		cmocka_unit_test(a_target_that_has_ended_is_told),
		cmocka_unit_test(a_deep_stack_of_new_functions_is_learnt_by_and_by),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
