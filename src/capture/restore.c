/* SPDX-License-Identifier: Apache-2.0 */
/* One decompressed payload into a profile: sections and samples (layer capture). One thread at a time.
 *
 * Compression lets a few bytes stand for millions of rows, so the memory that rows may take is tied to the bytes of the
 * file: a base that the deepest recursion needs, and a share for each byte. Samples take no memory of their own, but
 * those of a place do, by state, quality and batch: a row of the profile for each that is met.
 *
 * So are the frames of all places, for there are formats that write each frame of each stack that has samples: a place
 * of two bytes can be a stack that takes megabytes to write. Samples of one place are not counted: who sleeps deep down
 * has thousands of them for each byte. */
#include "restore.h"

#include "axis.h"

#define MEMORY_BASE (256ull << 20)

/* Rows of samples: 20,000 threads that sleep have 64 each after a second. */
#define CELLS_BASE     (2ull << 20)
#define CELLS_PER_BYTE 64ull

/* A recursion that is as deep as can be recorded, and seen at another depth in each sample, has 30,000 a byte. */
#define FRAMES_BASE	(1ull << 28)
#define FRAMES_PER_BYTE (64ull << 10)
#define PLACES_AHEAD	16

#define FRAME_TEXT 64 /* bytes of a frame's names that count as one frame more */

void pl_restore_init(struct pl_restore *r, struct plumb_profile *p, pl_capture_sample_fn *fn, void *ctx)
{
	*r = (struct pl_restore){.profile = p,
				 .fn = fn,
				 .ctx = ctx,
				 .memory_left = MEMORY_BASE,
				 .frames_left = FRAMES_BASE,
				 .cells_max = CELLS_BASE};
	/* Row 0 of these two is known to everybody and never written. */
	r->strings.next = r->stacks.next = 1;
}

void pl_restore_deinit(struct pl_restore *r)
{
	pl_idmap_deinit(&r->strings);
	pl_idmap_deinit(&r->functions);
	pl_idmap_deinit(&r->locations);
	pl_idmap_deinit(&r->stacks);
	pl_idmap_deinit(&r->processes);
	pl_idmap_deinit(&r->locks);
	pl_idmap_deinit(&r->modules);
	pl_vec_deinit(&r->brief);
	pl_map_deinit(&r->threads);
	pl_map_deinit(&r->lives);
	pl_map_deinit(&r->hosts);
	pl_map_deinit(&r->thread_slots);
	pl_axis_deinit(&r->axis);
	pl_vec_deinit(&r->with_hole);
	pl_vec_deinit(&r->lengths);
	pl_vec_deinit(&r->places);
	pl_vec_deinit(&r->slots);
	pl_vec_deinit(&r->name_bytes);
}

/* A stack hangs on the marker if rows of it, or all of it, were lost. Each stack is looked at once, behind its parent,
 * whose id is smaller: places are many, and stacks may be deep. */
static struct plumb_error *has_lost_part(struct pl_restore *r, uint32_t stack, bool *ret)
{
	const struct plumb_profile *p = r->profile;
	*ret = false;
	if (!r->has_lost_stack)
		return NULL;
	uint32_t lost = p->locations[p->stacks[r->lost_stack].location].function;
	while (r->with_hole.len <= stack) {
		const struct pl_stack *s = &p->stacks[r->with_hole.len];
		bool is_root = r->with_hole.len == 0;
		bool hole = !is_root && (p->locations[s->location].function == lost || r->with_hole.data[s->parent]);
		if (!pl_vec_push(&r->with_hole, hole))
			return &pl_err_no_memory;
	}
	*ret = r->with_hole.data[stack];
	return NULL;
}

struct plumb_error *pl_restore_name_bytes(struct pl_restore *r, uint32_t location, uint64_t *ret)
{
	while (r->name_bytes.len <= location) {
		uint64_t bytes = pl_profile_location_bytes(r->profile, (uint32_t)r->name_bytes.len);
		if (!pl_vec_push(&r->name_bytes, bytes))
			return &pl_err_no_memory;
	}
	*ret = r->name_bytes.data[location];
	return NULL;
}

