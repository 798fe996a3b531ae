/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a recording (layer capture). One thread at a time.
 *
 * Each chunk is built in memory and handed over in one write(2), so that a profiler that is killed leaves whole chunks
 * and at most one cut one, and a reader of the growing file sees whole chunks. After a failed write the file is cut
 * back to its last whole chunk where that is possible, everything stays in memory, and the next call tries again. Does
 * not decide when a chunk is due, only tells. */
#include "capture.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "columns.h"
#include "event_rows.h"
#include "format.h"
#include "tables.h"
#include "texts.h"

/* A chunk is due when it holds so much, whatever its time. */
#define DUE_SAMPLES 1000000u
#define DUE_BYTES   (8u << 20)

struct pl_capture_writer {
	struct pl_new_file file;
	uint64_t file_len; /* of whole chunks */
	uint32_t sequence;
	uint64_t samples_before;
	struct pl_columns columns;
	pl_event_vec events; /* that are not in the file yet */
	struct pl_table_marks marks;
	struct pl_text_marks texts;
	struct pl_buf raw, out; /* kept between chunks to save the allocations */
};

/* The file is cut back to its whole chunks where that is possible. */
static struct plumb_error *write_failed(struct pl_capture_writer *w, int errnum)
{
	struct plumb_error *err = pl_new_file_check(&w->file);

	if (err)
		return err;
	if (w->file.deserted)
		return pl_error_hint(pl_error(PLUMB_ERR_WRITE_FAILED,
					      "cannot write %s to its end: nobody reads it any more",
					      pl_capture_path(w)),
				     "what was read until then is a recording");
	if (!w->file.shared && ftruncate(w->file.fd, (off_t)w->file_len) == 0)
		(void)lseek(w->file.fd, (off_t)w->file_len, SEEK_SET);
	return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errnum, "cannot write %s", pl_capture_path(w));
}

/* All of it, or nothing as far as the file allows. */
static struct plumb_error *write_bytes(struct pl_capture_writer *w, const uint8_t *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		struct plumb_error *err = pl_new_file_check(&w->file);
		if (err)
			return err;
		ssize_t n = pl_new_file_write(&w->file, bytes + done, len - done);
		if (n <= 0)
			return write_failed(w, n ? errno : ENOSPC);
		done += (size_t)n;
	}
	w->file_len += len;
	return NULL;
}

static struct plumb_error *write_header(struct pl_capture_writer *w)
{
	uint8_t header[PL_FILE_HEADER_LEN];

	pl_file_header_encode(header, PL_RECORDING_VERSION);
	return write_bytes(w, header, sizeof header);
}

struct plumb_error *pl_capture_create_in(struct pl_new_file *file, const struct plumb_profile *p,
					 struct pl_capture_writer **ret)
{
	struct pl_capture_writer *w = calloc(1, sizeof *w);
	if (!w) {
		pl_new_file_discard(file);
		return &pl_err_no_memory;
	}
	w->raw = w->out = (struct pl_buf)PL_BUF_INIT(2 * (size_t)PL_CHUNK_MAX_BYTES);
	pl_columns_init(&w->columns, p->meta.period_ns);
	pl_table_marks_init(&w->marks);
	w->file = *file;
	struct plumb_error *err = write_header(w);
	if (err) {
		pl_capture_destroy(w);
		return err;
	}
	*ret = w;
	return NULL;
}

struct plumb_error *pl_capture_create(const char *path, const struct plumb_profile *p, struct pl_capture_writer **ret)
{
	struct pl_new_file file;
	struct plumb_error *err = pl_new_file_open(path, PL_REPLACE_NAMED, &file);

	if (err)
		return err;
	if ((err = pl_new_file_publish(&file))) {
		pl_new_file_discard(&file);
		return err;
	}
	return pl_capture_create_in(&file, p, ret);
}

struct plumb_error *pl_capture_create_at(int fd, const char *name, const struct plumb_profile *p,
					 struct pl_capture_writer **ret)
{
	struct pl_new_file file;
	struct plumb_error *err = pl_new_file_share(fd, name, &file);

	if (err)
		return err;
	return pl_capture_create_in(&file, p, ret);
}

struct plumb_error *pl_capture_publish(struct pl_capture_writer *w)
{
	return pl_new_file_publish(&w->file);
}

bool pl_capture_is_kept(const struct pl_capture_writer *w)
{
	return !w->file.made || w->file.kept;
}

bool pl_capture_is_named(const struct pl_capture_writer *w)
{
	return !w->file.beside;
}

bool pl_capture_has_samples(const struct pl_capture_writer *w)
{
	return w->samples_before > 0;
}

int pl_capture_fd(const struct pl_capture_writer *w)
{
	return w->file.fd;
}

bool pl_capture_rename(struct pl_capture_writer *w, const char *path)
{
	return pl_new_file_rename(&w->file, path);
}

const char *pl_capture_path(const struct pl_capture_writer *w)
{
	return pl_new_file_path(&w->file);
}

