/* SPDX-License-Identifier: Apache-2.0 */
/* Making errors. Reading them is public: <plumb/error.h>. */
#ifndef PL_ERROR_H
#define PL_ERROR_H

#include <plumb/error.h>

#define PL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/** New error with a formatted message and the code's own hint. Never NULL: without memory it is pl_err_no_memory. */
struct plumb_error *pl_error(enum plumb_error_code code, const char *fmt, ...) PL_PRINTF(2, 3) PLUMB_MUST_CHECK;
/** As pl_error, with ": <strerror(errnum)>" appended to the message. */
struct plumb_error *pl_error_errno(enum plumb_error_code code, int errnum, const char *fmt, ...)
	PL_PRINTF(3, 4) PLUMB_MUST_CHECK;
/** Replace the hint of @p err (takes and returns it), e.g. with the cause that was checked. */
struct plumb_error *pl_error_hint(struct plumb_error *err, const char *fmt, ...) PL_PRINTF(2, 3) PLUMB_MUST_CHECK;

/* Expected outcomes of the hot path: static, compared by pointer, free to destroy. */
extern struct plumb_error pl_err_no_memory, pl_err_unreadable, pl_err_stale, pl_err_corrupt, pl_err_truncated,
	pl_err_limit, pl_err_not_ready, pl_err_target_exited;

#endif
