/* SPDX-License-Identifier: Apache-2.0 */
/* Orders are carried out one at a time, each once, and whoever gave one waits for that or for the end. */
#include "unit.h"

#include <stdatomic.h>

#include "orders.h"

#define GIVERS 4
#define EACH   500

struct office {
	struct pl_orders orders;
	struct pl_wake_up wake_up;
	atomic_ulong sum;	 /* of what was carried out */
	atomic_ulong done_early; /* orders that came back before they were carried out */
	unsigned long limit;
};

static void *carry_out(void *ctx)
{
	struct office *o = ctx;
	struct pl_order order;

	for (unsigned long n = 0; n < o->limit;) {
		(void)pl_wake_up_wait(&o->wake_up, NULL);
		if (!pl_orders_next(&o->orders, &order))
			continue;
		atomic_fetch_add(&o->sum, order.period_ns);
		pl_orders_done(&o->orders);
		n++;
	}
	pl_orders_close(&o->orders);
	return NULL;
}

static void *give(void *ctx)
{
	struct office *o = ctx;

	for (int i = 0; i < EACH; i++) {
		unsigned long before = atomic_load(&o->sum);

		pl_orders_give(&o->orders, (struct pl_order){.kind = PL_ORDER_PERIOD, .period_ns = 3}, &o->wake_up);
		atomic_fetch_add(&o->done_early, atomic_load(&o->sum) < before + 3);
	}
	return NULL;
}

/* @p limit orders are carried out; nobody waits for the rest. */
static void run(unsigned long limit, unsigned long early)
{
	struct office o = {.wake_up = PL_WAKE_UP_INIT, .limit = limit};
	pthread_t givers[GIVERS], worker;

	pl_orders_init(&o.orders);
	assert_int_equal(pthread_create(&worker, NULL, carry_out, &o), 0);
	for (int i = 0; i < GIVERS; i++)
		assert_int_equal(pthread_create(&givers[i], NULL, give, &o), 0);
	for (int i = 0; i < GIVERS; i++)
		pthread_join(givers[i], NULL);
	pthread_join(worker, NULL);
	assert_int_equal(atomic_load(&o.sum), 3 * limit);
	assert_int_equal(atomic_load(&o.done_early), early);
	pl_orders_deinit(&o.orders);
}

static void each_is_carried_out_before_it_returns(void **state)
{
	run(GIVERS * EACH, 0);
}

static void at_the_end_nobody_waits(void **state)
{
	run(0, GIVERS * EACH);
}

/* Nor for the one that it finds there. */
static void nobody_waits_beyond_their_patience(void **state)
{
	struct pl_orders orders;
	struct pl_wake_up wake_up = PL_WAKE_UP_INIT;
	struct pl_order order;

	pl_orders_init(&orders);
	orders.patience_ns = 1000;
	pl_orders_give(&orders, (struct pl_order){.period_ns = 1}, &wake_up);
	pl_orders_give(&orders, (struct pl_order){.period_ns = 2}, &wake_up);
	assert_true(pl_orders_next(&orders, &order));
	assert_int_equal(order.period_ns, 1);
	pl_orders_done(&orders);
	assert_false(pl_orders_next(&orders, &order));
	pl_orders_give(&orders, (struct pl_order){.period_ns = 3}, &wake_up);
	assert_true(pl_orders_next(&orders, &order));
	assert_int_equal(order.period_ns, 3);
	pl_orders_deinit(&orders);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_carried_out_before_it_returns),
		cmocka_unit_test(at_the_end_nobody_waits),
		cmocka_unit_test(nobody_waits_beyond_their_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
