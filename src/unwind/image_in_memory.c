/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem; allocates nothing. */
#include "image_in_memory.h"

#include <elf.h>
#include <string.h>

#include "bytes.h"
#include "lower_bound.h"

#define SEGMENTS_MAX 512u
#define PAGE	     4096u
#define NOTES_BYTES  65536u
#define NOTES_MAX    64 /* of an image */

/* The only form that GNU ld, gold, lld and mold write: pairs of four bytes with a sign, from the header on. */
#define VERSION	       1
#define COUNT_ENCODING 0x03
#define TABLE_ENCODING 0x3b
#define ENTRY_BYTES    8u

static bool is_ours(const Elf64_Ehdr *h, const struct pl_unwind_arch *arch)
{
	return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_machine == arch->machine &&
	       h->e_phentsize == sizeof(Elf64_Phdr) && h->e_phnum <= SEGMENTS_MAX;
}

static bool holds(const struct pl_unwind_image *i, pl_addr at, uint64_t len)
{
	return at >= i->start && at < i->end && len <= i->end - at;
}

static void read_index(struct pl_unwind_image *i, struct pl_mem *mem, pl_addr at, uint64_t len)
{
	uint8_t version, frames, count, table;
	pl_addr ignored, n;
	struct pl_bytes b;

	if (!holds(i, at, len))
		return;
	pl_bytes_init(&b, mem, at, at + len);
	if (!pl_bytes_u8(&b, &version) || !pl_bytes_u8(&b, &frames) || !pl_bytes_u8(&b, &count) ||
	    !pl_bytes_u8(&b, &table) || version != VERSION || count != COUNT_ENCODING || table != TABLE_ENCODING)
		return;
	if (!pl_bytes_pointer(&b, frames, at, &ignored) || !pl_bytes_pointer(&b, count, at, &n))
		return;
	if (n > (b.end - b.at) / ENTRY_BYTES)
		return;
	i->index = at;
	i->table = b.at;
	i->count = (uint32_t)n;
}

static uint32_t padded(uint32_t n)
{
	return n + 3u < n ? n : (n + 3u) & ~3u;
}

static void read_notes(struct pl_unwind_image *i, struct pl_mem *mem, pl_addr at, uint64_t len, int *left)
{
	struct pl_bytes b;
	Elf64_Nhdr n;
	char name[4];

	if (i->build_id_len || !holds(i, at, len) || len > NOTES_BYTES)
		return;
	pl_bytes_init(&b, mem, at, at + len);
	for (; *left > 0 && pl_bytes_get(&b, &n, sizeof n); (*left)--) {
		bool id = n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof name && n.n_descsz &&
			  n.n_descsz <= PL_BUILD_ID_MAX;
		if (id && pl_bytes_get(&b, name, sizeof name) && memcmp(name, ELF_NOTE_GNU, sizeof name) == 0 &&
		    pl_bytes_get(&b, i->build_id, n.n_descsz)) {
			i->build_id_len = (uint8_t)n.n_descsz;
			return;
		}
		if (id || !pl_bytes_skip(&b, padded(n.n_namesz)) || !pl_bytes_skip(&b, padded(n.n_descsz)))
			return;
	}
}

static bool segment(struct pl_mem *mem, pl_addr head, const Elf64_Ehdr *h, unsigned k, Elf64_Phdr *ret)
{
	return pl_mem_get(mem, head + h->e_phoff + k * sizeof *ret, ret, sizeof *ret);
}

/* The header is at the file's beginning, which the segment of offset 0 brings along. */
static bool find_bias(struct pl_unwind_image *i, struct pl_mem *mem, const Elf64_Ehdr *h)
{
	Elf64_Phdr s;

	for (unsigned k = 0; k < h->e_phnum && segment(mem, i->head, h, k, &s); k++) {
		if (s.p_type != PT_LOAD || s.p_offset >= PAGE)
			continue;
		i->bias = i->head - (s.p_vaddr - s.p_offset);
		return true;
	}
	return false;
}

void pl_unwind_image_open(struct pl_unwind_image *i, struct pl_mem *mem, const struct pl_unwind_arch *arch)
{
	int notes = NOTES_MAX;
	Elf64_Ehdr h;
	Elf64_Phdr s;

	if (i->opened)
		return;
	i->opened = true;
	if (!i->head || !pl_mem_get(mem, i->head, &h, sizeof h) || !is_ours(&h, arch) || !find_bias(i, mem, &h))
		return;
	for (unsigned k = 0; k < h.e_phnum && segment(mem, i->head, &h, k, &s); k++) {
		if (s.p_type == PT_GNU_EH_FRAME && !i->index)
			read_index(i, mem, i->bias + s.p_vaddr, s.p_memsz);
		else if (s.p_type == PT_NOTE)
			read_notes(i, mem, i->bias + s.p_vaddr, s.p_memsz, &notes);
	}
}

struct pl_unwind_image *pl_unwind_image_at(struct pl_unwind_image *images, size_t n, pl_addr addr)
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (images[middle].end <= addr)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && images[from].start <= addr ? &images[from] : NULL;
}

static uint64_t start_of(const void *row)
{
	return ((const struct pl_fde_place *)row)->start;
}

/* NULL: none begins at @p pc or before. */
static const struct pl_fde_place *listed_at(const struct pl_unwind_image *i, pl_addr pc)
{
	size_t behind = pc == UINT64_MAX
				? i->listed_count
				: pl_lower_bound(i->listed, i->listed_count, sizeof *i->listed, start_of, pc + 1);

	return behind ? &i->listed[behind - 1] : NULL;
}

pl_addr pl_unwind_image_function(const struct pl_unwind_image *i, pl_addr pc)
{
	const struct pl_fde_place *p = i->listed ? listed_at(i, pc) : NULL;

	return p ? p->start : 0;
}

static bool search_list(const struct pl_unwind_image *i, pl_addr pc, pl_addr *ret)
{
	const struct pl_fde_place *p = listed_at(i, pc);

	if (!p || !p->at)
		return false;
	*ret = p->at;
	return true;
}

/* The last entry that does not begin behind the address. */
bool pl_unwind_image_search(const struct pl_unwind_image *i, struct pl_mem *mem, pl_addr pc, pl_addr *ret)
{
	uint32_t from = 0, to = i->count;
	int32_t entry[2], found = 0;
	bool any = false;

	if (i->listed)
		return search_list(i, pc, ret);
	if (!i->index)
		return false;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (!pl_mem_get(mem, i->table + (pl_addr)middle * ENTRY_BYTES, entry, sizeof entry))
			return false;
		if (i->index + (uint64_t)(int64_t)entry[0] > pc) {
			to = middle;
			continue;
		}
		from = middle + 1;
		found = entry[1];
		any = true;
	}
	*ret = i->index + (uint64_t)(int64_t)found;
	return any;
}
