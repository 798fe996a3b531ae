/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: from what was taken of a thread to the frames of a dump. */
#include "native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_stack.h"
#include "native_join.h"
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

/* One thread on its way into the dump. */
struct weaver {
	struct pl_native *n;
	struct pl_dump *d;
	const pl_dump_shown_vec *shown;
	struct pl_dump_thread *t;
	struct view view;
	uint32_t python; /* the image of the interpreter */
	pl_native_frame_vec native;
	const char **names; /* of each native frame; NULL: it has none */
	bool *is_eval;
	bool to_root;
	pl_eval_vec evals;
	pl_join_vec entries;
	enum pl_joined joined;
	pl_dump_frame_vec frames; /* what becomes of it */
};

/* ---- frames and their names -------------------------------------------------------------------------------------- */

static struct plumb_error *unwind(struct weaver *w, const struct pl_native_taken *taken)
{
	struct pl_native_place *p = &w->n->place;
	struct pl_unwinder u = {&w->view.mem, &pl_unwind_x86_64, p->images.data, p->images.len, PL_UNWIND_STEPS};
	struct pl_registers regs = taken->regs;
	size_t n = 0;
	pl_addr *anchors = calloc(w->evals.len + 1, sizeof *anchors);

	if (!anchors)
		return &pl_err_no_memory;
	for (size_t i = 0; i < w->evals.len; i++)
		if (w->evals.data[i].anchor && (n == 0 || w->evals.data[i].anchor > anchors[n - 1]))
			anchors[n++] = w->evals.data[i].anchor;
	enum pl_unwind_end end = pl_unwind_on(&u, &regs, anchors, n, &w->n->landing, &w->native);
	free(anchors);
	w->to_root = end == PL_UNWIND_ROOT;
	return end == PL_UNWIND_NO_MEMORY ? &pl_err_no_memory : NULL;
}

static struct plumb_error *name_all(struct weaver *w)
{
	size_t n = w->native.len;

	w->names = calloc(n + 1, sizeof *w->names);
	w->is_eval = calloc(n + 1, sizeof *w->is_eval);
	if (!w->names || !w->is_eval)
		return &pl_err_no_memory;
	for (size_t i = 0; i < n; i++) {
		const struct pl_native_frame *f = &w->native.data[i];

		w->names[i] = pl_native_place_name(&w->n->place, f->image, pl_native_frame_place(f), f->function);
		w->is_eval[i] = f->image == w->python && w->names[i] && pl_native_is_eval(w->names[i]);
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
	uint32_t image = w->native.data[i].image;

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
	uint32_t image = w->native.data[i].image;

	if (w->names[i])
		return pl_native_is_start(w->names[i]);
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
	const char *name = w->names[i];

	if (w->n->all || w->joined == PL_JOINED_APART)
		return true;
	if (w->is_eval[i])
		return false;
	if (!outer && inner && (in_interpreter(w, i) || starts(w, i)))
		return false;
	if (!in_interpreter(w, i))
		return true;
	return name ? !pl_native_is_plumbing(name) : !inner;
}

static struct pl_dump_text build_id_text(struct pl_dump *d, const struct pl_unwind_image *i)
{
	char text[2 * PL_BUILD_ID_MAX + 1];

	for (unsigned k = 0; k < i->build_id_len; k++)
		snprintf(text + 2 * k, 3, "%02x", i->build_id[k]);
	return pl_dump_text(d, text, 2u * i->build_id_len);
}

static struct pl_dump_frame blank_frame(struct pl_dump *d, enum pl_dump_frame_kind kind)
{
	struct pl_dump_text none = pl_dump_str(d, "");

	return (struct pl_dump_frame){.kind = kind,
				      .name = none,
				      .qualname = none,
				      .file = none,
				      .source = none,
				      .line = 0,
				      .end_line = 0,
				      .column = -1,
				      .end_column = -1,
				      .native = {.module = none, .build_id = none}};
}

static struct pl_dump_frame native_frame(struct weaver *w, uint32_t i)
{
	const struct pl_native_frame *f = &w->native.data[i];
	const struct pl_native_place *p = &w->n->place;
	struct pl_dump_frame ret = blank_frame(w->d, PL_DUMP_FRAME_NATIVE);

