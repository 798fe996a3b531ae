/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "queue.h"

#define MANY 1000000u

static struct pl_record record(uint32_t i)
{
	struct pl_record r = {.kind = PL_RECORD_SAMPLE, .state = (uint16_t)i, .quality = i >> 16 & 15};

	r.sample.time_ns = i;
	r.sample.weight_ns = i * 3ull;
	r.sample.node = ~i;
	r.sample.thread = i ^ 0x55555555;
	return r;
}

static bool is_record(const struct pl_record *r, uint32_t i)
{
	struct pl_record want = record(i);

	return r->sample.time_ns == want.sample.time_ns && r->sample.weight_ns == want.sample.weight_ns &&
	       r->sample.node == want.sample.node && r->sample.thread == want.sample.thread && r->kind == want.kind &&
	       r->state == want.state && r->quality == want.quality;
}

static void push(struct pl_queue *q, uint32_t i)
{
	struct pl_record r = record(i);

	pl_queue_push(q, &r);
}

static bool woken(const struct pl_queue *q)
{
	return atomic_load(&q->wake_up.sent);
}

static void records_come_out_as_they_went_in(void **state)
{
	struct pl_queue q;
	struct pl_record r;
	assert_ok(pl_queue_init(&q));
	assert_false(pl_queue_pop(&q, &r));
	for (uint32_t i = 0; i < 3 * PL_QUEUE_SLOTS; i += 5) { /* the ring goes round */
		for (uint32_t k = 0; k < 5; k++)
			push(&q, i + k);
		for (uint32_t k = 0; k < 5; k++) {
			assert_true(pl_queue_pop(&q, &r));
			assert_true(is_record(&r, i + k));
		}
		assert_false(pl_queue_pop(&q, &r));
		assert_int_equal(pl_queue_room(&q), PL_QUEUE_SLOTS);
	}
	pl_queue_deinit(&q);
}

static void a_full_queue_has_no_room_and_loses_nothing_it_holds(void **state)
{
	struct pl_queue q;
	struct pl_record r;
	assert_ok(pl_queue_init(&q));
	for (uint32_t i = 0; i < PL_QUEUE_SLOTS; i++) {
		assert_int_equal(pl_queue_room(&q), PL_QUEUE_SLOTS - i);
		push(&q, i);
	}
	assert_int_equal(pl_queue_room(&q), 0);
	assert_true(pl_queue_pop(&q, &r));
	assert_int_equal(pl_queue_room(&q), 1);
	push(&q, PL_QUEUE_SLOTS);
	assert_int_equal(pl_queue_room(&q), 0);
	for (uint32_t i = 1; i <= PL_QUEUE_SLOTS; i++) {
		assert_true(pl_queue_pop(&q, &r));
		assert_true(is_record(&r, i));
	}
	assert_false(pl_queue_pop(&q, &r));
	pl_queue_deinit(&q);
}

static void the_reader_is_woken_when_the_queue_is_half_full_and_not_before(void **state)
{
	struct pl_queue q;
	struct pl_record r;
	assert_ok(pl_queue_init(&q));
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < PL_QUEUE_SLOTS / 2 - 1; i++)
			push(&q, i);
		assert_false(woken(&q));
		push(&q, 0);
		assert_true(woken(&q));
		pl_queue_wait(&q, -1); /* takes the wake-up */
		assert_false(woken(&q));
		while (pl_queue_pop(&q, &r))
			continue;
	}
	pl_queue_deinit(&q);
}

static void a_wake_up_that_comes_before_the_wait_is_not_lost(void **state)
{
	struct pl_queue q;
	assert_ok(pl_queue_init(&q));
	pl_queue_wake(&q);
	pl_queue_wake(&q);
	pl_queue_wait(&q, -1);
	pl_queue_wait(&q, 0); /* a wait without events ends with its time */
	assert_false(woken(&q));
	pl_queue_deinit(&q);
}

static void *produce(void *arg)
{
	struct pl_queue *q = arg;

	for (uint32_t i = 0; i < MANY; i++) {
		while (pl_queue_room(q) == 0)
			sched_yield();
		push(q, i);
	}
	pl_queue_wake(q);
	return NULL;
}

static void a_million_records_cross_from_thread_to_thread_in_order(void **state)
{
	struct pl_queue q;
	struct pl_record r;
	pthread_t t;
	uint32_t next = 0, wrong = 0, waits = 0;
	assert_ok(pl_queue_init(&q));
	pthread_create(&t, NULL, produce, &q);
	while (next < MANY && waits < 2 * MANY) {
		pl_queue_wait(&q, 1000);
		waits++;
		while (pl_queue_pop(&q, &r))
			wrong += !is_record(&r, next++);
	}
	pthread_join(t, NULL);
	assert_int_equal(next, MANY);
	assert_int_equal(wrong, 0);
	assert_int_equal(pl_queue_room(&q), PL_QUEUE_SLOTS);
	pl_queue_deinit(&q);
}

static void a_queue_that_was_never_made_can_be_ended(void **state)
{
	struct pl_queue q = {0};
	pl_queue_deinit(&q);
	assert_int_equal(sizeof(struct pl_record), 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_as_they_went_in),
		cmocka_unit_test(a_full_queue_has_no_room_and_loses_nothing_it_holds),
		cmocka_unit_test(the_reader_is_woken_when_the_queue_is_half_full_and_not_before),
		cmocka_unit_test(a_wake_up_that_comes_before_the_wait_is_not_lost),
		cmocka_unit_test(a_million_records_cross_from_thread_to_thread_in_order),
		cmocka_unit_test(a_queue_that_was_never_made_can_be_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
