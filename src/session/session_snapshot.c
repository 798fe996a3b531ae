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

static struct plumb_error *make_part(struct plumb_session *s, const struct pl_cycle *c, struct plumb_profile **ret)
{
	struct plumb_error *err = pl_profile_part(s->profile, c->cells.data, c->cells.len, ret);

	if (err)
		return err;
	struct pl_meta *m = &(*ret)->meta;
	uint64_t begin_ns = c->number * s->cycles.length_ns, elapsed_ns = s->stats.elapsed_ns;
	/* Its first sample may be younger than the figures. */
	uint64_t lasted_ns = elapsed_ns > begin_ns ? elapsed_ns - begin_ns : 0;
	m->period_ns = s->options.period_ns;
	m->duration_ns = lasted_ns < s->cycles.length_ns ? lasted_ns : s->cycles.length_ns;
	m->start_real_ns = (c->end_real_ns ? c->end_real_ns : pl_clock_real_ns()) - m->duration_ns;
	return NULL;
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

struct plumb_error *plumb_session_recent(struct plumb_session *s, struct plumb_profile **ret)
{
	static const struct pl_cycle nothing;
	struct plumb_error *err = pl_session_check_forked(s);

	if (err)
		return err;
	lock_up_to_date(s);
	const struct pl_cycle *c = pl_cycles_recent(&s->cycles);
	err = make_part(s, c ? c : &nothing, ret);
	pthread_mutex_unlock(&s->work);
	return err;
}
