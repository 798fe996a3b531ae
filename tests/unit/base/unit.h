/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka and what it needs to be included before it. */
#ifndef PL_TEST_UNIT_H
#define PL_TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
