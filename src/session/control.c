/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: control of a session from any thread; what a fork means for it. */
#include "session_parts.h"

#include "forks.h"
#include "program.h"

bool pl_session_forked(const struct plumb_session *s)
{
	return s->generation != pl_forks_generation();
}

struct plumb_error *pl_session_check_forked(const struct plumb_session *s)
{
	if (!pl_session_forked(s))
		return NULL;
	return pl_error(PLUMB_ERR_FORKED, "this process was forked by the one that the session belongs to");
}

/* Asked of the kernel: the sampling thread can be held up, and say nothing. */
bool pl_session_program_ended(const struct plumb_session *s)
{
	return s->options.launched && (s->reaped || pl_program_has_ended(s->pid));
}

static bool is_paused(struct plumb_session *s)
{
	pthread_mutex_lock(&s->lock);
	bool paused = s->status.paused;
	pthread_mutex_unlock(&s->lock);
	return paused;
}

void pl_session_order(struct plumb_session *s, struct pl_order order)
{
	bool tells = order.kind == PL_ORDER_TELL || order.kind == PL_ORDER_TELL_THREADS;

	pthread_mutex_lock(&s->ordering);
	if (s->engine && (!tells || !is_paused(s)))
		s->ops->order(s->engine, order);
	pthread_mutex_unlock(&s->ordering);
}

void plumb_session_pause(struct plumb_session *s)
{
	if (pl_session_forked(s))
		return;
	pl_session_order(s, (struct pl_order){.kind = PL_ORDER_PAUSE});
	pl_session_pause_began(s);
}

void plumb_session_resume(struct plumb_session *s)
{
	if (pl_session_forked(s))
		return;
	pl_session_order(s, (struct pl_order){.kind = PL_ORDER_RESUME});
	pl_session_pause_ended(s);
}

struct plumb_error *plumb_session_set_rate(struct plumb_session *s, double rate_hz)
{
	struct plumb_error *err = pl_session_check_rate(rate_hz);

	if (err || (err = pl_session_check_forked(s)))
		return err;
	struct pl_order order = {.kind = PL_ORDER_PERIOD, .period_ns = pl_session_period_ns(rate_hz)};
	pl_session_order(s, order);
	pthread_mutex_lock(&s->work);
	s->options.period_ns = order.period_ns;
	pthread_mutex_unlock(&s->work);
	return NULL;
}
