/* SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "export.h"
#include "gzip.h"
#include "random_recording.h"
#include "symbols.h"
#include "utf8.h"
#include "words.h"

void check(struct plumb_error *err)
{
	if (err)
		fail_msg("%s", plumb_error_message(err));
}

static struct plumb_error *count(void *ctx, const struct pl_sample *s)
{
	return pl_profile_add(ctx, s);
}

struct plumb_profile *random_profile(uint64_t seed, uint32_t samples)
{
	struct random_shape shape = {.seed = seed, .samples = samples};
	struct plumb_profile *p = NULL;

	check(pl_profile_create(&p));
	check(random_recording(&shape, p, count, p));
	return p;
}

static struct plumb_error *append(void *ctx, const void *bytes, size_t len, size_t packed)
{
	return pl_buf_add(ctx, bytes, len);
}

uint8_t *exported(const struct plumb_profile *p, const char *name, size_t *len_ret)
{
	struct pl_export_options o = {.made_by = "a test"};
	struct pl_buf plain = PL_BUF_INIT(SIZE_MAX);
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);

	check(pl_format_by_name(name)->write(p, &o, out));
	assert_int_equal(fclose(out), 0);
	if (pl_gzip_is((uint8_t *)bytes, len))
		check(pl_gunzip((uint8_t *)bytes, len, UINT64_MAX, append, &plain));
	else
		check(pl_buf_add(&plain, bytes, len));
	free(bytes);
	*len_ret = plain.len;
	check(pl_buf_add_u8(&plain, 0));
	return plain.data;
}

struct plumb_error *import_bytes(const char *name, const void *bytes, size_t len, struct plumb_profile **ret)
{
	struct pl_import_input in = {.bytes = bytes, .len = len};
	struct pl_sink sink = {0};

	check(pl_profile_create(ret));
	sink.profile = *ret;
	return pl_importer_run(pl_importer_by_name(name), &in, &sink);
}

/* Long names as their length and a sum. */
static void write_name(FILE *out, const struct plumb_profile *p, uint32_t string)
{
	struct pl_buf valid = PL_BUF_INIT(SIZE_MAX);
	uint64_t sum = 0;
	size_t len;
	const char *text = pl_strtab_get(p->strings, string, &len);

	check(pl_utf8_add_valid(&valid, text, len));
	for (size_t i = 0; i < valid.len; i++)
		sum = sum * 31 + valid.data[i];
	if (valid.len > 200)
		fprintf(out, "'%zu:%" PRIx64 "'", valid.len, sum);
	else
		fprintf(out, "'%zu:%" PRIx64 ":%.*s'", valid.len, sum, (int)valid.len, (char *)valid.data);
	pl_buf_deinit(&valid);
}

static void write_frame(FILE *out, const struct plumb_profile *p, const struct pl_location *l)
{
	const struct pl_function *f = &p->functions[l->function];

	fprintf(out, " <%d ", f->origin);
	write_name(out, p, f->name);
	write_name(out, p, f->qualname ? f->qualname : f->name);
	write_name(out, p, f->file);
	fprintf(out, " %" PRIu32 " @%" PRId32 ":%" PRId32 ">", f->firstline, l->line, l->column);
}

static char *group_line(const struct plumb_profile *p, const struct pl_symbol_group *g)
{
	const struct pl_thread *t = &p->threads[g->thread];
	const struct pl_process *proc = &p->processes[t->process];
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "%" PRIu32 " ", proc->pid);
	write_name(out, p, proc->name);
	write_name(out, p, proc->host);
	fprintf(out, " %" PRIu64 " ", t->tid);
	write_name(out, p, t->name);
	fprintf(out, " main %d state %d waits for %s quality %d", t->main, g->state & UINT8_MAX,
		pl_reasons[pl_reason_of(g->state)].word, g->quality);
	for (uint32_t s = g->stack; s; s = p->stacks[s].parent)
		write_frame(out, p, &p->locations[p->stacks[s].location]);
	/* The counts come behind a tab, so that equal groups can be added up. */
	fprintf(out, "\t%" PRIu64 " %" PRIu64, g->samples, g->weight_ns);
	fclose(out);
	return text;
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Add up lines whose text before the last tab is equal. */
static char *unite(char **lines, size_t count)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	uint64_t samples = 0, weight = 0;

	for (size_t i = 0; i < count; i++) {
		char *tab = strrchr(lines[i], '\t');
		char *end;
		size_t key = (size_t)(tab - lines[i]);

		samples += strtoull(tab + 1, &end, 10);
		weight += strtoull(end, NULL, 10);
		if (i + 1 < count && strncmp(lines[i], lines[i + 1], key + 1) == 0)
			continue;
		fprintf(out, "%.*s = %" PRIu64 " %" PRIu64 "\n", (int)key, lines[i], samples, weight);
		samples = weight = 0;
	}
	fclose(out);
	return text;
}

struct lines {
	const struct plumb_profile *p;
	PL_VEC(char *) texts;
};

static struct plumb_error *add_group(void *ctx, const struct pl_symbol_group *g)
{
	struct lines *l = ctx;

	return pl_vec_push(&l->texts, group_line(l->p, g)) ? NULL : &pl_err_no_memory;
}

char *counts_text(const struct plumb_profile *p)
{
	struct lines l = {.p = p};
	char *text;

	check(pl_symbol_groups_each(p, add_group, &l));
	if (l.texts.len)
		qsort(l.texts.data, l.texts.len, sizeof *l.texts.data, compare_text);
	text = unite(l.texts.data, l.texts.len);
	for (size_t i = 0; i < l.texts.len; i++)
		free(l.texts.data[i]);
	pl_vec_deinit(&l.texts);
	return text;
}
