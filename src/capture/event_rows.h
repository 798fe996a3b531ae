/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: events into a section. */
#ifndef PL_CAPTURE_EVENT_ROWS_H
#define PL_CAPTURE_EVENT_ROWS_H

#include "buf.h"
#include "events.h"

/** Append the section of @p events to @p raw; nothing if there are none. */
struct plumb_error *pl_event_rows_encode(const pl_event_vec *events, struct pl_buf *raw) PLUMB_MUST_CHECK;

#endif
