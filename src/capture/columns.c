/* SPDX-License-Identifier: Apache-2.0 */
/* Samples into columns (layer capture). One thread at a time.
 *
 * Each sample is reduced to numbers of about one byte, column by column, at once: a second at 150,000 samples/s is then
 * some hundred kilobytes and not megabytes. Thread and stack together are a "place", listed once in the chunk; places
 * are numbered by first appearance, so that all but the busiest programs need one byte for it. What a byte then costs
 * is up to zstd, which gives each column a Huffman code of its own (format.c). */
#include "columns.h"

#include <math.h>

#define MIN_TIME_SHIFT 10	  /* 1 us: finer than the instant of a sample is known */
#define COLUMN_MAX     (7u << 20) /* nine of them stay below PL_CHUNK_MAX_BYTES */
#define SAMPLE_MAX_LEN 64	  /* bytes that one sample adds to all columns together, at most */

unsigned pl_columns_time_shift(uint64_t period_ns)
{
	unsigned shift = MIN_TIME_SHIFT;
	/* Until the power of two that is nearest to an eighth, by ratio. */
	while (shift < PL_MAX_TIME_SHIFT && (double)(1ull << shift) * M_SQRT2 < (double)period_ns / 8)
		shift++;
	return shift;
}

void pl_columns_init(struct pl_columns *c, uint64_t period_ns)
{
	const struct pl_buf empty = PL_BUF_INIT(COLUMN_MAX);
	*c = (struct pl_columns){.time_shift = pl_columns_time_shift(period_ns),
				 .period_ns = period_ns,
				 .place_rows = empty,
				 .times = empty,
				 .runs = empty,
				 .sample_places = empty,
				 .states = empty,
				 .weights = empty,
				 .counts = empty,
				 .locks = empty,
				 .reasons = empty};
}

void pl_columns_deinit(struct pl_columns *c)
{
	pl_row_index_deinit(&c->places);
	pl_vec_deinit(&c->place_keys);
	pl_vec_deinit(&c->weights_ns);
	pl_buf_deinit(&c->place_rows);
	pl_buf_deinit(&c->times);
	pl_buf_deinit(&c->runs);
	pl_buf_deinit(&c->sample_places);
	pl_buf_deinit(&c->states);
	pl_buf_deinit(&c->weights);
	pl_buf_deinit(&c->counts);
	pl_buf_deinit(&c->locks);
	pl_buf_deinit(&c->reasons);
}

void pl_columns_clear(struct pl_columns *c)
{
	c->samples = c->row_stack = 0;
	c->first_ns = c->last_ns = c->instant = c->run = 0;
	pl_row_index_clear(&c->places);
	pl_vec_clear(&c->place_keys);
	pl_vec_clear(&c->weights_ns);
	pl_buf_clear(&c->place_rows);
	pl_buf_clear(&c->times);
	pl_buf_clear(&c->runs);
	pl_buf_clear(&c->sample_places);
	pl_buf_clear(&c->states);
	pl_buf_clear(&c->weights);
	pl_buf_clear(&c->counts);
	pl_buf_clear(&c->locks);
	pl_buf_clear(&c->reasons);
}

size_t pl_columns_size(const struct pl_columns *c)
{
	return c->place_rows.len + c->times.len + c->runs.len + c->sample_places.len + c->states.len + c->weights.len +
	       c->counts.len + c->locks.len + c->reasons.len;
}

/* The first number of a column that is not 0 brings those of all samples before it. */
static struct plumb_error *make_room_before(const struct pl_columns *c, uint64_t number, struct pl_buf *column)
{
	return number && !column->len ? pl_buf_reserve(column, (size_t)c->samples + SAMPLE_MAX_LEN) : NULL;
}

static uint64_t reason_of(const struct pl_sample *s)
{
	return s->state >> PL_STATE_BITS;
}

/* Everything that can fail, before anything is changed. */
static struct plumb_error *make_room(struct pl_columns *c, const struct pl_sample *s)
{
	if (c->samples == PL_CHUNK_MAX_SAMPLES)
		return &pl_err_limit;
	struct pl_buf *bufs[] = {&c->place_rows, &c->times,  &c->runs,	&c->sample_places, &c->states,
				 &c->weights,	 &c->counts, &c->locks, &c->reasons};
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
		struct plumb_error *err = pl_buf_reserve(bufs[i], SAMPLE_MAX_LEN);
		if (err)
			return err;
	}
	struct plumb_error *err = make_room_before(c, s->extra, &c->counts);
	if (!err)
		err = make_room_before(c, s->lock, &c->locks);
	if (!err)
		err = make_room_before(c, reason_of(s), &c->reasons);
	if (err)
		return err;
	while (c->weights_ns.len <= s->thread) {
		if (!pl_vec_push(&c->weights_ns, c->period_ns))
			return &pl_err_no_memory;
	}
	return NULL;
}

