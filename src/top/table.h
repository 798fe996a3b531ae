/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a view, of which one is chosen. Who fills them anew keeps what is chosen. */
#ifndef TABLE_H
#define TABLE_H

#include <plumb/plumb.h>

#include "bars.h"
#include "terminal.h"

#define TABLE_COLUMNS  4
#define TABLE_BARS     2
#define TABLE_MAX_ROWS 5000

struct row {
	uint64_t key; /* what it is, in whichever frame */
	char figures[TABLE_COLUMNS][16];
	struct bar bars[TABLE_BARS];
	int indent;
	const char *sign;	/* before the name; safe */
	int owner;		/* before the name, too: the process, where there are several; 0: not told */
	const char *owner_name; /* text of others; NULL: not known */
	const char *name;	/* text of others; as long as the look lives. NULL: the tail stands in its place */
	const char *note;	/* behind the name, as it; NULL: none */
	char tail[256];		/* behind it: a place, or a strip; text of others, too */
	enum tone tone;
	double weight; /* to sort by */
	double left;   /* of a flame graph: where it begins, as its weight a part of all */
	uint32_t depth;
	struct plumb_view_function function;
	bool has_function;
	bool open, has_children; /* of a tree */
	int pid;		 /* of a thread that is not always on a CPU; 0: none */
	uint64_t tid;
};

struct column {
	const char *title;
	int width, from_width; /* of the screen that it needs */
};

struct table {
	const struct column *columns; /* TABLE_COLUMNS of them; without a title: none */
	const char *const *bars;      /* titles of TABLE_BARS of them, where there is room; NULL: none */
	const char *title;	      /* of the names */
	bool from_end;		      /* who is at the end stays there, not who is at the top */
	struct row *rows;
	size_t count, room;
	size_t cursor, scroll;
	uint64_t key; /* of the row that is chosen; 0: the first, or the last, whatever it is */
};

/** A number for what the @p len bytes say, and @p seed. */
uint64_t table_key(uint64_t seed, const void *bytes, size_t len);
uint64_t table_function_key(uint64_t seed, const struct plumb_view_function *f);

void table_clear(struct table *t);
/** A new empty row; NULL: there is no room. */
struct row *table_add(struct table *t);
/** By weight, the heaviest first. */
void table_sort(struct table *t);
/** All rows are there: find the one that is chosen. */
void table_ready(struct table *t);
void table_free(struct table *t);

void table_move(struct table *t, long by);
/** Choose the row that was drawn @p line lines below the heading's. */
void table_choose_line(struct table *t, int line);
/** To the next row in which @p text is, after the one chosen, or from the beginning; false: there is none. */
bool table_search(struct table *t, const char *text);
const struct row *table_chosen(const struct table *t);
/** Draw on the rows @p from to below @p to of the screen, a heading first. */
void table_draw(struct table *t, int from, int to, int width, bool unicode);

#endif
