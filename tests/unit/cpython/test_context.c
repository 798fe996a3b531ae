/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and their tries made by hand, the damaged ones above all. Real ones are in tests/python/tags.py. */
#include "unit.h"

#include "context.h"
#include "fake.h"

#define BITMAP	  0x11000
#define ARRAY	  0x12000
#define COLLISION 0x13000
#define TAG	  0x14000
#define OTHER	  0x15000

/* A thread whose context has these variables. */
struct stage {
	struct fake f;
	struct pl_context_layout t;
	pl_addr tstate, context, trie;
};

static void set_up(struct stage *s, uint32_t header)
{
	fake_init(&s->f);
	s->t = (struct pl_context_layout){.var = 0x99990,
					  .hash = 0xc5a3f06b,
					  .value_type = TAG,
					  .bitmap_type = BITMAP,
					  .array_type = ARRAY,
					  .collision_type = COLLISION,
					  .context = 240,
					  .vars = header + 8,
					  .root = header,
					  .type = header - 8,
					  .header = header};
	s->tstate = fake_new(&s->f, 256);
	s->context = fake_new(&s->f, 64);
	s->trie = fake_new(&s->f, 64);
	fake_u64(&s->f, s->tstate + s->t.context, s->context);
	fake_u64(&s->f, s->context + s->t.vars, s->trie);
}

static uint32_t place_of(const struct stage *s, int level)
{
	return s->t.hash >> (5 * level) & 31;
}

static pl_addr put_object(struct stage *s, pl_addr type, size_t bytes)
{
	pl_addr o = fake_new(&s->f, s->t.header + bytes);

	fake_u64(&s->f, o + s->t.type, type);
	return o;
}

static pl_addr put_tag(struct stage *s, uint32_t id)
{
	pl_addr o = put_object(s, TAG, 4);

	fake_put(&s->f, o + s->t.header, &id, 4);
	return o;
}

/* A node of pairs: @p word is its bits or its hash. */
static pl_addr put_pairs(struct stage *s, pl_addr type, uint32_t word, const pl_addr *pairs, size_t count)
{
	pl_addr node = put_object(s, type, 16 + 16 * count);

	fake_u64(&s->f, node + s->t.header, 2 * count);
	fake_put(&s->f, node + s->t.header + 8, &word, 4);
	fake_put(&s->f, node + s->t.header + 16, pairs, 16 * count);
	return node;
}

/* @p node where the hash leads at @p level, others before and behind it. */
static pl_addr put_above(struct stage *s, int level, pl_addr node)
{
	uint32_t place = place_of(s, level), bits = 1u << place | 1u | 1u << 31;
	pl_addr pairs[] = {0x77770, 0x66660, 0, node, 0x55550, 0x44440};

	return put_pairs(s, BITMAP, bits, pairs + (place ? 0 : 2), 3 - (place == 0) - (place == 31));
}

static pl_addr put_array_above(struct stage *s, int level, pl_addr node)
{
	pl_addr array = put_object(s, ARRAY, 32 * 8);

	for (uint32_t i = 0; i < 32; i++)
		fake_u64(&s->f, array + s->t.header + 8 * i, i % 3 ? 0x7770 : 0);
	fake_u64(&s->f, array + s->t.header + 8 * place_of(s, level), node);
	return array;
}

static pl_addr put_leaf(struct stage *s, int level, pl_addr var, pl_addr value)
{
	pl_addr pair[] = {var, value};

	return put_pairs(s, BITMAP, 1u << place_of(s, level), pair, 1);
}

static void set_root(struct stage *s, pl_addr root)
{
	fake_u64(&s->f, s->trie + s->t.root, root);
}

static struct plumb_error *find(struct stage *s, uint32_t *ret)
{
	struct pl_context c;
	struct plumb_error *err = pl_context_read(&s->f.mem, &s->t, s->tstate, &c);

	return err ? err : pl_context_tag(&s->f.mem, &s->t, &c, ret);
}

static void expect(struct stage *s, uint32_t want)
{
	uint32_t tag = 77;

	assert_ok(find(s, &tag));
	assert_int_equal(tag, want);
}

static void expect_corrupt(struct stage *s)
{
	uint32_t tag = 77;

	assert_ptr_equal(find(s, &tag), &pl_err_corrupt);
	assert_int_equal(tag, 77);
}

static void a_tag_is_found_at_each_depth(void **state)
{
	for (uint32_t header = 16; header <= 32; header += 16) {
		for (int depth = 0; depth < 7; depth++) {
			for (int arrays = 0; arrays < 2; arrays++) {
				struct stage s;
				set_up(&s, header);
				pl_addr node = put_leaf(&s, depth, s.t.var, put_tag(&s, 1000 + (uint32_t)depth));
				for (int level = depth; level-- > 0;)
					node = arrays ? put_array_above(&s, level, node) : put_above(&s, level, node);
				set_root(&s, node);
				expect(&s, 1000 + (uint32_t)depth);
				fake_deinit(&s.f);
			}
		}
	}
}

