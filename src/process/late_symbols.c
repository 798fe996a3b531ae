/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See late_symbols.h. */
#include "late_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "symbol_reader.h"

#define PATIENCE_MS 10000 /* for one file */

struct pl_late_symbols {
	struct pl_symbol_reader reader;
	struct pl_demangler demangler;
	struct pl_functions *functions; /* of the file that is asked; NULL: there is none */
	char text[PL_DEMANGLED];
};

struct plumb_error *pl_late_symbols_create(struct pl_late_symbols **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? NULL : &pl_err_no_memory;
}

static void close_file(struct pl_late_symbols *s)
{
	pl_functions_destroy(s->functions);
	s->functions = NULL;
}

void pl_late_symbols_destroy(struct pl_late_symbols *s)
{
	if (!s)
		return;
	close_file(s);
	pl_symbol_reader_deinit(&s->reader);
	pl_demangler_deinit(&s->demangler);
	free(s);
}

bool pl_late_symbols_open(struct pl_late_symbols *s, const char *path, const uint8_t *build_id, size_t len)
{
	char *of_map = strdup(path);
	const struct pl_mapping map = {.path = of_map};
	const struct pl_code_file file = {.map = &map, .build_id = build_id, .build_id_len = len};
	bool asked = of_map && pl_symbol_ask(&s->reader, &file);

	free(of_map);
	close_file(s);
	while (asked && !pl_symbol_answered(&s->reader, PATIENCE_MS, PATIENCE_MS, &s->functions))
		;
	return s->functions;
}

const char *pl_late_symbols_name(struct pl_late_symbols *s, uint64_t address)
{
	const char *name = s->functions ? pl_functions_find(s->functions, address, address) : NULL;

	if (!name)
		return NULL;
	if (!pl_demangle(&s->demangler, name, s->text))
		snprintf(s->text, sizeof s->text, "%s", name);
	return s->text;
}
