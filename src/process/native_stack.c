/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See native_stack.h. */
#include "native_stack.h"

#include <stdlib.h>
#include <string.h>

#include "c_stack.h"
#include "native_names.h"

/* The stack as it was, and of what is mapped the images. */
struct view {
	struct pl_mem mem;
	const struct pl_native_taken *taken;
	struct pl_native_place *place;
};

static struct plumb_error *view_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct view *v = (struct view *)mem;
	const struct pl_native_taken *t = v->taken;
	const struct pl_unwind_image *i;

	if (addr >= t->at && addr - t->at <= t->len && len <= t->len - (addr - t->at)) {
		memcpy(dst, t->stack + (addr - t->at), len);
		return NULL;
	}
	i = pl_unwind_image_at(v->place->images.data, v->place->images.len, addr);
	return i && len <= i->end - addr ? pl_mem_read(pl_mem_pages_mem(v->place->pages), addr, dst, len)
					 : &pl_err_unreadable;
}

/* One stack on its way. */
struct weaver {
	struct pl_native *n;
	struct pl_native_stack *s;
	struct view view;
	uint32_t python; /* the image of the interpreter */
	bool *is_eval;	 /* of each native frame */
	bool to_root;
	pl_eval_vec evals;
	pl_join_vec entries; /* all of them */
};

/* ---- frames and their names -------------------------------------------------------------------------------------- */

static struct plumb_error *unwind(struct weaver *w, const struct pl_native_taken *taken)
{
	struct pl_native_place *p = &w->n->place;
	struct pl_unwinder u = {&w->view.mem, &pl_unwind_x86_64, p->images.data, p->images.len, w->n->steps, p->rules};
	struct pl_registers regs = taken->regs;
	size_t n = 0;
	pl_addr *anchors = calloc(w->evals.len + 1, sizeof *anchors);

	if (!anchors)
		return &pl_err_no_memory;
	for (size_t i = 0; i < w->evals.len; i++)
		if (w->evals.data[i].anchor && (n == 0 || w->evals.data[i].anchor > anchors[n - 1]))
			anchors[n++] = w->evals.data[i].anchor;
	enum pl_unwind_end end = pl_unwind_on(&u, &regs, anchors, n, &w->n->landing, &w->s->native);
	free(anchors);
	w->to_root = end == PL_UNWIND_ROOT;
	return end == PL_UNWIND_NO_MEMORY ? &pl_err_no_memory : NULL;
}

static struct plumb_error *name_all(struct weaver *w)
{
	size_t n = w->s->native.len;

	w->s->names = calloc(n + 1, sizeof *w->s->names);
	w->is_eval = calloc(n + 1, sizeof *w->is_eval);
	if (!w->s->names || !w->is_eval)
		return &pl_err_no_memory;
	for (size_t i = 0; i < n; i++) {
		const struct pl_native_frame *f = &w->s->native.data[i];

		w->s->names[i] = pl_native_place_name(&w->n->place, f->image, pl_native_frame_place(f), f->function);
		w->is_eval[i] = f->image == w->python && w->s->names[i] && pl_native_is_eval(w->s->names[i]);
	}
	return NULL;
}

static uint32_t image_of_python(const struct pl_native *n)
{
	uint32_t i = pl_native_place_owner(&n->place, n->py->runtime);

	return i != PL_NO_IMAGE ? i : pl_native_place_owner(&n->place, n->py->interp_head);
}

static struct plumb_error *find_evals(struct weaver *w, const struct pl_native_taken *taken)
{
	struct plumb_error *err = pl_evals_find(&w->view.mem, w->n->py, taken->cframe, &taken->frames, &w->evals);

