/* SPDX-License-Identifier: Apache-2.0 */
/* Layer export; pure, any thread.
 *
 * Two lines may be alike for thousands of parts, so lines are not compared: texts of parts are, once, and the trie is
 * walked in their order. Nodes whose lines have one text are one there. What ends with a part stands elsewhere among
 * its siblings than what goes on behind it: "a 1" < "a:b 1" < "a;b 1". So each has two places, its end and its inside.
 */
#include "line_order.h"

#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "vec.h"

/* A part or a node of the walk, twice: number * 2, and 1 more for what goes on behind it. */
#define END(i)	    (2 * (uint64_t)(i))
#define INSIDE(i)   (END(i) + 1)
#define OF(place)   ((uint32_t)((place) / 2))
#define GOES_ON(at) ((at) % 2 != 0)

/* Lines of one text. */
struct same {
	uint32_t parent, part;
};

struct order {
	const struct pl_line_trie *t;
	uint64_t *places;      /* scratch: what is sorted */
	uint32_t *part_ranks;  /* of the places of parts */
	uint32_t *same_as;     /* node -> index in of_one_text */
	uint64_t *first_child; /* of these, and one more: in places */
	uint32_t *line_ranks;  /* of these */
	PL_VEC(struct same) of_one_text;
};

/* What stands behind its first @p len bytes: at the end of a line less than any byte. */
static int byte_at(const struct order *o, uint64_t place, size_t len)
{
	const struct pl_line_part *part = &o->t->parts[OF(place)];

	if (len < part->len)
		return o->t->text[part->at + len];
	return GOES_ON(place) ? ';' : -1;
}

static int compare_parts(const void *va, const void *vb, void *ctx)
{
	const struct order *o = ctx;
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;
	const struct pl_line_part *x = &o->t->parts[OF(a)], *y = &o->t->parts[OF(b)];
	size_t len = x->len < y->len ? x->len : y->len;
	int order = len ? memcmp(o->t->text + x->at, o->t->text + y->at, len) : 0;

	if (!order)
		order = byte_at(o, a, len) - byte_at(o, b, len);
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static void rank_parts(struct order *o)
{
	uint64_t count = END(o->t->part_count);

	for (uint64_t i = 0; i < count; i++)
		o->places[i] = i;
	if (count)
		qsort_r(o->places, count, sizeof *o->places, compare_parts, o);
	for (uint64_t i = 0; i < count; i++) {
		bool same = i && compare_parts(&o->places[i - 1], &o->places[i], o) == 0;

		o->part_ranks[o->places[i]] = same ? o->part_ranks[o->places[i - 1]] : (uint32_t)i;
	}
}

static bool unite(struct order *o)
{
	struct pl_map known = PL_MAP_INIT;
	bool ok = pl_vec_push(&o->of_one_text, (struct same){0}); /* the root */

	for (uint32_t i = 1; i < o->t->node_count && ok; i++) {
		const struct pl_line_node *n = &o->t->nodes[i];
		struct same s = {.parent = o->same_as[n->parent], .part = n->part};
		uint32_t text = o->part_ranks[END(s.part)];

		if (pl_map_get(&known, s.parent, text, &o->same_as[i]))
			continue;
		o->same_as[i] = (uint32_t)o->of_one_text.len;
		ok = pl_vec_push(&o->of_one_text, s) && pl_map_set(&known, s.parent, text, o->same_as[i]);
	}
	pl_map_deinit(&known);
	return ok;
}

static uint32_t rank_of(const struct order *o, uint64_t place)
{
	uint32_t part = o->of_one_text.data[OF(place)].part;

	return o->part_ranks[GOES_ON(place) ? INSIDE(part) : END(part)];
}

static int compare_places(const void *va, const void *vb, void *ctx)
{
	const struct order *o = ctx;
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;
	uint32_t p = o->of_one_text.data[OF(a)].parent, q = o->of_one_text.data[OF(b)].parent;
	uint32_t x = rank_of(o, a), y = rank_of(o, b);

	return p != q ? (p < q ? -1 : 1) : (x > y) - (x < y);
}

/* Those of one parent side by side. */
static void sort_places(struct order *o)
{
	size_t count = o->of_one_text.len;
	uint64_t places = END(count - 1);

	for (uint64_t i = 0; i < places; i++)
		o->places[i] = END(1) + i;
	if (places)
		qsort_r(o->places, places, sizeof *o->places, compare_places, o);
	for (size_t i = 1; i < count; i++)
		o->first_child[o->of_one_text.data[i].parent + 1] += 2;
	for (size_t i = 1; i <= count; i++)
		o->first_child[i] += o->first_child[i - 1];
}

/* Places still to come: those of a node from first_child on. */
struct level {
	uint64_t next, end;
};

static bool walk(struct order *o)
{
	PL_VEC(struct level) path = {0};
	uint32_t rank = 0;
	bool ok = pl_vec_push(&path, ((struct level){o->first_child[0], o->first_child[1]}));

	while (ok && path.len) {
		struct level *level = &path.data[path.len - 1];

		if (level->next == level->end) {
			path.len--;
			continue;
		}
		uint64_t place = o->places[level->next++];
		uint32_t node = OF(place);

		if (!GOES_ON(place))
			o->line_ranks[node] = ++rank;
		else
			ok = pl_vec_push(&path, ((struct level){o->first_child[node], o->first_child[node + 1]}));
	}
	pl_vec_deinit(&path);
	return ok;
}

static bool allocate(struct order *o)
{
	size_t parts = (size_t)o->t->part_count + 1, nodes = (size_t)o->t->node_count + 1;

	o->places = calloc(2 * (parts > nodes ? parts : nodes), sizeof *o->places);
	o->part_ranks = calloc(2 * parts, sizeof *o->part_ranks);
	o->same_as = calloc(nodes, sizeof *o->same_as);
	o->first_child = calloc(nodes + 1, sizeof *o->first_child);
	o->line_ranks = calloc(nodes, sizeof *o->line_ranks);
	return o->places && o->part_ranks && o->same_as && o->first_child && o->line_ranks;
}

struct plumb_error *pl_line_order(const struct pl_line_trie *t, uint32_t *ranks)
{
	struct order o = {.t = t};
	bool ok = allocate(&o);

	if (ok) {
		rank_parts(&o);
		ok = unite(&o);
	}
	if (ok) {
		sort_places(&o);
		ok = walk(&o);
	}
	for (uint32_t i = 0; i < t->node_count && ok; i++)
		ranks[i] = o.line_ranks[o.same_as[i]];
	free(o.places);
	free(o.part_ranks);
	free(o.same_as);
	free(o.first_child);
	free(o.line_ranks);
	pl_vec_deinit(&o.of_one_text);
	return ok ? NULL : &pl_err_no_memory;
}
