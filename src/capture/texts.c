/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of files as sections (layer capture). One thread. See texts.h. */
#include "texts.h"

#include "tables.h"

void pl_text_marks_deinit(struct pl_text_marks *m)
{
	pl_vec_deinit(&m->revisions);
}

static bool is_new(const struct plumb_profile *p, const struct pl_text_marks *m, uint32_t i)
{
	return i >= m->revisions.len || m->revisions.data[i] != p->sources[i].revision;
}

bool pl_texts_are_new(const struct plumb_profile *p, const struct pl_text_marks *m)
{
	for (uint32_t i = 0; i < p->source_count; i++)
		if (is_new(p, m, i))
			return true;
	return false;
}

static void encode_row(struct pl_encoder *e, const struct pl_source *s)
{
	pl_encode(e, s->file);
	pl_encode(e, s->changed ? PL_SOURCE_CHANGED : 0);
	pl_encode(e, s->len);
	pl_encode_bytes(e, s->text, s->len);
}

/* Returns how many rows there are. */
static uint32_t encode_rows(struct pl_encoder *e, const struct plumb_profile *p, const struct pl_text_marks *m,
			    struct pl_text_marks *to)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < p->source_count; i++) {
		bool now = is_new(p, m, i) && e->buf->len < PL_TABLES_MAX_BYTES;
		uint32_t written = i < m->revisions.len ? m->revisions.data[i] : 0;

		if (now)
			encode_row(e, &p->sources[i]);
		to->revisions.data[to->revisions.len++] = now ? p->sources[i].revision : written;
		count += now;
	}
	return count;
}

struct plumb_error *pl_texts_encode(const struct plumb_profile *p, const struct pl_text_marks *m, struct pl_buf *raw,
				    struct pl_text_marks *to)
{
	struct pl_buf rows = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder e = {.buf = &rows};

	*to = (struct pl_text_marks){0};
	if (!pl_vec_reserve(&to->revisions, p->source_count))
		return &pl_err_no_memory;
	uint32_t count = encode_rows(&e, p, m, to);
	struct plumb_error *err = pl_rows_encode(&e, count, PL_SECTION_SOURCES, raw, NULL);
	pl_buf_deinit(&rows);
	return err;
}
