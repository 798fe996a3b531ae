/* SPDX-License-Identifier: Apache-2.0 */
/* Replay images of real interpreters and compare the text of their stacks, variables and tasks. Images and texts are in
 * tests/golden/cpython; capture.py there makes them, from programs that say themselves what is right. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem_image.h"
#include "variables.h"

#define FILE_MAX (1 << 20)

static char *read_file(const char *name, const char *suffix, size_t *len_ret)
{
	char path[512], *bytes = malloc(FILE_MAX + 1);

	snprintf(path, sizeof path, "%s/%s.%s", GOLDEN_DIR, name, suffix);
	FILE *f = fopen(path, "rb");
	if (!f || !bytes)
		fail_msg("cannot read %s", path);
	*len_ret = fread(bytes, 1, FILE_MAX, f);
	bytes[*len_ret] = 0;
	fclose(f);
	return bytes;
}

static char *text_of(const char *image, size_t len, text_print_fn *print)
{
	struct pl_py_facts facts;
	struct pl_mem_image *img;
	char *text = NULL;
	size_t text_len;
	FILE *out = open_memstream(&text, &text_len);

	assert_non_null(out);
	assert_ok(pl_mem_image_create(image, len, &img));
	assert_true(image_facts(pl_mem_image_mem(img), &facts));
	assert_ok(print(pl_mem_image_mem(img), &facts, out));
	fclose(out);
	pl_mem_image_destroy(img);
	return text;
}

static void replay(const char *name, const char *what)
{
	size_t image_len, text_len;
	char *image = read_file(name, "img", &image_len), *text = read_file(name, "txt", &text_len);
	char *got = text_of(image, image_len, text_print_find(what));

	assert_string_equal(got, text);
	free(got);
	free(text);
	free(image);
}

static void stacks(void **state)
{
	replay(*state, "stacks");
}

static void variables(void **state)
{
	char name[64];

	snprintf(name, sizeof name, "variables-%s", (char *)*state);
	replay(name, "variables");
}

static void tasks(void **state)
{
	char name[64];

	snprintf(name, sizeof name, "tasks-%s", (char *)*state);
	replay(name, "tasks");
}

int main(void)
{
	/* The older ones have stacks only: variables and tasks are read from 3.8 on, and with the GIL. */
	static char stacks_only[][16] = {"2.7.18", "3.6.15", "3.7.16", "3.13.5t"};
	static char names[][16] = {"3.8.18", "3.9.18",	"3.10.13", "3.11.7", "3.12.1",
				   "3.13.0", "3.13.18", "3.14.10", "3.15.2"};
	static const CMUnitTestFunction kinds[] = {stacks, variables, tasks};
	enum { KINDS = sizeof kinds / sizeof kinds[0], NAMES = sizeof names / sizeof names[0] };
	enum { OLD = sizeof stacks_only / sizeof stacks_only[0] };
	struct CMUnitTest tests[KINDS * NAMES + OLD];

	for (size_t i = 0; i < KINDS * NAMES; i++)
		tests[i] = (struct CMUnitTest){
			.name = names[i / KINDS], .test_func = kinds[i % KINDS], .initial_state = names[i / KINDS]};
	for (size_t i = 0; i < OLD; i++)
		tests[KINDS * NAMES + i] = (struct CMUnitTest){
			.name = stacks_only[i], .test_func = stacks, .initial_state = stacks_only[i]};
	return _cmocka_run_group_tests("golden", tests, KINDS * NAMES + OLD, NULL, NULL);
}
