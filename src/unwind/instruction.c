/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure. Source: Intel SDM, volume 2, chapter 2 (VEX: 2.3, EVEX: 2.7) and the opcode maps of
 * appendix A. */
#include "instruction.h"

#include <string.h>

#define REX_W 8
#define REX_R 4
#define REX_X 2
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
	HALF = 64, /* a constant of 16 bits */
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
	{0x6c, 0x6f, NONE},
	{0x70, 0x7f, BYTE},
	{0x80, 0x80, MODRM | BYTE},
	{0x81, 0x81, MODRM | WORD},
	{0x83, 0x83, MODRM | BYTE},
	{0x84, 0x8f, MODRM},
	{0x90, 0x99, NONE},
	{0x9b, 0x9f, NONE},
	{0xa4, 0xa7, NONE},
	{0xa8, 0xa8, BYTE},
	{0xa9, 0xa9, WORD},
	{0xaa, 0xaf, NONE},
	{0xb0, 0xb7, BYTE},
	{0xb8, 0xbf, WORD | LONG},
	{0xc0, 0xc1, MODRM | BYTE},
	{0xc2, 0xc2, HALF},
	{0xc3, 0xc3, NONE},
	{0xc6, 0xc6, MODRM | BYTE},
	{0xc7, 0xc7, MODRM | WORD},
	{0xc9, 0xc9, NONE},
	{0xcc, 0xcc, NONE},
	{0xcd, 0xcd, BYTE},
	{0xd0, 0xd3, MODRM},
	{0xd7, 0xd7, NONE},
	{0xd8, 0xdf, MODRM}, /* x87 */
	{0xe0, 0xe3, BYTE},
	{0xe8, 0xe9, WORD},
	{0xeb, 0xeb, BYTE},
	{0xf4, 0xf5, NONE},
	{0xf6, 0xf6, MODRM | BYTE | TEST},
	{0xf7, 0xf7, MODRM | WORD | TEST},
	{0xf8, 0xfd, NONE},
	{0xfe, 0xff, MODRM},
};

static const struct range after_0f[] = {
	{0x00, 0x03, MODRM},	    {0x05, 0x05, NONE},		{0x0b, 0x0b, NONE},  {0x0d, 0x0d, MODRM},
	{0x10, 0x1f, MODRM},	    {0x28, 0x2f, MODRM},	{0x31, 0x31, NONE},  {0x40, 0x6f, MODRM},
	{0x70, 0x73, MODRM | BYTE}, {0x74, 0x76, MODRM},	{0x77, 0x77, NONE},  {0x7c, 0x7f, MODRM},
	{0x80, 0x8f, WORD},	    {0x90, 0x9f, MODRM},	{0xa2, 0xa2, NONE},  {0xa3, 0xa3, MODRM},
	{0xa4, 0xa4, MODRM | BYTE}, {0xa5, 0xa5, MODRM},	{0xab, 0xab, MODRM}, {0xac, 0xac, MODRM | BYTE},
	{0xad, 0xb1, MODRM},	    {0xb3, 0xb3, MODRM},	{0xb6, 0xb9, MODRM}, {0xba, 0xba, MODRM | BYTE},
	{0xbb, 0xc1, MODRM},	    {0xc2, 0xc2, MODRM | BYTE}, {0xc3, 0xc3, MODRM}, {0xc4, 0xc6, MODRM | BYTE},
	{0xc7, 0xc7, MODRM},	    {0xc8, 0xcf, NONE},		{0xd0, 0xff, MODRM},
};

/* As AVX: opmasks have room that jumps have else. */
static const struct range vector_after_0f[] = {
	{0x10, 0x17, MODRM}, {0x28, 0x2f, MODRM}, {0x41, 0x6f, MODRM},	      {0x70, 0x73, MODRM | BYTE},
	{0x74, 0x76, MODRM}, {0x77, 0x77, NONE},  {0x78, 0x7f, MODRM},	      {0x90, 0x93, MODRM},
	{0x98, 0x99, MODRM}, {0xae, 0xae, MODRM}, {0xc2, 0xc2, MODRM | BYTE}, {0xc4, 0xc6, MODRM | BYTE},
	{0xd0, 0xfe, MODRM},
};

static uint8_t find(const struct range *ranges, size_t n, uint8_t opcode)
{
	for (size_t i = 0; i < n; i++)
		if (opcode >= ranges[i].from && opcode <= ranges[i].to)
			return ranges[i].shape;
	return UNKNOWN;
}

#define FIND(ranges, opcode) find(ranges, sizeof(ranges) / sizeof *(ranges), opcode)

