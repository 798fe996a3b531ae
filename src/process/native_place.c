/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. Names are looked for when they are asked for. */
#include "native_place.h"

#include <string.h>

#include "code_modules.h"
#include "hash.h"
#include "image.h"
#include "lower_bound.h"
#include "native_methods.h"
#include "native_names.h"
#include "perf_map.h"

#define VDSO	       "[vdso]"
#define BEGINNING      1024u /* of an image: its headers, and mostly its build-id behind them */
#define BEGINNINGS_MAX 4096u /* images of which it is read: no program has so many libraries */
#define ASKED_AT_ONCE  16u   /* images, in one read */
#define MAPPING_WORK   2048u /* a line of /proc/PID/maps is made, and read */

static char jit_path[] = PL_JIT_FILE;
static const struct pl_mapping jit_map = {.path = jit_path};

static bool is_code_of_somebody(const struct pl_mapping *m)
{
	return m->inode != 0 || strcmp(m->path, VDSO) == 0;
}

static bool goes_on(const struct pl_mapping *m, const struct pl_mapping *before)
{
	return m->start == before->end && m->inode == before->inode && m->dev_major == before->dev_major &&
	       m->dev_minor == before->dev_minor && strcmp(m->path, before->path) == 0;
}

/* The loader maps all of a file in a row; between two parts there may be a hole that bears the file's name or none. */
static size_t end_of_file(const pl_mapping_vec *maps, size_t first)
{
	size_t i = first + 1;

	while (i < maps->len && goes_on(&maps->data[i], &maps->data[i - 1]))
		i++;
	return i;
}

static bool add_image(const pl_mapping_vec *maps, size_t first, size_t end, struct pl_native_place *p)
{
	struct pl_unwind_image i = {.start = maps->data[first].start, .end = maps->data[end - 1].end};
	struct pl_native_file f = {.data_end = i.end};

	if (end < maps->len && maps->data[end].start == i.end && !maps->data[end].inode && !*maps->data[end].path)
		f.data_end = maps->data[end].end;
	for (size_t k = first; k < end; k++) {
		const struct pl_mapping *m = &maps->data[k];

		if (m->offset == 0 && !i.head)
			i.head = m->start;
		if (m->executable && !f.map)
			f.map = m;
	}
	if (!f.map)
		return true;
	f.greenlets = pl_native_has_greenlets(f.map->path);
	if (!pl_vec_push(&p->images, i))
		return false;
	return pl_vec_push(&p->files, f);
}

bool pl_native_images_of(const pl_mapping_vec *maps, struct pl_native_place *p)
{
	for (size_t first = 0, end; first < maps->len; first = end) {
		end = end_of_file(maps, first);
		const struct pl_mapping *m = &maps->data[first];
		bool sorted = !p->images.len || m->start >= p->images.data[p->images.len - 1].end;

		if (is_code_of_somebody(m) && sorted && !add_image(maps, first, end, p))
			return false;
	}
	return true;
}

static uint64_t beginning_of(const struct pl_native_place *p, uint32_t i)
{
	uint8_t bytes[BEGINNING];
	const pl_addr head = p->images.data[i].head;

	return head && pl_mem_get(p->live, head, bytes, sizeof bytes) ? pl_hash_bytes(bytes, sizeof bytes) : 0;
}

static bool holds(const struct pl_native_place *p, uint32_t i)
{
	return !p->files.data[i].begun || p->files.data[i].beginning == beginning_of(p, i);
}

/* Where one of them cannot be read it is asked one by one which that is: it may have been so before. */
static bool hold(const struct pl_native_place *p, const uint32_t *images, uint32_t count)
{
	struct pl_range ranges[ASKED_AT_ONCE];
	uint8_t bytes[ASKED_AT_ONCE][BEGINNING];
	bool all = true;

	for (uint32_t i = 0; i < count; i++)
		ranges[i] = (struct pl_range){p->images.data[images[i]].head, BEGINNING};
	const bool read = pl_mem_get_all(p->live, ranges, count, bytes);
	for (uint32_t i = 0; i < count && all; i++)
		all = read ? p->files.data[images[i]].beginning == pl_hash_bytes(bytes[i], BEGINNING)
			   : holds(p, images[i]);
	return all;
}

