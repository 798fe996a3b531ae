/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "fake.h"

#define CHUNK	 0x7f0000010000
#define OLDER	 0x7f0000020000
#define CHUNK_SZ 16384
#define STEP	 96
#define CODE	 0x300000
#define C_STACK	 0x7ff000000000
#define C_FRAME	 (C_STACK + 3584)

struct scene {
	struct fake f;
	struct pl_py py;
	struct pl_tstate ts;
	pl_frame_vec frames;
	pl_addr root;
};

static void open_scene(struct scene *s, int minor)
{
	*s = (struct scene){.py = fake_py(minor)};
	fake_init(&s->f);
	fake_map(&s->f, CHUNK, CHUNK_SZ);
	fake_map(&s->f, OLDER, CHUNK_SZ);
	fake_map(&s->f, C_STACK, 4096);
	fake_u64(&s->f, CHUNK + 8, CHUNK_SZ);
	fake_u64(&s->f, OLDER + 8, CHUNK_SZ);
	if (minor >= 11)
		s->ts = (struct pl_tstate){.addr = 0x400000, .chunk = CHUNK, .chunk_top = CHUNK + CHUNK_SZ};
}

static void close_scene(struct scene *s)
{
	pl_vec_deinit(&s->frames);
	fake_deinit(&s->f);
}

/* 3.11, 3.12: the evaluation before the innermost one runs the caller of the frame at which that one begins. */
static void link_entry(struct scene *s)
{
	struct pl_frame f = {.previous = s->ts.frame};

	if (s->py.layout.frame_model != PL_FRAME_CFRAME)
		return;
	for (int i = 0; i < 20000 && !f.entry; i++) {
		struct plumb_error *err = pl_frame_read(&s->f.mem, &s->py, f.previous, &f);
		if (err) {
			plumb_error_destroy(err);
			return;
		}
	}
	s->ts.cframe_previous = C_FRAME;
	fake_field(&s->f, C_FRAME, s->py.layout.cframe.current_frame, f.previous, 8);
}

static struct plumb_error *walk_again(struct scene *s)
{
	pl_vec_clear(&s->frames);
	s->f.prefetches = 0;
	s->root = 0;
	return pl_frame_walk(&s->f.mem, &s->py, &s->ts, NULL, &s->frames, &s->root);
}

static struct plumb_error *walk(struct scene *s)
{
	link_entry(s);
	return walk_again(s);
}

static pl_addr in_chunk(unsigned i)
{
	return CHUNK + 24 + i * STEP;
}

/* Frame i of the chunk, thread-owned. */
static void put_thread(struct scene *s, unsigned i, pl_addr previous)
{
	fake_frame(&s->f, &s->py, in_chunk(i), previous, CODE, s->py.layout.owner_thread, 8);
}

static void put_shim(struct scene *s, pl_addr addr, pl_addr previous)
{
	fake_frame(&s->f, &s->py, addr, previous, 0x1, 3, 0); /* the code word of a shim can be anything */
}

static pl_addr put_generator(struct scene *s, pl_addr previous)
{
	pl_addr addr = fake_new(&s->f, STEP);

	fake_frame(&s->f, &s->py, addr, previous, CODE, s->py.layout.owner_generator, 8);
	return addr;
}

static void frame_objects_link_to_the_end(void **state)
{
	for (int minor = 8; minor <= 10; minor++) {
		struct scene s;
		open_scene(&s, minor);
		pl_addr outer = fake_new(&s.f, 128), inner = fake_new(&s.f, 128);
		fake_frame(&s.f, &s.py, outer, 0, CODE, 0, 6);
		fake_frame(&s.f, &s.py, inner, outer, CODE + 16, 0, 4);
		s.ts.frame = inner;
		assert_ok(walk(&s));
		assert_int_equal(s.frames.len, 2);
		assert_int_equal(s.frames.data[0].code, CODE + 16);
		assert_int_equal(s.frames.data[0].instr, 4); /* bytes, also where f_lasti counts code units (3.10) */
		assert_true(s.frames.data[0].entry);
		assert_int_equal(s.root, outer);
		fake_field(&s.f, inner, s.py.layout.frame.lasti, UINT32_MAX, 4);
		assert_ok(walk(&s));
		assert_int_equal(s.frames.data[0].instr, (pl_addr)-1);
		close_scene(&s);
	}
}

