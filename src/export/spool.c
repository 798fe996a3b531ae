/* SPDX-License-Identifier: Apache-2.0 */
/* Samples sorted by thread (layer export). One owner at a time.
 *
 * Samples are collected in an arena in their order. When it is full it is sorted by thread (a counting sort, which
 * keeps the order within a thread) and appended to the file; what a thread has there is a *piece*, and the pieces of a
 * thread are a list. So a thread is read back in as many pieces as the arena was full, and there is no thread that
 * takes more memory than its heads of lists. Does not sort by time: a profile gives its samples in the order in which
 * they were taken. */
#include "spool.h"

#include <stdlib.h>

#include "own_fd.h"
#include "temp_file.h"
#include "vec.h"

#define ARENA_RECORDS (1u << 17) /* and more for very many threads, so that pieces stay few */
#define THREAD_SHARE  4
#define READ_RECORDS  2048u
#define NO_PIECE      SIZE_MAX

/* As it is in the file. */
struct record {
	uint64_t time_ns, weight_ns;
	uint32_t stack, extra_low;
	uint32_t extra_high;
	uint16_t state;
	uint8_t quality, unused;
};
_Static_assert(sizeof(struct record) == 32, "the records of a temporary file have no holes");

struct piece {
	uint64_t first; /* number of its first record in the file */
	uint32_t count;
	size_t next; /* of the same thread; NO_PIECE: the last one */
};

struct thread_pieces {
	size_t first, last;
	uint64_t samples;
	uint32_t fill; /* in the arena */
};

struct pl_spool {
	int fd; /* -1: all is in `sorted` */
	uint32_t thread_count;
	struct thread_pieces *threads;
	PL_VEC(struct piece) pieces;
	struct record *arena, *sorted;
	uint32_t *arena_threads;
	uint32_t cap, len;
	uint64_t written; /* records in the file */
};

static struct plumb_error *add_piece(struct pl_spool *s, struct thread_pieces *t, uint64_t first)
{
	struct piece piece = {.first = first, .count = t->fill, .next = NO_PIECE};
	size_t id = s->pieces.len;

	if (!pl_vec_push(&s->pieces, piece))
		return &pl_err_no_memory;
	if (t->last == NO_PIECE)
		t->first = id;
	else
		s->pieces.data[t->last].next = id;
	t->last = id;
	t->samples += t->fill;
	return NULL;
}

/* The arena into `sorted`, by thread, and a piece for each thread that is in it. */
static struct plumb_error *sort_arena(struct pl_spool *s)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < s->thread_count; i++) {
		struct thread_pieces *t = &s->threads[i];
		uint32_t count = t->fill;

		if (!count)
			continue;
		struct plumb_error *err = add_piece(s, t, s->written + at);
		if (err)
			return err;
		t->fill = at; /* from here on: where its next record goes */
		at += count;
	}
	for (uint32_t i = 0; i < s->len; i++)
		s->sorted[s->threads[s->arena_threads[i]].fill++] = s->arena[i];
	for (uint32_t i = 0; i < s->thread_count; i++)
		s->threads[i].fill = 0;
	return NULL;
}

static struct plumb_error *empty_arena(struct pl_spool *s)
{
	struct plumb_error *err = s->fd < 0 ? pl_temp_file_of_call(&s->fd) : NULL;

	if (!err)
		err = sort_arena(s);
	if (!err)
		err = pl_temp_write(s->fd, s->sorted, s->len * sizeof *s->sorted);
	s->written += s->len;
	s->len = 0;
	return err;
}

static struct plumb_error *take_sample(void *ctx, const struct pl_sample *sample)
{
	struct pl_spool *s = ctx;

	if (s->len == s->cap) {
		struct plumb_error *err = empty_arena(s);
		if (err)
			return err;
	}
	s->arena[s->len] = (struct record){.time_ns = sample->time_ns,
					   .weight_ns = sample->weight_ns,
					   .stack = sample->stack,
					   .extra_low = (uint32_t)sample->extra,
					   .extra_high = (uint32_t)(sample->extra >> 32),
					   .state = sample->state,
					   .quality = sample->quality};
	s->arena_threads[s->len++] = sample->thread;
	s->threads[sample->thread].fill++;
	return NULL;
}

