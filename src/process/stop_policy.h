/* SPDX-License-Identifier: Apache-2.0 */
/* Whether threads may be stopped, and what the kernel did not allow: for whoever asks for stops, and whoever tells of
 * them. */
#ifndef PL_STOP_POLICY_H
#define PL_STOP_POLICY_H

#include "profile.h"

enum pl_stop_policy { PL_STOP_AUTO, PL_STOP_NEVER, PL_STOP_ALWAYS };

/* Of its time a program stands still at most for samples that need it. */
#define PL_STILL_PERMILLE 25

/** Stops that the kernel did not allow. */
struct pl_refusals {
	uint64_t by_cause[PL_REFUSALS]; /* enum pl_refused */
	char why[320];			/* the last one in words, "" if there was none */
};

#endif
