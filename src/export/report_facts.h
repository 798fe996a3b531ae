/* SPDX-License-Identifier: Apache-2.0 */
/* What outputs in JSON tell of a recording, as docs/user/json.md has it: each function writes members of the object
 * that is open. Inside the layer only. */
#ifndef PL_REPORT_FACTS_H
#define PL_REPORT_FACTS_H

#include "json.h"
#include "view.h"

/** "samples" to "half_width". */
void pl_report_share(struct pl_json *j, const struct pl_share *s);
/** "command" to "complete". */
void pl_report_recording(struct pl_json *j, const struct plumb_profile *p);
/** "finding" and "findings": what is wrong with the program, as the text report says it. */
struct plumb_error *pl_report_findings(struct pl_json *j, const struct plumb_profile *p,
				       const struct pl_filter *f) PLUMB_MUST_CHECK;
/** The samples of a process are those of @p threads. */
struct plumb_error *pl_report_processes(struct pl_json *j, const struct plumb_profile *p,
					const pl_thread_rows *threads) PLUMB_MUST_CHECK;
void pl_report_threads(struct pl_json *j, const struct plumb_profile *p, const pl_thread_rows *threads);
void pl_report_losses(struct pl_json *j, const struct plumb_profile *p);
/** The rate that was left where a limit of the overhead lowered the one that was asked for; 0: it did not. Whether it
 * did is seen by the ticks that were taken; the rate is that of all the time, what was missed included. */
double pl_report_lowered_rate(const struct pl_meta *m);
/** Where it did: because the program would have stood still for longer than it may, and not because of CPU time? */
bool pl_report_lowered_for_still(const struct pl_meta *m);
void pl_report_overhead(struct pl_json *j, const struct plumb_profile *p);

#endif
