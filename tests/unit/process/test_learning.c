/* SPDX-License-Identifier: Apache-2.0 */
/* What code costs that was not seen before, in a process that is made up. */
#include "unit.h"

#include <stdlib.h>

#include "codes.h"
#include "fake.h"

#define STOPPED_CLOCK UINT64_MAX /* as the moment of the last ration: no time passes */

/* The process, and how much of it is read. */
struct counted {
	struct pl_mem mem;
	struct fake f;
	uint64_t bytes;
};

struct scene {
	struct counted live;
	struct pl_py py;
	struct pl_code_store store;
	struct pl_codes codes;
	uint64_t tick;
};

static struct plumb_error *counted_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct counted *c = (struct counted *)mem;

	c->bytes += len;
	return pl_mem_read(&c->f.mem, addr, dst, len);
}

static void open_scene_on(struct scene *s, int minor)
{
	static const struct pl_mem_ops ops = {.read = counted_read};

	*s = (struct scene){.live.mem.ops = &ops, .py = fake_py(minor)};
	fake_init(&s->live.f);
	pl_codes_init(&s->codes, &s->store);
	s->codes.ration.at_ns = STOPPED_CLOCK;
}

static void open_scene(struct scene *s)
{
	open_scene_on(s, 12);
}

static void close_scene(struct scene *s)
{
	pl_codes_deinit(&s->codes);
	pl_code_store_deinit(&s->store);
	fake_deinit(&s->live.f);
}

static struct plumb_error *resolve(struct scene *s, pl_addr code)
{
	struct pl_frame f = {.kind = PL_FRAME_PYTHON, .code = code, .instr = code + s->py.layout.code.code_bytes};
	const struct pl_codes_reading reading = {
		.py = &s->py, .mem = &s->live.mem, .live = &s->live.mem, .tick = s->tick};
	struct pl_code_place at;

	return pl_codes_resolve(&s->codes, &reading, &f, &at);
}

/* As a reading does it: all frames, until the code of one cannot be had. How many could. */
static size_t resolve_all(struct scene *s, const pl_addr *codes, size_t n)
{
	s->tick++;
	for (size_t i = 0; i < n; i++) {
		struct plumb_error *err = resolve(s, codes[i]);

		if (!err)
			continue;
		assert_ptr_equal(err, &pl_err_unreadable);
		return i;
	}
	return n;
}

/* Many equal functions that share one line table, the longest that is read. */
static void long_line_tables_cost_no_more_than_a_ration(void **state)
{
	enum { CODES = 200 };
	struct scene s;
	pl_addr codes[CODES];
	size_t len = PL_MAX_LINETABLE_BYTES - 64;
	uint8_t *zeros = calloc(1, len);

	open_scene(&s);
	pl_addr linetable = fake_bytes(&s.live.f, &s.py, zeros, len);
	for (size_t i = 0; i < CODES; i++) {
		codes[i] = fake_code(&s.live.f, &s.py, "name", "file.py", 10, 8);
		fake_field(&s.live.f, codes[i], s.py.layout.code.linetable, linetable, 8);
	}
	size_t known = resolve_all(&s, codes, CODES);
	assert_true(known > 0 && known < CODES);
	/* They are read, hashed and compared. */
	assert_true(s.live.bytes > PL_RATION_MOST / 4 && s.live.bytes < PL_RATION_MOST);
	uint64_t bytes = s.live.bytes;
	assert_int_equal(resolve_all(&s, codes, CODES), known);
	assert_true(s.live.bytes - bytes < len);
	s.codes.ration.spent = 0; /* much later */
	assert_true(resolve_all(&s, codes, CODES) > known);
	close_scene(&s);
	free(zeros);
}

static void what_does_not_fit_into_one_reading_is_known_after_some(void **state)
{
	enum { CODES = 300, AT_ONCE = 40 };
	struct scene s;
	pl_addr codes[CODES];
	size_t turns = 0;

	open_scene(&s);
	for (size_t i = 0; i < CODES; i++)
		codes[i] = fake_code(&s.live.f, &s.py, "name", "file.py", 10 + (int)i, 8);
	assert_int_equal(resolve_all(&s, codes, 1), 1);
	uint64_t each = s.codes.ration.spent;
	assert_true(each > 0);
	for (size_t known = 1; known < CODES; turns++) {
		s.codes.ration.spent = PL_RATION_MOST - AT_ONCE * each;
		size_t now = resolve_all(&s, codes, CODES);
		assert_true(now == CODES || (now >= known + AT_ONCE / 2 && now <= known + AT_ONCE));
		known = now;
	}
	assert_true(turns > 1);
	uint64_t spent = s.codes.ration.spent;
	assert_int_equal(resolve_all(&s, codes, CODES), CODES); /* what is known costs nothing of it */
	assert_int_equal(s.codes.ration.spent, spent);
	close_scene(&s);
}

