/* SPDX-License-Identifier: Apache-2.0 */
/* Output formats: one file and one line in the table (formats.c) each. Exporters see the model only; they stream. */
#ifndef PL_EXPORT_H
#define PL_EXPORT_H

#include <stdio.h>

#include "view.h"

struct pl_export_options {
	struct pl_filter filter;
	bool full_names;       /* --names full: whole path and qualified name */
	bool escape;	       /* collapsed: make names safe for flamegraph.pl (';' and line breaks) */
	int width;	       /* text: columns of the terminal */
	bool color;	       /* text */
	bool unicode;	       /* text: tree lines, the plus-minus sign */
	int max_lines;	       /* text: at most so many lines (25) */
	const char *recording; /* path, for the "next commands"; NULL: none */
};

struct pl_format {
	const char *name;	     /* "collapsed" */
	const char *const *suffixes; /* {".folded", NULL}, longest first */
	const char *summary;	     /* one line for `plumb help formats` */
	struct plumb_error *(*write)(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out);
};

/** All formats, ends with a NULL name. */
extern const struct pl_format pl_formats[];
const struct pl_format *pl_format_by_name(const char *name);
const struct pl_format *pl_format_by_path(const char *path);

#endif
