/* SPDX-License-Identifier: Apache-2.0 */
/* What the consumer does with records follows their number, whatever the program has put into its code objects. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "counted.h"
#include "lock_looks.h"
#include "codes.h"
#include "resolve.h"

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

static void make_known(struct pl_resolver *r, struct plumb_profile *p, uint32_t process)
{
	struct pl_record rec = {.kind = PL_RECORD_PROCESS};

	rec.process.info = calloc(1, sizeof *rec.process.info);
	assert_non_null(rec.process.info);
	rec.process.info->index = process;
	rec.process.info->pid = 1 + process;
	rec.process.info->view_number = 1;
	take(r, &rec, p);
}

/* Code of ever other files, of a process that is known and of one that is not, yet. Nobody is asked for what has such a
 * name. */
static void take_files(void *ctx, unsigned items)
{
	const struct pl_engine_options o = {.sources = true};
	struct pl_known_code *codes = calloc(items, sizeof *codes);
	struct plumb_profile *p;
	struct pl_resolver *r;

	assert_non_null(codes);
	assert_ok(pl_profile_create(&p));
	assert_ok(pl_resolver_create(&o, &r));
	for (unsigned i = 0; i < items; i++) {
		codes[i] = (struct pl_known_code){.lines = PL_LINES_PEP657, .process = i % 2, .view = 1};
		pl_code_init(&codes[i].code);
		assert_ok(pl_buf_printf(&codes[i].code.filename, "<string %u>", i));
	}
	counted_begin();
	make_known(r, p, 0);
	for (unsigned i = 0; i < items; i++) {
		const struct pl_record rec = {.kind = PL_RECORD_CODE, .code.code = &codes[i]};

		take(r, &rec, p);
		if (i % (items / 8) == 0)
			assert_ok(pl_resolver_read_texts(r, p, false));
	}
	make_known(r, p, 1);
	assert_ok(pl_resolver_read_texts(r, p, true));
	counted_end();
	for (unsigned i = 0; i < items; i++)
		pl_code_deinit(&codes[i].code);
	free(codes);
	pl_resolver_destroy(r);
	pl_profile_destroy(p);
}

static void files_that_are_wanted(void **state)
{
	counted_linear(take_files, NULL, ITEMS);
}

static void make_thread(struct pl_resolver *r, struct plumb_profile *p)
{
	struct pl_record rec = {.kind = PL_RECORD_THREAD};

	rec.thread.info = calloc(1, sizeof *rec.thread.info);
	assert_non_null(rec.thread.info);
	rec.thread.info->tid = 1;
	take(r, &rec, p);
}

/* As many samples of who waits for a lock as its holder, which is nowhere in Python, has frames. */
static void take_locks(void *unused, unsigned items)
{
	const struct pl_engine_options o = {.sources = false};
	struct pl_known_code k = {.is_native = true, .native = {.kernel = true}};
	const struct pl_record code = {.kind = PL_RECORD_CODE, .code.code = &k};
	struct plumb_profile *p;
	struct pl_resolver *r;

	pl_code_init(&k.code);
	assert_ok(pl_buf_add(&k.code.name, "read", 4));
	assert_ok(pl_profile_create(&p));
	assert_ok(pl_resolver_create(&o, &r));
	make_known(r, p, 0);
	make_thread(r, p);
	take(r, &code, p);
	for (unsigned i = 0; i < items; i++)
		take(r, &(struct pl_record){.kind = PL_RECORD_NODE, .node = {.parent = i}}, p);
	counted_begin();
	for (unsigned i = 0; i < items; i++) {
		const struct pl_record lock = {.kind = PL_RECORD_LOCK,
					       .state = PL_HOLDER_THREAD,
					       .lock = {.object = 1, .node = items, .inside = items}};

		take(r, &lock, p);
		take(r, &(struct pl_record){.kind = PL_RECORD_SAMPLE, .sample = {.time_ns = i}}, p);
	}
	counted_end();
	assert_int_equal(p->lock_count, 2);
	pl_resolver_destroy(r);
	pl_profile_destroy(p);
	pl_code_deinit(&k.code);
}

static void who_holds_a_lock_deep_down_is_found_at_once(void **state)
{
	counted_linear(take_locks, NULL, ITEMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_long_table),
		cmocka_unit_test(files_that_are_wanted),
		cmocka_unit_test(who_holds_a_lock_deep_down_is_found_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
