/* SPDX-License-Identifier: Apache-2.0 */
/* What a mode means for sampling: one row each. Nothing else asks which mode it is. */
#ifndef PL_MODE_H
#define PL_MODE_H

#include <sys/types.h>

#include "profile.h"

struct pl_engine;
struct pl_mem;
struct pl_py;
struct pl_raw_sample;
struct pl_sampled;
struct pl_target;

enum pl_round_result {
	PL_ROUND_TOOK,
	PL_ROUND_NONE, /* there was nothing to take */
	PL_ROUND_GONE, /* the process has ended or runs another program */
};

struct pl_mode_rules {
	/** May this Python be sampled so? NULL: any may. */
	struct plumb_error *(*check)(pid_t pid, struct pl_mem *mem, const struct pl_py *py);
	/** One round of a process: which of its threads? */
	enum pl_round_result (*round)(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns);
	bool running_only; /* as pl_thread_sampler_take */
	bool tells_ready;  /* who is ready and has no CPU is told from who runs */
	uint8_t needs;	   /* bits of a sample's state; without them it does not count */
	/** Hand over what a tick found, NULL: nothing. What does it weigh? */
	void (*send)(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t now,
		     uint64_t weight_ns);
};

const struct pl_mode_rules *pl_mode_rules(enum pl_mode mode);

#endif
