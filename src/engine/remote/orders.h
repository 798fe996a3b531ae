/* SPDX-License-Identifier: Apache-2.0 */
/* What the sampling thread is told while it samples. Orders are rare: they may wait for it, never it for them. */
#ifndef PL_ORDERS_H
#define PL_ORDERS_H

#include <pthread.h>
#include <stdbool.h>

#include "wake_up.h"
#include "engine.h"

struct pl_orders {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pl_order order;
	bool pending; /* given and not carried out */
	bool over;    /* nobody carries them out any more */
	uint64_t given, done;
	uint64_t patience_ns; /* for which whoever gives one waits; 0: as long as it takes */
};

void pl_orders_init(struct pl_orders *o);
void pl_orders_deinit(struct pl_orders *o);
/** Any thread: wake with @p wake_up, return when it is carried out or never will be, or when patience is over: then it
 * may be carried out later, or was not taken as one before it was not carried out either. */
void pl_orders_give(struct pl_orders *o, struct pl_order order, struct pl_wake_up *wake_up);
/** The sampling thread: false if there is none. */
bool pl_orders_next(struct pl_orders *o, struct pl_order *ret);
void pl_orders_done(struct pl_orders *o);
void pl_orders_close(struct pl_orders *o);

#endif
