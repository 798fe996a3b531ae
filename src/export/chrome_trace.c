/* SPDX-License-Identifier: Apache-2.0 */
/* Trace events as Chrome and Perfetto read them: a slice for each stretch of time in which a frame was seen to be
 * there. Layer export; any thread.
 *
 * Samples are instants, and slices have lengths: neighbours with the same function at the same depth are one slice, and
 * the file says in `otherData` that it is so made. A slice is known when it ends, but its callers, which end later,
 * must stand before it. So the slices of a thread go to a temporary file in the order in which they begin, and get
 * their length there when it is known. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events.h"
#include "events_json.h"
#include "formats.h"
#include "frame_name.h"
#include "json.h"
#include "own_fd.h"
#include "size_limit.h"
#include "spool.h"
#include "temp_file.h"
#include "timeline.h"
#include "vec.h"

#define READ_SLICES   1024
#define BATCH_SLICES  128  /* on the stack, which can be small */
#define FRAMES_MAX    1e10 /* of samples with another stack than the one before */
#define FRAMES_BASE   1e9  /* of a small recording, and for each of its bytes: */
#define FRAMES_A_BYTE 1e4
#define SLICE_BYTES   120 /* about, without its names */

/* As it is in the file. */
struct slice {
	uint64_t start_ns, length_ns;
	uint32_t function, unused;
};
_Static_assert(sizeof(struct slice) == 24, "the records of a temporary file have no holes");

struct open_slice {
	uint32_t function;
	uint64_t start_ns;
	uint64_t index; /* in the file, if it is there */
};

struct tracer {
	const struct plumb_profile *p;
	struct pl_json j;
	struct pl_spool *spool;
	int fd;
	PL_VEC(struct slice) waiting;	/* not yet in the file */
	uint64_t written, slices;	/* of the thread */
	PL_VEC(struct open_slice) open; /* of the thread, from the outermost */
	struct pl_timeline timeline;
	uint32_t *path;
	uint32_t stack;	  /* of the sample before, of the thread */
	double *bytes_of; /* of the slices of all frames of each stack */
	double bytes;	  /* that there are to write, at most */
	double frames;	  /* that there are to look at */
	double most_bytes, most_frames;
};

static struct plumb_error *flush_slices(struct tracer *t)
{
	struct plumb_error *err = pl_temp_write(t->fd, t->waiting.data, t->waiting.len * sizeof *t->waiting.data);

	if (!err)
		t->written += t->waiting.len;
	t->waiting.len = 0;
	return err;
}

static struct plumb_error *open_slice(struct tracer *t, uint32_t function, uint64_t now)
{
	struct open_slice open = {.function = function, .start_ns = now, .index = t->slices};
	struct slice slice = {.start_ns = now, .function = function};

	if (!pl_vec_push(&t->open, open) || !pl_vec_push(&t->waiting, slice))
		return &pl_err_no_memory;
	t->slices++;
	return t->waiting.len < READ_SLICES ? NULL : flush_slices(t);
}

static struct plumb_error *close_slices(struct tracer *t, size_t depth, uint64_t now)
{
	while (t->open.len > depth) {
		const struct open_slice *open = &t->open.data[--t->open.len];
		uint64_t length = now - open->start_ns;

		if (open->index >= t->written)
			t->waiting.data[open->index - t->written].length_ns = length;
		else if (pwrite(t->fd, &length, sizeof length,
				(off_t)(open->index * sizeof(struct slice) + offsetof(struct slice, length_ns))) !=
			 sizeof length)
			return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write a temporary file");
	}
	return NULL;
}

static uint32_t path_of(const struct tracer *t, uint32_t stack)
{
	uint32_t depth = t->p->stacks[stack].depth;

	for (uint32_t i = depth; i > 0; stack = t->p->stacks[stack].parent)
		t->path[--i] = t->p->locations[t->p->stacks[stack].location].function;
	return depth;
}

