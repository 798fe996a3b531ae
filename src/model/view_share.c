/* SPDX-License-Identifier: Apache-2.0 */
/* The share of any kind of samples (layer model). Read-only. */
#include "view.h"

#include "index.h"
#include "select.h"

struct plumb_error *pl_view_share(const struct plumb_profile *p, const struct pl_filter *f, pl_cell_kind_fn *kind_of,
				  const void *ctx, struct pl_share *ret)
{
	uint64_t hit_ns[PL_BATCHES] = {0}, all_ns[PL_BATCHES] = {0}, weight_ns = 0, samples = 0;
	struct pl_share found = {0};
	struct pl_selection s;
	struct plumb_error *err = pl_select(p, f, &s);

	if (err)
		return err;
	for (int b = 0; b < PL_BATCHES; b++) {
		for (uint32_t i = s.start[b]; i < s.start[b + 1]; i++) {
			const struct pl_cell *c = s.cells[i];
			enum pl_cell_kind kind = kind_of(ctx, c);

			if (kind == PL_CELL_OUT)
				continue;
			samples = pl_sum_u64(samples, c->samples);
			all_ns[b] = pl_sum_u64(all_ns[b], c->weight_ns);
			if (kind == PL_CELL_REST)
				continue;
			found.samples = pl_sum_u64(found.samples, c->samples);
			hit_ns[b] = pl_sum_u64(hit_ns[b], c->weight_ns);
			if (c->state & PL_STATE_ON_CPU)
				found.on_cpu_ns = pl_sum_u64(found.on_cpu_ns, c->weight_ns);
		}
		weight_ns = pl_sum_u64(weight_ns, all_ns[b]);
		found.weight_ns = pl_sum_u64(found.weight_ns, hit_ns[b]);
	}
	pl_selection_deinit(&s);
	found.share = weight_ns ? (double)found.weight_ns / (double)weight_ns : 0;
	found.half_width = pl_select_half_width(hit_ns, all_ns, samples);
	*ret = found;
	return NULL;
}
