/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine. See queue.h for the thread rules. */
#include "queue.h"

#include <stdlib.h>

struct plumb_error *pl_queue_init(struct pl_queue *q)
{
	*q = (struct pl_queue){.slots = calloc(PL_QUEUE_SLOTS, sizeof *q->slots), .wake_up = PL_WAKE_UP_INIT};
	return q->slots ? NULL : &pl_err_no_memory;
}

void pl_queue_deinit(struct pl_queue *q)
{
	free(q->slots);
}

uint32_t pl_queue_room(const struct pl_queue *q)
{
	uint64_t used = atomic_load_explicit(&q->tail, memory_order_relaxed) -
			atomic_load_explicit(&q->head, memory_order_acquire);

	return PL_QUEUE_SLOTS - (uint32_t)used;
}

void pl_queue_push(struct pl_queue *q, const struct pl_record *r)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	q->slots[tail % PL_QUEUE_SLOTS] = *r;
	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
	if (pl_queue_room(q) == PL_QUEUE_SLOTS / 2)
		pl_queue_wake(q);
}

void pl_queue_wake(struct pl_queue *q)
{
	pl_wake_up_send(&q->wake_up);
}

bool pl_queue_peek(const struct pl_queue *q, struct pl_record *ret)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&q->tail, memory_order_acquire))
		return false;
	*ret = q->slots[head % PL_QUEUE_SLOTS];
	return true;
}

bool pl_queue_pop(struct pl_queue *q, struct pl_record *ret)
{
	if (!pl_queue_peek(q, ret))
		return false;
	atomic_fetch_add_explicit(&q->head, 1, memory_order_release);
	return true;
}

void pl_queue_wait(struct pl_queue *q, int timeout_ms)
{
	struct timespec timeout = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L};

	(void)pl_wake_up_wait(&q->wake_up, timeout_ms < 0 ? NULL : &timeout);
}