static bool is_known(const struct pl_columns *c, uint64_t key, uint32_t hash, uint32_t *ret)
{
	for (size_t at = pl_row_index_start(&c->places, hash); pl_row_index_next(&c->places, hash, &at, ret);)
		if (c->place_keys.data[*ret] == key)
			return true;
	return false;
}

static bool note_place(struct pl_columns *c, uint64_t key, uint32_t hash, uint32_t *ret)
{
	*ret = (uint32_t)c->place_keys.len;
	if (!pl_vec_push(&c->place_keys, key))
		return false;
	if (pl_row_index_add(&c->places, hash, *ret))
		return true;
	c->place_keys.len--;
	return false;
}

/* The number of the sample's place; a new one is described in place_rows by its difference to the last new one. */
static struct plumb_error *find_place(struct pl_columns *c, const struct pl_sample *s, uint32_t *ret)
{
	if (c->samples && c->last_stack == s->stack && c->last_thread == s->thread) {
		*ret = c->last_place;
		return NULL;
	}
	uint64_t key = (uint64_t)s->stack << 32 | s->thread;
	uint32_t hash = pl_row_hash(key, 0);
	if (is_known(c, key, hash, ret))
		return NULL;
	if (!note_place(c, key, hash, ret))
		return &pl_err_no_memory;
	struct pl_encoder e = {.buf = &c->place_rows};
	pl_encode(&e, s->thread);
	pl_encode_delta(&e, s->stack, c->row_stack);
	c->row_stack = s->stack;
	return e.err;
}

static void put_instant(struct pl_columns *c, uint64_t instant, struct pl_encoder *times, struct pl_encoder *runs)
{
	if (c->samples && instant == c->instant) {
		c->run++;
		return;
	}
	pl_encode_delta(times, instant, c->instant);
	if (c->samples)
		pl_encode(runs, c->run);
	c->instant = instant;
	c->run = 1;
}

/* A column of which nothing is written while all are 0. */
static void put_number(const struct pl_columns *c, uint64_t number, struct pl_buf *column)
{
	struct pl_encoder e = {.buf = column};
	uint32_t before = column->len ? 0 : c->samples;

	if (!number && !column->len)
		return;
	while (before--)
		pl_encode(&e, 0);
	pl_encode(&e, number);
}

struct plumb_error *pl_columns_add(struct pl_columns *c, const struct pl_sample *s)
{
	uint32_t place = 0;
	struct plumb_error *err = make_room(c, s);
	if (!err)
		err = find_place(c, s, &place);
	if (err)
		return err;
	/* make_room left nothing to fail from here on. */
	struct pl_encoder times = {.buf = &c->times}, runs = {.buf = &c->runs}, places = {.buf = &c->sample_places},
			  states = {.buf = &c->states}, weights = {.buf = &c->weights};
	put_instant(c, s->time_ns >> c->time_shift, &times, &runs);
	pl_encode(&places, place);
	pl_encode(&states, (uint32_t)(uint8_t)s->state << PL_QUALITY_BITS | s->quality);
	pl_encode_delta(&weights, s->weight_ns, c->weights_ns.data[s->thread]);
	c->weights_ns.data[s->thread] = s->weight_ns;
	put_number(c, s->extra, &c->counts);
	put_number(c, s->lock, &c->locks);
	put_number(c, reason_of(s), &c->reasons);
	/* Samples of threads that wait for their share of the run time come later than those of the others. */
	if (!c->samples || s->time_ns < c->first_ns)
		c->first_ns = s->time_ns;
	if (s->time_ns > c->last_ns)
		c->last_ns = s->time_ns;
	c->last_stack = s->stack;
	c->last_thread = s->thread;
	c->last_place = place;
	c->samples++;
	return NULL;
}

struct plumb_error *pl_columns_encode(const struct pl_columns *c, struct pl_buf *raw)
{
	if (!c->samples)
		return NULL;
	struct pl_buf units = PL_BUF_INIT(SAMPLE_MAX_LEN);
	struct pl_encoder u = {.buf = &units}, e = {.buf = raw};
	pl_encode(&u, c->time_shift);
	pl_encode(&u, c->period_ns);
	e.err = u.err;
	pl_encode_section(&e, PL_SECTION_UNITS, &units);
	pl_buf_deinit(&units);
	pl_encode_section(&e, PL_SECTION_PLACES, &c->place_rows);
	pl_encode_section(&e, PL_SECTION_TIMES, &c->times);
	pl_encode_section(&e, PL_SECTION_RUNS, &c->runs);
	pl_encode_section(&e, PL_SECTION_SAMPLES, &c->sample_places);
	pl_encode_section(&e, PL_SECTION_STATES, &c->states);
	pl_encode_section(&e, PL_SECTION_WEIGHTS, &c->weights);
	pl_encode_section(&e, PL_SECTION_COUNTS, &c->counts);
	pl_encode_section(&e, PL_SECTION_AWAITED, &c->locks);
	pl_encode_section(&e, PL_SECTION_REASONS, &c->reasons);
	return e.err;
}
