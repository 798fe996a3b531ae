/* SPDX-License-Identifier: Apache-2.0 */
/* Output formats: one file and one line in the table (formats.c) each. Exporters see the model only; they stream. */
#ifndef PL_EXPORT_H
#define PL_EXPORT_H

#include <stdio.h>

#include "view.h"

struct pl_export_options {
	struct pl_filter filter;
	bool full_names;	 /* --names full: whole path and qualified name */
	bool annotate;		 /* collapsed: functions of the kernel end with _[k] */
	bool escape;		 /* collapsed: make names safe for flamegraph.pl (';' and line breaks) */
	bool seed;		 /* flamegraph-json: as CPython's collector was at first, not as in 3.15.2 */
	int width;		 /* text: columns of the terminal */
	bool color;		 /* text */
	bool unicode;		 /* text: tree lines, the plus-minus sign */
	int max_lines;		 /* text: at most so many lines (25), unless one of the next two asks for more */
	int top;		 /* text, markdown: so many rows, however light or unsure; 0: those that tell most */
	bool quality;		 /* text: the details behind the verdict, too */
	const char *recording;	 /* path, for the "next commands"; NULL: none */
	const char *program;	 /* how plumb is called in them; NULL: "plumb" */
	const char *page_option; /* the one that makes the report page; NULL: none does */
	/* What made this output, to be named in it where the format has a place for it:
	 * "plumb 0.1.0: plumb convert a.plumb b.json --threads main". The time of day is
	 * never in it: the same command writes the same bytes. NULL: unknown. */
	const char *made_by;
	bool part; /* the profile is what filters left of a recording */
};

/* What a profile can tell, and a format may have no room for. */
enum pl_fact {
	PL_FACT_THREADS = 1,   /* which thread */
	PL_FACT_PROCESSES = 2, /* which process */
	PL_FACT_STATES = 4,    /* on CPU, GIL, ... */
	PL_FACT_WEIGHTS = 8,   /* time beside the number of samples */
	PL_FACT_LINES = 16,    /* line that ran */
	PL_FACT_COLUMNS = 32,  /* part of the line that ran */
	PL_FACT_TIMES = 64,    /* when a sample was taken */
	PL_FACT_LOSSES = 128,  /* what was missed */
	PL_FACT_QUALITY = 256, /* how sure a stack is */
	PL_FACT_OPCODES = 512,
	PL_FACT_PATHS = 1024, /* who called: not only pairs of caller and callee */
};

/** Write @p p, which holds what passes the filters and nothing else (formats made of views: what passes but for
 * o->filter). Streams: memory follows distinct stacks, not samples. Equal input, equal bytes. Errors:
 * PLUMB_ERR_NO_MEMORY, those of the stream; what goes wrong with @p out shows in ferror(). */
typedef struct plumb_error *pl_format_write(const struct plumb_profile *p, const struct pl_export_options *o,
					    FILE *out);

struct pl_format {
	const char *name;	     /* "collapsed" */
	const char *const *suffixes; /* {".folded", NULL}, longest first */
	const char *summary;	     /* one line for `plumb help formats` */
	pl_format_write *write;
	unsigned keeps; /* set of enum pl_fact; what else the profile tells is lost, and that is said */
	bool binary;	/* not for terminals */
	bool views;	/* made of views (view.h), which hide idle threads by themselves and say how many */
	bool colours;	/* written where they are asked for; it makes names printable itself */
	bool report;	/* for people and scripts, not for another profiler: that it leaves out things is no news */
	struct plumb_error *(*check)(void); /* NULL if this build has all that it takes; no function: it always has */
};

/** All formats, ends with a NULL name. */
extern const struct pl_format pl_formats[];
const struct pl_format *pl_format_by_name(const char *name);
const struct pl_format *pl_format_by_path(const char *path);

#endif
