/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os: the sections of a file that hold its debug information, as they are or packed. */
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "dwarf_parts.h"
#include "elf_tables.h"

#define SECTION_MAX (512u << 20)
#define UNPACK_WORK 4 /* for each byte that comes out */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static const char *const names[PL_DWARF_SECTIONS] = {
	[PL_DWARF_INFO] = ".debug_info",	 [PL_DWARF_ABBREV] = ".debug_abbrev",
	[PL_DWARF_STR] = ".debug_str",		 [PL_DWARF_STR_OFFSETS] = ".debug_str_offsets",
	[PL_DWARF_ADDR] = ".debug_addr",	 [PL_DWARF_RANGES] = ".debug_ranges",
	[PL_DWARF_RNGLISTS] = ".debug_rnglists", [PL_DWARF_LINE] = ".debug_line",
	[PL_DWARF_LINE_STR] = ".debug_line_str",
};

static bool unpack_into(uint32_t type, const uint8_t *packed, size_t packed_len, uint8_t *to, size_t len)
{
	uLongf n = len;

	if (type == ELFCOMPRESS_ZLIB)
		return uncompress(to, &n, packed, packed_len) == Z_OK && n == len;
	return type == ELFCOMPRESS_ZSTD && ZSTD_decompress(to, len, packed, packed_len) == len;
}

/* NULL: it cannot be unpacked, or there is no memory for it. */
static uint8_t *unpack(const struct pl_elf *e, const uint8_t *packed, size_t packed_len, size_t *len_ret)
{
	Elf64_Chdr head;

	if (packed_len < sizeof head)
		return NULL;
	memcpy(&head, packed, sizeof head);
	if (!head.ch_size || head.ch_size > SECTION_MAX || !pl_elf_may(e, head.ch_size * UNPACK_WORK))
		return NULL;
	uint8_t *to = malloc(head.ch_size);
	if (to && !unpack_into(head.ch_type, packed + sizeof head, packed_len - sizeof head, to, head.ch_size)) {
		free(to);
		return NULL;
	}
	*len_ret = head.ch_size;
	return to;
}

/* NULL: it is not there, or too much. */
static uint8_t *read_section(const struct pl_elf *e, const char *name, size_t *len_ret)
{
	const Elf64_Shdr *s = pl_elf_section_named(e, name);

	if (!s || s->sh_type == SHT_NOBITS)
		return NULL;
	uint8_t *bytes = pl_elf_copy(e, s->sh_offset, s->sh_size, 1, SECTION_MAX);
	*len_ret = s->sh_size;
	if (!bytes || !(s->sh_flags & SHF_COMPRESSED))
		return bytes;
	uint8_t *unpacked = unpack(e, bytes, s->sh_size, len_ret);
	free(bytes);
	return unpacked;
}

bool pl_dwarf_sections_read(struct pl_dwarf *d, const struct pl_elf *e)
{
	static const enum pl_dwarf_section needed[] = {PL_DWARF_INFO, PL_DWARF_ABBREV};

	for (int i = 0; i < PL_DWARF_SECTIONS; i++)
		d->sections[i].bytes = read_section(e, names[i], &d->sections[i].len);
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!d->sections[needed[i]].bytes)
			return false;
	return true;
}

struct pl_dwarf_reader pl_dwarf_section_at(const struct pl_dwarf *d, enum pl_dwarf_section s, uint64_t offset)
{
	static const uint8_t nothing[1];
	const uint8_t *bytes = d->sections[s].bytes;
	const size_t len = bytes ? d->sections[s].len : 0;

	if (offset >= len)
		return (struct pl_dwarf_reader){nothing, nothing, true};
	return (struct pl_dwarf_reader){bytes + offset, bytes + len, false};
}

const char *pl_dwarf_text_at(const struct pl_dwarf *d, enum pl_dwarf_section s, uint64_t offset)
{
	struct pl_dwarf_reader r = pl_dwarf_section_at(d, s, offset);
	const char *text = pl_dwarf_text(&r);

	return pl_dwarf_may(d, r.bad ? PL_DWARF_TEXT_MAX : strlen(text)) && !r.bad ? text : NULL;
}
