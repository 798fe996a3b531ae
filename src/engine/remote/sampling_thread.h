/* SPDX-License-Identifier: Apache-2.0 */
/* The sampling thread: the clock, orders, the budget. */
#ifndef PL_SAMPLING_THREAD_H
#define PL_SAMPLING_THREAD_H

#include <stdint.h>

struct pl_engine;

void *pl_sampling_thread_main(void *engine);
/** Let the figures of `now` be seen. */
void pl_sampling_thread_publish(struct pl_engine *e, uint64_t now);

#endif