/* Whether nothing is known of the time right before @p now: what was open ended at *end_ret. */
static bool is_gap(const struct pl_timeline *last, uint64_t now, uint64_t *end_ret)
{
	if (!last->timed || !last->started)
		return false;
	*end_ret = last->now_ns + pl_timeline_length(last, now - last->now_ns, last->count);
	return *end_ret < now;
}

/* Without times a sample's instant is the end of what it stands for: the slices begin where the last ended. */
static struct plumb_error *add_sample(void *ctx, const struct pl_sample *s)
{
	struct tracer *t = ctx;
	struct pl_timeline last = t->timeline;
	uint64_t now = pl_timeline_next(&t->timeline, s), begin = t->timeline.timed ? now : last.now_ns, end;
	bool gap = is_gap(&last, now, &end);
	size_t same = 0;

	if (!gap && last.started && s->stack == t->stack)
		return NULL;
	uint32_t depth = path_of(t, s->stack);
	struct plumb_error *err = gap ? close_slices(t, 0, end) : NULL;
	t->stack = s->stack;
	while (same < depth && same < t->open.len && t->open.data[same].function == t->path[same])
		same++;
	if (!err)
		err = close_slices(t, same, begin);
	for (size_t i = same; i < depth && !err; i++)
		err = open_slice(t, t->path[i], begin);
	return err;
}

/* ---- how much there is to write ---- */

static uint32_t common_stack(const struct plumb_profile *p, uint32_t a, uint32_t b)
{
	while (a != b) {
		uint32_t depth_a = p->stacks[a].depth, depth_b = p->stacks[b].depth;

		if (depth_a >= depth_b)
			a = p->stacks[a].parent;
		if (depth_b >= depth_a)
			b = p->stacks[b].parent;
	}
	return a;
}

/* As add_sample, but that frames of one function and other lines count as two. */
static struct plumb_error *count_sample(void *ctx, const struct pl_sample *s)
{
	struct tracer *t = ctx;
	struct pl_timeline last = t->timeline;
	uint64_t now = pl_timeline_next(&t->timeline, s), end;
	bool anew = is_gap(&last, now, &end) || !last.started;
	uint32_t common = anew ? 0 : common_stack(t->p, t->stack, s->stack);

	if (!anew && s->stack == t->stack)
		return NULL;
	t->bytes += t->bytes_of[s->stack] - t->bytes_of[common];
	t->frames += t->p->stacks[s->stack].depth;
	t->stack = s->stack;
	if (t->bytes <= t->most_bytes && t->frames <= t->most_frames)
		return NULL;
	return pl_size_limit_exceeded(
		pl_error(PLUMB_ERR_LIMIT, "it would be more than %.0f GB, or %.0f thousand million frames of samples",
			 t->most_bytes / 1e9, t->most_frames / 1e9));
}

static struct plumb_error *measure(struct tracer *t)
{
	struct plumb_error *err = NULL;

	t->most_bytes = pl_size_limit_bytes(t->p);
	t->most_frames = pl_size_limit(t->p, FRAMES_MAX, FRAMES_BASE, FRAMES_A_BYTE);
	t->bytes_of = calloc(t->p->stack_count, sizeof *t->bytes_of);
	if (!t->bytes_of)
		return &pl_err_no_memory;
	for (uint32_t i = 1; i < t->p->stack_count; i++) {
		const struct pl_stack *s = &t->p->stacks[i];

		t->bytes_of[i] =
			t->bytes_of[s->parent] + SLICE_BYTES + (double)pl_profile_location_bytes(t->p, s->location);
	}
	for (uint32_t i = 0; i < t->p->thread_count && !err; i++) {
		pl_timeline_start(&t->timeline, t->p);
		err = pl_spool_each(t->spool, i, count_sample, t);
	}
	pl_timeline_start(&t->timeline, t->p);
	return err;
}

/* ---- writing ---- */

static void write_text(struct tracer *t, const char *key, uint32_t string)
{
	struct pl_text text = pl_text_of(t->p, string);

	pl_json_key_strn(&t->j, key, text.s, text.len);
}

