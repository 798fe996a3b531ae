/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol tables of ELF files (layer os). Reads only what a question needs: see elf.c. */
#include "elf.h"

#include <stdlib.h>
#include <string.h>

#include "elf_tables.h"

#define MAX_NAMES	32u
#define MAX_NAME_BYTES	64u
#define MAX_CHAIN	65536u	    /* symbols in one hash bucket; real ones hold a handful */
#define MAX_DYNAMIC	4096u	    /* entries of PT_DYNAMIC */
#define MAX_SYMBOLS	(8u << 20)  /* a browser with all its local symbols has about a million */
#define MAX_STRINGS	(64u << 20) /* beyond that it is no interpreter, and looking costs more than attaching may */
#define MAX_OCCURRENCES 64u

/* File offset of a virtual address, UINT64_MAX if no segment holds it. */
static uint64_t segment_offset(const struct pl_elf *e, uint64_t addr)
{
	for (size_t i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *s = &e->segments[i];
		if (s->p_type == PT_LOAD && addr >= s->p_vaddr && addr - s->p_vaddr < s->p_filesz)
			return s->p_offset + (addr - s->p_vaddr);
	}
	return UINT64_MAX;
}

static uint64_t file_offset(const struct pl_elf *e, uint64_t addr)
{
	uint64_t offset = segment_offset(e, addr);
	return offset == UINT64_MAX && e->bias ? segment_offset(e, addr - e->bias) : offset;
}

/* A copy of PT_DYNAMIC; the caller frees it. */
static Elf64_Dyn *copy_dynamic(const struct pl_elf *e, size_t *count)
{
	for (size_t i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *s = &e->segments[i];
		if (s->p_type != PT_DYNAMIC)
			continue;
		*count = s->p_filesz / sizeof(Elf64_Dyn);
		return pl_elf_copy(e, s->p_offset, *count, sizeof(Elf64_Dyn), MAX_DYNAMIC * sizeof(Elf64_Dyn));
	}
	return NULL;
}

static uint64_t dynamic_value(const Elf64_Dyn *d, size_t count, int64_t tag)
{
	for (size_t i = 0; i < count && d[i].d_tag != DT_NULL; i++)
		if (d[i].d_tag == tag)
			return d[i].d_un.d_val;
	return UINT64_MAX;
}

static uint64_t bytes_left(const struct pl_elf *e, uint64_t offset)
{
	return offset < e->size ? e->size - offset : 0;
}

/* The loader's view, for files whose section headers were cut off. It has no count of symbols: the hash bounds it. */
static void table_from_dynamic(struct pl_elf *e)
{
	size_t count;
	Elf64_Dyn *d = copy_dynamic(e, &count);
	if (!d)
		return;
	struct pl_elf_symtab t = {
		.symbols = file_offset(e, dynamic_value(d, count, DT_SYMTAB)),
		.strings = file_offset(e, dynamic_value(d, count, DT_STRTAB)),
		.strings_len = dynamic_value(d, count, DT_STRSZ),
		.hash = file_offset(e, dynamic_value(d, count, DT_GNU_HASH)),
	};
	free(d);
	if (t.symbols == UINT64_MAX || t.strings == UINT64_MAX || t.strings_len > bytes_left(e, t.strings))
		return;
	/* Without a count, the symbols end at the latest where their names begin; that is how linkers lay them out. */
	uint64_t end = t.strings > t.symbols ? t.strings - t.symbols : bytes_left(e, t.symbols);
	t.symbol_count = end / sizeof(Elf64_Sym);
	t.hash_len = bytes_left(e, t.hash);
	e->dynamic = t;
}

static const Elf64_Shdr *section_of_type(const struct pl_elf *e, uint32_t type)
{
	for (size_t i = 0; i < e->section_count; i++) {
		const Elf64_Shdr *s = &e->sections[i];
		if (s->sh_type == type && s->sh_offset <= e->size && s->sh_size <= e->size - s->sh_offset)
			return s;
	}
	return NULL;
}

