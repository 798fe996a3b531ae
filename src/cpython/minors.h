/* SPDX-License-Identifier: Apache-2.0 */
/* What each minor release does in its own way, beyond the places of its fields. The one place that lists them. */
#ifndef PL_MINORS_H
#define PL_MINORS_H

#include <stdbool.h>
#include <stdint.h>

/** One row per minor, minors.c. */
struct pl_minor {
	uint32_t version;   /* PL_PY_VERSION(major, minor, 0) */
	bool offsets;	    /* it has _Py_DebugOffsets; the rows of layout_tables.c only supply what they leave out */
	bool stack_counted; /* a suspended frame keeps how deep its value stack is; else where it ends */

	/* tstate->current_executor, the trace of the JIT compiler that a thread runs, in a struct of that size: it is
	 * not published. 0: there is none, or none that could be told. */
	uint32_t executor, tstate_size;

	/* gi_frame_state: of a generator that waits for another, the same while another thread sends it a value, and
	 * the last one of those that have a frame. Only from 3.11 on. */
	int8_t suspended, locked, executing;
	uint8_t awaited_depth; /* how far below the end of the value stack the awaited object is */

	/* Tasks of asyncio: described in the section .AsyncioDebug, or at these places in the structs of _asyncio;
	 * state 0: they are not read. */
	bool tasks_described;
	struct {
		uint32_t state, fut_waiter, coro, name; /* name: PL_NONE if tasks have none */
	} task;
};

/** The row of @p version; of a minor that is newer than all rows the newest one; NULL if it is none of ours. */
const struct pl_minor *pl_minor_of(uint32_t version);
const struct pl_minor *pl_minor_newest(void);

#endif
