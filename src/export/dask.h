/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the two formats of Dask's profiler. Inside the layer only. */
#ifndef PL_DASK_H
#define PL_DASK_H

#include "export.h"
#include "sample_tree.h"
#include "source_lines.h"

/* File of frames that are no Python. */
#define PL_DASK_LOW_LEVEL "<low-level>"

struct pl_dask {
	const struct plumb_profile *p;
	struct pl_filter filter;
	struct pl_sample_tree tree;
	struct pl_sources *sources;
	FILE *out;
};

/** What a node says of its frame; of the root all are empty. */
struct pl_dask_description {
	struct pl_text file, name, line;
	int32_t line_number;
	bool source; /* `line` is a line of a file: it is written with its end */
	bool low_level;
};

/** Count all samples. To be released with pl_dask_deinit, also after an error. */
struct plumb_error *pl_dask_init(struct pl_dask *d, const struct plumb_profile *p, const struct pl_export_options *o,
				 FILE *out) PLUMB_MUST_CHECK;
void pl_dask_deinit(struct pl_dask *d);
/** The first seen line of the node's function, as in Dask. */
struct pl_dask_description pl_dask_describe(const struct pl_dask *d, uint32_t node);
/** Write a text, or the description's line, as a value of JSON. */
void pl_dask_put_text(const struct pl_dask *d, struct pl_text t);
void pl_dask_put_line(const struct pl_dask *d, const struct pl_dask_description *about);

#endif
