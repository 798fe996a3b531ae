/* SPDX-License-Identifier: Apache-2.0 */
/* The bounded queue from the sampling thread to the consumer: one writer, one reader, no locks. A full queue is a
 * counted loss, never a wait: a slow disk must not skew the clock. */
#ifndef PL_QUEUE_H
#define PL_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wake_up.h"
#include "error.h"

#define PL_QUEUE_SLOTS 16384u /* a power of two; 512 KiB */

enum pl_record_kind {
	PL_RECORD_SAMPLE,
	PL_RECORD_NODE,
	PL_RECORD_CODE,
	PL_RECORD_THREAD,
	PL_RECORD_PROCESS,
	PL_RECORD_WAIT,
	PL_RECORD_LOOK,
};

/* 32 bytes. Pointers stay valid until the engine is closed, but for THREAD and PROCESS, which the reader frees. */
struct pl_record {
	union {
		struct {
			uint64_t time_ns, weight_ns;
			uint32_t node, thread;
		} sample;
		struct {
			uint32_t parent, code;
			int32_t offset;
			uint16_t opcode; /* 1 + the opcode; 0: none */
		} node;
		struct {
			const struct pl_known_code *code;
		} code;
		struct {
			struct pl_thread_info *info;
		} thread;
		struct {
			struct pl_process_info *info;
		} process;
		struct {
			uint64_t task_ns;
			uint32_t node, thread, tasks;
		} wait; /* of tasks, by a look at them */
		struct {
			uint64_t stands_ns, lost_ns;
		} look; /* of such waits */
	};
	uint8_t kind, state, quality, marker; /* state of a wait: enum pl_dump_for */
	uint32_t tag;			      /* of a sample */
};
_Static_assert(sizeof(struct pl_record) == 32, "a slot of the queue is half a cache line");

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
bool pl_queue_pop(struct pl_queue *q, struct pl_record *ret);
/** Wait until woken or until @p timeout_ms have passed; what comes meanwhile gathers. */
void pl_queue_wait(struct pl_queue *q, int timeout_ms);

#endif
