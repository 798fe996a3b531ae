/* SPDX-License-Identifier: Apache-2.0 */
/* Collapsed stacks (layer import): what plumb, CPython, py-spy and austin write, and anything else that flamegraph.pl
 * reads. A line that is none is counted and left out. There are no times; counts are samples, and each weighs a
 * nanosecond, for the distance between samples is not told. austin's counts are microseconds, of one sample a line. */
#include <string.h>

#include "folded_line.h"
#include "importers.h"
#include "known_frames.h"

#define LOOK_BYTES 65536
#define LOOK_LINES 20

struct folded {
	struct pl_sink *sink;
	struct plumb_profile *p;
	bool austin; /* its heading was seen: counts are microseconds */
	uint64_t samples;
	uint32_t process, thread; /* of the line */
	pl_ids frames;		  /* likewise, the outermost first */
	bool gc;
	struct pl_known_frames known;
};

/* austin begins, and newer ones also end, with "# key: value". */
static bool is_heading(struct pl_span line)
{
	size_t at = 2;

	if (!pl_span_starts(line, "# "))
		return false;
	while (at < line.len && ((line.s[at] >= 'a' && line.s[at] <= 'z') || line.s[at] == '_'))
		at++;
	return at > 2 && at < line.len && line.s[at] == ':' && !memchr(line.s, ';', line.len);
}

/* What plumb has annotated is read without that. */
static struct pl_folded_part read_part(struct pl_span part, enum pl_folded_place place)
{
	if (pl_span_ends(part, "_[k]")) {
		struct pl_folded_part p = pl_folded_read((struct pl_span){part.s, part.len - 4}, place);

		if (pl_span_is(p.file, PL_KERNEL_FILE))
			return p;
	}
	return pl_folded_read(part, place);
}

static uint8_t origin_of(const struct pl_folded_part *f)
{
	if (pl_span_is(f->file, PL_KERNEL_FILE))
		return PL_ORIGIN_KERNEL;
	if (!f->bare)
		return PL_ORIGIN_PYTHON;
	if (f->name.len > 2 && f->name.s[0] == '<' && pl_span_ends(f->name, ">"))
		return PL_ORIGIN_MARKER;
	return pl_span_ends(f->name, "_[k]") ? PL_ORIGIN_KERNEL : PL_ORIGIN_NATIVE;
}

static struct plumb_error *make_frame(struct folded *c, const struct pl_folded_part *part, struct pl_known_frame *ret)
{
	struct pl_function f = {.origin = origin_of(part)};
	struct pl_location loc = {.line = part->line, .column = -1, .end_column = -1};
	struct plumb_error *err = pl_profile_string(c->p, part->name.s, part->name.len, &f.name);

	if (!err && f.origin == PL_ORIGIN_MARKER)
		err = pl_profile_string(c->p, "~", 1, &f.file);
	else if (!err)
		err = pl_profile_string(c->p, part->file.s, part->file.len, &f.file);
	if (!err)
		err = pl_profile_function(c->p, &f, &loc.function);
	if (!err)
		err = pl_profile_location(c->p, &loc, &ret->location);
	ret->gc = f.origin == PL_ORIGIN_MARKER && pl_span_is(part->name, "<GC>");
	return err;
}

/* Behind the first frame there are only frames, and most were there before: their text is compared, not read again. */
static struct plumb_error *read_inner_frame(struct folded *c, struct pl_span part)
{
	uint32_t hash = pl_known_hash(part);
	struct pl_known_frame frame;
	struct plumb_error *err = NULL;

	if (!pl_known_frames_find(&c->known, part, hash, &frame)) {
		struct pl_folded_part p = read_part(part, PL_FOLDED_INSIDE);

		err = make_frame(c, &p, &frame);
		if (!err)
			err = pl_known_frames_add(&c->known, part, hash, frame);
	}
	return err ? err : pl_known_frame_push(frame, &c->frames, &c->gc);
}

static struct plumb_error *set_process(struct folded *c, uint64_t pid, struct pl_span name)
{
	struct pl_process process = {.pid = pid > UINT32_MAX ? UINT32_MAX : (uint32_t)pid};
	struct plumb_error *err = pl_profile_string(c->p, name.s, name.len, &process.name);

	if (!err && name.len)
		process.program = process.name; /* processes are told apart by it, too */
	return err ? err : pl_profile_process(c->p, &process, &c->process);
}

