/* SPDX-License-Identifier: Apache-2.0 */
/* The source text of the report page (layer export; one thread at a time): of the files whose text the recording has,
 * the lines around those that were sampled. */
#include "page_parts.h"

#include <stdlib.h>

#include "source_lines.h"
#include "utf8.h"

#define LINES_AROUND 20	 /* what was sampled */
#define LINES_BEFORE 3	 /* the first line of a function: its decorators */
#define MAX_GAP	     100 /* between two ranges that are shown as one */
#define TEXT_MAX     ((size_t)1 << 31)

struct range {
	uint32_t file; /* string of the profile */
	int32_t first, last;
};
struct ranges {
	PL_VEC(struct range) all;
};

static bool add(struct ranges *r, uint32_t file, int64_t first, int64_t last)
{
	struct range range = {.file = file,
			      .first = (int32_t)(first < 1 ? 1 : first),
			      .last = (int32_t)(last > INT32_MAX ? INT32_MAX : last)};

	return pl_vec_push(&r->all, range);
}

static bool collect(struct ranges *r, const struct pl_page_tables *t, const struct plumb_profile *p)
{
	for (uint32_t i = 0; i < t->location_count; i++) {
		const struct pl_location *l = &p->locations[t->locations[i]];
		const struct pl_function *f = &p->functions[l->function];
		int64_t end = l->end_line > l->line ? l->end_line : l->line;
		const uint32_t file = pl_function_source(f);

		if (l->line <= 0 || !pl_profile_source_of(p, file))
			continue;
		if (!add(r, file, (int64_t)l->line - LINES_AROUND, end + LINES_AROUND))
			return false;
		if (f->firstline && !add(r, file, (int64_t)f->firstline - LINES_BEFORE, f->firstline))
			return false;
	}
	return true;
}

static int compare_ranges(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* One range for all that touch or nearly touch. */
static void join(struct ranges *r)
{
	size_t kept = 0;

	if (r->all.len)
		qsort(r->all.data, r->all.len, sizeof *r->all.data, compare_ranges);
	for (size_t i = 0; i < r->all.len; i++) {
		const struct range *range = &r->all.data[i];
		struct range *last = kept ? &r->all.data[kept - 1] : NULL;

		if (!last || last->file != range->file || (int64_t)range->first - last->last > MAX_GAP)
			r->all.data[kept++] = *range;
		else if (range->last > last->last)
			last->last = range->last;
	}
	r->all.len = kept;
}

/* The lines of @p range, as far as the file has them. */
static struct plumb_error *add_text(struct pl_sources *sources, const struct range *range, struct pl_buf *text)
{
	struct plumb_error *err = NULL;
	struct pl_text line;

	for (int64_t i = range->first; i <= range->last && !err; i++) {
		if (!pl_sources_line(sources, range->file, (int32_t)i, &line))
			break;
		err = pl_utf8_add_valid(text, line.s, line.len);
		if (!err)
			err = pl_buf_add_u8(text, '\n');
	}
	return err;
}

static struct plumb_error *write_range(struct pl_sources *sources, const struct range *range, struct pl_page_columns *c)
{
	struct pl_buf text = PL_BUF_INIT(TEXT_MAX);
	struct plumb_error *err = add_text(sources, range, &text);

	if (!err) {
		pl_page_column_u64(c, (uint64_t)range->first);
		pl_page_column_u64(c, text.len);
		pl_page_columns_bytes(c, text.data, text.len);
	}
	pl_buf_deinit(&text);
	return err;
}

/* Those from @p begin to @p end are of one file. */
static struct plumb_error *write_file(const struct plumb_profile *p, struct pl_page_tables *t,
				      struct pl_sources *sources, const struct range *begin, const struct range *end,
				      struct pl_page_columns *c)
{
	uint32_t name;
	struct plumb_error *err = pl_page_string(t, p, begin->file, &name);

	if (err)
		return err;
	pl_page_column_u64(c, name);
	pl_page_column_u64(c, pl_profile_source_of(p, begin->file)->changed);
	pl_page_column_u64(c, (uint64_t)(end - begin));
	for (const struct range *range = begin; range < end && !err; range++)
		err = write_range(sources, range, c);
	return err;
}

static size_t files_in(const struct ranges *r)
{
	size_t count = 0;

	for (size_t i = 0; i < r->all.len; i++)
		count += i == 0 || r->all.data[i].file != r->all.data[i - 1].file;
	return count;
}

static struct plumb_error *write_files(const struct plumb_profile *p, struct pl_page_tables *t, const struct ranges *r,
				       struct pl_page_columns *c)
{
	struct pl_sources *sources = pl_sources_create(p);
	struct plumb_error *err = sources ? NULL : &pl_err_no_memory;

	pl_page_column_u64(c, files_in(r));
	for (size_t i = 0, end; i < r->all.len && !err; i = end) {
		for (end = i; end < r->all.len && r->all.data[end].file == r->all.data[i].file; end++)
			;
		err = write_file(p, t, sources, r->all.data + i, r->all.data + end, c);
	}
	pl_sources_destroy(sources);
	return err;
}

struct plumb_error *pl_page_sources_write(const struct plumb_profile *p, struct pl_page_tables *t, FILE *out)
{
	struct ranges r = {0};
	struct pl_page_columns c;
	struct plumb_error *err = collect(&r, t, p) ? NULL : &pl_err_no_memory;

	pl_page_columns_init(&c);
	if (!err) {
		join(&r);
		err = write_files(p, t, &r, &c);
	}
	pl_vec_deinit(&r.all);
	if (!err)
		return pl_page_columns_end(&c, PL_PAGE_SOURCES, out);
	pl_page_columns_deinit(&c);
	return err;
}
