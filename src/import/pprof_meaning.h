/* SPDX-License-Identifier: Apache-2.0 */
/* What the values and the facts of a profile.proto mean for a profile of ours. Private to import/pprof*.c. */
#ifndef PL_PPROF_MEANING_H
#define PL_PPROF_MEANING_H

#include "pprof_tables.h"

#define PL_PPROF_NO_VALUE SIZE_MAX

struct pl_pprof_meaning {
	bool ours;	      /* plumb wrote it */
	bool on_cpu;	      /* samples are of threads on a CPU */
	size_t count, weight; /* which value, or PL_PPROF_NO_VALUE */
	uint64_t scale;	      /* nanoseconds in a unit of the weight */
	uint64_t period_ns;   /* 0: unknown */
	uint32_t program;     /* string of the profile: name of processes that no label names */
};

/** Find out; goes into the profile's meta data, too. */
struct plumb_error *pl_pprof_understand(const struct pl_pprof *t, struct plumb_profile *p,
					struct pl_pprof_meaning *ret) PLUMB_MUST_CHECK;
enum pl_pprof_worth { PL_PPROF_NOTHING, PL_PPROF_NEGATIVE /* as in a difference */, PL_PPROF_SAMPLES };
/** Samples and nanoseconds of a sample's @p values. */
enum pl_pprof_worth pl_pprof_weigh(const struct pl_pprof_meaning *m, const uint64_t *values, uint64_t *count_ret,
				   uint64_t *weight_ret);

#endif
