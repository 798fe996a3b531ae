/* SPDX-License-Identifier: Apache-2.0 */
/* What the consumer does with records follows their number, whatever the program has put into its code objects. */
#include "unit.h"

#include <string.h>

#include "counted.h"
#include "remote.h"

#define ITEMS	   512
#define ITEM_BYTES 64 /* of a line table, for each node */

struct table {
	enum pl_line_table kind;
	char entry[ITEM_BYTES + 1]; /* again and again */
	int32_t entry_bytes;	    /* of bytecode */
};

static struct plumb_error *no_sample(void *ctx, const struct pl_sample *s)
{
	return NULL;
}

static void take(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p)
{
	assert_ok(pl_resolver_take(r, rec, p, no_sample, NULL));
}

static void add_long_table(const struct table *t, struct pl_buf *to, unsigned items)
{
	for (unsigned i = 0; i < items; i++)
		assert_ok(pl_buf_add(to, t->entry, ITEM_BYTES));
}

/* A function that calls itself at ever other places, whose line table is as long as there are places. */
static void take_nodes(void *ctx, unsigned items)
{
	const struct table *t = ctx;
	const struct pl_engine_options o = {.sources = false};
	struct pl_known_code k = {.lines = t->kind};
	const struct pl_record code = {.kind = PL_RECORD_CODE, .code.code = &k};
	struct plumb_profile *p;
	struct pl_resolver *r;

	pl_code_init(&k.code);
	add_long_table(t, &k.code.linetable, items);
	assert_ok(pl_profile_create(&p));
	assert_ok(pl_resolver_create(&o, &r));
	counted_begin();
	take(r, &code, p);
	for (unsigned i = 0; i < items; i++) {
		struct pl_record node = {.kind = PL_RECORD_NODE, .node = {.parent = i}};

		node.node.offset = (int32_t)i * t->entry_bytes;
		take(r, &node, p);
	}
	counted_end();
	assert_int_equal(p->stack_count, items + 1);
	pl_resolver_destroy(r);
	pl_profile_destroy(p);
	pl_code_deinit(&k.code);
}

/* In each format, tables that say nothing, and those that say something of each instruction. */
static void lines_of_a_long_table(void **state)
{
	struct table tables[] = {
		{PL_LINES_PEP657, "", 1},	   {PL_LINES_PEP626, "", 1},	      {PL_LINES_LNOTAB, "", 1},
		{PL_LINES_LNOTAB_U8, "", 1},	   {PL_LINES_PEP657, "", ITEM_BYTES}, {PL_LINES_PEP626, "", ITEM_BYTES},
		{PL_LINES_LNOTAB, "", ITEM_BYTES},
	};

	for (size_t i = 0; i < ITEM_BYTES; i += 2) {
		memcpy(tables[4].entry + i, "\xe8\x02", 2);
		memcpy(tables[5].entry + i, "\x02\x01", 2);
		memcpy(tables[6].entry + i, "\x02\x01", 2);
	}
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		counted_linear(take_nodes, &tables[i], ITEMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_long_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
