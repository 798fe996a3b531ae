/* SPDX-License-Identifier: Apache-2.0 */
/* The data of CPython's flame graphs, as its collector makes them from the same samples (layer export): of 3.15.2, or
 * as they were at first (options.seed). A tree of lines of functions, nested as deep as the stacks are, hence written
 * without recursion and without pl_json, which is for shallow documents. Memory follows distinct stacks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collector_stats.h"
#include "flame_nodes.h"
#include "formats.h"
#include "json.h"
#include "opcode_names.h"
#include "thread_figures.h"
#include "view.h"

#define OPCODES 65536

struct opcode_count {
	uint32_t thread, opcode, order;
	uint64_t count;
};

struct writer {
	const struct plumb_profile *p;
	struct pl_filter filter;
	bool seed;
	struct pl_sample_tree tree;
	struct pl_thread_figures figures;
	struct pl_flame_nodes nodes;
	PL_VEC(struct opcode_count) opcodes; /* of one node */
	PL_VEC(uint32_t) threads;	     /* of one node, sorted */
	uint64_t *opcode_sum;		     /* all zero between uses */
	FILE *out;
};

static struct plumb_error *take_sample(void *ctx, const struct pl_sample *s)
{
	struct writer *w = ctx;
	struct pl_filter names = w->filter;
	struct pl_cell cell = {.stack = s->stack, .thread = s->thread, .state = s->state};
	struct plumb_error *err;

	names.idle = PL_IDLE_KEEP;
	if (!pl_view_passes(w->p, &names, &cell))
		return NULL;
	err = pl_thread_figures_add(&w->figures, s);
	if (err || (!pl_view_passes(w->p, &w->filter, &cell) && !pl_thread_figures_is_task(&w->figures, s->stack)))
		return err;
	return pl_sample_tree_add(&w->tree, s->stack, w->figures.rank_of[s->thread], pl_sum_u64(s->extra, 1));
}

static void put_text(struct writer *w, struct pl_text t)
{
	struct pl_json j;

	pl_json_init(&j, w->out, 0);
	pl_json_strn(&j, t.s, t.len);
}

static void put_strings(struct writer *w)
{
	fputs("\"strings\":[", w->out);
	for (uint32_t i = 0; i < w->nodes.order.len; i++) {
		if (i)
			putc(',', w->out);
		put_text(w, pl_flame_string_at(&w->nodes, i));
	}
	putc(']', w->out);
}

