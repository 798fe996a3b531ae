/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same in several recordings (layer model): functions, lines, paths. Read-only for the profiles.
 *
 * A function is known by its qualified name and its file, not by its line: code moves when something above it is
 * edited. What is left over on both sides is tried again with the last part of the file's path alone, if that is the
 * only such function on either side: the same program is often installed elsewhere. A line is counted from the first
 * line of its function, for the same reason. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff_parts.h"
#include "index.h"

struct builder {
	struct pl_diff_tables *t;
	const struct pl_diff_options *o;
	struct pl_strtab *texts;
	struct pl_map names; /* (qualified name, file) and kind of frame -> function */
	struct pl_map keys;  /* (function, line) -> key */
	struct pl_call_nodes nodes;
	PL_VEC(struct known) known; /* the functions */
	size_t key_cap;
};

/* A function of any of the recordings. */
struct known {
	uint32_t qualname, base; /* in texts; base: last part of the file's path */
	uint32_t same;		 /* as this one, or itself */
	uint8_t origin, sides;	 /* bits */
};

static void text_of(const struct plumb_profile *p, uint32_t string, const char **s, size_t *len)
{
	*s = pl_strtab_get(p->strings, string, len);
}

static uint32_t name_of(const struct pl_function *f)
{
	return f->qualname ? f->qualname : f->name;
}

static struct plumb_error *add_known(struct builder *b, const struct plumb_profile *p, const struct pl_function *f,
				     uint32_t qualname, uint32_t *ret)
{
	struct known k = {.qualname = qualname, .same = (uint32_t)b->known.len, .origin = f->origin};
	const char *file;
	size_t len;

	text_of(p, f->file, &file, &len);
	const char *slash = memrchr(file, '/', len);
	size_t skip = slash ? (size_t)(slash - file) + 1 : 0;
	struct plumb_error *err = pl_strtab_add(b->texts, file + skip, len - skip, &k.base);
	if (err)
		return err;
	if (!pl_vec_push(&b->known, k))
		return &pl_err_no_memory;
	*ret = k.same;
	return NULL;
}

static struct plumb_error *find_function(struct builder *b, const struct plumb_profile *p, const struct pl_function *f,
					 uint32_t *ret)
{
	uint32_t qualname, file;
	const char *s;
	size_t len;

	text_of(p, name_of(f), &s, &len);
	struct plumb_error *err = pl_strtab_add(b->texts, s, len, &qualname);
	if (err)
		return err;
	text_of(p, f->file, &s, &len);
	err = pl_strtab_add(b->texts, s, len, &file);
	if (err)
		return err;
	uint64_t k0 = (uint64_t)qualname << 32 | file;
	if (pl_map_get(&b->names, k0, f->origin, ret))
		return NULL;
	err = add_known(b, p, f, qualname, ret);
	if (err)
		return err;
	return pl_map_set(&b->names, k0, f->origin, *ret) ? NULL : &pl_err_no_memory;
}

/* Fill @p function_of (function of the profile -> function of all), for those in needed stacks. */
static struct plumb_error *know_functions(struct builder *b, const struct pl_diff_run *run, const bool *needed,
					  uint32_t *function_of)
{
	const struct plumb_profile *p = run->selection.profile;

	for (uint32_t id = 1; id < p->stack_count; id++) {
		uint32_t f = p->locations[p->stacks[id].location].function;

		if (!needed[id])
			continue;
		if (function_of[f] == PL_NO_ROW) {
			struct plumb_error *err = find_function(b, p, &p->functions[f], &function_of[f]);
			if (err)
				return err;
		}
		b->known.data[function_of[f]].sides |= (uint8_t)(1u << run->side);
	}
	return NULL;
}

#define BEFORE_ONLY (1u << PL_DIFF_BEFORE)
#define AFTER_ONLY  (1u << PL_DIFF_AFTER)
#define SEVERAL	    (UINT32_MAX - 1)

/* The only function of one side by (name, base name of the file, kind); SEVERAL if it is not the only one. */
static bool index_one_side(const struct builder *b, uint8_t side, struct pl_map *ret)
{
	for (uint32_t i = 0; i < b->known.len; i++) {
		const struct known *k = &b->known.data[i];
		uint64_t k0 = (uint64_t)k->qualname << 32 | k->base;
		uint32_t other;

		if (k->sides != side)
			continue;
		if (!pl_map_set(ret, k0, k->origin, pl_map_get(ret, k0, k->origin, &other) ? SEVERAL : i))
			return false;
	}
	return true;
}

static struct plumb_error *match_moved(struct builder *b)
{
	struct pl_map before = PL_MAP_INIT, after = PL_MAP_INIT;
	bool ok = index_one_side(b, BEFORE_ONLY, &before) && index_one_side(b, AFTER_ONLY, &after);

