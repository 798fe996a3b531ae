/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, consumer thread only. An instruction is asked for once, however many stacks have it. */
#include "native_lines.h"

#include <string.h>

/* An instruction whose functions are told, the innermost first. */
struct asked {
	struct pl_native_symbols *symbols;
	const struct pl_native_at *at;
	struct plumb_profile *profile;
	PL_VEC(uint32_t) found;
	struct plumb_error *err;
};

void pl_native_lines_deinit(struct pl_native_lines *l)
{
	pl_map_deinit(&l->known);
	pl_vec_deinit(&l->locations);
}

static struct plumb_error *add_location(struct asked *a, const struct pl_function *f, struct pl_location l)
{
	uint32_t id;
	struct plumb_error *err = pl_profile_function(a->profile, f, &l.function);

	l.column = l.end_column = -1;
	err = err ? err : pl_profile_location(a->profile, &l, &id);
	return err || pl_vec_push(&a->found, id) ? err : &pl_err_no_memory;
}

/* A function that was compiled into another one, of the same library. */
static struct plumb_error *name_inlined(struct asked *a, const char *name, struct pl_function *f)
{
	const struct pl_native_code *n = &a->at->code->native;
	char text[PL_NATIVE_NAME];

	f->unnamed = 0;
	f->plumbing = pl_native_is_plumbing_inlined(name, n->role.interpreter);
	pl_native_symbols_text(a->symbols, n, name, text);
	struct plumb_error *err = pl_profile_string(a->profile, text, strlen(text), &f->name);
	f->qualname = f->name;
	return err;
}

static struct plumb_error *add_place(struct asked *a, const struct pl_dwarf_place *p)
{
	struct pl_function f = a->profile->functions[a->at->function];
	struct plumb_error *err = p->inlined ? name_inlined(a, p->function, &f) : NULL;
	const bool told = p->file && p->line && p->line <= INT32_MAX && !f.unnamed;

	if (!err && told)
		err = pl_profile_string(a->profile, p->file, strlen(p->file), &f.source);
	const int32_t line = told ? (int32_t)p->line : 0;
	return err ? err
		   : add_location(a, &f, (struct pl_location){.line = line, .end_line = line, .inlined = p->inlined});
}

static void take_place(void *ctx, const struct pl_dwarf_place *p)
{
	struct asked *a = ctx;

	if (!a->err && (p->function || !p->inlined))
		a->err = add_place(a, p);
}

/* What is plumbing is not shown, so nothing is asked of it. */
static bool may_have_lines(const struct asked *a)
{
	const struct pl_native_code *n = &a->at->code->native;

	return a->at->offset && n->module && !a->profile->functions[a->at->function].plumbing;
}

/* What is left out is counted, and nothing is told of it: of a function and what was compiled into it the outer ones
 * could be missing. */
static void leave_out(struct asked *a)
{
	pl_vec_clear(&a->found);
	a->profile->meta.losses[PL_LOSS_LINES]++;
}

/* Its function alone is known, and where it is, for whoever has debug information of that file later. */
static struct plumb_error *add_address(struct asked *a, uint64_t address)
{
	const struct pl_code_module *m = a->at->code->native.module;
	const bool lasts = may_have_lines(a) && m->build_id_len && address <= PL_ADDRESS_MAX;

	return add_location(a, &a->profile->functions[a->at->function],
			    (struct pl_location){.address = lasts ? address : 0});
}

static struct plumb_error *ask(struct asked *a)
{
	const struct pl_native_code *n = &a->at->code->native;
	const uint64_t address = (n->begin ? n->begin : n->place) + (uint64_t)(a->at->offset - 1);
	bool left_out = false;

	if (may_have_lines(a))
		pl_native_symbols_places(a->symbols, n, address, take_place, a, &left_out);
	if (left_out)
		leave_out(a);
	return a->err || a->found.len ? a->err : add_address(a, address);
}

static struct plumb_error *keep(struct pl_native_lines *l, const struct asked *a, uint32_t *ret)
{
	*ret = (uint32_t)l->locations.len;
	if (!pl_vec_push(&l->locations, (uint32_t)a->found.len))
		return &pl_err_no_memory;
	for (size_t i = a->found.len; i-- > 0;)
		if (!pl_vec_push(&l->locations, a->found.data[i]))
			return &pl_err_no_memory;
	return pl_map_set(&l->known, a->at->code->id, (uint32_t)a->at->offset, *ret) ? NULL : &pl_err_no_memory;
}

struct plumb_error *pl_native_lines_find(struct pl_native_lines *l, struct pl_native_symbols *s,
					 const struct pl_native_at *at, struct plumb_profile *p, const uint32_t **ret,
					 uint32_t *count_ret)
{
	struct asked a = {.symbols = s, .at = at, .profile = p};
	struct plumb_error *err = NULL;
	uint32_t first;

	if (!pl_map_get(&l->known, at->code->id, (uint32_t)at->offset, &first)) {
		err = ask(&a);
		err = err ? err : keep(l, &a, &first);
		pl_vec_deinit(&a.found);
	}
	if (err)
		return err;
	*count_ret = l->locations.data[first];
	*ret = &l->locations.data[first + 1];
	return NULL;
}
