/* SPDX-License-Identifier: Apache-2.0 */
/* What a search for the lock of a wait, and a look at the locks of a round, may cost. Time is the test's: each stack
 * that is read takes a millisecond of it.
 */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "layout.h"
#include "mem_live.h"
#include "python_process.h"

#define MS	     1000000ull
#define THREADS	     500
#define LOCKS	     60 /* of which each may be asked */
#define STALE	     7	/* a node of the round before */
#define READINGS_MAX 8	/* in the time that a look has, with those of the thread at which it ended */

#define PAGE	     4096
#define SLOTS	     250 /* with an object each, whose type and its name are elsewhere */
#define SEARCH_BYTES (2u << 20)
#define SEARCHES     4000
#define ALL_BYTES    (300u << 20)

static uint64_t now_ns = MS;
static unsigned readings, looked_at;

uint64_t __wrap_pl_clock_monotonic_ns(void);
struct plumb_error *__wrap_pl_stack_read(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret);

uint64_t __wrap_pl_clock_monotonic_ns(void)
{
	return now_ns;
}

/* It moved meanwhile, as if on purpose. */
struct plumb_error *__wrap_pl_stack_read(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret)
{
	(void)r;
	(void)s;
	*ret = (struct pl_reading){0};
	now_ns += MS;
	readings++;
	return NULL;
}

static void count(void *ctx, const struct pl_thread_sampler *thread)
{
	(void)ctx;
	(void)thread;
	looked_at++;
}

static void a_look_at_many_threads_that_run_ends_in_time(void **state)
{
	static struct pl_thread_sampler threads[THREADS];
	static struct pl_python_process p;
	static uint64_t lock[8];
	struct pl_awaits awaits = {.object = (uintptr_t)lock, .kind = PL_LOCK_PLAIN};
	struct pl_lock_looks *looks;
	struct pl_mem_live *live;
	uint32_t at;

	(void)state;
	assert_ok(pl_mem_live_create(getpid(), &live));
	p.reader.mem = pl_mem_live_mem(live);
	assert_ok(pl_lock_looks_create(&p.reader, &looks));
	for (size_t i = 0; i < THREADS; i++) {
		threads[i].holds.whole = true; /* of the round before */
		threads[i].stack.tstate = i;   /* the first one runs no Python */
		assert_true(pl_vec_push(&p.threads.samplers, &threads[i]));
	}
	pl_lock_looks_begin(looks);
	assert_true(pl_lock_looks_add(looks, &awaits, &at));
	pl_lock_looks_ask(looks, &p, count, NULL);
	assert_in_range(readings, 1, READINGS_MAX);
	assert_in_range(looked_at, 1, READINGS_MAX);
	assert_true(threads[0].holds.whole && !threads[0].holds.count);
	for (size_t i = 1; i < THREADS; i++)
		assert_false(threads[i].holds.whole); /* what is not looked at may hold any */
	assert_int_not_equal(looks->locks.data[at].known, PL_HOLDER_THREAD);
	pl_vec_deinit(&p.threads.samplers);
	pl_lock_looks_destroy(looks);
	pl_mem_live_destroy(live);
}

/* Each thread has an RLock, which says so itself. */
static void the_holders_of_many_locks_are_looked_at_in_time(void **state)
{
	static struct pl_thread_sampler threads[LOCKS];
	static struct pl_python_process p;
	static uint64_t held, locks[LOCKS][3]; /* its semaphore, its owner, its count */
	struct pl_lock_looks *looks;
	struct pl_mem_live *live;
	uint32_t at;

	(void)state;
	readings = looked_at = 0;
	assert_ok(pl_mem_live_create(getpid(), &live));
	p.reader.mem = pl_mem_live_mem(live);
	assert_ok(pl_lock_looks_create(&p.reader, &looks));
	pl_lock_looks_begin(looks);
	for (size_t i = 0; i < LOCKS; i++) {
		const struct pl_awaits awaits = {.object = (uintptr_t)locks[i], .kind = PL_LOCK_RECURSIVE};

		locks[i][0] = (uintptr_t)&held;
		locks[i][1] = threads[i].ident = threads[i].stack.tstate = 1 + i;
		locks[i][2] = 1;
		threads[i].holds.node = STALE;
		assert_true(pl_vec_push(&p.threads.samplers, &threads[i]));
		assert_true(pl_lock_looks_add(looks, &awaits, &at));
	}
	pl_lock_looks_ask(looks, &p, count, NULL);
	assert_in_range(readings, 1, READINGS_MAX);
	assert_in_range(looked_at, 1, READINGS_MAX);
	for (size_t i = 0; i < LOCKS; i++) {
		assert_int_equal(looks->locks.data[i].known, PL_HOLDER_THREAD);
		assert_ptr_equal(looks->locks.data[i].holder, &threads[i]);
		assert_int_equal(looks->locks.data[i].node, 0); /* where it is, is not known */
	}
	pl_vec_deinit(&p.threads.samplers);
	pl_lock_looks_destroy(looks);
	pl_mem_live_destroy(live);
}