/* What the frames of a stack count. Each stack is looked at once, behind its parent. */
static struct plumb_error *length_of(struct pl_restore *r, uint32_t stack, uint64_t *ret)
{
	const struct plumb_profile *p = r->profile;
	while (r->lengths.len <= stack) {
		const struct pl_stack *s = &p->stacks[r->lengths.len];
		bool is_root = r->lengths.len == 0;
		uint64_t bytes = 0;
		struct plumb_error *err = is_root ? NULL : pl_restore_name_bytes(r, s->location, &bytes);
		if (err)
			return err;
		if (!pl_vec_push(&r->lengths, is_root ? 0 : r->lengths.data[s->parent] + 1 + bytes / FRAME_TEXT))
			return &pl_err_no_memory;
	}
	*ret = r->lengths.data[stack];
	return NULL;
}

struct plumb_error *pl_restore_spend_frames(struct pl_restore *r, uint32_t stack)
{
	uint64_t length = 0;
	struct plumb_error *err = length_of(r, stack, &length);
	if (!err && length > r->frames_left)
		err = &pl_err_corrupt;
	if (!err)
		r->frames_left -= length;
	return err;
}

static struct plumb_error *thread_slot(struct pl_restore *r, uint32_t thread, uint64_t period_ns, uint32_t *ret)
{
	if (pl_map_get(&r->thread_slots, thread, 0, ret))
		return NULL;
	struct pl_thread_slot slot = {.weight_ns = period_ns};
	struct plumb_error *err = pl_restore_thread_id(r, thread, &slot.thread);
	if (err)
		return err;
	*ret = (uint32_t)r->slots.len;
	if (!pl_vec_push(&r->slots, slot) || !pl_map_set(&r->thread_slots, thread, 0, *ret))
		return &pl_err_no_memory;
	return NULL;
}

static struct plumb_error *restore_place(struct pl_restore *r, struct pl_decoder *d, uint64_t period_ns,
					 uint32_t *stack)
{
	struct pl_place place = {0};
	uint32_t thread = pl_decode_u32(d);
	*stack = pl_decode_delta_u32(d, *stack);
	if (d->bad)
		return &pl_err_corrupt;
	struct plumb_error *err = thread_slot(r, thread, period_ns, &place.thread_slot);
	if (!err)
		err = pl_restore_stack_id(r, *stack, &place.stack);
	if (!err)
		err = has_lost_part(r, place.stack, &place.lost);
	if (!err && r->places.len == r->places_paid) {
		err = pl_restore_spend(r, PL_ROW_MEMORY);
		r->places_paid += !err;
	}
	if (err)
		return err;
	return pl_vec_push(&r->places, place) ? NULL : &pl_err_no_memory;
}

/* The frames of all places. Stacks are far more than the caches hold: what is known of one is fetched some places
 * before it is needed. */
static struct plumb_error *spend_places(struct pl_restore *r)
{
	struct plumb_error *err = NULL;
	for (size_t i = 0; i < r->places.len && !err; i++) {
		size_t later = i + PLACES_AHEAD < r->places.len ? r->places.data[i + PLACES_AHEAD].stack : SIZE_MAX;
		if (later < r->lengths.len)
			__builtin_prefetch(&r->lengths.data[later]);
		err = pl_restore_spend_frames(r, r->places.data[i].stack);
	}
	return err;
}

/* At most one for each sample of the chunk: what nobody is at was not written, and would take memory. */
static struct plumb_error *restore_places(struct pl_restore *r, struct pl_decoder *d, uint64_t period_ns,
					  uint32_t count)
{
	uint32_t stack = 0;
	pl_vec_clear(&r->places);
	pl_vec_clear(&r->slots);
	pl_map_clear(&r->thread_slots);
	while (pl_cursor_left(&d->cursor)) {
		struct plumb_error *err =
			r->places.len < count ? restore_place(r, d, period_ns, &stack) : &pl_err_corrupt;
		if (err)
			return err;
	}
	return spend_places(r);
}

