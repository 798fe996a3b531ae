/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 as a filter before a stream (layer base). Any thread. */
#include "base64.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define GROUPS 1024u /* of four characters, written at once */

struct encoder {
	FILE *out;
	uint8_t rest[3]; /* bytes that are no group of three yet */
	size_t rest_len;
	char piece[4 * GROUPS];
	size_t piece_len;
};

static void put_group(struct encoder *e, const uint8_t *three)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = (uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];

	for (int shift = 18; shift >= 0; shift -= 6)
		e->piece[e->piece_len++] = digits[bits >> shift & 63];
}

static bool flush(struct encoder *e)
{
	bool good = fwrite(e->piece, 1, e->piece_len, e->out) == e->piece_len;

	e->piece_len = 0;
	return good;
}

static ssize_t encoder_write(void *cookie, const char *bytes, size_t len)
{
	struct encoder *e = cookie;

	for (size_t i = 0; i < len; i++) {
		e->rest[e->rest_len++] = (uint8_t)bytes[i];
		if (e->rest_len < sizeof e->rest)
			continue;
		put_group(e, e->rest);
		e->rest_len = 0;
		if (e->piece_len == sizeof e->piece && !flush(e))
			return 0;
	}
	return (ssize_t)len;
}

static void put_rest(struct encoder *e)
{
	size_t len = e->rest_len;

	if (!len)
		return;
	for (size_t i = len; i < sizeof e->rest; i++)
		e->rest[i] = 0;
	put_group(e, e->rest);
	for (size_t i = len; i < sizeof e->rest; i++)
		e->piece[e->piece_len - (sizeof e->rest - i)] = '=';
}

static int encoder_close(void *cookie)
{
	struct encoder *e = cookie;

	put_rest(e);
	bool good = flush(e);
	free(e);
	return good ? 0 : EOF;
}

FILE *pl_base64_open(FILE *out)
{
	struct encoder *e = calloc(1, sizeof *e);
	FILE *in =
		e ? fopencookie(e, "w", (cookie_io_functions_t){.write = encoder_write, .close = encoder_close}) : NULL;

	if (in)
		e->out = out;
	else
		free(e);
	return in;
}
