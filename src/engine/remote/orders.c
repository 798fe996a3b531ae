/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine; see orders.h. */
#include "orders.h"

#include "clock.h"

void pl_orders_init(struct pl_orders *o)
{
	pthread_condattr_t attr;

	*o = (struct pl_orders){0};
	pthread_mutex_init(&o->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&o->changed, &attr);
	pthread_condattr_destroy(&attr);
}

void pl_orders_deinit(struct pl_orders *o)
{
	pthread_cond_destroy(&o->changed);
	pthread_mutex_destroy(&o->lock);
}

/* Until something has changed. False: the time is over. */
static bool wait_until(struct pl_orders *o, uint64_t end_ns)
{
	const struct timespec end = {.tv_sec = (time_t)(end_ns / PL_NS_PER_S), .tv_nsec = (long)(end_ns % PL_NS_PER_S)};

	if (o->patience_ns)
		return pthread_cond_timedwait(&o->changed, &o->lock, &end) == 0;
	return pthread_cond_wait(&o->changed, &o->lock) == 0;
}

void pl_orders_give(struct pl_orders *o, struct pl_order order, struct pl_wake_up *wake_up)
{
	const uint64_t end_ns = pl_clock_monotonic_ns() + o->patience_ns;
	bool in_time = true;

	pthread_mutex_lock(&o->lock);
	while (o->pending && !o->over && in_time)
		in_time = wait_until(o, end_ns);
	if (!o->over && !o->pending) {
		o->order = order;
		o->pending = true;
		uint64_t mine = ++o->given;
		pl_wake_up_send(wake_up);
		while (o->done < mine && !o->over && in_time)
			in_time = wait_until(o, end_ns);
	}
	pthread_mutex_unlock(&o->lock);
}

bool pl_orders_next(struct pl_orders *o, struct pl_order *ret)
{
	pthread_mutex_lock(&o->lock);
	bool pending = o->pending;
	*ret = o->order;
	pthread_mutex_unlock(&o->lock);
	return pending;
}

void pl_orders_done(struct pl_orders *o)
{
	pthread_mutex_lock(&o->lock);
	o->pending = false;
	o->done = o->given;
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

void pl_orders_close(struct pl_orders *o)
{
	pthread_mutex_lock(&o->lock);
	o->over = true;
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
}