void pl_capture_destroy(struct pl_capture_writer *w)
{
	if (!w)
		return;
	pl_new_file_discard(&w->file);
	pl_columns_deinit(&w->columns);
	pl_vec_deinit(&w->events);
	pl_table_marks_deinit(&w->marks);
	pl_text_marks_deinit(&w->texts);
	pl_buf_deinit(&w->raw);
	pl_buf_deinit(&w->out);
	free(w);
}

struct plumb_error *pl_capture_add(struct pl_capture_writer *w, const struct pl_sample *s)
{
	return pl_columns_add(&w->columns, s);
}

struct plumb_error *pl_capture_event(struct pl_capture_writer *w, const struct pl_event *e)
{
	return pl_vec_push(&w->events, *e) ? NULL : &pl_err_no_memory;
}

bool pl_capture_is_full(const struct pl_capture_writer *w)
{
	return w->columns.samples >= DUE_SAMPLES || pl_columns_size(&w->columns) >= DUE_BYTES;
}

bool pl_capture_wants_flush(const struct pl_capture_writer *w)
{
	const struct pl_columns *c = &w->columns;
	return c->samples && (c->last_ns >= c->first_ns + PL_CAPTURE_CHUNK_NS || pl_capture_is_full(w));
}

uint64_t pl_capture_chunks(const struct pl_capture_writer *w)
{
	return w->sequence;
}

/* Rows first, as many as one chunk takes; if that is all of them, the samples. */
static struct plumb_error *build_payload(struct pl_capture_writer *w, const struct plumb_profile *p,
					 struct pl_table_marks *to, bool *whole_ret)
{
	pl_buf_clear(&w->raw);
	struct plumb_error *err = pl_tables_encode(p, &w->marks, &w->raw, to, whole_ret);
	if (!err)
		err = pl_whole_encode(p, &w->raw);
	if (!err && *whole_ret)
		err = pl_columns_encode(&w->columns, &w->raw);
	if (!err && *whole_ret)
		err = pl_event_rows_encode(&w->events, &w->raw);
	return err;
}

/* What is in w->raw as the next chunk. */
static struct plumb_error *write_chunk(struct pl_capture_writer *w, enum pl_chunk_kind kind, uint32_t samples)
{
	struct pl_chunk_header h = {
		.kind = kind, .sequence = w->sequence, .samples = samples, .samples_before = w->samples_before};
	pl_buf_clear(&w->out);
	struct plumb_error *err = pl_chunk_seal(&h, &w->raw, &w->out);
	if (!err)
		err = write_bytes(w, w->out.data, w->out.len);
	if (err)
		return err;
	w->sequence++;
	w->samples_before += samples;
	return NULL;
}

/* *whole_ret: with this chunk all rows and samples are in the file. */
static struct plumb_error *write_rows(struct pl_capture_writer *w, const struct plumb_profile *p, bool last,
				      bool *whole_ret)
{
	struct pl_table_marks to = {0};
	bool whole = false;
	struct plumb_error *err = build_payload(w, p, &to, &whole);
	if (!err)
		err = write_chunk(w, last && whole && !pl_texts_are_new(p, &w->texts) ? PL_CHUNK_LAST : PL_CHUNK_MORE,
				  whole ? w->columns.samples : 0);
	if (err) {
		pl_table_marks_deinit(&to);
		return err;
	}
	pl_table_marks_deinit(&w->marks);
	w->marks = to;
	if (whole) {
		pl_columns_clear(&w->columns);
		pl_vec_clear(&w->events);
	}
	*whole_ret = whole;
	return NULL;
}

static struct plumb_error *write_texts(struct pl_capture_writer *w, const struct plumb_profile *p, bool last)
{
	struct pl_text_marks to = {0};
	pl_buf_clear(&w->raw);
	struct plumb_error *err = pl_texts_encode(p, &w->texts, &w->raw, &to);
	if (!err)
		err = pl_whole_encode(p, &w->raw);
	if (!err)
		err = write_chunk(w, last && !pl_texts_are_new(p, &to) ? PL_CHUNK_LAST : PL_CHUNK_MORE, 0);
	if (err) {
		pl_text_marks_deinit(&to);
		return err;
	}
	pl_text_marks_deinit(&w->texts);
	w->texts = to;
	return NULL;
}

/* Each chunk carries at least one row or text more. */
static struct plumb_error *write_chunks(struct pl_capture_writer *w, const struct plumb_profile *p, bool last)
{
	struct plumb_error *err = NULL;
	for (bool whole = false; !err && !whole;)
		err = write_rows(w, p, last, &whole);
	while (!err && pl_texts_are_new(p, &w->texts))
		err = write_texts(w, p, last);
	return err;
}

struct plumb_error *pl_capture_flush(struct pl_capture_writer *w, const struct plumb_profile *p)
{
	return write_chunks(w, p, false);
}

struct plumb_error *pl_capture_finish(struct pl_capture_writer *w, const struct plumb_profile *p)
{
	struct plumb_error *err = write_chunks(w, p, true);

	return err ? err : pl_new_file_finish(&w->file);
}
