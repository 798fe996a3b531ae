/* SPDX-License-Identifier: Apache-2.0 */
/* The target is ourselves: process_vm_readv does not mind. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "snapshot.h"

#define PAGE 4096ul

static struct pl_mem_live *live;

static int set_up(void **state)
{
	struct plumb_error *err = pl_mem_live_create(getpid(), &live);

	plumb_error_destroy(err);
	return err != NULL;
}

static int tear_down(void **state)
{
	pl_mem_live_destroy(live);
	return 0;
}

/* Pages of bytes that say where they are; `holes` has a bit for each page that is unmapped. */
static uint8_t *map_pages(size_t pages, uint64_t holes)
{
	uint8_t *area = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(area != MAP_FAILED);
	for (size_t i = 0; i < pages * PAGE; i++)
		area[i] = (uint8_t)(i * 7 + i / 251);
	for (size_t i = 0; i < pages; i++)
		if (i < 64 && holes >> i & 1)
			munmap(area + i * PAGE, PAGE);
	return area;
}

static bool is_mapped(size_t pages, uint64_t holes, size_t offset, size_t len)
{
	for (size_t p = offset / PAGE; len && p <= (offset + len - 1) / PAGE; p++)
		if (p >= pages || (p < 64 && holes >> p & 1))
			return false;
	return true;
}

static pl_addr at(const void *p)
{
	return (pl_addr)(uintptr_t)p;
}

static void read_at(struct pl_snapshot *s, const uint8_t *p, size_t len)
{
	uint8_t got[PAGE];

	assert_ok(pl_mem_read(&s->mem, at(p), got, len));
	assert_memory_equal(got, p, len);
}

/* The first walk: the thread state at @p anchor, the rest behind it. */
static void walk_and_learn(struct pl_snapshot *s, const uint8_t *anchor, const uint8_t *rest, size_t rest_len)
{
	assert_ok(pl_snapshot_fetch(s));
	read_at(s, anchor, 64);
	pl_snapshot_anchor_touched(s);
	if (rest_len)
		read_at(s, rest, rest_len);
	pl_snapshot_learn(s);
}

static void the_first_walk_goes_to_the_process_and_the_second_is_served_from_one_fetch(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 0), got[200], *kept = malloc(16 * PAGE);
	memcpy(kept, area, 16 * PAGE);
	pl_snapshot_init(&s, live);
	assert_ok(pl_snapshot_fetch(&s));
	assert_false(s.fetched || s.whole);
	walk_and_learn(&s, area + 100, area + 9 * PAGE + 50, 200);
	assert_ok(pl_snapshot_fetch(&s));
	assert_true(s.fetched && s.whole);
	memset(area, 0, 16 * PAGE); /* what is served now is the copy */
	assert_ok(pl_mem_read(&s.mem, at(area + 100), got, 64));
	assert_memory_equal(got, kept + 100, 64);
	assert_ok(pl_mem_read(&s.mem, at(area + 9 * PAGE + 50), got, 200));
	assert_memory_equal(got, kept + 9 * PAGE + 50, 200);
	assert_ok(pl_mem_read(&s.mem, at(area + 9 * PAGE + 60), got, 8)); /* a part of it */
	assert_memory_equal(got, kept + 9 * PAGE + 60, 8);
	assert_ok(pl_mem_read(&s.before, at(area + 100), got, 64));
	assert_memory_equal(got, kept + 100, 64);
	assert_ok(pl_mem_read(&s.after, at(area + 100), got, 64));
	assert_memory_equal(got, kept + 100, 64);
	assert_true(s.whole);
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
	free(kept);
}

static void a_read_that_misses_the_plan_is_true_but_no_longer_whole(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 1ull << 15);
	uint8_t byte;
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area, area + 5 * PAGE, 64);
	assert_ok(pl_snapshot_fetch(&s));
	read_at(&s, area + 5 * PAGE, 64);
	assert_true(s.whole);
	read_at(&s, area + 5 * PAGE + 32, 64); /* half of it was fetched */
	assert_false(s.whole);
	pl_snapshot_learn(&s);
	assert_ok(pl_snapshot_fetch(&s));
	read_at(&s, area + 5 * PAGE + 32, 64); /* it has learnt */
	assert_true(s.whole);
	assert_ptr_equal(pl_mem_read(&s.mem, at(area + 15 * PAGE), &byte, 1), &pl_err_unreadable);
	assert_false(s.whole);
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

