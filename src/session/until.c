/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: ending the sampling when the shares are known well enough. By whoever is the consumer. */
#include "session_parts.h"

#include "clock.h"
#include "own_code.h"

/* A look takes the time of the consumer, not of the sampling thread, and no more than this part of it. */
#define LOOK_COST 50
/* Looks are a second apart, and a tenth of what was sampled: so they are few. */
#define LOOK_EVERY_NS PL_NS_PER_S
#define LOOK_GROWTH   10
/* An interval that was waited for is met more likely while it happens to be too narrow, so it has to be met so often in
 * a row: docs/internals/statistics.md. */
#define LOOKS_IN_A_ROW 2

double pl_session_half_width(const struct plumb_session *s)
{
	const struct pl_filter none = {0};
	pl_tree_rows rows = {0};
	struct plumb_error *err = pl_own_code_tree(s->profile, &none, PL_OWN_CODE_MIN_SHARE, &rows);
	double half = err ? 1 : pl_own_code_half_width(&rows, 1);

	plumb_error_destroy(err);
	pl_vec_deinit(&rows);
	return half;
}

bool pl_session_is_known(const struct plumb_session *s)
{
	return s->known_looks >= LOOKS_IN_A_ROW;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void pl_session_end_when_known(struct plumb_session *s)
{
	uint64_t begin_ns, took_ns;

	if (s->until <= 0 || s->stats.ended || s->stats.elapsed_ns < s->next_look_ns)
		return;
	begin_ns = pl_clock_monotonic_ns();
	s->known_looks = s->samples && pl_session_half_width(s) <= s->until ? s->known_looks + 1 : 0;
	if (pl_session_is_known(s))
		s->ops->stop(s->engine);
	took_ns = pl_clock_monotonic_ns() - begin_ns;
	s->next_look_ns = s->stats.elapsed_ns +
			  larger(larger(LOOK_EVERY_NS, s->stats.elapsed_ns / LOOK_GROWTH), LOOK_COST * took_ns);
}
