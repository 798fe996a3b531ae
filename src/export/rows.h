/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a text report: figures on the left, what they belong to on the right. */
#ifndef PL_ROWS_H
#define PL_ROWS_H

#include "export.h"
#include "frame_name.h"
#include "glyph.h"
#include "hot_path.h"
#include "line.h"
#include "units.h"

#define PL_ROWS_MAX 32

struct pl_row {
	struct pl_units share, time, total; /* total: "" in a tree */
	char lead[96];			    /* branches of the tree, then "[+2] ": frames left out */
	struct pl_text name, file;
	uint32_t line; /* 0: none */
	bool bare;     /* no place */
	enum pl_tone tone;
};

struct pl_rows {
	struct pl_row rows[PL_ROWS_MAX];
	int count;
};

/** @p total_ns: what 100 % is, to turn half widths into times. */
void pl_rows_of_tree(const struct plumb_profile *p, const pl_tree_rows *tree, const pl_hot_rows *hot,
		     const struct pl_export_options *o, double total_ns, struct pl_rows *ret);
void pl_rows_of_functions(const struct plumb_profile *p, const pl_function_rows *rows, int max,
			  const struct pl_export_options *o, double total_ns, struct pl_rows *ret);
/** Lay out the columns for page->width and write the rows; @p heading NULL: none, else it stands over the names. */
void pl_rows_write(const struct pl_rows *rows, const char *heading, struct pl_page *page);

#endif
