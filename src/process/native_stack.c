/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See native_stack.h. */
#include "native_stack.h"

#include <stdlib.h>
#include <string.h>

#include "c_stack.h"

#define READ_STEPS 64 /* a page that nobody has a copy of: a system call */

/* The stack as it was, and of what is mapped the images. */
struct view {
	struct pl_mem mem;
	const struct pl_native_taken *taken;
	struct pl_native_place *place;
	uint64_t reads; /* of its pages, and no more */
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
	if (pl_jit_code_read(&v->place->jit, addr, dst, len))
		return NULL;
	if (pl_mem_pages_reads(v->place->pages) >= v->reads)
		return &pl_err_limit;
	i = pl_unwind_image_at(v->place->images.data, v->place->images.len, addr);
	return i && len <= i->end - addr ? pl_mem_read(pl_mem_pages_mem(v->place->pages), addr, dst, len)
					 : &pl_err_unreadable;
}

/* Of what is mapped the code, as it is now: code that is in no image, too. */
struct code {
	struct pl_mem mem;
	const struct pl_native_place *place;
};

static struct plumb_error *code_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	const struct pl_native_place *p = ((struct code *)mem)->place;

	return pl_native_place_is_code(p, addr, len) ? pl_mem_read(p->live, addr, dst, len) : &pl_err_unreadable;
}

/* One stack on its way. */
struct weaver {
	struct pl_native *n;
	struct pl_native_stack *s;
	struct view view;
	struct code code;
	bool *is_eval; /* of each native frame */
	bool to_root;
	pl_eval_vec evals;
};

/* ---- frames and their names -------------------------------------------------------------------------------------- */

static struct plumb_error *unwind(struct weaver *w, const struct pl_native_taken *taken)
{
	struct pl_native_place *p = &w->n->place;
	struct pl_unwinder u = {&w->view.mem, &pl_unwind_x86_64, p->images.data, p->images.len,
				w->n->steps,  p->rules,		 &w->code.mem};
	struct pl_registers regs = taken->regs;
	const uint64_t before = pl_mem_pages_reads(p->pages);
	size_t n = 0;
	pl_addr *anchors = calloc(w->evals.len + 1, sizeof *anchors);

	if (!anchors)
		return &pl_err_no_memory;
	for (size_t i = 0; i < w->evals.len; i++)
		if (w->evals.data[i].anchor && (n == 0 || w->evals.data[i].anchor > anchors[n - 1]))
			anchors[n++] = w->evals.data[i].anchor;
	w->view.reads = before + w->n->steps / READ_STEPS;
	enum pl_unwind_end end = pl_unwind_on(&u, &regs, anchors, n, &w->n->landing, &w->s->native);
	free(anchors);
	w->s->steps =
		w->n->steps - u.steps + w->evals.len + (size_t)(pl_mem_pages_reads(p->pages) - before) * READ_STEPS;
	w->to_root = end == PL_UNWIND_ROOT;
	return end == PL_UNWIND_NO_MEMORY ? &pl_err_no_memory : NULL;
}

static const char *name_of(struct pl_native *n, const struct pl_native_frame *f)
{
	return pl_native_place_name(&n->place, f->image, pl_native_frame_place(f), f->function);
}

/* Only where evaluations have no anchors: the names of the interpreter are there then. */
static struct plumb_error *tell_evals(struct weaver *w)
{
	size_t n = w->s->native.len;

	if (pl_evals_have_anchors(w->n->py))
		return NULL;
	w->is_eval = calloc(n + 1, sizeof *w->is_eval);
	if (!w->is_eval)
		return &pl_err_no_memory;
	for (size_t i = 0; i < n; i++) {
		const struct pl_native_frame *f = &w->s->native.data[i];
		const char *name = f->image == w->s->python ? name_of(w->n, f) : NULL;

		w->is_eval[i] = name && pl_native_is_eval(name);
	}
	return NULL;
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

static struct pl_join join_of(const struct weaver *w)
{
	return (struct pl_join){.native = &w->s->native,
				.to_root = w->to_root,
				.evals = &w->evals,
				.anchors = pl_evals_have_anchors(w->n->py),
				.is_eval = w->is_eval};
}

/* What lies behind the stack of a greenlet is left out. */
static struct plumb_error *end_at_greenlet(struct weaver *w)
{
	const struct pl_native_place *p = &w->n->place;
	const struct pl_join join = join_of(w);
	const size_t n = w->s->native.len;
	bool *greenlets = calloc(n + 1, sizeof *greenlets);

	if (!greenlets)
		return &pl_err_no_memory;
	for (size_t i = 0; i < n; i++) {
		const uint32_t image = w->s->native.data[i].image;

		greenlets[i] = image < p->files.len && p->files.data[image].greenlets;
	}
	const size_t own = pl_native_join_own(&join, greenlets);
	w->s->native.len = own;
	w->to_root |= own < n;
	free(greenlets);
	return NULL;
}

static struct plumb_error *make(struct weaver *w, const struct pl_native_taken *taken)
{
	struct plumb_error *err = find_evals(w, taken);

