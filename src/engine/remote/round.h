/* SPDX-License-Identifier: Apache-2.0 */
/* One round: every thread of every process once. Sampling thread only. */
#ifndef PL_ROUND_H
#define PL_ROUND_H

#include <stddef.h>
#include <stdint.h>

#include "mode.h"

struct pl_engine;
struct pl_target;

void pl_round(struct pl_engine *e, uint64_t now, uint64_t weight_ns);
/** In the recording, of what is seen now. */
uint64_t pl_round_time(struct pl_engine *e);
/** Sample thread number @p i of @p t; it may leave. */
enum pl_round_result pl_round_one(struct pl_engine *e, struct pl_target *t, size_t i, uint64_t weight_ns);
/** Each thread once. */
enum pl_round_result pl_round_all(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns);

#endif
