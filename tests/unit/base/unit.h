/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka and what it needs to be included before it; waiting for events. */
#ifndef PL_TEST_UNIT_H
#define PL_TEST_UNIT_H

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include <plumb/error.h>

/** Passes if @p e is NULL, else shows its message. */
#define assert_ok(e)                                                                                                   \
	do {                                                                                                           \
		struct plumb_error *err_ = (e);                                                                        \
		if (err_)                                                                                              \
			fail_msg("%s", plumb_error_message(err_));                                                     \
	} while (0)

/** Passes if @p e is an error with code @p c; frees it. */
#define assert_code(e, c)                                                                                              \
	do {                                                                                                           \
		struct plumb_error *err_ = (e);                                                                        \
		assert_string_equal(plumb_error_name(plumb_error_code(err_)), plumb_error_name(c));                    \
		plumb_error_destroy(err_);                                                                             \
	} while (0)

/* How long an event is awaited. It measures nothing: a hang gets a name, and no machine is so busy. */
#define PATIENCE_S 240

static inline time_t unit_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static inline void unit_wait(time_t since_s, const char *what)
{
	if (unit_now_s() - since_s > PATIENCE_S)
		fail_msg("waited in vain for: %s", what);
	sched_yield();
}

/** Until @p condition holds. Followed by `;`, or by what is to be done at each turn. */
#define await(condition) for (time_t since_ = unit_now_s(); !(condition); unit_wait(since_, #condition))

#endif
