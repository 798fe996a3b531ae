/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as values (layer base).
 *
 * An error is one block: the struct and, behind it, its message. Only a replaced hint is a block of its own. The static
 * errors are never written to and never freed, so they may be returned from any thread and as often as wanted.
 * Nothing here prints or logs. */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plumb_error {
	enum plumb_error_code code;
	bool is_static;
	char *hint;  /* NULL: the code's */
	char text[]; /* a static error has none: the code's */
};

static const struct {
	const char *name, *what, *hint;
} codes[PLUMB_ERR_COUNT] = {
	[PLUMB_OK] = {"ok", "no error", ""},
#define PLUMB_ERROR(code, name, what, hint) [PLUMB_ERR_##code] = {name, what, hint},
#include <plumb/errors.def>
#undef PLUMB_ERROR
};

#define STATIC_ERROR(CODE)                                                                                             \
	{                                                                                                              \
		.code = PLUMB_ERR_##CODE, .is_static = true                                                            \
	}

struct plumb_error pl_err_no_memory = STATIC_ERROR(NO_MEMORY);
struct plumb_error pl_err_unreadable = STATIC_ERROR(UNREADABLE);
struct plumb_error pl_err_stale = STATIC_ERROR(STALE);
struct plumb_error pl_err_corrupt = STATIC_ERROR(CORRUPT);
struct plumb_error pl_err_truncated = STATIC_ERROR(TRUNCATED);
struct plumb_error pl_err_limit = STATIC_ERROR(LIMIT);
struct plumb_error pl_err_not_ready = STATIC_ERROR(NOT_READY);
struct plumb_error pl_err_target_exited = STATIC_ERROR(TARGET_EXITED);

/* Bytes that @p fmt makes, without the NUL. */
static size_t formatted_length(const char *fmt, va_list args)
{
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	return len < 0 ? 0 : (size_t)len;
}

/* The message is @p fmt and, if @p suffix is not NULL, ": suffix". */
static struct plumb_error *error_new(enum plumb_error_code code, const char *suffix, const char *fmt, va_list args)
{
	size_t len = formatted_length(fmt, args), tail = suffix ? strlen(suffix) + 2 : 0;
	struct plumb_error *err = malloc(sizeof *err + len + tail + 1);
	if (!err)
		return &pl_err_no_memory;
	*err = (struct plumb_error){.code = code};
	if (vsnprintf(err->text, len + 1, fmt, args) < 0)
		err->text[0] = '\0';
	if (suffix)
		snprintf(err->text + len, tail + 1, ": %s", suffix);
	return err;
}

struct plumb_error *pl_error(enum plumb_error_code code, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct plumb_error *err = error_new(code, NULL, fmt, args);
	va_end(args);
	return err;
}

/* That of the code looks elsewhere: there is room enough. */
static struct plumb_error *hint_at_size_limit(struct plumb_error *err)
{
	return pl_error_hint(err,
			     "raise the limit of file sizes ('ulimit -f'); some file systems have one of their own");
}

struct plumb_error *pl_error_errno(enum plumb_error_code code, int errnum, const char *fmt, ...)
{
	char reason[128];
	va_list args;
	va_start(args, fmt);
	/* GNU strerror_r: may return a constant instead of filling the buffer; unlike strerror it is thread-safe. */
	struct plumb_error *err = error_new(code, strerror_r(errnum, reason, sizeof reason), fmt, args);
	va_end(args);
	return code == PLUMB_ERR_WRITE_FAILED && errnum == EFBIG ? hint_at_size_limit(err) : err;
}

struct plumb_error *pl_error_hint(struct plumb_error *err, const char *fmt, ...)
{
	if (!err || err->is_static)
		return err;
	va_list args;
	va_start(args, fmt);
	size_t len = formatted_length(fmt, args);
	char *hint = malloc(len + 1); /* without memory, the code's own hint is better than none */
	if (hint && vsnprintf(hint, len + 1, fmt, args) < 0)
		hint[0] = '\0';
	va_end(args);
	if (hint) {
		free(err->hint);
		err->hint = hint;
	}
	return err;
}

enum plumb_error_code plumb_error_code(const struct plumb_error *err)
{
	return err ? err->code : PLUMB_OK;
}

const char *plumb_error_name(enum plumb_error_code code)
{
	return (unsigned)code < PLUMB_ERR_COUNT ? codes[code].name : "unknown";
}

const char *plumb_error_message(const struct plumb_error *err)
{
	return err && !err->is_static ? err->text : codes[plumb_error_code(err)].what;
}

const char *plumb_error_hint(const struct plumb_error *err)
{
	return err && err->hint ? err->hint : codes[plumb_error_code(err)].hint;
}

void plumb_error_destroy(struct plumb_error *err)
{
	if (!err || err->is_static)
		return;
	free(err->hint);
	free(err);
}
