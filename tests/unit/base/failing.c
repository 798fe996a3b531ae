/* SPDX-License-Identifier: Apache-2.0 */
/* What malloc and its like are in tests of a want of memory, and those functions of the C library that allocate
 * themselves. Any thread of the tested code; the test itself has one. */
#include "failing.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static atomic_long until_failure = -1; /* allocations that still succeed; negative: all */
static atomic_bool failed;
static bool all_after; /* the failing one is not the only one */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t len);
int __real_vasprintf(char **ret, const char *fmt, va_list args);
FILE *__real_open_memstream(char **ret, size_t *len);
FILE *__real_fdopen(int fd, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);
DIR *__real_opendir(const char *path);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t len);
int __wrap_vasprintf(char **ret, const char *fmt, va_list args);
int __wrap_asprintf(char **ret, const char *fmt, ...);
FILE *__wrap_open_memstream(char **ret, size_t *len);
FILE *__wrap_fdopen(int fd, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__wrap_opendir(const char *path);

static bool must_fail(void)
{
	long left = atomic_load(&until_failure);

	/* Zero stays zero while all that come after are to fail. */
	while ((left > 0 || (left == 0 && !all_after)) &&
	       !atomic_compare_exchange_weak(&until_failure, &left, left - 1))
		;
	if (left != 0)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return must_fail() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return must_fail() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
	return must_fail() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t len)
{
	return must_fail() ? NULL : __real_strndup(s, len);
}

int __wrap_vasprintf(char **ret, const char *fmt, va_list args)
{
	return must_fail() ? -1 : __real_vasprintf(ret, fmt, args);
}

int __wrap_asprintf(char **ret, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	int len = __wrap_vasprintf(ret, fmt, args);
	va_end(args);
	return len;
}

FILE *__wrap_open_memstream(char **ret, size_t *len)
{
	return must_fail() ? NULL : __real_open_memstream(ret, len);
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
	return must_fail() ? NULL : __real_fdopen(fd, mode);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return must_fail() ? NULL : __real_fopen(path, mode);
}

DIR *__wrap_opendir(const char *path)
{
	return must_fail() ? NULL : __real_opendir(path);
}

static long each(void (*scenario)(void *), void *ctx, long step)
{
	for (long n = 0;; n += step) {
		failed = false;
		until_failure = n;
		scenario(ctx);
		until_failure = -1;
		if (!failed)
			return n;
	}
}

void failing_each(void (*scenario)(void *), void *ctx, long least)
{
	all_after = false;
	assert_true(each(scenario, ctx, 1) >= least);
}

void failing_some(void (*scenario)(void *), void *ctx, long step, enum failing_mode mode)
{
	all_after = mode == FAILING_ALL_AFTER;
	assert_true(each(scenario, ctx, step) > step);
}

bool failing_happened(void)
{
	return failed;
}

void failing_off(void)
{
	until_failure = -1;
}
