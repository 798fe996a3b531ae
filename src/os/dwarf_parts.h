/* SPDX-License-Identifier: Apache-2.0 */
/* What dwarf.c (the question), dwarf_sections.c (bytes), dwarf_info.c (units and entries), dwarf_ranges.c (the code of
 * an entry) and dwarf_line.c (lines) share. Numbers are those of the standard. */
#ifndef PL_DWARF_PARTS_H
#define PL_DWARF_PARTS_H

#include "dwarf_read.h"
#include "elf.h"
#include "vec.h"

enum pl_dwarf_section {
	PL_DWARF_INFO,
	PL_DWARF_ABBREV,
	PL_DWARF_STR,
	PL_DWARF_STR_OFFSETS,
	PL_DWARF_ADDR,
	PL_DWARF_RANGES,
	PL_DWARF_RNGLISTS,
	PL_DWARF_LINE,
	PL_DWARF_LINE_STR,
	PL_DWARF_SECTIONS,
};

enum pl_dwarf_tag {
	PL_TAG_COMPILE_UNIT = 0x11,
	PL_TAG_INLINED_SUBROUTINE = 0x1d,
	PL_TAG_SUBPROGRAM = 0x2e,
	PL_TAG_SKELETON_UNIT = 0x4a,
};

/** What an attribute says. */
enum pl_dwarf_kind {
	PL_VALUE_NONE,
	PL_VALUE_NUMBER, /* also an offset in a section */
	PL_VALUE_ADDRESS,
	PL_VALUE_ADDRESS_INDEX, /* in .debug_addr */
	PL_VALUE_ENTRY,		/* offset of an entry in .debug_info */
	PL_VALUE_COMMON_ENTRY,	/* likewise, of the file that several have in common */
	PL_VALUE_TEXT,
	PL_VALUE_TEXT_OFFSET,	     /* in .debug_str */
	PL_VALUE_LINE_TEXT_OFFSET,   /* in .debug_line_str */
	PL_VALUE_COMMON_TEXT_OFFSET, /* in .debug_str of the file that several have in common */
	PL_VALUE_TEXT_INDEX,	     /* in .debug_str_offsets */
	PL_VALUE_RANGES_INDEX,	     /* in .debug_rnglists */
};
struct pl_dwarf_value {
	enum pl_dwarf_kind kind;
	uint64_t number;
	const char *text;
};

/** The attributes that are of use here. */
enum pl_dwarf_attribute {
	PL_AT_NAME,
	PL_AT_LINKAGE_NAME,
	PL_AT_STMT_LIST,
	PL_AT_LOW_PC,
	PL_AT_HIGH_PC,
	PL_AT_RANGES,
	PL_AT_COMP_DIR,
	PL_AT_ABSTRACT_ORIGIN,
	PL_AT_SPECIFICATION,
	PL_AT_CALL_FILE,
	PL_AT_CALL_LINE,
	PL_AT_STR_OFFSETS_BASE,
	PL_AT_ADDR_BASE,
	PL_AT_RNGLISTS_BASE,
	PL_ATTRIBUTES,
};

/** One entry of .debug_info. */
struct pl_dwarf_entry {
	uint64_t offset;
	uint64_t tag; /* enum pl_dwarf_tag, and others; 0: the end of the children of one */
	bool children;
	struct pl_dwarf_value at[PL_ATTRIBUTES];
};

/** Code, and whose it is: the offset of a function's entry, or the position of a unit. */
struct pl_dwarf_range {
	uint64_t begin, end;
	uint64_t owner;
};
typedef PL_VEC(struct pl_dwarf_range) pl_dwarf_range_vec;

/** From here on, up to the next row, is that line. */
struct pl_dwarf_row {
	uint64_t addr;
	uint32_t file, line;
};
struct pl_dwarf_sequence {
	size_t first, count; /* rows */
};

struct pl_dwarf_unit {
	uint64_t offset, end, first; /* in .debug_info: of its header, behind it, of its first entry */
	uint64_t abbrev;	     /* in .debug_abbrev */
	uint16_t version;
	uint8_t address_size, offset_size;
	/* What its first entry tells. */
	uint64_t base; /* of ranges */
	uint64_t str_offsets_base, addr_base, rnglists_base;
	struct pl_dwarf_value lines, directory;
	/* Its functions that have code, once they were asked for; sorted. */
	pl_dwarf_range_vec functions;
	bool listed;
	/* Its lines, likewise: rows of one sequence ascend, `covered` says which sequence has an address. */
	PL_VEC(struct pl_dwarf_row) rows;
	PL_VEC(struct pl_dwarf_sequence) sequences;
	pl_dwarf_range_vec covered;
	bool rows_read;
};

