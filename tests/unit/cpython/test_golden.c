/* SPDX-License-Identifier: Apache-2.0 */
/* Replay images of real interpreters and compare the text of their stacks, variables and tasks. Images and texts are in
 * tests/golden/cpython; capture.py there makes them, from programs that say themselves what is right. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_image.h"
#include "variables.h"

static char *read_file(const char *name, const char *suffix, size_t *len_ret)
{
	char *bytes = golden_file(name, suffix, len_ret);

	if (!bytes)
		fail_msg("cannot read %s.%s", name, suffix);
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

/* How many of the three there are of each: tasks are read from 3.7 on. */
static struct image {
	char name[16];
	size_t kinds;
} images[] = {
	{"2.7.18", 2}, {"3.6.15", 2}, {"3.7.16", 3},  {"3.8.18", 3},  {"3.9.18", 3},  {"3.10.13", 3}, {"3.11.7", 3},
	{"3.12.1", 3}, {"3.13.0", 3}, {"3.13.5t", 3}, {"3.13.18", 3}, {"3.14.10", 3}, {"3.15.2", 3},
};

int main(void)
{
	static const CMUnitTestFunction kinds[] = {stacks, variables, tasks};
	enum { KINDS = sizeof kinds / sizeof kinds[0], IMAGES = sizeof images / sizeof images[0] };
	struct CMUnitTest tests[KINDS * IMAGES];
	size_t n = 0;

	for (size_t i = 0; i < IMAGES; i++) {
		for (size_t k = 0; k < images[i].kinds; k++)
			tests[n++] = (struct CMUnitTest){
				.name = images[i].name, .test_func = kinds[k], .initial_state = images[i].name};
	}
	return _cmocka_run_group_tests("golden", tests, n, NULL, NULL);
}
