/* SPDX-License-Identifier: Apache-2.0 */
/* Images of real interpreters, walked with the first allocation failing, then the second, ...: stacks, variables and
 * tasks. Nothing crashes or leaks (the sanitizer build looks), what cannot be had is told as out of memory or left out,
 * and with enough memory the text is the right one. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "golden_image.h"
#include "variables.h"

struct replay {
	const char *what;
	char *image, *text;
	size_t image_len;
};

static bool well(struct plumb_error *err)
{
	assert_true(!err || plumb_error_code(err) == PLUMB_ERR_NO_MEMORY);
	plumb_error_destroy(err);
	return !err;
}

static void walk(void *ctx)
{
	struct replay *r = ctx;
	struct pl_py_facts facts;
	struct pl_mem_image *img = NULL;
	char *text = NULL;
	size_t text_len;
	FILE *out = open_memstream(&text, &text_len);

	if (!out) /* the failing one */
		return;
	bool whole = well(pl_mem_image_create(r->image, r->image_len, &img)) &&
		     image_facts(pl_mem_image_mem(img), &facts) &&
		     well(text_print_find(r->what)(pl_mem_image_mem(img), &facts, out));
	fclose(out);
	if (!failing_happened())
		assert_true(whole && strcmp(text, r->text) == 0);
	pl_mem_image_destroy(img);
	free(text);
}

static void replay(const char *name, const char *what)
{
	struct replay r = {.what = what};
	size_t text_len;

	assert_non_null(r.image = golden_file(name, "img", &r.image_len));
	assert_non_null(r.text = golden_file(name, "txt", &text_len));
	failing_each(walk, &r, 20);
	free(r.image);
	free(r.text);
}

/* One release for each way in which frames are linked. */
static void stacks_are_survived(void **state)
{
	replay("3.10.13", "stacks");
	replay("3.12.1", "stacks");
	replay("3.14.10", "stacks");
}

static void variables_are_survived(void **state)
{
	replay("variables-3.10.13", "variables");
	replay("variables-3.14.10", "variables");
}

static void tasks_are_survived(void **state)
{
	replay("tasks-3.10.13", "tasks");
	replay("tasks-3.14.10", "tasks");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_survived),
		cmocka_unit_test(variables_are_survived),
		cmocka_unit_test(tasks_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
