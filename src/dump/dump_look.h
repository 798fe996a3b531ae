/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at one thread for a dump, until its stack is proved; one of a core is looked at once. */
#ifndef PL_DUMP_LOOK_H
#define PL_DUMP_LOOK_H

#include "dump.h"
#include "dump_wait.h"
#include "lock_wait.h"
#include "mem_pages.h"
#include "native.h"
#include "python_process.h"
#include "variables.h"

/** Who looks: at one process, thread by thread. */
struct pl_looker {
	const struct pl_dump_options *o;
	struct pl_python_process *process;
	struct pl_dump *d;
	struct pl_surroundings *around;
	struct pl_values values; /* with --locals: of what stands still, through `pages` */
	struct pl_mem_pages *pages;
	struct pl_native *native;      /* with --native; NULL: not asked for */
	struct pl_values *lock_values; /* for what is waited for: of what stands still, as it is */
	uint64_t end_ns;	       /* when to stop proving */
	uint64_t locals_end_ns;	       /* and reading variables, of what lives */
	uint32_t locals_late;	       /* threads whose variables were not read for that */
	/* while a thread is stopped */
	struct pl_variables *variables; /* where to put them */
	bool variables_taken;
	struct pl_native_taken *native_taken; /* where to put what its native frames are made of */
};

/** What the kernel said of a thread: to see later whether it has run since. */
struct pl_stand {
	struct pl_run_counters counters;
	enum pl_activity activity;
	struct pl_activity_info info;
};
bool pl_stand_holds(const struct pl_stand *s, const struct pl_thread_sampler *thread);

/** What one look found. Start with {0}. */
struct pl_look {
	struct pl_raw_sample sample;
	struct pl_stand stand;
	bool read;	/* sample is valid */
	bool agrees;	/* it did not run between the first and the last glance at it */
	bool exception; /* one is raised or handled */
	bool jit, jit_known;
	pl_addr holder; /* of the GIL, if it was read; else 0 */
	struct pl_dump_wait wait;
	struct pl_lock_wait lock_wait;
	struct pl_variables variables; /* of a proved stack */
	struct pl_native_taken native;
};
void pl_look_deinit(struct pl_look *l);

struct plumb_error *pl_looker_init(struct pl_looker *u) PLUMB_MUST_CHECK;
void pl_looker_deinit(struct pl_looker *u);
/** Look again and again; the best look is *ret. False: the thread is gone. */
bool pl_look_until_proved(struct pl_looker *u, struct pl_thread_sampler *thread, struct pl_look *ret);
/** A thread that runs no Python, and runs: it is stopped for l->native, which is not taken if it blocks meanwhile. */
void pl_look_at_native(struct pl_looker *u, pid_t tid, struct pl_look *l);

#endif