static void a_walk_through_a_frame_object_that_was_freed_is_torn(void **state)
{
	for (int minor = 6; minor <= 10; minor++) {
		struct scene s;
		struct pl_frame f;
		open_scene(&s, minor);
		pl_addr outer = fake_new(&s.f, 128), inner = fake_new(&s.f, 128);
		fake_frame(&s.f, &s.py, outer, 0, CODE, 0, 6);
		fake_frame(&s.f, &s.py, inner, outer, CODE + 16, 0, 4);
		s.ts.frame = inner;
		assert_ok(walk(&s));
		assert_false(s.frames.data[1].freed);
		fake_refer(&s.f, &s.py, outer, 0);
		assert_code(walk(&s), PLUMB_ERR_CORRUPT);
		assert_ok(pl_frame_read(&s.f.mem, &s.py, outer, &f));
		assert_true(f.freed);
		close_scene(&s);
	}
}

static void frame_objects_of_different_types_are_corrupt(void **state)
{
	struct scene s;

	open_scene(&s, 9);
	pl_addr outer = fake_new(&s.f, 128), inner = fake_new(&s.f, 128);
	fake_frame(&s.f, &s.py, outer, 0, CODE, 0, 6);
	fake_frame(&s.f, &s.py, inner, outer, CODE, 0, 4);
	fake_field(&s.f, outer, s.py.layout.object.type, 0x7777770, 8);
	s.ts.frame = inner;
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	assert_int_equal(s.frames.len, 1);
	close_scene(&s);
}

/* C -> f -> generator -> g -> C -> h, as 3.12 to 3.14 link them. */
static void shims_and_generators_are_part_of_the_chain(void **state)
{
	for (int minor = 12; minor <= 14; minor++) {
		struct scene s;
		open_scene(&s, minor);
		put_shim(&s, C_STACK + 512, 0);
		put_thread(&s, 0, C_STACK + 512);
		pl_addr generator = put_generator(&s, in_chunk(0));
		put_thread(&s, 1, generator);
		put_shim(&s, C_STACK, in_chunk(1));
		put_thread(&s, 2, C_STACK);
		s.ts.frame = in_chunk(2);
		assert_ok(walk(&s));
		assert_int_equal(s.frames.len, 6);
		for (size_t i = 0; i < 6; i++)
			assert_int_equal(s.frames.data[i].kind, i == 1 || i == 5 ? PL_FRAME_SHIM : PL_FRAME_PYTHON);
		assert_int_equal(s.frames.data[1].code, 0);
		assert_int_equal(s.frames.data[2].code, CODE);
		assert_int_equal(s.frames.data[3].addr, generator);
		assert_int_equal(s.root, C_STACK + 512);
		close_scene(&s);
	}
}

/* Stopped while an evaluation begins, its first frame still has the caller of an earlier time. */
static void a_frame_that_is_just_being_linked_is_corrupt(void **state)
{
	for (int minor = 11; minor <= 12; minor++) {
		struct scene s;

		open_scene(&s, minor);
		put_shim(&s, C_STACK, 0);
		put_thread(&s, 0, minor == 12 ? C_STACK : 0);
		fake_field(&s.f, in_chunk(0), s.py.layout.frame.is_entry, 1, 1);
		s.ts.frame = in_chunk(0);
		assert_ok(walk(&s));
		fake_field(&s.f, C_FRAME, s.py.layout.cframe.current_frame, in_chunk(3), 8);
		assert_code(walk_again(&s), PLUMB_ERR_CORRUPT);
		s.ts.cframe_previous = 0;
		assert_code(walk_again(&s), PLUMB_ERR_CORRUPT);
		close_scene(&s);
	}
}

static void tag_bits_of_the_code_pointer_are_cleared(void **state)
{
	struct scene s;

	open_scene(&s, 14);
	put_shim(&s, C_STACK, 0);
	fake_frame(&s.f, &s.py, in_chunk(0), C_STACK, CODE | 1, 0, 8);
	s.ts.frame = in_chunk(0);
	assert_ok(walk(&s));
	assert_int_equal(s.frames.data[0].code, CODE);
	close_scene(&s);
}

static void on_3_15_the_chain_ends_at_the_base_frame(void **state)
{
	struct scene s;

	open_scene(&s, 15);
	s.ts.base_frame = C_STACK + 1024;
	put_thread(&s, 0, s.ts.base_frame);
	s.ts.frame = in_chunk(0);
	assert_ok(walk(&s));
	assert_int_equal(s.frames.len, 1);
	assert_int_equal(s.root, s.ts.base_frame);
	s.ts.frame = s.ts.base_frame;
	assert_ok(walk(&s));
	assert_int_equal(s.frames.len, 0);
	assert_int_equal(s.root, s.ts.base_frame);
	s.ts.frame = in_chunk(0);
	put_thread(&s, 0, 0);
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	s.ts.frame = 0;
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	close_scene(&s);
}

