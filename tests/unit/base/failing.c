/* SPDX-License-Identifier: Apache-2.0 */
/* What malloc, calloc and realloc of the tested code are in tests of a want of memory. Any thread of the tested code;
 * the test itself has one. */
#include "failing.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "unit.h"

static atomic_long until_failure = -1; /* allocations that still succeed; negative: all */
static atomic_bool failed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool must_fail(void)
{
	if (atomic_load(&until_failure) < 0 || atomic_fetch_sub(&until_failure, 1) != 0)
		return false;
	failed = true;
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

void failing_each(void (*scenario)(void *), void *ctx, long least)
{
	long n = 0;
	for (;; n++) {
		until_failure = n;
		failed = false;
		scenario(ctx);
		until_failure = -1;
		if (!failed)
			break;
	}
	assert_true(n >= least);
}

bool failing_happened(void)
{
	return failed;
}

void failing_off(void)
{
	until_failure = -1;
}
