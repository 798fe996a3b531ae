/* SPDX-License-Identifier: Apache-2.0 */
/* Who calls whom: what formats need that know functions and pairs of caller and callee, but no stacks. */
#ifndef PL_CALLGRAPH_H
#define PL_CALLGRAPH_H

#include "buf.h"
#include "frame_name.h"
#include "vec.h"
#include "view.h"

#define PL_GRAPH_ROOT UINT32_MAX /* the caller of outermost frames */

struct pl_graph_cost {
	uint64_t samples, weight_ns;
};

/** What an output calls one function: functions whose texts are equal there are one. */
struct pl_graph_function {
	uint32_t file, name; /* string ids of pl_callgraph.strings; file: that its lines are in */
	uint32_t library;    /* likewise, of a native one: that it is machine code of */
	uint32_t firstline;
	bool native;
	struct pl_graph_cost self, total; /* total: once per stack even under recursion */
};

struct pl_graph_line {
	uint32_t function;
	int32_t line;
	struct pl_graph_cost self;
};

struct pl_graph_edge {
	uint32_t caller, callee; /* caller: may be PL_GRAPH_ROOT */
	int32_t line;		 /* of the call; 0 unless lines were asked for */
	/* self: of the callee when called so. total: the callee's, of the stacks in which this is its outermost call:
	 * so the totals of the edges into a function add up to its own. once: of all stacks that have the edge. */
	struct pl_graph_cost self, total, once;
};

struct pl_callgraph {
	struct pl_strtab *strings;
	PL_VEC(struct pl_graph_function) functions;
	PL_VEC(struct pl_graph_line) lines; /* only if asked for */
	PL_VEC(struct pl_graph_edge) edges; /* by callee, then caller, then line */
	struct pl_graph_cost all;
};

/** Append to @p out what an output writes for a text: it decides which names are equal. */
typedef struct plumb_error *pl_graph_clean_fn(struct pl_buf *out, struct pl_text t);

struct pl_graph_options {
	bool lines, full_names;
	pl_graph_clean_fn *clean;
};

/** All samples of @p p; those without any frame belong to a function "<no frame>". Functions are in the order of the
 * call tree, the heaviest first: equal profiles give equal graphs. On success release with pl_callgraph_deinit.
 * Errors: PLUMB_ERR_NO_MEMORY, PLUMB_ERR_LIMIT. */
struct plumb_error *pl_callgraph_build(const struct plumb_profile *p, const struct pl_graph_options *o,
				       struct pl_callgraph *ret) PLUMB_MUST_CHECK;
void pl_callgraph_deinit(struct pl_callgraph *g);
struct pl_text pl_callgraph_text(const struct pl_callgraph *g, uint32_t string);

/** pl_graph_clean_fn: as it is, but what is no UTF-8 (lone surrogates, too) and NUL become U+FFFD. */
struct plumb_error *pl_graph_clean_utf8(struct pl_buf *out, struct pl_text t) PLUMB_MUST_CHECK;

#endif