static void bytes_of_the_body_are_compared_with_the_fetch_before(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 0);
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area, area + 5 * PAGE, 64);
	assert_ok(pl_snapshot_fetch(&s));
	assert_false(pl_snapshot_unchanged(&s, at(area + 5 * PAGE), 64)); /* nothing to compare with */
	assert_non_null(pl_snapshot_piece(&s, at(area + 5 * PAGE), 64));
	assert_null(pl_snapshot_piece(&s, at(area), 8)); /* an anchor */
	assert_ok(pl_snapshot_fetch(&s));
	assert_true(pl_snapshot_unchanged(&s, at(area + 5 * PAGE), 64));
	assert_false(pl_snapshot_unchanged(&s, at(area + 9 * PAGE), 8)); /* not in the plan */
	area[5 * PAGE + 63]++;
	assert_ok(pl_snapshot_fetch(&s));
	assert_true(pl_snapshot_unchanged(&s, at(area + 5 * PAGE), 63));
	assert_false(pl_snapshot_unchanged(&s, at(area + 5 * PAGE), 64));
	assert_ok(pl_snapshot_fetch(&s));
	assert_true(pl_snapshot_unchanged(&s, at(area + 5 * PAGE), 64));
	pl_snapshot_bypass(&s);
	assert_false(pl_snapshot_unchanged(&s, at(area + 5 * PAGE), 64));
	assert_ok(pl_snapshot_fetch(&s));
	assert_false(pl_snapshot_unchanged(&s, at(area + 5 * PAGE), 64)); /* what was read in between is not known */
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

/* Two anchors that were joined, and between them something that the body, joined around them, has as well. */
static void what_the_anchors_serve_is_not_compared_in_the_body(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 0);
	pl_snapshot_init(&s, live);
	assert_ok(pl_snapshot_fetch(&s));
	read_at(&s, area + PAGE, 64);
	pl_snapshot_anchor_touched(&s);
	pl_snapshot_anchor(&s, at(area + PAGE + 400), 64);
	read_at(&s, area + PAGE - 200, 64);
	read_at(&s, area + PAGE + 200, 64);
	read_at(&s, area + PAGE + 600, 64);
	pl_snapshot_learn(&s);
	assert_ok(pl_snapshot_fetch(&s));
	assert_non_null(pl_snapshot_piece(&s, at(area + PAGE - 200), 64));
	assert_non_null(pl_snapshot_piece(&s, at(area + PAGE + 600), 64));
	assert_null(pl_snapshot_piece(&s, at(area + PAGE + 200), 64));
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

/* What was compared is in the next plan like what was read. */
static void what_is_compared_counts_as_read(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 0);
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area, area + 5 * PAGE, 64);
	assert_ok(pl_snapshot_fetch(&s));
	assert_ok(pl_snapshot_fetch(&s));
	read_at(&s, area, 64);
	pl_snapshot_anchor_touched(&s);
	assert_true(pl_snapshot_unchanged(&s, at(area + 5 * PAGE + 32), 32));
	read_at(&s, area + 9 * PAGE, 64); /* a miss: there will be a new plan */
	pl_snapshot_learn(&s);
	assert_ok(pl_snapshot_fetch(&s));
	assert_non_null(pl_snapshot_piece(&s, at(area + 5 * PAGE), 64));
	assert_non_null(pl_snapshot_piece(&s, at(area + 9 * PAGE), 64));
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

static void the_copies_of_the_anchors_hold_nothing_else(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 0), got[64];
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area, area + 5 * PAGE, 64);
	assert_ptr_equal(pl_mem_read(&s.before, at(area), got, 8), &pl_err_unreadable); /* nothing fetched yet */
	assert_ok(pl_snapshot_fetch(&s));
	assert_ok(pl_mem_read(&s.before, at(area + 60), got, 4));
	assert_ptr_equal(pl_mem_read(&s.before, at(area + 60), got, 8), &pl_err_unreadable);
	assert_ptr_equal(pl_mem_read(&s.after, at(area + 5 * PAGE), got, 8), &pl_err_unreadable);
	assert_true(s.whole);
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

