/* SPDX-License-Identifier: Apache-2.0 */
/* The Firefox Profiler's tables that all threads share: strings, sources, functions, frames and stacks. Layer export;
 * any thread.
 *
 * Strings, functions and locations keep their numbers, stacks theirs less one. After them stand the variants: an
 * innermost frame, and the stack that ends in it, once more with the category "waiting" or "GC". Those that are needed
 * are known from the cells. */
#include <stdlib.h>

#include "categories.h"
#include "firefox_parts.h"

void pl_firefox_write_categories(struct pl_firefox *w)
{
	pl_json_key(&w->j, "categories");
	pl_json_array(&w->j);
	for (int i = 0; i < PL_CATEGORIES; i++) {
		pl_json_object(&w->j);
		pl_json_key_str(&w->j, "name", pl_categories[i].name);
		pl_json_key_str(&w->j, "color", pl_categories[i].firefox);
		pl_json_key(&w->j, "subcategories");
		pl_json_array(&w->j);
		pl_json_str(&w->j, "Other");
		pl_json_array_end(&w->j);
		pl_json_object_end(&w->j);
	}
	pl_json_array_end(&w->j);
}

static enum pl_firefox_variant variant_of(uint16_t state)
{
	enum pl_category doing = pl_category_of_state(state);

	if (doing == PL_CATEGORY_GC)
		return PL_FIREFOX_GC;
	return doing == PL_CATEGORY_WAITING ? PL_FIREFOX_WAITING : PL_FIREFOX_PLAIN;
}

uint32_t pl_firefox_stack(const struct pl_firefox *w, uint32_t stack, uint16_t state)
{
	enum pl_firefox_variant v = variant_of(state);

	return v != PL_FIREFOX_PLAIN && w->variants[v][stack] ? w->variants[v][stack] : stack - 1;
}

/* ---- what there is to write ---- */

static bool add_variant(struct pl_firefox *w, uint32_t stack, enum pl_firefox_variant v)
{
	uint32_t location = w->p->stacks[stack].location;
	struct pl_firefox_row row = {.stack = stack, .variant = (uint8_t)v},
			      frame = {.stack = location, .variant = (uint8_t)v};

	w->variants[v][stack] = w->p->stack_count - 1 + (uint32_t)w->rows.len;
	if (!pl_vec_push(&w->rows, row))
		return false;
	if (w->frames[v][location])
		return true;
	w->frames[v][location] = w->p->location_count + (uint32_t)w->frame_rows.len;
	return pl_vec_push(&w->frame_rows, frame);
}

static bool add_variants(struct pl_firefox *w)
{
	bool ok = true;

	for (uint32_t i = 0; i < w->p->cell_count && ok; i++) {
		uint32_t stack = w->p->cells[i].stack;
		enum pl_firefox_variant v = variant_of(w->p->cells[i].state);

		if (stack && v != PL_FIREFOX_PLAIN && !w->variants[v][stack])
			ok = add_variant(w, stack, v);
	}
	return ok;
}

static bool add_sources(struct pl_firefox *w)
{
	bool ok = true;

	for (uint32_t i = 0; i < w->p->function_count && ok; i++) {
		uint32_t file = pl_function_source(&w->p->functions[i]);

		if (file == 0 || w->sources[file])
			continue;
		ok = pl_vec_push(&w->source_files, file);
		w->sources[file] = (uint32_t)w->source_files.len;
	}
	return ok;
}

static bool is_machine_code(const struct pl_function *f)
{
	return f->origin == PL_ORIGIN_NATIVE || f->origin == PL_ORIGIN_KERNEL;
}

static bool add_libraries(struct pl_firefox *w)
{
	bool ok = true;

	for (uint32_t i = 0; i < w->p->function_count && ok; i++) {
		const struct pl_function *f = &w->p->functions[i];

		if (!is_machine_code(f) || f->file == 0 || w->libraries[f->file])
			continue;
		const bool known = pl_profile_build_id(w->p, f->file) != 0;
		w->lib_count += known;
		ok = pl_vec_push(&w->library_files, f->file) && pl_vec_push(&w->libs, known ? w->lib_count : 0);
		w->libraries[f->file] = (uint32_t)w->library_files.len;
	}
	return ok;
}

struct plumb_error *pl_firefox_prepare(struct pl_firefox *w)
{
	bool ok = true;

