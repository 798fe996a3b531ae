/* SPDX-License-Identifier: Apache-2.0 */
/* Many tests at once: which of them to believe. Pure arithmetic. Method: docs/internals/statistics.md */
#ifndef PL_DISCOVERY_H
#define PL_DISCOVERY_H

#include <stddef.h>

#include "error.h"

/**
 * Benjamini and Hochberg's procedure with weights (Genovese, Roeder and Wasserman 2006): @p q[i] is the false discovery
 * rate at which test i would be believed, so that believing all with q <= 0.02 makes at most 2 % of what is believed
 * wrong. Test i gets the part weight[i] / sum(weight) of the error that is allowed; equal weights are the plain
 * procedure. What has no weight is not a test: its q is 1. Errors: PLUMB_ERR_NO_MEMORY.
 */
struct plumb_error *pl_discovery_adjust(const double *p, const double *weight, double *q, size_t n) PLUMB_MUST_CHECK;

#endif
