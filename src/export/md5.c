/* SPDX-License-Identifier: Apache-2.0 */
/* MD5 as RFC 1321 describes it (layer export; pure). */
#include "md5.h"

#include <math.h>
#include <string.h>

static uint32_t rotate(uint32_t v, unsigned by)
{
	return v << by | v >> (32 - by);
}

/* Step @p i mixes word which(i) of the block with a function of three of the four words of the state. */
static uint32_t mix(unsigned i, uint32_t b, uint32_t c, uint32_t d)
{
	switch (i / 16) {
	case 0:
		return (b & c) | (~b & d);
	case 1:
		return (d & b) | (~d & c);
	case 2:
		return b ^ c ^ d;
	default:
		return c ^ (b | ~d);
	}
}

static void add_block(uint32_t state[4], const uint8_t block[64])
{
	static const uint8_t shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
	static const uint8_t factor[4] = {1, 5, 3, 7}, offset[4] = {0, 1, 5, 0};
	uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];

	for (int i = 0; i < 16; i++)
		words[i] = (uint32_t)block[i * 4] | (uint32_t)block[i * 4 + 1] << 8 | (uint32_t)block[i * 4 + 2] << 16 |
			   (uint32_t)block[i * 4 + 3] << 24;
	for (unsigned i = 0; i < 64; i++) {
		uint32_t constant = (uint32_t)(long long)(fabs(sin(i + 1.0)) * 4294967296.0);
		uint32_t word = words[(factor[i / 16] * i + offset[i / 16]) % 16];
		uint32_t next = b + rotate(a + mix(i, b, c, d) + constant + word, shifts[i / 16][i % 4]);

		a = d;
		d = c;
		c = b;
		b = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void pl_md5(const void *bytes, size_t len, uint8_t ret[16])
{
	uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
	uint8_t last[128] = {0};
	const uint8_t *s = bytes;
	size_t rest = len % 64, last_len = rest < 56 ? 64 : 128;

	for (size_t i = 0; i + 64 <= len; i += 64)
		add_block(state, s + i);
	if (rest)
		memcpy(last, s + len - rest, rest);
	last[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		last[last_len - 8 + i] = (uint8_t)((uint64_t)len * 8 >> (8 * i));
	for (size_t i = 0; i < last_len; i += 64)
		add_block(state, last + i);
	for (int i = 0; i < 16; i++)
		ret[i] = (uint8_t)(state[i / 4] >> (8 * (i % 4)));
}
