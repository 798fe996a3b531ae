/* SPDX-License-Identifier: Apache-2.0 */
/* Text of `perf script`: events with call chains. Layer import; one thread at a time.
 *
 * The samples are those of the event that comes first; those of others would count the same time twice, and are skipped
 * and counted, as are lines that are nothing. The period of a clock is a weight in nanoseconds; that of a counter is
 * none. Time begins with the first event.
 *
 * Frames of CPython's perf trampoline ("py::NAME:FILE") are Python, and so are files of Python as export/perf_script.c
 * writes them; the rest is native or, as far as the file's name or the address tells, of the kernel. */
#include <string.h>

#include "importers.h"
#include "index.h"
#include "perf_lines.h"
#include "vec.h"
#include "words.h"

#define KERNEL_ADDRESS UINT64_C(0xffff800000000000)
#define LOOKED_AT      (size_t)65536

struct script {
	struct pl_sink *sink;
	struct plumb_profile *p;
	PL_VEC(uint32_t) frames; /* of the event, innermost first: locations */
	struct pl_perf_event event;
	bool in_event, stacks_end; /* stacks_end: an empty line was behind one */
	struct pl_span counted;	   /* the event whose samples are taken */
	uint64_t start_ns, end_ns;
	bool clock, on_cpu; /* the counted event is a clock, and ticks on a CPU only */
};

static bool is_kernel(const struct pl_perf_frame *f)
{
	static const char *const native[] = {"[vdso]", "[vsyscall]", "[unknown]", "[heap]", "[stack]", "[anon]"};

	if (f->address >= KERNEL_ADDRESS)
		return true;
	for (size_t i = 0; i < sizeof native / sizeof native[0]; i++) {
		if (pl_span_is(f->dso, native[i]))
			return false;
	}
	return pl_span_starts(f->dso, "[") || pl_span_ends(f->dso, "/vmlinux") || pl_span_ends(f->dso, ".ko");
}

static enum pl_frame_origin origin_of(const struct pl_perf_frame *f)
{
	uint8_t ours;

	if (pl_origin_parse(f->dso.s, f->dso.len, &ours) && ours > PL_ORIGIN_KERNEL)
		return ours;
	if (pl_span_is(f->dso, "[python]") || pl_span_starts(f->dso, "<frozen") || pl_span_ends(f->dso, ".py"))
		return PL_ORIGIN_PYTHON;
	return is_kernel(f) ? PL_ORIGIN_KERNEL : PL_ORIGIN_NATIVE;
}

/* The trampoline's symbols: "py::Class.method:/srv/app.py". Files hold no colon more often than names do. */
static bool trampoline(struct pl_span symbol, struct pl_span *name, struct pl_span *file)
{
	const char *colon;

	if (!pl_span_starts(symbol, "py::"))
		return false;
	*name = (struct pl_span){symbol.s + 4, symbol.len - 4};
	colon = memchr(name->s, ':', name->len);
	if (!colon)
		return false;
	*file = (struct pl_span){colon + 1, name->len - (size_t)(colon - name->s) - 1};
	name->len = (size_t)(colon - name->s);
	return true;
}

static struct plumb_error *add_frame(struct script *s, const struct pl_perf_frame *f)
{
	struct pl_location l = {.column = -1, .end_column = -1};
	struct pl_function function = {.origin = PL_ORIGIN_PYTHON};
	struct pl_span name = f->symbol, file = f->dso;
	uint32_t id = 0;
	struct plumb_error *err;

	if (!trampoline(f->symbol, &name, &file))
		function.origin = (uint8_t)origin_of(f);
	if (function.origin > PL_ORIGIN_KERNEL || pl_span_is(file, "[python]") || pl_span_is(file, "[unknown]"))
		file.len = 0;
	if (function.origin == PL_ORIGIN_MARKER)
		file = (struct pl_span){"~", 1};
	if (pl_span_is(name, "<unnamed>"))
		name.len = 0;
	err = pl_profile_string(s->p, name.s, name.len, &function.name);
	if (!err)
		err = pl_profile_string(s->p, file.s, file.len, &function.file);
	if (!err)
		err = pl_profile_function(s->p, &function, &l.function);
	if (!err)
		err = pl_profile_location(s->p, &l, &id);
	if (err)
		return err;
	return pl_vec_push(&s->frames, id) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *add_thread(struct script *s, uint32_t *ret)
{
	const struct pl_perf_event *e = &s->event;
	struct pl_process proc = {.pid = e->pid <= INT32_MAX ? (uint32_t)e->pid : 0};
	struct pl_thread t = {.tid = e->tid, .main = e->pid == e->tid};
	struct plumb_error *err = pl_profile_string(s->p, e->comm.s, e->comm.len, &t.name);

	proc.name = t.main ? t.name : 0;
	if (!err)
		err = pl_profile_process(s->p, &proc, &t.process);
	return err ? err : pl_profile_thread(s->p, &t, ret);
}

/* The event that is open is over. */
static struct plumb_error *end_event(struct script *s)
{
	const struct pl_perf_event *e = &s->event;
	struct pl_sample sample = {.state = s->on_cpu ? PL_STATE_ON_CPU : PL_STATE_UNKNOWN};
	struct plumb_error *err;

