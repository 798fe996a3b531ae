/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what happened at a moment, beside the samples. They are no samples and no part of cells, and what compares
 * profiles does not look at them. docs/design/022-events.md */
#ifndef PL_EVENTS_H
#define PL_EVENTS_H

#include "profile.h"
#include "vec.h"
#include "view.h"

typedef PL_VEC(struct pl_event) pl_event_vec;

/** Keep an event; its ids are of @p p. Beyond PL_MAX_EVENTS, PL_MAX_PROCESS_EVENTS of its process (of those of none
 * likewise) or PL_MAX_EVENT_TEXT, it is counted in PL_LOSS_EVENTS and no more. */
struct plumb_error *pl_profile_event(struct plumb_profile *p, const struct pl_event *e) PLUMB_MUST_CHECK;
/** Would one of @p process with so many bytes of texts be kept? For whoever adds these only then. */
bool pl_event_has_room(const struct plumb_profile *p, uint32_t process, uint64_t text_bytes);
/** What is added to the times of events for real time: 0 if they are that already. */
uint64_t pl_event_start_ns(const struct plumb_profile *p);
/** Give all of them real times, before @p p is added up. */
void pl_events_to_real(struct plumb_profile *p);
/** How long after the start of @p p that time of an event is; false: of one whose recording did not tell when it began.
 */
bool pl_event_since_ns(const struct plumb_profile *p, uint64_t time_ns, uint64_t *ret);
/** Where an event at @p time_ns stands among the samples of @p p: the same time, but in a profile that was added up,
 * where pauses between recordings have no time. */
uint64_t pl_event_axis_ns(const struct plumb_profile *p, uint64_t time_ns);
/** The process that has this number now or had it last, and its thread, each as those of an event: 0 if it is not
 * known. */
void pl_event_find(const struct plumb_profile *p, uint32_t pid, uint64_t tid, struct pl_event *ret);
/** Of each event whether it is of one of these threads; of a process it is if one of its threads is, and what is of
 * none is of all. @p threads: by thread, NULL for all. *ret is the caller's. */
struct plumb_error *pl_events_of_threads(const struct plumb_profile *p, const bool *threads,
					 bool **ret) PLUMB_MUST_CHECK;
/** Those of the threads that pass, by their time. Errors: PLUMB_ERR_NO_MEMORY. Caller: pl_vec_deinit. */
struct plumb_error *pl_events_by_time(const struct plumb_profile *p, const struct pl_filter *f,
				      pl_event_vec *ret) PLUMB_MUST_CHECK;

#endif