/* The columns of the samples, read in step. */
struct columns {
	struct pl_decoder *times, *runs, *places, *states, *weights, *counts, *locks, *reasons;
	bool counted;  /* samples stand for several */
	bool awaited;  /* some waited for a lock */
	bool reasoned; /* of some it is known for what they waited */
	unsigned time_shift;
	uint64_t instant; /* in units */
	uint64_t run;	  /* samples still to come at this instant */
};

static void next_instant(struct columns *c)
{
	if (c->run)
		return;
	c->instant += (uint64_t)pl_decode_signed(c->times);
	/* The last run is not written: it lasts to the end of the chunk. */
	c->run = pl_cursor_left(&c->runs->cursor) ? pl_decode(c->runs) : PL_CHUNK_MAX_SAMPLES;
}

static bool columns_bad(const struct columns *c)
{
	return c->times->bad || c->runs->bad || c->places->bad || c->states->bad || c->weights->bad || c->counts->bad ||
	       c->locks->bad || c->reasons->bad;
}

/* Too many rows end the reading and are no damage that is left out: when the file is read again, it could not be known
 * which they were. */
static struct plumb_error *count_samples(struct pl_restore *r, const struct pl_sample *s, size_t count)
{
	if (r->again)
		return NULL;
	struct plumb_error *err = pl_profile_add_all(r->profile, s, count);
	if (err || r->profile->cell_count <= r->cells_max)
		return err;
	return pl_error(PLUMB_ERR_LIMIT, "its samples are of more kinds than a recording of its size has");
}

/* 1 + the id of the file; of a row that was lost nothing is known. */
static uint32_t lock_of(const struct pl_restore *r, uint64_t lock)
{
	uint32_t id;

	return lock && lock <= UINT32_MAX && pl_idmap_get(&r->locks, (uint32_t)lock - 1, &id) ? 1 + id : 0;
}

/* A reason that only a newer plumb knows is kept: pl_reason_of tells it as another one. */
static uint16_t state_of(uint64_t bits, uint64_t reason)
{
	const uint64_t most = PL_STATE_REASONS >> PL_STATE_BITS;

	return (uint16_t)(bits | (reason < most ? reason : most) << PL_STATE_BITS);
}

static struct plumb_error *restore_sample(struct pl_restore *r, struct columns *c, struct pl_sample *ret)
{
	next_instant(c);
	uint64_t at = pl_decode(c->places), state = pl_decode(c->states);
	uint64_t quality = state & ((1u << PL_QUALITY_BITS) - 1);
	uint64_t weight_delta = (uint64_t)pl_decode_signed(c->weights), extra = c->counted ? pl_decode(c->counts) : 0;
	uint64_t lock = c->awaited ? pl_decode(c->locks) : 0, reason = c->reasoned ? pl_decode(c->reasons) : 0;
	if (columns_bad(c) || !c->run || at >= r->places.len || state >> PL_QUALITY_BITS > UINT8_MAX ||
	    quality >= PL_QUALITIES || extra == UINT64_MAX || c->instant > UINT64_MAX >> c->time_shift)
		return &pl_err_corrupt;
	c->run--;
	const struct pl_place *place = &r->places.data[at];
	struct pl_thread_slot *slot = &r->slots.data[place->thread_slot];
	*ret = (struct pl_sample){.time_ns = c->instant << c->time_shift,
				  .thread = slot->thread,
				  .stack = place->stack,
				  .state = state_of(state >> PL_QUALITY_BITS, reason),
				  /* What has a hole is no longer the whole stack that was proved. */
				  .quality = place->lost ? PL_PARTIAL : (uint8_t)quality,
				  .weight_ns = slot->weight_ns += weight_delta,
				  .extra = extra,
				  .lock = lock_of(r, lock)};
	pl_sum_up(&r->lost_samples, place->lost);
	return NULL;
}