struct twins {
	_Atomic uint64_t *first, *second;
	atomic_bool stop;
};

/* second <= first <= second + 1 at each moment */
static void *count_twins(void *arg)
{
	struct twins *t = arg;

	for (uint64_t i = 1; !atomic_load_explicit(&t->stop, memory_order_relaxed); i++) {
		atomic_store(t->first, i);
		atomic_store(t->second, i);
	}
	return NULL;
}

static void the_body_is_copied_between_the_two_copies_of_the_anchors(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(64, 0);
	struct twins t = {.first = (void *)area, .second = (void *)(area + 60 * PAGE)};
	pthread_t thread;
	uint64_t before, body, after, changed = 0;
	atomic_store(t.first, 0);
	atomic_store(t.second, 0);
	pl_snapshot_init(&s, live);
	assert_ok(pl_snapshot_fetch(&s));
	assert_ok(pl_mem_read_u64(&s.mem, at(t.first), &before));
	pl_snapshot_anchor_touched(&s);
	pl_mem_prefetch(&s.mem, at(area + 8 * PAGE), 40 * PAGE); /* makes the copying take its time */
	assert_ok(pl_mem_read_u64(&s.mem, at(t.second), &body));
	pl_snapshot_learn(&s);
	pthread_create(&thread, NULL, count_twins, &t);
	/* Until it has happened that both ran at once, on a busy machine, too. */
	uint32_t turns = 0;
	await (turns >= 2000 && changed >= 20) {
		for (int i = 0; i < 64; i++, turns++) {
			assert_ok(pl_snapshot_fetch(&s));
			assert_true(s.fetched);
			assert_ok(pl_mem_read_u64(&s.before, at(t.first), &before));
			assert_ok(pl_mem_read_u64(&s.mem, at(t.second), &body));
			assert_ok(pl_mem_read_u64(&s.after, at(t.first), &after));
			assert_true(before <= body + 1 && body <= after);
			changed += before != after;
		}
	}
	atomic_store(&t.stop, true);
	pthread_join(thread, NULL);
	for (int i = 0; i < 10; i++) { /* and at rest they are equal */
		assert_ok(pl_snapshot_fetch(&s));
		assert_ok(pl_mem_read_u64(&s.before, at(t.first), &before));
		assert_ok(pl_mem_read_u64(&s.after, at(t.first), &after));
		assert_int_equal(before, after);
		atomic_store(t.first, 1000000000 + (uint64_t)i);
	}
	pl_snapshot_deinit(&s);
	munmap(area, 64 * PAGE);
}

static void assert_plan_is_mapped(const struct pl_snapshot *s, const uint8_t *area, size_t pages, uint64_t holes)
{
	for (size_t i = 0; i < s->plan.len; i++)
		assert_true(is_mapped(pages, holes, s->plan.data[i].addr - at(area), s->plan.data[i].len));
}

static void merging_and_slack_never_reach_an_unmapped_page(void **state)
{
	static const uint64_t holes[] = {0, 1 << 2, 1 << 3, 1 << 2 | 1 << 3, 1 << 2 | 1 << 4, 1 << 1 | 1 << 4, 1 << 5};
	static const size_t lens[] = {8, 64, 520, 1100};
	static const size_t starts[] = {0,	 3000, 4032, 4096 - 8, 2 * 4096 - 1100, 2 * 4096 - 520, 2 * 4096 - 64,
					4096 + 5};
	enum { PAGES = 8 };
	uint64_t tried = 0;
	for (size_t h = 0; h < sizeof holes / sizeof *holes; h++) {
		uint8_t *area = map_pages(PAGES, holes[h]);
		for (size_t k = 0; k < sizeof starts / sizeof *starts * 4; k++) {
			size_t start = starts[k / 4], len = lens[k % 4];
			for (size_t distance = 0; distance <= 8192; distance += distance % 512 ? 63 : 1) {
				size_t other = start + len + distance;
				struct pl_snapshot s;
				if (!is_mapped(PAGES, holes[h], start, len) || !is_mapped(PAGES, holes[h], other, len))
					continue;
				pl_snapshot_init(&s, live);
				assert_ok(pl_snapshot_fetch(&s));
				if (distance % 2) /* as anchors too: they merge by a rule of their own */
					pl_snapshot_anchor(&s, at(area) + other, (uint32_t)len);
				read_at(&s, area + other, len);
				read_at(&s, area + start, len);
				if (distance % 2)
					pl_snapshot_anchor(&s, at(area) + start, (uint32_t)len);
				pl_snapshot_learn(&s);
				assert_plan_is_mapped(&s, area, PAGES, holes[h]);
				assert_ok(pl_snapshot_fetch(&s));
				assert_true(s.fetched);
				read_at(&s, area + start, len);
				read_at(&s, area + other, len);
				assert_true(s.whole);
				pl_snapshot_deinit(&s);
				tried++;
			}
		}
		munmap(area, PAGES * PAGE);
	}
	assert_true(tried > 5000);
}