	for (uint32_t i = 0; i < b->known.len && ok; i++) {
		struct known *k = &b->known.data[i];
		uint64_t k0 = (uint64_t)k->qualname << 32 | k->base;
		uint32_t there, here;

		if (k->sides == AFTER_ONLY && pl_map_get(&after, k0, k->origin, &here) && here == i &&
		    pl_map_get(&before, k0, k->origin, &there) && there != SEVERAL) {
			k->same = there;
			b->t->moved++;
		}
	}
	pl_map_deinit(&before);
	pl_map_deinit(&after);
	return ok ? NULL : &pl_err_no_memory;
}

/* The key of a location; its profile and names are those of the last who asked. */
static struct plumb_error *find_key(struct builder *b, const struct plumb_profile *p, const struct pl_location *l,
				    uint32_t function, uint32_t *ret)
{
	struct pl_diff_tables *t = b->t;
	const struct pl_function *f = &p->functions[l->function];
	int32_t line = b->o->rows == PL_DIFF_LINES ? l->line : 0;
	int64_t offset = line ? (int64_t)line - f->firstline : INT32_MIN;
	uint64_t k0 = b->known.data[function].same, k1 = (uint64_t)offset;
	struct pl_diff_key key = {.profile = p, .function = l->function, .line = line};

	if (pl_map_get(&b->keys, k0, k1, ret)) {
		t->keys[*ret] = key;
		return NULL;
	}
	struct plumb_error *err = pl_table_room((void **)&t->keys, &b->key_cap, t->key_count, sizeof *t->keys);
	if (err)
		return err;
	if (!pl_map_set(&b->keys, k0, k1, t->key_count))
		return &pl_err_no_memory;
	t->keys[t->key_count] = key;
	*ret = t->key_count++;
	return NULL;
}

static struct plumb_error *add_stacks(struct builder *b, struct pl_diff_run *run, const bool *needed,
				      const uint32_t *function_of)
{
	const struct plumb_profile *p = run->selection.profile;
	struct pl_diff_tables *t = b->t;

	for (uint32_t id = 1; id < p->stack_count; id++) {
		const struct pl_stack *s = &p->stacks[id];
		uint32_t key = 0;

		if (!needed[id])
			continue;
		const struct pl_location *l = &p->locations[s->location];
		struct plumb_error *err = find_key(b, p, l, function_of[l->function], &key);
		if (!err)
			err = pl_call_node_find(&b->nodes, &t->nodes, &t->node_count, run->node_of_stack[s->parent],
						key, &run->node_of_stack[id]);
		if (err)
			return err;
	}
	return NULL;
}

/* What a run needs while the tables are made. */
struct scratch {
	bool *needed;
	uint32_t *function_of;
};

static struct plumb_error *scratch_init(struct scratch *s, const struct pl_diff_run *run)
{
	const struct plumb_profile *p = run->selection.profile;

	s->needed = pl_select_stacks(&run->selection);
	s->function_of = malloc(((size_t)p->function_count + 1) * sizeof *s->function_of);
	if (!s->needed || !s->function_of)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < p->function_count; i++)
		s->function_of[i] = PL_NO_ROW;
	return NULL;
}

static struct plumb_error *build(struct builder *b, struct scratch *scratch)
{
	struct pl_diff_tables *t = b->t;
	struct plumb_error *err = pl_table_room((void **)&t->nodes, &b->nodes.cap, 0, sizeof *t->nodes);

	if (err)
		return err;
	t->nodes[t->node_count++] = (struct pl_call_node){0};
	for (size_t i = 0; i < t->run_count && !err; i++) {
		err = scratch_init(&scratch[i], &t->runs[i]);
		if (!err)
			err = know_functions(b, &t->runs[i], scratch[i].needed, scratch[i].function_of);
	}
	if (!err)
		err = match_moved(b);
	for (size_t i = 0; i < t->run_count && !err; i++)
		err = add_stacks(b, &t->runs[i], scratch[i].needed, scratch[i].function_of);
	return err;
}

static struct plumb_error *build_tree(struct pl_diff_tables *t, const struct pl_diff_options *o)
{
	struct builder b = {.t = t, .o = o};
	struct scratch *scratch = calloc(t->run_count + 1, sizeof *scratch);
	struct plumb_error *err = scratch ? pl_strtab_create(&b.texts) : &pl_err_no_memory;

	if (!err)
		err = build(&b, scratch);
	for (size_t i = 0; scratch && i < t->run_count; i++) {
		free(scratch[i].needed);
		free(scratch[i].function_of);
	}
	free(scratch);
	pl_strtab_destroy(b.texts);
	pl_map_deinit(&b.names);
	pl_map_deinit(&b.keys);
	pl_row_index_deinit(&b.nodes.index);
	pl_vec_deinit(&b.known);
	return err;
}

