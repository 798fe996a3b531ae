/* SPDX-License-Identifier: Apache-2.0 */
/* The outer part of a stack that changes between any two reads. The target is a made-up process behind mem_live.h,
 * which moves on just before it is read: `main` calls `yard`, which calls `seen` on one line and something else, or C
 * code alone, on another; `seen` has returned then, and its frame keeps its words. */
#include "unit.h"

#include "failing.h"
#include "fake.h"
#include "mem_live.h"
#include "outer.h"

#define CHUNK	  0x7f0000010000ull
#define CHUNK_LEN 16384
#define STEP	  256
#define APART	  4096
#define LINE_SEEN 20
#define LINE_ELSE 10

/* What the yard does. */
enum doing { CALLS_SEEN, DOES_ELSE };

struct scene;

struct pl_mem_live {
	struct pl_mem mem;
	struct scene *scene;
};

struct scene {
	struct fake f;
	struct pl_mem_live live;
	struct pl_py py;
	struct pl_tables tables;
	struct pl_reader reader;
	struct pl_stack_reader stack;
	struct pl_outer outer;
	pl_addr tstate, cframe, main, yard, seen;
	pl_addr codes[3];
	bool kept;    /* a traceback keeps the frame of `seen` */
	size_t reads; /* since a look began */
	enum doing (*at_read)(const struct scene *s, bool copies);
};

/* Frame objects lie far apart: each is a range of its own. */
static pl_addr frame_at(const struct scene *s, unsigned depth)
{
	return CHUNK + 24 + depth * (s->py.layout.frame_model == PL_FRAME_OBJECT ? APART : STEP);
}

static void put_frame(struct scene *s, pl_addr addr, pl_addr previous, pl_addr code, uint32_t instr)
{
	fake_frame(&s->f, &s->py, addr, previous, code, s->py.layout.owner_thread, instr);
}

static void put_innermost(struct scene *s, pl_addr frame)
{
	const struct pl_layout *lay = &s->py.layout;

	fake_field(&s->f, s->tstate, lay->tstate.frame, frame, 8);
	fake_field(&s->f, s->tstate, lay->tstate.cframe, s->cframe, 8);
	fake_field(&s->f, s->cframe, lay->cframe.current_frame, frame, 8);
	fake_field(&s->f, s->tstate, lay->tstate.datastack_top, frame + STEP, 8);
}

static void go(struct scene *s, enum doing doing)
{
	bool stands = doing == CALLS_SEEN;

	put_frame(s, s->yard, s->main, s->codes[1], stands ? LINE_SEEN : LINE_ELSE);
	put_innermost(s, stands ? s->seen : s->yard);
	if (s->py.layout.frame_model == PL_FRAME_OBJECT)
		fake_refer(&s->f, &s->py, s->seen, stands || s->kept);
}

static void before_read(struct scene *s, pl_addr addr, bool copies)
{
	pl_addr first = s->py.layout.frame_model == PL_FRAME_CFRAME ? s->tstate + s->py.layout.tstate.cframe
								    : s->tstate + s->py.layout.tstate.frame;

	if (addr == first && !copies)
		s->reads = 0;
	s->reads++;
	go(s, s->at_read(s, copies));
}

static struct plumb_error *live_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct scene *s = ((struct pl_mem_live *)mem)->scene;

	before_read(s, addr, false);
	return pl_mem_read(&s->f.mem, addr, dst, len);
}

struct pl_mem *pl_mem_live_mem(struct pl_mem_live *m)
{
	return &m->mem;
}

struct plumb_error *pl_mem_live_readv(struct pl_mem_live *m, const struct pl_range *ranges, size_t n, void *dst,
				      size_t *got)
{
	uint8_t *out = dst;

	for (*got = 0; *got < n; ++*got) {
		before_read(m->scene, ranges[*got].addr, true);
		if (pl_mem_read(&m->scene->f.mem, ranges[*got].addr, out, ranges[*got].len))
			break;
		out += ranges[*got].len;
	}
	return NULL;
}