static void table_from_sections(const struct pl_elf *e, uint32_t type, struct pl_elf_symtab *ret)
{
	const Elf64_Shdr *symbols = section_of_type(e, type);
	if (!symbols || symbols->sh_link >= e->section_count)
		return;
	const Elf64_Shdr *strings = &e->sections[symbols->sh_link];
	if (strings->sh_type != SHT_STRTAB || strings->sh_size > bytes_left(e, strings->sh_offset))
		return;
	*ret = (struct pl_elf_symtab){
		.symbols = symbols->sh_offset,
		.symbol_count = symbols->sh_size / sizeof(Elf64_Sym),
		.strings = strings->sh_offset,
		.strings_len = strings->sh_size,
	};
}

void pl_elf_find_tables(struct pl_elf *e)
{
	table_from_sections(e, SHT_SYMTAB, &e->all);
	table_from_sections(e, SHT_DYNSYM, &e->dynamic);
	const Elf64_Shdr *hash = section_of_type(e, SHT_GNU_HASH);
	if (hash) {
		e->dynamic.hash = hash->sh_offset;
		e->dynamic.hash_len = hash->sh_size;
	}
	if (!e->dynamic.symbol_count)
		table_from_dynamic(e);
}

static bool has_name(const struct pl_elf *e, const struct pl_elf_symtab *t, uint64_t at, const char *name)
{
	char text[MAX_NAME_BYTES];
	size_t len = strlen(name) + 1;
	if (at > t->strings_len || len > t->strings_len - at || len > sizeof text)
		return false;
	return pl_elf_read(e, t->strings + at, text, len) && memcmp(text, name, len) == 0;
}

/* Defined in this file, and with an address: not a reference, a file name or an offset into thread-local storage. */
static bool is_definition(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);
	return s->st_shndx != SHN_UNDEF && s->st_value &&
	       (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC);
}

static bool symbol_at(const struct pl_elf *e, const struct pl_elf_symtab *t, uint64_t i, const char *name,
		      struct pl_elf_symbol *ret)
{
	Elf64_Sym s;
	if (i >= t->symbol_count || !pl_elf_read(e, t->symbols + i * sizeof s, &s, sizeof s))
		return false;
	if (!is_definition(&s) || !has_name(e, t, s.st_name, name))
		return false;
	*ret = (struct pl_elf_symbol){.value = s.st_value, .size = s.st_size};
	return true;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		h = h * 33 + *p;
	return h;
}

/* Read item @p i of an array of words inside the hash section. */
static bool hash_word(const struct pl_elf *e, uint64_t at, uint64_t i, void *dst, size_t width)
{
	const struct pl_elf_symtab *t = &e->dynamic;
	uint64_t offset = at + i * width;
	if (offset > t->hash_len || width > t->hash_len - offset)
		return false;
	return pl_elf_read(e, t->hash + offset, dst, width);
}

/* Layout of the section: 4 words of header, Bloom filter of 8-byte words, buckets, one word per symbol from `first` on.
 */
static bool lookup_hashed(const struct pl_elf *e, const char *name, struct pl_elf_symbol *ret)
{
	struct {
		uint32_t buckets, first, bloom_words, bloom_shift;
	} head;
	uint64_t bloom;
	uint32_t h = gnu_hash(name), i, link;
	if (!hash_word(e, 0, 0, &head, sizeof head) || !head.buckets || !head.bloom_words)
		return false;
	uint64_t bits = 1ull << h % 64 | 1ull << (h >> head.bloom_shift % 32) % 64;
	if (!hash_word(e, sizeof head, h / 64 % head.bloom_words, &bloom, sizeof bloom) || (bloom & bits) != bits)
		return false;
	uint64_t buckets_at = sizeof head + 8ull * head.bloom_words, links_at = buckets_at + 4ull * head.buckets;
	if (!hash_word(e, buckets_at, h % head.buckets, &i, sizeof i) || i < head.first)
		return false;
	for (unsigned n = 0; n < MAX_CHAIN && hash_word(e, links_at, i - head.first, &link, sizeof link); n++, i++) {
		if ((link | 1) == (h | 1) && symbol_at(e, &e->dynamic, i, name, ret))
			return true;
		if (link & 1 || i == UINT32_MAX)
			return false;
	}
	return false;
}

/* Where in the string table a wanted name begins: symbols are then compared by number, not by text. */
struct occurrence {
	uint32_t at, name;
};