static int compare_u32(const void *va, const void *vb)
{
	const uint32_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

/* Sums of a node for each of its threads, in nodes.thread_*; take_threads_away() makes them zero again. */
static struct plumb_error *add_threads(struct writer *w, const struct pl_tree_node *node)
{
	const struct pl_tree_entry *entries = w->tree.entries.data;
	struct pl_flame_nodes *n = &w->nodes;

	pl_vec_clear(&w->threads);
	for (uint32_t i = node->first_entry; i != PL_TREE_NONE; i = entries[i].next) {
		const struct pl_tree_entry *e = &entries[i];

		if (!e->left_out && e->total && n->thread_total[e->thread] == 0 && !pl_vec_push(&w->threads, e->thread))
			return &pl_err_no_memory;
		if (!e->left_out)
			n->thread_total[e->thread] = pl_sum_u64(n->thread_total[e->thread], e->total);
		n->thread_self[e->thread] = pl_sum_u64(n->thread_self[e->thread], e->self);
	}
	if (w->threads.len)
		qsort(w->threads.data, w->threads.len, sizeof *w->threads.data, compare_u32);
	return NULL;
}

static void take_threads_away(struct writer *w)
{
	for (size_t i = 0; i < w->threads.len; i++)
		w->nodes.thread_total[w->threads.data[i]] = w->nodes.thread_self[w->threads.data[i]] = 0;
}

static void put_threads(struct writer *w)
{
	fputs("\"threads\":[", w->out);
	for (size_t i = 0; i < w->threads.len; i++)
		fprintf(w->out, "%s%" PRIu64, i ? "," : "", w->figures.tids[w->threads.data[i]]);
	putc(']', w->out);
}

static void put_thread_values(struct writer *w)
{
	fputs(",\"thread_values\":{", w->out);
	for (size_t i = 0; i < w->threads.len; i++) {
		uint32_t thread = w->threads.data[i];

		fprintf(w->out, "%s\"%" PRIu64 "\":[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", w->figures.tids[thread],
			w->nodes.thread_total[thread], w->nodes.thread_self[thread]);
	}
	putc('}', w->out);
}

/* All threads that have a stack. */
static struct plumb_error *all_threads(struct writer *w)
{
	pl_vec_clear(&w->threads);
	for (uint32_t i = 0; i < w->figures.tid_count; i++) {
		if (w->nodes.whole[i] && !pl_vec_push(&w->threads, i))
			return &pl_err_no_memory;
		w->nodes.thread_total[i] = w->nodes.whole[i];
	}
	return NULL;
}

static struct plumb_error *add_opcodes(struct writer *w, const struct pl_tree_node *node)
{
	const struct pl_tree_entry *entries = w->tree.entries.data;

	pl_vec_clear(&w->opcodes);
	for (uint32_t i = node->first_entry; i != PL_TREE_NONE; i = entries[i].next) {
		uint16_t opcode = w->p->locations[w->p->stacks[entries[i].stack].location].opcode;
		struct opcode_count c = {entries[i].thread, opcode - 1u, (uint32_t)w->opcodes.len, entries[i].total};

		if (opcode && !entries[i].left_out && entries[i].total && !pl_vec_push(&w->opcodes, c))
			return &pl_err_no_memory;
	}
	return NULL;
}

/* {opcode: samples} of w->opcodes[from..to), opcodes in the order in which they come first. */
static void put_opcodes(struct writer *w, size_t from, size_t to)
{
	const struct opcode_count *c = w->opcodes.data;
	const char *comma = "";

	for (size_t i = from; i < to; i++)
		w->opcode_sum[c[i].opcode] = pl_sum_u64(w->opcode_sum[c[i].opcode], c[i].count);
	putc('{', w->out);
	for (size_t i = from; i < to; i++) {
		if (w->opcode_sum[c[i].opcode] == 0)
			continue;
		fprintf(w->out, "%s\"%" PRIu32 "\":%" PRIu64, comma, c[i].opcode, w->opcode_sum[c[i].opcode]);
		w->opcode_sum[c[i].opcode] = 0;
		comma = ",";
	}
	putc('}', w->out);
}

static int compare_opcode_threads(const void *va, const void *vb)
{
	const struct opcode_count *a = va, *b = vb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void put_thread_opcodes(struct writer *w)
{
	size_t from = 0, to;

	qsort(w->opcodes.data, w->opcodes.len, sizeof *w->opcodes.data, compare_opcode_threads);
	fputs(",\"thread_opcodes\":{", w->out);
	for (; from < w->opcodes.len; from = to) {
		uint32_t thread = w->opcodes.data[from].thread;

		for (to = from; to < w->opcodes.len && w->opcodes.data[to].thread == thread; to++)
			;
		fprintf(w->out, "%s\"%" PRIu64 "\":", from ? "," : "", w->figures.tids[thread]);
		put_opcodes(w, from, to);
	}
	putc('}', w->out);
}

static void put_source(struct writer *w, const struct pl_flame_texts *t)
{
	if (!t->source_count)
		return;
	fputs(",\"source\":[", w->out);
	for (uint32_t i = 0; i < t->source_count; i++)
		fprintf(w->out, "%s%" PRIu32, i ? "," : "", t->source[i]);
	putc(']', w->out);
}

static void put_head(struct writer *w, const struct pl_flame_texts *t, const struct pl_tree_node *node)
{
	fprintf(w->out, "{\"name\":%" PRIu32, t->title);
	if (!w->seed)
		fprintf(w->out, ",\"label\":%" PRIu32, t->label);
	fprintf(w->out, ",\"value\":%" PRIu64, node->total);
	if (!w->seed)
		fprintf(w->out, ",\"self\":%" PRIu64, node->self);
	fputs(",\"children\":[", w->out);
}

/* What follows the children, but for the brace. @p top: the node stands for the whole. */
static struct plumb_error *put_tail(struct writer *w, const struct pl_tree_node *node, bool top)
{
	const struct pl_flame_texts *t = &w->nodes.texts[node->key];
	struct plumb_error *err = add_opcodes(w, node);

	fprintf(w->out, "],\"filename\":%" PRIu32, t->file);
	if (!w->seed)
		fprintf(w->out, ",\"module\":%" PRIu32, t->module);
	fprintf(w->out, ",\"lineno\":%" PRId32 ",\"funcname\":%" PRIu32 ",", w->tree.keys.data[node->key].line,
		t->name);
	if (!err && top) {
		err = all_threads(w);
		if (!err)
			put_threads(w);
		take_threads_away(w);
	}
	if (!err)
		err = add_threads(w, node);
	if (err)
		return err;
	if (!top)
		put_threads(w);
	if (!w->seed)
		put_thread_values(w);
	take_threads_away(w);
	put_source(w, t);
	if (!w->opcodes.len)
		return NULL;
	fputs(",\"opcodes\":", w->out);
	put_opcodes(w, 0, w->opcodes.len);
	if (!w->seed)
		put_thread_opcodes(w);
	return NULL;
}

/* The node and all below it. */
static struct plumb_error *put_tree(struct writer *w, uint32_t root)
{
	const struct pl_tree_node *nodes = w->tree.nodes.data;
	struct plumb_error *err = NULL;
	uint32_t i = root;

	put_head(w, &w->nodes.texts[nodes[i].key], &nodes[i]);
	while (!err && !ferror(w->out)) {
		if (nodes[i].first_child != PL_TREE_NONE) {
			i = nodes[i].first_child;
			put_head(w, &w->nodes.texts[nodes[i].key], &nodes[i]);
			continue;
		}
		while (!err) {
			err = put_tail(w, &nodes[i], false);
			putc('}', w->out);
			if (i == root)
				return err;
			if (nodes[i].next != PL_TREE_NONE)
				break;
			i = nodes[i].parent;
		}
		if (err)
			break;
		i = nodes[i].next;
		putc(',', w->out);
		put_head(w, &w->nodes.texts[nodes[i].key], &nodes[i]);
	}
	return err;
}

/* Instructions are told by number; whose numbers they are is known of samples of a collector, and from the version. */
/* Samples that a collector of CPython took are of 3.15, the first that has one which gathers instructions. */
static const struct pl_opcodes *opcodes_of(const struct plumb_profile *p)
{
	return p->meta.collector.known ? pl_opcodes(15) : pl_opcodes_of(p);
}

static void put_end(struct writer *w)
{
	struct pl_json j;

	putc(',', w->out);
	put_strings(w);
	fputs(",\"opcode_mapping\":", w->out);
	pl_json_init(&j, w->out, 0);
	pl_opcode_mapping_write(&j, opcodes_of(w->p));
	fputs("}\n", w->out);
}

/* The frame that all stacks begin with, if there is one: it stands for the whole. */
static uint32_t sole_root(struct writer *w)
{
	const struct pl_tree_node *nodes = w->tree.nodes.data;
	uint32_t first = nodes[0].first_child;

	if (nodes[first].next != PL_TREE_NONE)
		return PL_TREE_NONE;
	/* The whole is the sum over threads, so that a root with all of it has all of each thread. */
	return w->seed || nodes[first].total == nodes[0].total ? first : PL_TREE_NONE;
}

static struct plumb_error *rename_root(struct writer *w, uint32_t *title)
{
	struct pl_text old = pl_flame_string_at(&w->nodes, *title);
	struct plumb_error *err;

	pl_buf_clear(&w->nodes.text);
	err = pl_buf_add_str(&w->nodes.text, "Program Root: ");
	if (!err)
		err = pl_buf_add(&w->nodes.text, old.s, old.len);
	return err ? err : pl_flame_string(&w->nodes, w->nodes.text.data, w->nodes.text.len, title);
}

/* The texts of the top node change, and only its: a frame below may share them. */
static struct plumb_error *put_sole_root(struct writer *w, uint32_t root)
{
	const struct pl_tree_node *node = &w->tree.nodes.data[root];
	struct pl_flame_texts top = w->nodes.texts[node->key];
	struct plumb_error *err = rename_root(w, &top.title);

	if (!err && !w->seed)
		err = rename_root(w, &top.label);
	if (err)
		return err;
	put_head(w, &top, node);
	for (uint32_t i = node->first_child; i != PL_TREE_NONE && !err; i = w->tree.nodes.data[i].next) {
		err = put_tree(w, i);
		if (w->tree.nodes.data[i].next != PL_TREE_NONE)
			putc(',', w->out);
	}
	if (!err)
		err = put_tail(w, node, true);
	fputs(",\"stats\":", w->out);
	pl_collector_stats_write(&w->figures, w->seed, w->out);
	put_end(w);
	return err;
}

static struct plumb_error *put_roots(struct writer *w)
{
	const struct pl_tree_node *nodes = w->tree.nodes.data;
	struct plumb_error *err;
	uint32_t title;

	err = pl_flame_string(&w->nodes, "Program Root", 12, &title);
	if (err)
		return err;
	fprintf(w->out, "{\"name\":%" PRIu32, title);
	if (!w->seed)
		fprintf(w->out, ",\"label\":%" PRIu32, title);
	fprintf(w->out, ",\"value\":%" PRIu64 ",\"children\":[", nodes[0].total);
	for (uint32_t i = nodes[0].first_child; i != PL_TREE_NONE && !err; i = nodes[i].next) {
		err = put_tree(w, i);
		if (nodes[i].next != PL_TREE_NONE)
			putc(',', w->out);
	}
	putc(']', w->out);
	fputs(",\"stats\":", w->out);
	pl_collector_stats_write(&w->figures, w->seed, w->out);
	if (!err)
		err = all_threads(w);
	putc(',', w->out);
	put_threads(w);
	if (!w->seed)
		put_thread_values(w);
	take_threads_away(w);
	put_end(w);
	return err;
}

static struct plumb_error *put_nothing(struct writer *w, const char *title, bool threads)
{
	uint32_t at;
	struct plumb_error *err = pl_flame_string(&w->nodes, title, strlen(title), &at);

	if (err)
		return err;
	fprintf(w->out, "{\"name\":%" PRIu32 ",\"value\":0,\"children\":[],%s", at, threads ? "\"threads\":[]," : "");
	put_strings(w);
	fputs("}\n", w->out);
	return NULL;
}

static struct plumb_error *write_all(struct writer *w)
{
	const struct pl_tree_node *top = &w->tree.nodes.data[0];
	uint32_t root;

	if (top->total == 0)
		return put_nothing(w, "No Data", true);
	if (top->first_child == PL_TREE_NONE)
		return put_nothing(w, "No significant data", false);
	root = sole_root(w);
	return root == PL_TREE_NONE ? put_roots(w) : put_sole_root(w, root);
}

static struct plumb_error *collect(struct writer *w, const struct pl_export_options *o)
{
	struct plumb_error *err = pl_sample_tree_init(&w->tree, w->p, PL_TREE_BY_LINE, o->full_names);

	if (!err)
		err = pl_thread_figures_init(&w->figures, w->p);
	if (!err)
		err = pl_profile_each(w->p, take_sample, w);
	if (err)
		return err;
	pl_sample_tree_finish(&w->tree);
	pl_thread_figures_finish(&w->figures);
	return pl_flame_nodes_init(&w->nodes, &w->tree, w->figures.tid_count, w->seed);
}

struct plumb_error *pl_flamegraph_json_write(const struct plumb_profile *p, const struct pl_export_options *o,
					     FILE *out)
{
	struct writer w = {.p = p, .filter = o->filter, .seed = o->seed, .out = out};
	struct plumb_error *err;

	if (p->meta.collector.skip_idle)
		w.filter.idle = PL_IDLE_SKIP_SAMPLES;
	else if (w.filter.idle == PL_IDLE_HIDE_THREADS)
		w.filter.idle = PL_IDLE_KEEP; /* nothing here could say what is hidden */
	w.opcode_sum = calloc(OPCODES, sizeof *w.opcode_sum);
	err = w.opcode_sum ? collect(&w, o) : &pl_err_no_memory;
	if (!err)
		err = write_all(&w);
	pl_sample_tree_deinit(&w.tree);
	pl_thread_figures_deinit(&w.figures);
	pl_flame_nodes_deinit(&w.nodes);
	pl_vec_deinit(&w.opcodes);
	pl_vec_deinit(&w.threads);
	free(w.opcode_sum);
	return err;
}
