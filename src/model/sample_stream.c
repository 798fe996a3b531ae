/* SPDX-License-Identifier: Apache-2.0 */
/* All samples of a profile, one after the other (layer model). One thread at a time: a stream has a place in its file.
 */
#include "profile.h"

bool pl_profile_is_timed(const struct plumb_profile *p)
{
	return p->stream.each != NULL && !p->meta.untimed;
}

bool pl_profile_has_time(const struct plumb_profile *p)
{
	return pl_profile_is_timed(p) || p->axis.count > 1;
}

static struct plumb_error *each_cell(const struct plumb_profile *p, pl_sample_fn *fn, void *ctx)
{
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < p->cell_count && !err; i++) {
		const struct pl_cell *c = &p->cells[i];
		struct pl_sample s = {.time_ns = c->batch * p->batch_ns,
				      .thread = c->thread,
				      .stack = c->stack,
				      .state = c->state,
				      .quality = c->quality,
				      .weight_ns = c->weight_ns,
				      .extra = c->samples - 1};

		if (c->samples)
			err = fn(ctx, &s);
	}
	return err;
}

struct plumb_error *pl_profile_each(const struct plumb_profile *p, pl_sample_fn *fn, void *ctx)
{
	return p->stream.each ? p->stream.each(p->stream.ctx, fn, ctx) : each_cell(p, fn, ctx);
}
