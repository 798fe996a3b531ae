/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of CPython's sampling collectors as JSON (layer import): what one run of a collector was given, sample by
 * sample. Each is a tick; the times are made up from the interval, so that those of one tick are equal. Threads without
 * frames are samples as well, of the empty stack: the statistics of the collectors count them. */
#include <math.h>
#include <string.h>

#include "importers.h"
#include "sample_stack.h"
#include "sum.h"

/* Bits of a thread's status. */
enum status { HAS_GIL = 1, ON_CPU = 2, UNKNOWN = 4, GIL_REQUESTED = 8, HAS_EXCEPTION = 16, MAIN_THREAD = 32 };

#define LOOK_BYTES 4096

struct seen {
	uint32_t thread, stack;
	uint16_t state;
	size_t from, to; /* frames on the stack, the innermost first */
};

struct samples {
	struct pl_sink *sink;
	struct plumb_profile *p;
	struct pl_collector collector;
	uint32_t process;
	uint64_t step_ns, now_ns, ticks;
	bool found;	 /* there is a list of samples */
	bool knows_idle; /* whether those without work were left out */
	/* of the sample that is being read: */
	uint64_t weight;
	PL_VEC(struct seen) seen;
	pl_ids frames;
	struct pl_task_graph graph;
	struct pl_sample_frames reading;
	/* of the thread: */
	uint64_t tid, status;
	bool has_tid, gc;
};

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static struct plumb_error *read_weight(struct pl_json_reader *r, void *ctx)
{
	struct samples *s = ctx;

	if (!pl_json_reader_u64(r, &s->weight))
		return pl_json_reader_fail(r, "the weight of a sample is not a count");
	s->weight += s->weight == 0;
	return NULL;
}

static struct plumb_error *read_tid(struct pl_json_reader *r, void *ctx)
{
	struct samples *s = ctx;

	s->has_tid = pl_json_reader_u64(r, &s->tid);
	return s->has_tid ? NULL : pl_json_reader_fail(r, "the id of a thread is not a number");
}

static struct plumb_error *read_status(struct pl_json_reader *r, void *ctx)
{
	struct samples *s = ctx;

	return pl_json_reader_u64(r, &s->status) ? NULL
						 : pl_json_reader_fail(r, "the status of a thread is not a number");
}

static struct plumb_error *read_frames(struct pl_json_reader *r, void *ctx)
{
	struct samples *s = ctx;

	return r->token == PL_JSON_NULL ? NULL : pl_sample_frames_read(r, &s->reading, &s->frames, &s->gc);
}

static struct plumb_error *add_seen(struct samples *s, uint64_t tid, bool main, struct seen seen)
{
	struct pl_thread t = {.process = s->process, .tid = tid, .main = main};
	struct plumb_error *err = pl_profile_thread(s->p, &t, &seen.thread);

	return err || pl_vec_push(&s->seen, seen) ? err : &pl_err_no_memory;
}

static uint16_t state_of(const struct samples *s)
{
	static const struct {
		uint64_t status;
		uint16_t state;
	} bits[] = {{HAS_GIL, PL_STATE_HAS_GIL},
		    {ON_CPU, PL_STATE_ON_CPU},
		    {UNKNOWN, PL_STATE_UNKNOWN},
		    {GIL_REQUESTED, PL_STATE_WANTS_GIL},
		    {HAS_EXCEPTION, PL_STATE_EXCEPTION}};
	uint16_t state = s->gc ? PL_STATE_IN_GC : 0;

	for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
		state |= s->status & bits[i].status ? bits[i].state : 0;
	return state;
}

static struct plumb_error *read_thread(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {
		{"id", read_tid}, {"status", read_status}, {"frames", read_frames}, {NULL, NULL}};
	struct samples *s = ctx;
	struct seen seen = {.from = s->frames.len};
	struct plumb_error *err;

	s->has_tid = s->gc = false;
	s->status = 0;
	err = pl_json_reader_object(r, fields, s);
	if (!err && !s->has_tid)
		err = pl_json_reader_fail(r, "a thread has no id");
	seen.to = s->frames.len;
	seen.state = state_of(s);
	return err ? err : add_seen(s, s->tid, s->status & MAIN_THREAD, seen);
}

