/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `perf script`, whose fields come and go with its options and versions. Layer import; pure.
 *
 * Names of threads hold blanks and numbers, so the head of an event is read from its time backwards: before that stand
 * perhaps the CPU and some flags, then the ids, and all before those is the name. */
#include "perf_lines.h"

#include <string.h>

#define FIELDS_MAX 4 /* between the ids and the time */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Take the last word of @p s. */
static struct pl_span take_last(struct pl_span *s)
{
	struct pl_span word;

	*s = pl_span_trim(*s);
	word = (struct pl_span){s->s + s->len, 0};
	while (s->len && !pl_span_is_blank(s->s[s->len - 1])) {
		s->len--;
		word.s--;
		word.len++;
	}
	return word;
}

/* "12.000345:", with as many decimals as there are. */
static bool take_time(struct pl_span word, uint64_t *ret)
{
	const char *point = memchr(word.s, '.', word.len);
	uint64_t seconds, ns = 0, unit = 100000000;

	if (!point || word.s[word.len - 1] != ':' ||
	    !pl_span_decimal((struct pl_span){word.s, (size_t)(point - word.s)}, &seconds))
		return false;
	for (point++; point < word.s + word.len - 1; point++, unit /= 10) {
		if (!is_digit(*point))
			return false;
		ns += (uint64_t)(*point - '0') * unit;
	}
	return !__builtin_mul_overflow(seconds, UINT64_C(1000000000), &seconds) &&
	       !__builtin_add_overflow(seconds, ns, ret);
}

/* "4243" or "4242/4243" */
static bool ids(struct pl_span word, struct pl_perf_event *e)
{
	const char *slash = memchr(word.s, '/', word.len);
	struct pl_span pid = word, tid = word;

	if (slash) {
		pid.len = (size_t)(slash - word.s);
		tid.s = slash + 1;
		tid.len = word.len - pid.len - 1;
	}
	return pl_span_decimal(pid, &e->pid) && pl_span_decimal(tid, &e->tid);
}

/* What stands before the time. */
static bool take_names(struct pl_span s, struct pl_perf_event *e)
{
	for (int i = 0; i <= FIELDS_MAX; i++) {
		struct pl_span word = take_last(&s);

		if (word.len == 0)
			return false;
		if (ids(word, e)) {
			e->comm = pl_span_trim(s);
			return e->comm.len > 0;
		}
	}
	return false;
}

bool pl_perf_event(struct pl_span line, struct pl_perf_event *ret)
{
	struct pl_perf_event e = {.period = 0};
	/* Begins with a word: what stands before a time is trimmed for each word that looks like one. */
	const struct pl_span whole = pl_span_trim(line);
	struct pl_span left = whole, word, before;

	do {
		word = pl_span_word(&left);
		if (word.len == 0)
			return false;
		before = (struct pl_span){whole.s, (size_t)(word.s - whole.s)};
	} while (!take_time(word, &e.time_ns) || !take_names(before, &e));
	word = pl_span_word(&left);
	if (pl_span_decimal(word, &e.period)) {
		e.has_period = true;
		word = pl_span_word(&left);
	}
	if (word.len < 2 || word.s[word.len - 1] != ':')
		return false;
	e.event = (struct pl_span){word.s, word.len - 1};
	e.rest = left;
	*ret = e;
	return true;
}

static struct pl_span without_offset(struct pl_span s)
{
	size_t i = s.len;

	while (i > 0 && pl_span_hex_digit(s.s[i - 1]) >= 0)
		i--;
	if (i < s.len && i > 3 && memcmp(s.s + i - 3, "+0x", 3) == 0)
		s.len = i - 3;
	return s;
}

/* Where the parenthesis opens that closes at the end of @p s, as in "(/tmp/x (deleted))". Where a file's name does not
 * close what it opens: the last one behind a blank. NULL: nowhere. */
static const char *opening(struct pl_span s)
{
	const char *last = NULL;
	size_t depth = 0;

	for (size_t i = s.len; i > 0; i--) {
		depth += s.s[i - 1] == ')';
		if (s.s[i - 1] != '(')
			continue;
		if (--depth == 0)
			return s.s + i - 1;
		if (!last && i > 1 && pl_span_is_blank(s.s[i - 2]))
			last = s.s + i - 1;
	}
	return last;
}

bool pl_perf_frame(struct pl_span line, struct pl_perf_frame *ret)
{
	struct pl_span left = line, word = pl_span_word(&left);
	struct pl_perf_frame f;
	const char *open;

	if (!pl_span_hex(word, &f.address))
		return false;
	left = pl_span_trim(left);
	if (left.len < 2 || left.s[left.len - 1] != ')')
		return false;
	open = opening(left);
	if (!open)
		return false;
	f.dso = (struct pl_span){open + 1, left.len - (size_t)(open - left.s) - 2};
	f.symbol = without_offset(pl_span_trim((struct pl_span){left.s, (size_t)(open - left.s)}));
	*ret = f;
	return true;
}
