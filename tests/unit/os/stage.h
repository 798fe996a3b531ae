/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes of a test that wait for each other on words in shared memory, and what /proc says of a thread. All
 * waits of ours are bounded: a test that waits in vain fails. */
#ifndef PL_TEST_STAGE_H
#define PL_TEST_STAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef _Atomic uint32_t stage_word;

/** Zeroed memory that a forked child shares with us. */
void *stage_share(size_t size);
/** fork(); the child dies with us, and after an hour at the latest. */
pid_t stage_fork(void);
void stage_set(stage_word *w, uint32_t value);
/** Wait until *w >= value. */
void stage_await(stage_word *w, uint32_t value);
/** Block for ever. */
_Noreturn void stage_block(void);
/** SIGKILL and reap our child. */
void stage_kill(pid_t pid);

/** State letter of a thread, 0 if there is none. */
char stage_state(pid_t pid, pid_t tid);
/** Wait until the thread is in one of @p states ("" and a thread that is gone: until it is gone). */
void stage_await_state(pid_t pid, pid_t tid, const char *states);
/** TracerPid of a thread, -1 if there is none. */
int stage_tracer(pid_t pid, pid_t tid);
/** True as soon as the process has ended. */
bool stage_ended(pid_t pid);
/** Wait until the counter has passed @p value. */
void stage_await_count(const _Atomic uint64_t *count, uint64_t value);

#endif
