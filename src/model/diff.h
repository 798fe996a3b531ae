/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of two sets of recordings (layer model): what takes more, what takes less, and how sure that is.
 * Method: docs/internals/statistics.md. Pure; the profiles are only read and must live as long as the comparison. */
#ifndef PL_DIFF_H
#define PL_DIFF_H

#include "vec.h"
#include "view.h"

#define PL_DIFF_NO_ROW UINT32_MAX
/* Of what is called a change, so much may be chance. */
#define PL_DIFF_SELF_RATE  0.03
#define PL_DIFF_TOTAL_RATE 0.01
/* From one recording a side it cannot be known how much runs differ by themselves: smaller changes are not called so.
 */
#define PL_DIFF_MIN_CHANGE 0.02
/* Times of two runs differ by more than their shares do: by the machine's speed. */
#define PL_DIFF_MIN_TIME_CHANGE 0.05
/* How much runs differ can be told from so many a side on. */
#define PL_DIFF_RUNS_MIN 3

enum pl_diff_rows { PL_DIFF_FUNCTIONS, PL_DIFF_LINES, PL_DIFF_PATHS };
enum pl_diff_scale {
	PL_DIFF_BY_TIME,     /* share of the time of all threads shown */
	PL_DIFF_BY_SAMPLES,  /* share of all samples */
	PL_DIFF_BY_FUNCTION, /* time for each unit of time of a named function, with all it called */
};
/** What rows are judged by; by a function as their scale always by that. */
enum pl_diff_measure {
	PL_DIFF_AS_FITS, /* time where all runs did the same work, as programs that ended by themselves, or where it is
			  * told how much they did; else shares */
	PL_DIFF_IN_SHARES, /* how long it all took does not count */
	PL_DIFF_IN_TIME,   /* of a run, whatever ended it */
};
enum pl_diff_side { PL_DIFF_BEFORE, PL_DIFF_AFTER, PL_DIFF_SIDES };

struct pl_diff_options {
	struct pl_filter filter; /* of both sides; `lines` is not looked at */
	enum pl_diff_rows rows;
	enum pl_diff_scale scale;
	const char *reference; /* PL_DIFF_BY_FUNCTION: its name, qualified or not */
	enum pl_diff_measure measure;
	const double *units; /* of work that each run did, those before first; all > 0; NULL: not told */
};

struct pl_diff_input {
	const struct plumb_profile *const *profiles;
	size_t count;
};

enum pl_diff_verdict { PL_DIFF_SAME, PL_DIFF_NEW, PL_DIFF_GONE, PL_DIFF_MORE, PL_DIFF_LESS };

/** The time of a row before and after: of a run or of a unit of work, with what was missed; the mean of the side's
 * runs. */
struct pl_diff_time {
	double before_ns, after_ns; /* NaN: not known */
	double relative_half_width; /* of after / before - 1, 95 %; NaN if there is no before */
};

/** One figure before and after: a share of the scale, 0..1 (of a function: 0 and up), the mean of the side's runs. */
struct pl_diff_value {
	double before, after;
	double half_width;	    /* of after - before, 95 % */
	double relative_half_width; /* of after / before - 1; NaN if there is no before */
	double p, q;		    /* chance of such a change by itself; false discovery rate (discovery.h) */
	double detectable;	    /* a change of the share of this size would have been found 95 times of 100 */
	double seen_from; /* likewise, of what the row took: relative; infinite: none; NaN: too light for anyone to ask
			   */
	struct pl_diff_time time;
	uint64_t before_samples, after_samples;
	enum pl_diff_verdict verdict;
};

/** What a row stands for. Names are those of the profile that saw it last. */
struct pl_diff_key {
	const struct plumb_profile *profile;
	uint32_t function;
	int32_t line; /* PL_DIFF_LINES; 0: none */
};

struct pl_diff_row {
	uint32_t key;
	uint32_t parent; /* PL_DIFF_PATHS: row of the caller; else PL_DIFF_NO_ROW */
	struct pl_diff_value self, total;
};

/** What was put in on one side. */
struct pl_diff_total {
	size_t runs;
	uint64_t samples, weight_ns, reference_ns;
	uint64_t file_bytes; /* of all recordings; 0: one is none, or not of a file */
	bool batched; /* every run has the batches that intervals are made of; else samples are taken as independent */
	bool whole;   /* every run is of a program that ended by itself: its time is that of the same work */
	bool timed;   /* weights are times, not numbers of samples */
	double unscaled; /* how much a run missed, 0..1, of which that is too much to scale its times; 0: none */
	double units;	 /* of work, of all runs; their number if it is not told */
	/* Of a run or a unit of work: its time, with what was missed; the sum of squares around that. */
	double mean_ns, squares_ns;
};

/** By how much all of it takes longer. */
struct pl_diff_growth {
	bool known; /* the same work on both sides: programs that ended by themselves, or if that is said; and no run
		     * missed too much */
	bool sure;  /* chance is an unlikely cause of a growth above the limit: from three runs a side on */
	double before_ns, after_ns, relative;
	double half_width; /* of `relative`, 95 %; NaN: from two runs a side on it is known how much they differ */
};

struct pl_diff {
	enum pl_diff_rows rows;
	enum pl_diff_scale scale;
	bool between_runs; /* the variance is that between runs */
	bool in_shares;	   /* shares alone were asked for: how long it all took does not count */
	bool in_time;	   /* rows are judged by their time; else by their part of the scale */
	bool time_unknown; /* they would be, but a side missed too much: the shares of the rest are compared */
	bool share_too; /* and by their share as well: one run a side, of which the machine may have been slower at one
			 */
	bool per_unit;	/* the times are those of a unit of work */
	struct pl_diff_total sides[PL_DIFF_SIDES];
	struct pl_diff_key *keys;
	uint32_t key_count;
	uint32_t moved;		   /* functions taken for the same though their folders differ */
	struct pl_diff_row *table; /* parents before children */
	uint32_t row_count;
	uint32_t *order; /* rows: significant ones first (new, gone, then the largest change), then the heaviest */
	uint32_t self_changes, total_changes;
};

/** Errors: PLUMB_ERR_INVALID (a mode differs, a side is empty, the named function is not there), PLUMB_ERR_LIMIT (more
 * paths than files of that size may have), PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_diff_make(const struct pl_diff_input sides[PL_DIFF_SIDES], const struct pl_diff_options *o,
				 struct pl_diff *ret) PLUMB_MUST_CHECK;
void pl_diff_deinit(struct pl_diff *d);

/** How long all of it took, and whether that is surely more than @p above of before. */
struct pl_diff_growth pl_diff_growth(const struct pl_diff *d, double above);
/** Whether all of it takes longer by more than @p above; with fewer than three runs a side also if that may be chance:
 * nothing that could be slower passes. Never by a function, which has a measure of its own, nor in shares alone. */
bool pl_diff_grew(const struct pl_diff *d, double above);
/** after / before - 1 of what rows are judged by; infinite without a before. */
double pl_diff_relative(const struct pl_diff *d, const struct pl_diff_value *v);
/** Its half width, 95 %; NaN without a before. */
double pl_diff_relative_half_width(const struct pl_diff *d, const struct pl_diff_value *v);
/** Whether a side has too few runs to tell how much they differ, though one has several. */
bool pl_diff_few_runs(const struct pl_diff *d);
/** Rows that take significantly more, by more than @p above of what they took; new ones: of everything. */
uint32_t pl_diff_slower(const struct pl_diff *d, double above);

#endif
