/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine; see orders.h. */
#include "orders.h"

void pl_orders_init(struct pl_orders *o)
{
	*o = (struct pl_orders){0};
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
}

void pl_orders_deinit(struct pl_orders *o)
{
	pthread_cond_destroy(&o->changed);
	pthread_mutex_destroy(&o->lock);
}

void pl_orders_give(struct pl_orders *o, struct pl_order order, struct pl_wake_up *wake_up)
{
	pthread_mutex_lock(&o->lock);
	while (o->pending && !o->over)
		pthread_cond_wait(&o->changed, &o->lock);
	if (!o->over) {
		o->order = order;
		o->pending = true;
		uint64_t mine = ++o->given;
		pl_wake_up_send(wake_up);
		while (o->done < mine && !o->over)
			pthread_cond_wait(&o->changed, &o->lock);
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
