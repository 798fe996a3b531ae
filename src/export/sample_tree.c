/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree in the order of first sight (layer export; one owner at a time). A sample costs one look into a map:
 * sums are made once, at the end, from the leaves up. */
#include "sample_tree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "buf.h"
#include "frame_name.h"
#include "map.h"
#include "strtab.h"

#define ENTRIES_FREE	(1u << 22)
#define ENTRIES_A_STACK 32 /* threads that meet in a stack, on the average */

/* Two functions are one where their identifier is one text: it is not escaped, so "a;b" and "a", "b" may meet. */
static struct plumb_error *identify(struct pl_sample_tree *t, const struct pl_tree_key *key, uint64_t *ret)
{
	struct pl_text name = pl_text_of(t->p, key->name), file = pl_text_of(t->p, key->file);
	struct pl_buf text = PL_BUF_INIT(SIZE_MAX / 2);
	uint32_t id = 0;
	struct plumb_error *err = pl_buf_add(&text, name.s, name.len);

	if (!err)
		err = pl_buf_add_u8(&text, ';');
	if (!err)
		err = pl_buf_add(&text, file.s, file.len);
	if (!err)
		err = pl_buf_printf(&text, ";%" PRId32, key->line);
	if (!err)
		err = pl_strtab_add(t->identifiers, text.data, text.len, &id);
	pl_buf_deinit(&text);
	*ret = id;
	return err;
}

