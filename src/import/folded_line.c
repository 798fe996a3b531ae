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

/* All of @p s as a number. */
static bool read_number(struct pl_piece s, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (!is_digit(s.s[i]) || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, s.s[i] - '0', &v))
			return false;
	}
	*ret = v;
	return s.len > 0;
}

static bool read_hex(struct pl_piece s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.len < 3 || s.len > 18 || memcmp(s.s, "0x", 2) != 0)
		return false;
	for (size_t i = 2; i < s.len; i++) {
		char c = s.s[i] | 0x20;

		if (!is_digit(s.s[i]) && (c < 'a' || c > 'f'))
			return false;
		v = v << 4 | (uint64_t)(is_digit(s.s[i]) ? s.s[i] - '0' : c - 'a' + 10);
	}
	*ret = v;
	return true;
}

/* "12", "12.", "12.7". */
static bool read_decimal(struct pl_piece s, uint64_t *ret)
{
	const char *dot = memchr(s.s, '.', s.len);
	struct pl_piece whole = {s.s, dot ? (size_t)(dot - s.s) : s.len};

	if (!read_number(whole, ret))
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
static bool read_metrics(struct pl_piece s, uint64_t *ret)
{
	const char *comma = memchr(s.s, ',', s.len);

	if (!comma)
		return read_decimal(s, ret);
	for (const char *at = comma; at < s.s + s.len; at++) {
		if (!is_digit(*at) && *at != ',' && *at != '-')
			return false;
	}
	return read_number((struct pl_piece){s.s, (size_t)(comma - s.s)}, ret);
}

bool pl_folded_split(struct pl_piece line, struct pl_piece *stack, uint64_t *count)
{
	const char *blank;

	while (line.len && (line.s[line.len - 1] == ' ' || line.s[line.len - 1] == '\r'))
		line.len--;
	blank = memrchr(line.s, ' ', line.len);
	if (!blank)
		blank = memrchr(line.s, '\t', line.len);
	if (!blank || !read_metrics((struct pl_piece){blank + 1, (size_t)(line.s + line.len - blank) - 1}, count))
		return false;
	*stack = (struct pl_piece){line.s, (size_t)(blank - line.s)};
	return true;
}

bool pl_folded_next(struct pl_piece *rest, struct pl_piece *part)
{
	const char *end;

	if (!rest->s)
		return false;
	end = memchr(rest->s, ';', rest->len);
	*part = (struct pl_piece){rest->s, end ? (size_t)(end - rest->s) : rest->len};
	*rest = end ? (struct pl_piece){end + 1, rest->len - part->len - 1} : (struct pl_piece){NULL, 0};
	return true;
}

static bool starts(struct pl_piece *s, const char *word)
{
	size_t len = strlen(word);

	if (s->len < len || memcmp(s->s, word, len) != 0)
		return false;
	s->s += len;
	s->len -= len;
	return true;
}

/* "12REST", REST being empty or beginning with @p stop, which is taken away. */
static bool number_then(struct pl_piece s, char stop, uint64_t *number, struct pl_piece *rest)
{
	const char *end = memchr(s.s, stop, s.len);

	*rest = end ? (struct pl_piece){end + 1, s.len - (size_t)(end - s.s) - 1} : (struct pl_piece){"", 0};
	return read_number((struct pl_piece){s.s, end ? (size_t)(end - s.s) : s.len}, number);
}

static bool read_process(struct pl_piece part, bool austin, struct pl_folded_part *ret)
{
	struct pl_piece s = part;

	ret->kind = PL_FOLDED_PROCESS;
	if (starts(&s, "pid:"))
		return number_then(s, ' ', &ret->number, &ret->name);
	s = part;
	if (starts(&s, "process ") && number_then(s, ':', &ret->number, &ret->name)) {
		if (ret->name.len >= 2 && ret->name.s[0] == '"' && ret->name.s[ret->name.len - 1] == '"')
			ret->name = (struct pl_piece){ret->name.s + 1, ret->name.len - 2};
		return true;
	}
	s = part;
	ret->name = (struct pl_piece){"", 0};
	return austin && starts(&s, "P") && read_number(s, &ret->number);
}

/* "thread (0x7F3C): name", "thread (1234)", or without the blank. */
static bool read_spy_thread(struct pl_piece s, struct pl_folded_part *ret)
{
	const char *end;
	struct pl_piece id;

	if (!starts(&s, "thread (") || !(end = memchr(s.s, ')', s.len)))
		return false;
	id = (struct pl_piece){s.s, (size_t)(end - s.s)};
	s = (struct pl_piece){end + 1, s.len - id.len - 1};
	if (starts(&s, ": "))
		ret->name = s;
	return read_hex(id, &ret->number) || read_number(id, &ret->number);
}

static bool read_thread(struct pl_piece part, bool austin, struct pl_folded_part *ret)
{
	struct pl_piece s = part, after;
	uint64_t interpreter;

	ret->kind = PL_FOLDED_THREAD;
	ret->name = (struct pl_piece){"", 0};
	if (starts(&s, "tid:"))
		return number_then(s, ' ', &ret->number, &ret->name);
	if (read_spy_thread(part, ret))
		return true;
	s = part;
	if (!austin || !starts(&s, "T"))
		return false;
	return read_number(s, &ret->number) || (number_then(s, ':', &interpreter, &after) &&
						(read_number(after, &ret->number) || read_hex(after, &ret->number)));
}

static bool read_line(struct pl_piece s, int32_t *ret)
{
	uint64_t v;

	if (!read_number(s, &v) || v > INT32_MAX)
		return false;
	*ret = (int32_t)v;
	return true;
}

/* "file:function:line" */
static bool read_colons(struct pl_piece part, struct pl_folded_part *ret)
{
	const char *last = memrchr(part.s, ':', part.len), *before;

	if (!last || !read_line((struct pl_piece){last + 1, part.len - (size_t)(last - part.s) - 1}, &ret->line))
		return false;
	before = memrchr(part.s, ':', (size_t)(last - part.s));
	if (!before)
		return false;
	ret->file = (struct pl_piece){part.s, (size_t)(before - part.s)};
	ret->name = (struct pl_piece){before + 1, (size_t)(last - before) - 1};
	return true;
}

/* "function (file:line)", "function (file)" */
static bool read_brackets(struct pl_piece part, struct pl_folded_part *ret)
{
	const char *open = memmem(part.s, part.len, " (", 2), *colon, *end = part.s + part.len - 1;

	if (!open || *end != ')' || open + 2 >= end)
		return false;
	colon = memrchr(open + 2, ':', (size_t)(end - open) - 2);
	if (!colon || !read_line((struct pl_piece){colon + 1, (size_t)(end - colon) - 1}, &ret->line))
		colon = NULL;
	ret->name = (struct pl_piece){part.s, (size_t)(open - part.s)};
	ret->file = (struct pl_piece){open + 2, (size_t)((colon ? colon : end) - open) - 2};
	return colon || memchr(ret->file.s, '/', ret->file.len) || memmem(ret->file.s, ret->file.len, ".py", 3);
}

struct pl_folded_part pl_folded_read(struct pl_piece part, enum pl_folded_place place)
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
