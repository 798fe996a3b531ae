/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `perf script`. Inside import/from_perf_script.c and its tests only. */
#ifndef PL_PERF_LINES_H
#define PL_PERF_LINES_H

#include "span.h"

/* "python3 4242/4243 [001] 12.000345678:    1000000 cpu-clock:" */
struct pl_perf_event {
	struct pl_span comm, event;
	uint64_t pid, tid; /* equal if there is only one */
	uint64_t time_ns, period;
	bool has_period;
	struct pl_span rest; /* behind the event: with no call chain, the frame */
};

/* "    7f1234 PyEval_Vector+0x10 (/usr/bin/python3)" */
struct pl_perf_frame {
	uint64_t address;
	struct pl_span symbol, dso; /* the symbol without its offset */
};

/** False: the line is none. */
bool pl_perf_event(struct pl_span line, struct pl_perf_event *ret);
bool pl_perf_frame(struct pl_span line, struct pl_perf_frame *ret);

#endif
