/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os: lines and files (.debug_line). A unit's table is a program for a machine that counts addresses and lines.
 */
#include <stdio.h>
#include <string.h>

#include "dwarf_parts.h"
#include "lower_bound.h"

#define BYTE_WORK   4u /* of a program */
#define FORMATS_MAX 16
#define VERSION_MIN 2
#define VERSION_MAX 5

enum standard { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE, BLOCK, CONST_ADD_PC, FIXED_ADVANCE };
enum extended { END_SEQUENCE = 1, SET_ADDRESS };
enum content { PATH = 1, DIRECTORY = 2 };

struct table {
	struct pl_dwarf_unit unit; /* sizes as they are here */
	struct pl_dwarf_reader names, program;
	uint16_t version;
	uint8_t instruction, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *lengths; /* operands of each standard opcode */
};

static void read_parameters(struct pl_dwarf_reader *r, struct table *t)
{
	t->instruction = (uint8_t)pl_dwarf_uint(r, 1);
	pl_dwarf_skip(r, t->version >= 4 ? 2 : 1); /* operations an instruction; whether statements begin */
	t->line_base = (int8_t)pl_dwarf_uint(r, 1);
	t->line_range = (uint8_t)pl_dwarf_uint(r, 1);
	t->opcode_base = (uint8_t)pl_dwarf_uint(r, 1);
	t->lengths = r->p;
	pl_dwarf_skip(r, t->opcode_base ? t->opcode_base - 1u : 0);
	t->names = *r;
}

