/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: the sides of a comparison, added up and filtered. */
#include "diff_sides.h"

#include "refine.h"

static struct plumb_error *add_up(const struct pl_diff_input *in, struct plumb_profile **ret)
{
	struct plumb_error *err = pl_profile_create(ret);

	for (size_t i = 0; i < in->count && !err; i++)
		err = pl_profile_merge(*ret, in->profiles[i]);
	return err;
}

static struct plumb_error *init_side(struct pl_diff_sides *s, int side, const struct pl_diff_input *in,
				     const struct pl_filter *f)
{
	const struct pl_refine r = {.threads = f->threads,
				    .thread_count = f->thread_count,
				    .processes = f->processes,
				    .process_count = f->process_count,
				    .skip_idle = f->idle == PL_IDLE_SKIP_SAMPLES};
	struct plumb_error *err = in->count > 1 ? add_up(in, &s->sum[side]) : NULL;

	if (err)
		return err;
	s->shown[side] = s->sum[side] ? s->sum[side] : in->profiles[0];
	if (!pl_refine_asks(&r))
		return NULL;
	err = pl_refine(s->shown[side], &r, &s->part[side]);
	s->shown[side] = s->part[side];
	return err;
}

struct plumb_error *pl_diff_sides_init(struct pl_diff_sides *s, const struct pl_diff_input sides[PL_DIFF_SIDES],
				       const struct pl_filter *filter)
{
	struct plumb_error *err = NULL;

	*s = (struct pl_diff_sides){0};
	for (int side = 0; side < PL_DIFF_SIDES && !err; side++)
		err = init_side(s, side, &sides[side], filter);
	return err;
}

void pl_diff_sides_deinit(struct pl_diff_sides *s)
{
	for (int side = 0; side < PL_DIFF_SIDES; side++) {
		pl_profile_destroy(s->part[side]); /* it reads the sum */
		pl_profile_destroy(s->sum[side]);
	}
	*s = (struct pl_diff_sides){0};
}
