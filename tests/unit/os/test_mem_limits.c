/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is read within limits of work and of time, by whole pages, too: however often these are read. */
#include <string.h>

#include "mem_limited.h"
#include "mem_pages.h"
#include "mem_until.h"
#include "unit.h"

#define PAGE 4096u
#define AT   (2 * PAGE)

/* There is the same everywhere. */
static struct plumb_error *any_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	memset(dst, 1, len);
	return NULL;
}

static const struct pl_mem_ops any_ops = {.read = any_read};
static struct pl_mem any = {&any_ops};

/* How many words can be read of a page, one after the other, @p most at most. */
static size_t count_words(struct pl_mem *under, size_t most)
{
	struct pl_mem_pages *pages;
	uint64_t word;
	size_t n = 0;

	assert_ok(pl_mem_pages_create(under, &pages));
	while (n < most && !pl_mem_read_u64(pl_mem_pages_mem(pages), AT, &word))
		n++;
	pl_mem_pages_destroy(pages);
	return n;
}

static void what_is_read_of_kept_pages_is_work(void **state)
{
	struct pl_work work = {.most = PL_WORK_CALL + PAGE + 10 * (PL_WORK_KEPT + 8)};
	struct pl_mem_limited limited;

	assert_int_equal(count_words(pl_mem_limited_init(&limited, &any, &work), 1000), 11);
	assert_true(work.ran_out);
	assert_int_equal(work.spent, work.most);
}

static void what_is_read_of_kept_pages_ends_with_the_time(void **state)
{
	struct pl_mem_until until;
	uint64_t word;

	assert_int_equal(count_words(pl_mem_until_init(&until, &any, UINT64_MAX), 1000), 1000);
	assert_false(until.late);
	assert_int_equal(count_words(pl_mem_until_init(&until, &any, 0), 1000), 0);
	assert_true(until.late);

	struct pl_mem_pages *pages;
	assert_ok(pl_mem_pages_create(pl_mem_until_init(&until, &any, UINT64_MAX), &pages));
	assert_ok(pl_mem_read_u64(pl_mem_pages_mem(pages), AT, &word));
	until.end_ns = 0;
	for (size_t n = 0; !until.late; n++) {
		assert_true(n < 1000);
		(void)!pl_mem_read_u64(pl_mem_pages_mem(pages), AT, &word);
	}
	for (size_t n = 0; n < 1000; n++)
		assert_ptr_equal(pl_mem_read_u64(pl_mem_pages_mem(pages), AT, &word), &pl_err_limit);
	pl_mem_pages_destroy(pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_of_kept_pages_is_work),
		cmocka_unit_test(what_is_read_of_kept_pages_ends_with_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
