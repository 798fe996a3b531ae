/* SPDX-License-Identifier: Apache-2.0 */
/* What is judged of a profile: how far its figures can be trusted, in one line. Layer export; pure, any thread. */
#include "summary.h"

#include <math.h>
#include <string.h>

#include "own_code.h"
#include "units.h"
#include "words.h"

/* A share less certain than this is not an answer; how much more it takes is computed for the second. */
#define UNCERTAIN_HALF_WIDTH 0.05
#define WANTED_HALF_WIDTH    0.02
#define HOPELESS_HALF_WIDTH  0.2 /* a hundred times the work for the second */
/* Shares of the time, or of the samples, up to which a profile is good, and from which it is poor. */
#define GOOD_LOSS	0.02
#define POOR_LOSS	0.25
#define POOR_HALF_WIDTH 0.15

static double not_proved(const struct pl_totals *t)
{
	return pl_ratio((double)t->by_quality[PL_DOUBTFUL] + (double)t->by_quality[PL_PARTIAL], (double)t->samples);
}

static uint64_t lost(const struct plumb_profile *p)
{
	uint64_t any = p->meta.damaged_parts;

	for (int i = 0; i < PL_LOSSES; i++)
		any |= pl_losses[i].flaw ? p->meta.losses[i] : 0;
	return any;
}

static double unreadable(const struct pl_summary *s, const struct plumb_profile *p)
{
	double times = (double)p->meta.losses[PL_LOSS_UNREADABLE];

	return pl_ratio(times, times + (double)s->totals.samples);
}

static const char *grade(const struct pl_summary *s, const struct plumb_profile *p, double half_width)
{
	double unproved = not_proved(&s->totals), unread = unreadable(s, p);

	if (s->missed >= POOR_LOSS || unproved >= POOR_LOSS || unread >= POOR_LOSS || half_width >= POOR_HALF_WIDTH)
		return "poor";
	if (s->missed > GOOD_LOSS || unproved > GOOD_LOSS || unread > GOOD_LOSS || half_width >= UNCERTAIN_HALF_WIDTH ||
	    lost(p) || !p->meta.complete)
		return "fair";
	return "good";
}

/* What keeps it from being good, in the order in which it hurts. */
static void add_flaws(struct pl_summary *s, const struct plumb_profile *p)
{
	const struct {
		double share;
		const char *what;
	} shares[] = {{s->missed, "missed"}, {not_proved(&s->totals), "not proved"}, {unreadable(s, p), "unreadable"}};
	struct pl_summary_row *row = &s->verdict;

	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		if (shares[i].share > GOOD_LOSS)
			pl_summary_item(row, PL_TONE_WARN, "%s %s", pl_units_percent(shares[i].share).s,
					shares[i].what);
	for (int i = 0; i < PL_LOSSES; i++)
		if (pl_losses[i].flaw && p->meta.losses[i])
			pl_summary_item(row, PL_TONE_WARN, "%s %s", pl_units_count(p->meta.losses[i]).s,
					pl_losses[i].word);
}

/* Nobody is told to record for longer what has ended by itself, nor to do hundreds of times the work. */
static void warn_too_short(struct pl_summary *s, double half_width)
{
	const char *sign = s->unicode ? "\xc2\xb1" : "+-";
	double factor = half_width / WANTED_HALF_WIDTH;

	if (half_width >= HOPELESS_HALF_WIDTH)
		pl_summary_warn(s, "%s samples say little: shares are only known to %s%.0f points",
				pl_units_count(s->totals.samples).s, sign, ceil(half_width * 100));
	else
		pl_summary_warn(s, "shares are only known to %s%.0f points; %.0f times the work, or time, gives %s%.0f",
				sign, ceil(half_width * 100), ceil(factor * factor), sign, WANTED_HALF_WIDTH * 100);
}

void pl_summary_judge(struct pl_summary *s, const struct plumb_profile *p, const pl_tree_rows *tree)
{
	double half_width = pl_own_code_half_width(tree, s->totals.doing.on_cpu.half_width);
	struct pl_summary_row *row = &s->verdict;
	const char *found = grade(s, p, half_width);

	row->label = "quality:";
	if (s->totals.samples == 0 || (p->meta.imported && !pl_summary_tells_truth(s, p)))
		return;
	pl_summary_item(row, strcmp(found, "good") == 0 ? PL_TONE_PLAIN : PL_TONE_WARN, "%s", found);
	add_flaws(s, p);
	pl_summary_item(row, PL_TONE_PLAIN, "%s samples", pl_units_count(s->totals.samples).s);
	pl_summary_item(row, PL_TONE_PLAIN, "%s points", pl_units_half_width(half_width, s->unicode).s);
	if (half_width >= UNCERTAIN_HALF_WIDTH && !p->meta.imported)
		warn_too_short(s, half_width);
}
