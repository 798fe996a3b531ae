/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the importer whose name is IMPORTER, one program for each (meson.build). What was read must be a profile
 * like any other. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"
#include "require.h"
#include "view.h"

static struct plumb_error *check_sample(void *ctx, const struct pl_sample *s)
{
	const struct plumb_profile *p = ctx;

	REQUIRE(s->thread < p->thread_count && s->stack < p->stack_count && s->quality < PL_QUALITIES);
	return NULL;
}

/* The format's own message, and an error that a user can be told. */
static void check_error(const struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);

	REQUIRE(code == PLUMB_ERR_CORRUPT || code == PLUMB_ERR_TRUNCATED || code == PLUMB_ERR_EMPTY ||
		code == PLUMB_ERR_LIMIT || code == PLUMB_ERR_INVALID || code == PLUMB_ERR_NOT_SUPPORTED);
	REQUIRE(*plumb_error_message(err));
}

static void check_tables(const struct plumb_profile *p)
{
	uint32_t strings = pl_strtab_count(p->strings);

	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct pl_function *f = &p->functions[i];
		REQUIRE(f->name < strings && f->qualname < strings && f->file < strings);
		REQUIRE(f->origin <= PL_ORIGIN_MARKER);
	}
	for (uint32_t i = 0; i < p->location_count; i++)
		REQUIRE(p->locations[i].function < p->function_count && p->locations[i].line >= 0);
	for (uint32_t i = 0; i < p->thread_count; i++)
		REQUIRE(p->threads[i].process < p->process_count && p->threads[i].name < strings);
	for (uint32_t i = 0; i < p->process_count; i++)
		REQUIRE(p->processes[i].name < strings && p->processes[i].program < strings);
	REQUIRE(p->meta.command < strings && p->meta.host < strings && p->meta.plumb_version < strings);
	REQUIRE(p->meta.engine < strings);
}

static void check_questions(struct plumb_profile *p)
{
	struct pl_filter f = {.lines = true, .idle = PL_IDLE_KEEP};
	struct plumb_profile *sum = NULL;
	pl_function_rows rows = {0};
	pl_tree_rows tree = {0};

	REQUIRE(!pl_view_functions(p, &f, &rows));
	REQUIRE(!pl_view_tree(p, &f, 0.01, &tree));
	REQUIRE(!pl_profile_create(&sum));
	REQUIRE(!pl_profile_merge(sum, p));
	pl_vec_deinit(&rows);
	pl_vec_deinit(&tree);
	pl_profile_destroy(sum);
}

static void read_bytes(const struct pl_importer *importer, const struct pl_import_input *in)
{
	struct plumb_profile *p = NULL;

	REQUIRE(!pl_profile_create(&p));
	struct pl_sink sink = {.profile = p, .fn = check_sample, .ctx = p};
	struct plumb_error *err = pl_importer_run(importer, in, &sink);
	check_tables(p);
	if (err) {
		check_error(err);
		plumb_error_destroy(err);
	} else {
		check_questions(p);
	}
	pl_profile_destroy(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pl_importer *importer = pl_importer_by_name(IMPORTER);
	/* An exact allocation, as the contract has it: the NUL is the last byte that may be read. */
	uint8_t *bytes = malloc(size + 1);

	REQUIRE(importer && bytes);
	memcpy(bytes, data, size);
	bytes[size] = '\0';
	struct pl_import_input in = {.bytes = bytes, .len = size};
	(void)importer->is(&in);
	read_bytes(importer, &in);
	free(bytes);
	return 0;
}