static struct plumb_error *read_threads(struct pl_json_reader *r, void *ctx)
{
	return pl_json_reader_array(r, read_thread, ctx);
}

static struct plumb_error *read_interpreter(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {{"threads", read_threads}, {NULL, NULL}};

	return pl_json_reader_object(r, fields, ctx);
}

static struct plumb_error *read_interpreters(struct pl_json_reader *r, void *ctx)
{
	return pl_json_reader_array(r, read_interpreter, ctx);
}

/* What a task does is not told; a collector that leaves out idle threads keeps all tasks. */
static struct plumb_error *take_task(void *ctx, uint64_t thread, uint32_t stack)
{
	struct samples *s = ctx;
	struct seen seen = {.stack = stack, .state = s->collector.skip_idle ? PL_STATE_ON_CPU : PL_STATE_UNKNOWN};

	return add_seen(s, thread, false, seen);
}

static struct plumb_error *read_awaited(struct pl_json_reader *r, void *ctx)
{
	struct samples *s = ctx;
	struct plumb_error *err;

	pl_task_graph_clear(&s->graph);
	err = pl_task_graph_read(r, s->p, &s->graph);
	return err ? err : pl_task_graph_stacks(&s->graph, s->p, take_task, s);
}

static struct plumb_error *give_tick(struct samples *s)
{
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < s->seen.len && !err; i++) {
		const struct seen *seen = &s->seen.data[i];
		struct pl_sample sample = {.time_ns = s->now_ns,
					   .thread = seen->thread,
					   .stack = seen->stack,
					   .state = seen->state,
					   .quality = PL_DOUBTFUL,
					   .weight_ns = times(s->weight, s->step_ns),
					   .extra = s->weight - 1};

		/* Those of tasks are in a stack. */
		uint32_t *frames = s->frames.len ? s->frames.data + seen->from : NULL;

		pl_frames_turn(frames, seen->to - seen->from);
		err = pl_sink_add_frames(s->sink, &sample, frames, seen->to - seen->from);
	}
	s->ticks = pl_sum_u64(s->ticks, s->weight);
	s->now_ns = pl_sum_u64(s->now_ns, times(s->weight, s->step_ns));
	return err;
}

static struct plumb_error *read_sample(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {
		{"weight", read_weight}, {"interpreters", read_interpreters}, {"awaited", read_awaited}, {NULL, NULL}};
	struct samples *s = ctx;
	struct plumb_error *err;

	s->weight = 1;
	pl_vec_clear(&s->seen);
	pl_vec_clear(&s->frames);
	err = pl_json_reader_object(r, fields, s);
	return err ? err : give_tick(s);
}

static struct plumb_error *read_samples(struct pl_json_reader *r, void *ctx)
{
	struct samples *s = ctx;

	s->found = true;
	return pl_json_reader_array(r, read_sample, s);
}

static struct plumb_error *read_figure(struct pl_json_reader *r, double *ret)
{
	*ret = NAN;
	if (r->token == PL_JSON_NULL || pl_json_reader_double(r, ret))
		return NULL;
	return pl_json_reader_fail(r, "a figure of the run is not a number");
}

#define FIGURE(member)                                                                                                 \
	static struct plumb_error *read_##member(struct pl_json_reader *r, void *ctx)                                  \
	{                                                                                                              \
		return read_figure(r, &((struct samples *)ctx)->collector.member);                                     \
	}
FIGURE(interval_usec)
FIGURE(run_interval_usec)
FIGURE(duration_sec)
FIGURE(sample_rate)
FIGURE(error_rate)
FIGURE(missed_samples)
FIGURE(mode)
#undef FIGURE

static struct plumb_error *read_stats(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {{"sample_interval_usec", read_run_interval_usec},
						      {"duration_sec", read_duration_sec},
						      {"sample_rate", read_sample_rate},
						      {"error_rate", read_error_rate},
						      {"missed_samples", read_missed_samples},
						      {"mode", read_mode},
						      {NULL, NULL}};
	struct samples *s = ctx;

	if (r->token == PL_JSON_NULL)
		return NULL;
	s->collector.measured = true;
	return pl_json_reader_object(r, fields, s);
}

