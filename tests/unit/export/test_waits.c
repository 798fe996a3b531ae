/* SPDX-License-Identifier: Apache-2.0 */
/* What tasks waited for, as text, JSON and the report page tell it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "build.h"
#include "dump_model.h"
#include "unit.h"
#include "waits_table.h"

static uint32_t wait_at(struct build *b, const char *root, int line, uint8_t what, uint64_t tasks, uint64_t ms)
{
	uint32_t f = build_frame(b, build_frame(b, 0, root, "app.py", 10), "query", "app.py", line);
	const struct pl_wait w = {.stack = f, .what = what, .tasks = tasks, .task_ns = ms * 1000000};

	assert_ok(pl_profile_wait(b->p, &w));
	return f;
}

/* One place twice, a lock and a stream below one root, and another root that only waits. */
static void build_waits(struct build *b)
{
	build_example(b);
	uint32_t f = wait_at(b, "handler", 21, PL_DUMP_FOR_RESULT, 10, 500);
	(void)wait_at(b, "handler", 21, PL_DUMP_FOR_RESULT, 26, 1300);
	(void)wait_at(b, "handler", 25, PL_DUMP_FOR_LOCK, 4, 200);
	(void)wait_at(b, "ticker", 40, PL_DUMP_FOR_TIME, 80, 4000);
	const struct pl_wait stream = {.stack =
					       build_frame(b, f, "read", "/usr/lib/python3.12/asyncio/streams.py", 700),
				       .what = PL_DUMP_FOR_RESULT,
				       .tasks = 2,
				       .task_ns = 100000000};
	assert_ok(pl_profile_wait(b->p, &stream));
	build_samples(b, 0, f, PL_STATE_ON_CPU, PL_EXACT, 30);
	pl_profile_waited(b->p, &(struct pl_waited){.looks = 200, .covered_ns = 10000000000, .lost_ns = 70000000});
}

static void golden(const struct build *b, const char *format, const struct pl_export_options *o, const char *file)
{
	size_t len;
	char *got = build_output(b->p, format, o, &len);

	build_assert_golden(file, got, len);
	free(got);
}

static void what_tasks_waited_for_is_a_table_of_its_own(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;

	build_waits(&b);
	golden(&b, "text", &o, "waits-80.txt");
	golden(&b, "json", &o, "waits.json");
	build_end(&b);
}

static void the_page_has_the_rows_of_the_text(void **state)
{
	struct pl_export_options o = build_options(80);
	struct pl_waits waits;
	struct pl_json j;
	struct build b;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	build_waits(&b);
	assert_ok(pl_waits_find(b.p, &o.filter, &waits));
	pl_json_init(&j, f, 1);
	pl_json_object(&j);
	pl_waits_page_json(&waits, &j);
	pl_json_object_end(&j);
	fprintf(f, "\n");
	assert_int_equal(fclose(f), 0);
	build_assert_golden("waits-page.json", text, len);
	free(text);
	pl_waits_deinit(&waits);
	build_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tasks_waited_for_is_a_table_of_its_own),
		cmocka_unit_test(the_page_has_the_rows_of_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
