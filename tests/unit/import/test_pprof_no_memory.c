/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of writing and reading pprof, and of writing OTLP, fails once: an error or all of it, and nothing is
 * lost. */
#include "import_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export.h"
#include "failing.h"

static void assert_no_memory(struct plumb_error *err)
{
	if (err)
		assert_int_equal(plumb_error_code(err), PLUMB_ERR_NO_MEMORY);
	assert_true(err || !failing_happened());
	plumb_error_destroy(err);
}

struct format {
	const char *name;
	struct plumb_profile *p;
};

static void write_it(void *ctx)
{
	struct pl_export_options o = {.made_by = "a test"};
	struct format *f = ctx;
	FILE *out = fopen("/dev/null", "w");

	assert_non_null(out);
	assert_no_memory(pl_format_by_name(f->name)->write(f->p, &o, out));
	fclose(out);
}

static void writing_without_memory_is_an_error(void **state)
{
	static const char *const names[] = {"pprof", "otlp", "otlp-json"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct format f = {.name = names[i], .p = random_profile(2, 30)};

		failing_each(write_it, &f, 30);
		pl_profile_destroy(f.p);
	}
}

struct bytes {
	uint8_t *data;
	size_t len;
};

static void read_it(void *ctx)
{
	struct bytes *b = ctx;
	struct pl_import_input in = {.bytes = b->data, .len = b->len};
	struct pl_sink sink = {0};
	struct plumb_error *err = pl_profile_create(&sink.profile);

	if (!err)
		err = pl_importer_run(pl_importer_by_name("pprof"), &in, &sink);
	pl_profile_destroy(sink.profile);
	assert_no_memory(err);
}

static void reading_without_memory_is_an_error(void **state)
{
	struct plumb_profile *p = random_profile(3, 20);
	struct bytes b = {0};

	b.data = exported(p, "pprof", &b.len);
	failing_each(read_it, &b, 30);
	free(b.data);
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_without_memory_is_an_error),
		cmocka_unit_test(reading_without_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
