/* SPDX-License-Identifier: Apache-2.0 */
/* Handing over to the consumer. Sampling thread only. */
#ifndef PL_SEND_H
#define PL_SEND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pl_engine;
struct pl_look_at_lock;
struct pl_raw_sample;
struct pl_sampled;
struct pl_target;
struct pl_tasks_waiting;

/** Tell the consumer about a process, with its program unless it has ended. */
void pl_send_process(struct pl_engine *e, struct pl_target *t, bool ended, uint64_t now);
/** Note how the process sees files: before any code of it is. */
void pl_send_look_at_view(struct pl_engine *e, struct pl_target *t);
/** Judge the codes that were met since the last call, all of them by the thread @p tid: whose files are they? */
void pl_send_judge_codes(struct pl_engine *e, struct pl_target *t, pid_t tid);
/** What we know of a thread; of its process first. */
void pl_send_thread(struct pl_engine *e, struct pl_sampled *thread);
/** What a tick found; @p s: NULL, nothing. */
void pl_send_sample(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t weight_ns);
/** A sample of @p time_ns whose weight is known. */
void pl_send_weighed(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t time_ns,
		     uint64_t weight_ns);

/** Tasks were looked at: what some of them waited for; the time that this stands for, and what could not be read. */
void pl_send_wait(struct pl_engine *e, struct pl_sampled *thread, const struct pl_tasks_waiting *wait);
/** The lock that the next sample, of @p waiter, waited for. */
void pl_send_lock(struct pl_engine *e, struct pl_sampled *waiter, const struct pl_look_at_lock *look);
void pl_send_look(struct pl_engine *e, uint64_t stands_ns, uint64_t lost_ns);

#endif