bool pl_native_place_holds(const struct pl_native_place *p, const uint32_t *images, uint32_t count)
{
	uint32_t begun[PL_NATIVE_ASKED], n = 0;

	for (uint32_t i = 0; i < count; i++)
		if (p->files.data[images[i]].begun)
			begun[n++] = images[i];
	for (uint32_t i = 0; i < n; i += ASKED_AT_ONCE)
		if (!hold(p, begun + i, n - i < ASKED_AT_ONCE ? n - i : ASKED_AT_ONCE))
			return false;
	return true;
}

static void read_beginnings(struct pl_native_place *p)
{
	for (uint32_t i = 0; i < p->files.len && i < BEGINNINGS_MAX; i++) {
		p->files.data[i].begun = p->images.data[i].head != 0;
		p->files.data[i].beginning = beginning_of(p, i);
		p->look_work += PL_NATIVE_ASK_WORK;
	}
}

/* Of one whose view of files cannot be told what is open to all may be shown, and nothing by way of itself. */
static struct plumb_error *look(struct pl_native_place *p)
{
	if (!pl_file_view_of(p->pid, &p->seen)) {
		memset(&p->seen, 0, sizeof p->seen);
		pl_rights_of_all(&p->seen.rights);
	}
	struct plumb_error *err = pl_maps_read(p->pid, &p->maps);

	if (!err && !pl_native_images_of(&p->maps, p))
		err = &pl_err_no_memory;
	p->look_work = MAPPING_WORK * p->maps.len;
	if (!err)
		read_beginnings(p);
	return err;
}

/* ---- code of JIT compilers --------------------------------------------------------------------------------------- */

static bool push_piece(struct pl_native_place *p, const struct pl_jit_piece *piece)
{
	const struct pl_native_file f = {.map = &jit_map, .jit = piece, .asked = true, .data_end = piece->end};

	return pl_vec_push(&p->images, pl_jit_piece_image(piece)) && pl_vec_push(&p->files, f);
}

/* Those of files, which are sorted, and the pieces between them; a piece that lies where a file is mapped is none. */
static bool merge(struct pl_native_place *p, const struct pl_native_place *files)
{
	const struct pl_jit_code *j = &p->jit;
	const size_t n = files->images.len;
	size_t k = 0;
	pl_addr end = 0;

	for (size_t i = 0; i <= n; i++) {
		const pl_addr start = i < n ? files->images.data[i].start : UINT64_MAX;

		for (; k < j->pieces.len && j->pieces.data[k].start < start; k++)
			if (j->pieces.data[k].start >= end && j->pieces.data[k].end <= start &&
			    !push_piece(p, &j->pieces.data[k]))
				return false;
		if (i == n)
			break;
		if (!pl_vec_push(&p->images, files->images.data[i]) || !pl_vec_push(&p->files, files->files.data[i]))
			return false;
		end = files->images.data[i].end;
	}
	return true;
}

/* To the images of files, those of code that is in none. */
static struct plumb_error *add_pieces(struct pl_native_place *p)
{
	struct pl_native_place files = {0};

	if (!p->jit.pieces.len)
		return NULL;
	memcpy(&files.images, &p->images, sizeof files.images);
	memcpy(&files.files, &p->files, sizeof files.files);
	memset(&p->images, 0, sizeof p->images);
	memset(&p->files, 0, sizeof p->files);
	const bool merged = merge(p, &files);
	if (!merged) { /* as it was */
		pl_vec_deinit(&p->images);
		pl_vec_deinit(&p->files);
		memcpy(&p->images, &files.images, sizeof files.images);
		memcpy(&p->files, &files.files, sizeof files.files);
		return &pl_err_no_memory;
	}
	pl_vec_deinit(&files.images);
	pl_vec_deinit(&files.files);
	return NULL;
}

static struct plumb_error *look_at_jit(struct pl_native_place *p, bool search, bool *changed_ret)
{
	uint64_t work;
	struct plumb_error *err = pl_jit_code_look(&p->jit, p->live, &p->maps, search, changed_ret, &work);

	p->look_work += work;
	return err ? err : add_pieces(p);
}

bool pl_native_place_has_new_jit(const struct pl_native_place *p)
{
	return pl_jit_code_moved(&p->jit, p->live);
}