/* Linkers let a name share the tail of a longer one, so that it may begin anywhere. */
static size_t find_name(const char *strings, size_t len, const char *name, uint32_t which, struct occurrence *ret,
			size_t max)
{
	size_t n = 0, width = strlen(name) + 1;
	for (const char *p = strings; n < max; p++) {
		p = memmem(p, (size_t)(strings + len - p), name, width);
		if (!p)
			break;
		ret[n++] = (struct occurrence){.at = (uint32_t)(p - strings), .name = which};
	}
	return n;
}

static void match_symbols(const Elf64_Sym *s, size_t count, const struct occurrence *o, size_t n,
			  struct pl_elf_symbol *ret)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < n; k++) {
			struct pl_elf_symbol *r = &ret[o[k].name];
			if (s[i].st_name == o[k].at && !r->value && is_definition(&s[i]))
				*r = (struct pl_elf_symbol){.value = s[i].st_value, .size = s[i].st_size};
		}
	}
}

/* One pass over a whole table for all names that are not found yet. */
static void lookup_linear(const struct pl_elf *e, const struct pl_elf_symtab *t, const char *const *names, size_t n,
			  struct pl_elf_symbol *ret)
{
	struct occurrence o[MAX_OCCURRENCES];
	Elf64_Sym some[512];
	size_t found = 0;
	char *strings = pl_elf_copy(e, t->strings, t->strings_len, 1, MAX_STRINGS);
	for (uint32_t i = 0; strings && i < n; i++)
		if (!ret[i].value && pl_elf_may(e, t->strings_len))
			found += find_name(strings, t->strings_len, names[i], i, o + found, MAX_OCCURRENCES - found);
	free(strings);
	uint64_t count = t->symbol_count < MAX_SYMBOLS ? t->symbol_count : MAX_SYMBOLS;
	for (uint64_t i = 0; found && i < count; i += sizeof some / sizeof *some) {
		size_t batch = sizeof some / sizeof *some;
		batch = count - i < batch ? count - i : batch;
		if (!pl_elf_may(e, batch * found) ||
		    !pl_elf_read(e, t->symbols + i * sizeof *some, some, batch * sizeof *some))
			return;
		match_symbols(some, batch, o, found, ret);
	}
}

static size_t count_found(const struct pl_elf_symbol *s, size_t n)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++)
		found += s[i].value != 0;
	return found;
}

size_t pl_elf_symbols(const struct pl_elf *e, unsigned tables, const char *const *names, size_t n,
		      struct pl_elf_symbol *ret)
{
	n = n < MAX_NAMES ? n : MAX_NAMES;
	if (tables & PL_ELF_DYNAMIC && e->dynamic.hash_len) {
		for (size_t i = 0; i < n; i++)
			if (!ret[i].value)
				lookup_hashed(e, names[i], &ret[i]);
	} else if (tables & PL_ELF_DYNAMIC && e->dynamic.symbol_count) {
		lookup_linear(e, &e->dynamic, names, n, ret);
	}
	if (tables & PL_ELF_STATIC && e->all.symbol_count && count_found(ret, n) < n)
		lookup_linear(e, &e->all, names, n, ret);
	return count_found(ret, n);
}

bool pl_elf_symbol(const struct pl_elf *e, const char *name, struct pl_elf_symbol *ret)
{
	struct pl_elf_symbol s = {0};
	if (!pl_elf_symbols(e, PL_ELF_DYNAMIC | PL_ELF_STATIC, &name, 1, &s))
		return false;
	*ret = s;
	return true;
}

bool pl_elf_needs(const struct pl_elf *e, const char *prefix)
{
	char text[MAX_NAME_BYTES];
	size_t count, len = strlen(prefix);
	bool needs = false;
	Elf64_Dyn *d = copy_dynamic(e, &count);
	for (size_t i = 0; d && !needs && i < count && d[i].d_tag != DT_NULL; i++) {
		uint64_t at = d[i].d_un.d_val;
		if (d[i].d_tag != DT_NEEDED || at > e->dynamic.strings_len || len > e->dynamic.strings_len - at)
			continue;
		needs = len <= sizeof text && pl_elf_read(e, e->dynamic.strings + at, text, len) &&
			memcmp(text, prefix, len) == 0;
	}
	free(d);
	return needs;
}
