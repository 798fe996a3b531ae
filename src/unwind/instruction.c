/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure. Source: Intel SDM, volume 2, chapter 2 and the opcode maps of appendix A. */
#include "instruction.h"

#include <string.h>

#define REX_W 8
#define REX_R 4
#define REX_B 1

/* What comes behind the opcode. */
enum shape {
	NONE = 0, /* nothing */
	MODRM = 1,
	BYTE = 2,  /* a constant of 8 bits */
	WORD = 4,  /* of 32 bits, of 16 with the prefix 66 */
	TEST = 8,  /* a constant for two of the operations in ModRM */
	LONG = 16, /* of 64 bits with REX.W */
	UNKNOWN = 32,
};

struct range {
	uint8_t from, to, shape;
};

/* In order; what is in none is not known. 00 to 3f are apart: eight operations, alike. */
static const struct range one_byte[] = {
	{0x50, 0x5f, NONE},
	{0x63, 0x63, MODRM},
	{0x68, 0x68, WORD},
	{0x69, 0x69, MODRM | WORD},
	{0x6a, 0x6a, BYTE},
	{0x6b, 0x6b, MODRM | BYTE},
	{0x70, 0x7f, BYTE},
	{0x80, 0x80, MODRM | BYTE},
	{0x81, 0x81, MODRM | WORD},
	{0x83, 0x83, MODRM | BYTE},
	{0x84, 0x8b, MODRM},
	{0x8d, 0x8d, MODRM},
	{0x90, 0x99, NONE},
	{0xa8, 0xa8, BYTE},
	{0xa9, 0xa9, WORD},
	{0xb0, 0xb7, BYTE},
	{0xb8, 0xbf, WORD | LONG},
	{0xc0, 0xc1, MODRM | BYTE},
	{0xc3, 0xc3, NONE},
	{0xc6, 0xc6, MODRM | BYTE},
	{0xc7, 0xc7, MODRM | WORD},
	{0xc9, 0xc9, NONE},
	{0xd0, 0xd3, MODRM},
	{0xe8, 0xe9, WORD},
	{0xeb, 0xeb, BYTE},
	{0xf6, 0xf6, MODRM | BYTE | TEST},
	{0xf7, 0xf7, MODRM | WORD | TEST},
	{0xfe, 0xff, MODRM},
};

static const struct range after_0f[] = {
	{0x10, 0x1f, MODRM},	    {0x28, 0x2f, MODRM},	{0x40, 0x6f, MODRM},	    {0x70, 0x73, MODRM | BYTE},
	{0x74, 0x76, MODRM},	    {0x7e, 0x7f, MODRM},	{0x80, 0x8f, WORD},	    {0x90, 0x9f, MODRM},
	{0xa2, 0xa2, NONE},	    {0xa3, 0xa3, MODRM},	{0xa4, 0xa4, MODRM | BYTE}, {0xa5, 0xa5, MODRM},
	{0xab, 0xab, MODRM},	    {0xac, 0xac, MODRM | BYTE}, {0xad, 0xad, MODRM},	    {0xaf, 0xb1, MODRM},
	{0xb3, 0xb3, MODRM},	    {0xb6, 0xb7, MODRM},	{0xba, 0xba, MODRM | BYTE}, {0xbb, 0xc1, MODRM},
	{0xc2, 0xc2, MODRM | BYTE}, {0xc4, 0xc6, MODRM | BYTE}, {0xc8, 0xcf, NONE},	    {0xd0, 0xfe, MODRM},
};

static uint8_t find(const struct range *ranges, size_t n, uint8_t opcode)
{
	for (size_t i = 0; i < n; i++)
		if (opcode >= ranges[i].from && opcode <= ranges[i].to)
			return ranges[i].shape;
	return UNKNOWN;
}

static uint8_t shape_of(const struct pl_instruction *in)
{
	static const uint8_t arithmetic[8] = {MODRM, MODRM, MODRM, MODRM, BYTE, WORD, UNKNOWN, UNKNOWN};

	if (in->map == PL_MAP_0F)
		return find(after_0f, sizeof after_0f / sizeof *after_0f, in->opcode);
	if (in->opcode < 0x40)
		return arithmetic[in->opcode % 8];
	return find(one_byte, sizeof one_byte / sizeof *one_byte, in->opcode);
}

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0xf2 || b == 0xf3 || b == 0x2e || b == 0x3e || b == 0x64 || b == 0x65;
}

/* ModRM and what it brings with it: the bytes. */
static size_t read_modrm(const uint8_t *code, struct pl_instruction *in)
{
	const uint8_t b = code[0], low = b & 7;
	size_t len = 1;

	in->has_modrm = true;
	in->mod = b >> 6;
	in->reg = (uint8_t)((b >> 3 & 7) | (in->rex & REX_R ? 8 : 0));
	in->rm = (uint8_t)(low | (in->rex & REX_B ? 8 : 0));
	if (in->mod == 3)
		return len;
	const bool far = in->mod == 2 || (in->mod == 0 && low == 5) || (in->mod == 0 && low == 4 && (code[1] & 7) == 5);
	len += low == 4; /* SIB */
	return len + (in->mod == 1 ? 1 : far ? 4 : 0);
}

static size_t constant_bytes(const struct pl_instruction *in, uint8_t shape, bool narrow)
{
	if (shape & TEST && (in->reg & 7) > 1)
		return 0;
	if (shape & LONG && in->rex & REX_W)
		return 8;
	return shape & BYTE ? 1 : shape & WORD ? (narrow ? 2 : 4) : 0;
}

bool pl_instruction_read(const uint8_t *code, struct pl_instruction *ret)
{
	uint8_t bytes[2 * PL_INSTRUCTION_MAX] = {0};
	size_t i = 0;
	bool narrow = false;
	int32_t word;

	memcpy(bytes, code, PL_INSTRUCTION_MAX);
	*ret = (struct pl_instruction){0};
	for (; i < 4 && is_prefix(bytes[i]); i++)
		narrow |= bytes[i] == 0x66;
	if ((bytes[i] & 0xf0) == 0x40)
		ret->rex = bytes[i++];
	if (bytes[i] == 0x0f) {
		ret->map = PL_MAP_0F;
		i++;
	}
	ret->opcode = bytes[i++];
	const uint8_t shape = shape_of(ret);
	if (shape & UNKNOWN)
		return false;
	if (shape & MODRM)
		i += read_modrm(bytes + i, ret);
	const size_t constant = constant_bytes(ret, shape, narrow);
	memcpy(&word, bytes + i, sizeof word);
	ret->constant = constant == 1 ? (int8_t)bytes[i] : constant == 4 ? word : 0;
	ret->len = i + constant;
	return ret->len <= PL_INSTRUCTION_MAX;
}
