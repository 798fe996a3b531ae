/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "sample_log.h"

/* What is expected next. */
struct want {
	const struct pl_sample *next;
	size_t given;
};

static struct plumb_error *compare(void *ctx, const struct pl_sample *s)
{
	struct want *w = ctx;
	const struct pl_sample *n = &w->next[w->given++];

	assert_true(s->time_ns == n->time_ns && s->weight_ns == n->weight_ns && s->extra == n->extra);
	assert_true(s->thread == n->thread && s->stack == n->stack);
	assert_true(s->state == n->state && s->quality == n->quality);
	return NULL;
}

static struct pl_sample random_sample(struct pl_rng *rng, unsigned i)
{
	return (struct pl_sample){.time_ns = pl_rng_next(rng) >> i % 64,
				  .thread = (uint32_t)pl_rng_next(rng) >> i % 32,
				  .stack = (uint32_t)pl_rng_next(rng) >> i % 31,
				  .state = (uint16_t)pl_rng_next(rng),
				  .quality = (uint8_t)(pl_rng_next(rng) % PL_QUALITIES),
				  .weight_ns = pl_rng_next(rng) >> i % 61,
				  .extra = pl_rng_next(rng) >> i % 59};
}

/* As many as @p count, whatever they are, are given as they came, as often as wanted. */
static void round_trip(size_t count, bool in_file)
{
	struct pl_sample *samples = calloc(count + 1, sizeof *samples);
	struct pl_rng rng = {.state = count};
	struct pl_sample_log log;
	struct pl_stream stream;

	assert_non_null(samples);
	pl_sample_log_init(&log);
	for (size_t i = 0; i < count; i++) {
		samples[i] = random_sample(&rng, (unsigned)i);
		assert_ok(pl_sample_log_add(&log, &samples[i]));
	}
	assert_int_equal(log.fd >= 0, in_file);
	assert_ok(pl_sample_log_stream(&log, &stream));
	for (int i = 0; i < 2; i++) {
		struct want want = {.next = samples};
		assert_ok(stream.each(stream.ctx, compare, &want));
		assert_int_equal(want.given, count);
	}
	stream.destroy(stream.ctx);
	free(samples);
}

static void few_samples_stay_in_memory(void **state)
{
	round_trip(0, false);
	round_trip(1, false);
	round_trip(1000, false);
}

static void many_samples_go_to_a_file(void **state)
{
	round_trip(50000, true);
}

static struct plumb_error *refuse(void *ctx, const struct pl_sample *s)
{
	(*(int *)ctx)++;
	return &pl_err_limit;
}

static void the_error_of_who_takes_them_ends_it(void **state)
{
	struct pl_sample s = {.time_ns = 5};
	struct pl_sample_log log;
	struct pl_stream stream;
	int calls = 0;

	pl_sample_log_init(&log);
	for (int i = 0; i < 3; i++)
		assert_ok(pl_sample_log_add(&log, &s));
	assert_ok(pl_sample_log_stream(&log, &stream));
	assert_ptr_equal(stream.each(stream.ctx, refuse, &calls), &pl_err_limit);
	assert_int_equal(calls, 1);
	stream.destroy(stream.ctx);
}

/* As daemons do; the number is that of another file then. */
static void what_the_program_has_closed_is_not_closed_again(void **state)
{
	struct pl_rng rng = {.state = 1};
	struct pl_sample_log log;

	pl_sample_log_init(&log);
	for (unsigned i = 0; log.fd < 0; i++) {
		const struct pl_sample s = random_sample(&rng, i);
		assert_ok(pl_sample_log_add(&log, &s));
	}
	const int fd = log.fd, other = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(other >= 0);
	assert_int_equal(dup2(other, fd), fd);
	pl_sample_log_deinit(&log);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	close(fd);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_samples_stay_in_memory),
		cmocka_unit_test(many_samples_go_to_a_file),
		cmocka_unit_test(the_error_of_who_takes_them_ends_it),
		cmocka_unit_test(what_the_program_has_closed_is_not_closed_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
