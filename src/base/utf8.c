/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 has it (layer base). Pure, any thread. */
#include "utf8.h"

/* Bytes that the lead byte @p c announces; 0: it is no lead byte. */
static size_t announced(uint8_t c)
{
	if (c < 0x80)
		return 1;
	if (c < 0xc0 || c > 0xf7)
		return 0;
	return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

size_t pl_utf8_decode(const uint8_t *s, size_t len, uint32_t *ret)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t want = announced(s[0]), n = 1;
	uint32_t code = s[0];
	*ret = PL_UTF8_INVALID;
	if (want == 0)
		return 1;
	if (want > 1)
		code &= 0x7fu >> want;
	for (; n < want && n < len && (s[n] & 0xc0) == 0x80; n++)
		code = code << 6 | (s[n] & 0x3fu);
	if (n == want && code >= smallest[want] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff))
		*ret = code;
	return n;
}

struct plumb_error *pl_utf8_add_valid(struct pl_buf *b, const void *text, size_t len)
{
	const uint8_t *s = text;
	struct plumb_error *err = NULL;
	size_t from = 0;
	uint32_t code;

	for (size_t i = 0; i < len && !err;) {
		size_t n = pl_utf8_decode(s + i, len - i, &code);

		i += n;
		if (code != PL_UTF8_INVALID)
			continue;
		err = pl_buf_add(b, s + from, i - n - from);
		if (!err)
			err = pl_buf_add_str(b, "\xef\xbf\xbd");
		from = i;
	}
	return err ? err : pl_buf_add(b, s + from, len - from);
}
