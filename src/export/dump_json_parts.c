/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a dump's JSON have in common: texts and frames (layer export). Any thread. */
#include "dump_json_parts.h"

void pl_dump_json_text(struct pl_json *j, const char *key, struct pl_dump_text t)
{
	pl_json_key_strn(j, key, t.s, t.len);
}

void pl_dump_json_text_or_null(struct pl_json *j, const char *key, struct pl_dump_text t)
{
	if (t.len)
		pl_dump_json_text(j, key, t);
	else
		pl_json_key_null(j, key);
}

static void locals_member(struct pl_json *j, const struct pl_dump_frame *f)
{
	pl_json_key(j, "locals");
	if (!f->has_locals) {
		pl_json_null(j);
		return;
	}
	pl_json_array(j);
	for (size_t i = 0; i < f->locals.len; i++) {
		const struct pl_dump_local *l = &f->locals.data[i];

		pl_json_object(j);
		pl_dump_json_text(j, "name", l->name);
		pl_dump_json_text(j, "value", l->value);
		pl_json_key_str_or_null(j, "kind", l->argument ? "argument" : l->closure ? "closure" : "local");
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

static void source_members(struct pl_json *j, const struct pl_dump_frame *f)
{
	if (f->has_source)
		pl_json_key_strn(j, "source", f->source.s, f->source.len);
	else
		pl_json_key_null(j, "source");
	pl_json_key_bool(j, "source_changed", f->source_changed);
}

static const char *const kinds[] = {[PL_DUMP_FRAME_PYTHON] = "python",
				    [PL_DUMP_FRAME_NATIVE] = "native",
				    [PL_DUMP_FRAME_KERNEL] = "kernel",
				    [PL_DUMP_FRAME_MISSING] = "missing"};

static void native_frame_object(struct pl_json *j, const struct pl_dump_frame *f)
{
	const struct pl_dump_native_frame *n = &f->native;

	pl_json_object(j);
	pl_json_key_str(j, "kind", kinds[f->kind]);
	pl_dump_json_text_or_null(j, "name", f->name);
	pl_dump_json_text_or_null(j, "module", n->module);
	pl_dump_json_text_or_null(j, "build_id", n->build_id);
	pl_json_key_u64_or_null(j, "address", n->address, n->address);
	pl_json_key_u64_or_null(j, "offset", n->offset, n->offset);
	pl_json_key_u64_or_null(j, "function", n->function, n->function);
	pl_dump_json_text_or_null(j, "file", f->file);
	pl_json_key_u64_or_null(j, "line", f->line > 0, (uint64_t)f->line);
	source_members(j, f);
	pl_json_key_bool(j, "guessed", n->guessed);
	pl_json_key_bool(j, "signal", n->signal);
	pl_json_key_bool(j, "inlined", n->inlined);
	pl_json_object_end(j);
}

static void frame_object(struct pl_json *j, const struct pl_dump_frame *f)
{
	if (f->kind != PL_DUMP_FRAME_PYTHON) {
		native_frame_object(j, f);
		return;
	}
	pl_json_object(j);
	pl_json_key_str(j, "kind", kinds[f->kind]);
	pl_dump_json_text(j, "name", f->name);
	pl_dump_json_text(j, "qualname", f->qualname);
	pl_dump_json_text(j, "file", f->file);
	pl_json_key_i64(j, "line", f->line);
	pl_json_key_i64(j, "end_line", f->end_line);
	pl_json_key_i64(j, "column", f->column);
	pl_json_key_i64(j, "end_column", f->end_column);
	source_members(j, f);
	locals_member(j, f);
	pl_json_object_end(j);
}

void pl_dump_json_frames(struct pl_json *j, const pl_dump_frame_vec *frames)
{
	pl_json_key(j, "frames");
	pl_json_array(j);
	for (size_t i = 0; i < frames->len; i++)
		frame_object(j, &frames->data[i]);
	pl_json_array_end(j);
}
