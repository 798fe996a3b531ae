/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of flamegraph-json (layer export; one owner at a time). The rules are those of CPython's collector: too light
 * nodes are dropped; texts get numbers depth first, in the order in which frames were first seen; then siblings are put
 * in order, the heaviest first and equal ones by the numbers of their titles. */
#include "flame_nodes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "module_name.h"

#define SHARE	     0.001
#define LONG_FILE    50 /* characters: longer names are cut to their last two parts */
#define TEXT_MAX     ((size_t)1 << 30)
#define LINES_AROUND 2

struct plumb_error *pl_flame_string(struct pl_flame_nodes *n, const void *s, size_t len, uint32_t *ret)
{
	uint32_t id;
	struct plumb_error *err = pl_strtab_add(n->strings, s, len, &id);

	if (err || pl_map_get(&n->index, id, 0, ret))
		return err;
	*ret = (uint32_t)n->order.len;
	return pl_vec_push(&n->order, id) && pl_map_set(&n->index, id, 0, *ret) ? NULL : &pl_err_no_memory;
}

struct pl_text pl_flame_string_at(const struct pl_flame_nodes *n, uint32_t index)
{
	struct pl_text t;

	t.s = pl_strtab_get(n->strings, n->order.data[index], &t.len);
	return t;
}

static struct plumb_error *string_of(struct pl_flame_nodes *n, struct pl_text t, uint32_t *ret)
{
	return pl_flame_string(n, t.s, t.len, ret);
}

static size_t characters(struct pl_text t)
{
	size_t count = 0;

	for (size_t i = 0; i < t.len; i++)
		count += ((uint8_t)t.s[i] & 0xc0) != 0x80;
	return count;
}

/* The last two parts of a long path; *cut says whether anything was taken away. */
static struct pl_text shown_file(struct pl_text file, bool *cut)
{
	int slashes = 0;
	size_t at = file.len;

	*cut = false;
	if (characters(file) <= LONG_FILE)
		return file;
	while (at > 0 && slashes < 2) {
		at--;
		slashes += file.s[at] == '/';
	}
	if (slashes < 2)
		return file;
	*cut = true;
	return (struct pl_text){file.s + at + 1, file.len - at - 1};
}

static bool is_special(struct pl_text file, int32_t line)
{
	return line == 0 && file.len == 1 && file.s[0] == '~';
}

/* "name (PLACE:line)" into n->text, PLACE being what the caller adds. */
static struct plumb_error *start_title(struct pl_flame_nodes *n, struct pl_text name)
{
	struct plumb_error *err;

	pl_buf_clear(&n->text);
	err = pl_buf_add(&n->text, name.s, name.len);
	return err ? err : pl_buf_add_str(&n->text, " (");
}

static struct plumb_error *end_title(struct pl_flame_nodes *n, int32_t line, uint32_t *ret)
{
	struct plumb_error *err = pl_buf_printf(&n->text, ":%" PRId32 ")", line);

	return err ? err : pl_flame_string(n, n->text.data, n->text.len, ret);
}

static struct plumb_error *make_title(struct pl_flame_nodes *n, struct pl_text name, struct pl_text file, int32_t line,
				      uint32_t *ret)
{
	bool cut;
	struct pl_text shown = shown_file(file, &cut);
	struct plumb_error *err = start_title(n, name);

	if (!err && cut)
		err = pl_buf_add_str(&n->text, ".../");
	if (!err)
		err = pl_buf_add(&n->text, shown.s, shown.len);
	return err ? err : end_title(n, line, ret);
}

static struct plumb_error *make_label(struct pl_flame_nodes *n, struct pl_text name, struct pl_text file, int32_t line,
				      uint32_t *ret)
{
	struct plumb_error *err = start_title(n, name);

	if (!err)
		err = pl_module_name_add(&n->text, file);
	return err ? err : end_title(n, line, ret);
}

