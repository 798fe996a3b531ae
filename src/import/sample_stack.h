/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the readers of samples of CPython's collectors. Inside the layer only. */
#ifndef PL_SAMPLE_STACK_H
#define PL_SAMPLE_STACK_H

#include "import.h"
#include "json_reader.h"
#include "known_frames.h"
#include "map.h"
#include "vec.h"

/** Of one file: its frames, by their text, and where they go. */
struct pl_sample_frames {
	struct plumb_profile *p;
	struct pl_known_frames known;
};

/** The current token begins an array of frames, innermost first: append their locations to @p frames. *gc is set if one
 * of them is the collector of garbage. */
struct plumb_error *pl_sample_frames_read(struct pl_json_reader *r, struct pl_sample_frames *f, pl_ids *frames,
					  bool *gc) PLUMB_MUST_CHECK;

/* The tasks of one sample: who waits for whom. */
struct pl_sample_task {
	uint64_t id, thread;
	uint32_t name;		    /* string id */
	size_t frames, frame_count; /* of its coroutines, in pl_task_graph.frames */
	uint64_t parent;	    /* the one that is followed, if there are any, */
	uint64_t parent_count;
	uint32_t frame; /* that stands for the task, if it was made yet */
	uint32_t leaf;	/* + 1: the last one that came by */
	uint32_t stack; /* with the task on top, if there is one yet; on a ring: when that is entered here */
	uint32_t ring;	/* of a task on one: where it was entered first */
	bool has_frame, has_stack, on_ring;
};

struct pl_task_graph {
	PL_VEC(struct pl_sample_task) tasks; /* a task that is told twice is here once, as it was told last */
	struct pl_map task_of;		     /* id -> index */
	struct pl_map awaiting;		     /* ids that others are awaited by */
	struct pl_sample_frames *reading;    /* set by who made it */
	pl_ids frames;
	pl_ids path; /* tasks */
	uint64_t ring_steps;
};

void pl_task_graph_clear(struct pl_task_graph *g);
void pl_task_graph_deinit(struct pl_task_graph *g);
/** The current token begins an array of {"thread_id", "tasks"}: add them. */
struct plumb_error *pl_task_graph_read(struct pl_json_reader *r, struct plumb_profile *p,
				       struct pl_task_graph *g) PLUMB_MUST_CHECK;
/** For each task that no task waits in: its coroutines, its name, those of the task that awaits it, and so on outwards.
 */
struct plumb_error *pl_task_graph_stacks(struct pl_task_graph *g, struct plumb_profile *p,
					 struct plumb_error *(*fn)(void *ctx, uint64_t thread, uint32_t stack),
					 void *ctx) PLUMB_MUST_CHECK;

#endif
