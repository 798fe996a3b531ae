/* SPDX-License-Identifier: Apache-2.0 */
#include "mem_pages.h"

#include <string.h>

#include "unit.h"

#define BASE  0x10000u
#define PAGES 4u
#define PAGE  4096u

/* Four pages of memory that count how often they are read. */
struct memory {
	struct pl_mem mem;
	uint8_t bytes[PAGES * PAGE];
	size_t mapped; /* of the bytes */
	unsigned reads;
	size_t reused; /* bytes */
	bool refuses;  /* that */
};

static struct plumb_error *memory_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct memory *m = (struct memory *)mem;

	m->reads++;
	if (addr < BASE || len > m->mapped || addr - BASE > m->mapped - len)
		return &pl_err_unreadable;
	memcpy(dst, m->bytes + (addr - BASE), len);
	return NULL;
}

static struct plumb_error *memory_reuse(struct pl_mem *mem, size_t len)
{
	struct memory *m = (struct memory *)mem;

	m->reused += len;
	return m->refuses ? &pl_err_limit : NULL;
}

static const struct pl_mem_ops memory_ops = {.read = memory_read, .reuse = memory_reuse};
static struct memory memory;
static struct pl_mem_pages *pages;

static int set_up(void **state)
{
	(void)state;
	memory.mem.ops = &memory_ops;
	memory.mapped = sizeof memory.bytes;
	memory.reads = 0;
	memory.reused = 0;
	memory.refuses = false;
	for (size_t i = 0; i < sizeof memory.bytes; i++)
		memory.bytes[i] = (uint8_t)(i * 7 + i / PAGE);
	assert_null(pl_mem_pages_create(&memory.mem, &pages));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pl_mem_pages_destroy(pages);
	return 0;
}

static void assert_reads(pl_addr addr, size_t len)
{
	static uint8_t got[PAGES * PAGE];

	assert_null(pl_mem_read(pl_mem_pages_mem(pages), addr, got, len));
	assert_memory_equal(got, memory.bytes + (addr - BASE), len);
}

static void a_page_is_read_once(void **state)
{
	(void)state;
	for (unsigned i = 0; i + 8 <= PAGE; i += 8)
		assert_reads(BASE + i, 8);
	assert_int_equal(memory.reads, 1);
}

static void a_range_may_span_pages(void **state)
{
	(void)state;
	assert_reads(BASE + PAGE - 3, 10);
	assert_int_equal(memory.reads, 2);
	assert_reads(BASE + PAGE - 3, PAGE);
	assert_int_equal(memory.reads, 2);
	assert_reads(BASE + 5, 3 * PAGE);
	assert_int_equal(memory.reads, 3);
}

static void what_changed_is_seen_after_forgetting(void **state)
{
	(void)state;
	assert_reads(BASE, 8);
	memory.bytes[0] ^= 0xff;
	pl_mem_pages_forget(pages);
	assert_reads(BASE, 8);
}

static void what_is_not_mapped_cannot_be_read(void **state)
{
	uint8_t got[32];

	(void)state;
	assert_ptr_equal(pl_mem_read(pl_mem_pages_mem(pages), BASE - 8, got, 8), &pl_err_unreadable);
	assert_ptr_equal(pl_mem_read(pl_mem_pages_mem(pages), BASE + sizeof memory.bytes - 8, got, 16),
			 &pl_err_unreadable);
	assert_ptr_equal(pl_mem_read(pl_mem_pages_mem(pages), UINT64_MAX - 3, got, 8), &pl_err_unreadable);
	assert_reads(BASE + sizeof memory.bytes - 8, 8);
}

/* Pages that share a slot: 2,048 pages apart. */
static void pages_take_turns_in_a_slot(void **state)
{
	uint8_t got[8];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_reads(BASE + PAGE, 8);
		assert_ptr_equal(pl_mem_read(pl_mem_pages_mem(pages), BASE + 2049 * PAGE, got, 8), &pl_err_unreadable);
	}
	assert_int_equal(memory.reads, 6);
}

/* As the last page of a core file that was cut. */
static void what_there_is_of_a_page_can_be_read(void **state)
{
	uint8_t got[8];

	(void)state;
	memory.mapped -= 100;
	assert_reads(BASE + 3 * PAGE, 8);
	assert_reads(BASE + 3 * PAGE - 8, PAGE - 100);
	assert_ptr_equal(pl_mem_read(pl_mem_pages_mem(pages), BASE + memory.mapped - 4, got, 8), &pl_err_unreadable);
}

static void what_is_kept_can_be_refused(void **state)
{
	uint8_t got[8];

	(void)state;
	assert_reads(BASE, 8);
	assert_int_equal(memory.reused, 0);
	assert_reads(BASE + 8, 7);
	assert_int_equal(memory.reused, 7);
	memory.refuses = true;
	assert_ptr_equal(pl_mem_read(pl_mem_pages_mem(pages), BASE, got, 8), &pl_err_limit);
	assert_reads(BASE + PAGE, 8); /* that was asked for by reading it */
	assert_int_equal(memory.reads, 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_page_is_read_once),
		TEST(a_range_may_span_pages),
		TEST(what_changed_is_seen_after_forgetting),
		TEST(what_is_not_mapped_cannot_be_read),
		TEST(pages_take_turns_in_a_slot),
		TEST(what_there_is_of_a_page_can_be_read),
		TEST(what_is_kept_can_be_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
