/* SPDX-License-Identifier: Apache-2.0 */
/* A dump in words: what a thread is doing, as one sentence. Inside the layer only. */
#ifndef PL_DUMP_WORDS_H
#define PL_DUMP_WORDS_H

#include <stdio.h>

#include "dump_export.h"

/* All text of the target goes out as it is: whoever shows it makes it printable. */
/** What a thread waits for, as it follows "waits": "for lock 0x7f.. (threading.Lock)", "for an item of queue.Queue
 * 0x7f..", "for worker-1 (4250) to end". */
void pl_dump_words_awaited(const struct pl_dump_process *p, const struct pl_dump_awaited *a, FILE *out);
/** ", held by worker-1 (4250)", ", held; by whom is not known", or nothing. @p tid: of the thread that waits; 0: of
 * several. */
void pl_dump_words_holder(const struct pl_dump_process *p, const struct pl_dump_awaited *a, uint64_t tid, FILE *out);
/** "deadlock: worker-1 (4250) waits for ..., held by worker-2 (4251), which waits for ...", of deadlock @p i. */
void pl_dump_words_deadlock(const struct pl_dump_process *p, size_t i, FILE *out);
/** "2 threads wait for ..., held by ...: worker-1 (4250), worker-2 (4251)", of thing @p i of those awaited. */
void pl_dump_words_waiters(const struct pl_dump_process *p, size_t i, FILE *out);
/** "worker-1 (4250)". */
void pl_dump_words_thread(const struct pl_dump_process *p, uint64_t tid, FILE *out);
/** What a suspended task waits for: "sleeping", "waiting for lock 0x7f.. (asyncio.Lock), held by Task-3", "waiting";
 * what follows if it is other tasks, @p others puts, and returns false if there are none. */
typedef bool pl_others_fn(void *ctx, FILE *out);
void pl_dump_words_task_wait(const struct pl_dump_process *p, const struct pl_dump_task *t, pl_others_fn *others,
			     void *ctx, FILE *out);
/** As pl_dump_words_deadlock and pl_dump_words_waiters, of tasks, which have their functions and lines with them. */
void pl_dump_words_task_deadlock(const struct pl_dump_process *p, size_t i, FILE *out);
void pl_dump_words_task_waiters(const struct pl_dump_process *p, size_t i, FILE *out);
/** The descriptors it waits for, if there are several: one a row, in the end how many more. */
size_t pl_dump_rows(const struct pl_dump_thread *t);
void pl_dump_row(const struct pl_dump_thread *t, size_t i, FILE *out);
/** Is this what one looks for when a program hangs? */
bool pl_dump_is_suspect(const struct pl_dump_thread *t);

#endif
