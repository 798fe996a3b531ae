/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program: its allocation number PLUMB_FAIL_AT fails, or with PLUMB_FAIL_ALL that and all after it.
 * The C library's own are among them, unless PLUMB_FAIL_IN says in which library alone, by a part of its path. How many
 * there were, and how many failed, is counted in the shared memory that descriptor PLUMB_FAIL_COUNT names. What the
 * program starts gets nothing of this. Test code, glibc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

struct counts {
	atomic_long made, failed;
};

static struct counts *counts;
static long fail_at;
static bool all;
static char within[256];
static __thread bool exempt;

__attribute__((constructor)) static void begin(void)
{
	static const char *const ours[] = {"PLUMB_FAIL_AT", "PLUMB_FAIL_ALL", "PLUMB_FAIL_COUNT", "PLUMB_FAIL_IN",
					   "LD_PRELOAD"};
	const char *at = getenv("PLUMB_FAIL_AT"), *fd = getenv("PLUMB_FAIL_COUNT"), *in = getenv("PLUMB_FAIL_IN");
	void *shared = fd ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0) : MAP_FAILED;

	if (fd)
		close(atoi(fd));
	fail_at = at ? atol(at) : -1;
	all = getenv("PLUMB_FAIL_ALL") != NULL;
	snprintf(within, sizeof within, "%s", in ? in : "");
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		unsetenv(ours[i]);
	if (shared != MAP_FAILED)
		counts = shared;
}

static bool is_within(const void *caller)
{
	Dl_info info;

	return !*within || (dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, within));
}

static bool must_fail(const void *caller)
{
	if (!counts || exempt || !is_within(caller))
		return false;
	long n = atomic_fetch_add(&counts->made, 1);
	if (fail_at < 0 || (all ? n < fail_at : n != fail_at))
		return false;
	atomic_fetch_add(&counts->failed, 1);
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return must_fail(__builtin_return_address(0)) ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **ret, size_t align, size_t size)
{
	if (must_fail(__builtin_return_address(0)))
		return ENOMEM;
	*ret = __libc_memalign(align, size);
	return *ret ? 0 : ENOMEM;
}

/* The C library (2.36) itself ends the program with an assertion, or crashes, when it reads /etc/nsswitch.conf without
 * memory. */
int getpwuid_r(uid_t uid, struct passwd *entry, char *text, size_t size, struct passwd **ret)
{
	int (*real)(uid_t, struct passwd *, char *, size_t, struct passwd **) = dlsym(RTLD_NEXT, "getpwuid_r");

	exempt = true;
	int r = real(uid, entry, text, size, ret);
	exempt = false;
	return r;
}
