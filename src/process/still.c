/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; see still.h. */
#include "still.h"

#define AVERAGE_OVER 16	       /* samples */
#define REGRET_NS    1000000.0 /* of the program's time: then the other way is taken */
#define CLEARLY	     1.25      /* times what the other way costs */
#define TRIAL_AFTER  256.0     /* samples of the other way could have been paid for: it is tried again */

/* Of a sample in a way that was never taken. To go to a thread's processor for the first time costs ticks of the clock,
 * which are samples: not worth it as long as a stop costs little. */
static const double usual_ns[PL_STILL_WAYS] = {[PL_STILL_STOP] = 25000.0, [PL_STILL_BESIDE] = 50000.0};

static double cost_ns(const struct pl_still *s, enum pl_still_way way)
{
	return s->cost_ns[way] > 0 ? s->cost_ns[way] : usual_ns[way];
}

static enum pl_still_way other_way(enum pl_still_way way)
{
	return way == PL_STILL_STOP ? PL_STILL_BESIDE : PL_STILL_STOP;
}

static void take(struct pl_still *s, enum pl_still_way way)
{
	s->way = way;
	s->spent_ns = s->regret_ns = 0;
}

/* A stop that costs no more than standing beside usually does needs no trial. */
static bool trial_is_due(const struct pl_still *s, enum pl_still_way other)
{
	return s->spent_ns > TRIAL_AFTER * cost_ns(s, other) && cost_ns(s, s->way) > usual_ns[other];
}

void pl_still_note(struct pl_still *s, enum pl_still_way way, uint64_t ns)
{
	enum pl_still_way other = other_way(way);

	s->cost_ns[way] = cost_ns(s, way) + ((double)ns - cost_ns(s, way)) / AVERAGE_OVER;
	if (way != s->way)
		return;
	s->spent_ns += (double)ns;
	s->regret_ns += (double)ns - CLEARLY * cost_ns(s, other);
	if (s->regret_ns < 0)
		s->regret_ns = 0;
	if (s->regret_ns > REGRET_NS || trial_is_due(s, other))
		take(s, other);
}

void pl_still_failed(struct pl_still *s, enum pl_still_way way)
{
	if (way == s->way)
		take(s, other_way(way));
}