	ret.name = pl_dump_str(w->d, w->names[i]);
	ret.native.address = f->pc;
	ret.native.guessed = f->flags & PL_NATIVE_GUESSED;
	ret.native.signal = f->flags & PL_NATIVE_SIGNAL;
	if (f->image >= p->images.len)
		return ret;
	const struct pl_unwind_image *image = &p->images.data[f->image];
	ret.native.module = pl_dump_str(w->d, p->files.data[f->image].map->path);
	ret.native.build_id = build_id_text(w->d, image);
	ret.native.offset = f->pc - image->bias;
	ret.native.function = f->function ? f->function - image->bias : 0;
	return ret;
}

/* ---- weaving ----------------------------------------------------------------------------------------------------- */

static bool add_python(struct weaver *w, uint32_t i)
{
	uint32_t at = i < w->shown->len ? w->shown->data[i] : 0;

	if (!at || at > w->t->frames.len)
		return true;
	if (!pl_vec_push(&w->frames, w->t->frames.data[at - 1]))
		return false;
	w->t->frames.data[at - 1].locals = (pl_dump_local_vec){0}; /* it has gone with the frame */
	return true;
}

static bool add_entry(struct weaver *w, const struct pl_join_entry *e, bool inner, bool outer)
{
	switch (e->kind) {
	case PL_JOIN_PYTHON:
		return add_python(w, e->index);
	case PL_JOIN_MISSING:
		return pl_vec_push(&w->frames, blank_frame(w->d, PL_DUMP_FRAME_MISSING));
	case PL_JOIN_EVAL:
		return !w->n->all || pl_vec_push(&w->frames, native_frame(w, e->index));
	case PL_JOIN_NATIVE:
		break;
	}
	return !is_shown(w, e->index, inner, outer) || pl_vec_push(&w->frames, native_frame(w, e->index));
}

static bool add_entries(struct weaver *w)
{
	size_t outermost = 0; /* behind the last Python frame */
	bool inner = false;

	for (size_t i = 0; i < w->entries.len; i++)
		if (w->entries.data[i].kind == PL_JOIN_PYTHON)
			outermost = i + 1;
	for (size_t i = 0; i < w->entries.len; i++) {
		if (!add_entry(w, &w->entries.data[i], inner, i < outermost))
			return false;
		inner |= w->entries.data[i].kind == PL_JOIN_PYTHON;
	}
	return true;
}

static void hand_over(struct weaver *w)
{
	static const enum pl_dump_native told[] = {[PL_JOINED_WHOLE] = PL_DUMP_NATIVE_WHOLE,
						   [PL_JOINED_IN_PART] = PL_DUMP_NATIVE_IN_PART,
						   [PL_JOINED_APART] = PL_DUMP_NATIVE_APART};
	pl_dump_frame_vec old = w->t->frames;

	w->t->frames = w->frames;
	w->t->native = told[w->joined];
	w->frames = old;
}

static struct plumb_error *weave(struct weaver *w, const struct pl_native_taken *taken)
{
	struct plumb_error *err = find_evals(w, taken);

	err = err ? err : unwind(w, taken);
	err = err ? err : name_all(w);
	if (err)
		return err;
	const struct pl_join join = {.native = &w->native,
				     .to_root = w->to_root,
				     .evals = &w->evals,
				     .anchors = pl_evals_have_anchors(w->n->py),
				     .is_eval = w->is_eval};
	err = pl_native_join(&join, &w->entries, &w->joined);
	if (err)
		return err;
	if (!add_entries(w))
		return &pl_err_no_memory;
	hand_over(w);
	return NULL;
}

/* What is shown may be less than was taken: the outer part of a stack that could not be proved. */
static size_t python_frames(const pl_frame_vec *frames)
{
	size_t n = 0;

	for (size_t i = 0; i < frames->len; i++)
		n += frames->data[i].kind == PL_FRAME_PYTHON;
	return n;
}

struct plumb_error *pl_native_weave(struct pl_native *n, const struct pl_native_taken *taken, struct pl_dump *d,
				    const pl_dump_shown_vec *shown, struct pl_dump_thread *t)
{
	static const struct pl_mem_ops ops = {.read = view_read};
	struct weaver w = {.n = n,
			   .d = d,
			   .shown = shown,
			   .t = t,
			   .view = {{&ops}, taken, &n->place},
			   .python = image_of_python(n)};
	struct plumb_error *err = NULL;

	t->native = PL_DUMP_NATIVE_UNREAD;
	if (taken->taken && python_frames(&taken->frames) == shown->len)
		err = weave(&w, taken);
	pl_dump_frames_deinit(&w.frames);
	pl_vec_deinit(&w.native);
	pl_vec_deinit(&w.evals);
	pl_vec_deinit(&w.entries);
	free(w.names);
	free(w.is_eval);
	return err;
}
