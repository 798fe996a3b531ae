/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. Names are looked for when they are asked for. */
#include "native_place.h"

#include <string.h>

#include "image.h"
#include "lower_bound.h"
#include "native_methods.h"
#include "native_names.h"

#define VDSO "[vdso]"

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
	return err;
}

struct plumb_error *pl_native_place_init(struct pl_native_place *p, pid_t pid, struct pl_mem *live)
{
	*p = (struct pl_native_place){.pid = pid, .live = live, .work = {.most = PL_IMAGE_WORK}};
	struct plumb_error *err = pl_mem_pages_create(live, &p->pages);

	err = err ? err : pl_unwind_rules_create(&p->rules);
	return err ? err : look(p);
}

void pl_native_place_deinit(struct pl_native_place *p)
{
	for (size_t i = 0; i < p->files.len; i++)
		pl_functions_destroy(p->files.data[i].functions);
	pl_vec_deinit(&p->files);
	pl_vec_deinit(&p->images);
	pl_maps_deinit(&p->maps);
	pl_mem_pages_destroy(p->pages);
	pl_unwind_rules_destroy(p->rules);
}

static bool same_image(const struct pl_native_place *a, size_t i, const struct pl_native_place *b, size_t k)
{
	const struct pl_mapping *x = a->files.data[i].map, *y = b->files.data[k].map;

	return a->images.data[i].start == b->images.data[k].start && a->images.data[i].end == b->images.data[k].end &&
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
		to->files.data[k].module = same_view ? from->files.data[i].module : NULL;
		from->files.data[i].functions = NULL;
		i++, k++, kept++;
	}
	return kept;
}

struct plumb_error *pl_native_place_look(struct pl_native_place *p, bool *changed_ret)
{
	struct pl_native_place now = {
		.pid = p->pid, .live = p->live, .pages = p->pages, .rules = p->rules, .work = p->work};
	struct plumb_error *err = look(&now);

	*changed_ret = false;
	if (!err) {
		size_t kept = hand_over(p, &now);
		struct pl_native_place before = *p;

		*changed_ret = kept != now.images.len || kept != p->images.len;
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
	if (!p->files.data[i].asked)
		ask(p, i, pl_native_methods_add);
	if (!p->files.data[i].functions)
		return NULL;
	uint64_t bias = p->images.data[i].bias;
	return pl_functions_find(p->files.data[i].functions, place - bias, begin ? begin - bias : 0);
}