static struct plumb_error *set_thread(struct folded *c, uint64_t tid, struct pl_span name)
{
	struct pl_thread thread = {.process = c->process, .tid = tid};
	struct plumb_error *err = pl_profile_string(c->p, name.s, name.len, &thread.name);

	return err ? err : pl_profile_thread(c->p, &thread, &c->thread);
}

/* "P12;T13": either alone could be the name of a function. */
static bool is_austin(struct pl_span stack)
{
	const char *end = memchr(stack.s, ';', stack.len);

	return end && stack.s[0] == 'P' && end + 1 < stack.s + stack.len && end[1] == 'T';
}

static struct plumb_error *read_stack(struct folded *c, struct pl_span stack)
{
	struct pl_span part, process_name = {"", 0}, thread_name = {"", 0};
	uint64_t pid = 0, tid = 0;
	struct plumb_error *err = NULL;
	enum pl_folded_place place = is_austin(stack) ? PL_FOLDED_AUSTIN : PL_FOLDED_START;

	pl_vec_clear(&c->frames);
	c->gc = false;
	while (!err && place != PL_FOLDED_INSIDE && pl_folded_next(&stack, &part)) {
		struct pl_folded_part p = read_part(part, place);
		struct pl_known_frame frame;

		if (p.kind == PL_FOLDED_PROCESS) {
			pid = p.number;
			process_name = p.name;
		} else if (p.kind == PL_FOLDED_THREAD) {
			tid = p.number;
			thread_name = p.name;
		} else {
			place = PL_FOLDED_INSIDE;
			err = make_frame(c, &p, &frame);
			err = err ? err : pl_known_frame_push(frame, &c->frames, &c->gc);
		}
	}
	while (!err && pl_folded_next(&stack, &part))
		err = read_inner_frame(c, part);
	if (!err)
		err = set_process(c, pid, process_name);
	return err ? err : set_thread(c, tid, thread_name);
}

static struct plumb_error *read_line(struct folded *c, struct pl_span line)
{
	struct pl_sample s = {.quality = PL_DOUBTFUL, .state = PL_STATE_UNKNOWN};
	struct pl_span stack;
	uint64_t count;
	struct plumb_error *err;

	if (pl_span_trim(line).len == 0)
		return NULL;
	if (is_heading(line)) {
		c->austin = true;
		c->sink->counted = false;
		return NULL;
	}
	if (!pl_folded_split(line, &stack, &count)) {
		c->sink->skipped++;
		return NULL;
	}
	if (count == 0)
		return NULL;
	err = read_stack(c, stack);
	s.state |= c->gc ? PL_STATE_IN_GC : 0;
	s.thread = c->thread;
	s.extra = c->austin ? 0 : count - 1;
	s.weight_ns = count > UINT64_MAX / 1000 ? UINT64_MAX : count * 1000; /* of austin: microseconds */
	c->samples++;
	return err ? err : pl_sink_add_frames(c->sink, &s, c->frames.data, c->frames.len);
}

struct plumb_error *pl_collapsed_read(const struct pl_import_input *in, struct pl_sink *sink)
{
	struct folded c = {.sink = sink, .p = sink->profile};
	struct pl_span rest = {(const char *)in->bytes, in->len}, line;
	struct plumb_error *err = NULL;

	sink->counted = true;
	while (!err && pl_span_line(&rest, &line))
		err = read_line(&c, line);
	pl_vec_deinit(&c.frames);
	pl_known_frames_deinit(&c.known);
	if (!err && c.samples == 0)
		err = pl_error(PLUMB_ERR_EMPTY, "none of its lines is a stack and a count");
	if (!err)
		sink->profile->meta.complete = true;
	return err;
}

bool pl_collapsed_is(const struct pl_import_input *in)
{
	size_t len = in->len < LOOK_BYTES ? in->len : LOOK_BYTES, good = 0, bad = 0;
	struct pl_span rest = {(const char *)in->bytes, len}, line, stack;
	uint64_t count;

	while (good + bad < LOOK_LINES && pl_span_line(&rest, &line)) {
		if (pl_span_trim(line).len == 0 || is_heading(line))
			continue;
		if (pl_folded_split(line, &stack, &count))
			good++;
		else if (rest.len || len == in->len) /* the last one may be cut */
			bad++;
	}
	return good > bad;
}
