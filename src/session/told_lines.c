/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session. What is told is kept as long as the profile is written anew. */
#include "told_lines.h"

#include <stdlib.h>
#include <string.h>

#include "vec.h"

/* A location whose functions are told, the innermost first. */
struct asked {
	struct pl_strtab *texts;
	PL_VEC(struct pl_told_frame) found;
	struct plumb_error *err;
};

struct plumb_error *pl_told_lines_init(struct pl_told_lines *l, const struct plumb_profile *p)
{
	l->count = p->location_count;
	l->told = calloc((size_t)l->count + 1, sizeof *l->told);
	return l->told ? pl_strtab_create(&l->texts) : &pl_err_no_memory;
}

void pl_told_lines_deinit(struct pl_told_lines *l)
{
	for (uint32_t i = 0; l->told && i < l->count; i++)
		free((struct pl_told_frame *)l->told[i].frames);
	free(l->told);
	pl_strtab_destroy(l->texts);
}

/* NULL stays NULL. */
static struct plumb_error *keep_text(struct pl_strtab *texts, const char *text, const char **ret)
{
	uint32_t id;
	struct plumb_error *err = text ? pl_strtab_add(texts, text, strlen(text), &id) : NULL;

	*ret = text && !err ? pl_strtab_get(texts, id, NULL) : NULL;
	return err;
}

static void take_place(void *ctx, const struct pl_late_place *p)
{
	struct asked *a = ctx;
	struct pl_told_frame f = {.line = p->line, .plumbing = p->plumbing};

	if (!a->err)
		a->err = keep_text(a->texts, p->name, &f.name);
	if (!a->err)
		a->err = keep_text(a->texts, p->source, &f.source);
	if (!a->err && !pl_vec_push(&a->found, f))
		a->err = &pl_err_no_memory;
}

static void reverse(struct pl_told_frame *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct pl_told_frame f = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = f;
	}
}

struct plumb_error *pl_told_lines_add(struct pl_told_lines *l, struct pl_late_symbols *s, uint32_t location,
				      uint64_t address)
{
	struct asked a = {.texts = l->texts};
	bool left_out;

	pl_late_symbols_places(s, address, take_place, &a, &left_out);
	l->left_out += left_out;
	if (a.err || left_out || !a.found.len) {
		pl_vec_deinit(&a.found);
		return a.err;
	}
	reverse(a.found.data, a.found.len);
	l->told[location] = (struct pl_told){.frames = a.found.data, .count = a.found.len};
	l->told_count++;
	return NULL;
}
