/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See bursts.h. */
#include "bursts.h"

/* Longer ones count as this long: a thread that begins to block often must be noticed after few of its bursts, and one
 * that blocks often must not pass for another after one long burst: a hypervisor that takes the CPU away makes some. */
#define LONG_NS (2 * PL_BURST_BRIEF_NS)
/* What it did before we came: its start was one long burst, and it may have begun to block only lately. */
#define PAST_SHARE 4

static uint64_t no_more_than_long(uint64_t ns)
{
	return ns < LONG_NS ? ns : LONG_NS;
}

void pl_bursts_begin(struct pl_bursts *b, const struct pl_run_counters *now, uint64_t blocks)
{
	uint64_t ended = blocks == UINT64_MAX ? now->runs : blocks;

	*b = (struct pl_bursts){.begin_ns = now->run_ns, .runs = now->runs, .blocks = blocks};
	b->mean_ns = no_more_than_long((ended ? now->run_ns / ended : now->run_ns) / PAST_SHARE);
}

void pl_bursts_stopped(struct pl_bursts *b)
{
	b->runs++;
	if (b->blocks != UINT64_MAX)
		b->blocks++;
}

/* The run behind our last stop may have begun and not be counted yet, so there may be fewer. */
bool pl_bursts_may_have_ended(const struct pl_bursts *b, const struct pl_run_counters *now)
{
	return now->runs > b->runs;
}

bool pl_bursts_stay_long(struct pl_bursts *b, const struct pl_run_counters *now)
{
	if (b->mean_ns < PL_BURST_BRIEF_NS || now->runs <= b->runs || now->run_ns < b->begin_ns ||
	    (now->run_ns - b->begin_ns) / (now->runs - b->runs) < LONG_NS)
		return false;
	b->begin_ns = now->run_ns;
	b->runs = now->runs;
	b->so_far_ns = 0;
	return true;
}

/* Each burst takes a run at least: blocks of before these runs are not among them. */
static uint64_t ended(const struct pl_bursts *b, const struct pl_run_counters *now, uint64_t blocks)
{
	const uint64_t runs = now->runs - b->runs;

	if (blocks == UINT64_MAX || b->blocks == UINT64_MAX)
		return runs;
	const uint64_t n = blocks > b->blocks ? blocks - b->blocks : 0;
	return n < runs ? n : runs;
}

/* What lasts for so long already counts as much as it takes not to be brief; one brief burst undoes that. */
static void count_one_that_lasts(struct pl_bursts *b)
{
	if (b->so_far_ns >= LONG_NS && b->mean_ns < PL_BURST_BRIEF_NS)
		b->mean_ns = PL_BURST_BRIEF_NS;
}

void pl_bursts_end(struct pl_bursts *b, const struct pl_run_counters *now, uint64_t blocks)
{
	uint64_t n = ended(b, now, blocks);

	b->runs = now->runs;
	b->blocks = blocks;
	if (n == 0) {
		pl_bursts_go_on(b, now);
		count_one_that_lasts(b);
		return;
	}
	b->mean_ns = (3 * b->mean_ns + no_more_than_long((now->run_ns - b->begin_ns) / n)) / 4;
	b->begin_ns = now->run_ns;
	b->so_far_ns = 0;
}

void pl_bursts_go_on(struct pl_bursts *b, const struct pl_run_counters *now)
{
	if (now->run_ns < b->begin_ns)
		return; /* read before the end of the last one was noted */
	uint64_t so_far = now->run_ns - b->begin_ns;

	if (so_far > b->so_far_ns)
		b->so_far_ns = so_far;
}

bool pl_bursts_brief(const struct pl_bursts *b)
{
	return b->mean_ns < PL_BURST_BRIEF_NS && b->so_far_ns < PL_BURST_BRIEF_NS;
}
