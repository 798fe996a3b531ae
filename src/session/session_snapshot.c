/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: copies of what a session has counted so far. Any thread. */
#include "session_parts.h"

#include "clock.h"

/* Take `work`, with all that has been sampled. */
static void lock_up_to_date(struct plumb_session *s)
{
	pthread_mutex_lock(&s->work);
	if (s->consuming)
		pl_session_take(s);
}

static struct plumb_error *copy(struct plumb_session *s, struct plumb_profile **ret)
{
	struct plumb_error *err = pl_profile_copy(s->profile, ret);

	if (err)
		return err;
	if (s->consuming) /* at the end that has been done */
		pl_session_fit(s, *ret);
	(*ret)->meta.complete = true;
	(*ret)->meta.untimed = true;
	return NULL;
}

struct plumb_error *plumb_session_snapshot(struct plumb_session *s, struct plumb_profile **ret)
{
	struct plumb_error *err = pl_session_check_forked(s);

	if (err)
		return err;
	pl_session_order(s, (struct pl_order){.kind = PL_ORDER_TELL_THREADS});
	lock_up_to_date(s);
	err = copy(s, ret);
	pthread_mutex_unlock(&s->work);
	return err;
}

/* Of @p p, made of @p c and the cycles before it from number @p first. */
static void fit_part(const struct plumb_session *s, uint64_t first, const struct pl_cycle *c, struct plumb_profile *p)
{
	uint64_t begin_ns = first * s->cycles.length_ns, elapsed_ns = s->stats.elapsed_ns;
	uint64_t longest_ns = (c->number + 1 - first) * s->cycles.length_ns;
	/* Its first sample may be younger than the figures. */
	uint64_t lasted_ns = elapsed_ns > begin_ns ? elapsed_ns - begin_ns : 0;

	p->meta.period_ns = s->options.period_ns;
	p->meta.duration_ns = lasted_ns < longest_ns ? lasted_ns : longest_ns;
	p->meta.start_real_ns = (c->end_real_ns ? c->end_real_ns : pl_clock_real_ns()) - p->meta.duration_ns;
}

/* Cycles are the batches of the intervals. Of @p count cycles none shares a batch with another, unless they are more
 * than there can be batches. */
static uint64_t batch_of_cycles(const struct plumb_session *s, size_t count)
{
	uint64_t length_ns = s->cycles.length_ns, batch_ns = PL_BATCH_MIN_NS;

	while (batch_ns <= length_ns / 2)
		batch_ns *= 2;
	while (count && (count - 1) * length_ns / batch_ns >= PL_BATCHES)
		batch_ns *= 2;
	return batch_ns;
}

static struct plumb_error *make_part(struct plumb_session *s, const struct pl_cycle *c, struct plumb_profile **ret)
{
	struct plumb_error *err =
		pl_profile_part(s->profile, c->cells.data, c->cells.len, batch_of_cycles(s, 1), false, ret);

	if (!err)
		fit_part(s, c->number, c, *ret);
	return err;
}

struct plumb_error *plumb_session_cycle(struct plumb_session *s, uint64_t *end_real_ns, struct plumb_profile **ret)
{
	struct plumb_error *err = pl_session_check_forked(s);

	*ret = NULL;
	if (err)
		return err;
	lock_up_to_date(s);
	const struct pl_cycle *c = pl_cycles_oldest(&s->cycles);
	if (c) {
		*end_real_ns = c->end_real_ns;
		err = make_part(s, c, ret);
	}
	if (c && !err)
		pl_cycles_drop(&s->cycles);
	pthread_mutex_unlock(&s->work);
	return err;
}

static struct plumb_error *make_several(struct plumb_session *s, size_t first, size_t count, bool same_idle,
					struct plumb_profile **ret)
{
	const struct pl_cycle *list = s->cycles.list.data;
	uint64_t batch_ns = batch_of_cycles(s, count);
	PL_VEC(struct pl_cell) cells = {0};
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < count && !err; i++) {
		const struct pl_cycle *c = &list[first + i];

		if (!pl_vec_reserve(&cells, c->cells.len))
			err = &pl_err_no_memory;
		for (size_t k = 0; k < c->cells.len && !err; k++) {
			cells.data[cells.len] = c->cells.data[k];
			cells.data[cells.len++].batch = (uint8_t)(i * s->cycles.length_ns / batch_ns);
		}
	}
	if (!err)
		err = pl_profile_part(s->profile, cells.data, cells.len, batch_ns, same_idle, ret);
	if (!err)
		fit_part(s, list[first].number, &list[first + count - 1], *ret);
	pl_vec_deinit(&cells);
	return err;
}

/* Mostly one; several where samples of the next ones are known before it is told how late it is. */
struct plumb_error *plumb_session_recent(struct plumb_session *s, struct plumb_profile **ret)
{
	static const struct pl_cycle nothing;
	struct plumb_error *err = pl_session_check_forked(s);

	if (err)
		return err;
	lock_up_to_date(s);
	size_t first = s->cycles.ended, open = s->cycles.list.len - first;
	err = open ? make_several(s, first, open, false, ret) : make_part(s, &nothing, ret);
	pthread_mutex_unlock(&s->work);
	return err;
}

struct plumb_error *plumb_session_last(struct plumb_session *s, uint64_t ns, struct plumb_profile **ret)
{
	static const struct pl_cycle nothing;
	struct plumb_error *err = pl_session_check_forked(s);

	if (err)
		return err;
	lock_up_to_date(s);
	size_t ended = s->cycles.ended, wanted = s->cycles.length_ns ? (size_t)(ns / s->cycles.length_ns) : 0;
	size_t first = wanted < ended ? ended - wanted : 0;
	if (first < s->cycles.list.len)
		err = make_several(s, first, s->cycles.list.len - first, true, ret);
	else
		err = make_part(s, &nothing, ret);
	pthread_mutex_unlock(&s->work);
	return err;
}

/* The index of the first cycle that has ended of which most lies at @p ns or later. */
static size_t first_from(const struct pl_cycles *c, uint64_t ns)
{
	size_t i = 0;

	while (i < c->ended && c->list.data[i].number * c->length_ns + c->length_ns / 2 < ns)
		i++;
	return i;
}

struct plumb_error *plumb_session_between(struct plumb_session *s, uint64_t *from_ns, uint64_t *to_ns,
					  struct plumb_profile **ret)
{
	static const struct pl_cycle nothing;
	struct plumb_error *err = pl_session_check_forked(s);

	if (err)
		return err;
	lock_up_to_date(s);
	const struct pl_cycles *c = &s->cycles;
	size_t first = first_from(c, *from_ns), end = first_from(c, *to_ns);
	if (first < end) {
		*from_ns = c->list.data[first].number * c->length_ns;
		*to_ns = (c->list.data[end - 1].number + 1) * c->length_ns;
		if (ret)
			err = make_several(s, first, end - first, true, ret);
	} else {
		*to_ns = *from_ns;
		err = ret ? make_part(s, &nothing, ret) : NULL;
		if (ret && !err)
			(*ret)->meta.duration_ns = 0;
	}
	pthread_mutex_unlock(&s->work);
	return err;
}
