/* SPDX-License-Identifier: Apache-2.0 */
/* The ring in which a program leaves its events (<plumb/event_ring.h>), read while it goes on writing. Pure over a
 * memory reader; hostile: whatever is there, a look copies so much and no more. */
#ifndef PL_EVENT_RING_H
#define PL_EVENT_RING_H

#include "mem.h"

#include <plumb/event_ring.h>

#define PL_EVENTS_A_LOOK   1024u
#define PL_EVENT_TEXTS_MAX (256u << 10)

/** Plain data; all zeros but for `place`: nothing was looked at. */
struct pl_event_ring {
	pl_addr place;			/* of a struct plumb_event_place */
	struct plumb_event_place known; /* `ring` 0: nothing has been said yet */
	bool refused;			/* it is none that we know */
	bool looked;			/* there was one: what was said before is known */
	uint64_t next;			/* number of the event that is next */
	uint64_t stuck_ns;		/* since when that one is not whole; 0: it is not so */
};

/** One that was said. */
struct pl_said_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC, as the program says */
	uint32_t tid;	  /* the same */
	uint32_t name_len, labels_len;
	const char *text; /* name, then labels: names and values in turn, each with a NUL behind it */
};

/** What a look is for. */
struct pl_event_look {
	uint64_t now_ns;
	uint64_t since_ns; /* at the first look what was said before is passed over */
	uint32_t most;	   /* events that are taken */
	bool last;	   /* what is not whole by now is lost */
	void (*said)(void *ctx, const struct pl_said_event *e); /* called in their order */
	void *ctx;
	uint64_t lost; /* out: that were overwritten before they were read, or made no sense */
};

struct pl_event_room; /* what looks copy into; one for any number of rings */
struct plumb_error *pl_event_room_create(struct pl_event_room **ret) PLUMB_MUST_CHECK;
void pl_event_room_destroy(struct pl_event_room *room);

/** Take what was said since the last look. What cannot be read is looked for again at the next one. */
void pl_event_ring_look(struct pl_event_ring *r, struct pl_mem *mem, struct pl_event_room *room,
			struct pl_event_look *look);

#endif
