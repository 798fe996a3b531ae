/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of `plumb help`, which the man pages and the completions share. */
#ifndef HELP_H
#define HELP_H

#include <stdbool.h>
#include <stdio.h>

/** All commands and topics, one line each. */
void help_overview(int width, FILE *out);

extern const char help_about[];		  /* one sentence */
extern const char *const help_examples[]; /* ends with NULL */

/** How and where a topic is written. */
struct help_writer {
	void (*text)(const struct help_writer *w, const char *text);
	void (*item)(const struct help_writer *w, const char *name, const char *text);
	FILE *out;
	int width; /* columns, where they matter */
	bool utf8; /* more than ASCII can be written */
};

struct help_topic {
	const char *name, *summary;
	void (*write)(const struct help_writer *w);
};

/** Ends with a NULL name. */
extern const struct help_topic help_topics[];

#endif