static void open_scene(struct scene *s, const struct pl_py *py)
{
	static const struct pl_mem_ops ops = {.read = live_read};
	static const char *const names[] = {"main", "yard", "seen"};
	const struct pl_layout *lay = &py->layout;

	*s = (struct scene){.py = *py, .live = {.mem = {.ops = &ops}, .scene = s}};
	fake_init(&s->f);
	fake_map(&s->f, CHUNK, CHUNK_LEN);
	s->py.runtime = fake_new(&s->f, 4096);
	s->tstate = fake_new(&s->f, PL_TSTATE_MAX);
	s->cframe = fake_new(&s->f, 64);
	fake_field(&s->f, s->tstate, lay->tstate.datastack_chunk, CHUNK, 8);
	if (lay->tstate.datastack_top != PL_NONE)
		fake_u64(&s->f, s->tstate + lay->tstate.datastack_top + 8, CHUNK + CHUNK_LEN);
	for (size_t i = 0; i < 3; i++)
		s->codes[i] = fake_code(&s->f, &s->py, names[i], "yard.py", 1, 100);
	s->main = frame_at(s, 0);
	s->yard = frame_at(s, 1);
	s->seen = frame_at(s, 2);
	put_frame(s, s->main, 0, s->codes[0], 4);
	put_frame(s, s->seen, s->yard, s->codes[2], 6);
	assert_ok(pl_tables_init(&s->tables));
	pl_reader_init(&s->reader, &s->tables);
	pl_reader_bind(&s->reader, &s->py, &s->live);
	struct pl_interp interp = {.addr = fake_new(&s->f, 1 << 20), .gil = fake_new(&s->f, 4096)};
	pl_stack_reader_init(&s->stack, &s->reader, s->tstate, &interp);
}

static void close_scene(struct scene *s)
{
	pl_outer_deinit(&s->outer);
	pl_stack_reader_deinit(&s->stack);
	pl_reader_deinit(&s->reader);
	pl_tables_deinit(&s->tables);
	fake_deinit(&s->f);
}

/* A walk that mixed two moments: `seen` was called, and the yard on its way to something else. */
static void walk_torn(struct scene *s)
{
	const pl_addr inwards[] = {s->main, s->yard, s->seen};
	struct pl_frame f;

	go(s, DOES_ELSE);
	for (size_t i = 3; i-- > 0;) {
		assert_ok(pl_frame_read(&s->f.mem, &s->py, inwards[i], &f));
		assert_true(pl_vec_push(&s->stack.frames, f));
	}
}

/* How many frames of the stack are found to have stood, and the line of the yard if there is one. */
static uint32_t depth_found(struct scene *s, int32_t *line)
{
	uint32_t node, depth = 0;

	walk_torn(s);
	assert_ok(pl_outer_read(&s->reader, &s->stack, &s->outer, true, s->main, &node));
	for (uint32_t n = node; n; n = s->tables.trie.nodes.data[n].parent) {
		if (s->tables.trie.nodes.data[n].parent &&
		    !s->tables.trie.nodes.data[s->tables.trie.nodes.data[n].parent].parent)
			*line = s->tables.trie.nodes.data[n].offset;
		depth++;
	}
	return depth;
}

static void with_each(int from, int to, void (*check)(const struct pl_py *py))
{
	for (int minor = from; minor <= to; minor++) {
		struct pl_py py = fake_py(minor);

		check(&py);
	}
}

static enum doing always_seen(const struct scene *s, bool copies)
{
	return CALLS_SEEN;
}

static void check_standing(const struct pl_py *py)
{
	struct scene s;
	int32_t line = 0;

	open_scene(&s, py);
	s.at_read = always_seen;
	assert_int_equal(depth_found(&s, &line), 3);
	assert_int_equal(line, LINE_SEEN);
	close_scene(&s);
}

