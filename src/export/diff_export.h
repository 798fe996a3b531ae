/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of a comparison: text, Markdown, a page and a flame graph for people, JSON for programs
 * (docs/user/diff.md), collapsed stacks with two counts for flame graphs of other tools. A new form is one file and one
 * row of diff_formats.c. */
#ifndef PL_DIFF_EXPORT_H
#define PL_DIFF_EXPORT_H

#include <stdio.h>

#include "diff.h"

struct pl_diff_look {
	const char *names[PL_DIFF_SIDES]; /* of the recordings, as the user wrote them */
	const char *reference;		  /* function that is the measure; NULL: none */
	const char *unit;		  /* of work, for which times are told (pl_diff.per_unit) */
	const char *made_by;		  /* "plumb 0.1.0: plumb diff a b"; NULL: unknown */
	double fail_above;		  /* limit for slow-downs; negative: none */
	bool full_names, escape;
	int width, max_lines; /* text */
	bool color, unicode;  /* text */
};

struct pl_diff_format {
	const char *name;
	const char *const *suffixes; /* longest first, ends with NULL */
	const char *summary;
	bool paths; /* wants PL_DIFF_PATHS, whatever the rows asked for */
	/* Errors: PLUMB_ERR_NO_MEMORY; what goes wrong with @p out shows in ferror(). NULL: the report page, which is
	 * made of more than one comparison (diff_page.h). */
	struct plumb_error *(*write)(const struct pl_diff *d, const struct pl_diff_look *look, FILE *out);
};

/** All forms, ends with a NULL name. */
extern const struct pl_diff_format pl_diff_formats[];
const struct pl_diff_format *pl_diff_format_by_name(const char *name);
const struct pl_diff_format *pl_diff_format_by_path(const char *path);

struct plumb_error *pl_diff_text_write(const struct pl_diff *d, const struct pl_diff_look *look,
				       FILE *out) PLUMB_MUST_CHECK;
struct plumb_error *pl_diff_json_write(const struct pl_diff *d, const struct pl_diff_look *look,
				       FILE *out) PLUMB_MUST_CHECK;
struct plumb_error *pl_diff_markdown_write(const struct pl_diff *d, const struct pl_diff_look *look,
					   FILE *out) PLUMB_MUST_CHECK;
struct plumb_error *pl_diff_collapsed_write(const struct pl_diff *d, const struct pl_diff_look *look,
					    FILE *out) PLUMB_MUST_CHECK;
struct plumb_error *pl_diff_svg_write(const struct pl_diff *d, const struct pl_diff_look *look,
				      FILE *out) PLUMB_MUST_CHECK;

#endif