static struct plumb_error *read_skip_idle(struct pl_json_reader *r, void *ctx)
{
	struct samples *s = ctx;

	s->knows_idle = true;
	s->collector.skip_idle = r->token == PL_JSON_BOOL && r->boolean;
	return NULL;
}

static struct plumb_error *read_document(const struct pl_import_input *in, const struct pl_json_field *fields,
					 struct samples *s)
{
	struct pl_json_reader r;
	struct plumb_error *err;

	pl_json_reader_init(&r, in->bytes, in->len);
	err = pl_json_reader_next(&r);
	if (!err)
		err = pl_json_reader_object(&r, fields, s);
	if (!err)
		err = pl_json_reader_next(&r);
	pl_json_reader_deinit(&r);
	return err;
}

static void set_meta(struct samples *s)
{
	struct pl_meta *m = &s->p->meta;
	double seconds = s->collector.duration_sec;

	m->collector = s->collector;
	m->ticks = s->ticks;
	m->complete = true;
	m->period_ns = s->collector.interval_usec > 0 ? s->step_ns : 0;
	m->duration_ns = s->collector.measured && seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : s->now_ns;
	m->mode = s->collector.mode == 1 ? PL_MODE_CPU : s->collector.mode == 2 ? PL_MODE_GIL : PL_MODE_WALL;
}

static void set_step(struct samples *s)
{
	double ns = s->collector.interval_usec * 1000;

	s->step_ns = ns > 0 && ns < 1e15 ? (uint64_t)ns : 0;
	s->step_ns += s->step_ns == 0;
}

/* How far they are apart and what was left out may be told behind them: then the document is read again. */
static struct plumb_error *read_samples_if_known(struct pl_json_reader *r, void *ctx)
{
	struct samples *s = ctx;

	if (isnan(s->collector.interval_usec) || !s->knows_idle)
		return pl_json_reader_pass(r);
	set_step(s);
	return read_samples(r, s);
}

static struct plumb_error *read_run(const struct pl_import_input *in, struct samples *s)
{
	static const struct pl_json_field all[] = {{"sample_interval_usec", read_interval_usec},
						   {"skip_idle", read_skip_idle},
						   {"stats", read_stats},
						   {"samples", read_samples_if_known},
						   {NULL, NULL}};
	static const struct pl_json_field samples[] = {{"samples", read_samples}, {NULL, NULL}};
	struct pl_process process = {0};
	struct plumb_error *err = pl_profile_process(s->p, &process, &s->process);

	if (!err)
		err = read_document(in, all, s);
	if (!err && !s->found) {
		set_step(s);
		err = read_document(in, samples, s);
	}
	if (!err && !s->found)
		err = pl_error(PLUMB_ERR_CORRUPT, "there is no list of samples");
	if (!err)
		set_meta(s);
	return err;
}

struct plumb_error *pl_samples_read(const struct pl_import_input *in, struct pl_sink *sink)
{
	struct samples s = {.sink = sink,
			    .p = sink->profile,
			    .collector = {.known = true,
					  .interval_usec = NAN,
					  .run_interval_usec = NAN,
					  .duration_sec = NAN,
					  .sample_rate = NAN,
					  .error_rate = NAN,
					  .missed_samples = NAN,
					  .mode = NAN}};
	struct plumb_error *err;

	sink->timed = true;
	s.reading.p = sink->profile;
	s.graph.reading = &s.reading;
	err = read_run(in, &s);
	pl_known_frames_deinit(&s.reading.known);
	pl_vec_deinit(&s.seen);
	pl_vec_deinit(&s.frames);
	pl_task_graph_deinit(&s.graph);
	return err;
}

bool pl_samples_is(const struct pl_import_input *in)
{
	size_t len = in->len < LOOK_BYTES ? in->len : LOOK_BYTES, at = 0;
	const char *s = (const char *)in->bytes;

	while (at < len && strchr(" \t\r\n", s[at]) && s[at])
		at++;
	if (at == len || s[at] != '{' || !memmem(s, len, "\"samples\"", 9))
		return false;
	return memmem(s, len, "\"sample_interval_usec\"", 22) || memmem(s, len, "\"interpreters\"", 14) ||
	       memmem(s, len, "\"awaited\"", 9);
}