/* Three frames on the data stack; the two outer ones are known from before, under other instructions than memory has.
 */
static void the_rest_of_a_chain_is_taken_from_the_tail(void **state)
{
	for (int minor = 12; minor <= 15; minor++) {
		struct scene s;
		open_scene(&s, minor);
		pl_addr root = C_STACK + 1024;
		put_shim(&s, root, 0);
		put_thread(&s, 0, root);
		put_thread(&s, 1, in_chunk(0));
		put_thread(&s, 2, in_chunk(1));
		s.ts.frame = in_chunk(2);
		s.ts.base_frame = minor == 15 ? root : 0;
		assert_ok(walk(&s));
		struct pl_frame known[3];
		size_t n = s.frames.len - 1;
		memcpy(known, s.frames.data + 1, n * sizeof known[0]);
		known[n - 1].instr = 4242;
		struct pl_frame_tail tail = {known, n, s.root};
		pl_vec_clear(&s.frames);
		assert_ok(pl_frame_walk(&s.f.mem, &s.py, &s.ts, &tail, &s.frames, &s.root));
		assert_int_equal(s.frames.len, n + 1);
		assert_int_equal(s.frames.data[n].instr, 4242);
		assert_int_equal(s.root, root);
		/* A tail that ended elsewhere is not taken, nor one that the chain does not come to. */
		tail.root = root + 8;
		pl_vec_clear(&s.frames);
		assert_ok(pl_frame_walk(&s.f.mem, &s.py, &s.ts, &tail, &s.frames, &s.root));
		assert_int_not_equal(s.frames.data[n].instr, 4242);
		tail.root = root;
		known[0].addr += 8;
		pl_vec_clear(&s.frames);
		assert_ok(pl_frame_walk(&s.f.mem, &s.py, &s.ts, &tail, &s.frames, &s.root));
		assert_int_equal(s.frames.len, n + 1);
		assert_int_not_equal(s.frames.data[n].instr, 4242);
		close_scene(&s);
	}
}

static void a_thread_without_python_frames_has_an_empty_stack(void **state)
{
	struct scene s;

	open_scene(&s, 12);
	assert_ok(walk(&s));
	assert_int_equal(s.frames.len, 0);
	assert_int_equal(s.root, 0);
	close_scene(&s);
}

static void a_chain_ends_only_where_c_began(void **state)
{
	struct scene s;

	open_scene(&s, 12);
	put_thread(&s, 0, 0); /* being linked: 3.12 has a shim below every chain */
	s.ts.frame = in_chunk(0);
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	close_scene(&s);
	open_scene(&s, 11);
	put_thread(&s, 0, 0);
	s.ts.frame = in_chunk(0);
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	fake_field(&s.f, in_chunk(0), s.py.layout.frame.is_entry, 1, 1);
	assert_ok(walk(&s));
	assert_true(s.frames.data[0].entry);
	close_scene(&s);
}

/* Each change makes a sound chain of three unsound. */
static void unsound_frames_are_corrupt(void **state)
{
	const struct {
		uint32_t at;
		uint64_t value;
		size_t width;
	} changes[] = {
		{70, 2, 1},		       /* a frame object's own frame is never on a running chain */
		{70, 9, 1},		       /* no such owner */
		{70, 1, 1},		       /* a generator's frame is not on the data stack */
		{70, 3, 1},		       /* nor is a shim */
		{8, CHUNK + 24 + STEP, 8},     /* previous is the frame itself */
		{8, CHUNK + 24 + STEP * 2, 8}, /* previous is above */
		{8, CHUNK + 24 + 4, 8},	       /* not aligned */
		{8, CHUNK + 8, 8},	       /* in the header of the chunk */
		{8, 16, 8},		       /* no address */
		{0, 0, 8},		       /* no code */
		{0, CODE + 1, 8},	       /* not aligned */
	};

	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		struct scene s;
		open_scene(&s, 12);
		put_shim(&s, C_STACK, 0);
		put_thread(&s, 0, C_STACK);
		put_thread(&s, 1, in_chunk(0));
		put_thread(&s, 2, in_chunk(1));
		s.ts.frame = in_chunk(2);
		assert_ok(walk(&s));
		fake_put(&s.f, in_chunk(1) + changes[i].at, &changes[i].value, changes[i].width);
		assert_ptr_equal(walk(&s), &pl_err_corrupt);
		assert_true(s.frames.len >= 1); /* what was sound stays */
		close_scene(&s);
	}
}

