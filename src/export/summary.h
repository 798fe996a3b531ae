/* SPDX-License-Identifier: Apache-2.0 */
/* A report in words: what ran, what is wrong with it, how far the figures can be trusted, what the sampling cost. */
#ifndef PL_SUMMARY_H
#define PL_SUMMARY_H

#include "export.h"
#include "faults.h"
#include "frame_name.h"
#include "line.h"

struct pl_item {
	char text[400];
	enum pl_tone tone;
	size_t name_at, name_len; /* what in it is the program's, or of who asked; 0 bytes: nothing */
};

struct pl_summary_row {
	const char *label;
	struct pl_item items[18];
	int count;
};

enum {
	PL_SUMMARY_TITLE, /* without the name of the program, which can be long and needs cutting */
	PL_SUMMARY_PROCESSES,
	PL_SUMMARY_WAITS,
	PL_SUMMARY_EVENTS,
	/* the details behind the verdict */
	PL_SUMMARY_WHERE,
	PL_SUMMARY_GIL,
	PL_SUMMARY_SAMPLES,
	PL_SUMMARY_TRUTH,
	PL_SUMMARY_OVERHEAD,
	PL_SUMMARY_ROWS
};

struct pl_summary {
	struct pl_totals totals;
	struct pl_summary_row rows[PL_SUMMARY_ROWS];
	struct pl_faults faults;       /* what is wrong with the program, the gravest first */
	struct pl_summary_row verdict; /* one line: how far the figures can be trusted; nothing where nobody knows */
	struct pl_item warnings[8];    /* whole sentences */
	int warning_count;
	double gil_held, gil_held_half_width; /* share of the time; 0 where it is not known */
	double missed;			      /* share of the time */
	double scale;			      /* of times, to allow for what was missed: 1 or more */
	bool unicode;
};
#define PL_SUMMARY_DETAILS PL_SUMMARY_WHERE

struct plumb_error *pl_summary_make(const struct plumb_profile *p, const struct pl_filter *f, bool unicode,
				    struct pl_summary *ret) PLUMB_MUST_CHECK;
/** Files of most tools do not tell how sure their stacks are, nor what was missed. */
bool pl_summary_tells_truth(const struct pl_summary *s, const struct plumb_profile *p);
/** "no samples of a thread 'x'; there are: 12 MainThread, ...", of the first process or thread that @p f names and none
 * of @p profiles has; false: there is none. */
bool pl_summary_unmatched(const struct plumb_profile *const *profiles, size_t count, const struct pl_filter *f,
			  bool unicode, struct pl_item *ret);
/** What ran: "app.py 3", with its arguments but without the interpreter; @p full: the whole command line. */
struct pl_text pl_summary_program(const struct plumb_profile *p, bool full);
/** Decide what the verdict is: by the least certain share that is shown of @p tree. Without functions, as all of their
 * frames were left out, those of what threads did are all that is told. */
void pl_summary_judge(struct pl_summary *s, const struct plumb_profile *p, const pl_tree_rows *tree);
/** Look for what is wrong: with the program, not with the profile. */
struct plumb_error *pl_summary_find(struct pl_summary *s, const struct plumb_profile *p,
				    const struct pl_filter *f) PLUMB_MUST_CHECK;
/** Add an item, cut to what there is room for. Gives it. */
struct pl_item *pl_summary_item(struct pl_summary_row *row, enum pl_tone tone, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** Say that @p name, which @p it has in its text, is the program's; plain words are everybody's. NULL: does nothing. */
void pl_item_mark(struct pl_item *it, const char *name);
/** Add to row number @p row an item with the beginning of @p name, which is the program's, made safe to show. */
void pl_summary_name(struct pl_summary *s, int row, const char *before, struct pl_text name, const char *behind);
/** Add a sentence to the warnings, while there is room. Gives it; NULL: there was none. */
struct pl_item *pl_summary_warn(struct pl_summary *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- between the files of it ---- */

/* Shares below this are not worth an item, or a sentence. */
#define PL_SUMMARY_WORTH_TELLING 0.01
/** @p part of @p whole; 0 where there is no whole. */
static inline double pl_ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}
void pl_summary_add_warnings(struct pl_summary *s, const struct plumb_profile *p, const struct pl_filter *f);
/** What happened: how many of each kind, and of marks the first names. */
struct plumb_error *pl_summary_events(struct pl_summary *s, const struct plumb_profile *p,
				      const struct pl_filter *f) PLUMB_MUST_CHECK;
/** How often a stop was refused, for whatever cause. */
uint64_t pl_summary_refused_stops(const struct plumb_profile *p);

#endif
