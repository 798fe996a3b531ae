/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine; see suspension.h. */
#include "suspension.h"

#include "clock.h"
#include "thread_clock.h"

#define LATE_NS	 PL_NS_PER_S
#define AGAIN_NS (PL_NS_PER_S / 10) /* so that what it did long before does not explain why it is late */

static void read_busy(struct pl_suspension *s, uint64_t now)
{
	struct pl_run_counters counters = {0};

	s->known = pl_thread_clock_counters(s->own, &counters) == PL_CLOCK_OK;
	s->busy_ns = counters.run_ns + counters.delay_ns;
	s->read_ns = now;
}

void pl_suspension_begin(struct pl_suspension *s, const struct pl_thread_clock *own, uint64_t now)
{
	s->own = own;
	read_busy(s, now);
}

bool pl_suspension_was(struct pl_suspension *s, uint64_t due, uint64_t now)
{
	uint64_t late_ns = now > due ? now - due : 0;
	struct pl_suspension before = *s;

	if (late_ns < LATE_NS && now - s->read_ns < AGAIN_NS)
		return false;
	read_busy(s, now);
	return late_ns >= LATE_NS && before.known && s->known && s->busy_ns - before.busy_ns < late_ns / 2;
}

bool pl_suspension_seems(const struct pl_suspension *s, uint64_t due, uint64_t now)
{
	struct pl_suspension asked = *s;

	return s->known && now > due && now - due >= LATE_NS && pl_suspension_was(&asked, due, now);
}
