/* SPDX-License-Identifier: Apache-2.0 */
/* Replay images of real interpreters and compare the text of their stacks. Images and texts are in
 * tests/golden/cpython; capture.py there makes them, from a program whose stacks Python itself has confirmed. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem_image.h"
#include "stacks.h"

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

static char *stacks_of(const char *image, size_t len)
{
	struct pl_py_facts facts;
	struct pl_mem_image *img;
	char *text = NULL;
	size_t text_len;
	FILE *out = open_memstream(&text, &text_len);

	assert_non_null(out);
	assert_ok(pl_mem_image_create(image, len, &img));
	assert_true(image_facts(pl_mem_image_mem(img), &facts));
	assert_ok(stacks_print(pl_mem_image_mem(img), &facts, out));
	fclose(out);
	pl_mem_image_destroy(img);
	return text;
}

static void replay(void **state)
{
	size_t image_len, text_len;
	char *image = read_file(*state, "img", &image_len), *text = read_file(*state, "txt", &text_len);
	char *got = stacks_of(image, image_len);

	assert_string_equal(got, text);
	free(got);
	free(text);
	free(image);
}

int main(void)
{
	static char names[][16] = {"2.7.18", "3.6.15", "3.7.16",  "3.8.18",  "3.9.18",	"3.10.13", "3.11.7",
				   "3.12.1", "3.13.0", "3.13.5t", "3.13.18", "3.14.10", "3.15.2"};
	struct CMUnitTest tests[sizeof names / sizeof names[0]];
	size_t n = sizeof names / sizeof names[0];

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = names[i], .test_func = replay, .initial_state = names[i]};
	return _cmocka_run_group_tests("golden", tests, n, NULL, NULL);
}
