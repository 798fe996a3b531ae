/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a run as CPython's collectors tell them. Inside the layer only. */
#ifndef PL_COLLECTOR_STATS_H
#define PL_COLLECTOR_STATS_H

#include "thread_figures.h"

/** One object: what the run was told or measured, then what its threads did. @p seed: as it was at first. */
void pl_collector_stats_write(const struct pl_thread_figures *f, bool seed, FILE *out);

#endif
