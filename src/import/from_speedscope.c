/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope's own format: sampled and evented profiles. Layer import; one thread at a time.
 *
 * The file is read twice: what a sample is made of may stand behind it (py-spy writes the frames last, and of a profile
 * the unit), so the first reading takes the frames and the head of each profile (speedscope_tables.c), the second the
 * samples. Memory: the frames, a row for each distinct sample and, of one profile at a time, a stack and two numbers
 * for each sample.
 *
 * A profile is a thread. In an evented one each stretch between two events in which frames are open is a sample.
 * Weights of a unit of time are weights; others are numbers of samples. Members named "plumb..." are those of
 * export/speedscope.c. */
#include <string.h>

#include "importers.h"
#include "index.h"
#include "known_texts.h"
#include "speedscope_parts.h"

struct reading {
	struct pl_sink *sink;
	struct pl_speedscope_tables t;
	size_t next; /* profile */
	const struct pl_speedscope_head *head;
	uint64_t end_ns;	     /* of the latest sample */
	struct pl_known_texts known; /* lists of frames -> stack */

	/* Of one profile. `when`: of an evented one, the instants at which the samples begin and the last one ends. */
	PL_VEC(uint32_t) stacks;
	PL_VEC(uint64_t) weights;
	PL_VEC(uint64_t) counts;
	PL_VEC(int64_t) when;
	int64_t start;
	uint32_t stack; /* of the sample that is read, or of what is open now */
	struct {
		int64_t at;
		uint64_t frame;
		char type;
		bool has_at, has_frame;
	} event;
};

static struct plumb_error *no_memory_unless(bool ok)
{
	return ok ? NULL : &pl_err_no_memory;
}

static struct plumb_error *push_frame(struct reading *rd, const struct pl_json_reader *r, uint64_t frame)
{
	if (frame >= rd->t.frames.len)
		return pl_json_reader_fail(r, "there is no frame %llu in a list of %zu", (unsigned long long)frame,
					   rd->t.frames.len);
	return pl_profile_stack(rd->t.p, rd->stack, rd->t.frames.data[frame], &rd->stack);
}

/* ---- sampled ---- */

static struct plumb_error *read_sample_frame(struct pl_json_reader *r, void *ctx)
{
	uint64_t frame;

	if (!pl_json_reader_u64(r, &frame))
		return pl_json_reader_fail(r, "the number of a frame was expected");
	return push_frame(ctx, r, frame);
}

static struct plumb_error *read_frames(struct reading *rd, struct pl_json_reader *r)
{
	rd->stack = 0;
	return pl_json_reader_array(r, read_sample_frame, rd);
}

/* Most samples have a stack that was there before: its text is compared, and its frames are not looked up again. */
static struct plumb_error *read_stack(struct reading *rd, struct pl_json_reader *r)
{
	struct pl_span text;
	uint64_t known;

	if (!pl_json_reader_text(r, &text.s, &text.len))
		return read_frames(rd, r);
	uint32_t hash = pl_known_hash(text);
	if (pl_known_find(&rd->known, text, hash, &known)) {
		rd->stack = (uint32_t)known;
		pl_json_reader_end(r, text.len);
		return NULL;
	}
	struct plumb_error *err = read_frames(rd, r);
	return err ? err : pl_known_add(&rd->known, text, hash, rd->stack);
}

static struct plumb_error *read_sample(struct pl_json_reader *r, void *ctx)
{
	struct reading *rd = ctx;
	struct plumb_error *err = read_stack(rd, r);

	return err ? err : no_memory_unless(pl_vec_push(&rd->stacks, rd->stack));
}

static struct plumb_error *read_samples(struct pl_json_reader *r, void *ctx)
{
	((struct reading *)ctx)->stacks.len = 0;
	return pl_json_reader_array(r, read_sample, ctx);
}

static struct plumb_error *read_weight(struct pl_json_reader *r, void *ctx)
{
	struct reading *rd = ctx;
	int scale = rd->head->scale > 0 ? rd->head->scale : 0;
	int64_t v;

	if (!pl_json_reader_scaled(r, scale, &v) || v < 0)
		return pl_json_reader_fail(r, "a weight was expected, a number that is not negative");
	return no_memory_unless(pl_vec_push(&rd->weights, (uint64_t)v));
}

static struct plumb_error *read_weights(struct pl_json_reader *r, void *ctx)
{
	((struct reading *)ctx)->weights.len = 0;
	return pl_json_reader_array(r, read_weight, ctx);
}

static struct plumb_error *read_count(struct pl_json_reader *r, void *ctx)
{
	struct reading *rd = ctx;
	uint64_t v;

