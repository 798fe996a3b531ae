/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables: byte offset in the bytecode -> source position, for every format since 2.7. Layer: cpython. Pure; any
 * thread.
 *
 * In every format an entry covers [start, end) and answers when end > offset, strictly: with >= the first instruction
 * of each line would be given to the line before. The tables may be garbage; sums wrap (unsigned) and loops end with
 * the table. */
#include "lines.h"

#include "cursor.h"

static const struct pl_position no_line = {.line = 0, .end_line = 0, .column = -1, .end_column = -1};

static struct pl_position whole_line(uint32_t line)
{
	if ((int32_t)line <= 0)
		return no_line;
	return (struct pl_position){.line = (int32_t)line, .end_line = (int32_t)line, .column = -1, .end_column = -1};
}

/* <= 3.9: pairs (bytecode += u8, line += i8, or u8 in 2.7). */
static struct pl_position find_lnotab(struct pl_cursor table, bool negative, int32_t firstlineno, uint32_t offset)
{
	uint32_t line = (uint32_t)firstlineno, addr = 0;
	uint8_t code_delta, line_delta;

	while (pl_cursor_u8(&table, &code_delta) && pl_cursor_u8(&table, &line_delta)) {
		addr += code_delta;
		if (addr > offset)
			break;
		line += negative ? (uint32_t)(int8_t)line_delta : line_delta;
	}
	return whole_line(line);
}

/* 3.10 (PEP 626): pairs (length of the range, line += i8); -128 says that the range has no line and changes nothing. */
static struct pl_position find_pep626(struct pl_cursor table, int32_t firstlineno, uint32_t offset)
{
	uint32_t line = (uint32_t)firstlineno, end = 0;
	uint8_t length, delta;
	bool lineless = false;

	while (pl_cursor_u8(&table, &length) && pl_cursor_u8(&table, &delta)) {
		end += length;
		lineless = (int8_t)delta == -128;
		if (!lineless)
			line += (uint32_t)(int8_t)delta;
		if (end > offset)
			break;
	}
	return lineless ? no_line : whole_line(line);
}

/* 6-bit groups, least significant first, 0x40 says that more follow. */
static bool get_varint(struct pl_cursor *c, uint32_t *ret)
{
	uint32_t value = 0;
	uint8_t byte;

	for (unsigned shift = 0; shift < 36; shift += 6) {
		if (!pl_cursor_u8(c, &byte))
			return false;
		if (shift < 32)
			value |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/* Sign in the lowest bit. As a difference modulo 2^32. */
static bool get_svarint(struct pl_cursor *c, uint32_t *ret)
{
	uint32_t v;

	if (!get_varint(c, &v))
		return false;
	*ret = v & 1 ? 0u - (v >> 1) : v >> 1;
	return true;
}

enum {
	CODE_ONE_LINE = 10, /* 10, 11, 12: line += code - 10, columns in two bytes */
	CODE_NO_COLUMNS = 13,
	CODE_LONG = 14,
	CODE_NONE = 15,
};

/* Entry kinds 0-9: same line, start column 0-79, at most 15 wide. */
static bool short_form(struct pl_cursor *c, uint32_t code, struct pl_position *p)
{
	uint8_t byte;

	if (!pl_cursor_u8(c, &byte))
		return false;
	p->column = (int32_t)(code << 3 | (byte >> 4 & 7));
	p->end_column = p->column + (byte & 15);
	return true;
}

static bool one_line_form(struct pl_cursor *c, struct pl_position *p)
{
	uint8_t start, end;

	if (!pl_cursor_u8(c, &start) || !pl_cursor_u8(c, &end))
		return false;
	p->column = start;
	p->end_column = end;
	return true;
}

/* Line differences, end line difference, columns + 1 (0: unknown). */
static bool long_form(struct pl_cursor *c, uint32_t *line, struct pl_position *p)
{
	uint32_t delta, lines, start, end;

	if (!get_svarint(c, &delta) || !get_varint(c, &lines) || !get_varint(c, &start) || !get_varint(c, &end))
		return false;
	*line += delta;
	p->end_line = (int32_t)(*line + lines);
	p->column = (int32_t)(start - 1);
	p->end_column = (int32_t)(end - 1);
	return true;
}

/* One entry after its first byte. Moves the running line; @p p gets what the entry says. */
static bool read_entry(struct pl_cursor *c, uint32_t code, uint32_t *line, struct pl_position *p)
{
	uint32_t delta;
	bool ok;

	*p = no_line;
	if (code == CODE_NONE)
		return true;
	if (code == CODE_LONG) {
		ok = long_form(c, line, p);
	} else if (code == CODE_NO_COLUMNS) {
		ok = get_svarint(c, &delta);
		*line += ok ? delta : 0;
	} else if (code >= CODE_ONE_LINE) {
		*line += code - CODE_ONE_LINE;
		ok = one_line_form(c, p);
	} else {
		ok = short_form(c, code, p);
	}
	p->line = (int32_t)*line;
	if (code != CODE_LONG)
		p->end_line = p->line;
	return ok;
}

/* 3.11+ (PEP 657): byte 0x80 | code << 3 | (code units - 1), then what the code asks for. */
static struct pl_position find_pep657(struct pl_cursor table, int32_t firstlineno, uint32_t offset)
{
	uint32_t line = (uint32_t)firstlineno, end = 0;
	struct pl_position p = whole_line(line), next;
	uint8_t first;

	while (pl_cursor_u8(&table, &first)) {
		if (!(first & 0x80))
			continue; /* not the start of an entry: only in a damaged table */
		if (!read_entry(&table, first >> 3 & 15, &line, &next))
			break;
		p = next;
		end += ((first & 7u) + 1) * 2;
		if (end > offset)
			break;
	}
	return p.line > 0 ? p : no_line;
}

struct pl_position pl_lines_find(enum pl_line_table kind, const uint8_t *table, size_t len, int32_t firstlineno,
				 int32_t offset)
{
	if (offset < 0 || !len)
		return whole_line((uint32_t)firstlineno);
	struct pl_cursor c = {.p = table, .end = table + len};
	switch (kind) {
	case PL_LINES_LNOTAB_U8:
	case PL_LINES_LNOTAB:
		return find_lnotab(c, kind == PL_LINES_LNOTAB, firstlineno, (uint32_t)offset);
	case PL_LINES_PEP626:
		return find_pep626(c, firstlineno, (uint32_t)offset);
	case PL_LINES_PEP657:
		return find_pep657(c, firstlineno, (uint32_t)offset);
	}
	return no_line;
}
