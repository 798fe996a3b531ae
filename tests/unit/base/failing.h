/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that fail on demand, for programs linked with failing.c and the --wrap options of failing_link. */
#ifndef PL_TEST_FAILING_H
#define PL_TEST_FAILING_H

#include <stdbool.h>

/** Run @p scenario with its first allocation failing, then its second, ... until it needs no more; @p least is how many
 * it must have had. */
void failing_each(void (*scenario)(void *), void *ctx, long least);
enum failing_mode { FAILING_ONE, FAILING_ALL_AFTER };
/** Only each @p step-th of them; with FAILING_ALL_AFTER all those after it fail, too. For what takes long. */
void failing_some(void (*scenario)(void *), void *ctx, long step, enum failing_mode mode);
/** Whether an allocation of this run has failed. */
bool failing_happened(void);
/** For the rest of this run none fails. */
void failing_off(void);

#endif
