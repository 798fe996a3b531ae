/* SPDX-License-Identifier: Apache-2.0 */
/* What an epoll watches, read aside: within the time that there is for it, and not beyond. */
#include "watched_fds.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "unit.h"

#define HOUR_NS (3600ull * 1000000000)
#define EVENTS	20

static int epoll, events[EVENTS];

static int open_all(void **state)
{
	struct epoll_event ev = {.events = EPOLLIN};

	epoll = epoll_create1(0);
	for (int i = 0; i < EVENTS; i++) {
		events[i] = eventfd(0, 0);
		assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, events[i], &ev), 0);
	}
	return 0;
}

static int close_all(void **state)
{
	for (int i = 0; i < EVENTS; i++)
		close(events[i]);
	return close(epoll);
}

static void the_first_are_told_and_how_many_there_are(void **state)
{
	struct pl_watched_reader r = {.left_ns = HOUR_NS};
	int fds[PL_WATCHED_FDS];
	uint32_t total = 0;

	assert_true(pl_watched_read(&r, getpid(), epoll, fds, &total));
	assert_int_equal(total, EVENTS);
	for (int i = 0; i < PL_WATCHED_FDS; i++)
		assert_in_range(fds[i], events[0], events[EVENTS - 1]);
}

static void what_it_takes_is_taken_from_the_time_for_all(void **state)
{
	struct pl_watched_reader r = {.left_ns = HOUR_NS};
	int fds[PL_WATCHED_FDS];
	uint32_t total;

	for (int i = 0; i < 3; i++) {
		uint64_t before_ns = r.left_ns;

		assert_true(pl_watched_read(&r, getpid(), epoll, fds, &total));
		assert_true(r.left_ns < before_ns);
	}
}

static void nobody_is_asked_when_there_is_no_time(void **state)
{
	struct pl_watched_reader r = {.left_ns = 0};
	int fds[PL_WATCHED_FDS];
	uint32_t total = 7;

	assert_false(pl_watched_read(&r, getpid(), epoll, fds, &total));
	assert_int_equal(total, 7);
}

static void a_descriptor_that_is_not_there_watches_nothing_known(void **state)
{
	struct pl_watched_reader r = {.left_ns = HOUR_NS};
	int fds[PL_WATCHED_FDS];
	uint32_t total;

	assert_false(pl_watched_read(&r, getpid(), 1 << 20, fds, &total));
	assert_true(r.left_ns > 0); /* the next one may be there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_are_told_and_how_many_there_are),
		cmocka_unit_test(what_it_takes_is_taken_from_the_time_for_all),
		cmocka_unit_test(nobody_is_asked_when_there_is_no_time),
		cmocka_unit_test(a_descriptor_that_is_not_there_watches_nothing_known),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
