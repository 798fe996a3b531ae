/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os: units, and the entries that they consist of (.debug_info, .debug_abbrev). */
#include <string.h>

#include "dwarf_parts.h"
#include "lower_bound.h"

#define UNITS_MAX   (1u << 20)
#define ABBREVS_MAX (1u << 16) /* of a unit */
#define NAME_HOPS   8	       /* from an entry to the one that has its name */
#define ENTRY_WORK  16u
#define ABBREV_WORK 4u
#define VALUE_WORK  4u

#define WIDE	    0xffffffffu /* in place of a length: it follows, in 64 bits, as all offsets are then */
#define VERSION_MIN 2
#define VERSION_MAX 5

enum unit_type { COMPILE = 1, TYPE = 2, PARTIAL = 3, SKELETON = 4, SPLIT_COMPILE = 5, SPLIT_TYPE = 6 };

enum form {
	F_ADDR = 0x01,
	F_BLOCK2 = 0x03,
	F_BLOCK4,
	F_DATA2,
	F_DATA4,
	F_DATA8,
	F_STRING,
	F_BLOCK,
	F_BLOCK1,
	F_DATA1,
	F_FLAG,
	F_SDATA,
	F_STRP,
	F_UDATA,
	F_REF_ADDR,
	F_REF1,
	F_REF2,
	F_REF4,
	F_REF8,
	F_REF_UDATA,
	F_INDIRECT,
	F_SEC_OFFSET,
	F_EXPRLOC,
	F_FLAG_PRESENT,
	F_STRX,
	F_ADDRX,
	F_REF_SUP4,
	F_STRP_SUP,
	F_DATA16,
	F_LINE_STRP,
	F_REF_SIG8,
	F_IMPLICIT_CONST,
	F_LOCLISTX,
	F_RNGLISTX,
	F_REF_SUP8,
	F_STRX1,
	F_STRX2,
	F_STRX3,
	F_STRX4,
	F_ADDRX1,
	F_ADDRX2,
	F_ADDRX3,
	F_ADDRX4,
	F_GNU_REF_ALT = 0x1f20,
	F_GNU_STRP_ALT = 0x1f21,
};

/* ---- abbreviations ----------------------------------------------------------------------------------------------- */

/* Over the pairs of attribute and form. False: there are too many. */
static bool skip_attributes(struct pl_dwarf *d, struct pl_dwarf_reader *r)
{
	uint64_t attribute, form;

	do {
		const uint8_t *from = r->p;

		attribute = pl_dwarf_uleb(r);
		form = pl_dwarf_uleb(r);
		if (form == F_IMPLICIT_CONST)
			pl_dwarf_sleb(r);
		if (!pl_dwarf_may(d, (uint64_t)(r->p - from)))
			return false;
	} while ((attribute || form) && !r->bad);
	return true;
}

/* False without memory. */
static bool read_abbrevs(struct pl_dwarf *d, uint64_t offset)
{
	const uint8_t *start = d->sections[PL_DWARF_ABBREV].bytes;
	struct pl_dwarf_reader r = pl_dwarf_section_at(d, PL_DWARF_ABBREV, offset);

	pl_vec_clear(&d->abbrevs);
	d->abbrevs_of = offset + 1;
	while (d->abbrevs.len < ABBREVS_MAX && pl_dwarf_may(d, ABBREV_WORK)) {
		struct pl_dwarf_abbrev a = {.code = pl_dwarf_uleb(&r)};

		a.tag = pl_dwarf_uleb(&r);
		a.children = pl_dwarf_uint(&r, 1);
		a.attributes = (uint64_t)(r.p - start);
		if (!a.code || r.bad || !skip_attributes(d, &r))
			return true;
		if (!pl_vec_push(&d->abbrevs, a))
			return false;
	}
	return true;
}

