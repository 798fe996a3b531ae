/* SPDX-License-Identifier: Apache-2.0 */
/* Names and lines of samples, into the profile. Consumer thread only. */
#ifndef PL_RESOLVE_H
#define PL_RESOLVE_H

#include <stdbool.h>

#include "engine.h"
#include "error.h"
#include "profile.h"
#include "records.h"

struct pl_resolver;

/** With the texts of files if there are to be sources, those of tags below the stacks that bear one, and max_nodes
 * threads: further ones are one row. 0: no limit. */
struct plumb_error *pl_resolver_create(const struct pl_engine_options *o, struct pl_resolver **ret) PLUMB_MUST_CHECK;
void pl_resolver_destroy(struct pl_resolver *r);
/** Can this record be taken now? False: a name that it needs is being read. @p patient: that is waited for. */
bool pl_resolver_ready(struct pl_resolver *r, const struct pl_record *rec, bool patient);
/** A name that is not there by now is not waited for: the record can be taken. */
void pl_resolver_give_up(struct pl_resolver *r, const struct pl_record *rec);
struct plumb_error *pl_resolver_take(struct pl_resolver *r, const struct pl_record *rec, struct plumb_profile *p,
				     pl_engine_sample_fn *fn, void *ctx) PLUMB_MUST_CHECK;
/** After some of these: read the files that they have named for the first time. @p all: nothing comes any more. */
struct plumb_error *pl_resolver_read_texts(struct pl_resolver *r, struct plumb_profile *p, bool all) PLUMB_MUST_CHECK;

#endif
