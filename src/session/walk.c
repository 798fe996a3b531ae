/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: a profile as a tree of functions and as figures, for front ends that make something of their own of
 * it. One owner at a time. */
#include <plumb/plumb.h>

#include <stdlib.h>

#include "frame_name.h"
#include "profile.h"
#include "sample_tree.h"
#include "size_limit.h"
#include "source_lines.h"
#include "words.h"

/* Whoever makes an object of each takes a kilobyte for it. A byte of a recording has a node at most, but where
 * functions call themselves without end. */
#define NODES_BASE   (1 << 18)
#define NODES_A_BYTE 2

/* Cells stand in the order in which they were first counted. */
static struct plumb_error *build(struct pl_sample_tree *t, const struct plumb_profile *p)
{
	struct plumb_error *err = pl_sample_tree_init(t, p, PL_TREE_BY_FUNCTION, false);

	for (uint32_t i = 0; !err && i < p->cell_count; i++)
		if (p->cells[i].samples)
			err = pl_sample_tree_add(t, p->cells[i].stack, 0, p->cells[i].samples);
	if (!err)
		pl_sample_tree_finish(t);
	return err;
}

static struct plumb_error *check_nodes(const struct pl_sample_tree *t)
{
	double most = pl_size_limit(t->p, UINT32_MAX, NODES_BASE, NODES_A_BYTE);

	if ((double)t->nodes.len <= most)
		return NULL;
	return pl_error_hint(
		pl_error(PLUMB_ERR_LIMIT, "its tree of calls has %zu nodes, where a file of its size may have %.0f",
			 t->nodes.len, most),
		"keep less of it (plumb report --focus, --time or --threads, with -o NEW.plumb), or ask for "
		"its functions");
}

static struct plumb_tree_node describe(const struct pl_sample_tree *t, uint32_t id, uint32_t depth)
{
	struct plumb_tree_node n = {.depth = depth,
				    .name = "",
				    .qualname = "",
				    .file = "",
				    .samples = t->nodes.data[id].total,
				    .kind = PLUMB_KIND_PYTHON};

	if (id == 0)
		return n;
	const struct plumb_profile *p = t->p;
	uint32_t stack = t->entries.data[t->nodes.data[id].first_entry].stack;
	const struct pl_location *l = &p->locations[p->stacks[stack].location];
	const struct pl_function *f = &p->functions[l->function];
	n.name = pl_strtab_get(p->strings, f->name, &n.name_len);
	n.qualname = pl_strtab_get(p->strings, f->qualname, &n.qualname_len);
	n.file = pl_strtab_get(p->strings, f->file, &n.file_len);
	n.firstline = f->firstline;
	n.line = l->line;
	n.kind = (enum plumb_kind)(1 << f->origin);
	return n;
}

struct plumb_lines {
	struct pl_sources *sources; /* NULL: the profile has no texts */
};

struct plumb_lines *plumb_lines_create(const struct plumb_profile *p)
{
	struct plumb_lines *l = calloc(1, sizeof *l);

	/* For files of other tools, which have no texts, it would read the disk. */
	if (!l || p->meta.imported)
		return l;
	l->sources = pl_sources_create(p);
	if (l->sources)
		return l;
	free(l);
	return NULL;
}

void plumb_lines_destroy(struct plumb_lines *l)
{
	if (!l)
		return;
	pl_sources_destroy(l->sources);
	free(l);
}

static void add_text(struct plumb_lines *l, const struct pl_sample_tree *t, uint32_t id, struct plumb_tree_node *n)
{
	const struct plumb_profile *p = t->p;
	uint32_t stack = t->entries.data[t->nodes.data[id].first_entry].stack;
	struct pl_text text;

	if (!pl_sources_line(l->sources, p->functions[p->locations[p->stacks[stack].location].function].file, n->line,
			     &text))
		return;
	text = pl_text_without_blanks_before(text);
	n->text = text.len ? text.s : NULL;
	n->text_len = text.len;
}

static struct plumb_error *tell_all(const struct pl_sample_tree *t, struct plumb_lines *l, plumb_tree_fn *fn, void *ctx)
{
	uint32_t *depths = calloc(t->nodes.len, sizeof *depths);
	struct plumb_error *err = depths ? NULL : &pl_err_no_memory;

	for (uint32_t id = 1; !err && id < t->nodes.len; id++) /* parents first */
		depths[id] = depths[t->nodes.data[id].parent] + 1;
	for (uint32_t id = 0; !err && id != PL_TREE_NONE; id = pl_sample_tree_next(t, id, false)) {
		struct plumb_tree_node n = describe(t, id, depths[id]);

		if (l && l->sources && id > 0)
			add_text(l, t, id, &n);
		err = fn(ctx, &n);
	}
	free(depths);
	return err;
}

struct plumb_error *plumb_profile_walk_lines(const struct plumb_profile *p, struct plumb_lines *lines,
					     plumb_tree_fn *fn, void *ctx)
{
	struct pl_sample_tree t;
	struct plumb_error *err = build(&t, p);

	if (!err)
		err = check_nodes(&t);
	if (!err)
		err = tell_all(&t, lines, fn, ctx);
	pl_sample_tree_deinit(&t);
	return err;
}

struct plumb_error *plumb_profile_walk(const struct plumb_profile *p, plumb_tree_fn *fn, void *ctx)
{
	return plumb_profile_walk_lines(p, NULL, fn, ctx);
}

static void sum_cells(const struct plumb_profile *p, struct plumb_profile_info *ret)
{
	uint64_t by_quality[PL_QUALITIES] = {0};

	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];

		ret->samples = pl_sum_u64(ret->samples, c->samples);
		ret->weight_ns = pl_sum_u64(ret->weight_ns, c->weight_ns);
		by_quality[c->quality] = pl_sum_u64(by_quality[c->quality], c->samples);
	}
#define PLUMB_QUALITY(name, member, ...) ret->member = by_quality[PL_##name];
#include <plumb/words.def>
}

void plumb_profile_info(const struct plumb_profile *p, struct plumb_profile_info *ret)
{
	const struct pl_meta *m = &p->meta;

	*ret = (struct plumb_profile_info){
		.start_real_ns = m->start_real_ns,
		.duration_ns = m->duration_ns,
		.period_ns = m->period_ns,
		.threads = p->thread_count,
		.processes = p->process_count,
		.ticks = m->ticks,
#define PLUMB_LOSS(name, member, ...) .member = m->losses[PL_LOSS_##name],
#include <plumb/words.def>
		.profiler_cpu_ns = m->profiler_cpu_ns,
		.mode = pl_mode_name(m->mode),
		.engine = pl_text_of(p, m->engine).s,
		.command = pl_text_of(p, m->command).s,
		.plumb_version = pl_text_of(p, m->plumb_version).s,
	};
	sum_cells(p, ret);
}