/* Compilers number them from 1 on. NULL: there is none. */
static const struct pl_dwarf_abbrev *abbrev_of(struct pl_dwarf *d, const struct pl_dwarf_unit *u, uint64_t code)
{
	if (d->abbrevs_of != u->abbrev + 1 && !read_abbrevs(d, u->abbrev))
		return NULL;
	if (code <= d->abbrevs.len && d->abbrevs.data[code - 1].code == code)
		return &d->abbrevs.data[code - 1];
	for (size_t i = 0; i < d->abbrevs.len && pl_dwarf_may(d, 1); i++)
		if (d->abbrevs.data[i].code == code)
			return &d->abbrevs.data[i];
	return NULL;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static struct pl_dwarf_value value(enum pl_dwarf_kind kind, uint64_t number)
{
	return (struct pl_dwarf_value){.kind = kind, .number = number};
}

static struct pl_dwarf_value skipped(struct pl_dwarf_reader *r, uint64_t len)
{
	pl_dwarf_skip(r, len);
	return value(PL_VALUE_NONE, 0);
}

/* How many bytes a form has that is always as long; 0: another one. */
static unsigned fixed_size(uint64_t form)
{
	static const uint8_t sizes[] = {
		[F_DATA1] = 1,	[F_DATA2] = 2,	[F_DATA4] = 4,	  [F_DATA8] = 8,    [F_FLAG] = 1,
		[F_REF1] = 1,	[F_REF2] = 2,	[F_REF4] = 4,	  [F_REF8] = 8,	    [F_STRX1] = 1,
		[F_STRX2] = 2,	[F_STRX3] = 3,	[F_STRX4] = 4,	  [F_ADDRX1] = 1,   [F_ADDRX2] = 2,
		[F_ADDRX3] = 3, [F_ADDRX4] = 4, [F_REF_SIG8] = 8, [F_REF_SUP4] = 4, [F_REF_SUP8] = 8,
	};

	return form < sizeof sizes ? sizes[form] : 0;
}

static struct pl_dwarf_value of_fixed_size(const struct pl_dwarf_unit *u, uint64_t form, uint64_t n)
{
	switch (form) {
	case F_REF1:
	case F_REF2:
	case F_REF4:
	case F_REF8:
		return value(PL_VALUE_ENTRY, u->offset + n);
	case F_STRX1:
	case F_STRX2:
	case F_STRX3:
	case F_STRX4:
		return value(PL_VALUE_TEXT_INDEX, n);
	case F_ADDRX1:
	case F_ADDRX2:
	case F_ADDRX3:
	case F_ADDRX4:
		return value(PL_VALUE_ADDRESS_INDEX, n);
	case F_REF_SUP4:
	case F_REF_SUP8:
		return value(PL_VALUE_COMMON_ENTRY, n);
	case F_REF_SIG8:
		return value(PL_VALUE_NONE, 0); /* a type */
	default:
		return value(PL_VALUE_NUMBER, n);
	}
}

/* Those whose length follows from the unit, or is told with them. */
static struct pl_dwarf_value of_other_size(const struct pl_dwarf_unit *u, uint64_t form, struct pl_dwarf_reader *r)
{
	switch (form) {
	case F_ADDR:
		return value(PL_VALUE_ADDRESS, pl_dwarf_uint(r, u->address_size));
	case F_SDATA:
		return value(PL_VALUE_NUMBER, (uint64_t)pl_dwarf_sleb(r));
	case F_UDATA:
		return value(PL_VALUE_NUMBER, pl_dwarf_uleb(r));
	case F_SEC_OFFSET:
		return value(PL_VALUE_NUMBER, pl_dwarf_uint(r, u->offset_size));
	case F_REF_ADDR:
		return value(PL_VALUE_ENTRY, pl_dwarf_uint(r, u->version == 2 ? u->address_size : u->offset_size));
	case F_REF_UDATA:
		return value(PL_VALUE_ENTRY, u->offset + pl_dwarf_uleb(r));
	case F_STRING:
		return (struct pl_dwarf_value){.kind = PL_VALUE_TEXT, .text = pl_dwarf_text(r)};
	case F_STRP:
		return value(PL_VALUE_TEXT_OFFSET, pl_dwarf_uint(r, u->offset_size));
	case F_LINE_STRP:
		return value(PL_VALUE_LINE_TEXT_OFFSET, pl_dwarf_uint(r, u->offset_size));
	case F_STRX:
		return value(PL_VALUE_TEXT_INDEX, pl_dwarf_uleb(r));
	case F_ADDRX:
		return value(PL_VALUE_ADDRESS_INDEX, pl_dwarf_uleb(r));
	case F_RNGLISTX:
		return value(PL_VALUE_RANGES_INDEX, pl_dwarf_uleb(r));
	case F_LOCLISTX:
		pl_dwarf_uleb(r);
		return value(PL_VALUE_NONE, 0);
	case F_FLAG_PRESENT:
		return value(PL_VALUE_NUMBER, 1);
	case F_BLOCK:
	case F_EXPRLOC:
		return skipped(r, pl_dwarf_uleb(r));
	case F_BLOCK1:
		return skipped(r, pl_dwarf_uint(r, 1));
	case F_BLOCK2:
		return skipped(r, pl_dwarf_uint(r, 2));
	case F_BLOCK4:
		return skipped(r, pl_dwarf_uint(r, 4));
	case F_DATA16:
		return skipped(r, 16);
	case F_GNU_REF_ALT:
		return value(PL_VALUE_COMMON_ENTRY, pl_dwarf_uint(r, u->offset_size));
	case F_STRP_SUP:
	case F_GNU_STRP_ALT:
		return value(PL_VALUE_COMMON_TEXT_OFFSET, pl_dwarf_uint(r, u->offset_size));
	default:
		r->bad = true;
		return value(PL_VALUE_NONE, 0);
	}
}

struct pl_dwarf_value pl_dwarf_value_read(const struct pl_dwarf_unit *u, uint64_t form, struct pl_dwarf_reader *r)
{
	if (form == F_INDIRECT)
		form = pl_dwarf_uleb(r);
	const unsigned size = fixed_size(form);
	return size ? of_fixed_size(u, form, pl_dwarf_uint(r, size)) : of_other_size(u, form, r);
}

/* The number in row @p index of a table of numbers. */
static bool number_at(const struct pl_dwarf *d, enum pl_dwarf_section s, uint64_t base, uint64_t index, unsigned size,
		      uint64_t *ret)
{
	const uint64_t len = d->sections[s].bytes ? d->sections[s].len : 0;

	if (base > len || index > (len - base) / size)
		return false;
	struct pl_dwarf_reader r = pl_dwarf_section_at(d, s, base + index * size);
	*ret = pl_dwarf_uint(&r, size);
	return !r.bad;
}

const char *pl_dwarf_value_text(const struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_value *v)
{
	uint64_t offset;

	if (v->kind == PL_VALUE_TEXT)
		return v->text;
	if (v->kind == PL_VALUE_TEXT_OFFSET)
		return pl_dwarf_text_at(d, PL_DWARF_STR, v->number);
	if (v->kind == PL_VALUE_LINE_TEXT_OFFSET)
		return pl_dwarf_text_at(d, PL_DWARF_LINE_STR, v->number);
	if (v->kind == PL_VALUE_COMMON_TEXT_OFFSET)
		return d->common ? pl_dwarf_text_at(d->common, PL_DWARF_STR, v->number) : NULL;
	if (v->kind != PL_VALUE_TEXT_INDEX ||
	    !number_at(d, PL_DWARF_STR_OFFSETS, u->str_offsets_base, v->number, u->offset_size, &offset))
		return NULL;
	return pl_dwarf_text_at(d, PL_DWARF_STR, offset);
}

bool pl_dwarf_value_address(const struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_value *v,
			    uint64_t *ret)
{
	if (v->kind == PL_VALUE_ADDRESS_INDEX)
		return number_at(d, PL_DWARF_ADDR, u->addr_base, v->number, u->address_size, ret);
	*ret = v->number;
	return v->kind == PL_VALUE_ADDRESS;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* Its number by the standard; PL_ATTRIBUTES: it is of no use. */
static enum pl_dwarf_attribute attribute_of(uint64_t number)
{
	static const uint8_t known[] = {
		[0x03] = 1 + PL_AT_NAME,	  [0x10] = 1 + PL_AT_STMT_LIST,	    [0x11] = 1 + PL_AT_LOW_PC,
		[0x12] = 1 + PL_AT_HIGH_PC,	  [0x1b] = 1 + PL_AT_COMP_DIR,	    [0x31] = 1 + PL_AT_ABSTRACT_ORIGIN,
		[0x47] = 1 + PL_AT_SPECIFICATION, [0x55] = 1 + PL_AT_RANGES,	    [0x58] = 1 + PL_AT_CALL_FILE,
		[0x59] = 1 + PL_AT_CALL_LINE,	  [0x6e] = 1 + PL_AT_LINKAGE_NAME,  [0x72] = 1 + PL_AT_STR_OFFSETS_BASE,
		[0x73] = 1 + PL_AT_ADDR_BASE,	  [0x74] = 1 + PL_AT_RNGLISTS_BASE,
	};

	if (number == 0x2007) /* as compilers of MIPS had it first */
		return PL_AT_LINKAGE_NAME;
	return number < sizeof known && known[number] ? known[number] - 1u : PL_ATTRIBUTES;
}

static bool read_attributes(struct pl_dwarf *d, const struct pl_dwarf_unit *u, uint64_t at, struct pl_dwarf_reader *r,
			    struct pl_dwarf_entry *ret)
{
	struct pl_dwarf_reader spec = pl_dwarf_section_at(d, PL_DWARF_ABBREV, at);

	while (!spec.bad && !r->bad && pl_dwarf_may(d, VALUE_WORK)) {
		const uint64_t number = pl_dwarf_uleb(&spec), form = pl_dwarf_uleb(&spec);
		const enum pl_dwarf_attribute a = attribute_of(number);
		struct pl_dwarf_value v;

		if (!number && !form)
			return !spec.bad;
		if (form == F_IMPLICIT_CONST)
			v = value(PL_VALUE_NUMBER, (uint64_t)pl_dwarf_sleb(&spec));
		else
			v = pl_dwarf_value_read(u, form, r);
		if (a != PL_ATTRIBUTES)
			ret->at[a] = v;
	}
	return false;
}

bool pl_dwarf_entry_read(struct pl_dwarf *d, const struct pl_dwarf_unit *u, struct pl_dwarf_reader *r,
			 struct pl_dwarf_entry *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->offset = (uint64_t)(r->p - d->sections[PL_DWARF_INFO].bytes);
	if (r->bad || r->p >= r->end || !pl_dwarf_may(d, ENTRY_WORK))
		return false;
	const uint8_t *from = r->p;
	const uint64_t code = pl_dwarf_uleb(r);
	if (!code)
		return !r->bad;
	const struct pl_dwarf_abbrev *a = abbrev_of(d, u, code);
	if (!a || !a->tag)
		return false;
	ret->tag = a->tag;
	ret->children = a->children;
	return read_attributes(d, u, a->attributes, r, ret) && pl_dwarf_may(d, (uint64_t)(r->p - from));
}

struct pl_dwarf_reader pl_dwarf_entries_from(const struct pl_dwarf *d, const struct pl_dwarf_unit *u, uint64_t offset)
{
	struct pl_dwarf_reader r = pl_dwarf_section_at(d, PL_DWARF_INFO, offset);

	if (offset < u->first || offset >= u->end)
		r.bad = true;
	else
		r.end = d->sections[PL_DWARF_INFO].bytes + u->end;
	return r;
}

static uint64_t last_of_unit(const void *row)
{
	return ((const struct pl_dwarf_unit *)row)->end - 1;
}

/* NULL: no unit has an entry there. */
static const struct pl_dwarf_unit *unit_at(const struct pl_dwarf *d, uint64_t offset)
{
	size_t i = pl_lower_bound(d->units.data, d->units.len, sizeof *d->units.data, last_of_unit, offset);

	return i < d->units.len && d->units.data[i].first <= offset ? &d->units.data[i] : NULL;
}

static bool is_entry(const struct pl_dwarf_value *v)
{
	return v->kind == PL_VALUE_ENTRY || v->kind == PL_VALUE_COMMON_ENTRY;
}

/* What is compiled into others, and what a class declares, has its name in an entry of its own. */
const char *pl_dwarf_name(struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_entry *e)
{
	struct pl_dwarf_entry at = *e;
	const char *plain = NULL;

	for (int hops = 0;; hops++) {
		const char *linkage = pl_dwarf_value_text(d, u, &at.at[PL_AT_LINKAGE_NAME]);

		if (linkage)
			return linkage;
		plain = plain ? plain : pl_dwarf_value_text(d, u, &at.at[PL_AT_NAME]);
		const struct pl_dwarf_value *next = &at.at[PL_AT_ABSTRACT_ORIGIN];
		if (!is_entry(next))
			next = &at.at[PL_AT_SPECIFICATION];
		if (!is_entry(next) || hops == NAME_HOPS)
			return plain;
		const uint64_t offset = next->number;
		d = next->kind == PL_VALUE_COMMON_ENTRY ? d->common : d;
		u = d ? unit_at(d, offset) : NULL;
		if (!u)
			return plain;
		struct pl_dwarf_reader r = pl_dwarf_entries_from(d, u, offset);
		if (!pl_dwarf_entry_read(d, u, &r, &at))
			return plain;
	}
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

static bool is_of_code(uint64_t type)
{
	return type == COMPILE || type == PARTIAL || type == SKELETON || type == SPLIT_COMPILE;
}

/* What is in front of the entries. False: there is no more that can be read. *of_code: it is no unit of types. */
static bool read_header(struct pl_dwarf_reader *r, const uint8_t *start, struct pl_dwarf_unit *u, bool *of_code)
{
	uint64_t len = pl_dwarf_uint(r, 4);

	u->offset_size = len == WIDE ? 8 : 4;
	if (len == WIDE)
		len = pl_dwarf_uint(r, 8);
	if (r->bad || len == 0 || len > (uint64_t)(r->end - r->p))
		return false;
	u->end = (uint64_t)(r->p - start) + len;
	u->version = (uint16_t)pl_dwarf_uint(r, 2);
	uint64_t type = COMPILE;
	if (u->version >= 5) {
		type = pl_dwarf_uint(r, 1);
		u->address_size = (uint8_t)pl_dwarf_uint(r, 1);
		u->abbrev = pl_dwarf_uint(r, u->offset_size);
		pl_dwarf_skip(r, type == SKELETON || type == SPLIT_COMPILE ? 8 : 0);
	} else {
		u->abbrev = pl_dwarf_uint(r, u->offset_size);
		u->address_size = (uint8_t)pl_dwarf_uint(r, 1);
	}
	u->first = (uint64_t)(r->p - start);
	*of_code = u->version >= VERSION_MIN && u->version <= VERSION_MAX && is_of_code(type) &&
		   (u->address_size == 8 || u->address_size == 4) && u->first < u->end;
	return !r->bad;
}

/* What follows the first header of a table: where its rows begin if nothing else is told. */
static uint64_t table_base(const struct pl_dwarf_unit *u, const struct pl_dwarf_value *told)
{
	return told->kind == PL_VALUE_NUMBER ? told->number : u->offset_size == 8 ? 16 : 8;
}

/* False without memory. */
static bool read_unit(struct pl_dwarf *d, struct pl_dwarf_unit *u)
{
	struct pl_dwarf_reader r = pl_dwarf_entries_from(d, u, u->first);
	struct pl_dwarf_entry e;

	if (!pl_dwarf_entry_read(d, u, &r, &e))
		return true;
	u->str_offsets_base = table_base(u, &e.at[PL_AT_STR_OFFSETS_BASE]);
	u->addr_base = table_base(u, &e.at[PL_AT_ADDR_BASE]);
	u->rnglists_base = e.at[PL_AT_RNGLISTS_BASE].number;
	u->lines = e.at[PL_AT_STMT_LIST];
	u->directory = e.at[PL_AT_COMP_DIR];
	if (!pl_dwarf_value_address(d, u, &e.at[PL_AT_LOW_PC], &u->base))
		u->base = 0;
	return pl_dwarf_ranges_add(d, u, &e, d->units.len, &d->code);
}

bool pl_dwarf_units_read(struct pl_dwarf *d)
{
	const uint8_t *start = d->sections[PL_DWARF_INFO].bytes;
	uint64_t offset = 0;

	while (offset < d->sections[PL_DWARF_INFO].len && d->units.len < UNITS_MAX &&
	       pl_dwarf_may(d, ENTRY_WORK + sizeof *d->units.data)) {
		struct pl_dwarf_reader r = pl_dwarf_section_at(d, PL_DWARF_INFO, offset);
		struct pl_dwarf_unit u = {.offset = offset};
		bool of_code;

		if (!read_header(&r, start, &u, &of_code))
			break;
		if (of_code && (!read_unit(d, &u) || !pl_vec_push(&d->units, u)))
			return false;
		offset = u.end;
	}
	pl_dwarf_ranges_sort(&d->code);
	return true;
}

bool pl_dwarf_list_functions(struct pl_dwarf *d, struct pl_dwarf_unit *u)
{
	struct pl_dwarf_reader r = pl_dwarf_entries_from(d, u, u->first);
	struct pl_dwarf_entry e;

	u->listed = true;
	while (pl_dwarf_entry_read(d, u, &r, &e))
		if (e.tag == PL_TAG_SUBPROGRAM && pl_dwarf_has_code(&e) &&
		    !pl_dwarf_ranges_add(d, u, &e, e.offset, &u->functions))
			return false;
	pl_dwarf_ranges_sort(&u->functions);
	return true;
}