static void a_thread_frame_outside_the_data_stack_is_corrupt(void **state)
{
	struct scene s;

	open_scene(&s, 12);
	put_shim(&s, C_STACK, 0);
	fake_frame(&s.f, &s.py, C_STACK + 256, C_STACK, CODE, 0, 8);
	s.ts.frame = C_STACK + 256;
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	/* above the live part */
	put_thread(&s, 5, C_STACK);
	s.ts.frame = in_chunk(5);
	s.ts.chunk_top = in_chunk(5);
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	s.ts.chunk_top = in_chunk(6);
	assert_ok(walk(&s));
	close_scene(&s);
}

static void cycles_end(void **state)
{
	struct scene s;

	open_scene(&s, 12);
	pl_addr a = put_generator(&s, 0), b = put_generator(&s, a), c = put_generator(&s, b);
	fake_frame(&s.f, &s.py, a, c, CODE, 1, 8);
	s.ts.frame = c;
	s.f.reads = 0;
	assert_ptr_equal(walk_again(&s), &pl_err_corrupt);
	assert_true(s.f.reads < 20);
	close_scene(&s);
	/* heap frames: a long tail into a ring */
	open_scene(&s, 9);
	pl_addr first = fake_new(&s.f, 128 * 100);
	for (unsigned i = 0; i < 100; i++)
		fake_frame(&s.f, &s.py, first + i * 128, first + (i == 99 ? 60 : i + 1) * 128, CODE, 0, 8);
	s.ts.frame = first;
	s.f.reads = 0;
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	assert_true(s.f.reads < 400);
	close_scene(&s);
}

static void older_chunks_are_prefetched_and_their_top_is_believed(void **state)
{
	struct scene s;

	open_scene(&s, 13);
	put_shim(&s, C_STACK, 0);
	fake_frame(&s.f, &s.py, OLDER + 24, C_STACK, CODE, 0, 8);
	fake_frame(&s.f, &s.py, OLDER + 24 + STEP, OLDER + 24, CODE, 0, 8);
	fake_u64(&s.f, OLDER + 16, 2 * STEP / 8);
	fake_u64(&s.f, CHUNK, OLDER);
	put_thread(&s, 0, OLDER + 24 + STEP);
	s.ts.frame = in_chunk(0);
	s.ts.chunk_top = in_chunk(1);
	assert_ok(walk(&s));
	assert_int_equal(s.frames.len, 4);
	assert_int_equal(s.f.prefetches, 2);
	assert_int_equal(s.f.prefetched[0].addr, CHUNK);
	assert_int_equal(s.f.prefetched[0].len, 24 + STEP);
	assert_int_equal(s.f.prefetched[1].addr, OLDER);
	assert_int_equal(s.f.prefetched[1].len, 24 + 2 * STEP);
	fake_u64(&s.f, OLDER + 16, STEP / 8); /* the frame is above the older chunk's top */
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	close_scene(&s);
}

/* Chunks may be made up, one every few bytes: only what has frames of the walk is worth a copy. */
static void chunks_without_frames_are_not_prefetched(void **state)
{
	const unsigned empty = 100;
	const pl_addr headers = 0x7f0000030000;
	struct scene s;

	open_scene(&s, 13);
	fake_map(&s.f, headers, (empty + 1) * 24ul);
	for (unsigned i = 0; i < empty; i++) {
		fake_u64(&s.f, headers + i * 24, i + 1 < empty ? headers + (i + 1) * 24 : OLDER);
		fake_u64(&s.f, headers + i * 24 + 8, CHUNK_SZ);
		fake_u64(&s.f, headers + i * 24 + 16, (CHUNK_SZ - 24) / 8);
	}
	put_shim(&s, C_STACK, 0);
	fake_frame(&s.f, &s.py, OLDER + 24, C_STACK, CODE, 0, 8);
	fake_u64(&s.f, OLDER + 16, STEP / 8);
	fake_u64(&s.f, CHUNK, headers);
	put_thread(&s, 0, OLDER + 24);
	s.ts.frame = in_chunk(0);
	s.ts.chunk_top = in_chunk(1);
	assert_ok(walk(&s));
	assert_int_equal(s.f.prefetches, 2);
	assert_int_equal(s.f.prefetched[1].addr, OLDER);
	close_scene(&s);
}

static void without_a_top_the_live_part_ends_with_the_innermost_frame(void **state)
{
	struct scene s;

	open_scene(&s, 14);
	put_shim(&s, C_STACK, 0);
	put_thread(&s, 0, C_STACK);
	put_thread(&s, 1, in_chunk(0));
	s.ts.frame = in_chunk(1);
	s.ts.chunk_top = 0;
	assert_ok(walk(&s));
	assert_int_equal(s.f.prefetched[0].addr, CHUNK);
	assert_int_equal(s.f.prefetched[0].len, in_chunk(1) + s.py.layout.frame_span - CHUNK);
	close_scene(&s);
}

