/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison in words and figures, as text and Markdown share them. */
#ifndef PL_DIFF_WORDS_H
#define PL_DIFF_WORDS_H

#include "buf.h"
#include "diff_export.h"
#include "frame_name.h"
#include "units.h"

extern const char *const pl_diff_verdicts[]; /* by enum pl_diff_verdict: "", "new", "gone", "more", "less" */

struct pl_diff_text {
	char s[400];
};

/** "+1.6 ±0.5", in percent points. */
struct pl_units pl_diff_change(const struct pl_diff_value *v, bool unicode);
/** By how much of what it took, "+20 % ±6"; "unknown" if it may be anything, "" if there is no before. */
struct pl_units pl_diff_relative_text(const struct pl_diff *d, const struct pl_diff_value *v, bool unicode);
/** What it took on a side: "0.70 s", or "21 %" where shares are compared. */
struct pl_units pl_diff_took_text(const struct pl_diff *d, const struct pl_diff_value *v, enum pl_diff_side side);
/** "30.0 s, 29,950 samples"; of several runs with their number. */
struct pl_diff_text pl_diff_side_text(const struct pl_diff_total *t);
/** How long all of it took before and after: "730 ms -> 1.68 s, +130 % ±5"; "" where nobody knows. */
struct pl_diff_text pl_diff_growth_text(const struct pl_diff *d, const struct pl_diff_look *look);
/** What the figures are: times for what, or shares of what. */
struct pl_diff_text pl_diff_scale_text(const struct pl_diff *d, const struct pl_diff_look *look);
/** How many rows changed, and with what certainty. */
struct pl_diff_text pl_diff_found_text(const struct pl_diff *d, bool unicode);
/** Changes of the rows that did not change that would not have been seen: "of parse below 6.1 %, of count below 8 %";
 * "" if nothing is to be said. */
struct plumb_error *pl_diff_detectable_text(const struct pl_diff *d, const struct pl_diff_look *look,
					    struct pl_diff_text *ret) PLUMB_MUST_CHECK;
/** What limits the answer: sentences, @p i from 0; false past the last. */
bool pl_diff_note_at(const struct pl_diff *d, int i, struct pl_diff_text *ret);
/** Whether --fail-above was passed; "" without it. */
struct pl_diff_text pl_diff_limit_text(const struct pl_diff *d, const struct pl_diff_look *look);

/** The name of a row: of paths those of the callers before it, as many as are useful. */
struct plumb_error *pl_diff_row_name(const struct pl_diff *d, uint32_t row, bool unicode,
				     struct pl_buf *ret) PLUMB_MUST_CHECK;
/** Its file and line; *line_ret 0 and an empty text: it has no place. */
struct pl_text pl_diff_row_file(const struct pl_diff *d, uint32_t row, bool full_names, uint32_t *line_ret);

/** The figure by which a row is shown: its own, unless only that with all it called changed. */
const struct pl_diff_value *pl_diff_shown(const struct pl_diff_row *r, bool *total_ret);

#endif
