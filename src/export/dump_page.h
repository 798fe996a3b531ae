/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that the text of a dump is made of. Inside the layer only. */
#ifndef PL_DUMP_PAGE_H
#define PL_DUMP_PAGE_H

#include <stdio.h>

#include "dump_model.h"
#include "line.h"

/** Words between blanks; what does not fit goes to the next line, @p indent columns in. A word that is wider than the
 * page loses its start: paths are told by their end. */
void pl_dump_add_wrapped(struct pl_line *l, int indent, const char *s, size_t len);

/** Text that is made by writing to `out`. */
struct pl_sentence {
	char *text;
	size_t len;
	FILE *out;
};
/** False without memory: then there is nothing to add, and the page knows. */
bool pl_sentence_start(struct pl_sentence *s, struct pl_page *page);
void pl_sentence_add(struct pl_sentence *s, struct pl_line *l, int indent);

/** A frame, its source line with the running expression marked, and its variables. */
void pl_dump_put_frame(struct pl_page *page, int indent, const struct pl_dump_frame *f);

/** The asyncio tasks of a process as a tree: who waits for whom. */
void pl_dump_put_tasks(struct pl_page *page, const struct pl_dump_process *p);

#endif
