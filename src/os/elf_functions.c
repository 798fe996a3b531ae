/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; one thread. A table of (address, size, name), sorted when it is first asked. Only what lies inside the size
 * of a function is that function: in a stripped file the nearest name below is a wrong one for most addresses. */
#include "elf_functions.h"

#include <stdlib.h>
#include <string.h>

#include "elf_tables.h"
#include "lower_bound.h"
#include "vec.h"
#include "xz.h"

#define MAX_SYMBOLS (8u << 20)
#define MAX_NAMES   (256u << 20)
#define BACK_MAX    64 /* functions that lie inside others: looked at before nobody has the address */
#define NAME_LOOKED 64 /* bytes of names that are compared, to choose one of several */
#define SORT_WORK   64 /* for each symbol */
#define KEPT_MAX    4096

#define PACKED_MAX   (16u << 20)
#define UNPACKED_MAX (64u << 20)
#define UNPACK_WORK  8 /* for each byte */

struct function {
	uint64_t addr, size;
	uint64_t name; /* in `names` */
	uint8_t binding;
	uint8_t underscores; /* that its name begins with; counted once, for names are compared often */
};

struct pl_functions {
	PL_VEC(struct function) all;
	PL_VEC(char) names; /* the string tables, one after the other, each with a NUL at its end */
	bool sorted;
};

struct plumb_error *pl_functions_create(struct pl_functions **ret)
{
	struct pl_functions *f = calloc(1, sizeof *f);

	if (!f)
		return &pl_err_no_memory;
	*ret = f;
	return NULL;
}

void pl_functions_destroy(struct pl_functions *f)
{
	if (!f)
		return;
	pl_vec_deinit(&f->all);
	pl_vec_deinit(&f->names);
	free(f);
}

static uint8_t underscores(const char *name, size_t len)
{
	uint8_t n = 0;

	while (n < len && n < NAME_LOOKED && name[n] == '_')
		n++;
	return n;
}

/* 0: it is nowhere. In an object file it counts from its section, which says where it was put. */
static uint64_t address_of(const struct pl_elf *e, const Elf64_Sym *s)
{
	if (!e->object)
		return s->st_value;
	const uint64_t section = s->st_shndx < e->section_count ? e->sections[s->st_shndx].sh_addr : 0;
	return section ? section + s->st_value : 0;
}