	if (!pl_json_reader_u64(r, &v) || v == 0)
		return pl_json_reader_fail(r, "a number of samples was expected");
	return no_memory_unless(pl_vec_push(&rd->counts, v));
}

static struct plumb_error *read_counts(struct pl_json_reader *r, void *ctx)
{
	((struct reading *)ctx)->counts.len = 0;
	return pl_json_reader_array(r, read_count, ctx);
}

static struct plumb_error *read_start(struct pl_json_reader *r, void *ctx)
{
	struct reading *rd = ctx;

	(void)pl_json_reader_scaled(r, rd->head->scale > 0 ? rd->head->scale : 0, &rd->start);
	return NULL;
}

/* ---- evented ---- */

static struct plumb_error *read_event_type(struct pl_json_reader *r, void *ctx)
{
	((struct reading *)ctx)->event.type = pl_json_reader_is(r, "O") ? 'O' : pl_json_reader_is(r, "C") ? 'C' : '?';
	return NULL;
}

static struct plumb_error *read_event_frame(struct pl_json_reader *r, void *ctx)
{
	struct reading *rd = ctx;

	rd->event.has_frame = pl_json_reader_u64(r, &rd->event.frame);
	return NULL;
}

static struct plumb_error *read_event_at(struct pl_json_reader *r, void *ctx)
{
	struct reading *rd = ctx;

	rd->event.has_at = pl_json_reader_scaled(r, rd->head->scale > 0 ? rd->head->scale : 0, &rd->event.at);
	return NULL;
}

/* What was open until the event is a sample from the last event on. */
static struct plumb_error *end_stretch(struct reading *rd)
{
	int64_t from = rd->when.len ? rd->when.data[rd->when.len - 1] : rd->event.at;
	uint64_t length = (uint64_t)rd->event.at - (uint64_t)from;
	bool ok = true;

	if (rd->when.len == 0)
		ok = pl_vec_push(&rd->when, rd->event.at);
	if (length == 0)
		return no_memory_unless(ok);
	ok = ok && pl_vec_push(&rd->stacks, rd->stack) && pl_vec_push(&rd->weights, length) &&
	     pl_vec_push(&rd->when, rd->event.at);
	return no_memory_unless(ok);
}

static struct plumb_error *close_frame(struct reading *rd, const struct pl_json_reader *r)
{
	const struct pl_stack *open = &rd->t.p->stacks[rd->stack];

	if (rd->event.frame >= rd->t.frames.len || rd->stack == 0 ||
	    open->location != rd->t.frames.data[rd->event.frame])
		return pl_json_reader_fail(r, "frame %llu is closed, and was not the last one to be opened",
					   (unsigned long long)rd->event.frame);
	rd->stack = open->parent;
	return NULL;
}

static struct plumb_error *read_event(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {
		{"type", read_event_type}, {"frame", read_event_frame}, {"at", read_event_at}, {NULL, NULL}};
	struct reading *rd = ctx;
	struct plumb_error *err;

	rd->event.type = '?';
	rd->event.has_at = rd->event.has_frame = false;
	err = pl_json_reader_object(r, fields, rd);
	if (err)
		return err;
	if (rd->event.type == '?' || !rd->event.has_at || !rd->event.has_frame)
		return pl_json_reader_fail(r, "an event needs a type (O or C), a frame and an instant");
	if (rd->when.len && rd->event.at < rd->when.data[rd->when.len - 1])
		return pl_json_reader_fail(r, "an event is earlier than the one before it");
	err = end_stretch(rd);
	if (err)
		return err;
	return rd->event.type == 'O' ? push_frame(rd, r, rd->event.frame) : close_frame(rd, r);
}

static struct plumb_error *read_events(struct pl_json_reader *r, void *ctx)
{
	struct reading *rd = ctx;
	struct plumb_error *err;

	rd->stacks.len = rd->weights.len = rd->when.len = 0;
	rd->stack = 0;
	err = pl_json_reader_array(r, read_event, rd);
	if (!err && rd->stack)
		err = pl_json_reader_fail(r, "a frame is never closed");
	return err;
}

/* ---- both ---- */

/* A weight without a unit of time is a number of samples; false: no sample is none. */
static bool sample_of(const struct reading *rd, size_t i, uint64_t at, struct pl_sample *ret)
{
	struct pl_sample s = {.thread = rd->head->thread, .stack = rd->stacks.data[i], .state = PL_STATE_UNKNOWN};
	uint64_t count = i < rd->counts.len ? rd->counts.data[i] : 1;

	if (rd->head->evented && s.stack == 0)
		return false; /* nothing was open */
	if (rd->head->scale < 0)
		count = rd->weights.data[i];
	else
		s.weight_ns = rd->weights.data[i];
	if (count == 0)
		return false;
	s.extra = count - 1;
	s.time_ns = at;
	*ret = s;
	return true;
}

