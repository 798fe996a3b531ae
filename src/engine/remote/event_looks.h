/* SPDX-License-Identifier: Apache-2.0 */
/* What processes say with plumb.event(), once a round. Sampling thread only. */
#ifndef PL_EVENT_LOOKS_H
#define PL_EVENT_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct pl_engine;
struct pl_target;

/** Hand over what is new. @p last: there is no further look. */
void pl_event_looks_take(struct pl_engine *e, struct pl_target *t, bool last);
void pl_event_looks_take_all(struct pl_engine *e, bool last);

#endif
