/* SPDX-License-Identifier: Apache-2.0 */
/* Of what and by what an OTLP profile is. */
#ifndef PL_OTLP_SOURCE_H
#define PL_OTLP_SOURCE_H

#include "otlp_tables.h"

/** Field `resource` of a ResourceProfiles: the process. */
struct plumb_error *pl_otlp_resource(struct pl_otlp_tables *t, struct pl_pb *w,
				     const struct pl_process *proc) PLUMB_MUST_CHECK;
/** Field `scope` of a ScopeProfiles: plumb, what was recorded, and what was missed. @p made_by may be NULL. */
struct plumb_error *pl_otlp_instrument(struct pl_otlp_tables *t, struct pl_pb *w, const char *made_by) PLUMB_MUST_CHECK;

#endif
