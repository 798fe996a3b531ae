/* SPDX-License-Identifier: Apache-2.0 */
/* What the sampling thread tells the consumer: samples, and of which codes, stacks, threads and processes they are. */
#ifndef PL_RECORDS_H
#define PL_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "detect.h"
#include "target_file.h"

struct pl_engine_event;
struct pl_known_code;

/** Handed to the consumer, who frees it. */
struct pl_thread_info {
	uint32_t index, process; /* numbers in the output */
	uint64_t tid, cpu_ns;
	bool main, cpu_known;
	char name[128];
};

/** The same. Sent when its first thread is known, when it has executed another program, and when it has ended. */
struct pl_process_info {
	uint32_t index, pid, parent;
	uint64_t start_ns; /* since boot; with the pid it names the process */
	uint64_t came_ns, ended_ns;
	bool ended;
	uint32_t view_number; /* grows with each change of the view */
	struct pl_file_view view;
	char python[PL_VERSION_TEXT];
	char name[128], command[4096]; /* of the program */
};

enum pl_record_kind {
	PL_RECORD_SAMPLE,
	PL_RECORD_NODE,
	PL_RECORD_CODE,
	PL_RECORD_THREAD,
	PL_RECORD_PROCESS,
	PL_RECORD_WAIT,
	PL_RECORD_LOOK,
	PL_RECORD_LOCK,
	PL_RECORD_EVENT,
};

/* 32 bytes. Pointers stay valid until the engine is closed, but for THREAD, PROCESS and EVENT, which the reader frees.
 */
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
		struct {
			uint64_t object;
			uint32_t node, inside;	 /* of the holder: its stack, and up to where it is inside `with` */
			uint32_t holder, waiter; /* threads */
		} lock;				 /* that the next sample, of the waiter, waited for */
		struct {
			struct pl_engine_event *info; /* NULL: it tells what was lost alone */
			uint64_t lost;
		} event;
	};
	uint8_t kind : 4, quality : 4;
	uint8_t marker; /* of a lock: it is an RLock */
	uint16_t state; /* of a wait: enum pl_dump_for; of a lock: enum pl_holder_known */
	uint32_t tag;	/* of a sample */
};
_Static_assert(sizeof(struct pl_record) == 32, "a slot of the queue is half a cache line");

#endif
