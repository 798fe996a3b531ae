/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine; see mode.h. */
#include "mode.h"

#include "cpu_time.h"
#include "gil_holders.h"
#include "round.h"
#include "send.h"

static void send_by_period(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t now,
			   uint64_t weight_ns)
{
	if (s)
		pl_send_weighed(e, thread, s, now, weight_ns);
}

static const struct pl_mode_rules rules[] = {
	[PL_MODE_WALL] = {.round = pl_round_all, .tells_ready = true, .send = send_by_period},
	[PL_MODE_CPU] = {.round = pl_round_all, .running_only = true, .send = pl_cpu_time_send},
	[PL_MODE_GIL] = {.check = pl_gil_check,
			 .round = pl_round_holders,
			 .needs = PL_STATE_HAS_GIL,
			 .send = send_by_period},
};

const struct pl_mode_rules *pl_mode_rules(enum pl_mode mode)
{
	return &rules[mode];
}
