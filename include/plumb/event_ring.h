/* SPDX-License-Identifier: Apache-2.0 */
/* Where a program leaves what it says with plumb.event(), for sessions of other processes: a ring in its own memory,
 * which it writes whether or not anybody reads, and never waits for who does. docs/design/022-events.md */
#ifndef PLUMB_EVENT_RING_H
#define PLUMB_EVENT_RING_H

#include <stdint.h>

#define PLUMB_EVENT_RING_MAGIC 0x31474e5245424c50ull /* of this layout; another one has another */
#define PLUMB_EVENT_LABELS     16		     /* at most, of one event */
#define PLUMB_EVENT_TEXT_BYTES 10240		     /* at most, of one event */

/** Where it is. Addresses are those of the program. */
struct plumb_event_place {
	uint64_t magic;
	uint32_t slots, slot_bytes; /* slots: a power of two; slot_bytes: sizeof(struct plumb_event_slot) */
	uint32_t texts, head_bytes; /* texts: bytes of them, a power of two */
	uint64_t ring;		    /* a struct plumb_event_head, then the slots, then the texts; 0: nothing was said */
};

/** Both only grow, and before anything is written for which they make room. All zeros in the child of a fork. */
struct plumb_event_head {
	uint64_t said;	    /* events so far: that of number n is in slot n modulo `slots` */
	uint64_t texts_end; /* bytes of texts so far: byte n is at n modulo `texts` */
	uint64_t unused[6];
};

/** Its text is the name, and labels: names and values in turn, each with a NUL behind it. */
struct plumb_event_slot {
	uint64_t number;  /* 1 + its number, which is written last; else it is not whole */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t text_at; /* byte at which its text begins */
	uint32_t tid;	  /* what its thread calls itself */
	uint16_t name_len, labels_len;
};

#endif
