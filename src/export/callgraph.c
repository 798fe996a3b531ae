/* SPDX-License-Identifier: Apache-2.0 */
/* From the call tree to a graph of functions. Layer export; any thread.
 *
 * One walk through the rows of the tree, which come depth first: the current path is a stack of rows, and counters say
 * how often each function and each edge is on it, so that recursion counts once. Nothing recurses here however deep the
 * program did; memory follows the nodes of the tree. */
#include "callgraph.h"

#include <assert.h>

#include "map.h"
#include "utf8.h"

#define NAME_MAX_BYTES ((size_t)1 << 30)

struct step {
	uint32_t function, edge;
	int32_t line;
};

struct builder {
	const struct plumb_profile *p;
	const struct pl_graph_options *o;
	struct pl_callgraph *g;
	struct pl_buf text;
	uint32_t *function_of; /* function of the profile -> 1 + ours, 0: not seen yet */
	struct pl_map names;   /* (file, name), first line -> function */
	struct pl_map edges;   /* (caller, callee), line -> edge */
	struct pl_map lines;   /* function, line -> line */
	PL_VEC(struct step) path;
	PL_VEC(uint32_t) functions_on_path, edges_on_path;
};

struct plumb_error *pl_graph_clean_utf8(struct pl_buf *out, struct pl_text t)
{
	const uint8_t *s = (const uint8_t *)t.s;
	struct plumb_error *err = pl_buf_reserve(out, t.len);

	for (size_t i = 0, used; i < t.len && !err; i += used) {
		uint32_t code;

		used = pl_utf8_decode(s + i, t.len - i, &code);
		err = code == PL_UTF8_INVALID || code == 0 ? pl_buf_add(out, "\xef\xbf\xbd", 3)
							   : pl_buf_add(out, s + i, used);
	}
	return err;
}

struct pl_text pl_callgraph_text(const struct pl_callgraph *g, uint32_t string)
{
	struct pl_text t;

	t.s = pl_strtab_get(g->strings, string, &t.len);
	return t;
}

static struct plumb_error *add_string(struct builder *b, struct pl_text t, uint32_t *ret)
{
	struct plumb_error *err;

	pl_buf_clear(&b->text);
	err = b->o->clean(&b->text, t);
	return err ? err : pl_strtab_add(b->g->strings, b->text.data, b->text.len, ret);
}

static struct plumb_error *add_function(struct builder *b, const struct pl_graph_function *f, uint32_t *ret)
{
	uint64_t k0 = (uint64_t)f->file << 32 | f->name;

	if (pl_map_get(&b->names, k0, f->firstline, ret))
		return NULL;
	*ret = (uint32_t)b->g->functions.len;
	return pl_vec_push(&b->g->functions, *f) && pl_vec_push(&b->functions_on_path, 0) &&
			       pl_map_set(&b->names, k0, f->firstline, *ret)
		       ? NULL
		       : &pl_err_no_memory;
}

static struct plumb_error *find_function(struct builder *b, uint32_t function, uint32_t *ret)
{
	const struct pl_function *f = &b->p->functions[function];
	struct pl_graph_function mine = {.firstline = f->firstline, .native = f->origin == PL_ORIGIN_NATIVE};
	struct plumb_error *err;

	if (b->function_of[function]) {
		*ret = b->function_of[function] - 1;
		return NULL;
	}
	err = add_string(b, pl_text_of(b->p, pl_function_source(f)), &mine.file);
	if (!err)
		err = add_string(b, pl_text_of(b->p, f->file), &mine.library);
	if (!err)
		err = add_string(b, b->o->full_names ? pl_frame_qualname(b->p, f) : pl_text_of(b->p, f->name),
				 &mine.name);
	if (!err)
		err = add_function(b, &mine, ret);
	if (!err)
		b->function_of[function] = *ret + 1;
	return err;
}

static struct plumb_error *find_edge(struct builder *b, const struct step *caller, uint32_t callee, uint32_t *ret)
{
	struct pl_graph_edge e = {.caller = caller ? caller->function : PL_GRAPH_ROOT, .callee = callee};
	uint64_t k0 = (uint64_t)e.caller << 32 | callee;

	e.line = caller && b->o->lines ? caller->line : 0;
	if (pl_map_get(&b->edges, k0, (uint32_t)e.line, ret))
		return NULL;
	*ret = (uint32_t)b->g->edges.len;
	return pl_vec_push(&b->g->edges, e) && pl_vec_push(&b->edges_on_path, 0) &&
			       pl_map_set(&b->edges, k0, (uint32_t)e.line, *ret)
		       ? NULL
		       : &pl_err_no_memory;
}

static void add(struct pl_graph_cost *to, const struct pl_share *s)
{
	to->samples += s->samples;
	to->weight_ns += s->weight_ns;
}

static struct plumb_error *add_line(struct builder *b, uint32_t function, const struct pl_tree_row *row)
{
	struct pl_graph_line line = {.function = function, .line = row->line};
	uint32_t at = (uint32_t)b->g->lines.len;

	if (!b->o->lines || row->self.samples == 0)
		return NULL;
	if (!pl_map_get(&b->lines, function, (uint32_t)row->line, &at) &&
	    !(pl_vec_push(&b->g->lines, line) && pl_map_set(&b->lines, function, (uint32_t)row->line, at)))
		return &pl_err_no_memory;
	add(&b->g->lines.data[at].self, &row->self);
	return NULL;
}