static void write_time(struct tracer *t, const char *key, uint64_t ns)
{
	pl_json_key(&t->j, key);
	pl_json_decimal(&t->j, ns, 3); /* microseconds */
}

static void write_ids(struct tracer *t, const struct pl_thread *thread)
{
	pl_json_key_u64(&t->j, "pid", pl_timeline_pid(t->p, thread->process));
	pl_json_key_u64(&t->j, "tid", pl_timeline_tid(t->p, thread));
}

static void write_slice(struct tracer *t, const struct pl_thread *thread, const struct slice *s)
{
	const struct pl_function *f = &t->p->functions[s->function];

	if (s->length_ns == 0)
		return;
	pl_json_object(&t->j);
	pl_json_key_str(&t->j, "ph", "X");
	write_text(t, "name", f->qualname ? f->qualname : f->name);
	pl_json_key_str(&t->j, "cat", "sampled");
	write_time(t, "ts", s->start_ns);
	write_time(t, "dur", s->length_ns);
	write_ids(t, thread);
	pl_json_key(&t->j, "args");
	pl_json_object(&t->j);
	write_text(t, "file", f->file);
	pl_json_key_u64(&t->j, "first_line", f->firstline);
	pl_json_object_end(&t->j);
	pl_json_object_end(&t->j);
	putc('\n', t->j.out);
}

static struct plumb_error *write_slices(struct tracer *t, const struct pl_thread *thread)
{
	struct slice batch[BATCH_SLICES];
	struct plumb_error *err = NULL;

	for (uint64_t at = 0; at < t->written && !err; at += BATCH_SLICES) {
		uint64_t count = t->written - at < BATCH_SLICES ? t->written - at : BATCH_SLICES;

		err = pl_temp_read(t->fd, batch, count * sizeof *batch, at * sizeof *batch);
		for (uint64_t i = 0; i < count && !err; i++)
			write_slice(t, thread, &batch[i]);
	}
	for (size_t i = 0; i < t->waiting.len && !err; i++)
		write_slice(t, thread, &t->waiting.data[i]);
	return err;
}

static struct plumb_error *write_thread(struct tracer *t, uint32_t id)
{
	struct plumb_error *err;

	t->written = t->slices = 0;
	t->waiting.len = t->open.len = 0;
	pl_timeline_start(&t->timeline, t->p);
	if (ftruncate(t->fd, 0) || lseek(t->fd, 0, SEEK_SET))
		return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot empty a temporary file");
	err = pl_spool_each(t->spool, id, add_sample, t);
	if (err)
		return err;
	/* The last one lasts a period. */
	err = close_slices(t, 0, t->timeline.now_ns + (t->timeline.timed ? t->timeline.period_ns : 0));
	return err ? err : write_slices(t, &t->p->threads[id]);
}

static void write_name(struct tracer *t, const char *what, const struct pl_thread *thread, uint32_t name)
{
	pl_json_object(&t->j);
	pl_json_key_str(&t->j, "ph", "M");
	pl_json_key_str(&t->j, "name", what);
	write_ids(t, thread);
	pl_json_key(&t->j, "args");
	pl_json_object(&t->j);
	write_text(t, "name", name);
	pl_json_object_end(&t->j);
	pl_json_object_end(&t->j);
	putc('\n', t->j.out);
}

/* Of a thread, a process or all. */
static void write_instant(struct tracer *t, const struct pl_event *e)
{
	pl_json_object(&t->j);
	pl_json_key_str(&t->j, "ph", "i");
	write_text(t, "name", e->name);
	pl_json_key_str(&t->j, "cat", pl_event_word(e->kind));
	write_time(t, "ts", e->time_ns);
	pl_json_key_str(&t->j, "s", e->thread ? "t" : e->process ? "p" : "g");
	if (e->thread)
		write_ids(t, &t->p->threads[e->thread - 1]);
	else if (e->process)
		pl_json_key_u64(&t->j, "pid", pl_timeline_pid(t->p, e->process - 1));
	pl_json_key(&t->j, "args");
	pl_json_object(&t->j);
	pl_json_key_str(&t->j, "kind", pl_event_word(e->kind));
	if (e->duration_ns)
		pl_json_key_u64(&t->j, "duration_ns", e->duration_ns);
	pl_event_json_labels(&t->j, t->p, e->labels);
	pl_json_object_end(&t->j);
	pl_json_object_end(&t->j);
	putc('\n', t->j.out);
}

