/* SPDX-License-Identifier: Apache-2.0 */
/* Errors are values: a function that can fail returns `struct plumb_error *`, NULL for success. */
#ifndef PLUMB_ERROR_H
#define PLUMB_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PLUMB_API	 __attribute__((visibility("default")))
#define PLUMB_MUST_CHECK __attribute__((warn_unused_result))
#else
#define PLUMB_API
#define PLUMB_MUST_CHECK
#endif

enum plumb_error_code {
	PLUMB_OK = 0,
#define PLUMB_ERROR(code, name, what, hint) PLUMB_ERR_##code,
#include <plumb/errors.def>
#undef PLUMB_ERROR
	PLUMB_ERR_COUNT
};

/** An error: code, one sentence, and what to do next. Owner: the caller of the function that returned it. */
struct plumb_error;

/** Code of @p err; PLUMB_OK for NULL. */
PLUMB_API enum plumb_error_code plumb_error_code(const struct plumb_error *err);
/** Stable name of a code, such as "not-permitted"; "ok" for PLUMB_OK. Static. */
PLUMB_API const char *plumb_error_name(enum plumb_error_code code);
/** One clear sentence without a full stop. Lives as long as @p err. */
PLUMB_API const char *plumb_error_message(const struct plumb_error *err);
/** What the user can do next; "" if there is nothing. Lives as long as @p err. */
PLUMB_API const char *plumb_error_hint(const struct plumb_error *err);
/** Free @p err. NULL and the library's static errors are allowed. */
PLUMB_API void plumb_error_destroy(struct plumb_error *err);

#ifdef __cplusplus
}
#endif
#endif
