/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables: byte offset in the bytecode -> source position, for every format since 2.7. Layer: cpython. Pure; any
 * thread.
 *
 * In every format an entry covers [start, end) and answers when end > offset, strictly: with >= the first instruction
 * of each line would be given to the line before. The tables may be garbage; sums wrap (unsigned) and loops end with
 * the table. */
#include "lines.h"

#include "cursor.h"

#define MARK_BYTES 512 /* of a table, from one mark to the next: marks are a twentieth of it */

static const struct pl_position no_line = {.line = 0, .end_line = 0, .column = -1, .end_column = -1};

static struct pl_position whole_line(uint32_t line)
{
	if ((int32_t)line <= 0)
		return no_line;
	return (struct pl_position){.line = (int32_t)line, .end_line = (int32_t)line, .column = -1, .end_column = -1};
}

static struct pl_line_mark beginning(int32_t firstlineno)
{
	return (struct pl_line_mark){.line = (uint32_t)firstlineno, .position = whole_line((uint32_t)firstlineno)};
}

/* The functions that read an entry: false if there is none, or the one that answers @p offset was found. */

/* <= 3.9: pairs (bytecode += u8, line += i8, or u8 in 2.7). */
static bool step_lnotab(struct pl_cursor *table, bool negative, uint32_t offset, struct pl_line_mark *m)
{
	uint8_t code_delta, line_delta;

	if (!pl_cursor_u8(table, &code_delta) || !pl_cursor_u8(table, &line_delta))
		return false;
	m->end += code_delta;
	if (m->end > offset)
		return false;
	m->line += negative ? (uint32_t)(int8_t)line_delta : line_delta;
	m->position = whole_line(m->line);
	return true;
}

/* 3.10 (PEP 626): pairs (length of the range, line += i8); -128 says that the range has no line and changes nothing. */
static bool step_pep626(struct pl_cursor *table, uint32_t offset, struct pl_line_mark *m)
{
	uint8_t length, delta;

	if (!pl_cursor_u8(table, &length) || !pl_cursor_u8(table, &delta))
		return false;
	m->end += length;
	bool lineless = (int8_t)delta == -128;
	if (!lineless)
		m->line += (uint32_t)(int8_t)delta;
	m->position = lineless ? no_line : whole_line(m->line);
	return m->end <= offset;
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
static bool step_pep657(struct pl_cursor *table, uint32_t offset, struct pl_line_mark *m)
{
	struct pl_position next;
	uint8_t first;

	if (!pl_cursor_u8(table, &first))
		return false;
	if (!(first & 0x80))
		return true; /* not the start of an entry: only in a damaged table */
	if (!read_entry(table, first >> 3 & 15, &m->line, &next))
		return false;
	m->position = next;
	m->end += ((first & 7u) + 1) * 2;
	return m->end <= offset;
}

static bool step(enum pl_line_table kind, struct pl_cursor *table, uint32_t offset, struct pl_line_mark *m)
{
	switch (kind) {
	case PL_LINES_LNOTAB_U8:
	case PL_LINES_LNOTAB:
		return step_lnotab(table, kind == PL_LINES_LNOTAB, offset, m);
	case PL_LINES_PEP626:
		return step_pep626(table, offset, m);
	case PL_LINES_PEP657:
		return step_pep657(table, offset, m);
	}
	return false;
}

struct plumb_error *pl_lines_open(enum pl_line_table kind, const uint8_t *table, size_t len, int32_t firstlineno,
				  struct pl_lines *ret)
{
	struct pl_line_mark m = beginning(firstlineno);
	struct pl_cursor c = {.p = table, .end = len ? table + len : table};
	uint32_t last = 0;

	*ret = (struct pl_lines){.kind = kind, .table = table, .len = len, .firstlineno = firstlineno};
	while (step(kind, &c, UINT32_MAX, &m)) {
		m.at = (uint32_t)(len - pl_cursor_left(&c));
		if (m.at - last < MARK_BYTES)
			continue;
		if (!pl_vec_push(&ret->marks, m)) {
			pl_lines_close(ret);
			return &pl_err_no_memory;
		}
		last = m.at;
	}
	return NULL;
}

void pl_lines_close(struct pl_lines *l)
{
	pl_vec_deinit(&l->marks);
}

/* The last one before what answers @p offset. Their ends only grow: tables are too short for the sums to wrap. */
static struct pl_line_mark nearest_mark(const struct pl_lines *l, uint32_t offset)
{
	size_t low = 0, high = l->marks.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->marks.data[middle].end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? l->marks.data[low - 1] : beginning(l->firstlineno);
}

struct pl_position pl_lines_at(const struct pl_lines *l, int32_t offset)
{
	if (offset < 0 || !l->len)
		return whole_line((uint32_t)l->firstlineno);
	struct pl_line_mark m = nearest_mark(l, (uint32_t)offset);
	struct pl_cursor c = {.p = l->table + m.at, .end = l->table + l->len};
	while (step(l->kind, &c, (uint32_t)offset, &m))
		continue;
	return m.position.line > 0 ? m.position : no_line;
}

struct pl_position pl_lines_find(enum pl_line_table kind, const uint8_t *table, size_t len, int32_t firstlineno,
				 int32_t offset)
{
	const struct pl_lines l = {.kind = kind, .table = table, .len = len, .firstlineno = firstlineno};

	return pl_lines_at(&l, offset);
}