	for (int v = PL_FIREFOX_PLAIN + 1; v < PL_FIREFOX_VARIANTS; v++) {
		w->variants[v] = calloc((size_t)w->p->stack_count + 1, sizeof *w->variants[v]);
		w->frames[v] = calloc((size_t)w->p->location_count + 1, sizeof *w->frames[v]);
		ok = ok && w->variants[v] && w->frames[v];
	}
	w->sources = calloc((size_t)pl_strtab_count(w->p->strings) + 1, sizeof *w->sources);
	w->libraries = calloc((size_t)pl_strtab_count(w->p->strings) + 1, sizeof *w->libraries);
	if (!ok || !w->sources || !w->libraries || !add_variants(w) || !add_sources(w) || !add_libraries(w))
		return &pl_err_no_memory;
	return pl_firefox_labels_prepare(w);
}

void pl_firefox_deinit(struct pl_firefox *w)
{
	for (int v = 0; v < PL_FIREFOX_VARIANTS; v++) {
		free(w->variants[v]);
		free(w->frames[v]);
	}
	free(w->sources);
	free(w->libraries);
	free(w->tag_nodes);
	pl_strtab_destroy(w->label_names);
	pl_vec_deinit(&w->rows);
	pl_vec_deinit(&w->frame_rows);
	pl_vec_deinit(&w->source_files);
	pl_vec_deinit(&w->library_files);
	pl_vec_deinit(&w->libs);
	pl_vec_deinit(&w->events);
}

/* ---- columns ---- */

typedef void cell_fn(struct pl_firefox *w, uint32_t row);
struct table_column {
	const char *key;
	cell_fn *write;
};

static void write_table(struct pl_firefox *w, const char *key, const struct table_column *columns, uint32_t rows)
{
	pl_json_key(&w->j, key);
	pl_json_object(&w->j);
	for (; columns->key; columns++) {
		pl_json_key(&w->j, columns->key);
		pl_json_array(&w->j);
		for (uint32_t i = 0; i < rows; i++)
			columns->write(w, i);
		pl_json_array_end(&w->j);
	}
	pl_json_key_u64(&w->j, "length", rows);
	pl_json_object_end(&w->j);
}

static void none(struct pl_firefox *w, uint32_t row)
{
	pl_json_null(&w->j);
}

static void zero(struct pl_firefox *w, uint32_t row)
{
	pl_json_u64(&w->j, 0);
}

static void one(struct pl_firefox *w, uint32_t row)
{
	pl_json_u64(&w->j, 1);
}

static void minus_one(struct pl_firefox *w, uint32_t row)
{
	pl_json_i64(&w->j, -1);
}

static void no(struct pl_firefox *w, uint32_t row)
{
	pl_json_bool(&w->j, false);
}

static void number_or_null(struct pl_firefox *w, bool known, int64_t v)
{
	if (known)
		pl_json_i64(&w->j, v);
	else
		pl_json_null(&w->j);
}

static void source_file(struct pl_firefox *w, uint32_t row)
{
	pl_json_u64(&w->j, w->source_files.data[row]);
}

static void function_name(struct pl_firefox *w, uint32_t row)
{
	const struct pl_function *f = &w->p->functions[row];

	pl_json_u64(&w->j, f->qualname ? f->qualname : f->name);
}

static void function_source(struct pl_firefox *w, uint32_t row)
{
	uint32_t source = w->sources[pl_function_source(&w->p->functions[row])];

	number_or_null(w, source, (int64_t)source - 1);
}

static void function_line(struct pl_firefox *w, uint32_t row)
{
	number_or_null(w, w->p->functions[row].firstline, w->p->functions[row].firstline);
}

static const struct pl_location *location_of(const struct pl_firefox *w, uint32_t frame)
{
	uint32_t count = w->p->location_count;

	return &w->p->locations[frame < count ? frame : w->frame_rows.data[frame - count].stack];
}

static void frame_category(struct pl_firefox *w, uint32_t row)
{
	uint32_t count = w->p->location_count;

	if (row < count)
		pl_json_u64(&w->j, pl_category_of_function(w->p, &w->p->functions[w->p->locations[row].function]));
	else
		pl_json_u64(&w->j, w->frame_rows.data[row - count].variant == PL_FIREFOX_GC ? PL_CATEGORY_GC
											    : PL_CATEGORY_WAITING);
}

static void frame_function(struct pl_firefox *w, uint32_t row)
{
	pl_json_u64(&w->j, location_of(w, row)->function);
}

static void frame_line(struct pl_firefox *w, uint32_t row)
{
	const struct pl_location *l = location_of(w, row);

	number_or_null(w, l->line > 0, l->line);
}

