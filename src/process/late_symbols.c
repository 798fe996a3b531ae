/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See late_symbols.h. */
#include "late_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "native_names.h"
#include "symbol_reader.h"

#define PATIENCE_MS 10000 /* for one file */

struct pl_late_symbols {
	struct pl_symbol_reader reader;
	struct pl_demangler demangler;
	struct pl_functions *functions; /* of the file that is asked; NULL: there is none */
	struct pl_file_lines *lines;	/* likewise */
	bool of_python;			/* that file is an interpreter */
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

static void close_lines(struct pl_late_symbols *s)
{
	pl_file_lines_destroy(s->lines);
	s->lines = NULL;
}

void pl_late_symbols_destroy(struct pl_late_symbols *s)
{
	if (!s)
		return;
	close_file(s);
	close_lines(s);
	pl_symbol_reader_deinit(&s->reader);
	pl_demangler_deinit(&s->demangler);
	free(s);
}

typedef bool ask_fn(struct pl_symbol_reader *r, const struct pl_code_file *q);

/* *ret: the functions that were answered. */
static void ask(struct pl_late_symbols *s, ask_fn *fn, struct pl_code_file file, const char *path,
		struct pl_functions **ret)
{
	char *of_map = strdup(path);
	const struct pl_mapping map = {.path = of_map};

	file.map = &map;
	bool asked = of_map && fn(&s->reader, &file);
	free(of_map);
	*ret = NULL;
	while (asked && !pl_symbol_answered(&s->reader, PATIENCE_MS, PATIENCE_MS, ret))
		;
}

bool pl_late_symbols_open(struct pl_late_symbols *s, const char *path, const uint8_t *build_id, size_t len)
{
	const struct pl_code_file file = {.build_id = build_id, .build_id_len = len};

	close_file(s);
	ask(s, pl_symbol_ask, file, path, &s->functions);
	return s->functions;
}

bool pl_late_symbols_open_lines(struct pl_late_symbols *s, const char *path, const uint8_t *build_id, size_t len)
{
	const struct pl_code_file file = {.build_id = build_id, .build_id_len = len};
	struct pl_functions *none;

	close_lines(s);
	ask(s, pl_symbol_ask_lines, file, path, &none);
	pl_functions_destroy(none);
	s->lines = pl_symbol_take_lines(&s->reader);
	s->of_python = pl_native_is_python_file(path);
	return s->lines;
}

static const char *text_of(struct pl_late_symbols *s, const char *name)
{
	pl_demangle_or_keep(&s->demangler, name, s->text);
	return s->text;
}

struct telling {
	struct pl_late_symbols *symbols;
	void (*tell)(void *ctx, const struct pl_late_place *p);
	void *ctx;
};

static void tell_place(void *ctx, const struct pl_dwarf_place *p)
{
	struct telling *t = ctx;
	const bool told = p->file && p->line && p->line <= INT32_MAX;
	struct pl_late_place place = {.source = told ? p->file : NULL, .line = told ? (int32_t)p->line : 0};

	if (p->inlined && !p->function)
		return;
	if (p->inlined) {
		place.plumbing = pl_native_is_plumbing_inlined(p->function, t->symbols->of_python);
		place.name = text_of(t->symbols, p->function);
	}
	t->tell(t->ctx, &place);
}

void pl_late_symbols_places(struct pl_late_symbols *s, uint64_t address,
			    void (*tell)(void *ctx, const struct pl_late_place *p), void *ctx, bool *left_out)
{
	struct telling t = {s, tell, ctx};
	struct pl_symbol_places q = {.address = address, .tell = tell_place, .ctx = &t};

	(void)pl_symbol_places(&s->reader, s->lines, &q);
	*left_out = q.left_out;
}

const char *pl_late_symbols_name(struct pl_late_symbols *s, uint64_t address)
{
	const char *name = s->functions ? pl_functions_find(s->functions, address, address) : NULL;

	return name ? text_of(s, name) : NULL;
}
