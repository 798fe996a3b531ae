/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that were added up, as recordings: their time comes back. */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "recording.h"

#define DAY (86400ull * 1000000000)

struct saving {
	const struct plumb_profile *p;
	struct pl_capture_writer *w;
	unsigned in_chunk;
};

static struct plumb_error *save_sample(void *ctx, const struct pl_sample *s)
{
	struct saving *x = ctx;
	check(pl_capture_add(x->w, s));
	return ++x->in_chunk % 100 ? NULL : pl_capture_flush(x->w, x->p);
}

static uint8_t *saved(const struct plumb_profile *p, size_t *len)
{
	struct saving x = {.p = p};
	char *path = temp_file();
	check(pl_capture_create(path, p, &x.w));
	for (uint32_t i = 0; i < p->event_count; i++)
		check(pl_capture_event(x.w, &p->events[i]));
	check(pl_profile_each(p, save_sample, &x));
	check(pl_capture_finish(x.w, p));
	pl_capture_destroy(x.w);
	uint8_t *bytes = file_bytes(path, len);
	unlink(path);
	free(path);
	return bytes;
}

static struct plumb_profile *sum_of_days(uint64_t seed)
{
	struct plumb_profile *sum = NULL;
	check(pl_profile_create(&sum));
	for (uint64_t day = 0; day < 5; day++) {
		struct plumb_profile *p = random_profile(seed + day, 200);
		p->meta.start_real_ns = day == 3 ? 0 : (20000 + day) * DAY + 12345;
		check(pl_profile_merge(sum, p));
		pl_profile_destroy(p);
	}
	sum->meta.complete = true;
	return sum;
}

static void assert_same_axis(const struct pl_axis *a, const struct pl_axis *b)
{
	assert_true(a->merged && b->merged);
	assert_int_equal(a->count, b->count);
	assert_memory_equal(a->piece, b->piece, sizeof a->piece);
	assert_int_equal(a->span_count, b->span_count);
	assert_memory_equal(a->spans, b->spans, a->span_count * sizeof *a->spans);
}

static void the_time_of_a_sum_comes_back(void **state)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct plumb_profile *sum = sum_of_days(seed), *back = NULL;
		struct pl_capture_info info;
		size_t len;
		uint8_t *bytes = saved(sum, &len);
		check(read_bytes(bytes, len, &back, &info));
		assert_true(info.chunks > 2 && !info.damaged_chunks);
		assert_same_profile(sum, back);
		assert_same_axis(&sum->axis, &back->axis);
		pl_profile_destroy(back);
		check(read_bytes(bytes, len / 2, &back, &info)); /* so it does if the end is missing */
		assert_same_axis(&sum->axis, &back->axis);
		free(bytes);
		pl_profile_destroy(sum);
		pl_profile_destroy(back);
	}
}

/* Of a time that has fewer batches than the samples. */
static void a_time_that_cannot_be_is_damage(void **state)
{
	struct plumb_profile *sum = sum_of_days(1), *back = NULL;
	struct pl_capture_info info;
	size_t len;
	sum->axis.count--;
	uint8_t *bytes = saved(sum, &len);
	check(read_bytes(bytes, len, &back, &info));
	assert_false(back->axis.merged);
	assert_int_equal(info.damaged_chunks, 1);
	assert_int_equal(back->meta.damaged_parts, sum->meta.damaged_parts + 1);
	assert_int_equal(samples_in(back), samples_in(sum));
	free(bytes);
	pl_profile_destroy(sum);
	pl_profile_destroy(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_of_a_sum_comes_back),
		cmocka_unit_test(a_time_that_cannot_be_is_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
