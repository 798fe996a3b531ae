/* SPDX-License-Identifier: Apache-2.0 */
/* The two forms of a dump: text for people, JSON for programs (docs/user/dump.md). */
#ifndef PL_DUMP_EXPORT_H
#define PL_DUMP_EXPORT_H

#include <stdio.h>

#include "dump_model.h"

struct pl_dump_look {
	int width; /* columns; 0: as wide as it gets */
	bool color, unicode;
};

/* What goes wrong with the output shows in ferror(out). False: parts are missing for want of memory. */
bool pl_dump_write_text(const struct pl_dump *d, const struct pl_dump_look *look, FILE *out);
/** One thread, as the text says it: what it does, and what of that it waits for, without times; "": it does not. */
void pl_dump_words(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out);
void pl_dump_words_wait(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out);
void pl_dump_write_json(const struct pl_dump *d, const char *plumb_version, FILE *out);

#endif