static void a_ring_of_chunks_ends(void **state)
{
	struct scene s;

	open_scene(&s, 12);
	fake_u64(&s.f, CHUNK, OLDER);
	fake_u64(&s.f, OLDER, CHUNK);
	pl_addr elsewhere = fake_new(&s.f, STEP);
	fake_frame(&s.f, &s.py, elsewhere, 0, CODE, 0, 8);
	s.ts.frame = elsewhere;
	assert_ptr_equal(walk(&s), &pl_err_corrupt);
	close_scene(&s);
}

static void ten_thousand_frames_cost_few_reads(void **state)
{
	const unsigned per_chunk = 160, chunks = 63;
	struct scene s;
	pl_addr previous = C_STACK, chunk = 0;

	open_scene(&s, 12);
	put_shim(&s, C_STACK, 0);
	for (unsigned c = 0; c < chunks; c++) {
		pl_addr addr = 0x7e0000000000 + c * 0x10000ull;
		fake_map(&s.f, addr, CHUNK_SZ);
		fake_u64(&s.f, addr, chunk);
		fake_u64(&s.f, addr + 8, CHUNK_SZ);
		fake_u64(&s.f, addr + 16, per_chunk * STEP / 8);
		chunk = addr;
		for (unsigned i = 0; i < per_chunk; i++) {
			fake_frame(&s.f, &s.py, addr + 24 + i * STEP, previous, CODE, 0, 8);
			previous = addr + 24 + i * STEP;
		}
	}
	s.ts.frame = previous;
	s.ts.chunk = chunk;
	s.ts.chunk_top = chunk + 24 + per_chunk * STEP;
	link_entry(&s);
	s.f.reads = 0;
	assert_ok(walk_again(&s));
	assert_int_equal(s.frames.len, per_chunk * chunks + 1);
	assert_true(s.f.reads < 10 * chunks);
	assert_int_equal(s.f.prefetches, chunks);
	close_scene(&s);
}

static void single_frames_are_read_with_the_same_checks(void **state)
{
	struct pl_frame fr;
	struct scene s;

	open_scene(&s, 14);
	put_thread(&s, 0, C_STACK);
	assert_ok(pl_frame_read(&s.f.mem, &s.py, in_chunk(0), &fr));
	assert_int_equal(fr.previous, C_STACK);
	assert_int_equal(fr.code, CODE);
	assert_ptr_equal(pl_frame_read(&s.f.mem, &s.py, in_chunk(0) + 1, &fr), &pl_err_corrupt);
	assert_ptr_equal(pl_frame_read(&s.f.mem, &s.py, 0x5000, &fr), &pl_err_unreadable);
	fake_field(&s.f, in_chunk(0), s.py.layout.frame.owner, 2, 1);
	assert_ptr_equal(pl_frame_read(&s.f.mem, &s.py, in_chunk(0), &fr), &pl_err_corrupt);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_objects_link_to_the_end),
		cmocka_unit_test(a_walk_through_a_frame_object_that_was_freed_is_torn),
		cmocka_unit_test(frame_objects_of_different_types_are_corrupt),
		cmocka_unit_test(shims_and_generators_are_part_of_the_chain),
		cmocka_unit_test(a_frame_that_is_just_being_linked_is_corrupt),
		cmocka_unit_test(tag_bits_of_the_code_pointer_are_cleared),
		cmocka_unit_test(on_3_15_the_chain_ends_at_the_base_frame),
		cmocka_unit_test(the_rest_of_a_chain_is_taken_from_the_tail),
		cmocka_unit_test(a_thread_without_python_frames_has_an_empty_stack),
		cmocka_unit_test(a_chain_ends_only_where_c_began),
		cmocka_unit_test(unsound_frames_are_corrupt),
		cmocka_unit_test(a_thread_frame_outside_the_data_stack_is_corrupt),
		cmocka_unit_test(cycles_end),
		cmocka_unit_test(older_chunks_are_prefetched_and_their_top_is_believed),
		cmocka_unit_test(chunks_without_frames_are_not_prefetched),
		cmocka_unit_test(without_a_top_the_live_part_ends_with_the_innermost_frame),
		cmocka_unit_test(a_ring_of_chunks_ends),
		cmocka_unit_test(ten_thousand_frames_cost_few_reads),
		cmocka_unit_test(single_frames_are_read_with_the_same_checks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