/* Where times are made up nobody knows when anything happened. */
static struct plumb_error *write_instants(struct tracer *t, const struct pl_filter *f)
{
	pl_event_vec events = {0};
	struct plumb_error *err = t->timeline.timed && t->p->event_count ? pl_events_by_time(t->p, f, &events) : NULL;

	for (size_t i = 0; i < events.len && !err; i++)
		write_instant(t, &events.data[i]);
	pl_vec_deinit(&events);
	return err;
}

static struct plumb_error *write_events(struct tracer *t, const struct pl_filter *f)
{
	struct plumb_error *err = NULL;

	pl_json_key(&t->j, "traceEvents");
	pl_json_array(&t->j);
	for (uint32_t i = 0; i < t->p->thread_count && !err; i++) {
		const struct pl_thread *thread = &t->p->threads[i];
		const struct pl_process *proc = &t->p->processes[thread->process];

		if (pl_spool_count(t->spool, i) == 0)
			continue;
		write_name(t, "process_name", thread, proc->name ? proc->name : proc->program);
		write_name(t, "thread_name", thread, thread->name);
		err = write_thread(t, i);
	}
	if (!err)
		err = write_instants(t, f);
	pl_json_array_end(&t->j);
	return err;
}

static struct plumb_error *write_file(struct tracer *t, const struct pl_export_options *o)
{
	struct plumb_error *err;

	pl_json_object(&t->j);
	pl_json_key_str(&t->j, "displayTimeUnit", "ms");
	pl_json_key(&t->j, "otherData");
	pl_json_object(&t->j);
	pl_json_key_str(&t->j, "exporter", "plumb");
	if (o->made_by)
		pl_json_key_str(&t->j, "made_by", o->made_by);
	write_text(t, "command", t->p->meta.command);
	pl_json_key_str(&t->j, "slices",
			"made of samples: a frame seen in neighbouring samples is one slice; what happened between "
			"samples is not known");
	pl_json_key_str(&t->j, "times", t->timeline.timed ? "of the samples" : "made up: the profile has none");
	pl_json_key_u64(&t->j, "period_ns", t->timeline.interval_ns);
	pl_json_object_end(&t->j);
	err = write_events(t, &o->filter);
	pl_json_object_end(&t->j);
	putc('\n', t->j.out);
	return err;
}

static struct plumb_error *prepare(struct tracer *t)
{
	uint32_t depth = 0;
	struct plumb_error *err;

	for (uint32_t i = 0; i < t->p->stack_count; i++)
		depth = t->p->stacks[i].depth > depth ? t->p->stacks[i].depth : depth;
	t->path = calloc((size_t)depth + 1, sizeof *t->path);
	if (!t->path)
		return &pl_err_no_memory;
	pl_timeline_start(&t->timeline, t->p);
	err = pl_temp_file_of_call(&t->fd);
	if (!err)
		err = pl_spool_create(t->p, &t->spool);
	return err ? err : measure(t);
}

struct plumb_error *pl_chrome_trace_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct tracer t = {.p = p, .fd = -1};
	struct plumb_error *err = prepare(&t);

	pl_json_init(&t.j, out, 0);
	if (!err)
		err = write_file(&t, o);
	if (t.fd >= 0)
		pl_own_fd_close(t.fd);
	pl_spool_destroy(t.spool);
	pl_vec_deinit(&t.waiting);
	pl_vec_deinit(&t.open);
	free(t.path);
	free(t.bytes_of);
	return err;
}