static void slack_lets_a_range_grow_but_not_beyond_its_page(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(6, 0);
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area + 5 * PAGE, area + PAGE, 600);
	assert_ok(pl_snapshot_fetch(&s));
	read_at(&s, area + PAGE + 600, 100);
	assert_true(s.whole);
	pl_snapshot_deinit(&s);
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area + 5 * PAGE, area + 2 * PAGE - 700, 600);
	assert_ok(pl_snapshot_fetch(&s));
	read_at(&s, area + 2 * PAGE - 100, 100);
	assert_true(s.whole);
	read_at(&s, area + 2 * PAGE, 1);
	assert_false(s.whole);
	pl_snapshot_deinit(&s);
	munmap(area, 6 * PAGE);
}

static void a_plan_over_memory_that_is_gone_is_dropped_and_learnt_anew(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 0);
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area, area + 9 * PAGE, 64);
	munmap(area + 9 * PAGE, PAGE);
	assert_ok(pl_snapshot_fetch(&s));
	assert_false(s.fetched || s.whole);
	assert_int_equal(s.plan.len, 0);
	read_at(&s, area, 64); /* from the process */
	walk_and_learn(&s, area, area + 3 * PAGE, 64);
	assert_ok(pl_snapshot_fetch(&s));
	read_at(&s, area, 64);
	read_at(&s, area + 3 * PAGE, 64);
	assert_true(s.fetched && s.whole);
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

static void an_old_plan_is_made_anew_for_what_is_read_today(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(64, 0);
	pl_snapshot_init(&s, live);
	assert_ok(pl_snapshot_fetch(&s));
	read_at(&s, area, 64);
	pl_snapshot_anchor_touched(&s);
	for (size_t i = 4; i < 60; i += 2)
		read_at(&s, area + i * PAGE, 64);
	pl_snapshot_learn(&s);
	size_t deep = s.plan.len;
	for (int i = 0; i < 1000 && s.plan.len == deep; i++)
		walk_and_learn(&s, area, area + 4 * PAGE, 64);
	assert_true(s.plan.len < deep);
	pl_snapshot_deinit(&s);
	munmap(area, 64 * PAGE);
}

static void another_anchor_makes_another_plan(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 0), got[8];
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area, area + 9 * PAGE, 64);
	assert_ok(pl_snapshot_fetch(&s));
	read_at(&s, area, 64);
	pl_snapshot_anchor_touched(&s);
	read_at(&s, area + 9 * PAGE, 64);
	pl_snapshot_anchor(&s, at(area + 9 * PAGE), 64);
	assert_true(s.whole);
	pl_snapshot_learn(&s);
	assert_ok(pl_snapshot_fetch(&s));
	assert_ok(pl_mem_read(&s.after, at(area + 9 * PAGE), got, 8));
	for (size_t i = 0; i < 2 * PL_MAX_ANCHORS; i++) /* more than there is room for */
		pl_snapshot_anchor(&s, at(area + 10 * PAGE) + i * 1200, 8);
	assert_int_equal(s.anchor_count, PL_MAX_ANCHORS);
	pl_snapshot_learn(&s);
	assert_ok(pl_snapshot_fetch(&s));
	assert_true(s.fetched);
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

