/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope's own format, the first reading: the frames, what the file says of the whole, and of each profile all but
 * its samples. Layer import; one thread at a time. */
#include <stddef.h>
#include <string.h>

#include "json_members.h"
#include "speedscope_parts.h"
#include "words.h"

struct frame {
	struct pl_function f;
	struct pl_location l;
	uint32_t plain_name, origin; /* string ids, NO_TEXT: there was none */
	uint32_t column, end_column; /* from 1, 0: none */
	uint32_t line, end_line;
};
#define NO_TEXT UINT32_MAX

static uint8_t origin_of(const struct plumb_profile *p, uint32_t id)
{
	uint8_t origin = PL_ORIGIN_PYTHON;
	size_t len;

	if (id != NO_TEXT) {
		const char *word = pl_strtab_get(p->strings, id, &len);

		(void)pl_kind_parse(word, len, &origin);
	}
	return origin;
}

static uint8_t mode_of(const struct plumb_profile *p, uint32_t id)
{
	uint8_t mode = PL_MODE_WALL;
	size_t len;
	const char *word = pl_strtab_get(p->strings, id, &len);

	(void)pl_mode_parse(word, len, &mode);
	return mode;
}

static struct plumb_error *read_frame(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_member members[] = {
		{"name", PL_MEMBER_TEXT, offsetof(struct frame, f.name)},
		{"file", PL_MEMBER_TEXT, offsetof(struct frame, f.file)},
		{"line", PL_MEMBER_U32, offsetof(struct frame, line)},
		{"col", PL_MEMBER_U32, offsetof(struct frame, column)},
		{"plain_name", PL_MEMBER_TEXT, offsetof(struct frame, plain_name)},
		{"origin", PL_MEMBER_TEXT, offsetof(struct frame, origin)},
		{"first_line", PL_MEMBER_U32, offsetof(struct frame, f.firstline)},
		{"end_line", PL_MEMBER_U32, offsetof(struct frame, end_line)},
		{"end_col", PL_MEMBER_U32, offsetof(struct frame, end_column)},
		{NULL, 0, 0},
	};
	struct pl_speedscope_tables *t = ctx;
	struct frame f = {.plain_name = NO_TEXT, .origin = NO_TEXT, .end_line = UINT32_MAX};
	uint32_t id = 0;
	struct plumb_error *err = pl_members_read(r, members, t->p, &f);

	if (err)
		return err;
	if (f.plain_name != NO_TEXT) {
		f.f.qualname = f.f.name;
		f.f.name = f.plain_name;
	}
	f.f.origin = origin_of(t->p, f.origin);
	f.l.line = (int32_t)f.line;
	f.l.end_line = (int32_t)(f.end_line == UINT32_MAX ? f.line : f.end_line);
	f.l.column = (int32_t)f.column - 1;
	f.l.end_column = (int32_t)f.end_column - 1;
	err = pl_profile_function(t->p, &f.f, &f.l.function);
	if (!err)
		err = pl_profile_location(t->p, &f.l, &id);
	if (err)
		return err;
	return pl_vec_push(&t->frames, id) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *read_frames(struct pl_json_reader *r, void *ctx)
{
	struct pl_speedscope_tables *t = ctx;

	t->has_frames = true;
	t->frames.len = 0;
	return pl_json_reader_array(r, read_frame, ctx);
}

static struct plumb_error *read_shared(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {{"frames", read_frames}, {NULL, NULL}};

	return pl_json_reader_object(r, fields, ctx);
}

/* ---- the whole ---- */

struct whole {
	struct pl_meta m;
	uint32_t mode; /* string ids */
};

static struct plumb_error *read_whole(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_member members[] = {
		{"command", PL_MEMBER_TEXT, offsetof(struct whole, m.command)},
		{"mode", PL_MEMBER_TEXT, offsetof(struct whole, mode)},
		{"period_ns", PL_MEMBER_U64, offsetof(struct whole, m.period_ns)},
		{"duration_ns", PL_MEMBER_U64, offsetof(struct whole, m.duration_ns)},
		{"start_real_ns", PL_MEMBER_U64, offsetof(struct whole, m.start_real_ns)},
		{NULL, 0, 0},
	};
	struct pl_speedscope_tables *t = ctx;
	struct whole w = {.m = t->p->meta};
	struct plumb_error *err = pl_members_read(r, members, t->p, &w);

	if (err)
		return err;
	t->p->meta = w.m;
	t->p->meta.mode = mode_of(t->p, w.mode);
	return NULL;
}

static struct plumb_error *read_process(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_member members[] = {
		{"pid", PL_MEMBER_U32, offsetof(struct pl_process, pid)},
		{"parent", PL_MEMBER_U32, offsetof(struct pl_process, parent)},
		{"start_ns", PL_MEMBER_U64, offsetof(struct pl_process, start_ns)},
		{"name", PL_MEMBER_TEXT, offsetof(struct pl_process, name)},
		{"program", PL_MEMBER_TEXT, offsetof(struct pl_process, program)},
		{"python", PL_MEMBER_TEXT, offsetof(struct pl_process, python)},
		{"host", PL_MEMBER_TEXT, offsetof(struct pl_process, host)},
		{NULL, 0, 0},
	};
	struct pl_speedscope_tables *t = ctx;
	struct pl_process proc = {0};
	uint32_t id = 0;
	struct plumb_error *err = pl_members_read(r, members, t->p, &proc);

	if (!err)
		err = pl_profile_process(t->p, &proc, &id);
	if (err)
		return err;
	return pl_vec_push(&t->processes, id) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *read_processes(struct pl_json_reader *r, void *ctx)
{
	return pl_json_reader_array(r, read_process, ctx);
}

static struct plumb_error *read_name(struct pl_json_reader *r, void *ctx)
{
	struct pl_speedscope_tables *t = ctx;

	if (r->token != PL_JSON_STRING || t->p->meta.command)
		return NULL;
	return pl_profile_string(t->p, r->str, r->str_len, &t->p->meta.command);
}

/* ---- the heads of profiles ---- */

/* Of a profile, while it is read. The process of its thread is an index into the file's list until that is known. */
struct profile {
	struct pl_speedscope_tables *t;
	struct pl_speedscope_head head;
	uint32_t title, unit, type;
	struct {
		uint32_t process, thread;
		uint64_t tid;
		bool main, sum;
	} own;
	bool has_own;
};

static struct plumb_error *take_text(const struct pl_json_reader *r, struct plumb_profile *p, uint32_t *ret)
{
	return r->token == PL_JSON_STRING ? pl_profile_string(p, r->str, r->str_len, ret) : NULL;
}

static struct plumb_error *read_title(struct pl_json_reader *r, void *ctx)
{
	struct profile *pr = ctx;

	return take_text(r, pr->t->p, &pr->title);
}

static struct plumb_error *read_unit(struct pl_json_reader *r, void *ctx)
{
	static const struct {
		const char *name;
		int scale;
	} units[] = {{"none", -1}, {"nanoseconds", 0}, {"microseconds", 3}, {"milliseconds", 6}, {"seconds", 9}};

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (pl_json_reader_is(r, units[i].name)) {
			((struct profile *)ctx)->head.scale = units[i].scale;
			return NULL;
		}
	}
	return pl_json_reader_fail(r, "the unit is none of none, nanoseconds, microseconds, milliseconds and seconds");
}

static struct plumb_error *read_type(struct pl_json_reader *r, void *ctx)
{
	struct profile *pr = ctx;

	pr->head.evented = pl_json_reader_is(r, "evented");
	if (!pr->head.evented && !pl_json_reader_is(r, "sampled"))
		return pl_json_reader_fail(r, "the type of a profile is neither sampled nor evented");
	return NULL;
}

static struct plumb_error *read_own(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_member members[] = {
		{"process", PL_MEMBER_U32, offsetof(struct profile, own.process)},
		{"thread", PL_MEMBER_TEXT, offsetof(struct profile, own.thread)},
		{"tid", PL_MEMBER_U64, offsetof(struct profile, own.tid)},
		{"main", PL_MEMBER_BOOL, offsetof(struct profile, own.main)},
		{"sum", PL_MEMBER_BOOL, offsetof(struct profile, own.sum)},
		{NULL, 0, 0},
	};
	struct profile *pr = ctx;

	pr->has_own = true;
	return pl_members_read(r, members, pr->t->p, pr);
}

/* By the second reading. */
static struct plumb_error *read_later(struct pl_json_reader *r, void *ctx)
{
	return pl_json_reader_pass(r);
}

/* Without a list of processes there is one, of which nothing is known. */
static struct plumb_error *process_of(struct profile *pr, const struct pl_json_reader *r, uint32_t *ret)
{
	static const struct pl_process unknown = {0};

	if (!pr->has_own)
		return pl_profile_process(pr->t->p, &unknown, ret);
	if (pr->own.process >= pr->t->processes.len)
		return pl_json_reader_fail(r, "there is no process %u in the list of processes", pr->own.process);
	*ret = pr->t->processes.data[pr->own.process];
	return NULL;
}

static struct plumb_error *read_profile(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {
		{"name", read_title},	{"unit", read_unit},	      {"type", read_type},
		{"plumb", read_own},	{"samples", read_later},      {"weights", read_later},
		{"events", read_later}, {"plumb_counts", read_later}, {NULL, NULL}};
	struct pl_speedscope_tables *t = ctx;
	struct profile pr = {.t = t, .head = {.scale = -1}};
	struct pl_thread thread = {.tid = t->heads.len + 1};
	struct plumb_error *err = pl_json_reader_object(r, fields, &pr);

	pr.head.sum = pr.own.sum;
	if (!err && !pr.head.sum) {
		err = process_of(&pr, r, &thread.process);
		thread.name = pr.title;
		if (pr.has_own) {
			thread.tid = pr.own.tid;
			thread.name = pr.own.thread;
			thread.main = pr.own.main;
		}
		if (!err)
			err = pl_profile_thread(t->p, &thread, &pr.head.thread);
	}
	if (err)
		return err;
	return pl_vec_push(&t->heads, pr.head) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *read_profiles(struct pl_json_reader *r, void *ctx)
{
	struct pl_speedscope_tables *t = ctx;

	if (t->has_profiles) /* their heads would not be those of the samples */
		return pl_json_reader_fail(r, "there are two lists of profiles");
	t->has_profiles = true;
	return pl_json_reader_array(r, read_profile, ctx);
}

struct plumb_error *pl_speedscope_read_tables(struct pl_json_reader *r, struct pl_speedscope_tables *t)
{
	static const struct pl_json_field fields[] = {
		{"name", read_name},	 {"plumb", read_whole},	      {"plumb_processes", read_processes},
		{"shared", read_shared}, {"profiles", read_profiles}, {NULL, NULL}};
	struct plumb_error *err = pl_json_reader_next(r);

	if (!err)
		err = pl_json_reader_object(r, fields, t);
	if (!err)
		err = pl_json_reader_next(r); /* the end, or an error */
	if (!err && !t->has_frames)
		err = pl_error(PLUMB_ERR_CORRUPT, "there is no list of frames in it (shared.frames)");
	return err;
}

void pl_speedscope_tables_deinit(struct pl_speedscope_tables *t)
{
	pl_vec_deinit(&t->frames);
	pl_vec_deinit(&t->processes);
	pl_vec_deinit(&t->heads);
}
