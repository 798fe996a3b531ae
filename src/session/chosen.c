/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session; see chosen.h. */
#include "chosen.h"

enum pl_idle pl_chosen_idle(enum plumb_idle idle)
{
	static const enum pl_idle known[] = {[PLUMB_IDLE_HIDE_THREADS] = PL_IDLE_HIDE_THREADS,
					     [PLUMB_IDLE_KEEP] = PL_IDLE_KEEP,
					     [PLUMB_IDLE_SKIP_SAMPLES] = PL_IDLE_SKIP_SAMPLES};

	return known[idle];
}

struct pl_filter pl_chosen(const struct plumb_report_options *o)
{
	return (struct pl_filter){.idle = pl_chosen_idle(o->idle),
				  .threads = o->threads,
				  .thread_count = o->thread_count,
				  .processes = o->processes,
				  .process_count = o->process_count,
				  .lines = o->lines};
}
