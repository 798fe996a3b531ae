/* SPDX-License-Identifier: Apache-2.0 */
/* GIL mode: who holds a GIL is sampled. Sampling thread only. */
#ifndef PL_GIL_HOLDERS_H
#define PL_GIL_HOLDERS_H

#include <stdint.h>
#include <sys/types.h>

#include "detect.h"
#include "mem.h"
#include "mode.h"

struct pl_engine;
struct pl_target;

/** Who holds a GIL, once for each. */
enum pl_round_result pl_round_holders(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns);
/** Without a GIL nobody holds it: nothing would ever be sampled. */
struct plumb_error *pl_gil_check(pid_t pid, struct pl_mem *mem, const struct pl_py *py) PLUMB_MUST_CHECK;

#endif
