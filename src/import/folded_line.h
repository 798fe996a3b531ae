/* SPDX-License-Identifier: Apache-2.0 */
/* One line of collapsed stacks: its parts and what they mean. Inside the layer only; pure. */
#ifndef PL_FOLDED_LINE_H
#define PL_FOLDED_LINE_H

#include "span.h"

/** "stack COUNT": split off the count, an integer or a decimal that is rounded, or austin's "time,idle,memory". False:
 * the line has none. */
bool pl_folded_split(struct pl_span line, struct pl_span *stack, uint64_t *count);
/** Take the next part off @p rest; false at its end. */
bool pl_folded_next(struct pl_span *rest, struct pl_span *part);

enum pl_folded_kind {
	PL_FOLDED_FRAME,
	PL_FOLDED_PROCESS, /* number, name */
	PL_FOLDED_THREAD,  /* number, name */
};

struct pl_folded_part {
	enum pl_folded_kind kind;
	uint64_t number;
	struct pl_span name, file; /* of a frame: file empty if there is none */
	int32_t line;		   /* 0: none */
	bool bare;		   /* a frame that is but a name */
};

/* Where a part stands, and so what it may be. */
enum pl_folded_place {
	PL_FOLDED_START,
	PL_FOLDED_AUSTIN, /* at the start of a line of austin's */
	PL_FOLDED_INSIDE, /* after a frame */
};

/** What a part says. Before the first frame it may name a process or a thread:
 *
 *	pid:12 name, tid:13			plumb, CPython
 *	process 12:"command", thread (13): name	py-spy; its thread ids may be hexadecimal
 *	P12, T0:13, T13				austin; both, or they are names
 *
 * Frames are "file:function:line" (plumb, CPython, austin), "function (file:line)" (py-spy) or a bare name. */
struct pl_folded_part pl_folded_read(struct pl_span part, enum pl_folded_place place);

#endif
