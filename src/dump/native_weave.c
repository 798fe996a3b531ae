/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: from what was taken of a thread to the frames of a dump. */
#include "native_weave.h"

#include <stdio.h>
#include <string.h>

#include "code_modules.h"
#include "native_stack.h"

#define NAME_BYTES 4096 /* of a function; those of C++ have some hundreds, made-up ones any number */

/* One thread on its way into the dump. */
struct weaver {
	struct pl_native *n;
	struct pl_dump *d;
	struct pl_dump_sources *sources; /* NULL: without source lines */
	const pl_dump_shown_vec *shown;
	struct pl_dump_thread *t;
	struct pl_native_stack stack;
	pl_dump_frame_vec frames; /* what becomes of it */
};

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

static struct pl_dump_text name_of(struct weaver *w, const char *symbol)
{
	char name[PL_DEMANGLED];

	if (symbol && !pl_native_is_late(w->n) && pl_demangle(&w->n->demangler, symbol, name))
		symbol = name;
	return pl_dump_text(w->d, symbol, symbol ? strnlen(symbol, NAME_BYTES) : 0);
}

static struct pl_dump_frame native_frame(struct weaver *w, uint32_t i)
{
	const struct pl_native_frame *f = &w->stack.native.data[i];
	const struct pl_native_place *p = &w->n->place;
	struct pl_dump_frame ret = blank_frame(w->d, PL_DUMP_FRAME_NATIVE);

	ret.name = name_of(w, w->stack.names[i]);
	ret.native.address = f->pc;
	ret.native.guessed = f->flags & PL_NATIVE_GUESSED;
	ret.native.signal = f->flags & PL_NATIVE_SIGNAL;
	if (f->image >= p->images.len && ret.name.len)
		ret.native.module = pl_dump_str(w->d, PL_JIT_FILE);
	if (f->image >= p->images.len)
		return ret;
	const struct pl_unwind_image *image = &p->images.data[f->image];
	ret.native.module = pl_dump_str(w->d, p->files.data[f->image].map->path);
	ret.native.build_id = build_id_text(w->d, image);
	ret.native.offset = f->pc - image->bias;
	ret.native.function = f->function ? f->function - image->bias : 0;
	return ret;
}

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

/* A native frame on its way into those of a thread. */
struct lined {
	struct weaver *w;
	struct pl_dump_frame frame; /* the function that has the instruction, and where in its source it is */
	bool interpreter;
	bool ok; /* there was memory */
};

static void set_line(struct weaver *w, const struct pl_dwarf_place *p, struct pl_dump_frame *f)
{
	if (!p->file)
		return;
	f->file = pl_dump_str(w->d, p->file);
	f->line = (int32_t)p->line;
	if (w->sources && *p->file == '/')
		pl_dump_sources_add(w->sources, w->d, f);
}

/* What was compiled into it there has frames of its own. */
static void add_place(void *ctx, const struct pl_dwarf_place *p)
{
	struct lined *l = ctx;

	if (!p->inlined) {
		if (!l->frame.name.len)
			l->frame.name = name_of(l->w, p->function);
		set_line(l->w, p, &l->frame);
		return;
	}
	if (!p->function || (!l->w->n->all && pl_native_is_plumbing_inlined(p->function, l->interpreter)))
		return;
	struct pl_dump_frame f = l->frame;
	f.name = name_of(l->w, p->function);
	f.native.inlined = true;
	set_line(l->w, p, &f);
	l->ok &= pl_vec_push(&l->w->frames, f);
}

static bool add_native(struct weaver *w, uint32_t i)
{
	const struct pl_native_frame *f = &w->stack.native.data[i];
	struct lined l = {.w = w,
			  .frame = native_frame(w, i),
			  .interpreter = pl_native_stack_in_interpreter(w->n, &w->stack, f->image),
			  .ok = true};

	if (!pl_native_is_late(w->n))
		pl_native_place_lines(&w->n->place, f->image, pl_native_frame_place(f), add_place, &l);
	return l.ok && pl_vec_push(&w->frames, l.frame);
}

static bool add_entry(struct weaver *w, const struct pl_join_entry *e)
{
	if (e->kind == PL_JOIN_PYTHON)
		return add_python(w, e->index);
	return e->kind == PL_JOIN_MISSING ? pl_vec_push(&w->frames, blank_frame(w->d, PL_DUMP_FRAME_MISSING))
					  : add_native(w, e->index);
}

/* What the innermost function waits in. */
static bool add_kernel(struct weaver *w, const struct pl_kernel_stack *k)
{
	for (uint32_t i = 0; i < k->count; i++) {
		struct pl_dump_frame f = blank_frame(w->d, PL_DUMP_FRAME_KERNEL);

		f.name = pl_dump_str(w->d, k->names[i]);
		if (!pl_vec_push(&w->frames, f))
			return false;
	}
	return true;
}

static struct plumb_error *weave(struct weaver *w, const struct pl_native_taken *taken)
{
	static const enum pl_dump_native told[] = {[PL_JOINED_WHOLE] = PL_DUMP_NATIVE_WHOLE,
						   [PL_JOINED_IN_PART] = PL_DUMP_NATIVE_IN_PART,
						   [PL_JOINED_APART] = PL_DUMP_NATIVE_APART};
	struct plumb_error *err = pl_native_stack_make(w->n, taken, &w->stack);

	err = err ? err : pl_native_stack_choose(w->n, &w->stack);
	if (!err && w->stack.joined != PL_JOINED_APART && !add_kernel(w, &taken->kernel))
		err = &pl_err_no_memory;
	for (size_t i = 0; i < w->stack.entries.len && !err; i++)
		if (!add_entry(w, &w->stack.entries.data[i]))
			err = &pl_err_no_memory;
	if (err)
		return err;
	pl_dump_frame_vec old = w->t->frames;
	w->t->frames = w->frames;
	w->t->native = told[w->stack.joined];
	w->frames = old;
	return NULL;
}

struct plumb_error *pl_native_weave(struct pl_native *n, const struct pl_native_taken *taken, struct pl_dump *d,
				    struct pl_dump_sources *sources, const pl_dump_shown_vec *shown,
				    struct pl_dump_thread *t)
{
	struct weaver w = {.n = n, .d = d, .sources = sources, .shown = shown, .t = t};
	struct plumb_error *err = NULL;

	t->native = PL_DUMP_NATIVE_UNREAD;
	/* What is shown may be less than was taken: the outer part of a stack that could not be proved. */
	if (taken->taken && !pl_native_is_late(n) && pl_native_taken_python(taken) == shown->len)
		err = weave(&w, taken);
	pl_dump_frames_deinit(&w.frames);
	pl_native_stack_deinit(&w.stack);
	return err;
}