/* ------------------------------------------------------------------------------------------------------------------ */

struct plumb_error *pl_native_place_init(struct pl_native_place *p, pid_t pid, struct pl_mem *live)
{
	bool changed;

	*p = (struct pl_native_place){
		.pid = pid, .live = live, .work = {.most = PL_IMAGE_WORK}, .lines_work = {.most = PL_IMAGE_WORK}};
	struct plumb_error *err = pl_mem_pages_create(live, &p->pages);

	err = err ? err : pl_unwind_rules_create(&p->rules);
	err = err ? err : look(p);
	return err ? err : look_at_jit(p, true, &changed);
}

void pl_native_place_deinit(struct pl_native_place *p)
{
	for (size_t i = 0; i < p->files.len; i++) {
		pl_functions_destroy(p->files.data[i].functions);
		pl_dwarf_close(p->files.data[i].lines);
	}
	pl_vec_deinit(&p->files);
	pl_vec_deinit(&p->images);
	pl_maps_deinit(&p->maps);
	pl_jit_code_deinit(&p->jit);
	pl_functions_destroy(p->perf_map);
	pl_mem_pages_destroy(p->pages);
	pl_unwind_rules_destroy(p->rules);
}

static bool same_image(const struct pl_native_place *a, size_t i, const struct pl_native_place *b, size_t k)
{
	const struct pl_mapping *x = a->files.data[i].map, *y = b->files.data[k].map;

	return !a->files.data[i].jit && a->files.data[i].beginning == b->files.data[k].beginning &&
	       a->images.data[i].start == b->images.data[k].start && a->images.data[i].end == b->images.data[k].end &&
	       x->inode == y->inode && x->dev_major == y->dev_major && x->dev_minor == y->dev_minor &&
	       strcmp(x->path, y->path) == 0;
}

/* What is known of an image of @p from goes over to the same one of @p to. Both are sorted. Returns how many stay. */
static size_t hand_over(struct pl_native_place *from, struct pl_native_place *to)
{
	const bool same_view = pl_file_view_equal(&from->seen, &to->seen);
	size_t kept = 0;

	for (size_t i = 0, k = 0; i < from->images.len && k < to->images.len;) {
		if (!same_image(from, i, to, k)) {
			if (from->images.data[i].start < to->images.data[k].start)
				i++;
			else
				k++;
			continue;
		}
		to->images.data[k] = from->images.data[i];
		to->files.data[k].functions = from->files.data[i].functions;
		to->files.data[k].asked = from->files.data[i].asked;
		to->files.data[k].lines = from->files.data[i].lines;
		to->files.data[k].lines_asked = from->files.data[i].lines_asked;
		to->files.data[k].module = same_view ? from->files.data[i].module : NULL;
		from->files.data[i].functions = NULL;
		from->files.data[i].lines = NULL;
		i++, k++, kept++;
	}
	return kept;
}

static size_t of_files(const struct pl_native_place *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->files.len; i++)
		n += !p->files.data[i].jit;
	return n;
}

struct plumb_error *pl_native_place_look(struct pl_native_place *p, bool *changed_ret)
{
	struct pl_native_place now = {.pid = p->pid,
				      .live = p->live,
				      .pages = p->pages,
				      .rules = p->rules,
				      .work = p->work,
				      .lines_work = p->lines_work};
	struct plumb_error *err = look(&now);
	bool jit_changed = false;

	*changed_ret = false;
	p->look_work = now.look_work;
	if (!err) {
		const size_t before_files = of_files(p);
		size_t kept = hand_over(p, &now);
		struct pl_native_place before = *p;

		*changed_ret = kept != now.images.len || kept != before_files;
		now.jit = p->jit;
		memset(&before.jit, 0, sizeof before.jit);
		err = look_at_jit(&now, *changed_ret || !now.jit.list_count, &jit_changed);
		*changed_ret |= jit_changed;
		pl_mem_pages_forget(now.pages);
		pl_unwind_rules_forget(now.rules);
		*p = now;
		now = before;
	}
	now.pages = NULL;
	now.rules = NULL;
	pl_native_place_deinit(&now);
	return err;
}

static uint64_t last_address(const void *row)
{
	return ((const struct pl_mapping *)row)->end - 1;
}

