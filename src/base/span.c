/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a text: lines, words, numbers. Layer base; pure. */
#include "span.h"

#include <string.h>

bool pl_span_line(struct pl_span *rest, struct pl_span *line_ret)
{
	const char *end;
	size_t taken;

	if (rest->len == 0)
		return false;
	end = memchr(rest->s, '\n', rest->len);
	*line_ret = (struct pl_span){rest->s, end ? (size_t)(end - rest->s) : rest->len};
	taken = line_ret->len + (end != NULL);
	*rest = (struct pl_span){rest->s + taken, rest->len - taken};
	return true;
}

bool pl_span_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct pl_span from_first(struct pl_span s)
{
	for (; s.len && pl_span_is_blank(*s.s); s.len--)
		s.s++;
	return s;
}

struct pl_span pl_span_trim(struct pl_span s)
{
	s = from_first(s);
	while (s.len && pl_span_is_blank(s.s[s.len - 1]))
		s.len--;
	return s;
}

struct pl_span pl_span_word(struct pl_span *rest)
{
	struct pl_span word = from_first(*rest);
	size_t len = 0;

	while (len < word.len && !pl_span_is_blank(word.s[len]))
		len++;
	*rest = (struct pl_span){word.s + len, word.len - len};
	word.len = len;
	return word;
}

int pl_span_hex_digit(char c)
{
	char low = (char)(c | 0x20);

	if (c >= '0' && c <= '9')
		return c - '0';
	return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

static bool number(struct pl_span s, uint64_t base, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.len; i++) {
		int digit = pl_span_hex_digit(s.s[i]);

		if (digit < 0 || (uint64_t)digit >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v))
			return false;
	}
	if (s.len)
		*ret = v;
	return s.len > 0;
}

bool pl_span_decimal(struct pl_span s, uint64_t *ret)
{
	return number(s, 10, ret);
}

bool pl_span_hex(struct pl_span s, uint64_t *ret)
{
	return number(s, 16, ret);
}
