/* SPDX-License-Identifier: Apache-2.0 */
/* Layer base; any thread. See debug.h. */
#include "debug.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "utf8.h"

#define LINE 512

static const struct {
	const char *name;
	unsigned set;
} names[] = {
	{"engine", PL_DEBUG_ENGINE},
	{"process", PL_DEBUG_PROCESS},
	{"all", PL_DEBUG_ENGINE | PL_DEBUG_PROCESS},
};
#define NAMES (sizeof names / sizeof *names)

unsigned pl_debug_domains;

static unsigned set_of(const char *word, size_t len)
{
	for (size_t i = 0; i < NAMES; i++)
		if (strlen(names[i].name) == len && memcmp(names[i].name, word, len) == 0)
			return names[i].set;
	return 0;
}

unsigned pl_debug_parse(const char *text, const char **unknown_ret, size_t *unknown_len)
{
	unsigned all = 0;

	*unknown_len = 0;
	while (*text) {
		size_t len = strcspn(text, ",");
		unsigned set = set_of(text, len);

		if (!set && len && !*unknown_len) {
			*unknown_ret = text;
			*unknown_len = len;
		}
		all |= set;
		text += len;
		text += *text == ',';
	}
	return all;
}

/* Of a terminal; in C1, too, and those that change the direction of what follows. */
static bool is_control(uint32_t code)
{
	return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x061c || (code >= 0x200e && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == PL_UTF8_INVALID;
}

/* Names and paths are text of others, and the log may go to a terminal. */
static size_t without_controls(char *line, size_t len)
{
	size_t kept = 0;

	for (size_t i = 0, n; i < len; i += n) {
		uint32_t code;

		n = pl_utf8_decode((const uint8_t *)line + i, len - i, &code);
		if (is_control(code)) {
			line[kept++] = '?';
			continue;
		}
		memmove(line + kept, line + i, n);
		kept += n;
	}
	return kept;
}

static size_t at_most(int len, size_t room)
{
	return len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

/* Whoever writes may hold a thread of a program: it waits for nobody. */
static bool is_read(void)
{
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) != 0;
}

/* In one write, so that lines of several threads stay whole. */
static void write_line(const char *domain, const char *fmt, va_list args)
{
	char line[LINE];
	double now = (double)pl_clock_monotonic_ns() / PL_NS_PER_S;
	size_t len = at_most(snprintf(line, sizeof line, "plumb %s %.6f: ", domain, now), sizeof line);

	len += at_most(vsnprintf(line + len, sizeof line - len, fmt, args), sizeof line - len);
	len = without_controls(line, len);
	line[len] = '\n';
	(void)!write(STDERR_FILENO, line, len + 1);
}

static void tell_lost(unsigned lines)
{
	char line[80];
	int len = snprintf(line, sizeof line, "plumb: %u lines before were lost: nobody read them\n", lines);

	(void)!write(STDERR_FILENO, line, (size_t)len);
}

void pl_debug_write(enum pl_debug_domain domain, const char *fmt, ...)
{
	static atomic_uint lost;
	int before = errno;
	va_list args;

	if (!is_read()) {
		atomic_fetch_add(&lost, 1);
		errno = before;
		return;
	}
	unsigned lines = atomic_exchange(&lost, 0);
	if (lines)
		tell_lost(lines);
	va_start(args, fmt);
	write_line(names[domain == PL_DEBUG_PROCESS].name, fmt, args);
	va_end(args);
	errno = before;
}

/* Of a program with more rights than its caller the environment says nothing. */
__attribute__((constructor)) static void begin(void)
{
	const char *wanted = secure_getenv("PLUMB_DEBUG"), *unknown;
	size_t len;

	if (!wanted)
		return;
	pl_debug_domains = pl_debug_parse(wanted, &unknown, &len);
	if (len)
		pl_debug_write(PL_DEBUG_ENGINE, "PLUMB_DEBUG: there is no domain '%.*s': engine, process, all",
			       (int)(len < LINE ? len : LINE), unknown);
}
