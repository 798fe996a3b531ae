/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: samples as they came. One thread at a time. Of each what differs from the one before is written; the
 * file has no name, so what is read again is what was written. It is mapped and has no descriptor: a program may keep
 * many profiles. */
#include "sample_log.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "cursor.h"
#include "own_fd.h"
#include "temp_file.h"

#define SAMPLE_MAX_LEN 70 /* seven numbers */

struct logged {
	uint8_t *bytes;
	size_t len;
	bool mapped;
};

void pl_sample_log_init(struct pl_sample_log *log)
{
	*log = (struct pl_sample_log){.piece = PL_BUF_INIT(PL_SAMPLE_LOG_PIECE), .fd = -1};
}

void pl_sample_log_deinit(struct pl_sample_log *log)
{
	pl_buf_deinit(&log->piece);
	pl_own_fd_close(log->fd);
	log->fd = -1;
}

static struct plumb_error *write_piece(struct pl_sample_log *log)
{
	struct plumb_error *err = log->fd < 0 ? pl_temp_file_of_call(&log->fd) : NULL;

	if (!err)
		err = pl_temp_write(log->fd, log->piece.data, log->piece.len);
	if (err)
		return err;
	log->file_len += log->piece.len;
	pl_buf_clear(&log->piece);
	return NULL;
}

struct plumb_error *pl_sample_log_add(struct pl_sample_log *log, const struct pl_sample *s)
{
	struct pl_buf *b = &log->piece;
	struct plumb_error *err = b->len + SAMPLE_MAX_LEN > PL_SAMPLE_LOG_PIECE ? write_piece(log) : NULL;

	if (!err)
		err = pl_buf_add_svarint(b, (int64_t)(s->time_ns - log->last.time_ns));
	if (!err)
		err = pl_buf_add_varint(b, s->thread);
	if (!err)
		err = pl_buf_add_varint(b, s->stack);
	if (!err)
		err = pl_buf_add_varint(b, (uint32_t)s->state << 8 | s->quality);
	if (!err)
		err = pl_buf_add_svarint(b, (int64_t)(s->weight_ns - log->last.weight_ns));
	if (!err)
		err = pl_buf_add_varint(b, s->extra);
	if (!err)
		err = pl_buf_add_varint(b, s->lock);
	log->last = *s;
	return err;
}

/* What pl_sample_log_add wrote. */
static bool read_sample(struct pl_cursor *c, struct pl_sample *s)
{
	int64_t time = 0, weight = 0;
	uint64_t thread = 0, stack = 0, state = 0, lock = 0;

	if (!pl_cursor_svarint(c, &time) || !pl_cursor_varint(c, &thread) || !pl_cursor_varint(c, &stack) ||
	    !pl_cursor_varint(c, &state) || !pl_cursor_svarint(c, &weight) || !pl_cursor_varint(c, &s->extra) ||
	    !pl_cursor_varint(c, &lock))
		return false;
	s->time_ns += (uint64_t)time;
	s->weight_ns += (uint64_t)weight;
	s->thread = (uint32_t)thread;
	s->stack = (uint32_t)stack;
	s->lock = (uint32_t)lock;
	s->state = (uint16_t)(state >> 8);
	s->quality = (uint8_t)state;
	return true;
}

static struct plumb_error *logged_each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const struct logged *l = ctx;
	struct pl_cursor c = {.p = l->bytes, .end = l->bytes + l->len};
	struct plumb_error *err = NULL;
	struct pl_sample s = {0};

	while (!err && pl_cursor_left(&c))
		err = read_sample(&c, &s) ? fn(fn_ctx, &s) : &pl_err_corrupt;
	return err;
}

static void logged_destroy(void *ctx)
{
	struct logged *l = ctx;

	if (l && l->mapped)
		munmap(l->bytes, l->len);
	else if (l)
		free(l->bytes);
	free(l);
}

/* The bytes of @p log, which has a file if they are more than a piece. */
static struct plumb_error *take_bytes(struct pl_sample_log *log, struct logged *l)
{
	if (log->fd < 0) {
		l->bytes = log->piece.data;
		l->len = log->piece.len;
		log->piece.data = NULL;
		return NULL;
	}
	struct plumb_error *err = write_piece(log);
	if (err)
		return err;
	l->bytes = mmap(NULL, log->file_len, PROT_READ, MAP_SHARED, log->fd, 0);
	l->mapped = l->bytes != MAP_FAILED;
	l->len = log->file_len;
	return l->mapped ? NULL : &pl_err_no_memory;
}

struct plumb_error *pl_sample_log_stream(struct pl_sample_log *log, struct pl_stream *ret)
{
	struct logged *l = calloc(1, sizeof *l);
	struct plumb_error *err = l ? take_bytes(log, l) : &pl_err_no_memory;

	pl_sample_log_deinit(log);
	if (err) {
		free(l);
		return err;
	}
	*ret = (struct pl_stream){.each = logged_each, .destroy = logged_destroy, .ctx = l};
	return NULL;
}
