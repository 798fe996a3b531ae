/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/session: what happened while a session ran (docs/design/022-events.md). */
#ifndef PL_SESSION_EVENTS_H
#define PL_SESSION_EVENTS_H

#include "engine.h"
#include "events.h"

/** One that was told, and is not taken over yet. */
struct pl_told_event {
	struct pl_engine_event said; /* pid 0: of none */
	uint64_t duration_ns;
	enum pl_event_kind kind;
};

/** What was known of a process when it was last looked at. */
struct pl_seen_life {
	uint32_t program;
	bool ended;
};

struct pl_session_events {
	PL_VEC(struct pl_told_event) told; /* guarded by `lock`, as all but `lives` */
	uint64_t lost;			   /* that were too many at once */
	uint64_t pause_ns,
		pause_at_ns; /* CLOCK_MONOTONIC and time of the session when a pause began; 0: there is none */
	PL_VEC(struct pl_seen_life) lives; /* of the processes of the profile. Under `work` */
	uint64_t begin_boot_ns;		   /* the session began then, since the machine did */
	uint64_t suspended_ns;		   /* for which we had stood still when it was told last. Under `work` */
};

struct plumb_session;

/** What a program that is sampled from outside has said. Under `work`. */
void pl_session_heard(void *session, struct pl_engine_event *e);
void pl_session_events_begin(struct plumb_session *s);
void pl_session_events_deinit(struct plumb_session *s);
/** Put what happened into profile and recording. Under `work`. */
struct plumb_error *pl_session_take_events(struct plumb_session *s) PLUMB_MUST_CHECK;
/** A pause has begun, or is over: again nothing changes. */
void pl_session_pause_began(struct plumb_session *s);
void pl_session_pause_ended(struct plumb_session *s);

#endif
