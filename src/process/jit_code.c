/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. All of it is the target's, and changes while it is read: each loop has an end,
 * and what was read is checked. Source: "JIT Compilation Interface" in the manual of GDB.
 *
 * The head of a list has a name, but libraries do not export it, and stripped ones have no names: it is found by what
 * it holds. */
#include "jit_code.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fde.h"
#include "hash.h"
#include "lower_bound.h"
#include "map.h"
#include "work.h"

#define VERSION	       1
#define ACTION_MAX     2
#define USER_END       (UINT64_C(1) << 47)
#define OBJECTS_MAX    8192u
#define OBJECT_MAX     (16u << 20) /* bytes */
#define OBJECTS_BYTES  (64u << 20) /* of all of them */
#define SECTIONS_BYTES (256u << 10)
#define TABLES_MAX     (1u << 20)
#define PIECES_MAX     65536u
#define TABLES_STEPS   4000000
#define SEARCH_BYTES   (64u << 20) /* of what is mapped to be written to */
#define SEARCH_STEP    (64u << 10)
#define HEADS_MAX      256 /* that look like one, in one search */
#define WORK_MAX       (128u << 20)
#define ENTRY_WORK     512u	    /* a function or a description of one is read and sorted */
#define PIECE_WORK     256u	    /* a piece is sorted, and gets an image */
#define HELD_MAX       (64u << 20)  /* bytes of memory, for the objects of a process */
#define ALL_HELD_MAX   (512u << 20) /* of all processes */

static atomic_uint_least64_t all_held;

/* `struct jit_code_entry`. */
struct entry {
	pl_addr next, previous, file;
	uint64_t size;
};

struct pl_jit_object {
	pl_addr at; /* of its entry */
	struct entry entry;
	/* Its section headers, which say where it was put: another object can come to lie where this one was. */
	pl_addr sections;
	size_t sections_len;
	uint64_t sections_hash;
	struct pl_functions *functions;
	pl_addr tables; /* where its .eh_frame is; `bytes` is a copy */
	size_t tables_len;
	uint8_t *bytes;
	pl_fde_place_vec list;
	PL_VEC(struct pl_elf_symbol) code;
	uint64_t held; /* bytes of memory */
};

typedef PL_VEC(struct pl_jit_object *) object_vec;