static void what_stands_throughout_is_found(void **state)
{
	const struct pl_py py27 = fake_py27();

	check_standing(&py27);
	with_each(6, 15, check_standing);
}

static enum doing seen_by_looks_only(const struct scene *s, bool copies)
{
	return copies ? DOES_ELSE : CALLS_SEEN;
}

static void check_popped(const struct pl_py *py)
{
	struct scene s;
	int32_t line = 0;

	open_scene(&s, py);
	s.at_read = seen_by_looks_only;
	assert_int_equal(depth_found(&s, &line), 2);
	assert_int_equal(line, LINE_ELSE);
	close_scene(&s);
}

static void a_frame_object_that_waits_for_the_next_call_does_not_stand(void **state)
{
	const struct pl_py py27 = fake_py27();

	check_popped(&py27);
	with_each(6, 10, check_popped);
}

static void a_frame_above_the_top_of_the_data_stack_does_not_stand(void **state)
{
	with_each(11, 15, check_popped);
}

static enum doing seen_by_three_reads(const struct scene *s, bool copies)
{
	return s->reads <= 3 ? CALLS_SEEN : DOES_ELSE;
}

static void check_kept(const struct pl_py *py)
{
	struct scene s;
	int32_t line = 0;

	open_scene(&s, py);
	s.kept = true;
	s.reads = 3; /* as when a look is over */
	s.at_read = seen_by_three_reads;
	assert_int_equal(depth_found(&s, &line), 2);
	close_scene(&s);
}

/* The thread state, the frame that it leads to, the caller: nothing is read between them. */
static void a_caller_is_read_next_after_the_frame_that_a_look_comes_to(void **state)
{
	const struct pl_py py27 = fake_py27();

	check_kept(&py27);
	with_each(6, 10, check_kept);
}

static void walk_of(struct scene *s, size_t depth)
{
	const pl_addr inwards[] = {s->main, s->yard, s->seen};
	struct pl_frame f;

	go(s, CALLS_SEEN);
	pl_vec_clear(&s->stack.frames);
	for (size_t i = depth; i-- > 0;) {
		assert_ok(pl_frame_read(&s->f.mem, &s->py, inwards[i], &f));
		assert_true(pl_vec_push(&s->stack.frames, f)); /* there was room before */
	}
}

/* What is copied has room, also after a plan for a deeper stack for which there was no memory. */
static void go_deeper(void *ctx)
{
	struct scene *s = ctx;

	pl_outer_deinit(&s->outer);
	s->outer = (struct pl_outer){0};
	for (size_t depth = 1; depth <= 3; depth++) {
		const struct pl_outer *o = &s->outer;
		uint32_t node;
		size_t len = 0;

		walk_of(s, depth);
		plumb_error_destroy(pl_outer_read(&s->reader, &s->stack, &s->outer, true, s->main, &node));
		for (size_t i = 0; i < o->ranges.len; i++)
			len += o->ranges.data[i].len;
		assert_true(o->planned == 0 || len <= o->bytes.cap);
	}
}

static void check_no_memory(const struct pl_py *py)
{
	struct scene s;

	open_scene(&s, py);
	s.at_read = always_seen;
	walk_of(&s, 3);
	failing_each(go_deeper, &s, 2);
	close_scene(&s);
}

static void there_is_room_for_what_was_planned(void **state)
{
	const struct pl_py py27 = fake_py27();

	check_no_memory(&py27);
	with_each(6, 15, check_no_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_throughout_is_found),
		cmocka_unit_test(there_is_room_for_what_was_planned),
		cmocka_unit_test(a_frame_object_that_waits_for_the_next_call_does_not_stand),
		cmocka_unit_test(a_frame_above_the_top_of_the_data_stack_does_not_stand),
		cmocka_unit_test(a_caller_is_read_next_after_the_frame_that_a_look_comes_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
