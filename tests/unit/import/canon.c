/* SPDX-License-Identifier: Apache-2.0 */
#include "canon.h"

#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "utf8.h"
#include "view.h"

/* ---- samples in memory ---- */

struct samples {
	struct plumb_profile *p;
	PL_VEC(struct pl_sample) all;
};

static struct plumb_error *keep(void *ctx, const struct pl_sample *s)
{
	struct samples *samples = ctx;

	assert_true(pl_vec_push(&samples->all, *s));
	return NULL;
}

static struct plumb_error *keep_and_count(void *ctx, const struct pl_sample *s)
{
	assert_null(keep(ctx, s));
	return pl_profile_add(((struct samples *)ctx)->p, s);
}

static struct plumb_error *each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	struct samples *s = ctx;
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < s->all.len && !err; i++)
		err = fn(fn_ctx, &s->all.data[i]);
	return err;
}

static void destroy(void *ctx)
{
	struct samples *s = ctx;

	pl_vec_deinit(&s->all);
	free(s);
}

static struct samples *samples_of(struct plumb_profile *p)
{
	struct samples *s = calloc(1, sizeof *s);

	assert_non_null(s);
	s->p = p;
	return s;
}

static void set_stream(struct plumb_profile *p, struct samples *s, bool timed)
{
	if (timed)
		p->stream = (struct pl_stream){.each = each, .destroy = destroy, .ctx = s};
	else
		destroy(s);
}

struct plumb_profile *canon_random(const struct random_shape *shape)
{
	struct plumb_profile *p;
	struct samples *s;

	assert_ok(pl_profile_create(&p));
	s = samples_of(p);
	assert_ok(random_recording(shape, p, keep_and_count, s));
	set_stream(p, s, true);
	return p;
}

char *canon_export(const struct plumb_profile *p, const char *name, size_t *len_ret)
{
	struct pl_export_options o = {.made_by = "plumb 0.1.0: a test"};
	char *text = NULL;
	FILE *out = open_memstream(&text, len_ret);

	assert_non_null(out);
	assert_ok(pl_format_by_name(name)->write(p, &o, out));
	assert_int_equal(fclose(out), 0);
	return text;
}

struct plumb_error *canon_try(const char *name, const char *text, size_t len, struct plumb_profile **ret)
{
	const struct pl_importer *importer = pl_importer_by_name(name);
	struct pl_import_input in = {.bytes = (const uint8_t *)text, .len = len};
	struct plumb_profile *p;
	struct plumb_error *err;

	assert_non_null(importer);
	assert_ok(pl_profile_create(&p));
	struct samples *s = samples_of(p);
	struct pl_sink sink = {.profile = p, .fn = keep, .ctx = s};
	err = pl_importer_run(importer, &in, &sink);
	if (err) {
		destroy(s);
		pl_profile_destroy(p);
		return err;
	}
	set_stream(p, s, sink.timed);
	*ret = p;
	return NULL;
}

struct plumb_profile *canon_import(const char *name, const char *text, size_t len)
{
	struct plumb_profile *p = NULL;

	assert_ok(canon_try(name, text, len, &p));
	return p;
}

/* ---- as text ---- */

/* As a format in UTF-8 has it. */
static void put_string(FILE *out, const struct plumb_profile *p, uint32_t id)
{
	size_t len;
	const char *s = pl_strtab_get(p->strings, id, &len);

	putc('"', out);
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c;

		n = pl_utf8_decode((const uint8_t *)s + i, len - i, &c);
		if (c == PL_UTF8_INVALID)
			fputs("\xef\xbf\xbd", out);
		else if (c < ' ')
			fprintf(out, "\\x%02x", (unsigned)c);
		else
			fwrite(s + i, 1, n, out);
	}
	putc('"', out);
}

static void put_frames(FILE *out, const struct plumb_profile *p, uint32_t stack)
{
	const struct pl_location *l = &p->locations[p->stacks[stack].location];
	const struct pl_function *f = &p->functions[l->function];

	fprintf(out, " %d:", f->origin);
	put_string(out, p, f->name);
	put_string(out, p, f->qualname);
	put_string(out, p, f->file);
	fprintf(out, "%u:%d-%d.%d-%d", f->firstline, l->line, l->end_line, l->column, l->end_column);
}

static void put_row(FILE *out, const struct plumb_profile *p, const struct pl_stack_row *r)
{
	const struct pl_thread *t = &p->threads[r->thread];
	const struct pl_process *proc = &p->processes[t->process];

	fprintf(out, "%u@%" PRIu64 " %" PRIu64 "%s ", proc->pid, proc->start_ns, t->tid, t->main ? "*" : "");
	put_string(out, p, proc->name);
	put_string(out, p, t->name);
	for (uint32_t s = r->stack; s; s = p->stacks[s].parent)
		put_frames(out, p, s);
	fprintf(out, " = %" PRIu64 " %" PRIu64 "\n", r->samples, r->weight_ns);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted(char *text)
{
	PL_VEC(char *) lines = {0};
	char *all = NULL;
	size_t len;
	FILE *out = open_memstream(&all, &len);

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(pl_vec_push(&lines, line));
	qsort(lines.data, lines.len, sizeof *lines.data, compare_lines);
	for (size_t i = 0; i < lines.len; i++)
		fprintf(out, "%s\n", lines.data[i]);
	fclose(out);
	pl_vec_deinit(&lines);
	free(text);
	return all;
}

char *canon_text(const struct plumb_profile *p)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP};
	pl_stack_rows rows = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_ok(pl_view_stacks(p, &everything, &rows));
	for (size_t i = 0; i < rows.len; i++)
		put_row(out, p, &rows.data[i]);
	fclose(out);
	pl_vec_deinit(&rows);
	return sorted(text);
}
