/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: the samples of one chunk, one column per fact, ready for compression. */
#ifndef PL_CAPTURE_COLUMNS_H
#define PL_CAPTURE_COLUMNS_H

#include "format.h"
#include "profile.h"
#include "row_index.h"
#include "vec.h"

struct pl_columns {
	unsigned time_shift; /* times are kept in units of 1 << time_shift ns */
	uint64_t period_ns;  /* what the weight of the first sample of a thread is compared with */
	uint32_t samples;
	uint64_t first_ns, last_ns;
	struct pl_row_index places;		      /* of place_keys */
	PL_VEC(uint64_t) place_keys;		      /* of each place: stack << 32 | thread */
	uint32_t last_stack, last_thread, last_place; /* of the last sample */
	uint32_t row_stack;			      /* of the last row of place_rows */
	uint64_t instant;			      /* time of the last sample, in units */
	uint64_t run;				      /* samples at that instant, not yet in `runs` */
	PL_VEC(uint64_t) weights_ns;		      /* per thread: the weight of its last sample in this chunk */
	struct pl_buf place_rows, times, runs, sample_places, states, weights;
	struct pl_buf counts, locks, reasons; /* empty while all are 0 */
};

/** Unit of time for a sampling period: about an eighth of it, a power of two, such that a batch holds whole units: the
 * batch of a sample is then the same before and after. */
unsigned pl_columns_time_shift(uint64_t period_ns);

void pl_columns_init(struct pl_columns *c, uint64_t period_ns);
void pl_columns_deinit(struct pl_columns *c);
/** Forget all samples. */
void pl_columns_clear(struct pl_columns *c);
/** After an error the columns are as they were. Errors: PLUMB_ERR_NO_MEMORY, PLUMB_ERR_LIMIT. */
struct plumb_error *pl_columns_add(struct pl_columns *c, const struct pl_sample *s) PLUMB_MUST_CHECK;
/** Bytes the columns hold now. */
size_t pl_columns_size(const struct pl_columns *c);
/** Append the sections to @p raw. */
struct plumb_error *pl_columns_encode(const struct pl_columns *c, struct pl_buf *raw) PLUMB_MUST_CHECK;

#endif
