/* SPDX-License-Identifier: Apache-2.0 */
/* What the two readings of a file of speedscope share. Inside import/speedscope*.c only. */
#ifndef PL_SPEEDSCOPE_PARTS_H
#define PL_SPEEDSCOPE_PARTS_H

#include "json_reader.h"
#include "profile.h"
#include "vec.h"

struct pl_speedscope_head {
	uint32_t thread; /* in the profile */
	int scale;	 /* weights times 10 ^ scale are nanoseconds; -1: they are numbers of samples */
	bool evented;
	bool sum; /* of the other profiles */
};

/* From the first reading. */
struct pl_speedscope_tables {
	struct plumb_profile *p;
	PL_VEC(uint32_t) frames;    /* locations */
	PL_VEC(uint32_t) processes; /* of the file's list */
	PL_VEC(struct pl_speedscope_head) heads;
	bool has_frames, has_profiles;
};

/** Read all but the samples. Threads are those of the profiles. */
struct plumb_error *pl_speedscope_read_tables(struct pl_json_reader *r,
					      struct pl_speedscope_tables *t) PLUMB_MUST_CHECK;
void pl_speedscope_tables_deinit(struct pl_speedscope_tables *t);

#endif
