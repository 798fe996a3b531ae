/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "wake_up.h"

#define RINGS 100000u

static const struct timespec now;

static bool is_readable(const struct pl_wake_up *b)
{
	return poll(&(struct pollfd){.fd = b->fd, .events = POLLIN}, 1, 0) == 1;
}

static void rings_before_the_wait_are_one(void **state)
{
	struct pl_wake_up b = PL_WAKE_UP_INIT;

	assert_false(pl_wake_up_wait(&b, &now));
	pl_wake_up_send(&b);
	pl_wake_up_send(&b);
	assert_true(pl_wake_up_wait(&b, NULL));
	assert_false(pl_wake_up_taken(&b));
	pl_wake_up_send(&b);
	assert_true(pl_wake_up_taken(&b));
	assert_false(pl_wake_up_wait(&b, &(struct timespec){.tv_nsec = 1}));
}

static void who_waits_for_descriptors_hears_it_as_well(void **state)
{
	struct pl_wake_up b = PL_WAKE_UP_INIT;

	assert_ok(pl_wake_up_open(&b));
	assert_false(is_readable(&b));
	for (int i = 0; i < 3; i++)
		pl_wake_up_send(&b);
	assert_true(is_readable(&b));
	assert_true(pl_wake_up_taken(&b));
	assert_false(is_readable(&b) || pl_wake_up_taken(&b));
	pl_wake_up_close(&b);
	pl_wake_up_send(&b);
	assert_true(pl_wake_up_taken(&b));
}

struct partners {
	struct pl_wake_up there, back;
};

static void *answer(void *ctx)
{
	struct partners *p = ctx;

	for (uint32_t i = 0; i < RINGS; i++) {
		while (!pl_wake_up_wait(&p->there, NULL))
			continue;
		pl_wake_up_send(&p->back);
	}
	return NULL;
}

/* Each waits for the other: a wake-up that is lost ends it. */
static void no_ring_is_lost(void **state)
{
	struct partners p = {.there = PL_WAKE_UP_INIT, .back = PL_WAKE_UP_INIT};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, answer, &p), 0);
	for (uint32_t i = 0; i < RINGS; i++) {
		pl_wake_up_send(&p.there);
		while (!pl_wake_up_wait(&p.back, NULL))
			continue;
	}
	pthread_join(thread, NULL);
	assert_false(pl_wake_up_taken(&p.there) || pl_wake_up_taken(&p.back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_before_the_wait_are_one),
		cmocka_unit_test(who_waits_for_descriptors_hears_it_as_well),
		cmocka_unit_test(no_ring_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
