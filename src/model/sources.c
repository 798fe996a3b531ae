/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of the files that functions come from (layer model). One owner at a time.
 *
 * One file can have two texts: in two containers, or before and after it was edited. Then the smaller one in the order
 * of texts stays, so that it does not matter which came first. */
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "profile.h"

static struct plumb_error *copy_text(const void *text, size_t len, char **ret)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return &pl_err_no_memory;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	*ret = copy;
	return NULL;
}

static int compare_texts(const struct pl_source *row, const void *text, size_t len)
{
	size_t both = row->len < len ? row->len : len;
	int order = both ? memcmp(row->text, text, both) : 0;

	return order ? order : (row->len > len) - (row->len < len);
}

static struct plumb_error *update(struct plumb_profile *p, struct pl_source *row, const void *text, size_t len,
				  bool changed)
{
	int order = compare_texts(row, text, len);
	char *copy;

	if (order == 0 && (row->changed || !changed))
		return NULL;
	if (p->index->held)
		return &pl_err_stale;
	if (order > 0) {
		struct plumb_error *err = copy_text(text, len, &copy);
		if (err)
			return err;
		free(row->text);
		row->text = copy;
		row->len = len;
	}
	row->revision += order > 0 || !row->changed;
	row->changed = true;
	return NULL;
}

/* The row counts as one of the table only when all of it is there. */
static struct plumb_error *append(struct plumb_profile *p, const struct pl_source *row, const void *text)
{
	struct plumb_error *err =
		pl_row_room(p, (void **)&p->sources, &p->index->source_cap, p->source_count, sizeof *row);
	struct pl_source *fresh = p->sources + p->source_count;

	if (err)
		return err;
	*fresh = *row;
	if ((err = copy_text(text, row->len, &fresh->text)))
		return err;
	if (!pl_map_set(&p->index->sources, row->file, 0, p->source_count)) {
		free(fresh->text);
		return &pl_err_no_memory;
	}
	p->source_count++;
	return NULL;
}

struct plumb_error *pl_profile_source(struct plumb_profile *p, uint32_t file, const void *text, size_t len,
				      bool changed)
{
	struct pl_source row = {.file = file, .len = len, .changed = changed, .revision = 1};
	uint32_t at;

	if (len > PL_SOURCE_MAX_BYTES)
		return &pl_err_limit;
	if (pl_map_get(&p->index->sources, file, 0, &at))
		return update(p, &p->sources[at], text, len, changed);
	return append(p, &row, text);
}

const struct pl_source *pl_profile_source_of(const struct plumb_profile *p, uint32_t file)
{
	uint32_t at;

	return pl_map_get(&p->index->sources, file, 0, &at) ? &p->sources[at] : NULL;
}
