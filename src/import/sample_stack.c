/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as CPython's collectors are given them (layer import): [file, location, function, opcode]. */
#include "sample_stack.h"

#include <string.h>

struct frame {
	struct plumb_profile *p;
	int at; /* which member comes next */
	struct pl_function function;
	struct pl_location location;
	bool special; /* file "~" */
	bool angled;  /* name in <> */
	bool gc;
};

struct frames {
	struct pl_sample_frames *all;
	pl_ids *ids;
	bool gc;
};

/* A line or a column; what is no number, or too large to be one, is none. */
static int32_t place(const struct pl_json_reader *r, int32_t none)
{
	int64_t v;

	return pl_json_reader_i64(r, &v) && v >= 0 && v <= INT32_MAX ? (int32_t)v : none;
}

static struct plumb_error *read_place(struct pl_json_reader *r, void *ctx)
{
	struct frame *f = ctx;
	int at = f->at++ - 100;

	if (at == 0)
		f->location.line = place(r, 0);
	else if (at == 1)
		f->location.end_line = place(r, 0);
	else if (at == 2)
		f->location.column = place(r, -1);
	else if (at == 3)
		f->location.end_column = place(r, -1);
	return NULL;
}

static struct plumb_error *read_location(struct pl_json_reader *r, struct frame *f)
{
	struct plumb_error *err = NULL;

	if (r->token == PL_JSON_ARRAY) {
		f->at = 100;
		err = pl_json_reader_array(r, read_place, f);
	} else if (r->token == PL_JSON_NUMBER) {
		f->location.line = f->location.end_line = place(r, 0);
	} else if (r->token != PL_JSON_NULL) {
		err = pl_json_reader_fail(r, "the location of a frame is neither an array nor a line nor null");
	}
	return err;
}

static struct plumb_error *read_opcode(struct pl_json_reader *r, struct frame *f)
{
	uint64_t v;

	if (r->token == PL_JSON_NULL)
		return NULL;
	if (!pl_json_reader_u64(r, &v) || v >= UINT16_MAX)
		return pl_json_reader_fail(r, "the opcode of a frame is not a number below %d", UINT16_MAX);
	f->location.opcode = (uint16_t)(v + 1);
	return NULL;
}

static struct plumb_error *read_text(struct pl_json_reader *r, struct frame *f, uint32_t *ret)
{
	if (r->token != PL_JSON_STRING)
		return pl_json_reader_fail(r, "the name of a frame or of its file is not a text");
	return pl_profile_string(f->p, r->str, r->str_len, ret);
}

static struct plumb_error *read_member(struct pl_json_reader *r, void *ctx)
{
	struct frame *f = ctx;
	int at = f->at;
	struct plumb_error *err = NULL;

	if (at == 0) {
		f->special = pl_json_reader_is(r, "~");
		err = read_text(r, f, &f->function.file);
	} else if (at == 1) {
		err = read_location(r, f);
	} else if (at == 2) {
		f->angled = r->str_len > 2 && r->str[0] == '<' && r->str[r->str_len - 1] == '>';
		f->gc = pl_json_reader_is(r, "<GC>");
		err = read_text(r, f, &f->function.name);
	} else if (at == 3) {
		err = read_opcode(r, f);
	}
	f->at = at + 1;
	return err;
}

static struct plumb_error *make_frame(struct pl_json_reader *r, struct plumb_profile *p, struct pl_known_frame *ret)
{
	struct frame f = {.p = p, .location = {.column = -1, .end_column = -1}};
	struct plumb_error *err = pl_json_reader_array(r, read_member, &f);

	if (err)
		return err;
	if (f.at < 3)
		return pl_json_reader_fail(r, "a frame ends before its function");
	f.function.origin = f.special && f.angled && f.location.line == 0 ? PL_ORIGIN_MARKER : PL_ORIGIN_PYTHON;
	err = pl_profile_function(p, &f.function, &f.location.function);
	if (!err)
		err = pl_profile_location(p, &f.location, &ret->location);
	ret->gc = f.gc && f.function.origin == PL_ORIGIN_MARKER;
	return err;
}

/* Most frames were there before: their text is compared, and not read again. */
static struct plumb_error *find_frame(struct pl_json_reader *r, struct pl_sample_frames *all,
				      struct pl_known_frame *ret)
{
	struct pl_span text;

	if (!pl_json_reader_whole_text(r, &text.s, &text.len))
		return make_frame(r, all->p, ret);
	uint32_t hash = pl_known_hash(text);
	if (pl_known_frames_find(&all->known, text, hash, ret)) {
		pl_json_reader_end(r, text.len);
		return NULL;
	}
	struct plumb_error *err = make_frame(r, all->p, ret);
	return err ? err : pl_known_frames_add(&all->known, text, hash, *ret);
}

static struct plumb_error *read_frame(struct pl_json_reader *r, void *ctx)
{
	struct frames *to = ctx;
	struct pl_known_frame frame = {0};
	struct plumb_error *err = find_frame(r, to->all, &frame);

	return err ? err : pl_known_frame_push(frame, to->ids, &to->gc);
}

struct plumb_error *pl_sample_frames_read(struct pl_json_reader *r, struct pl_sample_frames *f, pl_ids *frames,
					  bool *gc)
{
	struct frames all = {.all = f, .ids = frames};
	struct plumb_error *err = pl_json_reader_array(r, read_frame, &all);

	*gc = *gc || all.gc;
	return err;
}
