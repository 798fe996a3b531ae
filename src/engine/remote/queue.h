/* SPDX-License-Identifier: Apache-2.0 */
/* The bounded queue from the sampling thread to the consumer: one writer, one reader, no locks. A full queue is a
 * counted loss, never a wait: a slow disk must not skew the clock. */
#ifndef PL_QUEUE_H
#define PL_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "records.h"
#include "wake_up.h"

#define PL_QUEUE_SLOTS 16384u /* a power of two; 512 KiB */

struct pl_queue {
	struct pl_record *slots;
	_Atomic uint64_t head, tail; /* written by the reader, by the writer */
	struct pl_wake_up wake_up;   /* wakes the reader when the queue is half full, or at the end */
};

struct plumb_error *pl_queue_init(struct pl_queue *q) PLUMB_MUST_CHECK;
void pl_queue_deinit(struct pl_queue *q);

/* writer */
uint32_t pl_queue_room(const struct pl_queue *q);
void pl_queue_push(struct pl_queue *q, const struct pl_record *r); /* only if there is room */
void pl_queue_wake(struct pl_queue *q);

/* reader */
bool pl_queue_peek(const struct pl_queue *q, struct pl_record *ret); /* the one that is next */
bool pl_queue_pop(struct pl_queue *q, struct pl_record *ret);
/** Wait until woken or until @p timeout_ms have passed; what comes meanwhile gathers. */
void pl_queue_wait(struct pl_queue *q, int timeout_ms);

#endif