/* NULL: none has it. */
static const struct pl_mapping *mapping_at(const struct pl_native_place *p, pl_addr addr)
{
	size_t i = pl_lower_bound(p->maps.data, p->maps.len, sizeof *p->maps.data, last_address, addr);

	return i < p->maps.len && p->maps.data[i].start <= addr ? &p->maps.data[i] : NULL;
}

uint64_t pl_native_place_room(const struct pl_native_place *p, pl_addr addr)
{
	const struct pl_mapping *m = mapping_at(p, addr);

	return m ? m->end - addr : 0;
}

bool pl_native_place_is_code(const struct pl_native_place *p, pl_addr addr, uint64_t len)
{
	const struct pl_mapping *m = mapping_at(p, addr);

	return m && m->executable && len <= m->end - addr;
}

static uint64_t last_of_data(const void *row)
{
	return ((const struct pl_native_file *)row)->data_end - 1;
}

uint32_t pl_native_place_owner(const struct pl_native_place *p, pl_addr addr)
{
	size_t i = pl_lower_bound(p->files.data, p->files.len, sizeof *p->files.data, last_of_data, addr);

	return i < p->files.len && p->images.data[i].start <= addr ? (uint32_t)i : PL_NO_IMAGE;
}

static void ask(struct pl_native_place *p, uint32_t i, void (*more)(const struct pl_elf *e, struct pl_functions *f))
{
	const struct pl_mapped_place where = {p->pid, &p->seen, &p->maps, p->live, &p->work, more};
	const struct pl_unwind_image *image = &p->images.data[i];
	struct pl_native_file *f = &p->files.data[i];

	f->asked = true;
	plumb_error_destroy(pl_mapped_functions(&where, f->map, image->build_id, image->build_id_len, &f->functions));
}

void pl_native_place_read_evals(struct pl_native_place *p, uint32_t i)
{
	struct pl_native_file *f = &p->files.data[i];

	if (f->jit)
		return;
	pl_unwind_image_open(&p->images.data[i], pl_mem_pages_mem(p->pages), &pl_unwind_x86_64);
	if (!f->asked)
		ask(p, i, NULL);
	if (!f->functions)
		return;
	pl_functions_keep(f->functions, pl_native_is_eval);
	pl_functions_sort(f->functions);
}

const char *pl_native_place_name(struct pl_native_place *p, uint32_t i, pl_addr place, pl_addr begin)
{
	if (i >= p->images.len || !p->images.data[i].opened)
		return NULL;
	if (p->files.data[i].jit)
		return pl_functions_find(pl_jit_piece_functions(p->files.data[i].jit), place, begin);
	if (!p->files.data[i].asked)
		ask(p, i, pl_native_methods_add);
	if (!p->files.data[i].functions)
		return NULL;
	uint64_t bias = p->images.data[i].bias;
	return pl_functions_find(p->files.data[i].functions, place - bias, begin ? begin - bias : 0);
}

const char *pl_native_place_perf_name(struct pl_native_place *p, pl_addr place)
{
	if (!p->perf_map_asked)
		plumb_error_destroy(pl_perf_map_functions(p->pid, &p->seen, &p->work, &p->perf_map));
	p->perf_map_asked = true;
	return p->perf_map ? pl_functions_find(p->perf_map, place, 0) : NULL;
}

static void ask_for_lines(struct pl_native_place *p, uint32_t i)
{
	const struct pl_mapped_place where = {p->pid, &p->seen, &p->maps, p->live, &p->lines_work, NULL};
	const struct pl_unwind_image *image = &p->images.data[i];
	struct pl_native_file *f = &p->files.data[i];

	f->lines_asked = true;
	plumb_error_destroy(pl_mapped_lines(&where, f->map, image->build_id, image->build_id_len, &f->lines));
}

void pl_native_place_lines(struct pl_native_place *p, uint32_t i, pl_addr place,
			   void (*tell)(void *ctx, const struct pl_dwarf_place *p), void *ctx)
{
	if (i >= p->images.len || !p->images.data[i].opened || p->files.data[i].jit)
		return;
	if (!p->files.data[i].lines_asked)
		ask_for_lines(p, i);
	if (p->files.data[i].lines)
		pl_dwarf_places(p->files.data[i].lines, place - p->images.data[i].bias, tell, ctx);
}
