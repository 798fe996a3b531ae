/* SPDX-License-Identifier: Apache-2.0 */
/* What flamegraph-json shows of the call tree: which nodes, in which order, with which texts. Inside the layer only. */
#ifndef PL_FLAME_NODES_H
#define PL_FLAME_NODES_H

#include "buf.h"
#include "map.h"
#include "sample_tree.h"
#include "source_lines.h"
#include "strtab.h"

#define PL_FLAME_SOURCE_LINES 5

/* Texts of a frame, as indexes of the table of strings. */
struct pl_flame_texts {
	uint32_t file, name, module, title, label;
	uint32_t source[PL_FLAME_SOURCE_LINES], source_count;
	bool known;
};

struct pl_flame_nodes {
	const struct plumb_profile *p;
	struct pl_sample_tree *tree; /* siblings are put in order */
	bool seed;
	uint32_t thread_count;
	uint64_t *thread_total, *thread_self; /* of the whole, then scratch for one node; all zero between uses */
	uint64_t *whole;		      /* samples of each thread */
	bool *kept;			      /* of nodes */
	struct pl_flame_texts *texts;	      /* of keys */
	struct pl_strtab *strings;
	PL_VEC(uint32_t) order; /* string ids by index; */
	struct pl_map index;	/* the other way */
	struct pl_sources *sources;
	struct pl_buf text; /* scratch */
};

/** @p tree is finished. To be released with pl_flame_nodes_deinit, also after an error. */
struct plumb_error *pl_flame_nodes_init(struct pl_flame_nodes *n, struct pl_sample_tree *tree, uint32_t thread_count,
					bool seed) PLUMB_MUST_CHECK;
void pl_flame_nodes_deinit(struct pl_flame_nodes *n);
/** Index of a text, at the end of the table if it is new. */
struct plumb_error *pl_flame_string(struct pl_flame_nodes *n, const void *s, size_t len,
				    uint32_t *ret) PLUMB_MUST_CHECK;
struct pl_text pl_flame_string_at(const struct pl_flame_nodes *n, uint32_t index);

#endif
