/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's context and one variable in it. Layer: cpython. Pure over pl_mem; any thread; allocates nothing.
 *
 * The variables of a context are a hash array mapped trie (Python/hamt.c, the same from 3.7 to 3.15). Each level has
 * five bits of the hash, and a node is one of
 *
 *   bitmap     {size, u32 bits, [key, value]...}  a pair for each bit that is set; without a key the value is a node
 *   array      {[node] * 32}                      where more than 16 of the bits would be set
 *   collision  {size, u32 hash, [key, value]...}  keys of the same hash
 *
 * Where the words are is found out in the process itself, by the Python package: there is no table of it here. */
#include "context.h"

#include "pick.h"

#define HEADER_MAX    64u
#define OFFSET_MAX    4096u
#define LEVELS	      7 /* of five bits: all 32 of the hash */
#define COLLISION_MAX 16
#define PAIR_BYTES    16u

struct search {
	struct pl_mem *mem;
	const struct pl_context_layout *t;
	pl_addr node, value; /* the next node; 0: there is none, and `value` was found or is 0 */
};

struct head {
	pl_addr type;
	uint64_t size; /* of an object of variable size */
	uint32_t bits; /* or the hash */
};

/* So that a thread state, a context and a HAMT are read near their beginning, whatever the words say. */
static bool usable(const struct pl_context_layout *t)
{
	return t->header >= 16 && t->header <= HEADER_MAX && t->type <= t->header - 8 && t->context <= OFFSET_MAX &&
	       t->vars <= OFFSET_MAX && t->root <= OFFSET_MAX;
}

static struct plumb_error *read_pointer(struct pl_mem *mem, pl_addr at, pl_addr *ret)
{
	pl_addr value;
	struct plumb_error *err = pl_mem_read_u64(mem, at, &value);

	if (!err && value && !pl_pointer_ok(value))
		err = &pl_err_corrupt;
	if (!err)
		*ret = value;
	return err;
}

struct plumb_error *pl_context_read(struct pl_mem *mem, const struct pl_context_layout *t, pl_addr tstate,
				    struct pl_context *ret)
{
	struct pl_context c = {0};

	if (!usable(t))
		return &pl_err_corrupt;
	struct plumb_error *err = read_pointer(mem, tstate + t->context, &c.addr);
	if (!err && c.addr)
		err = read_pointer(mem, c.addr + t->vars, &c.vars);
	if (!err)
		*ret = c;
	return err;
}

static struct plumb_error *read_head(const struct search *s, struct head *ret)
{
	uint8_t raw[HEADER_MAX + 16];
	uint32_t at = s->t->header;
	struct plumb_error *err = pl_mem_read(s->mem, s->node, raw, at + 12);

	if (!err)
		*ret = (struct head){pl_pick_u64(raw, s->t->type), pl_pick_u64(raw, at), pl_pick_u32(raw, at + 8)};
	return err;
}

static struct plumb_error *read_pair(const struct search *s, uint32_t i, pl_addr pair[static 2])
{
	struct plumb_error *err = pl_mem_read(s->mem, s->node + s->t->header + 16 + i * PAIR_BYTES, pair, PAIR_BYTES);

	return err || pl_pointer_ok(pair[1]) ? err : &pl_err_corrupt;
}

static struct plumb_error *in_array(struct search *s, uint32_t place)
{
	return read_pointer(s->mem, s->node + s->t->header + place * 8, &s->node);
}

static struct plumb_error *in_bitmap(struct search *s, const struct head *h, uint32_t place)
{
	uint32_t bit = 1u << place;
	pl_addr pair[2] = {0};
	struct plumb_error *err =
		h->bits & bit ? read_pair(s, (uint32_t)__builtin_popcount(h->bits & (bit - 1)), pair) : NULL;

	s->node = pair[0] ? 0 : pair[1];
	s->value = pair[0] == s->t->var ? pair[1] : 0;
	return err;
}

static struct plumb_error *in_collision(struct search *s, const struct head *h)
{
	uint64_t pairs = h->bits == s->t->hash ? h->size / 2 : 0;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < pairs && i < COLLISION_MAX && !s->value && !err; i++) {
		pl_addr pair[2];

		err = read_pair(s, i, pair);
		if (!err && pair[0] == s->t->var)
			s->value = pair[1];
	}
	s->node = 0;
	return err;
}

/* One level down. */
static struct plumb_error *descend(struct search *s, int level)
{
	uint32_t place = level < LEVELS ? s->t->hash >> (5 * level) & 31 : 0;
	struct head h;
	struct plumb_error *err = read_head(s, &h);

	if (err)
		return err;
	if (h.type == s->t->collision_type && h.type)
		return in_collision(s, &h);
	if (level >= LEVELS)
		return &pl_err_corrupt;
	if (h.type == s->t->bitmap_type)
		return in_bitmap(s, &h, place);
	return h.type == s->t->array_type ? in_array(s, place) : &pl_err_corrupt;
}

/* The variable may be set to something else, None above all. */
static struct plumb_error *read_number(const struct search *s, uint32_t *ret)
{
	uint8_t raw[HEADER_MAX + 4];
	struct plumb_error *err = pl_mem_read(s->mem, s->value, raw, s->t->header + 4);

	if (!err)
		*ret = pl_pick_u64(raw, s->t->type) == s->t->value_type ? pl_pick_u32(raw, s->t->header) : 0;
	return err;
}

struct plumb_error *pl_context_tag(struct pl_mem *mem, const struct pl_context_layout *t, const struct pl_context *c,
				   uint32_t *ret)
{
	struct search s = {.mem = mem, .t = t};
	struct plumb_error *err = NULL;

	if (!usable(t))
		return &pl_err_corrupt;
	if (c->vars)
		err = read_pointer(mem, c->vars + t->root, &s.node);
	for (int level = 0; !err && s.node; level++)
		err = descend(&s, level);
	if (!err && s.value)
		return read_number(&s, ret);
	if (!err)
		*ret = 0;
	return err;
}