static void leave(struct builder *b, uint32_t depth)
{
	while (b->path.len > depth) {
		const struct step *s = &b->path.data[--b->path.len];

		b->functions_on_path.data[s->function]--;
		b->edges_on_path.data[s->edge]--;
	}
}

/* The next row of the walk. */
static struct plumb_error *enter(void *ctx, const struct pl_tree_row *row)
{
	struct builder *b = ctx;
	struct step s = {.line = row->line};
	struct pl_graph_function *f;
	struct pl_graph_edge *e;
	struct plumb_error *err;

	leave(b, row->depth);
	err = find_function(b, row->function, &s.function);
	if (!err)
		err = find_edge(b, b->path.len ? &b->path.data[b->path.len - 1] : NULL, s.function, &s.edge);
	if (!err)
		err = add_line(b, s.function, row);
	if (err)
		return err;
	assert(s.function < b->functions_on_path.len && s.edge < b->edges_on_path.len);
	assert(b->functions_on_path.data && b->edges_on_path.data);
	f = &b->g->functions.data[s.function];
	e = &b->g->edges.data[s.edge];
	add(&f->self, &row->self);
	add(&e->self, &row->self);
	if (b->functions_on_path.data[s.function]++ == 0) {
		add(&f->total, &row->total);
		add(&e->total, &row->total);
	}
	if (b->edges_on_path.data[s.edge]++ == 0)
		add(&e->once, &row->total);
	return pl_vec_push(&b->path, s) ? NULL : &pl_err_no_memory;
}

/* Samples without a frame are no row of the tree. They are a part of the whole all the same. */
static struct plumb_error *add_frameless(struct builder *b)
{
	static const struct pl_text file = {"~", 1}, name = {"<no frame>", 10};
	struct pl_graph_function f = {0};
	struct pl_share rest = {.samples = b->g->all.samples, .weight_ns = b->g->all.weight_ns};
	struct pl_tree_row row = {0};
	struct plumb_error *err;
	uint32_t function, edge;

	for (size_t i = 0; i < b->g->edges.len; i++) {
		if (b->g->edges.data[i].caller == PL_GRAPH_ROOT) {
			rest.samples -= b->g->edges.data[i].once.samples;
			rest.weight_ns -= b->g->edges.data[i].once.weight_ns;
		}
	}
	if (rest.samples == 0)
		return NULL;
	err = add_string(b, file, &f.file);
	if (!err)
		err = add_string(b, name, &f.name);
	if (!err)
		err = add_function(b, &f, &function);
	if (!err)
		err = find_edge(b, NULL, function, &edge);
	row.self = rest;
	if (!err)
		err = add_line(b, function, &row);
	if (err)
		return err;
	add(&b->g->functions.data[function].self, &rest);
	add(&b->g->functions.data[function].total, &rest);
	add(&b->g->edges.data[edge].self, &rest);
	add(&b->g->edges.data[edge].total, &rest);
	add(&b->g->edges.data[edge].once, &rest);
	return NULL;
}

static struct plumb_error *walk(struct builder *b)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP, .lines = b->o->lines};
	struct pl_totals totals;
	struct plumb_error *err = pl_view_totals(b->p, &everything, &totals);

	if (!err)
		err = pl_view_tree_each(b->p, &everything, enter, b);
	if (err)
		return err;
	b->g->all = (struct pl_graph_cost){totals.samples, totals.weight_ns};
	return add_frameless(b);
}

static int compare_edges(const void *va, const void *vb)
{
	const struct pl_graph_edge *a = va, *b = vb;

	if (a->callee != b->callee)
		return a->callee < b->callee ? -1 : 1;
	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

struct plumb_error *pl_callgraph_build(const struct plumb_profile *p, const struct pl_graph_options *o,
				       struct pl_callgraph *ret)
{
	struct pl_callgraph g = {0};
	struct builder b = {.p = p, .o = o, .g = &g, .text = PL_BUF_INIT(NAME_MAX_BYTES)};
	struct plumb_error *err = pl_strtab_create(&g.strings);

	b.function_of = calloc((size_t)p->function_count + 1, sizeof *b.function_of);
	if (!err && !b.function_of)
		err = &pl_err_no_memory;
	if (!err)
		err = walk(&b);
	pl_buf_deinit(&b.text);
	free(b.function_of);
	pl_map_deinit(&b.names);
	pl_map_deinit(&b.edges);
	pl_map_deinit(&b.lines);
	pl_vec_deinit(&b.path);
	pl_vec_deinit(&b.functions_on_path);
	pl_vec_deinit(&b.edges_on_path);
	if (err) {
		pl_callgraph_deinit(&g);
		return err;
	}
	if (g.edges.len)
		qsort(g.edges.data, g.edges.len, sizeof *g.edges.data, compare_edges);
	*ret = g;
	return NULL;
}

void pl_callgraph_deinit(struct pl_callgraph *g)
{
	if (g->strings)
		pl_strtab_destroy(g->strings);
	pl_vec_deinit(&g->functions);
	pl_vec_deinit(&g->lines);
	pl_vec_deinit(&g->edges);
	*g = (struct pl_callgraph){0};
}
