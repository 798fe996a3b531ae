/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of tasks is a part of the reading of the stack: it comes with the same fetch. The process is an image of
 * a real one (tests/golden/cpython) behind mem_live.h, in which a task is made to run on the thread that made it; its
 * awaiters go their way as soon as a fetch is over. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asyncio_parts.h"
#include "golden_image.h"
#include "mem_live.h"
#include "reading.h"

#define PATCHES 16
#define PAGE	4096
#define MADE_UP UINT64_C(0x100000000000) /* where nothing else is */

struct patch {
	pl_addr addr;
	uint64_t value;
	bool later; /* only when the awaiters have gone their way */
};

struct pl_mem_live {
	struct pl_mem mem;
	struct pl_mem *image;
	struct patch patches[PATCHES];
	size_t patches_len;
	uint8_t made_up[PAGE]; /* at MADE_UP */
	bool moves, moved;
	size_t fetches, reads;
};

struct scene {
	struct pl_mem_live live;
	char *bytes; /* of the image */
	struct pl_mem_image *img;
	struct pl_py py;
	struct pl_interp interp;
	struct pl_tasks tasks;
	struct pl_tables tables;
	struct pl_reader reader;
	struct pl_stack_reader stack;
};

static bool is_made_up(pl_addr addr)
{
	return addr - MADE_UP < PAGE;
}

/* An image has the bytes that were read when it was made; a process has whole pages. */
static struct plumb_error *read_bytes(struct pl_mem_live *m, pl_addr addr, uint8_t *dst, size_t len)
{
	struct plumb_error *err = is_made_up(addr) ? NULL : pl_mem_read(m->image, addr, dst, len);

	if (is_made_up(addr)) {
		memset(dst, 0, len);
		memcpy(dst, m->made_up + (addr - MADE_UP), len < MADE_UP + PAGE - addr ? len : MADE_UP + PAGE - addr);
	}

	for (size_t i = 0; err && i < len; i++)
		if (pl_mem_read(m->image, addr + i, dst + i, 1))
			dst[i] = 0;
	for (size_t i = 0; i < m->patches_len; i++)
		for (size_t k = 0; k < 8; k++)
			if ((m->moved || !m->patches[i].later) && m->patches[i].addr + k - addr < len)
				dst[m->patches[i].addr + k - addr] = (uint8_t)(m->patches[i].value >> 8 * k);
	return err;
}

static struct plumb_error *live_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_mem_live *m = (struct pl_mem_live *)mem;
	struct plumb_error *err = read_bytes(m, addr, dst, len);

	m->reads++;
	return len == PAGE ? NULL : err;
}

struct pl_mem *pl_mem_live_mem(struct pl_mem_live *m)
{
	return &m->mem;
}

struct plumb_error *pl_mem_live_readv(struct pl_mem_live *m, const struct pl_range *ranges, size_t n, void *dst,
				      size_t *got)
{
	uint8_t *out = dst;

	for (*got = 0; *got < n; out += ranges[(*got)++].len)
		(void)read_bytes(m, ranges[*got].addr, out, ranges[*got].len);
	m->fetches++;
	m->moved |= m->moves;
	return NULL;
}

static void patch(struct scene *s, pl_addr addr, uint64_t value, bool later)
{
	assert_true(s->live.patches_len < PATCHES);
	s->live.patches[s->live.patches_len++] = (struct patch){addr, value, later};
}

static const struct pl_task *find(const struct scene *s, const char *name)
{
	return golden_task(&s->tasks, name);
}

static struct pl_task_layout words_of(struct scene *s)
{
	struct pl_asyncio a = {.mem = &s->live.mem, .py = &s->py, .interp = &s->interp};

	assert_ok(pl_module_open(a.mem, a.py, s->interp.modules, "_asyncio", &a.c_module, NULL));
	assert_ok(pl_task_layout_find(&a));
	return a.layout;
}

static void make_up(struct scene *s, pl_addr addr, uint64_t word)
{
	memcpy(s->live.made_up + (addr - MADE_UP), &word, sizeof word);
}