/* Up to 3.11 code that is made anew can have every word of what was there before, its file name's address, too. */
static void another_file_name_in_the_place_of_the_old_one_is_noticed(void **state)
{
	for (int minor = 6; minor <= 11; minor++) {
		const uint32_t end = 'i' | 'i' << 8 | 'i' << 16 | '>' << 24;
		struct scene s;
		pl_addr filename;

		open_scene_on(&s, minor);
		pl_addr code = fake_code(&s.live.f, &s.py, "<lambda>", "<generation 542>", 12, 8);
		assert_int_equal(resolve_all(&s, &code, 1), 1);
		assert_int_equal(resolve_all(&s, &code, 1), 1);
		assert_int_equal(s.store.known.len, 1);
		assert_ok(pl_mem_read_u64(&s.live.f.mem, code + s.py.layout.code.filename, &filename));
		fake_field(&s.live.f, filename, s.py.layout.unicode.ascii_size + sizeof "<generation", end, 4);
		assert_int_equal(resolve_all(&s, &code, 1), 1);
		assert_int_equal(s.store.known.len, 2);
		assert_string_equal(pl_buf_str(&s.store.known.data[1]->code.filename), "<generation iii>");
		close_scene(&s);
	}
}

/* ---- what is held of addresses, which a program can make any number of ------------------------------------------- */

#define COPIED	 4096u /* threads with bytecode of their own */
#define HELD_MAX (64u << 20)

/* Code of a free-threaded build, whose copy for the last thread begins at 0x300002. */
static pl_addr copied_code(struct scene *s, pl_addr copies, unsigned line)
{
	pl_addr code = fake_code(&s->live.f, &s->py, "name", "file.py", (int)line, 8);

	fake_field(&s->live.f, code, s->py.layout.code.tlbc, copies, 8);
	return code;
}

static size_t bytes_of_copies(const struct pl_codes *c)
{
	size_t bytes = 0;

	for (size_t i = 0; i < c->slots.len; i++)
		bytes += c->slots.data[i].copies.cap * sizeof *c->slots.data[i].copies.data;
	return bytes;
}

/* Each code has as many as there are threads, and one thread is enough to make it so. */
static void copies_of_bytecode_are_remembered_up_to_a_limit(void **state)
{
	enum { CODES = 5000 };
	struct scene s;

	(void)state;
	open_scene(&s);
	s.py = fake_py_free_threaded(14);
	s.codes.ration.unlimited = true;
	pl_addr copies = fake_new(&s.live.f, 8 + COPIED * 8);
	fake_u64(&s.live.f, copies, COPIED);
	fake_u64(&s.live.f, copies + COPIED * 8, 0x300002);
	const struct pl_codes_reading reading = {.py = &s.py, .mem = &s.live.mem, .live = &s.live.mem, .tick = 1};
	for (unsigned i = 0; i < CODES; i++) {
		struct pl_frame f = {.kind = PL_FRAME_PYTHON, .instr = 0x300006, .tlbc_index = COPIED - 1};
		struct pl_code_place at;

		f.code = copied_code(&s, copies, 1 + i % 10);
		assert_ok(pl_codes_resolve(&s.codes, &reading, &f, &at));
		assert_int_equal(at.offset, 4);
	}
	assert_true(bytes_of_copies(&s.codes) > 0);
	assert_true(bytes_of_copies(&s.codes) <= HELD_MAX);
	close_scene(&s);
}

/* Equal code at ever more addresses: what is known of the first ones is forgotten, and learnt again. */
static void addresses_are_remembered_up_to_a_limit(void **state)
{
	enum { CODES = 50, MOST = 20 };
	struct scene s;
	pl_addr codes[CODES];

	(void)state;
	open_scene(&s);
	s.codes.most = MOST;
	for (size_t i = 0; i < CODES; i++)
		codes[i] = fake_code(&s.live.f, &s.py, "name", "file.py", 10, 8);
	assert_int_equal(resolve_all(&s, codes, CODES), CODES);
	assert_true(s.codes.slots.len > 0 && s.codes.slots.len <= MOST);
	assert_int_equal(s.codes.by_addr.len, s.codes.slots.len);
	/* Nobody takes what is there now for what was there before. */
	assert_false(pl_codes_fresh(&s.codes, 0, s.tick, 0));
	assert_true(pl_codes_fresh(&s.codes, CODES - 1, s.tick, 0));
	assert_int_equal(resolve_all(&s, codes, CODES), CODES);
	assert_int_equal(s.store.known.len, 1);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_file_name_in_the_place_of_the_old_one_is_noticed),
		cmocka_unit_test(long_line_tables_cost_no_more_than_a_ration),
		cmocka_unit_test(copies_of_bytecode_are_remembered_up_to_a_limit),
		cmocka_unit_test(addresses_are_remembered_up_to_a_limit),
		cmocka_unit_test(what_does_not_fit_into_one_reading_is_known_after_some),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