static void a_prefetch_beyond_the_limit_is_ignored(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(80, 0);
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area, area + PAGE, 64);
	assert_ok(pl_snapshot_fetch(&s));
	size_t pieces = s.pieces.len, touched = s.touched.len;
	pl_mem_prefetch(&s.mem, at(area), 0);
	pl_mem_prefetch(&s.mem, at(area), 256 * 1024 + 1);
	pl_mem_prefetch(&s.mem, at(area), SIZE_MAX);
	assert_true(s.whole && s.pieces.len == pieces && s.touched.len == touched);
	pl_mem_prefetch(&s.mem, at(area), 256 * 1024);
	assert_int_equal(s.pieces.len, pieces + 1);
	pl_snapshot_deinit(&s);
	munmap(area, 80 * PAGE);
}

static void what_was_prefetched_serves_the_reads_inside_it(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 1 << 12), byte;
	pl_snapshot_init(&s, live);
	assert_ok(pl_snapshot_fetch(&s));
	pl_mem_prefetch(&s.mem, at(area + PAGE), 2 * PAGE);
	byte = area[PAGE + 10];
	area[PAGE + 10] ^= 0xff;
	uint8_t got;
	assert_ok(pl_mem_read(&s.mem, at(area + PAGE + 10), &got, 1));
	assert_int_equal(got, byte);
	pl_mem_prefetch(&s.mem, at(area + 11 * PAGE), 2 * PAGE); /* runs into a hole: the single reads tell */
	assert_ok(pl_mem_read(&s.mem, at(area + 11 * PAGE), &got, 1));
	assert_int_equal(got, area[11 * PAGE]);
	assert_ptr_equal(pl_mem_read(&s.mem, at(area + 12 * PAGE), &got, 1), &pl_err_unreadable);
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

static void a_prefetch_that_fails_does_not_spoil_the_next_plan(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 1 << 12);
	pl_snapshot_init(&s, live);
	for (int i = 0; i < 3; i++) {
		assert_ok(pl_snapshot_fetch(&s));
		read_at(&s, area, 64);
		pl_snapshot_anchor_touched(&s);
		pl_mem_prefetch(&s.mem, at(area + 11 * PAGE), 2 * PAGE);
		read_at(&s, area + 11 * PAGE, 64);
		pl_snapshot_learn(&s);
	}
	assert_ok(pl_snapshot_fetch(&s));
	assert_true(s.fetched);
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

static void bypassing_reads_the_process_and_keeps_the_plan(void **state)
{
	struct pl_snapshot s;
	uint8_t *area = map_pages(16, 0);
	pl_snapshot_init(&s, live);
	walk_and_learn(&s, area, area + 9 * PAGE, 64);
	assert_ok(pl_snapshot_fetch(&s));
	area[9 * PAGE] ^= 0xff;
	pl_snapshot_bypass(&s);
	read_at(&s, area + 9 * PAGE, 64);
	assert_false(s.whole);
	assert_ok(pl_snapshot_fetch(&s));
	assert_true(s.fetched);
	pl_snapshot_deinit(&s);
	munmap(area, 16 * PAGE);
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33);
}

/* One walk over random ranges; each read must equal the memory, from wherever it is served. */
static void random_walk(struct pl_snapshot *s, const uint8_t *area, size_t pages, uint64_t holes, uint64_t walk_seed)
{
	uint64_t seed = walk_seed;
	uint8_t got[2048];

	assert_ok(pl_snapshot_fetch(s));
	for (uint32_t i = 0, n = 1 + next_random(&seed) % 60; i < n; i++) {
		size_t len = 1 + next_random(&seed) % (next_random(&seed) % 4 ? 100 : 2000);
		size_t offset = next_random(&seed) % (pages * PAGE - 2048);
		bool mapped = is_mapped(pages, holes, offset, len);
		if (next_random(&seed) % 8 == 0 && mapped)
			pl_mem_prefetch(&s->mem, at(area + offset), len);
		struct plumb_error *err = pl_mem_read(&s->mem, at(area + offset), got, len);
		assert_true(mapped ? err == NULL : err == &pl_err_unreadable);
		if (mapped)
			assert_memory_equal(got, area + offset, len);
		else /* a walk ends there: nothing is learnt */
			return;
		if (i == 1)
			pl_snapshot_anchor_touched(s);
		if (i >= 1 && next_random(&seed) % 8 == 0)
			pl_snapshot_anchor(s, at(area + offset), (uint32_t)len);
	}
	pl_snapshot_learn(s);
	assert_plan_is_mapped(s, area, pages, holes);
}

