/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; any thread. Relocations of x86-64: those to an address of the file itself, and those to a symbol. The
 * compact ones (RELR) change nothing: such a word has its value in the file, to which the loader adds where it has put
 * the file. */
#include "elf_load.h"

#include <stdlib.h>
#include <string.h>

#include "elf_tables.h"

#define MAX_NAMES (64u << 20)
#define RELA_WORK 16 /* for each relocation */

void pl_elf_image_deinit(struct pl_elf_image *i)
{
	free(i->bytes);
	*i = (struct pl_elf_image){0};
}

static uint8_t *bytes_at(const struct pl_elf_image *i, uint64_t addr, uint64_t len)
{
	return addr >= i->base && addr - i->base <= i->len && len <= i->len - (addr - i->base)
		       ? i->bytes + (addr - i->base)
		       : NULL;
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

static bool is_loaded(const Elf64_Phdr *s)
{
	return s->p_type == PT_LOAD && s->p_memsz && s->p_filesz <= s->p_memsz && s->p_vaddr + s->p_memsz > s->p_vaddr;
}

/* False: there is none. */
static bool find_range(const struct pl_elf *e, struct pl_elf_image *ret, uint64_t *end_ret)
{
	uint64_t begin = UINT64_MAX, end = 0;

	ret->code = UINT64_MAX;
	for (size_t i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *s = &e->segments[i];

		if (!is_loaded(s))
			continue;
		begin = s->p_vaddr < begin ? s->p_vaddr : begin;
		end = s->p_vaddr + s->p_memsz > end ? s->p_vaddr + s->p_memsz : end;
		if (!(s->p_flags & PF_X))
			continue;
		ret->code = s->p_vaddr < ret->code ? s->p_vaddr : ret->code;
		ret->code_end = s->p_vaddr + s->p_memsz > ret->code_end ? s->p_vaddr + s->p_memsz : ret->code_end;
	}
	ret->base = begin & ~UINT64_C(7);
	*end_ret = end;
	return begin < end;
}

static bool read_segments(const struct pl_elf *e, struct pl_elf_image *ret)
{
	for (size_t i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *s = &e->segments[i];
		uint8_t *to = is_loaded(s) ? bytes_at(ret, s->p_vaddr, s->p_filesz) : NULL;

		if (is_loaded(s) && (!to || !pl_elf_read(e, s->p_offset, to, s->p_filesz)))
			return false;
	}
	return true;
}

/* ---- relocations ------------------------------------------------------------------------------------------------- */

struct dynamic {
	uint64_t rela, rela_len, symbols;
};

static struct dynamic find_dynamic(const struct pl_elf *e, const struct pl_elf_image *image)
{
	struct dynamic d = {0};

	for (size_t i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *s = &e->segments[i];
		Elf64_Dyn one;

		if (s->p_type != PT_DYNAMIC)
			continue;
		for (uint64_t at = s->p_vaddr; bytes_at(image, at, sizeof one); at += sizeof one) {
			memcpy(&one, bytes_at(image, at, sizeof one), sizeof one);
			if (one.d_tag == DT_NULL)
				break;
			d.rela = one.d_tag == DT_RELA ? one.d_un.d_ptr : d.rela;
			d.rela_len = one.d_tag == DT_RELASZ ? one.d_un.d_val : d.rela_len;
			d.symbols = one.d_tag == DT_SYMTAB ? one.d_un.d_ptr : d.symbols;
		}
		break;
	}
	return d;
}

static uint64_t symbol_value(const struct pl_elf_image *image, uint64_t symbols, uint64_t n)
{
	const uint8_t *at = bytes_at(image, symbols + n * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
	Elf64_Sym s;

	if (!symbols || !at)
		return 0;
	memcpy(&s, at, sizeof s);
	return s.st_shndx == SHN_UNDEF ? 0 : s.st_value;
}

static void apply(struct pl_elf_image *image, uint64_t symbols, const Elf64_Rela *r)
{
	uint8_t *at = bytes_at(image, r->r_offset, sizeof(uint64_t));
	uint64_t value;

	if (!at)
		return;
	switch (ELF64_R_TYPE(r->r_info)) {
	case R_X86_64_RELATIVE:
		value = (uint64_t)r->r_addend;
		break;
	case R_X86_64_64:
		value = symbol_value(image, symbols, ELF64_R_SYM(r->r_info));
		value += value ? (uint64_t)r->r_addend : 0;
		break;
	default:
		return;
	}
	memcpy(at, &value, sizeof value);
}

static bool apply_list(const struct pl_elf *e, struct pl_elf_image *image, const struct dynamic *d)
{
	const uint64_t n = d->rela_len / sizeof(Elf64_Rela);

	if (!bytes_at(image, d->rela, d->rela_len) || !pl_elf_may(e, n * RELA_WORK))
		return n == 0;
	for (uint64_t i = 0; i < n; i++) {
		Elf64_Rela r;

		memcpy(&r, bytes_at(image, d->rela + i * sizeof r, sizeof r), sizeof r);
		apply(image, d->symbols, &r);
	}
	return true;
}

bool pl_elf_load(const struct pl_elf *e, size_t max_bytes, struct pl_elf_image *ret)
{
	struct pl_elf_image image = {0};
	uint64_t end;

	if (!find_range(e, &image, &end) || end - image.base > max_bytes || !pl_elf_may(e, end - image.base))
		return false;
	image.len = end - image.base;
	image.bytes = calloc(1, image.len);
	if (!image.bytes)
		return false;
	struct dynamic d = {0};
	bool ok = read_segments(e, &image);
	if (ok)
		d = find_dynamic(e, &image);
	if (!ok || !apply_list(e, &image, &d)) {
		pl_elf_image_deinit(&image);
		return false;
	}
	*ret = image;
	return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

bool pl_elf_mentions(const struct pl_elf *e, const char *const *names, size_t n)
{
	const struct pl_elf_symtab *t = &e->dynamic;
	char *strings = pl_elf_copy(e, t->strings, t->strings_len, 1, MAX_NAMES);
	bool found = false;

	for (size_t i = 0; i < n && strings && !found; i++)
		found = pl_elf_may(e, t->strings_len) &&
			memmem(strings, t->strings_len, names[i], strlen(names[i]) + 1);
	free(strings);
	return found;
}
