/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a text report: figures on the left, what they belong to on the right. A struct pl_rows is large: not for the
 * stack of a small thread. */
#ifndef PL_ROWS_H
#define PL_ROWS_H

#include "export.h"
#include "frame_name.h"
#include "glyph.h"
#include "hot_path.h"
#include "line.h"
#include "units.h"

#define PL_ROWS_MAX  256
#define PL_ROW_PARTS 32

/* A piece of what a row is called: of the program's own text, or of ours. */
struct pl_row_part {
	struct pl_text text;
	bool ours;
	char room[16]; /* for numbers of ours */
};

struct pl_row {
	char share[16], error[16]; /* in percent */
	struct pl_units time;
	char cpu[8];   /* "81%": of this time, that on a CPU; "" where that is not known or no news */
	char lead[96]; /* branches of the tree, then "[+2] ": frames left out */
	struct pl_row_part parts[PL_ROW_PARTS];
	int part_count;
	int droppable[PL_HOT_ABOVE]; /* parts up to these can go if the name is too long: callers, outermost first */
	int droppable_count;
	bool dropped; /* some have gone already */
	struct pl_text file;
	uint32_t line; /* 0: none */
	bool bare;     /* no place */
	enum pl_tone tone;
};

/* Both tables of a report, whose columns are the same. */
struct pl_rows {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	double scale; /* of times: 1, or more where some were missed */
	bool cpu;     /* it is known who was on a CPU, and no news of all */
	struct pl_row rows[PL_ROWS_MAX];
	int count;
};

void pl_rows_begin(struct pl_rows *rows, const struct plumb_profile *p, const struct pl_export_options *o, double scale,
		   bool cpu);
/** Add the tree that @p hot has chosen. */
void pl_rows_add_tree(struct pl_rows *rows, const pl_tree_rows *tree, const pl_hot_rows *hot);
/** Add the first @p max functions that have a self; what is not resolved comes last. */
void pl_rows_add_functions(struct pl_rows *rows, const pl_function_rows *functions, int max);
/** Write the rows @p from to @p to of @p rows in columns that are laid out for all of them and page->width, below a
 * heading of @p share (over the shares) and @p what (over the names). */
void pl_rows_write(const struct pl_rows *rows, int from, int to, const char *share, const char *what,
		   struct pl_page *page);

#endif
