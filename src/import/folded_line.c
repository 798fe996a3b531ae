/* SPDX-License-Identifier: Apache-2.0 */
/* The dialects of collapsed stacks (layer import; pure). Nothing in a line says which one it is: a part means what it
 * looks like. */
#include "folded_line.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Take @p word off the beginning of @p s. */
static bool take(struct pl_span *s, const char *word)
{
	size_t len = strlen(word);

	if (!pl_span_starts(*s, word))
		return false;
	*s = (struct pl_span){s->s + len, s->len - len};
	return true;
}

static bool read_hex(struct pl_span s, uint64_t *ret)
{
	return take(&s, "0x") && pl_span_hex(s, ret);
}

/* "12", "12.", "12.7". */
static bool read_decimal(struct pl_span s, uint64_t *ret)
{
	const char *dot = memchr(s.s, '.', s.len);
	struct pl_span whole = {s.s, dot ? (size_t)(dot - s.s) : s.len};

	if (!pl_span_decimal(whole, ret))
		return false;
	for (const char *at = dot ? dot + 1 : s.s + s.len; at < s.s + s.len; at++) {
		if (!is_digit(*at))
			return false;
	}
	if (dot && dot + 1 < s.s + s.len && dot[1] >= '5')
		*ret += *ret < UINT64_MAX;
	return true;
}

/* austin's full metrics: time, whether it was idle, and memory, which may be negative. The time is taken. */
static bool read_metrics(struct pl_span s, uint64_t *ret)
{
	const char *comma = memchr(s.s, ',', s.len);

	if (!comma)
		return read_decimal(s, ret);
	for (const char *at = comma; at < s.s + s.len; at++) {
		if (!is_digit(*at) && *at != ',' && *at != '-')
			return false;
	}
	return pl_span_decimal((struct pl_span){s.s, (size_t)(comma - s.s)}, ret);
}

bool pl_folded_split(struct pl_span line, struct pl_span *stack, uint64_t *count)
{
	const char *blank;

	while (line.len && (line.s[line.len - 1] == ' ' || line.s[line.len - 1] == '\r'))
		line.len--;
	blank = memrchr(line.s, ' ', line.len);
	if (!blank)
		blank = memrchr(line.s, '\t', line.len);
	if (!blank || !read_metrics((struct pl_span){blank + 1, (size_t)(line.s + line.len - blank) - 1}, count))
		return false;
	*stack = (struct pl_span){line.s, (size_t)(blank - line.s)};
	return true;
}

bool pl_folded_next(struct pl_span *rest, struct pl_span *part)
{
	const char *end;

	if (!rest->s)
		return false;
	end = memchr(rest->s, ';', rest->len);
	*part = (struct pl_span){rest->s, end ? (size_t)(end - rest->s) : rest->len};
	*rest = end ? (struct pl_span){end + 1, rest->len - part->len - 1} : (struct pl_span){NULL, 0};
	return true;
}

/* "12REST", REST being empty or beginning with @p stop, which is taken away. */
static bool number_then(struct pl_span s, char stop, uint64_t *number, struct pl_span *rest)
{
	const char *end = memchr(s.s, stop, s.len);

	*rest = end ? (struct pl_span){end + 1, s.len - (size_t)(end - s.s) - 1} : (struct pl_span){"", 0};
	return pl_span_decimal((struct pl_span){s.s, end ? (size_t)(end - s.s) : s.len}, number);
}

static bool read_process(struct pl_span part, bool austin, struct pl_folded_part *ret)
{
	struct pl_span s = part;

	ret->kind = PL_FOLDED_PROCESS;
	if (take(&s, "pid:"))
		return number_then(s, ' ', &ret->number, &ret->name);
	s = part;
	if (take(&s, "process ") && number_then(s, ':', &ret->number, &ret->name)) {
		if (ret->name.len >= 2 && ret->name.s[0] == '"' && ret->name.s[ret->name.len - 1] == '"')
			ret->name = (struct pl_span){ret->name.s + 1, ret->name.len - 2};
		return true;
	}
	s = part;
	ret->name = (struct pl_span){"", 0};
	return austin && take(&s, "P") && pl_span_decimal(s, &ret->number);
}

