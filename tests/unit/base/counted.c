/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what counted_lib does. The compiler puts a call to __sanitizer_cov_trace_pc() into each of its blocks, the
 * linker leads its calls of the C library through here. One thread.
 *
 * What sorts, and every table that grows by doubling, does a little more for each item when there are more of them:
 * sorting 4n items takes 4 log(4n) / log(n) times as long, which is 4.8 from 1,000 on. What grows with the square takes
 * 16 times as long. The limit lies between the two. */
#include "counted.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define GROWN	    4
#define MOST_GROWTH 7
#define BYTES_SHIFT 4

static struct counted all, begun, measured;

void __sanitizer_cov_trace_pc(void);
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_memset(void *to, int byte, size_t len);
void *__real_memcpy(void *to, const void *from, size_t len);
void *__real_memmove(void *to, const void *from, size_t len);
int __real_memcmp(const void *a, const void *b, size_t len);
void *__real_memchr(const void *in, int byte, size_t len);
void *__real_memrchr(const void *in, int byte, size_t len);
void *__real_memmem(const void *in, size_t len, const void *what, size_t what_len);
size_t __real_strlen(const char *s);
size_t __real_strnlen(const char *s, size_t most);
int __real_strcmp(const char *a, const char *b);
int __real_strncmp(const char *a, const char *b, size_t most);
size_t __real_strspn(const char *s, const char *accept);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_memset(void *to, int byte, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len);
int __wrap_memcmp(const void *a, const void *b, size_t len);
void *__wrap_memchr(const void *in, int byte, size_t len);
void *__wrap_memrchr(const void *in, int byte, size_t len);
void *__wrap_memmem(const void *in, size_t len, const void *what, size_t what_len);
size_t __wrap_strlen(const char *s);
size_t __wrap_strnlen(const char *s, size_t most);
int __wrap_strcmp(const char *a, const char *b);
int __wrap_strncmp(const char *a, const char *b, size_t most);
size_t __wrap_strspn(const char *s, const char *accept);

void __sanitizer_cov_trace_pc(void)
{
	all.work++;
}

void counted_step(void)
{
	all.work++;
}

static void count_bytes(size_t len)
{
	all.work += 1 + (len >> BYTES_SHIFT);
}

/* Up to and with the byte that was found. */
static void *count_search(const void *in, size_t len, void *found)
{
	count_bytes(found ? (size_t)((const char *)found - (const char *)in) + 1 : len);
	return found;
}

void *__wrap_malloc(size_t size)
{
	all.allocated += size;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	all.allocated += n * size;
	count_bytes(n * size);
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	all.allocated += size;
	count_bytes(size);
	return __real_realloc(p, size);
}

void *__wrap_memset(void *to, int byte, size_t len)
{
	count_bytes(len);
	return __real_memset(to, byte, len);
}

void *__wrap_memcpy(void *to, const void *from, size_t len)
{
	count_bytes(len);
	return __real_memcpy(to, from, len);
}

void *__wrap_memmove(void *to, const void *from, size_t len)
{
	count_bytes(len);
	return __real_memmove(to, from, len);
}

int __wrap_memcmp(const void *a, const void *b, size_t len)
{
	count_bytes(len);
	return __real_memcmp(a, b, len);
}

void *__wrap_memchr(const void *in, int byte, size_t len)
{
	return count_search(in, len, __real_memchr(in, byte, len));
}

void *__wrap_memrchr(const void *in, int byte, size_t len)
{
	const char *found = __real_memrchr(in, byte, len);

	count_bytes(found ? (size_t)((const char *)in + len - found) : len);
	return (void *)found;
}

void *__wrap_memmem(const void *in, size_t len, const void *what, size_t what_len)
{
	return count_search(in, len, __real_memmem(in, len, what, what_len));
}

size_t __wrap_strlen(const char *s)
{
	size_t len = __real_strlen(s);

	count_bytes(len);
	return len;
}

size_t __wrap_strnlen(const char *s, size_t most)
{
	size_t len = __real_strnlen(s, most);

	count_bytes(len);
	return len;
}

static void count_common(const char *a, const char *b, size_t most)
{
	size_t n = 0;

	while (n < most && a[n] && a[n] == b[n])
		n++;
	count_bytes(n);
}

int __wrap_strcmp(const char *a, const char *b)
{
	count_common(a, b, SIZE_MAX);
	return __real_strcmp(a, b);
}

int __wrap_strncmp(const char *a, const char *b, size_t most)
{
	count_common(a, b, most);
	return __real_strncmp(a, b, most);
}

size_t __wrap_strspn(const char *s, const char *accept)
{
	size_t len = __real_strspn(s, accept);

	count_bytes(len);
	return len;
}

struct counted counted_now(void)
{
	return all;
}

void counted_begin(void)
{
	begun = all;
}

void counted_end(void)
{
	measured = (struct counted){all.work - begun.work, all.allocated - begun.allocated};
}

static struct counted measure(void (*scenario)(void *ctx, unsigned items), void *ctx, unsigned items)
{
	measured = (struct counted){0};
	scenario(ctx, items);
	assert_true(measured.work > items); /* or it was not linked with what counts */
	return measured;
}

void counted_linear(void (*scenario)(void *ctx, unsigned items), void *ctx, unsigned items)
{
	struct counted once = measure(scenario, ctx, items), more = measure(scenario, ctx, GROWN * items);

	if (getenv("PLUMB_TEST_COUNTS"))
		print_message("%u items: work %" PRIu64 " and %" PRIu64 " (%.1f), bytes %" PRIu64 " and %" PRIu64 "\n",
			      items, once.work, more.work, (double)more.work / (double)once.work, once.allocated,
			      more.allocated);
	if (more.work > MOST_GROWTH * once.work)
		fail_msg("%u items take %" PRIu64 " steps, four times as many %" PRIu64, items, once.work, more.work);
	if (more.allocated > MOST_GROWTH * once.allocated)
		fail_msg("%u items take %" PRIu64 " bytes, four times as many %" PRIu64, items, once.allocated,
			 more.allocated);
}