/* False: there is none, or none that can be read. */
static bool open_table(const struct pl_dwarf *d, const struct pl_dwarf_unit *u, struct table *t)
{
	struct pl_dwarf_reader r;

	if (u->lines.kind != PL_VALUE_NUMBER)
		return false;
	r = pl_dwarf_section_at(d, PL_DWARF_LINE, u->lines.number);
	*t = (struct table){.unit = *u};
	uint64_t len = pl_dwarf_uint(&r, 4);
	t->unit.offset_size = len == UINT32_MAX ? 8 : 4;
	if (len == UINT32_MAX)
		len = pl_dwarf_uint(&r, 8);
	if (r.bad || len > (uint64_t)(r.end - r.p))
		return false;
	r.end = r.p + len;
	t->version = (uint16_t)pl_dwarf_uint(&r, 2);
	if (t->version >= 5)
		t->unit.address_size = (uint8_t)pl_dwarf_uint(&r, 1);
	pl_dwarf_skip(&r, t->version >= 5 ? 1 : 0);
	const uint64_t header = pl_dwarf_uint(&r, t->unit.offset_size);
	t->program = r;
	pl_dwarf_skip(&t->program, header);
	r.end = t->program.p;
	read_parameters(&r, t);
	return t->version >= VERSION_MIN && t->version <= VERSION_MAX && !r.bad && !t->program.bad && t->line_range &&
	       t->opcode_base;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

struct machine {
	struct pl_dwarf *d;
	struct pl_dwarf_unit *u;
	struct table *t;
	uint64_t addr, file, line;
	size_t first; /* row of the sequence at hand */
	bool over;    /* the program, or what may be done for it, or memory */
};

static void reset(struct machine *m)
{
	m->addr = 0;
	m->file = m->line = 1;
	m->first = m->u->rows.len;
}

/* A row is of the code up to the next one; of two at one address the later one holds. */
static void emit(struct machine *m)
{
	const struct pl_dwarf_row row = {m->addr, m->file <= UINT32_MAX ? (uint32_t)m->file : UINT32_MAX,
					 m->line <= INT32_MAX ? (uint32_t)m->line : 0};
	const size_t n = m->u->rows.len;

	if (n > m->first && m->u->rows.data[n - 1].addr == row.addr)
		m->u->rows.data[n - 1] = row;
	else
		m->over = !pl_dwarf_may(m->d, sizeof row) || !pl_vec_push(&m->u->rows, row);
}

static void end_sequence(struct machine *m)
{
	struct pl_dwarf_unit *u = m->u;
	const struct pl_dwarf_sequence s = {m->first, u->rows.len - m->first};

	if (s.count && u->rows.data[s.first].addr < m->addr) {
		const struct pl_dwarf_range covered = {u->rows.data[s.first].addr, m->addr, u->sequences.len};

		m->over = !pl_dwarf_may(m->d, sizeof s) || !pl_vec_push(&u->sequences, s) ||
			  !pl_dwarf_range_add(m->d, covered, &u->covered);
	}
	reset(m);
}

static void run_extended(struct machine *m)
{
	struct pl_dwarf_reader *r = &m->t->program;
	const uint64_t len = pl_dwarf_uleb(r);
	struct pl_dwarf_reader of_it = *r;

	pl_dwarf_skip(r, len);
	if (r->bad || !len)
		return;
	switch (pl_dwarf_uint(&of_it, 1)) {
	case END_SEQUENCE:
		end_sequence(m);
		break;
	case SET_ADDRESS:
		m->addr = pl_dwarf_uint(&of_it, len - 1 <= 8 ? (unsigned)len - 1 : 0);
		break;
	default:
		break;
	}
}

static void skip_operands(struct machine *m, unsigned opcode)
{
	for (unsigned i = m->t->lengths[opcode - 1]; i; i--)
		pl_dwarf_uleb(&m->t->program);
}

static void run_standard(struct machine *m, unsigned opcode)
{
	struct pl_dwarf_reader *r = &m->t->program;

	switch (opcode) {
	case COPY:
		emit(m);
		break;
	case ADVANCE_PC:
		m->addr += pl_dwarf_uleb(r) * m->t->instruction;
		break;
	case ADVANCE_LINE:
		m->line += (uint64_t)pl_dwarf_sleb(r);
		break;
	case SET_FILE:
		m->file = pl_dwarf_uleb(r);
		break;
	case CONST_ADD_PC:
		m->addr += (uint64_t)((255u - m->t->opcode_base) / m->t->line_range) * m->t->instruction;
		break;
	case FIXED_ADVANCE:
		m->addr += pl_dwarf_uint(r, 2);
		break;
	default:
		skip_operands(m, opcode);
	}
}

static void run_special(struct machine *m, unsigned opcode)
{
	const unsigned n = opcode - m->t->opcode_base;

	m->addr += (uint64_t)(n / m->t->line_range) * m->t->instruction;
	m->line += (uint64_t)(int64_t)(m->t->line_base + (int)(n % m->t->line_range));
	emit(m);
}

static void read_rows(struct pl_dwarf *d, struct pl_dwarf_unit *u)
{
	struct table t;

	u->rows_read = true;
	if (!open_table(d, u, &t) || !pl_dwarf_may(d, (uint64_t)(t.program.end - t.program.p) * BYTE_WORK))
		return;
	struct machine m = {.d = d, .u = u, .t = &t};
	reset(&m);
	while (!m.over && !t.program.bad && t.program.p < t.program.end) {
		const unsigned opcode = (unsigned)pl_dwarf_uint(&t.program, 1);

		if (opcode >= t.opcode_base)
			run_special(&m, opcode);
		else if (opcode)
			run_standard(&m, opcode);
		else
			run_extended(&m);
	}
	pl_dwarf_ranges_sort(&u->covered);
}

static uint64_t address_of(const void *row)
{
	return ((const struct pl_dwarf_row *)row)->addr;
}

bool pl_dwarf_line(struct pl_dwarf *d, struct pl_dwarf_unit *u, uint64_t addr, uint64_t *file_ret, uint32_t *line_ret)
{
	if (!u->rows_read)
		read_rows(d, u);
	const struct pl_dwarf_range *covered = pl_dwarf_range_at(&u->covered, addr);
	if (!covered)
		return false;
	const struct pl_dwarf_sequence *s = &u->sequences.data[covered->owner];
	const struct pl_dwarf_row *rows = &u->rows.data[s->first];
	const size_t behind = pl_lower_bound(rows, s->count, sizeof *rows, address_of, addr + 1);
	if (!behind)
		return false;
	*file_ret = rows[behind - 1].file;
	*line_ret = rows[behind - 1].line;
	return true;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* One directory or file of a table. */
struct name {
	const char *path;
	uint64_t directory;
};

/* Up to version 4: directories and files are lists of texts, each with an empty one at its end, and count from 1. */
static bool old_directory(struct pl_dwarf *d, struct pl_dwarf_reader *r, uint64_t wanted, struct name *ret)
{
	*ret = (struct name){0};
	for (uint64_t i = 1;; i++) {
		const uint8_t *from = r->p;
		const char *path = pl_dwarf_text(r);

		if (r->bad || !*path || !pl_dwarf_may(d, (uint64_t)(r->p - from)))
			return !r->bad;
		if (i == wanted)
			ret->path = path;
	}
}

static bool old_file(struct pl_dwarf *d, struct pl_dwarf_reader *r, uint64_t wanted, struct name *ret)
{
	for (uint64_t i = 1;; i++) {
		const uint8_t *from = r->p;

		ret->path = pl_dwarf_text(r);
		if (r->bad || !*ret->path || !pl_dwarf_may(d, (uint64_t)(r->p - from)))
			return false;
		ret->directory = pl_dwarf_uleb(r);
		pl_dwarf_uleb(r); /* when it was changed, */
		pl_dwarf_uleb(r); /* and its length */
		if (i == wanted)
			return !r->bad;
	}
}

static bool old_names(struct pl_dwarf *d, const struct table *t, uint64_t wanted, struct name *file,
		      struct name *directory)
{
	struct pl_dwarf_reader r = t->names, again = t->names;
	struct name unused;

	return old_directory(d, &r, 0, &unused) && old_file(d, &r, wanted, file) &&
	       old_directory(d, &again, file->directory, directory);
}

/* From version 5 on: a list of them, after a description of what is told of each. They count from 0. The reader is
 * behind it then, unless @p wanted was found in it. */
static bool new_name(struct pl_dwarf *d, const struct table *t, struct pl_dwarf_reader *r, uint64_t wanted,
		     struct name *ret)
{
	struct {
		uint64_t content, form;
	} formats[FORMATS_MAX];
	const uint64_t n = pl_dwarf_uint(r, 1);

	*ret = (struct name){0};
	if (n > FORMATS_MAX)
		return false;
	for (uint64_t k = 0; k < n; k++) {
		formats[k].content = pl_dwarf_uleb(r);
		formats[k].form = pl_dwarf_uleb(r);
	}
	const uint64_t count = pl_dwarf_uleb(r);
	for (uint64_t i = 0; i < count && !r->bad && pl_dwarf_may(d, n * BYTE_WORK + 1); i++) {
		const uint8_t *from = r->p;

		for (uint64_t k = 0; k < n; k++) {
			const struct pl_dwarf_value v = pl_dwarf_value_read(&t->unit, formats[k].form, r);

			if (i == wanted && formats[k].content == PATH)
				ret->path = pl_dwarf_value_text(d, &t->unit, &v);
			if (i == wanted && formats[k].content == DIRECTORY)
				ret->directory = v.number;
		}
		if (!pl_dwarf_may(d, (uint64_t)(r->p - from))) /* texts are as long as they like */
			return false;
	}
	return !r->bad;
}

static bool new_names(struct pl_dwarf *d, const struct table *t, uint64_t wanted, struct name *file,
		      struct name *directory)
{
	struct pl_dwarf_reader r = t->names, again = t->names;
	struct name unused;

	return new_name(d, t, &r, UINT64_MAX, &unused) && new_name(d, t, &r, wanted, file) && file->path &&
	       new_name(d, t, &again, file->directory, directory);
}

/* Where the last part of the first @p len bytes begins; @p len: there is none that can be taken back. */
static size_t last_part(const char *path, size_t len)
{
	size_t at = len;

	if (len < 2)
		return len;
	do
		at--; /* over its slash first */
	while (at > 0 && path[at - 1] != '/');
	return len - at == 3 && memcmp(path + at, "..", 2) == 0 ? len : at;
}

/* "a/../b" is "b", "./b" too. */
static void simplify(char path[static PL_DWARF_PATH])
{
	size_t to = 0;

	for (size_t at = 0, next; path[at]; at = next) {
		const size_t len = strcspn(path + at, "/");
		const bool up = len == 2 && memcmp(path + at, "..", 2) == 0, here = len == 1 && path[at] == '.';
		const size_t before = up ? last_part(path, to) : to;

		next = at + len + (path[at + len] == '/');
		if (before < to) {
			to = before;
		} else if (!here && (len || !to)) {
			memmove(path + to, path + at, next - at);
			to += next - at;
		}
	}
	path[to] = '\0';
}

/* What is relative is so to the directory, and that to the one that the compiler ran in. */
static bool put_path(char buf[static PL_DWARF_PATH], const char *top, const char *directory, const char *file)
{
	int n;

	if (*file == '/')
		n = snprintf(buf, PL_DWARF_PATH, "%s", file);
	else if (!directory || !*directory)
		n = snprintf(buf, PL_DWARF_PATH, "%s%s%s", top, *top ? "/" : "", file);
	else if (*directory == '/' || !*top)
		n = snprintf(buf, PL_DWARF_PATH, "%s/%s", directory, file);
	else
		n = snprintf(buf, PL_DWARF_PATH, "%s/%s/%s", top, directory, file);
	if (n <= 0 || n >= PL_DWARF_PATH)
		return false;
	simplify(buf);
	return *buf;
}

bool pl_dwarf_file(struct pl_dwarf *d, const struct pl_dwarf_unit *u, uint64_t file, char buf[static PL_DWARF_PATH])
{
	const char *top = pl_dwarf_value_text(d, u, &u->directory);
	struct name name = {0}, directory = {0};
	struct table t;

	if (!open_table(d, u, &t))
		return false;
	if (!(t.version >= 5 ? new_names(d, &t, file, &name, &directory) : old_names(d, &t, file, &name, &directory)))
		return false;
	return put_path(buf, top ? top : "", directory.path, name.path);
}
