/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "fake.h"

#define RUNTIME 0x600000
#define CHUNK	0x7f0000010000

struct scene {
	struct fake f;
	struct pl_py py;
	pl_addr interp;
};

static pl_addr new_interp(struct scene *s)
{
	return fake_new(&s->f, 16384);
}

static void open_scene(struct scene *s, int minor)
{
	*s = (struct scene){.py = fake_py(minor)};
	s->py.runtime = RUNTIME;
	fake_init(&s->f);
	fake_map(&s->f, RUNTIME, 4096);
	s->interp = new_interp(s);
	fake_field(&s->f, RUNTIME, s->py.layout.runtime.interp_head, s->interp, 8);
}

/* A thread state whose every field is there, in front of the list. */
static pl_addr add_thread(struct scene *s, uint64_t ident)
{
	const struct pl_layout *lay = &s->py.layout;
	pl_addr ts = fake_new(&s->f, lay->tstate_span), head;

	assert_ok(pl_mem_read_u64(&s->f.mem, s->interp + lay->interp.threads_head, &head));
	fake_field(&s->f, ts, lay->tstate.next, head, 8);
	fake_field(&s->f, ts, lay->tstate.interp, s->interp, 8);
	fake_field(&s->f, ts, lay->tstate.thread_id, ident, 8);
	fake_field(&s->f, s->interp, lay->interp.threads_head, ts, 8);
	return ts;
}

static void a_thread_is_read_on_every_version(void **state)
{
	for (int minor = 7; minor <= 15; minor++) {
		struct scene s;
		struct pl_tstate ts;
		open_scene(&s, minor);
		const struct pl_layout *lay = &s.py.layout;
		pl_addr addr = add_thread(&s, 0x7777), cframe = fake_new(&s.f, 64);
		fake_field(&s.f, addr, lay->tstate.frame, 0x123450, 8);
		fake_field(&s.f, addr, lay->tstate.cframe, cframe, 8);
		fake_field(&s.f, cframe, lay->cframe.current_frame, 0x123450, 8);
		fake_field(&s.f, cframe, lay->cframe.current_frame + 8, 0x123460, 8);
		fake_field(&s.f, addr, lay->tstate.native_thread_id, 4321, 8);
		s.f.reads = 0;
		assert_ok(pl_tstate_read(&s.f.mem, &s.py, addr, &ts));
		assert_int_equal(s.f.reads, minor == 11 || minor == 12 ? 2 : 1);
		assert_int_equal(ts.frame, 0x123450);
		assert_int_equal(ts.cframe, minor == 11 || minor == 12 ? cframe : 0);
		assert_int_equal(ts.cframe_previous, minor == 11 || minor == 12 ? 0x123460 : 0);
		assert_int_equal(ts.thread_id, 0x7777);
		assert_int_equal(ts.native_id, minor < 11 ? 0 : 4321);
		assert_int_equal(ts.interp, s.interp);
		fake_deinit(&s.f);
	}
}

static void what_lies_above_the_top_of_the_data_stack_is_told_from_what_stands(void **state)
{
	const uint64_t words[] = {CHUNK, CHUNK + 800, CHUNK + 16384}, wrong[] = {CHUNK, CHUNK + 800, CHUNK + 16000};

	for (int minor = 6; minor <= 15; minor++) {
		struct pl_py py = fake_py(minor);
		struct pl_range r = pl_data_stack_range(&py, 0x1000);

		assert_int_equal(r.len, minor < 11 ? 0 : sizeof words);
		if (!r.len)
			continue;
		assert_int_equal(r.addr, 0x1000 + py.layout.tstate.datastack_chunk);
		assert_false(pl_data_stack_above(&py, (const uint8_t *)words, CHUNK + 792));
		assert_true(pl_data_stack_above(&py, (const uint8_t *)words, CHUNK + 800));
		assert_false(pl_data_stack_above(&py, (const uint8_t *)words, CHUNK + 16384)); /* it lies elsewhere */
		assert_false(pl_data_stack_above(&py, (const uint8_t *)wrong, CHUNK + 800));
	}
}