static struct plumb_error *give_samples(struct pl_restore *r, const struct pl_sample *s, size_t count)
{
	struct plumb_error *err = count_samples(r, s, count);
	for (size_t i = 0; i < count && r->fn && !err; i++) {
		err = r->fn(r->ctx, &s[i]);
		r->stopped = err != NULL;
	}
	return err;
}

/* The next samples, at most @p left of them; those before a contradiction count. */
static struct plumb_error *restore_some(struct pl_restore *r, struct columns *c, uint32_t left, uint32_t *done)
{
	struct pl_sample s[PL_TOGETHER];
	struct plumb_error *bad = NULL, *err;
	uint32_t count = 0;
	while (count < PL_TOGETHER && count < left && !bad) {
		bad = restore_sample(r, c, &s[count]);
		count += !bad;
	}
	err = give_samples(r, s, count);
	*done += err ? 0 : count;
	return err ? err : bad;
}

static struct plumb_error *restore_columns(struct pl_restore *r, uint32_t count,
					   struct pl_decoder sections[PL_SECTIONS], uint32_t *done)
{
	struct pl_decoder *units = &sections[PL_SECTION_UNITS];
	uint64_t shift = pl_decode(units), period_ns = pl_decode(units);
	if (units->bad || shift > PL_MAX_TIME_SHIFT)
		return &pl_err_corrupt;
	struct plumb_error *err = restore_places(r, &sections[PL_SECTION_PLACES], period_ns, count);
	struct columns c = {.times = &sections[PL_SECTION_TIMES],
			    .runs = &sections[PL_SECTION_RUNS],
			    .places = &sections[PL_SECTION_SAMPLES],
			    .states = &sections[PL_SECTION_STATES],
			    .weights = &sections[PL_SECTION_WEIGHTS],
			    .counts = &sections[PL_SECTION_COUNTS],
			    .locks = &sections[PL_SECTION_AWAITED],
			    .reasons = &sections[PL_SECTION_REASONS],
			    .reasoned = pl_cursor_left(&sections[PL_SECTION_REASONS].cursor) > 0,
			    .awaited = pl_cursor_left(&sections[PL_SECTION_AWAITED].cursor) > 0,
			    .counted = pl_cursor_left(&sections[PL_SECTION_COUNTS].cursor) > 0,
			    .time_shift = (unsigned)shift};
	while (!err && *done < count)
		err = restore_some(r, &c, count - *done, done);
	return err;
}

struct plumb_error *pl_restore_samples(struct pl_restore *r, uint32_t count, struct pl_decoder sections[PL_SECTIONS])
{
	uint32_t done = 0;
	struct plumb_error *err = count ? restore_columns(r, count, sections, &done) : NULL;
	if (err == &pl_err_corrupt && !r->stopped)
		pl_sum_up(&r->lost_samples, count - done);
	return err;
}

struct plumb_error *pl_restore_chunk(struct pl_restore *r, const struct pl_chunk_header *h, const struct pl_buf *raw)
{
	struct pl_decoder sections[PL_SECTIONS] = {0};
	uint64_t bytes = PL_CHUNK_HEADER_LEN + (uint64_t)h->payload_len;
	r->memory_left += PL_MEMORY_PER_BYTE * bytes;
	r->frames_left += FRAMES_PER_BYTE * bytes;
	r->cells_max += CELLS_PER_BYTE * bytes;
	struct plumb_error *err = pl_find_sections(raw, sections) ? NULL : &pl_err_corrupt;
	if (!err)
		err = pl_restore_tables(r, sections);
	if (err == &pl_err_corrupt)
		pl_sum_up(&r->lost_samples, h->samples);
	return err ? err : pl_restore_samples(r, h->samples, sections);
}