static uint8_t shape_of(const struct pl_instruction *in)
{
	static const uint8_t arithmetic[8] = {MODRM, MODRM, MODRM, MODRM, BYTE, WORD, UNKNOWN, UNKNOWN};

	switch (in->map) {
	case PL_MAP_0F:
		return in->vector ? FIND(vector_after_0f, in->opcode) : FIND(after_0f, in->opcode);
	case PL_MAP_0F38:
	case PL_MAP_HALF:
		return MODRM;
	case PL_MAP_0F3A:
		return MODRM | BYTE;
	case PL_MAP_ONE_BYTE:
		break;
	}
	return in->opcode < 0x40 ? arithmetic[in->opcode % 8] : FIND(one_byte, in->opcode);
}

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0xf2 || b == 0xf3 || b == 0x26 || b == 0x2e || b == 0x36 || b == 0x3e || b == 0x64 ||
	       b == 0x65 || b == 0x67 || b == 0xf0;
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
	in->at_sp = low == 4 && code[1] == 0x24 && !(in->rex & (REX_B | REX_X));
	len += low == 4; /* SIB */
	if (in->mod == 1)
		in->displacement = code[len] - (code[len] & 0x80 ? 256 : 0);
	else if (far)
		memcpy(&in->displacement, code + len, sizeof in->displacement);
	return len + (in->mod == 1 ? 1 : far ? 4 : 0);
}

static size_t constant_bytes(const struct pl_instruction *in, uint8_t shape, bool narrow)
{
	if (shape & TEST && (in->reg & 7) > 1)
		return 0;
	if (shape & LONG && in->rex & REX_W)
		return 8;
	if (shape & HALF)
		return 2;
	return shape & BYTE ? 1 : shape & WORD ? (narrow && !(in->rex & REX_W) ? 2 : 4) : 0;
}

/* Where the map of opcodes is numbered, as AVX does. False: none that is known. */
static bool take_map(uint8_t number, struct pl_instruction *in)
{
	static const enum pl_instruction_map maps[] = {PL_MAP_ONE_BYTE, PL_MAP_0F,   PL_MAP_0F38, PL_MAP_0F3A,
						       PL_MAP_ONE_BYTE, PL_MAP_HALF, PL_MAP_HALF, PL_MAP_ONE_BYTE};

	in->map = maps[number & 7];
	return in->map != PL_MAP_ONE_BYTE;
}

/* The beginning of one as AVX or AVX-512, whose bits are those of REX, inverted: its bytes; 0: not known. */
static size_t read_vector(const uint8_t *code, struct pl_instruction *in)
{
	const uint8_t b = code[1];

	in->vector = true;
	in->rex = (uint8_t)(0x40 | (b & 0x80 ? 0 : REX_R));
	if (code[0] == 0xc5) {
		in->map = PL_MAP_0F;
		in->other = ~b >> 3 & 15;
		return 2;
	}
	in->rex |= (uint8_t)((b & 0x40 ? 0 : REX_X) | (b & 0x20 ? 0 : REX_B) | (code[2] & 0x80 ? REX_W : 0));
	in->other = ~code[2] >> 3 & 15;
	const bool known = code[0] == 0xc4 ? (b & 0x1f) <= 3 && take_map(b & 0x1f, in) : take_map(b & 7, in);
	return !known ? 0 : code[0] == 0xc4 ? 3 : 4;
}

/* Up to the opcode, which is at @p ret. @p narrow: with the prefix 66. False: not known. */
static bool read_beginning(const uint8_t *code, struct pl_instruction *in, bool *narrow, size_t *ret)
{
	size_t i = 0;

	*narrow = false;
	for (; i < PL_INSTRUCTION_MAX - 4 && is_prefix(code[i]); i++)
		*narrow |= code[i] == 0x66;
	if (code[i] == 0xc4 || code[i] == 0xc5 || code[i] == 0x62) {
		const size_t n = read_vector(code + i, in);

		*narrow = false;
		*ret = i + n;
		return n != 0;
	}
	if ((code[i] & 0xf0) == 0x40)
		in->rex = code[i++];
	*ret = i;
	if (code[i] != 0x0f)
		return true;
	in->map = code[i + 1] == 0x38 ? PL_MAP_0F38 : code[i + 1] == 0x3a ? PL_MAP_0F3A : PL_MAP_0F;
	*ret = i + (in->map == PL_MAP_0F ? 1 : 2);
	return true;
}

bool pl_instruction_read(const uint8_t *code, struct pl_instruction *ret)
{
	uint8_t bytes[3 * PL_INSTRUCTION_MAX] = {0};
	bool narrow;
	int32_t word;

	memcpy(bytes, code, PL_INSTRUCTION_MAX);
	*ret = (struct pl_instruction){0};
	size_t i;
	if (!read_beginning(bytes, ret, &narrow, &i))
		return false;
	ret->opcode = bytes[i++];
	const uint8_t shape = shape_of(ret);
	if (shape & UNKNOWN || (narrow && (ret->opcode == 0xe8 || ret->opcode == 0xe9) && !(ret->rex & REX_W)))
		return false;
	if (shape & MODRM)
		i += read_modrm(bytes + i, ret);
	if (ret->map == PL_MAP_ONE_BYTE && ret->opcode == 0x8f && ret->reg & 7)
		return false; /* AMD's XOP */
	const size_t constant = constant_bytes(ret, shape, narrow);
	memcpy(&word, bytes + i, sizeof word);
	ret->constant = constant == 1 ? (int8_t)bytes[i] : constant == 4 ? word : 0;
	ret->len = i + constant;
	return ret->len <= PL_INSTRUCTION_MAX;
}