	if (!s->in_event)
		return NULL;
	s->in_event = false;
	if (e->event.len != s->counted.len || memcmp(e->event.s, s->counted.s, e->event.len) != 0) {
		s->sink->skipped++;
		return NULL;
	}
	sample.time_ns = e->time_ns > s->start_ns ? e->time_ns - s->start_ns : 0;
	sample.weight_ns = s->clock ? e->period : 0;
	s->end_ns = sample.time_ns > s->end_ns ? sample.time_ns : s->end_ns;
	err = add_thread(s, &sample.thread);
	pl_frames_turn(s->frames.data, s->frames.len);
	return err ? err : pl_sink_add_frames(s->sink, &sample, s->frames.data, s->frames.len);
}

/* The first event says what is counted. */
static void set_counted(struct script *s)
{
	const struct pl_perf_event *e = &s->event;
	bool wall = pl_span_is(e->event, "wall-clock"), gil = pl_span_is(e->event, "gil-clock");
	struct pl_meta *m = &s->p->meta;

	s->counted = e->event;
	s->clock = wall || gil || pl_span_starts(e->event, "cpu-clock") || pl_span_starts(e->event, "task-clock");
	s->on_cpu = !wall && !gil && !pl_span_starts(e->event, "sched:");
	s->start_ns = e->time_ns;
	m->mode = wall ? PL_MODE_WALL : gil ? PL_MODE_GIL : PL_MODE_CPU;
	s->sink->counted = !s->clock;
	m->period_ns = s->clock ? e->period : 0;
}

static struct plumb_error *begin_event(struct script *s, const struct pl_perf_event *e)
{
	struct pl_perf_frame f;
	struct plumb_error *err = end_event(s);

	s->event = *e;
	s->in_event = true;
	s->frames.len = 0;
	if (!s->counted.len)
		set_counted(s);
	if (!err && pl_perf_frame(e->rest, &f))
		err = add_frame(s, &f);
	return err;
}

/* What perf says of the recording stands in comments: "# hostname : box". */
static struct plumb_error *read_comment(struct script *s, struct pl_span line)
{
	struct pl_meta *m = &s->p->meta;
	const char *colon = memchr(line.s, ':', line.len);
	struct pl_span value;

	if (!colon)
		return NULL;
	value = pl_span_trim((struct pl_span){colon + 1, line.len - (size_t)(colon - line.s) - 1});
	if (pl_span_starts(line, "# hostname"))
		return pl_profile_string(s->p, value.s, value.len, &m->host);
	if (pl_span_starts(line, "# cmdline"))
		return pl_profile_string(s->p, value.s, value.len, &m->command);
	return NULL;
}

/* A thread's name can look like an address, a function's like an event. perf has a tab before frames; others blanks. */
static bool is_frame(const struct script *s, struct pl_span line, struct pl_perf_frame *ret)
{
	struct pl_perf_event e;

	if (!s->in_event || (line.s[0] != ' ' && line.s[0] != '\t') || !pl_perf_frame(line, ret))
		return false;
	return line.s[0] == '\t' || !pl_perf_event(line, &e);
}

static struct plumb_error *read_line(struct script *s, struct pl_span line)
{
	struct pl_perf_event e;
	struct pl_perf_frame f;

	if (pl_span_trim(line).len == 0) {
		s->stacks_end |= s->in_event && s->frames.len;
		return end_event(s);
	}
	if (line.s[0] == '#')
		return read_comment(s, line);
	if (is_frame(s, line, &f))
		return add_frame(s, &f);
	if (pl_perf_event(line, &e))
		return begin_event(s, &e);
	s->sink->skipped += !s->in_event; /* within, it is one of perf's notes on a frame */
	return NULL;
}

/* perf ends each line, and has an empty one behind each stack. Where there are no stacks, or none has one, that says
 * nothing. A line that was cut can look like another one: blanks like an empty line, a number like a smaller one. */
static bool is_cut(const struct script *s, const struct pl_import_input *in)
{
	bool within_line = in->len && in->bytes[in->len - 1] != '\n';

	return within_line || (s->in_event && s->stacks_end);
}

struct plumb_error *pl_perf_script_read(const struct pl_import_input *in, struct pl_sink *sink)
{
	struct script s = {.sink = sink, .p = sink->profile};
	struct pl_span text = {(const char *)in->bytes, in->len}, line;
	struct plumb_error *err = NULL;

	sink->timed = true;
	while (!err && pl_span_line(&text, &line))
		err = read_line(&s, line);
	s.p->meta.complete = !is_cut(&s, in);
	if (!err)
		err = end_event(&s);
	if (!err && !s.counted.len)
		err = pl_error(PLUMB_ERR_CORRUPT, "there is no event of perf script in it");
	if (s.p->meta.duration_ns < pl_sum_u64(s.end_ns, s.p->meta.period_ns))
		s.p->meta.duration_ns = pl_sum_u64(s.end_ns, s.p->meta.period_ns);
	pl_vec_deinit(&s.frames);
	return err;
}

bool pl_perf_script_is(const struct pl_import_input *in)
{
	struct pl_span text = {(const char *)in->bytes, in->len < LOOKED_AT ? in->len : LOOKED_AT}, line;
	struct pl_perf_event e;

	while (pl_span_line(&text, &line)) {
		if (pl_span_trim(line).len && line.s[0] != '#')
			return pl_perf_event(line, &e);
	}
	return false;
}
