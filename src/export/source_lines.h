/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines of the files that a profile names, as Python's `linecache` gives them: from the texts that it has; if it
 * came from a file of another tool, from the files. Inside the layer, and for session/walk.c.
 *
 * Only regular files are read, in UTF-8 or, if they say so, Latin-1; what cannot be read has no lines. */
#ifndef PL_SOURCE_LINES_H
#define PL_SOURCE_LINES_H

#include "frame_name.h"

/* Some outputs have the line of each node, and a file may be one line of a megabyte. */
#define PL_LINE_SHOWN_BYTES 4096

struct pl_sources;

/** NULL: no memory. */
struct pl_sources *pl_sources_create(const struct plumb_profile *p);
void pl_sources_destroy(struct pl_sources *s);
/** Line @p line (from 1) of the file named by string @p file, without the line break; PL_LINE_SHOWN_BYTES of it at
 * most. False: there is none. */
bool pl_sources_line(struct pl_sources *s, uint32_t file, int32_t line, struct pl_text *ret);

/** What Python's str.strip() takes away: at the beginning, */
struct pl_text pl_text_without_blanks_before(struct pl_text t);
/** and at the end. */
struct pl_text pl_text_without_blanks_after(struct pl_text t);

#endif