static struct plumb_error *give_samples(struct reading *rd)
{
	int64_t start = rd->when.len ? rd->when.data[0] : rd->start;
	uint64_t at = start > 0 && rd->head->scale >= 0 ? (uint64_t)start : 0;
	struct plumb_error *err = NULL;
	struct pl_sample s;

	rd->sink->counted = rd->head->scale < 0;
	for (size_t i = 0; i < rd->stacks.len && !err; i++) {
		if (sample_of(rd, i, at, &s))
			err = pl_sink_add(rd->sink, &s);
		if (rd->head->scale >= 0)
			at = pl_sum_u64(at, rd->weights.data[i]);
	}
	rd->end_ns = at > rd->end_ns ? at : rd->end_ns;
	return err;
}

static struct plumb_error *read_profile(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field sampled[] = {{"samples", read_samples},
						       {"weights", read_weights},
						       {"plumb_counts", read_counts},
						       {"startValue", read_start},
						       {NULL, NULL}};
	static const struct pl_json_field evented[] = {{"events", read_events}, {NULL, NULL}};
	struct reading *rd = ctx;
	struct plumb_error *err;

	rd->head = &rd->t.heads.data[rd->next++];
	rd->stacks.len = rd->weights.len = rd->counts.len = rd->when.len = 0;
	rd->start = 0;
	if (rd->head->sum)
		return NULL;
	err = pl_json_reader_object(r, rd->head->evented ? evented : sampled, rd);
	if (!err && rd->weights.len != rd->stacks.len)
		err = pl_json_reader_fail(r, "a profile has %zu samples and %zu weights", rd->stacks.len,
					  rd->weights.len);
	if (!err && rd->counts.len && rd->counts.len != rd->stacks.len)
		err = pl_json_reader_fail(r, "a profile has %zu samples and %zu numbers of samples", rd->stacks.len,
					  rd->counts.len);
	return err ? err : give_samples(rd);
}

static struct plumb_error *read_profiles(struct pl_json_reader *r, void *ctx)
{
	return pl_json_reader_array(r, read_profile, ctx);
}

static bool is_timed(const struct pl_speedscope_tables *t)
{
	for (size_t i = 0; i < t->heads.len; i++) {
		if (t->heads.data[i].scale < 0 && !t->heads.data[i].sum)
			return false;
	}
	return true;
}

static struct plumb_error *read_both(const struct pl_import_input *in, struct reading *rd)
{
	static const struct pl_json_field fields[] = {{"profiles", read_profiles}, {NULL, NULL}};
	struct pl_json_reader r;
	struct plumb_error *err;

	pl_json_reader_init(&r, in->bytes, in->len);
	err = pl_speedscope_read_tables(&r, &rd->t);
	pl_json_reader_deinit(&r);
	if (err)
		return err;
	rd->sink->timed = is_timed(&rd->t);
	pl_json_reader_init(&r, in->bytes, in->len);
	err = pl_json_reader_next(&r);
	if (!err)
		err = pl_json_reader_object(&r, fields, rd);
	pl_json_reader_deinit(&r);
	return err;
}

struct plumb_error *pl_speedscope_read(const struct pl_import_input *in, struct pl_sink *sink)
{
	struct reading rd = {.sink = sink, .t = {.p = sink->profile}};
	struct plumb_error *err = read_both(in, &rd);

	sink->profile->meta.complete = true;
	if (sink->profile->meta.duration_ns < rd.end_ns)
		sink->profile->meta.duration_ns = rd.end_ns;
	pl_speedscope_tables_deinit(&rd.t);
	pl_known_texts_deinit(&rd.known);
	pl_vec_deinit(&rd.stacks);
	pl_vec_deinit(&rd.weights);
	pl_vec_deinit(&rd.counts);
	pl_vec_deinit(&rd.when);
	return err;
}

/* The name of its schema; where that stands last, members only it has. */
bool pl_speedscope_is(const struct pl_import_input *in)
{
	static const char schema[] = "speedscope.app/file-format-schema.json", active[] = "\"activeProfileIndex\"";
	const size_t looked_at = 4096;
	size_t len = in->len < looked_at ? in->len : looked_at;
	const uint8_t *end = in->bytes + in->len - len;

	if (in->len == 0 || !memchr(in->bytes, '{', len))
		return false;
	return memmem(in->bytes, len, schema, sizeof schema - 1) || memmem(end, len, schema, sizeof schema - 1) ||
	       memmem(in->bytes, len, active, sizeof active - 1) || memmem(end, len, active, sizeof active - 1);
}