static struct plumb_error *make_key(struct pl_sample_tree *t, const struct pl_tree_key *key, struct pl_map *seen,
				    uint32_t *ret)
{
	uint64_t k0 = (uint64_t)key->file << 32 | key->name, k1 = (uint32_t)key->line;

	if (t->identifiers) {
		struct plumb_error *err = identify(t, key, &k0);

		if (err)
			return err;
		k1 = 0;
	}
	if (pl_map_get(seen, k0, k1, ret))
		return NULL;
	*ret = (uint32_t)t->keys.len;
	return pl_vec_push(&t->keys, *key) && pl_map_set(seen, k0, k1, *ret) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *make_keys(struct pl_sample_tree *t, enum pl_tree_by by, bool names_full)
{
	struct pl_map seen = PL_MAP_INIT;
	struct plumb_error *err = by == PL_TREE_BY_FUNCTION ? pl_strtab_create(&t->identifiers) : NULL;

	for (uint32_t i = 0; !err && i < t->p->location_count; i++) {
		const struct pl_location *loc = &t->p->locations[i];
		const struct pl_function *f = &t->p->functions[loc->function];
		const bool lines = by == PL_TREE_BY_LINE;
		struct pl_tree_key key = {.file = lines && loc->line > 0 ? pl_function_source(f) : f->file,
					  .name = names_full && f->qualname ? f->qualname : f->name,
					  .line = lines ? loc->line : (int32_t)f->firstline};

		t->key_of[i] = PL_TREE_NONE;
		if (!pl_frame_is_launcher(t->p, f) && !pl_profile_hides(t->p, f))
			err = make_key(t, &key, &seen, &t->key_of[i]);
	}
	pl_map_deinit(&seen);
	return err;
}

static bool add_node(struct pl_sample_tree *t, uint32_t parent, uint32_t key)
{
	struct pl_tree_node n = {.parent = parent,
				 .key = key,
				 .first_child = PL_TREE_NONE,
				 .last_child = PL_TREE_NONE,
				 .next = PL_TREE_NONE,
				 .first_entry = PL_TREE_NONE,
				 .last_entry = PL_TREE_NONE};

	return pl_vec_push(&t->nodes, n);
}

struct plumb_error *pl_sample_tree_init(struct pl_sample_tree *t, const struct plumb_profile *p, enum pl_tree_by by,
					bool names_full)
{
	*t = (struct pl_sample_tree){.p = p};
	t->key_of = calloc((size_t)p->location_count + 1, sizeof *t->key_of);
	if (!t->key_of || !add_node(t, 0, PL_TREE_NONE))
		return &pl_err_no_memory;
	return make_keys(t, by, names_full);
}

void pl_sample_tree_deinit(struct pl_sample_tree *t)
{
	pl_vec_deinit(&t->keys);
	pl_vec_deinit(&t->nodes);
	pl_vec_deinit(&t->entries);
	pl_vec_deinit(&t->path);
	pl_row_index_deinit(&t->children);
	pl_row_index_deinit(&t->seen);
	pl_strtab_destroy(t->identifiers);
	free(t->key_of);
	t->identifiers = NULL;
	t->key_of = NULL;
}

/* The child of @p parent with that key, made if there is none. */
static struct plumb_error *find_child(struct pl_sample_tree *t, uint32_t parent, uint32_t key, uint32_t *ret)
{
	uint32_t id = (uint32_t)t->nodes.len, hash = pl_row_hash(parent, key), last;
	size_t at = pl_row_index_start(&t->children, hash);

	while (pl_row_index_next(&t->children, hash, &at, ret)) {
		if (t->nodes.data[*ret].parent == parent && t->nodes.data[*ret].key == key)
			return NULL;
	}
	if (id == PL_TREE_NONE || !add_node(t, parent, key) || !pl_row_index_add(&t->children, hash, id))
		return &pl_err_no_memory;
	last = t->nodes.data[parent].last_child;
	if (last == PL_TREE_NONE)
		t->nodes.data[parent].first_child = id;
	else
		t->nodes.data[last].next = id;
	t->nodes.data[parent].last_child = id;
	*ret = id;
	return NULL;
}

static void link_entry(struct pl_sample_tree *t, uint32_t entry, uint32_t node)
{
	struct pl_tree_node *n = &t->nodes.data[node];

	if (n->last_entry == PL_TREE_NONE)
		n->first_entry = entry;
	else
		t->entries.data[n->last_entry].next = entry;
	n->last_entry = entry;
}

static bool find_entry(const struct pl_sample_tree *t, uint32_t stack, uint32_t thread, uint32_t *ret)
{
	uint32_t hash = pl_row_hash(stack, thread), id;
	size_t at = pl_row_index_start(&t->seen, hash);

	while (pl_row_index_next(&t->seen, hash, &at, &id)) {
		if (t->entries.data[id].stack == stack && t->entries.data[id].thread == thread) {
			*ret = id;
			return true;
		}
	}
	return false;
}

/* Each thread has an entry for each frame of each of its stacks: of very many that stand deep down that is far more
 * than all else that is known of them. */
static bool is_full(const struct pl_sample_tree *t)
{
	return t->entries.len >= ENTRIES_FREE + (size_t)ENTRIES_A_STACK * t->p->stack_count;
}

/* One more entry for @p stack, whose caller's entry is @p parent (PL_TREE_NONE: it is outermost). */
static struct plumb_error *add_entry(struct pl_sample_tree *t, uint32_t stack, uint32_t thread, uint32_t parent)
{
	uint32_t id = (uint32_t)t->entries.len, key = t->key_of[t->p->stacks[stack].location];
	uint32_t node = parent == PL_TREE_NONE ? 0 : t->entries.data[parent].node;
	struct pl_tree_entry e = {.stack = stack,
				  .thread = thread,
				  .parent = parent,
				  .next = PL_TREE_NONE,
				  .left_out = key == PL_TREE_NONE};
	struct plumb_error *err = e.left_out ? NULL : find_child(t, node, key, &node);

	if (err)
		return err;
	if (is_full(t))
		return pl_error_hint(pl_error(PLUMB_ERR_LIMIT,
					      "too many threads have too deep stacks for a flame graph with "
					      "the samples of each thread in each frame"),
				     "choose some with --threads");
	e.node = node;
	if (id == PL_TREE_NONE || !pl_vec_push(&t->entries, e) ||
	    !pl_row_index_add(&t->seen, pl_row_hash(stack, thread), id))
		return &pl_err_no_memory;
	link_entry(t, id, node);
	return NULL;
}

struct plumb_error *pl_sample_tree_add(struct pl_sample_tree *t, uint32_t stack, uint32_t thread, uint64_t samples)
{
	uint32_t entry = PL_TREE_NONE;
	struct plumb_error *err = NULL;

	pl_vec_clear(&t->path);
	for (uint32_t s = stack; s && !find_entry(t, s, thread, &entry); s = t->p->stacks[s].parent) {
		if (!pl_vec_push(&t->path, s))
			return &pl_err_no_memory;
	}
	while (!err && t->path.len > 0) {
		err = add_entry(t, t->path.data[--t->path.len], thread, entry);
		entry = (uint32_t)t->entries.len - 1;
	}
	if (!err && entry != PL_TREE_NONE)
		t->entries.data[entry].self = pl_sum_u64(t->entries.data[entry].self, samples);
	return err;
}

void pl_sample_tree_finish(struct pl_sample_tree *t)
{
	pl_row_index_deinit(&t->children);
	pl_row_index_deinit(&t->seen);
	for (size_t i = t->entries.len; i-- > 0;) {
		struct pl_tree_entry *e = &t->entries.data[i];
		struct pl_tree_node *n = &t->nodes.data[e->node];

		e->total = pl_sum_u64(e->total, e->self);
		if (e->parent != PL_TREE_NONE)
			t->entries.data[e->parent].total = pl_sum_u64(t->entries.data[e->parent].total, e->total);
		if (e->node == 0)
			continue;
		n->self = pl_sum_u64(n->self, e->self);
		if (!e->left_out)
			n->total = pl_sum_u64(n->total, e->total);
		t->nodes.data[0].total = pl_sum_u64(t->nodes.data[0].total, e->self);
	}
}

uint32_t pl_sample_tree_next(const struct pl_sample_tree *t, uint32_t node, bool skip)
{
	const struct pl_tree_node *nodes = t->nodes.data;

	if (!skip && nodes[node].first_child != PL_TREE_NONE)
		return nodes[node].first_child;
	while (node && nodes[node].next == PL_TREE_NONE)
		node = nodes[node].parent;
	return node ? nodes[node].next : PL_TREE_NONE;
}
