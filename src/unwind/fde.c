/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem; allocates only to list. Source: LSB core, "Exception frames"; DWARF 5, 6.4.1. */
#include "fde.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "steps.h"

#define AUGMENTATION_MAX 8
#define LONG_LENGTH	 0xffffffffu
#define LIST_STEPS	 40

/* Head of a CIE or FDE: its length, then where it refers to. */
static bool begin(struct pl_mem *mem, pl_addr at, struct pl_bytes *b, uint64_t *refers, pl_addr *place)
{
	uint64_t len;

	pl_bytes_init(b, mem, at, at + 12);
	if (!pl_bytes_uint(b, 4, &len))
		return false;
	if (len == LONG_LENGTH && !pl_bytes_uint(b, 8, &len))
		return false;
	if (len == 0 || len > PL_FDE_BYTES)
		return false;
	pl_bytes_init(b, mem, b->at, b->at + len);
	*place = b->at;
	return pl_bytes_uint(b, 4, refers);
}

static bool read_augmentation(struct pl_bytes *b, char ret[AUGMENTATION_MAX])
{
	for (int i = 0; i < AUGMENTATION_MAX; i++) {
		if (!pl_bytes_u8(b, (uint8_t *)&ret[i]))
			return false;
		if (!ret[i])
			return true;
	}
	return false;
}

/* What the letters say, one after the other. */
static bool read_letter(struct pl_bytes *b, char letter, struct pl_fde *f)
{
	uint8_t encoding;
	pl_addr ignored;

	switch (letter) {
	case 'R':
		return pl_bytes_u8(b, &f->encoding);
	case 'L':
		return pl_bytes_u8(b, &encoding);
	case 'P':
		return pl_bytes_u8(b, &encoding) && pl_bytes_pointer(b, encoding & PL_POINTER_FORMAT, 0, &ignored);
	case 'S':
		f->signal = true;
		return true;
	default:
		return false;
	}
}

static bool read_extras(struct pl_bytes *b, const char *letters, struct pl_fde *f)
{
	uint64_t len;
	pl_addr end;

	if (letters[0] != 'z' || !pl_bytes_uleb(b, &len) || len > b->end - b->at)
		return letters[0] == '\0';
	end = b->at + len;
	for (const char *p = letters + 1; *p; p++)
		if (!read_letter(b, *p, f))
			return false;
	return b->at <= end && pl_bytes_skip(b, end - b->at);
}

static bool read_cie(struct pl_mem *mem, pl_addr at, struct pl_fde *f, bool *extras)
{
	char letters[AUGMENTATION_MAX];
	uint64_t id;
	pl_addr place;
	uint8_t version, column;
	struct pl_bytes b;

	if (!begin(mem, at, &b, &id, &place) || id != 0 || !pl_bytes_u8(&b, &version))
		return false;
	if ((version != 1 && version != 3) || !read_augmentation(&b, letters) || !pl_bytes_uleb(&b, &f->code_align) ||
	    !pl_bytes_sleb(&b, &f->data_align))
		return false;
	if (version == 1 && pl_bytes_u8(&b, &column))
		f->pc_column = column;
	else if (version == 1 || !pl_bytes_uleb(&b, &f->pc_column))
		return false;
	*extras = letters[0] == 'z';
	f->shared = (struct pl_cfi_program){.to = b.end};
	if (!read_extras(&b, letters, f))
		return false;
	f->shared.from = b.at;
	return true;
}

static bool read_fde(struct pl_mem *mem, pl_addr at, struct pl_fde *f)
{
	uint64_t back, len = 0;
	struct pl_bytes b;
	pl_addr place;
	bool extras;

	if (!begin(mem, at, &b, &back, &place) || back == 0 || !read_cie(mem, place - back, f, &extras))
		return false;
	if (!pl_bytes_pointer(&b, f->encoding, 0, &f->start) ||
	    !pl_bytes_pointer(&b, f->encoding & PL_POINTER_FORMAT, 0, &len) || f->start + len < f->start)
		return false;
	f->end = f->start + len;
	len = 0;
	if (extras && (!pl_bytes_uleb(&b, &len) || !pl_bytes_skip(&b, len)))
		return false;
	f->own = (struct pl_cfi_program){b.at, b.end};
	return true;
}

static int compare_places(const void *a, const void *b)
{
	const struct pl_fde_place *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

bool pl_fde_list(struct pl_mem *mem, pl_addr from, pl_addr to, size_t *steps, pl_fde_place_vec *ret)
{
	uint64_t refers;
	struct pl_bytes b;
	pl_addr place;

	for (pl_addr at = from; at < to && pl_steps_take(steps, LIST_STEPS); at = b.end) {
		struct pl_fde f = {0};

		if (!begin(mem, at, &b, &refers, &place) || b.end <= at || b.end > to)
			break;
		if (refers != 0 && read_fde(mem, at, &f) && !pl_vec_push(ret, ((struct pl_fde_place){f.start, at})))
			return false;
	}
	if (ret->len)
		qsort(ret->data, ret->len, sizeof *ret->data, compare_places);
	return true;
}

bool pl_fde_find(const struct pl_unwind_image *i, struct pl_mem *mem, pl_addr pc, struct pl_fde *ret)
{
	struct pl_fde f = {0};
	pl_addr at;

	if (!pl_unwind_image_search(i, mem, pc, &at) || !read_fde(mem, at, &f) || pc < f.start || pc >= f.end)
		return false;
	*ret = f;
	return true;
}
