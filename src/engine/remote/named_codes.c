/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, consumer thread only. Code that was sampled becomes a function of the profile: what it is called, in
 * which file it is, and of native code without a name where that would be found later. */
#include "named_codes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void pl_named_codes_deinit(struct pl_named_codes *c)
{
	for (size_t i = 0; i < c->rows.len; i++)
		pl_lines_close(&c->rows.data[i].lines);
	pl_vec_deinit(&c->rows);
	pl_native_symbols_deinit(&c->symbols);
}

/* @p file: that it is in, as it is shown. @p f: what else is known of it. */
static struct plumb_error *add_native_function(struct pl_function f, const char *file, const char *name,
					       struct plumb_profile *p, uint32_t *ret)
{
	struct plumb_error *err = pl_profile_string(p, name, strlen(name), &f.name);

	f.qualname = f.name;
	err = err ? err : pl_profile_string(p, file, strlen(file), &f.file);
	return err ? err : pl_profile_function(p, &f, ret);
}

/* It has its name with it. */
static struct plumb_error *name_fileless(struct pl_named_codes *c, struct pl_code_row *row, struct plumb_profile *p)
{
	const struct pl_native_code *n = &row->code->native;
	const struct pl_buf *name = &row->code->code.name;
	char raw[PL_NATIVE_NAME], text[PL_NATIVE_NAME];

	snprintf(raw, sizeof raw, "%.*s", (int)name->len, (const char *)name->data);
	if (n->kernel)
		return add_native_function((struct pl_function){.origin = PL_ORIGIN_KERNEL}, PL_KERNEL_FILE, raw, p,
					   &row->function);
	pl_native_symbols_text(&c->symbols, n, raw, text);
	return add_native_function((struct pl_function){.origin = PL_ORIGIN_NATIVE, .plumbing = n->role.passes_on},
				   n->jit ? PL_JIT_FILE : "", text, p, &row->function);
}

/* In hexadecimal; "" if its file has none. */
static void put_build_id(const struct pl_code_module *m, char ret[static PL_BUILD_ID_TEXT_MAX + 1])
{
	_Static_assert(2 * PL_MODULE_ID_MAX == PL_BUILD_ID_TEXT_MAX, "profiles have room for all of it");

	*ret = '\0';
	for (unsigned i = 0; i < m->build_id_len; i++)
		snprintf(ret + 2 * (size_t)i, 3, "%02x", m->build_id[i]);
}

/* Where a function without a name is, for whoever has symbols later. *ret: 0, its file has no build-id. */
static struct plumb_error *note_unnamed(const struct pl_native_code *n, const char *build_id, struct plumb_profile *p,
					uint32_t *ret)
{
	char text[PL_BUILD_ID_TEXT_MAX + sizeof "+0x" + 16];

	*ret = 0;
	if (!*build_id)
		return NULL;
	int len = snprintf(text, sizeof text, "%s+0x%" PRIx64, build_id, n->begin ? n->begin : n->place);
	return pl_profile_string(p, text, (size_t)len, ret);
}

static struct plumb_error *note_build(uint32_t function, const char *build_id, struct plumb_profile *p)
{
	struct pl_module m = {.file = p->functions[function].file};
	struct plumb_error *err = pl_profile_string(p, build_id, strlen(build_id), &m.build_id);

	return err ? err : pl_profile_module(p, &m);
}

/* It has no name, but what it is. */
static bool is_fileless(const struct pl_native_code *n, const char *name)
{
	return !n->module || (!name && pl_code_module_is_perf_map(&n->module->map));
}

static struct plumb_error *name_native(struct pl_named_codes *c, struct pl_code_row *row, struct plumb_profile *p)
{
	const struct pl_native_code *n = &row->code->native;
	const char *name = pl_native_symbols_name(&c->symbols, n);
	char text[PL_NATIVE_NAME], build_id[PL_BUILD_ID_TEXT_MAX + 1];
	struct pl_function f = {.origin = PL_ORIGIN_NATIVE};
	struct plumb_error *err = NULL;

	if (is_fileless(n, name))
		return name_fileless(c, row, p);
	f.plumbing = !pl_native_is_shown(&n->role, n->module->map.path, name);
	pl_native_symbols_text(&c->symbols, n, name, text);
	put_build_id(n->module, build_id);
	if (!name)
		err = note_unnamed(n, build_id, p, &f.unnamed);
	if (!err)
		err = add_native_function(f, n->module->map.path, text, p, &row->function);
	return err ? err : note_build(row->function, build_id, p);
}

static struct plumb_error *name_python(struct pl_texts *texts, struct pl_code_row *row, struct plumb_profile *p)
{
	const struct pl_code *c = &row->code->code;
	struct pl_function f = {.firstline = c->firstlineno, .origin = PL_ORIGIN_PYTHON};
	struct plumb_error *err;

	row->hidden = c->hidden;
	if (!row->hidden && ((err = pl_profile_string(p, c->name.data, c->name.len, &f.name)) ||
			     (err = pl_profile_string(p, c->qualname.data, c->qualname.len, &f.qualname)) ||
			     (err = pl_profile_string(p, c->filename.data, c->filename.len, &f.file)) ||
			     (err = pl_profile_function(p, &f, &row->function)) ||
			     (err = pl_texts_want(texts, f.file, row->code->process, row->code->view))))
		return err;
	return pl_lines_open(row->code->lines, c->linetable.data, c->linetable.len, (int32_t)c->firstlineno,
			     &row->lines);
}

struct plumb_error *pl_named_codes_add(struct pl_named_codes *c, const struct pl_known_code *code,
				       struct pl_texts *texts, struct plumb_profile *p)
{
	struct pl_code_row row = {.code = code};
	struct plumb_error *err = code->is_native ? name_native(c, &row, p) : name_python(texts, &row, p);

	if (err || pl_vec_push(&c->rows, row))
		return err;
	pl_lines_close(&row.lines);
	return &pl_err_no_memory;
}