	err = err ? err : unwind(w, taken);
	err = err ? err : tell_evals(w);
	err = err ? err : end_at_greenlet(w);
	if (err)
		return err;
	const struct pl_join join = join_of(w);
	return pl_native_join(&join, &w->s->entries, &w->s->joined);
}

struct plumb_error *pl_native_stack_make(struct pl_native *n, const struct pl_native_taken *taken,
					 struct pl_native_stack *ret)
{
	static const struct pl_mem_ops view = {.read = view_read}, code = {.read = code_read};
	struct weaver w = {
		.n = n, .s = ret, .view = {{&view}, taken, &n->place, UINT64_MAX}, .code = {{&code}, &n->place}};

	*ret = (struct pl_native_stack){.python = pl_native_image_of_python(n)};
	struct plumb_error *err = make(&w, taken);
	pl_vec_deinit(&w.evals);
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

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

bool pl_native_stack_in_interpreter(const struct pl_native *n, const struct pl_native_stack *s, uint32_t image)
{
	const struct pl_native_place *p = &n->place;

	if (image == s->python)
		return true;
	if (image >= p->files.len)
		return false;
	const char *slash = strrchr(p->files.data[image].map->path, '/');
	return slash && strncmp(slash + 1, "python", 6) == 0; /* the program, where libpython is a library */
}

/* A trampoline: code that is in no file, and has called its callee and does nothing but return then. */
static bool passes_on(const struct pl_native_stack *s, const struct pl_join_entry *e)
{
	const struct pl_native_frame *f = &s->native.data[e->index];

	return f->image == PL_NO_IMAGE && f->flags & PL_NATIVE_RETURNS && !(f->flags & PL_NATIVE_EXACT_PC);
}

void pl_native_order_begin(struct pl_native_order *o, const struct pl_native_stack *s)
{
	*o = (struct pl_native_order){0};
	for (size_t i = 0; i < s->entries.len; i++)
		if (s->entries.data[i].kind == PL_JOIN_PYTHON)
			o->outermost = i + 1;
}

struct pl_native_role pl_native_order_next(struct pl_native_order *o, const struct pl_native *n,
					   const struct pl_native_stack *s, size_t i)
{
	const struct pl_join_entry *e = &s->entries.data[i];
	struct pl_native_role role = {.inner = o->inner,
				      .outer = i < o->outermost,
				      .root = !o->outermost && i > 0 && i + 2 >= s->entries.len};

	if (e->kind == PL_JOIN_NATIVE || e->kind == PL_JOIN_EVAL) {
		role.interpreter = pl_native_stack_in_interpreter(n, s, s->native.data[e->index].image);
		role.passes_on = e->kind == PL_JOIN_EVAL || passes_on(s, e);
	}
	o->inner |= e->kind == PL_JOIN_PYTHON;
	return role;
}

static bool is_fileless(const struct pl_native_frame *f)
{
	return f->image == PL_NO_IMAGE && !(f->flags & PL_NATIVE_RESUMED);
}

static struct plumb_error *name_all(struct pl_native *n, struct pl_native_stack *s)
{
	s->names = calloc(s->native.len + 1, sizeof *s->names);
	if (!s->names)
		return &pl_err_no_memory;
	for (size_t i = 0; i < s->native.len; i++) {
		const struct pl_native_frame *f = &s->native.data[i];

		s->names[i] =
			is_fileless(f) ? pl_native_place_perf_name(&n->place, pl_native_frame_place(f)) : name_of(n, f);
	}
	return NULL;
}

static bool wanted(const struct pl_native *n, const struct pl_native_stack *s, const struct pl_join_entry *e,
		   const struct pl_native_role *role)
{
	if (e->kind == PL_JOIN_PYTHON || e->kind == PL_JOIN_MISSING || n->all)
		return true;
	if (role->passes_on)
		return false;
	if (s->joined == PL_JOINED_APART)
		return true;
	uint32_t image = s->native.data[e->index].image;
	const char *path = image < n->place.files.len ? n->place.files.data[image].map->path : "";
	return pl_native_is_shown(role, path, s->names[e->index]);
}

struct plumb_error *pl_native_stack_choose(struct pl_native *n, struct pl_native_stack *s)
{
	struct plumb_error *err = name_all(n, s);
	struct pl_native_order order;
	size_t kept = 0;

	if (err)
		return err;
	pl_native_order_begin(&order, s);
	for (size_t i = 0; i < s->entries.len; i++) {
		const struct pl_join_entry e = s->entries.data[i];
		const struct pl_native_role role = pl_native_order_next(&order, n, s, i);

		if (wanted(n, s, &e, &role))
			s->entries.data[kept++] = e;
	}
	s->entries.len = kept;
	return NULL;
}
