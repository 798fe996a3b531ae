/* SPDX-License-Identifier: Apache-2.0 */
/* The events that a process says with plumb.event(): whether it has a ring of them (event_ring.h), and what is new in
 * it. That it has is found in the module that makes it, which it may import at any moment. */
#ifndef PL_SAID_EVENTS_H
#define PL_SAID_EVENTS_H

#include "event_ring.h"
#include "ration.h"

struct pl_python_process;

/** Plain data; all zeros: nothing is known, as when the process has become another program. */
struct pl_said_events {
	struct pl_event_ring ring; /* place 0: not found */
	uint64_t modules;	   /* that were imported when it was looked for last */
	uint64_t count_ns;	   /* when to count them again, */
	uint64_t again_ns;	   /* and when to look for it also if they are as many */
	struct pl_ration looks;
};

/** Take what is new. Its threads are listed. */
void pl_said_events_take(struct pl_said_events *s, const struct pl_python_process *p, struct pl_event_room *room,
			 struct pl_event_look *look);

#endif
