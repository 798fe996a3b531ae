/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "exceptions.h"
#include "fake.h"

#define EXCEPTION 0x99990

/* A thread with its own item and that of a generator, which runs while `current` is its item. */
struct scene {
	struct fake f;
	struct pl_py py;
	pl_addr thread, own, generators;
	pl_tstate_vec threads;
};

static void open_scene(struct scene *s, int minor)
{
	*s = (struct scene){.py = fake_py(minor)};
	const struct pl_layout *lay = &s->py.layout;

	fake_init(&s->f);
	s->thread = fake_new(&s->f, 1024);
	s->own = s->thread + lay->tstate.exc_state;
	s->generators = fake_new(&s->f, 64);
	fake_field(&s->f, s->generators, lay->err_stackitem.previous, s->own, 8);
	fake_field(&s->f, s->thread, lay->tstate.exc_info, s->own, 8);
	assert_true(pl_vec_push(&s->threads, ((struct pl_tstate){.addr = s->thread})));
}

static void close_scene(struct scene *s)
{
	pl_vec_deinit(&s->threads);
	fake_deinit(&s->f);
}

static bool handled(struct scene *s)
{
	struct pl_tstate ts;

	assert_ok(pl_tstate_read(&s->f.mem, &s->py, s->thread, &ts));
	return pl_exception_handled(&s->f.mem, &s->py, &ts);
}

static void the_exception_of_a_generator_that_runs_is_seen(void **state)
{
	(void)state;
	for (int minor = 7; minor <= 15; minor++) {
		struct scene s;
		open_scene(&s, minor);
		const struct pl_layout *lay = &s.py.layout;
		fake_field(&s.f, s.generators, lay->err_stackitem.exc_value, EXCEPTION, 8);
		assert_false(handled(&s)); /* it does not run */
		fake_field(&s.f, s.thread, lay->tstate.exc_info, s.generators, 8);
		assert_true(handled(&s));
		fake_field(&s.f, s.generators, lay->err_stackitem.exc_value, s.py.none, 8);
		assert_false(handled(&s));
		fake_field(&s.f, s.own, lay->err_stackitem.exc_value, EXCEPTION, 8);
		assert_true(handled(&s)); /* the thread's own, under it */
		close_scene(&s);
	}
}

static void items_that_go_round_or_nowhere_end(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 11);
	fake_field(&s.f, s.thread, s.py.layout.tstate.exc_info, s.generators, 8);
	fake_field(&s.f, s.generators, s.py.layout.err_stackitem.previous, s.generators, 8);
	assert_false(handled(&s));
	fake_field(&s.f, s.generators, s.py.layout.err_stackitem.previous, 0x123450, 8); /* not mapped */
	assert_false(handled(&s));
	close_scene(&s);
}

/* As _Py_DebugOffsets of 3.13 and 3.14 leave it. */
static void forget(struct pl_layout *lay)
{
	lay->tstate.current_exception = lay->tstate.exc_state = lay->tstate.exc_info = PL_NONE;
	assert_true(pl_layout_finish(lay));
}

static void unpublished_words_are_learnt_from_a_thread_that_proves_them(void **state)
{
	(void)state;
	for (int minor = 13; minor <= 14; minor++) {
		struct scene s;
		open_scene(&s, minor);
		const struct pl_layout *lay = &s.py.layout, ref = *lay;
		forget(&s.py.layout);
		fake_field(&s.f, s.thread, ref.tstate.exc_info, s.generators, 8); /* through a generator */
		pl_exceptions_learn(&s.f.mem, &s.py, &s.threads);
		assert_int_equal(lay->tstate.exc_state, ref.tstate.exc_state);
		assert_int_equal(lay->tstate.current_exception, ref.tstate.current_exception);
		assert_true(lay->tstate_span >= lay->tstate.exc_state + 8);
		fake_field(&s.f, s.own, lay->err_stackitem.exc_value, EXCEPTION, 8);
		assert_true(handled(&s));
		close_scene(&s);
	}
}

static void words_that_no_thread_proves_stay_unknown(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 14);
	uint32_t exc_info = s.py.layout.tstate.exc_info;
	forget(&s.py.layout);
	fake_field(&s.f, s.thread, exc_info, s.own + 8, 8); /* a release that has moved it */
	pl_exceptions_learn(&s.f.mem, &s.py, &s.threads);
	assert_int_equal(s.py.layout.tstate.exc_state, PL_NONE);
	fake_field(&s.f, s.thread, exc_info, 0, 8);
	pl_exceptions_learn(&s.f.mem, &s.py, &s.threads);
	assert_int_equal(s.py.layout.tstate.exc_state, PL_NONE);
	assert_int_equal(s.py.layout.tstate.current_exception, PL_NONE);
	assert_false(handled(&s));
	s.threads.len = 0;
	pl_exceptions_learn(&s.f.mem, &s.py, &s.threads);
	assert_int_equal(s.py.layout.tstate.exc_info, PL_NONE);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exception_of_a_generator_that_runs_is_seen),
		cmocka_unit_test(items_that_go_round_or_nowhere_end),
		cmocka_unit_test(unpublished_words_are_learnt_from_a_thread_that_proves_them),
		cmocka_unit_test(words_that_no_thread_proves_stay_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