static bool is_function(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS && s->st_name &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* False without memory. */
static bool add_names(struct pl_functions *f, const struct pl_elf *e, const struct pl_elf_symtab *t)
{
	char *names = pl_elf_copy(e, t->strings, t->strings_len, 1, MAX_NAMES);

	if (!names)
		return true;
	bool ok = pl_vec_reserve(&f->names, t->strings_len + 1);
	if (ok) {
		memcpy(f->names.data + f->names.len, names, t->strings_len);
		f->names.data[f->names.len + t->strings_len] = '\0';
		f->names.len += t->strings_len + 1;
	}
	free(names);
	return ok;
}

static bool add_symbols(struct pl_functions *f, const struct pl_elf *e, const Elf64_Sym *symbols, uint64_t n,
			uint64_t names, uint64_t names_len)
{
	for (uint64_t i = 0; i < n; i++) {
		const Elf64_Sym *s = &symbols[i];
		struct function one = {.addr = address_of(e, s),
				       .size = s->st_size,
				       .name = names + s->st_name,
				       .binding = ELF64_ST_BIND(s->st_info)};

		if (!is_function(s) || !one.addr || s->st_name >= names_len)
			continue;
		one.underscores = underscores(f->names.data + one.name, names_len - s->st_name);
		if (!pl_vec_push(&f->all, one))
			return false;
	}
	return true;
}

static bool add_table(struct pl_functions *f, const struct pl_elf *e, const struct pl_elf_symtab *t)
{
	uint64_t names = f->names.len;

	if (t->symbol_count > MAX_SYMBOLS || !t->strings_len || !pl_elf_may(e, t->symbol_count * SORT_WORK))
		return true;
	Elf64_Sym *symbols =
		pl_elf_copy(e, t->symbols, t->symbol_count, sizeof *symbols, MAX_SYMBOLS * sizeof *symbols);
	if (!symbols)
		return true;
	bool ok = add_names(f, e, t) && add_symbols(f, e, symbols, t->symbol_count, names, f->names.len - names);
	free(symbols);
	return ok;
}

/* ---- what is packed in a stripped file --------------------------------------------------------------------------- */

/* An ELF file on its way out of a section. */
struct packed {
	struct pl_work *work;
	PL_VEC(uint8_t) bytes;
};

static struct plumb_error *take_piece(void *ctx, const void *bytes, size_t len)
{
	struct packed *p = ctx;

	if (p->work && !pl_work_spend(p->work, len * UNPACK_WORK))
		return &pl_err_limit;
	if (!pl_vec_reserve(&p->bytes, len))
		return &pl_err_no_memory;
	memcpy(p->bytes.data + p->bytes.len, bytes, len);
	p->bytes.len += len;
	return NULL;
}

static struct plumb_error *add_unpacked(struct pl_functions *f, const struct packed *p, bool *found_ret)
{
	struct pl_elf *e;
	struct plumb_error *err = pl_elf_open_loaded(p->bytes.data, p->bytes.len, 0, p->work, &e);

	if (err)
		return err;
	*found_ret = e->all.symbol_count;
	err = add_table(f, e, &e->all) ? NULL : &pl_err_no_memory;
	pl_elf_close(e);
	return err;
}

/* Names of functions that are not exported, as some distributions leave them in their files. What cannot be unpacked
 * has none. */
static struct plumb_error *add_packed(struct pl_functions *f, const struct pl_elf *e, bool *found_ret)
{
	struct packed p = {.work = e->work};
	size_t len;
	uint8_t *section = pl_elf_copy_section(e, ".gnu_debugdata", PACKED_MAX, &len);
	struct plumb_error *err;

	if (!section)
		return NULL;
	err = pl_unxz(section, len, UNPACKED_MAX, take_piece, &p);
	err = err ? err : add_unpacked(f, &p, found_ret);
	free(section);
	pl_vec_deinit(&p.bytes);
	if (err == &pl_err_no_memory)
		return err;
	plumb_error_destroy(err);
	return NULL;
}

struct plumb_error *pl_functions_add(struct pl_functions *f, const struct pl_elf *e, bool *stripped_ret)
{
	bool whole = e->all.symbol_count;
	struct plumb_error *err = add_table(f, e, whole ? &e->all : &e->dynamic) ? NULL : &pl_err_no_memory;

	if (!err && !whole)
		err = add_packed(f, e, &whole);
	*stripped_ret = !whole;
	f->sorted = false;
	return err;
}

bool pl_functions_add_plain(struct pl_functions *f, const struct pl_elf *e)
{
	f->sorted = false;
	return add_table(f, e, e->all.symbol_count ? &e->all : &e->dynamic);
}

static bool add_name(struct pl_functions *f, struct function one, const char *name, size_t len)
{
	one.name = f->names.len;
	one.underscores = underscores(name, len);
	if (!pl_vec_reserve(&f->names, len + 1) || !pl_vec_push(&f->all, one))
		return false;
	memcpy(f->names.data + f->names.len, name, len);
	f->names.len += len;
	f->names.data[f->names.len++] = '\0';
	return true;
}

bool pl_functions_add_one(struct pl_functions *f, uint64_t addr, const char *name)
{
	f->sorted = false;
	return add_name(f, (struct function){.addr = addr, .binding = STB_LOCAL}, name, strlen(name));
}

bool pl_functions_add_sized(struct pl_functions *f, uint64_t addr, uint64_t size, const char *name, size_t len)
{
	f->sorted = false;
	return add_name(f, (struct function){.addr = addr, .size = size, .binding = STB_GLOBAL}, name, len);
}

uint64_t pl_functions_bytes(const struct pl_functions *f)
{
	return sizeof *f + f->all.cap * sizeof *f->all.data + f->names.cap;
}

size_t pl_functions_count(const struct pl_functions *f)
{
	return f->all.len;
}

uint64_t pl_functions_begin(const struct pl_functions *f, size_t i)
{
	return f->all.data[i].addr;
}

void pl_functions_keep(struct pl_functions *f, bool (*is_wanted)(const char *name))
{
	struct pl_functions kept = {.sorted = f->sorted};

	for (size_t i = 0; i < f->all.len && kept.all.len < KEPT_MAX; i++) {
		const char *name = f->names.data + f->all.data[i].name;

		if (is_wanted(name) && !add_name(&kept, f->all.data[i], name, strnlen(name, NAME_LOOKED)))
			break;
	}
	pl_vec_deinit(&f->all);
	pl_vec_deinit(&f->names);
	*f = kept;
}

/* ---- by address -------------------------------------------------------------------------------------------------- */

static unsigned rank(const struct function *f)
{
	return f->binding == STB_GLOBAL ? 0 : f->binding == STB_WEAK ? 1 : 2;
}

/* Of those at one address the best is the last. */
static int compare(const void *a, const void *b, void *ctx)
{
	const struct function *x = a, *y = b;
	const char *names = ctx, *p = names + x->name, *q = names + y->name;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? 1 : -1;
	if (x->underscores != y->underscores)
		return x->underscores > y->underscores ? -1 : 1;
	if (rank(x) != rank(y))
		return rank(x) > rank(y) ? -1 : 1;
	int order = strncmp(q, p, NAME_LOOKED);
	return order ? order : (x->name > y->name) - (x->name < y->name);
}

void pl_functions_sort(struct pl_functions *f)
{
	if (!f->sorted && f->all.len)
		qsort_r(f->all.data, f->all.len, sizeof *f->all.data, compare, f->names.data);
	f->sorted = true;
}

static uint64_t begin_of(const void *row)
{
	return ((const struct function *)row)->addr;
}

/* How many begin at @p addr or before. */
static size_t count_up_to(const struct pl_functions *f, uint64_t addr)
{
	return addr == UINT64_MAX ? f->all.len
				  : pl_lower_bound(f->all.data, f->all.len, sizeof *f->all.data, begin_of, addr + 1);
}

const char *pl_functions_find(struct pl_functions *f, uint64_t addr, uint64_t begin)
{
	pl_functions_sort(f);
	size_t n = count_up_to(f, addr), least = n > BACK_MAX ? n - BACK_MAX : 0;
	for (size_t i = n; i-- > least;) {
		const struct function *one = &f->all.data[i];

		if (addr - one->addr < one->size || (!one->size && begin && one->addr == begin))
			return f->names.data + one->name;
	}
	return NULL;
}
