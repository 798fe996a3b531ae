/* SPDX-License-Identifier: Apache-2.0 */
/* For what a thread waited, by its system call. docs/design/021-reasons-of-waits.md */
#ifndef PL_REASON_H
#define PL_REASON_H

/* What this enum lists, and how it is called everywhere: <plumb/words.def>. */
enum pl_reason {
#define PLUMB_REASON(name, number, ...) PL_REASON_##name = (number),
#include <plumb/words.def>
	PL_REASONS,
};

#endif