/* A frame of 3.10 and what is in its slots; what is read of it is counted. */
static struct {
	_Alignas(PAGE) uint8_t frame[PAGE], code[PAGE], lock[PAGE], lock_type[PAGE];
	struct {
		uint8_t object[PAGE], type[PAGE], name[PAGE];
	} of[SLOTS];
} made;
static uint64_t bytes_read;
static int32_t semaphore;

static struct plumb_error *read_made(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	const pl_addr first = (uintptr_t)&made;

	(void)mem;
	bytes_read += len;
	if (addr == (uintptr_t)&semaphore && len == sizeof semaphore) {
		memcpy(dst, &semaphore, len);
		return NULL;
	}
	if (addr < first || addr - first > sizeof made || len > sizeof made - (addr - first))
		return &pl_err_unreadable;
	memcpy(dst, (const uint8_t *)&made + (addr - first), len);
	return NULL;
}

static void put(uint8_t *at, uint32_t offset, const void *value)
{
	const pl_addr word = (uintptr_t)value;

	memcpy(at + offset, &word, sizeof word);
}

/* @p count slots with objects of types of their own, then one with a lock. */
static void make_frame(const struct pl_layout *lay, size_t count)
{
	memset(made.frame, 0, sizeof made.frame);
	for (size_t i = 0; i < count; i++) {
		put(made.frame, lay->frame.localsplus + (uint32_t)i * 8, made.of[i].object);
		put(made.of[i].object, lay->object.type, made.of[i].type);
		put(made.of[i].type, lay->type.tp_name, made.of[i].name);
		strcpy((char *)made.of[i].name, "T");
	}
	put(made.frame, lay->frame.localsplus + (uint32_t)count * 8, made.lock);
	put(made.frame, lay->frame.valuestack, made.frame + lay->frame.localsplus + (count + 1) * 8);
	put(made.lock, lay->object.type, made.lock_type);
	put(made.lock, lay->object.size, &semaphore);
	put(made.lock_type, lay->type.tp_name, made.lock_type + PAGE / 2);
	strcpy((char *)made.lock_type + PAGE / 2, "_thread.lock");
}

static pl_addr find_lock(struct pl_lock_looks *looks)
{
	static uint32_t instr; /* each is at a place of its own */
	struct pl_frame frame = {
		.kind = PL_FRAME_PYTHON, .addr = (uintptr_t)made.frame, .code = (uintptr_t)made.code, .instr = ++instr};
	const pl_frame_vec frames = {.data = &frame, .len = 1};
	struct pl_awaits awaits;

	pl_lock_looks_find(looks, &frames, (uintptr_t)&semaphore, &awaits);
	return awaits.object;
}

static struct pl_lock_looks *looks_at_made(struct pl_python_process *p)
{
	static const struct pl_mem_ops ops = {.read = read_made};
	static struct pl_mem mem = {.ops = &ops};
	struct pl_lock_looks *looks;

	p->reader.mem = &mem;
	p->reader.py.layout = *pl_layout_find(PL_PY_VERSION(3, 10, 0), false);
	assert_ok(pl_lock_looks_create(&p->reader, &looks));
	return looks;
}

static void a_search_among_objects_of_many_types_ends(void **state)
{
	static struct pl_python_process p;
	struct pl_lock_looks *looks = looks_at_made(&p);

	(void)state;
	make_frame(&p.reader.py.layout, 10);
	assert_int_equal(find_lock(looks), (uintptr_t)made.lock);
	make_frame(&p.reader.py.layout, SLOTS);
	bytes_read = 0;
	(void)find_lock(looks);
	assert_in_range(bytes_read, 1, SEARCH_BYTES);
	pl_lock_looks_destroy(looks);
}

/* Then waits are told without a lock, until there is a ration again. */
static void searches_have_a_ration(void **state)
{
	static struct pl_python_process p;
	struct pl_lock_looks *looks = looks_at_made(&p);

	(void)state;
	make_frame(&p.reader.py.layout, SLOTS);
	bytes_read = 0;
	for (size_t i = 0; i < SEARCHES; i++)
		(void)find_lock(looks);
	assert_in_range(bytes_read, 1, ALL_BYTES);
	make_frame(&p.reader.py.layout, 0);
	for (size_t i = 0; i < SEARCHES && find_lock(looks); i++)
		continue;
	assert_int_equal(find_lock(looks), 0);
	now_ns += PL_NS_PER_S;
	assert_int_equal(find_lock(looks), (uintptr_t)made.lock);
	pl_lock_looks_destroy(looks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_among_objects_of_many_types_ends),
		cmocka_unit_test(searches_have_a_ration),
		cmocka_unit_test(a_look_at_many_threads_that_run_ends_in_time),
		cmocka_unit_test(the_holders_of_many_locks_are_looked_at_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