struct look {
	struct pl_jit_code *j;
	struct pl_mem *live;
	struct pl_work work;
	object_vec objects;   /* that there are now */
	size_t kept;	      /* of those that were there before */
	uint64_t bytes, held; /* of `objects`: of their files, and of memory that they take */
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool look_at(struct look *l, pl_addr at, void *dst, size_t len)
{
	return pl_work_spend(&l->work, PL_WORK_CALL + len) && pl_mem_get(l->live, at, dst, len);
}

static bool can_be_pointer(pl_addr p)
{
	return p && p % 8 == 0 && p < USER_END;
}

static void object_destroy(struct pl_jit_object *o)
{
	if (!o)
		return;
	atomic_fetch_sub(&all_held, o->held);
	pl_functions_destroy(o->functions);
	free(o->bytes);
	pl_vec_deinit(&o->list);
	pl_vec_deinit(&o->code);
	free(o);
}

void pl_jit_code_deinit(struct pl_jit_code *j)
{
	for (size_t i = 0; i < j->objects.len; i++)
		object_destroy(j->objects.data[i]);
	pl_vec_deinit(&j->objects);
	pl_vec_deinit(&j->pieces);
}

/* ---- finding lists ----------------------------------------------------------------------------------------------- */

static bool is_listed(const struct pl_jit_code *j, pl_addr at)
{
	for (size_t i = 0; i < j->list_count; i++)
		if (j->lists[i].at == at)
			return true;
	return false;
}

static bool looks_like_head(const struct pl_jit_head *h)
{
	return h->version == VERSION && h->action <= ACTION_MAX && can_be_pointer(h->last) && can_be_pointer(h->first);
}

/* It has a first entry, nothing is before that, and it has an ELF file. */
static bool leads_to_entry(struct look *l, const struct pl_jit_head *h)
{
	char magic[SELFMAG];
	struct entry e;

	return look_at(l, h->first, &e, sizeof e) && e.previous == 0 && e.size >= sizeof(Elf64_Ehdr) &&
	       e.size <= OBJECT_MAX && look_at(l, e.file, magic, sizeof magic) && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

static void search_bytes(struct look *l, pl_addr at, const uint8_t *bytes, size_t len, int *left)
{
	struct pl_jit_code *j = l->j;
	struct pl_jit_head h;

	for (size_t i = 0; i + sizeof h <= len; i += 8) {
		memcpy(&h, bytes + i, sizeof h);
		if (!looks_like_head(&h) || is_listed(j, at + i) || j->list_count == PL_JIT_LISTS_MAX || *left == 0)
			continue;
		(*left)--;
		if (leads_to_entry(l, &h))
			j->lists[j->list_count++] = (struct pl_jit_list){.at = at + i};
	}
}

/* A head has a value from the beginning on, so it is in a part of a file. What is no program and no library may be a
 * file of any size, and is not read. */
static bool may_have_head(const struct pl_mapping *m, const struct pl_map *programs)
{
	uint32_t unused;

	return m->inode && m->writable && m->readable && pl_map_get(programs, m->inode, pl_mapping_device(m), &unused);
}

/* Files that code is mapped of. Without memory for all of them there are fewer. */
static void find_programs(const pl_mapping_vec *maps, struct pl_map *ret)
{
	for (size_t i = 0; i < maps->len; i++)
		if (maps->data[i].executable && maps->data[i].inode)
			(void)pl_map_set(ret, maps->data[i].inode, pl_mapping_device(&maps->data[i]), 1);
}

/* What is read overlaps: a head may lie anywhere. */
static void search_lists(struct look *l, const pl_mapping_vec *maps)
{
	struct pl_map programs = PL_MAP_INIT;
	const size_t overlap = sizeof(struct pl_jit_head) - 8;
	uint8_t *bytes = malloc(SEARCH_STEP);
	uint64_t left = SEARCH_BYTES;
	int heads = HEADS_MAX;

	find_programs(maps, &programs);
	for (size_t i = 0; bytes && i < maps->len && left; i++) {
		const struct pl_mapping *m = &maps->data[i];

		if (!may_have_head(m, &programs))
			continue;
		for (pl_addr at = m->start; at < m->end && left;) {
			size_t len = m->end - at < SEARCH_STEP ? m->end - at : SEARCH_STEP;

			len = len < left ? len : left;
			left -= len;
			if (look_at(l, at, bytes, len))
				search_bytes(l, at, bytes, len, &heads);
			at += len < SEARCH_STEP ? len : len - overlap;
		}
	}
	pl_map_deinit(&programs);
	free(bytes);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* The memory of one object's tables. */
struct tables {
	struct pl_mem mem;
	const struct pl_jit_object *object;
};

static bool in_tables(const struct pl_jit_object *o, pl_addr addr, size_t len)
{
	return addr >= o->tables && addr - o->tables <= o->tables_len && len <= o->tables_len - (addr - o->tables);
}

static struct plumb_error *read_tables_of(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	const struct pl_jit_object *o = ((struct tables *)mem)->object;

	if (!in_tables(o, addr, len))
		return &pl_err_unreadable;
	memcpy(dst, o->bytes + (addr - o->tables), len);
	return NULL;
}

/* As they lie in memory, where the JIT compiler has filled in the addresses. False without memory. */
static bool take_tables(struct look *l, const struct pl_elf *e, struct pl_jit_object *o)
{
	static const struct pl_mem_ops ops = {.read = read_tables_of};
	struct tables t = {{&ops}, o};
	size_t steps = TABLES_STEPS;
	struct pl_elf_symbol s;

	if (pl_elf_section(e, ".eh_frame", &s) && s.value && s.size && s.size <= TABLES_MAX &&
	    s.value <= USER_END - TABLES_MAX) {
		o->bytes = malloc(s.size);
		if (!o->bytes)
			return false;
		if (look_at(l, s.value, o->bytes, s.size)) {
			o->tables = s.value;
			o->tables_len = s.size;
		}
	}
	return pl_fde_list(&t.mem, o->tables, o->tables + o->tables_len, &steps, &o->list);
}

/* Where functions begin, also those that no table describes. */
static bool take_functions(struct pl_jit_object *o)
{
	const size_t n = pl_functions_count(o->functions);

	for (size_t i = 0; i < n; i++)
		if (!pl_vec_push(&o->list, ((struct pl_fde_place){.start = pl_functions_begin(o->functions, i)})))
			return false;
	return true;
}

static bool take_code(const struct pl_elf *e, struct pl_jit_object *o)
{
	struct pl_elf_symbol s;

	for (size_t at = 0; pl_elf_placed_code(e, &at, &s);)
		if (s.value + s.size <= USER_END && !pl_vec_push(&o->code, s))
			return false;
	return true;
}

/* An error: no memory, or it is no file that can be read. */
static struct plumb_error *take_file(struct look *l, const uint8_t *file, struct pl_jit_object *o)
{
	const uint64_t size = o->entry.size;
	struct pl_elf *e;
	Elf64_Ehdr h;

	memcpy(&h, file, sizeof h);
	o->sections_len = h.e_shnum * sizeof(Elf64_Shdr);
	if (o->sections_len > SECTIONS_BYTES || h.e_shoff > size || o->sections_len > size - h.e_shoff)
		return &pl_err_corrupt;
	o->sections = o->entry.file + h.e_shoff;
	o->sections_hash = pl_hash_bytes(file + h.e_shoff, o->sections_len);
	struct plumb_error *err = pl_elf_open_loaded(file, size, 0, &l->work, &e);
	if (err)
		return err;
	err = pl_functions_create(&o->functions);
	if (!err && (!pl_functions_add_plain(o->functions, e) || !take_code(e, o) || !take_functions(o) ||
		     !take_tables(l, e, o)))
		err = &pl_err_no_memory;
	pl_work_note(&l->work, ENTRY_WORK * o->list.len);
	pl_elf_close(e);
	return err;
}

/* What it takes counts from now on. */
static struct plumb_error *count_held(struct pl_jit_object *o)
{
	o->held = sizeof *o + pl_functions_bytes(o->functions) + o->tables_len + o->list.cap * sizeof *o->list.data +
		  o->code.cap * sizeof *o->code.data;
	return atomic_fetch_add(&all_held, o->held) + o->held <= ALL_HELD_MAX ? NULL : &pl_err_limit;
}

/* *ret NULL: it cannot be read, or there is no room for it. */
static struct plumb_error *read_object(struct look *l, pl_addr at, const struct entry *entry,
				       struct pl_jit_object **ret)
{
	struct pl_jit_object *o = calloc(1, sizeof *o);
	uint8_t *file = malloc(entry->size);
	struct plumb_error *err = o && file ? NULL : &pl_err_no_memory;

	*ret = NULL;
	if (!err) {
		o->at = at;
		o->entry = *entry;
		err = look_at(l, entry->file, file, entry->size) ? take_file(l, file, o) : &pl_err_unreadable;
		err = err ? err : count_held(o);
	}
	free(file);
	if (!err) {
		*ret = o;
		return NULL;
	}
	object_destroy(o);
	if (err == &pl_err_no_memory)
		return err;
	plumb_error_destroy(err);
	return NULL;
}

static bool is_still_there(struct look *l, const struct pl_jit_object *o)
{
	uint8_t *sections = malloc(o->sections_len + 1);
	bool same = sections && look_at(l, o->sections, sections, o->sections_len) &&
		    pl_hash_bytes(sections, o->sections_len) == o->sections_hash;

	free(sections);
	return same;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* The objects of a look, by their entries. */
struct walk {
	struct look *l;
	struct pl_map before; /* entry -> position in j->objects, of those that are left there */
	struct pl_map seen;   /* entries of this look: a list may lead back into itself */
};

static bool equal_entries(const struct entry *a, const struct entry *b)
{
	return a->file == b->file && a->size == b->size;
}

/* The one that is known of this entry, which is not its place's any more. NULL: it is new. */
static struct pl_jit_object *take_known(struct walk *w, pl_addr at, const struct entry *e)
{
	struct pl_jit_code *j = w->l->j;
	struct pl_jit_object *o;
	uint32_t i;

	if (!pl_map_get(&w->before, at, 0, &i))
		return NULL;
	o = j->objects.data[i];
	if (!equal_entries(&o->entry, e) || !is_still_there(w->l, o))
		return NULL;
	(void)pl_map_remove(&w->before, at, 0);
	j->objects.data[i] = NULL;
	w->l->kept++;
	return o;
}

/* What would be too much is left out. */
static struct plumb_error *take_entry(struct walk *w, pl_addr at, const struct entry *e)
{
	struct look *l = w->l;
	struct plumb_error *err = NULL;

	if (e->size < sizeof(Elf64_Ehdr) || e->size > OBJECT_MAX || e->size > OBJECTS_BYTES - l->bytes)
		return NULL;
	if (!pl_vec_reserve(&l->objects, 1))
		return &pl_err_no_memory;
	struct pl_jit_object *o = take_known(w, at, e);
	if (!o)
		err = read_object(l, at, e, &o);
	if (!o)
		return err;
	if (l->held + o->held > HELD_MAX) {
		object_destroy(o);
		return NULL;
	}
	l->bytes += e->size;
	l->held += o->held;
	l->objects.data[l->objects.len++] = o; /* there is room */
	return NULL;
}

static struct plumb_error *walk_list(struct walk *w, pl_addr first)
{
	struct plumb_error *err = NULL;
	struct entry e;
	uint32_t unused;

	for (pl_addr at = first; can_be_pointer(at) && w->seen.len < OBJECTS_MAX && !err; at = e.next) {
		if (pl_map_get(&w->seen, at, 0, &unused) || !look_at(w->l, at, &e, sizeof e))
			break;
		err = pl_map_set(&w->seen, at, 0, 1) ? take_entry(w, at, &e) : &pl_err_no_memory;
	}
	return err;
}

/* Lists whose heads are gone, with their library, are gone. */
static struct plumb_error *walk_lists(struct walk *w)
{
	struct pl_jit_code *j = w->l->j;
	struct plumb_error *err = NULL;
	size_t n = 0;

	for (size_t i = 0; i < j->list_count && !err; i++) {
		struct pl_jit_list list = {.at = j->lists[i].at};

		if (!look_at(w->l, list.at, &list.head, sizeof list.head) || list.head.version != VERSION)
			continue;
		j->lists[n++] = list;
		err = walk_list(w, list.head.first);
	}
	j->list_count = err ? j->list_count : n;
	return err;
}

static struct plumb_error *read_lists(struct look *l)
{
	struct walk w = {.l = l};
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < l->j->objects.len && !err; i++)
		if (!pl_map_set(&w.before, l->j->objects.data[i]->at, 0, (uint32_t)i))
			err = &pl_err_no_memory;
	err = err ? err : walk_lists(&w);
	pl_map_deinit(&w.before);
	pl_map_deinit(&w.seen);
	return err;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static int compare_tables(const void *a, const void *b)
{
	const struct pl_jit_object *x = *(struct pl_jit_object *const *)a, *y = *(struct pl_jit_object *const *)b;

	return (x->tables > y->tables) - (x->tables < y->tables);
}

static int compare_pieces(const void *a, const void *b)
{
	const struct pl_jit_piece *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* Of those that overlap it is not known which one runs. */
static void drop_overlapping(struct pl_jit_code *j)
{
	size_t n = 0;
	pl_addr end = 0;

	for (size_t i = 0; i < j->pieces.len; i++) {
		const struct pl_jit_piece p = j->pieces.data[i];

		if (p.start < end)
			n -= n && j->pieces.data[n - 1].end > p.start;
		else
			j->pieces.data[n++] = p;
		end = p.end > end ? p.end : end;
	}
	j->pieces.len = n;
}

static bool list_pieces(struct pl_jit_code *j)
{
	pl_vec_clear(&j->pieces);
	for (size_t i = 0; i < j->objects.len; i++) {
		struct pl_jit_object *o = j->objects.data[i];

		for (size_t k = 0; k < o->code.len && j->pieces.len < PIECES_MAX; k++) {
			const struct pl_elf_symbol *s = &o->code.data[k];

			if (!pl_vec_push(&j->pieces, ((struct pl_jit_piece){s->value, s->value + s->size, o})))
				return false;
		}
	}
	if (j->pieces.len)
		qsort(j->pieces.data, j->pieces.len, sizeof *j->pieces.data, compare_pieces);
	drop_overlapping(j);
	return true;
}

/* The objects of the look take the place of those from before. */
static bool take_over(struct look *l)
{
	struct pl_jit_code *j = l->j;

	for (size_t i = 0; i < j->objects.len; i++)
		object_destroy(j->objects.data[i]);
	pl_vec_clear(&j->objects);
	pl_vec_clear(&j->pieces);
	if (!pl_vec_reserve(&j->objects, l->objects.len))
		return false;
	for (size_t i = 0; i < l->objects.len; i++)
		j->objects.data[j->objects.len++] = l->objects.data[i];
	pl_vec_clear(&l->objects);
	if (j->objects.len)
		qsort(j->objects.data, j->objects.len, sizeof *j->objects.data, compare_tables);
	const bool ok = list_pieces(j);
	pl_work_note(&l->work, PIECE_WORK * j->pieces.len);
	return ok;
}

bool pl_jit_code_moved(const struct pl_jit_code *j, struct pl_mem *live)
{
	struct pl_jit_head now;

	for (size_t i = 0; i < j->list_count; i++)
		if (!pl_mem_get(live, j->lists[i].at, &now, sizeof now) ||
		    memcmp(&now, &j->lists[i].head, sizeof now) != 0)
			return true;
	return false;
}

struct plumb_error *pl_jit_code_look(struct pl_jit_code *j, struct pl_mem *live, const pl_mapping_vec *maps,
				     bool search, bool *changed_ret, uint64_t *work_ret)
{
	struct look l = {.j = j, .live = live, .work = {.most = WORK_MAX}};
	const size_t before = j->objects.len;

	if (search)
		search_lists(&l, maps);
	struct plumb_error *err = read_lists(&l);
	*changed_ret = l.kept != before || l.kept != l.objects.len;
	if (!take_over(&l))
		err = &pl_err_no_memory;
	for (size_t i = 0; i < l.objects.len; i++)
		object_destroy(l.objects.data[i]);
	pl_vec_deinit(&l.objects);
	*work_ret = l.work.spent;
	return err;
}

/* ---- use --------------------------------------------------------------------------------------------------------- */

struct pl_unwind_image pl_jit_piece_image(const struct pl_jit_piece *p)
{
	return (struct pl_unwind_image){.start = p->start,
					.end = p->end,
					.head = p->object->entry.file,
					.opened = true,
					.listed = p->object->list.data,
					.listed_count = p->object->list.len};
}

struct pl_functions *pl_jit_piece_functions(const struct pl_jit_piece *p)
{
	return p->object->functions;
}

static uint64_t last_of_tables(const void *row)
{
	const struct pl_jit_object *o = *(struct pl_jit_object *const *)row;

	return o->tables_len ? o->tables + o->tables_len - 1 : 0;
}

bool pl_jit_code_read(const struct pl_jit_code *j, pl_addr addr, void *dst, size_t len)
{
	size_t i =
		pl_lower_bound(j->objects.data, j->objects.len, sizeof(struct pl_jit_object *), last_of_tables, addr);

	if (i == j->objects.len || !in_tables(j->objects.data[i], addr, len))
		return false;
	memcpy(dst, j->objects.data[i]->bytes + (addr - j->objects.data[i]->tables), len);
	return true;
}