/* What is called when a task is done: the image does not have it. */
static pl_addr make_wake_up(struct scene *s, pl_addr waiter)
{
	static const char name[] = "builtin_function_or_method";
	const struct pl_layout *lay = &s->py.layout;
	const pl_addr function = MADE_UP + 1024, type = MADE_UP + 2048, text = MADE_UP + 3072;

	make_up(s, function + lay->object.type, type);
	make_up(s, function + lay->object.size + 8, waiter); /* m_self */
	make_up(s, type + lay->type.tp_name, text);
	memcpy(s->live.made_up + (text - MADE_UP), name, sizeof name);
	return function;
}

/* The outermost frame of a task becomes the one that its thread runs; below it there is nothing but the frame at which
 * C code came in. */
static void run_task(struct scene *s, const struct pl_task *t, const struct pl_task_layout *words)
{
	const struct pl_layout *lay = &s->py.layout;
	pl_addr frame = s->tasks.frames.data[t->frames_at + t->frames - 1].addr;

	s->live.made_up[lay->frame.owner] = lay->owner_interpreter;
	patch(s, frame + lay->frame.previous, MADE_UP, false);
	patch(s, t->tstate + lay->tstate.frame, frame, false);
	patch(s, t->tstate + lay->tstate.datastack_chunk, 0, false);
	if (lay->tstate.base_frame != PL_NONE)
		patch(s, t->tstate + lay->tstate.base_frame, MADE_UP, false);
	patch(s, t->tstate + words->tstate_task, t->addr, false);
}

/* The task "awaited" runs, and who awaits it will wait for another one. */
static void set_scene(struct scene *s)
{
	struct pl_task_layout words = words_of(s);
	const struct pl_task *t = find(s, "awaited"), *other = find(s, "sleep");

	assert_non_null(t);
	assert_non_null(other);
	assert_true(t->tstate && t->frames && t->waiters);
	run_task(s, t, &words);
	/* Of its words the loop is the first. */
	patch(s, t->addr + s->py.layout.object.size + 8, make_wake_up(s, s->tasks.waiters.data[t->waiters_at]), false);
	for (uint32_t i = 0; i < t->waiters; i++)
		patch(s, s->tasks.waiters.data[t->waiters_at + i] + words.fut_waiter, other->addr, true);
	pl_stack_reader_init(&s->stack, &s->reader, t->tstate, &s->interp);
}

static void open_scene(struct scene *s, const char *version)
{
	static const struct pl_mem_ops ops = {.read = live_read};
	char name[64];
	size_t len;

	*s = (struct scene){.live = {.mem = {&ops}}};
	snprintf(name, sizeof name, "tasks-%s", version);
	assert_non_null(s->bytes = golden_file(name, "img", &len));
	assert_ok(pl_mem_image_create(s->bytes, len, &s->img));
	s->live.image = pl_mem_image_mem(s->img);
	assert_ok(golden_tasks(s->live.image, &s->live.mem, &s->py, &s->interp, &s->tasks));
	assert_ok(pl_tables_init(&s->tables));
	pl_reader_init(&s->reader, &s->tables);
	pl_reader_bind(&s->reader, &s->py, &s->live);
	s->reader.tasks = true;
	set_scene(s);
}

static void close_scene(struct scene *s)
{
	pl_stack_reader_deinit(&s->stack);
	pl_reader_deinit(&s->reader);
	pl_tables_deinit(&s->tables);
	pl_tasks_deinit(&s->tasks);
	pl_mem_image_destroy(s->img);
	free(s->bytes);
}

static struct pl_reading read_once(struct scene *s)
{
	struct pl_reading r;

	s->live.fetches = s->live.reads = 0;
	assert_ok(pl_stack_read(&s->reader, &s->stack, &r));
	assert_true(r.complete && r.in_task);
	return r;
}

static void check(const char *version)
{
	struct scene s;
	struct pl_reading first, last;

	open_scene(&s, version);
	for (int i = 0; i < 8; i++) /* until there is a plan for all of it */
		first = read_once(&s);
	assert_true(first.task_node && first.task_node != first.node);
	assert_int_equal(s.live.fetches, 1);
	assert_int_equal(s.live.reads, 0);
	s.live.moves = true;
	last = read_once(&s);
	assert_int_equal(last.task_node, first.task_node);
	assert_int_equal(s.live.reads, 0);
	/* They have gone: now nobody awaits it. */
	last = read_once(&s);
	assert_true(last.task_node != first.task_node);
	close_scene(&s);
}

static void tasks_are_read_with_the_stack(void **state)
{
	check("3.14.10");
	check("3.15.2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(tasks_are_read_with_the_stack)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
