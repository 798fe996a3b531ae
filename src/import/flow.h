/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks out of a graph of calls, for formats that keep functions and pairs of caller and callee but no stacks. */
#ifndef PL_FLOW_H
#define PL_FLOW_H

#include "import.h"
#include "map.h"
#include "sum.h"
#include "vec.h"

/* docs/user/other-tools.md tells users what is true of the stacks that come out. */

struct pl_flow_cost {
	uint64_t samples, weight_ns;
};

struct pl_flow_function {
	uint32_t function; /* of the profile */
	double total;	   /* inclusive, in the unit of the edges */
	double root;	   /* of that, where it was called by nobody */
};

/* Which functions are the beginning of stacks. */
enum pl_flow_roots {
	PL_FLOW_UNCALLED, /* those that are never called: nothing is known of `total` and `root` */
	PL_FLOW_TOTALS,	  /* for as much of `total` as their callers do not give them */
	PL_FLOW_GIVEN,	  /* for as much as `root` says */
};

/** What a function costs in itself, by the line where. */
struct pl_flow_line {
	uint32_t function; /* index into pl_flow.functions */
	int32_t line;	   /* 0: unknown */
	struct pl_flow_cost cost;
};

struct pl_flow_edge {
	uint32_t caller, callee; /* likewise indexes */
	int32_t line;		 /* of the call, in the caller */
	double cost;		 /* inclusive, of what was called */
};

/** Filled by an importer; all zero at first. Equal functions, lines and edges may come several times. */
struct pl_flow {
	PL_VEC(struct pl_flow_function) functions;
	PL_VEC(struct pl_flow_line) lines;
	PL_VEC(struct pl_flow_edge) edges;
	struct pl_map known; /* function of the profile -> of the flow */
	enum pl_flow_roots roots;
	bool by_weight; /* what the edges' costs are: weights, or numbers of samples */
};

/** The index of a function, which is interned in the sink's profile. Errors: PLUMB_ERR_NO_MEMORY, PLUMB_ERR_LIMIT. */
struct plumb_error *pl_flow_function(struct pl_flow *flow, struct pl_sink *sink, const struct pl_function *f,
				     uint32_t *ret) PLUMB_MUST_CHECK;
/** Give the stacks to @p sink as samples of @p thread. What each line costs in itself comes out exactly, the stacks
 * above it are those of the graph, shared out in proportion. Reorders lines and edges. Memory and time follow their
 * numbers. Errors: PLUMB_ERR_NO_MEMORY, those of the sink. */
struct plumb_error *pl_flow_write(struct pl_flow *flow, uint32_t thread, struct pl_sink *sink) PLUMB_MUST_CHECK;
void pl_flow_deinit(struct pl_flow *flow);

/** The process and its only thread that such a file is about; meta data that are the same for all of them. */
struct plumb_error *pl_flow_thread(struct pl_sink *sink, uint32_t pid, const char *engine,
				   uint32_t *ret) PLUMB_MUST_CHECK;

#endif