static struct plumb_error *add_run(struct pl_diff_tables *t, const struct plumb_profile *p, enum pl_diff_side side,
				   const struct pl_diff_options *o)
{
	struct pl_diff_run *run = &t->runs[t->run_count];
	struct plumb_error *err = pl_select(p, &o->filter, &run->selection);

	if (err)
		return err;
	t->run_count++;
	run->side = side;
	run->units = o->units ? o->units[t->run_count - 1] : 1;
	run->node_of_stack = calloc((size_t)p->stack_count + 1, sizeof *run->node_of_stack);
	return run->node_of_stack ? NULL : &pl_err_no_memory;
}

static struct plumb_error *add_runs(struct pl_diff_tables *t, const struct pl_diff_input *sides,
				    const struct pl_diff_options *o)
{
	t->runs = calloc(sides[PL_DIFF_BEFORE].count + sides[PL_DIFF_AFTER].count + 1, sizeof *t->runs);
	if (!t->runs)
		return &pl_err_no_memory;
	for (int side = 0; side < PL_DIFF_SIDES; side++) {
		for (size_t i = 0; i < sides[side].count; i++) {
			struct plumb_error *err = add_run(t, sides[side].profiles[i], (enum pl_diff_side)side, o);
			if (err)
				return err;
		}
	}
	return NULL;
}

static bool is_named(const struct pl_diff_key *k, const char *name)
{
	const struct pl_function *f = &k->profile->functions[k->function];

	return strcmp(pl_strtab_get(k->profile->strings, f->name, NULL), name) == 0 ||
	       strcmp(pl_strtab_get(k->profile->strings, f->qualname, NULL), name) == 0;
}

/* The outermost nodes of all functions of that name: what is below counts once. */
static struct plumb_error *find_reference(struct pl_diff_tables *t, const char *name)
{
	bool *below = calloc(t->node_count, sizeof *below);

	t->reference = calloc(t->node_count, sizeof *t->reference);
	if (!below || !t->reference) {
		free(below);
		return &pl_err_no_memory;
	}
	for (uint32_t n = 1; n < t->node_count; n++) {
		bool inside = below[t->nodes[n].parent];

		t->reference[n] = !inside && is_named(&t->keys[t->nodes[n].key], name);
		below[n] = inside || t->reference[n];
	}
	free(below);
	return NULL;
}

/* Each path has its figures, which are some 700 bytes. A small file of another tool, packed, has millions of them. What
 * people record has less than one for ten bytes of its file, but for recursion without end in many threads. */
#define PATHS_BASE   ((uint64_t)3 << 18)
#define PATHS_A_BYTE 2

/* Of recordings of which it is not known how long their files are there may be any number. */
static struct plumb_error *check_paths(const struct pl_diff_tables *t)
{
	uint64_t most = PATHS_BASE;

	for (size_t i = 0; i < t->run_count; i++) {
		uint64_t bytes = t->runs[i].selection.profile->meta.file_bytes;

		if (!bytes)
			return NULL;
		most = pl_sum_u64(most, bytes < UINT64_MAX / PATHS_A_BYTE ? PATHS_A_BYTE * bytes : UINT64_MAX);
	}
	if (t->node_count <= most)
		return NULL;
	return pl_error_hint(
		pl_error(PLUMB_ERR_LIMIT,
			 "there would be %" PRIu32 " paths of calls to compare, where files of this size "
			 "may have %" PRIu64,
			 t->node_count - 1, most),
		"choose less of them (focus, time, threads), or compare functions, as text and markdown do");
}

static struct plumb_error *mark_nodes(struct pl_diff_tables *t, const struct pl_diff_options *o)
{
	const struct pl_calltree tree = {
		.nodes = t->nodes, .node_count = t->node_count, .keys = NULL, .key_count = t->key_count};

	t->topmost = calloc(t->node_count, sizeof *t->topmost);
	struct plumb_error *err = t->topmost ? pl_calltree_topmost(&tree, t->topmost) : &pl_err_no_memory;
	if (!err && o->scale == PL_DIFF_BY_FUNCTION)
		err = find_reference(t, o->reference);
	return err;
}

struct plumb_error *pl_diff_tables_make(const struct pl_diff_input sides[PL_DIFF_SIDES],
					const struct pl_diff_options *o, struct pl_diff_tables *ret)
{
	struct pl_diff_tables t = {0};
	struct plumb_error *err = add_runs(&t, sides, o);

	if (!err)
		err = build_tree(&t, o);
	if (!err && o->rows == PL_DIFF_PATHS)
		err = check_paths(&t);
	if (!err)
		err = mark_nodes(&t, o);
	if (err) {
		pl_diff_tables_deinit(&t);
		return err;
	}
	*ret = t;
	return NULL;
}

void pl_diff_tables_deinit(struct pl_diff_tables *t)
{
	for (size_t i = 0; i < t->run_count; i++) {
		pl_selection_deinit(&t->runs[i].selection);
		free(t->runs[i].node_of_stack);
	}
	free(t->runs);
	free(t->keys);
	free(t->nodes);
	free(t->topmost);
	free(t->reference);
	*t = (struct pl_diff_tables){0};
}