struct pl_dwarf_abbrev {
	uint64_t code, tag, attributes; /* attributes: where they are in .debug_abbrev */
	bool children;
};

struct pl_dwarf {
	struct pl_work *work;	 /* NULL: no limit */
	struct pl_dwarf *common; /* what dwz has moved to a file that several have in common; NULL: nothing */
	struct {
		uint8_t *bytes;
		size_t len;
	} sections[PL_DWARF_SECTIONS];
	PL_VEC(struct pl_dwarf_unit) units; /* in their order */
	pl_dwarf_range_vec code;	    /* of units; sorted */
	/* The abbreviations that were used last. */
	PL_VEC(struct pl_dwarf_abbrev) abbrevs;
	uint64_t abbrevs_of; /* where they are, + 1; 0: nowhere */
};

/** May so much more be looked at? */
static inline bool pl_dwarf_may(const struct pl_dwarf *d, uint64_t units)
{
	return !d->work || pl_work_spend(d->work, units);
}
/** Read those sections that @p e has. False: some that are needed are not there, or are too much. */
bool pl_dwarf_sections_read(struct pl_dwarf *d, const struct pl_elf *e);
/** From @p offset of a section to its end. */
struct pl_dwarf_reader pl_dwarf_section_at(const struct pl_dwarf *d, enum pl_dwarf_section s, uint64_t offset);
/** The text at @p offset of a section of texts; NULL: there is none. */
const char *pl_dwarf_text_at(const struct pl_dwarf *d, enum pl_dwarf_section s, uint64_t offset);

/** All units, and the code of each. False without memory. */
bool pl_dwarf_units_read(struct pl_dwarf *d);
/** The functions of @p u that have code. False without memory. */
bool pl_dwarf_list_functions(struct pl_dwarf *d, struct pl_dwarf_unit *u);
/** The entry that @p r is at, which is of @p u. False: it cannot be read, or is behind the end of the unit. */
bool pl_dwarf_entry_read(struct pl_dwarf *d, const struct pl_dwarf_unit *u, struct pl_dwarf_reader *r,
			 struct pl_dwarf_entry *ret);
/** A reader of @p u's entries, from the one at @p offset of .debug_info on. */
struct pl_dwarf_reader pl_dwarf_entries_from(const struct pl_dwarf *d, const struct pl_dwarf_unit *u, uint64_t offset);
/** What the function of @p e is called; NULL: it is not told. */
const char *pl_dwarf_name(struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_entry *e);
/** A value of @p form. */
struct pl_dwarf_value pl_dwarf_value_read(const struct pl_dwarf_unit *u, uint64_t form, struct pl_dwarf_reader *r);
const char *pl_dwarf_value_text(const struct pl_dwarf *d, const struct pl_dwarf_unit *u,
				const struct pl_dwarf_value *v);
/** False: it is no address. */
bool pl_dwarf_value_address(const struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_value *v,
			    uint64_t *ret);

/** Add one more, as far as work goes. False without memory. */
bool pl_dwarf_range_add(struct pl_dwarf *d, struct pl_dwarf_range range, pl_dwarf_range_vec *ret);
/** Add the code of @p e to @p ret, for @p owner. False without memory. */
bool pl_dwarf_ranges_add(struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_entry *e,
			 uint64_t owner, pl_dwarf_range_vec *ret);
/** Is some of its code at @p addr? */
bool pl_dwarf_ranges_have(struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_entry *e,
			  uint64_t addr);
/** Has the entry code of its own? */
bool pl_dwarf_has_code(const struct pl_dwarf_entry *e);
/** The innermost of the ranges, which are sorted, that has @p addr. NULL: none. */
const struct pl_dwarf_range *pl_dwarf_range_at(const pl_dwarf_range_vec *ranges, uint64_t addr);
void pl_dwarf_ranges_sort(pl_dwarf_range_vec *ranges);

#define PL_DWARF_PATH 4096 /* bytes of one, with its end */

/** The line of @p addr, and its file by number. False: not known. */
bool pl_dwarf_line(struct pl_dwarf *d, struct pl_dwarf_unit *u, uint64_t addr, uint64_t *file_ret, uint32_t *line_ret);
/** The path of file number @p file of the unit. False: not known. */
bool pl_dwarf_file(struct pl_dwarf *d, const struct pl_dwarf_unit *u, uint64_t file, char buf[static PL_DWARF_PATH]);

#endif