static void frame_column(struct pl_firefox *w, uint32_t row)
{
	const struct pl_location *l = location_of(w, row);

	number_or_null(w, l->column >= 0, (int64_t)l->column + 1); /* editors count from 1 */
}

static void stack_frame(struct pl_firefox *w, uint32_t row)
{
	uint32_t count = w->p->stack_count - 1;

	if (row < count) {
		pl_json_u64(&w->j, w->p->stacks[row + 1].location);
	} else {
		const struct pl_firefox_row *r = &w->rows.data[row - count];

		pl_json_u64(&w->j, w->frames[r->variant][w->p->stacks[r->stack].location]);
	}
}

/* How many rows before it its caller stands; 0: it has none. */
static void stack_prefix(struct pl_firefox *w, uint32_t row)
{
	uint32_t count = w->p->stack_count - 1;
	uint32_t parent = w->p->stacks[row < count ? row + 1 : w->rows.data[row - count].stack].parent;

	pl_json_u64(&w->j, parent ? row - (parent - 1) : 0);
}

/* By it the viewer merges and collapses the functions of a library. */
static void function_resource(struct pl_firefox *w, uint32_t row)
{
	const struct pl_function *f = &w->p->functions[row];

	if (is_machine_code(f) && f->file)
		pl_json_u64(&w->j, w->libraries[f->file] - 1);
	else
		minus_one(w, row);
}

static void resource_lib(struct pl_firefox *w, uint32_t row)
{
	number_or_null(w, w->libs.data[row], (int64_t)w->libs.data[row] - 1);
}

static void resource_name(struct pl_firefox *w, uint32_t row)
{
	pl_json_u64(&w->j, w->library_files.data[row]);
}

/* The viewer's number for that kind of resources. */
static void library(struct pl_firefox *w, uint32_t row)
{
	one(w, row);
}

static const struct table_column source_columns[] = {
	{"id", none},		{"filename", source_file}, {"startLine", one}, {"startColumn", one},
	{"sourceMapURL", none}, {"content", none},	   {NULL, NULL}};
static const struct table_column function_columns[] = {{"name", function_name},
						       {"isJS", no},
						       {"relevantForJS", no},
						       {"resource", function_resource},
						       {"source", function_source},
						       {"lineNumber", function_line},
						       {"columnNumber", none},
						       {"originalLocation", none},
						       {NULL, NULL}};
static const struct table_column frame_columns[] = {{"address", minus_one},
						    {"inlineDepth", zero},
						    {"category", frame_category},
						    {"subcategory", zero},
						    {"func", frame_function},
						    {"nativeSymbol", none},
						    {"innerWindowID", zero},
						    {"line", frame_line},
						    {"column", frame_column},
						    {"originalLocation", none},
						    {NULL, NULL}};
static const struct table_column stack_columns[] = {
	{"frame", stack_frame}, {"prefixOffset", stack_prefix}, {NULL, NULL}};
static const struct table_column resource_columns[] = {
	{"lib", resource_lib}, {"name", resource_name}, {"host", none}, {"type", library}, {NULL, NULL}};
static const struct table_column symbol_columns[] = {
	{"libIndex", none}, {"address", none}, {"name", none}, {"functionSize", none}, {NULL, NULL}};

static void write_strings(struct pl_firefox *w)
{
	uint32_t count = pl_strtab_count(w->p->strings);

	pl_json_key(&w->j, "stringArray");
	pl_json_array(&w->j);
	for (uint32_t i = 0; i < count; i++) {
		struct pl_text t = pl_text_of(w->p, i);

		pl_json_strn(&w->j, t.s, t.len);
	}
	pl_firefox_write_marker_names(w);
	pl_json_array_end(&w->j);
}

void pl_firefox_write_shared(struct pl_firefox *w)
{
	uint32_t stacks = w->p->stack_count - 1 + (uint32_t)w->rows.len;
	uint32_t frames = w->p->location_count + (uint32_t)w->frame_rows.len;

	pl_json_key(&w->j, "shared");
	pl_json_object(&w->j);
	write_strings(w);
	write_table(w, "sources", source_columns, (uint32_t)w->source_files.len);
	write_table(w, "stackTable", stack_columns, stacks);
	write_table(w, "frameTable", frame_columns, frames);
	write_table(w, "funcTable", function_columns, w->p->function_count);
	write_table(w, "resourceTable", resource_columns, (uint32_t)w->library_files.len);
	write_table(w, "nativeSymbols", symbol_columns, 0);
	pl_json_object_end(&w->j);
}