/* "thread (0x7F3C): name", "thread (1234)", or without the blank. */
static bool read_spy_thread(struct pl_span s, struct pl_folded_part *ret)
{
	const char *end;
	struct pl_span id;

	if (!take(&s, "thread (") || !(end = memchr(s.s, ')', s.len)))
		return false;
	id = (struct pl_span){s.s, (size_t)(end - s.s)};
	s = (struct pl_span){end + 1, s.len - id.len - 1};
	if (take(&s, ": "))
		ret->name = s;
	return read_hex(id, &ret->number) || pl_span_decimal(id, &ret->number);
}

static bool read_thread(struct pl_span part, bool austin, struct pl_folded_part *ret)
{
	struct pl_span s = part, after;
	uint64_t interpreter;

	ret->kind = PL_FOLDED_THREAD;
	ret->name = (struct pl_span){"", 0};
	if (take(&s, "tid:"))
		return number_then(s, ' ', &ret->number, &ret->name);
	if (read_spy_thread(part, ret))
		return true;
	s = part;
	if (!austin || !take(&s, "T"))
		return false;
	return pl_span_decimal(s, &ret->number) ||
	       (number_then(s, ':', &interpreter, &after) &&
		(pl_span_decimal(after, &ret->number) || read_hex(after, &ret->number)));
}

static bool read_line(struct pl_span s, int32_t *ret)
{
	uint64_t v;

	if (!pl_span_decimal(s, &v) || v > INT32_MAX)
		return false;
	*ret = (int32_t)v;
	return true;
}

/* "file:function:line" */
static bool read_colons(struct pl_span part, struct pl_folded_part *ret)
{
	const char *last = memrchr(part.s, ':', part.len), *before;

	if (!last || !read_line((struct pl_span){last + 1, part.len - (size_t)(last - part.s) - 1}, &ret->line))
		return false;
	before = memrchr(part.s, ':', (size_t)(last - part.s));
	if (!before)
		return false;
	ret->file = (struct pl_span){part.s, (size_t)(before - part.s)};
	ret->name = (struct pl_span){before + 1, (size_t)(last - before) - 1};
	return true;
}

/* "function (file:line)", "function (file)" */
static bool read_brackets(struct pl_span part, struct pl_folded_part *ret)
{
	const char *open = memmem(part.s, part.len, " (", 2), *colon, *end = part.s + part.len - 1;

	if (!open || *end != ')' || open + 2 >= end)
		return false;
	colon = memrchr(open + 2, ':', (size_t)(end - open) - 2);
	if (!colon || !read_line((struct pl_span){colon + 1, (size_t)(end - colon) - 1}, &ret->line))
		colon = NULL;
	ret->name = (struct pl_span){part.s, (size_t)(open - part.s)};
	ret->file = (struct pl_span){open + 2, (size_t)((colon ? colon : end) - open) - 2};
	return colon || memchr(ret->file.s, '/', ret->file.len) || memmem(ret->file.s, ret->file.len, ".py", 3);
}

struct pl_folded_part pl_folded_read(struct pl_span part, enum pl_folded_place place)
{
	struct pl_folded_part p = {.name = {"", 0}, .file = {"", 0}};

	bool austin = place == PL_FOLDED_AUSTIN;

	if (place != PL_FOLDED_INSIDE && (read_process(part, austin, &p) || read_thread(part, austin, &p)))
		return p;
	p = (struct pl_folded_part){.kind = PL_FOLDED_FRAME, .name = {"", 0}, .file = {"", 0}};
	if (part.len && (read_colons(part, &p) || read_brackets(part, &p)))
		return p;
	return (struct pl_folded_part){.kind = PL_FOLDED_FRAME, .name = part, .file = {"", 0}, .bare = true};
}
