/* SPDX-License-Identifier: Apache-2.0 */
/* Text of all stacks, made with nothing but src/cpython. Used by the golden test, by the program that captures images,
 * and for looking at a live process. */
#include "stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "frame.h"
#include "lines.h"
#include "threads.h"

void facts_parse(struct pl_py_facts *f, const char *text)
{
	const char *eq = strchr(text, '=');
	uint64_t value = eq ? strtoull(eq + 1, NULL, 16) : 0;

	if (!strncmp(text, "runtime=", 8))
		f->runtime = value;
	else if (!strncmp(text, "runtime_size=", 13))
		f->runtime_size = value;
	else if (!strncmp(text, "version=", 8))
		f->version = value;
	else if (!strncmp(text, "code_type=", 10))
		f->code_type = value;
	else if (!strncmp(text, "name=", 5))
		f->name_version = (uint32_t)value;
	else if (!strncmp(text, "tstate_current=", 15))
		f->tstate_current = value;
}

bool image_facts(struct pl_mem *mem, struct pl_py_facts *ret)
{
	uint64_t words[5];

	if (pl_mem_read(mem, 16, words, sizeof words))
		return false;
	*ret = (struct pl_py_facts){.runtime = words[0],
				    .runtime_size = words[1],
				    .version = words[2],
				    .code_type = words[3],
				    .name_version = (uint32_t)words[4]};
	if (pl_mem_read(mem, 16 + sizeof words, &ret->tstate_current, sizeof ret->tstate_current))
		ret->tstate_current = 0; /* an image made before 2.7 and 3.6 were supported */
	return true;
}

struct names {
	uint64_t ids[256];
	char text[256][64];
	size_t len;
};

static void add_name(void *ctx, uint64_t thread_id, const char *name, size_t len)
{
	struct names *n = ctx;

	if (n->len == 256)
		return;
	n->ids[n->len] = thread_id;
	snprintf(n->text[n->len++], sizeof n->text[0], "%.*s", (int)len, name);
}

static const char *name_of(const struct names *n, uint64_t thread_id)
{
	for (size_t i = 0; i < n->len; i++) {
		if (n->ids[i] == thread_id)
			return n->text[i];
	}
	return "?";
}

static const char *base_name(struct pl_buf *path)
{
	const char *s = pl_buf_str(path), *slash = strrchr(s, '/');

	return slash ? slash + 1 : s;
}

static int32_t offset_of(struct pl_mem *mem, const struct pl_py *py, const struct pl_code *c, struct pl_frame f)
{
	pl_addr base;
	struct plumb_error *err = pl_code_copy_base(mem, py, &f, &base);

	if (!err && f.tlbc_index)
		pl_code_leave_copy(&f, base, c->instr_base);
	plumb_error_destroy(err);
	return pl_code_offset(py, c, &f);
}

static void print_frame(struct pl_mem *mem, const struct pl_py *py, const struct pl_frame *f, struct pl_code *c,
			FILE *out)
{
	const char *mark = f->entry ? " entry" : "";

	if (f->kind == PL_FRAME_SHIM) {
		fprintf(out, "    <shim>\n");
		return;
	}
	struct plumb_error *err = pl_code_read(mem, py, f->code, c);
	if (err) {
		fprintf(out, "    <%s>\n", plumb_error_name(plumb_error_code(err)));
		plumb_error_destroy(err);
		return;
	}
	struct pl_position p = pl_lines_find(py->layout.line_table, c->linetable.data, c->linetable.len,
					     (int32_t)c->firstlineno, offset_of(mem, py, c, *f));
	fprintf(out, "    %s", pl_buf_str(&c->qualname));
	fprintf(out, " %s:%d:%d-%d:%d first=%u%s%s%s\n", base_name(&c->filename), p.line, p.column, p.end_line,
		p.end_column, c->firstlineno, mark,
		f->owner == py->layout.owner_generator && f->owner != PL_NO_OWNER ? " generator" : "",
		c->hidden ? " hidden" : "");
}

static void print_thread(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in,
			 const struct pl_tstate *ts, const struct names *names, FILE *out)
{
	pl_frame_vec frames = {0};
	struct pl_code code;
	pl_addr root = 0;

	pl_code_init(&code);
	struct plumb_error *err = pl_frame_walk(mem, py, ts, NULL, &frames, &root);
	fprintf(out, "  thread %s%s%s%s frames=%zu\n", name_of(names, ts->thread_id), ts->native_id ? " native" : "",
		in->gil_holder == ts->addr ? " gil" : "", ts->exception ? " exception" : "", frames.len);
	for (size_t i = 0; i < frames.len && i < 200; i++)
		print_frame(mem, py, &frames.data[i], &code, out);
	if (err)
		fprintf(out, "    walk: %s\n", plumb_error_message(err));
	plumb_error_destroy(err);
	pl_code_deinit(&code);
	pl_vec_deinit(&frames);
}

static struct plumb_error *print_interp(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in,
					FILE *out)
{
	pl_tstate_vec threads = {0};
	struct names *names = calloc(1, sizeof *names);
	struct plumb_error *err = names ? pl_thread_names(mem, py, in, add_name, names) : &pl_err_no_memory;

	fprintf(out, "interpreter%s%s\n", in->gc_collecting ? " gc" : "", in->gil_holder ? " gil-held" : "");
	if (!err)
		err = pl_tstate_list(mem, py, in, &threads, NULL);
	for (size_t i = threads.len; i-- > 0;)
		print_thread(mem, py, in, &threads.data[i], names, out);
	pl_vec_deinit(&threads);
	free(names);
	return err;
}

struct plumb_error *stacks_print(struct pl_mem *mem, const struct pl_py_facts *facts, FILE *out)
{
	pl_interp_vec interps = {0};
	struct pl_py py;
	char version[PL_VERSION_TEXT];
	struct plumb_error *err = pl_py_detect(mem, facts, &py);

	if (err)
		return err;
	fprintf(out, "python %s%s%s\n", pl_py_version_text(&py, version), py.from_debug_offsets ? " debug-offsets" : "",
		py.none ? " none" : "");
	err = pl_interp_list(mem, &py, &interps, NULL);
	for (size_t i = 0; !err && i < interps.len; i++)
		err = print_interp(mem, &py, &interps.data[i], out);
	pl_vec_deinit(&interps);
	return err;
}