static void the_top_of_the_data_stack_is_believed_only_inside_a_plausible_chunk(void **state)
{
	const struct {
		pl_addr chunk, top, limit, want;
	} cases[] = {
		{CHUNK, CHUNK + 100 * 8, CHUNK + 16384, CHUNK + 100 * 8},
		{CHUNK, CHUNK + 40000, CHUNK + 65536, CHUNK + 40000}, /* a chunk doubled for a big frame */
		{CHUNK, CHUNK + 16384 + 8, CHUNK + 16384, 0},
		{CHUNK, CHUNK - 8, CHUNK + 16384, 0},
		{CHUNK, CHUNK + 800, CHUNK + 16000, 0}, /* no chunk has this size */
		{CHUNK, CHUNK + 804, CHUNK + 16384, 0},
		{CHUNK, 0, 0, 0},
		{0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct scene s;
		struct pl_tstate ts;
		open_scene(&s, 14);
		const struct pl_layout *lay = &s.py.layout;
		pl_addr addr = add_thread(&s, 1);
		fake_field(&s.f, addr, lay->tstate.datastack_chunk, cases[i].chunk, 8);
		fake_field(&s.f, addr, lay->tstate.datastack_top, cases[i].top, 8);
		fake_field(&s.f, addr, lay->tstate.datastack_top + 8, cases[i].limit, 8);
		assert_ok(pl_tstate_read(&s.f.mem, &s.py, addr, &ts));
		assert_int_equal(ts.chunk, cases[i].chunk);
		assert_int_equal(ts.chunk_top, cases[i].want);
		fake_deinit(&s.f);
	}
}

static void exceptions_being_raised_or_handled_are_seen(void **state)
{
	struct scene s;
	struct pl_tstate ts;

	open_scene(&s, 11);
	const struct pl_layout *lay = &s.py.layout;
	pl_addr addr = add_thread(&s, 1);
	assert_ok(pl_tstate_read(&s.f.mem, &s.py, addr, &ts));
	assert_int_equal(ts.exception, 0);
	fake_field(&s.f, addr, lay->tstate.exc_state + lay->err_stackitem.exc_value, s.py.none, 8);
	assert_ok(pl_tstate_read(&s.f.mem, &s.py, addr, &ts));
	assert_int_equal(ts.exception, 0); /* None: nothing is handled */
	fake_field(&s.f, addr, lay->tstate.exc_state + lay->err_stackitem.exc_value, 0x9990, 8);
	assert_ok(pl_tstate_read(&s.f.mem, &s.py, addr, &ts));
	assert_int_equal(ts.exception, 0x9990);
	s.py.none = 0; /* cannot be told from None */
	assert_ok(pl_tstate_read(&s.f.mem, &s.py, addr, &ts));
	assert_int_equal(ts.exception, 0);
	fake_field(&s.f, addr, lay->tstate.current_exception, 0x8880, 8);
	assert_ok(pl_tstate_read(&s.f.mem, &s.py, addr, &ts));
	assert_int_equal(ts.exception, 0x8880);
	fake_deinit(&s.f);
}

static void gil_words_of_3_15(void **state)
{
	struct scene s;
	struct pl_tstate ts;

	open_scene(&s, 15);
	pl_addr addr = add_thread(&s, 1);
	fake_field(&s.f, addr, s.py.layout.tstate.gil_requested, 1, 4);
	assert_ok(pl_tstate_read(&s.f.mem, &s.py, addr, &ts));
	assert_true(ts.gil_words);
	assert_true(ts.gil_requested);
	assert_false(ts.holds_gil);
	/* The thread's own words go before what the interpreter says. */
	assert_false(pl_tstate_has_gil(&ts, &(struct pl_interp){.gil_known = true, .gil_holder = addr}));
	assert_false(pl_tstate_may_run(&ts, &(struct pl_interp){.gil_known = true, .gil_holder = addr}));
	fake_deinit(&s.f);
}

static void the_holder_of_the_gil_comes_from_where_the_version_keeps_it(void **state)
{
	for (int minor = 7; minor <= 15; minor++) {
		struct scene s;
		struct pl_interp in;
		open_scene(&s, minor);
		const struct pl_layout *lay = &s.py.layout;
		pl_addr gil = fake_new(&s.f, 64);
		fake_field(&s.f, RUNTIME, lay->runtime.tstate_current, 0x5550, 8);
		fake_field(&s.f, s.interp, lay->interp.gil, gil, 8);
		fake_field(&s.f, gil, lay->gil.last_holder, 0x5550, 8);
		fake_field(&s.f, gil, lay->gil.locked, 1, 4);
		fake_field(&s.f, s.interp, lay->interp.modules, 0x6660, 8);
		fake_field(&s.f, s.interp, lay->interp.gc_collecting, 1, 4);
		fake_field(&s.f, RUNTIME, lay->runtime.gc_collecting, 1, 4);
		fake_field(&s.f, s.interp, lay->interp.code_generation, 77, 8);
		fake_field(&s.f, s.interp, lay->interp.gc_frame, 0x7770, 8);
		assert_ok(pl_interp_read(&s.f.mem, &s.py, s.interp, &in));
		assert_int_equal(in.gil_holder, 0x5550);
		assert_int_equal(in.modules, 0x6660);
		assert_true(in.gc_collecting);
		assert_int_equal(in.code_generation, minor < 14 ? 0 : 77);
		assert_int_equal(in.gc_frame, minor < 15 ? 0 : 0x7770);
		/* released: the last holder stays, but nobody holds it */
		fake_field(&s.f, RUNTIME, lay->runtime.tstate_current, 0, 8);
		fake_field(&s.f, gil, lay->gil.locked, 0, 4);
		assert_ok(pl_interp_read(&s.f.mem, &s.py, s.interp, &in));
		assert_int_equal(in.gil_holder, 0);
		fake_deinit(&s.f);
	}
}

/* One read less where the pointer lies alone, and the same answer. */
static void an_interpreter_is_read_again_without_the_pointer_to_its_gil(void **state)
{
	for (int minor = 7; minor <= 15; minor++) {
		struct scene s;
		struct pl_interp in, again;
		open_scene(&s, minor);
		const struct pl_layout *lay = &s.py.layout;
		pl_addr gil = fake_new(&s.f, 64);
		fake_field(&s.f, RUNTIME, lay->runtime.tstate_current, 0x5550, 8);
		fake_field(&s.f, s.interp, lay->interp.gil, gil, 8);
		fake_field(&s.f, gil, lay->gil.last_holder, 0x5550, 8);
		fake_field(&s.f, gil, lay->gil.locked, 1, 4);
		s.f.reads = 0;
		assert_ok(pl_interp_read(&s.f.mem, &s.py, s.interp, &in));
		size_t reads = s.f.reads;
		assert_true(minor < 12 || in.gil == gil);
		s.f.reads = 0;
		assert_ok(pl_interp_read_again(&s.f.mem, &s.py, &in, &again));
		assert_int_equal(s.f.reads, minor >= 13 ? reads - 1 : reads);
		assert_memory_equal(&in, &again, sizeof in);
		fake_deinit(&s.f);
	}
}

/* What the reading finds on its stack where it has put nothing. */
static __attribute__((noinline)) void litter_the_stack(void)
{
	volatile uint8_t litter[16384];

	for (size_t i = 0; i < sizeof litter; i++)
		litter[i] = 0xa5;
}

/* Offsets that a program has made up: other words where the pointer to the GIL is. */
static void words_in_the_place_of_the_gil_are_not_left_out(void **state)
{
	struct scene s;
	struct pl_interp in, again;

	open_scene(&s, 13);
	pl_addr gil = fake_new(&s.f, 512);
	s.py.layout.interp.next = s.py.layout.interp.threads_main = s.py.layout.interp.gil;
	assert_true(pl_layout_finish(&s.py.layout));
	fake_field(&s.f, s.interp, s.py.layout.interp.gil, gil, 8);
	assert_ok(pl_interp_read(&s.f.mem, &s.py, s.interp, &in));
	litter_the_stack();
	assert_ok(pl_interp_read_again(&s.f.mem, &s.py, &in, &again));
	assert_int_equal(again.gil, gil);
	assert_int_equal(again.next, gil);
	assert_int_equal(again.threads_main, gil);
	fake_deinit(&s.f);
}

static void up_to_3_6_two_words_stand_for_the_runtime(void **state)
{
	struct pl_py py = fake_py(6);
	struct pl_interp in;
	struct fake f;
	pl_addr head;

	fake_init(&f);
	fake_map(&f, RUNTIME, 64);
	pl_addr interp = fake_new(&f, 256);
	fake_u64(&f, RUNTIME, interp);
	fake_u64(&f, RUNTIME + 8, 0x5550);
	py.interp_head = RUNTIME;
	py.tstate_current = RUNTIME + 8;
	assert_ok(pl_interp_head(&f.mem, &py, &head));
	assert_int_equal(head, interp);
	assert_ok(pl_interp_read(&f.mem, &py, interp, &in));
	assert_true(in.gil_known);
	assert_int_equal(in.gil_holder, 0x5550);
	assert_int_equal(in.gil, 0);
	assert_false(pl_interp_gil_has(&in, 0));
	fake_deinit(&f);
}

static void up_to_3_6_symbols_tell_what_is_waited_for(void **state)
{
	struct pl_py py = fake_py(6);
	struct pl_interp in;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_map(&f, RUNTIME, 64);
	pl_addr interp = fake_new(&f, 256), lock = fake_new(&f, 32);
	py.tstate_current = RUNTIME + 8;
	py.gil = RUNTIME + 16;
	py.gil_bytes = 24;
	assert_ok(pl_interp_read(&f.mem, &py, interp, &in));
	assert_true(pl_interp_gil_has(&in, RUNTIME + 16));
	assert_true(pl_interp_gil_has(&in, RUNTIME + 39));
	assert_false(pl_interp_gil_has(&in, RUNTIME + 15));
	assert_false(pl_interp_gil_has(&in, RUNTIME + 40));

	/* 2.7 has no lock before there is a second thread. */
	py = fake_py27();
	py.tstate_current = RUNTIME + 8;
	py.gil_lock = RUNTIME + 16;
	assert_ok(pl_interp_read(&f.mem, &py, interp, &in));
	assert_false(pl_interp_gil_has(&in, lock));
	fake_u64(&f, RUNTIME + 16, lock);
	assert_ok(pl_interp_read_again(&f.mem, &py, &in, &in));
	assert_true(pl_interp_gil_has(&in, lock));
	assert_false(pl_interp_gil_has(&in, lock + 48)); /* the next lock on the heap */
	fake_deinit(&f);
}

static void without_a_gil_threads_attach(void **state)
{
	for (int minor = 13; minor <= 15; minor++) {
		struct pl_py py = fake_py_free_threaded(minor);
		const struct pl_layout *lay = &py.layout;
		struct pl_interp in;
		struct pl_tstate ts;
		struct fake f;
		fake_init(&f);
		pl_addr interp = fake_new(&f, 32768), gil = fake_new(&f, 64), thread = fake_new(&f, lay->tstate_span);
		fake_field(&f, interp, lay->interp.gil, gil, 8);
		fake_field(&f, interp, lay->interp.tlbc_generation, 5, 4);
		fake_field(&f, gil, lay->gil.last_holder, thread, 8);
		fake_field(&f, gil, lay->gil.locked, 1, 4);
		assert_ok(pl_interp_read(&f.mem, &py, interp, &in));
		assert_false(in.gil_known);
		assert_true(pl_tstate_may_run(&(struct pl_tstate){.addr = thread}, &in)); /* nothing tells */
		assert_int_equal(in.gil_holder, 0);
		assert_int_equal(in.tlbc_generation, minor < 14 ? 0 : 5);
		fake_field(&f, gil, lay->gil.enabled, 1, 4); /* switched on */
		assert_ok(pl_interp_read(&f.mem, &py, interp, &in));
		assert_true(in.gil_known);
		assert_int_equal(in.gil_holder, thread);
		assert_ok(pl_tstate_read(&f.mem, &py, thread, &ts));
		assert_true(ts.attach_word);
		assert_false(ts.attached);
		assert_int_equal(pl_tstate_has_gil(&ts, &in), !ts.gil_words);
		assert_false(pl_tstate_may_run(&ts, &in));
		fake_field(&f, thread, lay->tstate.attach_state, 1, 4);
		assert_ok(pl_tstate_read(&f.mem, &py, thread, &ts));
		assert_true(ts.attached);
		assert_true(pl_tstate_may_run(&ts, &in));
		fake_field(&f, thread, lay->tstate.attach_state, 2, 4); /* suspended */
		assert_ok(pl_tstate_read(&f.mem, &py, thread, &ts));
		assert_false(ts.attached);
		fake_deinit(&f);
	}
}

static void lists_hold_all_and_interpreters_come_first_to_last(void **state)
{
	struct scene s;
	pl_interp_vec interps = {0};
	pl_tstate_vec threads = {0};

	open_scene(&s, 12);
	pl_addr second = new_interp(&s);
	fake_field(&s.f, s.interp, s.py.layout.interp.next, second, 8);
	for (uint64_t i = 0; i < 5; i++)
		add_thread(&s, i);
	assert_ok(pl_interp_list(&s.f.mem, &s.py, &interps, NULL));
	assert_int_equal(interps.len, 2);
	assert_int_equal(interps.data[1].addr, second);
	bool whole = false;
	assert_ok(pl_tstate_list(&s.f.mem, &s.py, &interps.data[0], &threads, &whole));
	assert_true(whole);
	assert_int_equal(threads.len, 5);
	assert_int_equal(threads.data[0].thread_id, 4); /* the newest is first */
	pl_vec_deinit(&interps);
	pl_vec_deinit(&threads);
	fake_deinit(&s.f);
}

static void no_interpreter_is_not_ready(void **state)
{
	struct scene s;
	pl_interp_vec interps = {0};

	open_scene(&s, 11);
	fake_field(&s.f, RUNTIME, s.py.layout.runtime.interp_head, 0, 8);
	assert_ptr_equal(pl_interp_list(&s.f.mem, &s.py, &interps, NULL), &pl_err_not_ready);
	pl_vec_deinit(&interps);
	fake_deinit(&s.f);
}

static void a_thread_that_is_gone_ends_the_list(void **state)
{
	struct scene s;
	struct pl_interp in;
	pl_tstate_vec threads = {0};

	open_scene(&s, 13);
	pl_addr oldest = add_thread(&s, 1);
	add_thread(&s, 2);
	assert_ok(pl_interp_read(&s.f.mem, &s.py, s.interp, &in));
	fake_field(&s.f, oldest, s.py.layout.tstate.interp, 0xdead0, 8);
	bool whole = true;
	assert_ok(pl_tstate_list(&s.f.mem, &s.py, &in, &threads, &whole));
	assert_int_equal(threads.len, 1);
	assert_false(whole); /* there may be more behind it */
	pl_vec_clear(&threads);
	in.threads_head = oldest; /* but if the first is wrong, all is */
	assert_ptr_equal(pl_tstate_list(&s.f.mem, &s.py, &in, &threads, NULL), &pl_err_corrupt);
	pl_vec_deinit(&threads);
	fake_deinit(&s.f);
}

static void cyclic_lists_are_corrupt(void **state)
{
	struct scene s;
	struct pl_interp in;
	pl_tstate_vec threads = {0};
	pl_interp_vec interps = {0};

	open_scene(&s, 9);
	pl_addr ts = add_thread(&s, 1);
	fake_field(&s.f, ts, s.py.layout.tstate.next, ts, 8);
	fake_field(&s.f, s.interp, s.py.layout.interp.next, s.interp, 8);
	assert_ok(pl_interp_read(&s.f.mem, &s.py, s.interp, &in));
	s.f.reads = 0;
	assert_ptr_equal(pl_tstate_list(&s.f.mem, &s.py, &in, &threads, NULL), &pl_err_corrupt);
	assert_ptr_equal(pl_interp_list(&s.f.mem, &s.py, &interps, NULL), &pl_err_corrupt);
	assert_true(s.f.reads < 40);
	assert_true(threads.len <= 2); /* each is looked at as often as it is listed */
	assert_true(interps.len <= 2);
	pl_vec_deinit(&interps);
	pl_vec_deinit(&threads);
	fake_deinit(&s.f);
}

/* The newest come first: of more threads than are read the others are not lost. */
static void of_a_list_that_is_too_long_the_first_are_kept(void **state)
{
	struct scene s;
	struct pl_interp in;
	pl_tstate_vec threads = {0};
	bool whole = true;

	open_scene(&s, 12);
	for (uint64_t i = 0; i <= PL_MAX_THREADS; i++)
		add_thread(&s, i);
	assert_ok(pl_interp_read(&s.f.mem, &s.py, s.interp, &in));
	assert_ok(pl_tstate_list(&s.f.mem, &s.py, &in, &threads, &whole)); /* a Python of so many is one */
	assert_int_equal(threads.len, PL_MAX_THREADS);
	assert_false(whole);
	pl_vec_deinit(&threads);
	fake_deinit(&s.f);
}

static void the_tid_is_found_in_its_usual_place_or_by_looking(void **state)
{
	static const pid_t tids[] = {999, 7, 1001};
	struct scene s;
	uint32_t at = 0;

	open_scene(&s, 8);
	pl_addr pthread = fake_new(&s.f, 2304);
	fake_field(&s.f, pthread, 1204, 1001, 4); /* not the first one: proves nothing there */
	assert_ptr_equal(pl_pthread_tid_offset(&s.f.mem, pthread, tids, 3, &at), &pl_err_corrupt);
	fake_field(&s.f, pthread, 1200, 999, 4);
	assert_ok(pl_pthread_tid_offset(&s.f.mem, pthread, tids, 3, &at));
	assert_int_equal(at, 1200);
	fake_field(&s.f, pthread, 48, 1001, 4);
	assert_ok(pl_pthread_tid_offset(&s.f.mem, pthread, tids, 3, &at));
	assert_int_equal(at, 48);
	fake_field(&s.f, pthread, 720, 7, 4);
	fake_field(&s.f, pthread, 40, 999, 4);
	assert_ok(pl_pthread_tid_offset(&s.f.mem, pthread, tids, 3, &at));
	assert_int_equal(at, 720);
	assert_ptr_equal(pl_pthread_tid_offset(&s.f.mem, pthread, (pid_t[]){1000}, 1, &at), &pl_err_corrupt);
	assert_ptr_equal(pl_pthread_tid_offset(&s.f.mem, 0, tids, 3, &at), &pl_err_corrupt);
	assert_ptr_equal(pl_pthread_tid_offset(&s.f.mem, pthread, tids, 0, &at), &pl_err_corrupt);
	fake_deinit(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_read_on_every_version),
		cmocka_unit_test(what_lies_above_the_top_of_the_data_stack_is_told_from_what_stands),
		cmocka_unit_test(the_top_of_the_data_stack_is_believed_only_inside_a_plausible_chunk),
		cmocka_unit_test(exceptions_being_raised_or_handled_are_seen),
		cmocka_unit_test(gil_words_of_3_15),
		cmocka_unit_test(the_holder_of_the_gil_comes_from_where_the_version_keeps_it),
		cmocka_unit_test(an_interpreter_is_read_again_without_the_pointer_to_its_gil),
		cmocka_unit_test(words_in_the_place_of_the_gil_are_not_left_out),
		cmocka_unit_test(up_to_3_6_two_words_stand_for_the_runtime),
		cmocka_unit_test(up_to_3_6_symbols_tell_what_is_waited_for),
		cmocka_unit_test(without_a_gil_threads_attach),
		cmocka_unit_test(lists_hold_all_and_interpreters_come_first_to_last),
		cmocka_unit_test(no_interpreter_is_not_ready),
		cmocka_unit_test(a_thread_that_is_gone_ends_the_list),
		cmocka_unit_test(cyclic_lists_are_corrupt),
		cmocka_unit_test(of_a_list_that_is_too_long_the_first_are_kept),
		cmocka_unit_test(the_tid_is_found_in_its_usual_place_or_by_looking),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
