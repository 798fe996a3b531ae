/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a report in words: what was recorded, what was found, how far it can be trusted, what it cost. */
#ifndef PL_SUMMARY_H
#define PL_SUMMARY_H

#include "export.h"
#include "line.h"

struct pl_item {
	char text[400];
	enum pl_tone tone;
};

struct pl_summary_row {
	const char *label;
	struct pl_item items[14];
	int count;
};

enum {
	PL_SUMMARY_TITLE,
	PL_SUMMARY_WHERE,
	PL_SUMMARY_PROCESSES,
	PL_SUMMARY_SAMPLES,
	PL_SUMMARY_TRUTH,
	PL_SUMMARY_OVERHEAD,
	PL_SUMMARY_ROWS
};

struct pl_summary {
	struct pl_totals totals;
	struct pl_summary_row
		rows[PL_SUMMARY_ROWS]; /* the command is not in the title row: it can be long and needs cutting */
	struct pl_item warnings[8];    /* whole sentences */
	int warning_count;
	bool unicode;
};

struct plumb_error *pl_summary_make(const struct plumb_profile *p, const struct pl_filter *f, bool unicode,
				    struct pl_summary *ret) PLUMB_MUST_CHECK;
/** Add "too short" if a share with the half width @p half_width was shown. */
void pl_summary_judge(struct pl_summary *s, const struct plumb_profile *p, double half_width);

#endif
