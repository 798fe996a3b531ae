/* SPDX-License-Identifier: Apache-2.0 */
/* Samples sorted by thread: each thread gives what a plain loop over the profile gives, in that order. */
#include "spool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "clock.h"

/* A profile whose stream makes up its samples, the same ones each time. */
struct source {
	struct plumb_profile *p;
	uint64_t seed;
	uint32_t samples;
};

static struct pl_sample sample_at(struct pl_rng *rng, uint32_t i, uint32_t threads)
{
	uint64_t r = pl_rng_next(rng);
	return (struct pl_sample){.time_ns = i * 1000ull,
				  .thread = (uint32_t)(r % threads),
				  .stack = (uint32_t)(r >> 20 & 0xffff),
				  .state = (uint16_t)(r >> 40 & 4095),
				  .quality = (uint8_t)(r >> 46 & 3),
				  .weight_ns = pl_rng_next(rng),
				  .extra = r >> 62 ? 0 : pl_rng_next(rng)};
}

static struct plumb_error *each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	struct source *s = ctx;
	struct pl_rng rng = {.state = s->seed};
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < s->samples && !err; i++) {
		struct pl_sample sample = sample_at(&rng, i, s->p->thread_count);
		err = fn(fn_ctx, &sample);
	}
	return err;
}

static void source_start(struct source *s, uint32_t threads, uint32_t samples)
{
	struct pl_process proc = {.pid = 1};
	struct pl_thread t = {0};
	uint32_t id;

	*s = (struct source){.seed = threads * 31ull + samples, .samples = samples};
	assert_null(pl_profile_create(&s->p));
	assert_null(pl_profile_process(s->p, &proc, &t.process));
	for (uint32_t i = 0; i < threads; i++) {
		t.tid = i + 1;
		assert_null(pl_profile_thread(s->p, &t, &id));
	}
	s->p->stream = (struct pl_stream){.each = each, .ctx = s};
}

/* Compares what comes with the samples of one thread of the source. */
struct expect {
	const struct pl_sample *want;
	uint32_t thread, at;
};

static struct plumb_error *compare(void *ctx, const struct pl_sample *s)
{
	struct expect *e = ctx;

	while (e->want[e->at].thread != e->thread)
		e->at++;
	const struct pl_sample *w = &e->want[e->at++];
	assert_true(s->time_ns == w->time_ns && s->thread == w->thread && s->stack == w->stack);
	assert_true(s->state == w->state && s->quality == w->quality);
	assert_true(s->weight_ns == w->weight_ns && s->extra == w->extra);
	return NULL;
}

static struct plumb_error *keep(void *ctx, const struct pl_sample *s)
{
	struct pl_sample **to = ctx;
	*(*to)++ = *s;
	return NULL;
}

static void check_all(uint32_t threads, uint32_t samples)
{
	struct source src;
	struct pl_spool *spool = NULL;
	uint64_t total = 0;

	source_start(&src, threads, samples);
	struct pl_sample *want = calloc(samples + 1u, sizeof *want), *end = want;
	assert_null(each(&src, keep, &end));
	uint64_t *counts = calloc(threads, sizeof *counts);
	for (uint32_t i = 0; i < samples; i++)
		counts[want[i].thread]++;
	assert_null(pl_spool_create(src.p, &spool));
	for (uint32_t t = threads; t-- > 0;) { /* any order will do */
		struct expect e = {.want = want, .thread = t};
		assert_int_equal(pl_spool_count(spool, t), counts[t]);
		if (threads > 64 && t % 97)
			continue;
		assert_null(pl_spool_each(spool, t, compare, &e));
		e.at = 0;
		assert_null(pl_spool_each(spool, t, compare, &e)); /* again */
		while (e.at < samples && want[e.at].thread != t)
			e.at++;
		assert_int_equal(e.at, samples); /* none is missing */
	}
	for (uint32_t t = 0; t < threads; t++)
		total += pl_spool_count(spool, t);
	assert_int_equal(total, samples);
	pl_spool_destroy(spool);
	pl_profile_destroy(src.p);
	free(counts);
	free(want);
}

static void no_sample_is_nothing(void **state)
{
	check_all(1, 0);
	check_all(3, 0);
}

static void what_fits_into_memory_needs_no_file(void **state)
{
	check_all(1, 1);
	check_all(7, 1000);
}

static void more_than_the_memory_goes_through_a_file(void **state)
{
	check_all(3, 400000);
	check_all(1000, 300000);
}

static struct plumb_error *refuse(void *ctx, const struct pl_sample *s)
{
	return --*(int *)ctx ? NULL : &pl_err_limit;
}

static void an_error_of_the_reader_ends_it(void **state)
{
	for (uint32_t samples = 10; samples <= 300000; samples += 299990) {
		struct source src;
		struct pl_spool *spool = NULL;
		int left = 3;

		source_start(&src, 2, samples);
		assert_null(pl_spool_create(src.p, &spool));
		assert_ptr_equal(pl_spool_each(spool, 0, refuse, &left), &pl_err_limit);
		assert_int_equal(left, 0);
		assert_int_equal(pl_spool_count(spool, 2), 0); /* no such thread */
		pl_spool_destroy(spool);
		pl_profile_destroy(src.p);
	}
}

static struct plumb_error *fail_each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	return &pl_err_truncated;
}

static void an_error_of_the_stream_is_told(void **state)
{
	struct source src;
	struct pl_spool *spool = NULL;

	source_start(&src, 2, 10);
	src.p->stream.each = fail_each;
	assert_ptr_equal(pl_spool_create(src.p, &spool), &pl_err_truncated);
	assert_null(spool);
	pl_profile_destroy(src.p);
}

/* Cells, where there is no stream: one row for many samples. */
static void an_aggregate_keeps_its_counts(void **state)
{
	struct source src;
	struct pl_spool *spool = NULL;
	struct pl_sample got = {0}, *end = &got, s = {.weight_ns = 5, .extra = 41};

	source_start(&src, 1, 0);
	src.p->stream = (struct pl_stream){0};
	assert_null(pl_profile_add(src.p, &s));
	assert_null(pl_profile_add(src.p, &s));
	assert_null(pl_spool_create(src.p, &spool));
	assert_int_equal(pl_spool_count(spool, 0), 1);
	assert_null(pl_spool_each(spool, 0, keep, &end));
	assert_int_equal(got.extra, 83);
	assert_int_equal(got.weight_ns, 10);
	pl_spool_destroy(spool);
	pl_profile_destroy(src.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_sample_is_nothing),
		cmocka_unit_test(what_fits_into_memory_needs_no_file),
		cmocka_unit_test(more_than_the_memory_goes_through_a_file),
		cmocka_unit_test(an_error_of_the_reader_ends_it),
		cmocka_unit_test(an_error_of_the_stream_is_told),
		cmocka_unit_test(an_aggregate_keeps_its_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
