/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source files, as the target sees them. */
#ifndef PL_DUMP_SOURCE_H
#define PL_DUMP_SOURCE_H

#include <sys/types.h>

#include "dump_model.h"
#include "map.h"
#include "source_reader.h"
#include "vec.h"

#define PL_SOURCES_PATIENCE_MOST_MS 60000
#define PL_SOURCES_MOST		    256 /* files that are asked for */

struct pl_source_file {
	const char *path; /* the frame's text: equal text, equal pointer */
	char *text;	  /* NULL: cannot be had */
	size_t len;
	PL_VEC(uint32_t) stretches; /* where each but the first begins */
	bool changed;
};

/** The files read so far. Start with {.pid = pid, .view = as it was before anything was read, .age_ns = ...}, or with
 * {.root = "/", .view.rights = ...}; and .patience_ms. */
struct pl_dump_sources {
	pid_t pid;
	struct pl_file_view view;
	const char *root; /* of the files, instead of the process's; NULL: none */
	uint64_t age_ns;  /* of the process; 0 unknown */
	PL_VEC(struct pl_source_file) files;
	struct pl_map known; /* path, as a pointer -> position in `files` */
	size_t bytes;	     /* of their texts */
	uint32_t asked;	     /* files */
	uint64_t waited_ns;  /* for all of them */
	uint32_t left_out;   /* files that were not read: too many, too long or too slow */
	bool no_memory;	     /* files were left out */
	int patience_ms;     /* how long a file is waited for, then none is read any more; all files: 5/4 of it */
	const char *silent;  /* that file; NULL: all answered */
	const char *barred;  /* the first file that may not be read; NULL: none */
	struct pl_source_reader reader;
};
void pl_dump_sources_deinit(struct pl_dump_sources *s);

/** How long a file is waited for where stacks may be looked at for @p limit_ns: the rest has to fit in, too. */
static inline int pl_dump_sources_patience_ms(uint64_t limit_ns)
{
	uint64_t ms = limit_ns / 2500000;

	return ms < PL_SOURCES_PATIENCE_MOST_MS ? (int)ms : PL_SOURCES_PATIENCE_MOST_MS;
}

/** Fill in the source of @p f, if its file can be read. */
void pl_dump_sources_add(struct pl_dump_sources *s, struct pl_dump *d, struct pl_dump_frame *f);

#endif