static void what_is_not_set_is_not_found(void **state)
{
	struct stage s;

	set_up(&s, 16);
	expect(&s, 0); /* an empty trie */
	set_root(&s, put_leaf(&s, 0, 0x88880, put_tag(&s, 5)));
	expect(&s, 0); /* another variable in its place */
	set_root(&s, put_pairs(&s, BITMAP, ~(1u << place_of(&s, 0)), (pl_addr[]){1, 8}, 1));
	expect(&s, 0);
	set_root(&s, put_array_above(&s, 0, 0));
	expect(&s, 0);
	set_root(&s, put_leaf(&s, 0, s.t.var, put_object(&s, OTHER, 4)));
	expect(&s, 0); /* set to None */
	fake_u64(&s.f, s.context + s.t.vars, 0);
	expect(&s, 0);
	fake_u64(&s.f, s.tstate + s.t.context, 0);
	expect(&s, 0); /* a thread without a context */
	fake_deinit(&s.f);
}

static void of_equal_hashes_the_variable_decides(void **state)
{
	for (int at = 0; at < 3; at++) {
		struct stage s;
		set_up(&s, 16);
		pl_addr pairs[] = {0x88880, 0x66660, 0x88890, 0x66660, 0x888a0, 0x66660};
		set_root(&s, put_pairs(&s, COLLISION, s.t.hash, pairs, 3));
		expect(&s, 0);
		pairs[2 * at] = s.t.var;
		pairs[2 * at + 1] = put_tag(&s, 9);
		pl_addr node = put_pairs(&s, COLLISION, s.t.hash, pairs, 3);
		set_root(&s, node);
		expect(&s, 9);
		for (int level = 7; level-- > 0;) /* at the very bottom */
			node = put_above(&s, level, node);
		set_root(&s, node);
		expect(&s, 9);
		set_root(&s, put_pairs(&s, COLLISION, s.t.hash ^ 1, pairs, 3));
		expect(&s, 0);
		s.t.collision_type = 0;
		expect_corrupt(&s);
		fake_deinit(&s.f);
	}
}

static void loops_and_wrong_words_end(void **state)
{
	struct stage s;
	uint32_t tag;

	set_up(&s, 16);
	pl_addr loop = put_array_above(&s, 0, 0);
	for (uint32_t i = 0; i < 32; i++)
		fake_u64(&s.f, loop + s.t.header + 8 * i, loop);
	set_root(&s, loop);
	expect_corrupt(&s);
	set_root(&s, put_object(&s, OTHER, 64)); /* no node */
	expect_corrupt(&s);
	set_root(&s, put_leaf(&s, 0, s.t.var, 0)); /* no value */
	expect_corrupt(&s);
	set_root(&s, put_leaf(&s, 0, s.t.var, 0x3));
	expect_corrupt(&s);
	pl_addr many = put_pairs(&s, COLLISION, s.t.hash, (pl_addr[]){0x88880, 0x66660}, 1);
	fake_u64(&s.f, many + s.t.header, UINT64_MAX); /* so many pairs */
	set_root(&s, many);
	assert_ptr_equal(find(&s, &tag), &pl_err_unreadable);
	set_root(&s, 0x666660);
	assert_ptr_equal(find(&s, &tag), &pl_err_unreadable);
	set_root(&s, 0x5);
	expect_corrupt(&s);
	fake_u64(&s.f, s.context + s.t.vars, 0x666660);
	assert_ptr_equal(find(&s, &tag), &pl_err_unreadable);
	fake_u64(&s.f, s.tstate + s.t.context, 0x666660);
	assert_ptr_equal(find(&s, &tag), &pl_err_unreadable);
	fake_deinit(&s.f);
}

static void places_far_away_are_refused(void **state)
{
	struct stage s;

	set_up(&s, 16);
	uint32_t *const words[] = {&s.t.context, &s.t.vars, &s.t.root, &s.t.type, &s.t.header};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		uint32_t was = *words[i];

		*words[i] = 1u << 20;
		expect_corrupt(&s);
		*words[i] = was;
		expect(&s, 0);
	}
	fake_deinit(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tag_is_found_at_each_depth),		cmocka_unit_test(what_is_not_set_is_not_found),
		cmocka_unit_test(of_equal_hashes_the_variable_decides), cmocka_unit_test(loops_and_wrong_words_end),
		cmocka_unit_test(places_far_away_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