static struct plumb_error *make_module(struct pl_flame_nodes *n, struct pl_text file, uint32_t *ret)
{
	struct plumb_error *err;

	pl_buf_clear(&n->text);
	err = pl_module_name_add(&n->text, file);
	return err ? err : pl_flame_string(n, n->text.data, n->text.len, ret);
}

static struct plumb_error *make_source_line(struct pl_flame_nodes *n, struct pl_text line, int32_t number, bool current,
					    struct pl_flame_texts *t)
{
	struct plumb_error *err;

	if (pl_text_without_blanks_before(line).len == 0)
		return NULL;
	line = pl_text_without_blanks_after(line);
	pl_buf_clear(&n->text);
	err = pl_buf_printf(&n->text, "%s%" PRId32 ": ", current ? "\xe2\x86\x92 " : "  ", number);
	if (!err)
		err = pl_buf_add(&n->text, line.s, line.len);
	return err ? err : pl_flame_string(n, n->text.data, n->text.len, &t->source[t->source_count++]);
}

static struct plumb_error *make_source(struct pl_flame_nodes *n, const struct pl_tree_key *key,
				       struct pl_flame_texts *t)
{
	int64_t first = (int64_t)key->line - LINES_AROUND;
	struct plumb_error *err = NULL;

	for (int64_t i = first < 1 ? 1 : first; i <= (int64_t)key->line + LINES_AROUND && i <= INT32_MAX && !err; i++) {
		struct pl_text line;

		if (pl_sources_line(n->sources, key->file, (int32_t)i, &line))
			err = make_source_line(n, line, (int32_t)i, i == key->line, t);
	}
	return err;
}

static struct plumb_error *make_texts(struct pl_flame_nodes *n, uint32_t key_id)
{
	const struct pl_tree_key *key = &n->tree->keys.data[key_id];
	struct pl_text file = pl_text_of(n->p, key->file), name = pl_text_of(n->p, key->name);
	bool special = is_special(file, key->line);
	struct pl_flame_texts t = {.known = true};
	struct plumb_error *err = string_of(n, file, &t.file);

	if (!err)
		err = string_of(n, name, &t.name);
	if (!err && !n->seed)
		err = make_module(n, file, &t.module);
	if (!err)
		err = special ? string_of(n, name, &t.title) : make_title(n, name, file, key->line, &t.title);
	if (!err && !n->seed)
		err = special ? string_of(n, name, &t.label) : make_label(n, name, file, key->line, &t.label);
	if (!err)
		err = make_source(n, key, &t);
	n->texts[key_id] = t;
	return err;
}

static uint64_t least(uint64_t total)
{
	double share = (double)total * SHARE;

	return share < 1 ? 1 : (uint64_t)share;
}

/* Has the node enough of the samples of any thread? */
static bool weighs_in_a_thread(struct pl_flame_nodes *n, const struct pl_tree_node *node)
{
	const struct pl_tree_entry *entries = n->tree->entries.data;
	bool enough = false;

	for (uint32_t i = node->first_entry; i != PL_TREE_NONE; i = entries[i].next) {
		if (!entries[i].left_out)
			n->thread_total[entries[i].thread] =
				pl_sum_u64(n->thread_total[entries[i].thread], entries[i].total);
	}
	for (uint32_t i = node->first_entry; i != PL_TREE_NONE; i = entries[i].next) {
		uint32_t thread = entries[i].thread;

		enough = enough || (n->thread_total[thread] && n->thread_total[thread] >= least(n->whole[thread]));
		n->thread_total[thread] = 0;
	}
	return enough;
}

/* Which nodes are shown, and their texts. */
static struct plumb_error *choose(struct pl_flame_nodes *n)
{
	const struct pl_tree_node *nodes = n->tree->nodes.data;
	uint64_t enough = least(nodes[0].total);
	struct plumb_error *err = NULL;