static void reads_through_a_snapshot_equal_the_memory_whatever_was_read_before(void **state)
{
	enum { PAGES = 40 };
	uint64_t seed = 20240607, holes = 1ull << 7 | 1ull << 19 | 1ull << 20 | 1ull << 33;
	uint8_t *area = map_pages(PAGES, holes);
	for (int round = 0; round < 60; round++) {
		struct pl_snapshot s;
		pl_snapshot_init(&s, live);
		for (int i = 0; i < 100; i++) {
			uint64_t walk = seed + next_random(&seed) % 5; /* some come again */
			random_walk(&s, area, PAGES, holes, walk);
			random_walk(&s, area, PAGES, holes, walk);
			for (size_t p = 0; p < PAGES; p++)
				if (!(holes >> p & 1))
					area[p * PAGE + next_random(&seed) % PAGE] ^= 0x5a; /* nothing old may show */
		}
		pl_snapshot_deinit(&s);
	}
	munmap(area, PAGES * PAGE);
}

/* Chunks that are made up can overlap, and be as many as there are frames. */
static void what_is_fetched_ahead_has_a_limit(void **state)
{
	const size_t len = 256 * 1024, shift = 24, times = 600;
	size_t pages = (len + times * shift) / PAGE + 1;
	struct pl_snapshot s;
	uint8_t *area = map_pages(pages, 0);

	pl_snapshot_init(&s, live);
	assert_ok(pl_snapshot_fetch(&s));
	for (size_t i = 0; i < times; i++)
		s.mem.ops->prefetch(&s.mem, at(area + i * shift), len);
	assert_true(s.len > len && s.len <= PL_PLAN_BYTES_MAX);
	read_at(&s, area + times * shift, 64); /* what was left out is read all the same */
	pl_snapshot_bypass(&s);
	for (size_t i = 0; i < 4 * PL_AHEAD_MAX; i++)
		s.mem.ops->prefetch(&s.mem, at(area + i * shift), shift);
	assert_int_equal(s.pieces.len, PL_AHEAD_MAX);
	pl_snapshot_deinit(&s);
	munmap(area, pages * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_walk_goes_to_the_process_and_the_second_is_served_from_one_fetch),
		cmocka_unit_test(a_read_that_misses_the_plan_is_true_but_no_longer_whole),
		cmocka_unit_test(bytes_of_the_body_are_compared_with_the_fetch_before),
		cmocka_unit_test(what_the_anchors_serve_is_not_compared_in_the_body),
		cmocka_unit_test(what_is_compared_counts_as_read),
		cmocka_unit_test(the_copies_of_the_anchors_hold_nothing_else),
		cmocka_unit_test(the_body_is_copied_between_the_two_copies_of_the_anchors),
		cmocka_unit_test(merging_and_slack_never_reach_an_unmapped_page),
		cmocka_unit_test(slack_lets_a_range_grow_but_not_beyond_its_page),
		cmocka_unit_test(a_plan_over_memory_that_is_gone_is_dropped_and_learnt_anew),
		cmocka_unit_test(an_old_plan_is_made_anew_for_what_is_read_today),
		cmocka_unit_test(another_anchor_makes_another_plan),
		cmocka_unit_test(a_prefetch_beyond_the_limit_is_ignored),
		cmocka_unit_test(what_is_fetched_ahead_has_a_limit),
		cmocka_unit_test(what_was_prefetched_serves_the_reads_inside_it),
		cmocka_unit_test(a_prefetch_that_fails_does_not_spoil_the_next_plan),
		cmocka_unit_test(bypassing_reads_the_process_and_keeps_the_plan),
		cmocka_unit_test(reads_through_a_snapshot_equal_the_memory_whatever_was_read_before),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
