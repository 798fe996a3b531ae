/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/export: what happened, as a member of JSON. */
#ifndef PL_EVENTS_JSON_H
#define PL_EVENTS_JSON_H

#include "json.h"
#include "view.h"

/** The member `events`: those that pass, by time; nothing if there are none. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_events_json(const struct plumb_profile *p, const struct pl_filter *f,
				   struct pl_json *j) PLUMB_MUST_CHECK;
/** The member `labels` of an event, an object; nothing if it has none. */
void pl_event_json_labels(struct pl_json *j, const struct plumb_profile *p, uint32_t labels);
/** The word of a kind; of one that only a newer plumb knows, "other". */
const char *pl_event_word(uint8_t kind);

#endif