	n->kept[0] = true;
	for (uint32_t i = pl_sample_tree_next(n->tree, 0, false); i != PL_TREE_NONE && !err;) {
		n->kept[i] =
			nodes[i].total && (nodes[i].total >= enough || (!n->seed && weighs_in_a_thread(n, &nodes[i])));
		if (n->kept[i] && !n->texts[nodes[i].key].known)
			err = make_texts(n, nodes[i].key);
		i = pl_sample_tree_next(n->tree, i, !n->kept[i]);
	}
	return err;
}

static int compare_siblings(const void *va, const void *vb, void *ctx)
{
	const struct pl_flame_nodes *n = ctx;
	const uint32_t *ia = va, *ib = vb;
	const struct pl_tree_node *a = &n->tree->nodes.data[*ia], *b = &n->tree->nodes.data[*ib];
	uint32_t title_a = n->texts[a->key].title, title_b = n->texts[b->key].title;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (title_a != title_b)
		return title_a < title_b ? -1 : 1;
	return *ia < *ib ? -1 : 1;
}

/* Children that are shown, in their order; the others are no longer among them. */
static void sort_children(struct pl_flame_nodes *n, uint32_t parent, uint32_t *scratch)
{
	struct pl_tree_node *nodes = n->tree->nodes.data;
	uint32_t count = 0;

	for (uint32_t i = nodes[parent].first_child; i != PL_TREE_NONE; i = nodes[i].next) {
		if (n->kept[i])
			scratch[count++] = i;
	}
	nodes[parent].first_child = PL_TREE_NONE;
	if (count)
		qsort_r(scratch, count, sizeof *scratch, compare_siblings, n);
	while (count > 0) {
		nodes[scratch[--count]].next = nodes[parent].first_child;
		nodes[parent].first_child = scratch[count];
	}
}

static struct plumb_error *sort_all(struct pl_flame_nodes *n)
{
	uint32_t *scratch = calloc(n->tree->nodes.len + 1, sizeof *scratch);

	if (!scratch)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < n->tree->nodes.len; i++)
		sort_children(n, i, scratch);
	free(scratch);
	return NULL;
}

static void add_up_threads(struct pl_flame_nodes *n)
{
	for (size_t i = 0; i < n->tree->entries.len; i++) {
		const struct pl_tree_entry *e = &n->tree->entries.data[i];

		if (e->node)
			n->whole[e->thread] = pl_sum_u64(n->whole[e->thread], e->self);
	}
}

struct plumb_error *pl_flame_nodes_init(struct pl_flame_nodes *n, struct pl_sample_tree *tree, uint32_t thread_count,
					bool seed)
{
	struct plumb_error *err;

	*n = (struct pl_flame_nodes){
		.p = tree->p, .tree = tree, .seed = seed, .thread_count = thread_count, .text = PL_BUF_INIT(TEXT_MAX)};
	n->thread_total = calloc((size_t)thread_count + 1, sizeof *n->thread_total);
	n->thread_self = calloc((size_t)thread_count + 1, sizeof *n->thread_self);
	n->whole = calloc((size_t)thread_count + 1, sizeof *n->whole);
	n->kept = calloc(tree->nodes.len + 1, sizeof *n->kept);
	n->texts = calloc(tree->keys.len + 1, sizeof *n->texts);
	n->sources = pl_sources_create(tree->p);
	if (!n->thread_total || !n->thread_self || !n->whole || !n->kept || !n->texts || !n->sources)
		return &pl_err_no_memory;
	err = pl_strtab_create(&n->strings);
	if (err)
		return err;
	add_up_threads(n);
	err = choose(n);
	return err ? err : sort_all(n);
}

void pl_flame_nodes_deinit(struct pl_flame_nodes *n)
{
	free(n->thread_total);
	free(n->thread_self);
	free(n->whole);
	free(n->kept);
	free(n->texts);
	pl_strtab_destroy(n->strings);
	pl_vec_deinit(&n->order);
	pl_map_deinit(&n->index);
	pl_sources_destroy(n->sources);
	pl_buf_deinit(&n->text);
}