	if (err == &pl_err_no_memory)
		return err;
	/* Those that were found can be placed; the rest is left over then, and the frames are not mixed. */
	plumb_error_destroy(err);
	return NULL;
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static bool in_interpreter(const struct weaver *w, uint32_t i)
{
	const struct pl_native_place *p = &w->n->place;
	uint32_t image = w->s->native.data[i].image;

	if (image == w->python)
		return true;
	if (image >= p->files.len)
		return false;
	const char *slash = strrchr(p->files.data[image].map->path, '/');
	return slash && strncmp(slash + 1, "python", 6) == 0; /* the program, where libpython is a library */
}

/* What starts programs and threads has no name where the C library was stripped. */
static bool starts(const struct weaver *w, uint32_t i)
{
	static const char *const libraries[] = {"libc.so", "libc-", "ld-", "libpthread"};
	uint32_t image = w->s->native.data[i].image;

	if (w->s->names[i])
		return pl_native_is_start(w->s->names[i]);
	if (image >= w->n->place.files.len)
		return false;
	const char *slash = strrchr(w->n->place.files.data[image].map->path, '/');
	for (size_t k = 0; slash && k < sizeof libraries / sizeof *libraries; k++)
		if (strncmp(slash + 1, libraries[k], strlen(libraries[k])) == 0)
			return true;
	return false;
}

/* @p inner: frames of Python or of others were inside of it; @p outer: there are Python frames outside. */
static bool is_shown(const struct weaver *w, uint32_t i, bool inner, bool outer)
{
	const char *name = w->s->names[i];

	if (w->n->all || w->s->joined == PL_JOINED_APART)
		return true;
	if (w->is_eval[i])
		return false;
	if (!outer && inner && (in_interpreter(w, i) || starts(w, i)))
		return false;
	if (!in_interpreter(w, i))
		return true;
	return name ? !pl_native_is_plumbing(name) : !inner;
}

static bool wanted(const struct weaver *w, const struct pl_join_entry *e, bool inner, bool outer)
{
	switch (e->kind) {
	case PL_JOIN_PYTHON:
	case PL_JOIN_MISSING:
		return true;
	case PL_JOIN_EVAL:
		return w->n->all;
	case PL_JOIN_NATIVE:
		break;
	}
	return is_shown(w, e->index, inner, outer);
}

static struct plumb_error *choose(struct weaver *w)
{
	size_t outermost = 0; /* behind the last Python frame */
	bool inner = false;

	for (size_t i = 0; i < w->entries.len; i++)
		if (w->entries.data[i].kind == PL_JOIN_PYTHON)
			outermost = i + 1;
	for (size_t i = 0; i < w->entries.len; i++) {
		const struct pl_join_entry *e = &w->entries.data[i];

		if (wanted(w, e, inner, i < outermost) && !pl_vec_push(&w->s->entries, *e))
			return &pl_err_no_memory;
		inner |= e->kind == PL_JOIN_PYTHON;
	}
	return NULL;
}

static struct plumb_error *make(struct weaver *w, const struct pl_native_taken *taken)
{
	struct plumb_error *err = find_evals(w, taken);

	err = err ? err : unwind(w, taken);
	err = err ? err : name_all(w);
	if (err)
		return err;
	const struct pl_join join = {.native = &w->s->native,
				     .to_root = w->to_root,
				     .evals = &w->evals,
				     .anchors = pl_evals_have_anchors(w->n->py),
				     .is_eval = w->is_eval};
	err = pl_native_join(&join, &w->entries, &w->s->joined);
	return err ? err : choose(w);
}

struct plumb_error *pl_native_stack_make(struct pl_native *n, const struct pl_native_taken *taken,
					 struct pl_native_stack *ret)
{
	static const struct pl_mem_ops ops = {.read = view_read};
	struct weaver w = {.n = n, .s = ret, .view = {{&ops}, taken, &n->place}, .python = image_of_python(n)};

	*ret = (struct pl_native_stack){0};
	struct plumb_error *err = make(&w, taken);
	pl_vec_deinit(&w.evals);
	pl_vec_deinit(&w.entries);
	free(w.is_eval);
	return err;
}

void pl_native_stack_deinit(struct pl_native_stack *s)
{
	pl_vec_deinit(&s->entries);
	pl_vec_deinit(&s->native);
	free(s->names);
	*s = (struct pl_native_stack){0};
}