/* What is left in the arena goes to the file, if there is one, else it stays in memory. */
static struct plumb_error *take_end(struct pl_spool *s)
{
	struct plumb_error *err = s->fd < 0 ? sort_arena(s) : empty_arena(s);

	free(s->arena);
	free(s->arena_threads);
	s->arena = NULL;
	s->arena_threads = NULL;
	return err;
}

static struct plumb_error *spool_init(struct pl_spool *s, const struct plumb_profile *p)
{
	uint64_t wanted = (uint64_t)THREAD_SHARE * p->thread_count;

	s->fd = -1;
	s->thread_count = p->thread_count;
	s->cap = wanted <= ARENA_RECORDS ? ARENA_RECORDS : wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
	s->threads = calloc((size_t)p->thread_count + 1, sizeof *s->threads);
	s->arena = malloc(s->cap * sizeof *s->arena);
	s->sorted = malloc(s->cap * sizeof *s->sorted);
	s->arena_threads = malloc(s->cap * sizeof *s->arena_threads);
	if (!s->threads || !s->arena || !s->sorted || !s->arena_threads)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < s->thread_count; i++)
		s->threads[i].first = s->threads[i].last = NO_PIECE;
	return NULL;
}

struct plumb_error *pl_spool_create(const struct plumb_profile *p, struct pl_spool **ret)
{
	struct pl_spool *s = calloc(1, sizeof *s);

	if (!s)
		return &pl_err_no_memory;
	struct plumb_error *err = spool_init(s, p);
	if (!err)
		err = pl_profile_each(p, take_sample, s);
	if (!err)
		err = take_end(s);
	if (err) {
		pl_spool_destroy(s);
		return err;
	}
	*ret = s;
	return NULL;
}

uint64_t pl_spool_count(const struct pl_spool *s, uint32_t thread)
{
	return thread < s->thread_count ? s->threads[thread].samples : 0;
}

static struct plumb_error *give(const struct record *records, uint32_t count, uint32_t thread, pl_sample_fn *fn,
				void *ctx)
{
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < count && !err; i++) {
		const struct record *r = &records[i];
		struct pl_sample sample = {.time_ns = r->time_ns,
					   .thread = thread,
					   .stack = r->stack,
					   .state = r->state,
					   .quality = r->quality,
					   .weight_ns = r->weight_ns,
					   .extra = (uint64_t)r->extra_high << 32 | r->extra_low};

		err = fn(ctx, &sample);
	}
	return err;
}

static struct plumb_error *give_from_file(struct pl_spool *s, const struct piece *piece, struct record *records,
					  uint32_t thread, pl_sample_fn *fn, void *ctx)
{
	struct plumb_error *err = NULL;

	for (uint32_t done = 0; done < piece->count && !err;) {
		uint32_t part = piece->count - done < READ_RECORDS ? piece->count - done : READ_RECORDS;

		err = pl_temp_read(s->fd, records, part * sizeof *records, (piece->first + done) * sizeof *records);
		if (!err)
			err = give(records, part, thread, fn, ctx);
		done += part;
	}
	return err;
}

struct plumb_error *pl_spool_each(struct pl_spool *s, uint32_t thread, pl_sample_fn *fn, void *ctx)
{
	struct plumb_error *err = NULL;
	struct record *records = NULL;

	if (!pl_spool_count(s, thread))
		return NULL;
	if (s->fd >= 0 && !(records = malloc(READ_RECORDS * sizeof *records)))
		return &pl_err_no_memory;
	for (size_t i = s->threads[thread].first; i != NO_PIECE && !err; i = s->pieces.data[i].next) {
		const struct piece *piece = &s->pieces.data[i];

		err = s->fd < 0 ? give(s->sorted + piece->first, piece->count, thread, fn, ctx)
				: give_from_file(s, piece, records, thread, fn, ctx);
	}
	free(records);
	return err;
}

void pl_spool_destroy(struct pl_spool *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		pl_own_fd_close(s->fd);
	pl_vec_deinit(&s->pieces);
	free(s->threads);
	free(s->arena);
	free(s->sorted);
	free(s->arena_threads);
	free(s);
}
