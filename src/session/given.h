/* SPDX-License-Identifier: Apache-2.0 */
/* Options as a caller gives them, who may have been built for an older or a newer plumb: of the size that he says, and
 * with values that there are. Every function of the library that takes options takes them through here. What he does
 * not know has its default; *ret is whole also with an error, which is PLUMB_ERR_INVALID. */
#ifndef PL_GIVEN_H
#define PL_GIVEN_H

#include <plumb/plumb.h>

struct plumb_error *pl_given_session(const struct plumb_session_options *o,
				     struct plumb_session_options *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_given_report(const struct plumb_report_options *o,
				    struct plumb_report_options *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_given_dump(const struct plumb_dump_options *o, struct plumb_dump_options *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_given_dump_look(const struct plumb_dump_look *o, struct plumb_dump_look *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_given_diff(const struct plumb_diff_options *o, struct plumb_diff_options *ret) PLUMB_MUST_CHECK;

/** To a caller's struct that is filled in: as much of @p all as he knows of. Both begin with their size. */
void pl_give_row(void *ret, const void *all, size_t all_size);

#endif
