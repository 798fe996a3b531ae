/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that fail on demand, for programs linked with failing.c and --wrap=malloc,calloc,realloc. */
#ifndef PL_TEST_FAILING_H
#define PL_TEST_FAILING_H

#include <stdbool.h>

/** Run @p scenario with its first allocation failing, then its second, ... until it needs no more; @p least is how many
 * it must have had. */
void failing_each(void (*scenario)(void *), void *ctx, long least);
/** Whether an allocation of this run has failed. */
bool failing_happened(void);
/** For the rest of this run none fails. */
void failing_off(void);

#endif
