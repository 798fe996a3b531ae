/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two sets of recordings, and how sure that is. */
#ifndef PLUMB_DIFF_H
#define PLUMB_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include <plumb/error.h>
#include <plumb/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

enum plumb_diff_rows { PLUMB_DIFF_FUNCTIONS, PLUMB_DIFF_LINES, PLUMB_DIFF_PATHS };

struct plumb_diff_options {
	size_t size;		   /* sizeof(struct plumb_diff_options) */
	const char *format;	   /* see plumb_diff_format_at() */
	enum plumb_diff_rows rows; /* "collapsed" and "svg" are of paths, whatever this says */
	const char *normalize;	   /* NULL: "none" for programs that ended by themselves, or with `units`, else "total";
				    * "none": times as they are; "total" (or "time"): shares of the time alone; "samples":
				    * shares of the samples; or the name of a function whose time is the measure */
	enum plumb_idle idle;
	const char *const
		*threads; /* only these, by name or decimal tid, each in a profile of either side; NULL: all */
	size_t thread_count;
	const char *const *processes; /* only these, by name or decimal pid; NULL: all */
	size_t process_count;
	double fail_above;		      /* share; see plumb_diff_failed(); negative: no limit */
	const char *before_name, *after_name; /* of the recordings, to be shown */
	bool full_names, no_escape;
	bool color, ascii;   /* text */
	int width;	     /* text; 0: 80 */
	const char *per;     /* what the units are called, such as "request" */
	const double *units; /* of work done; times are told for one of them. NULL: unknown */
	size_t unit_count;   /* 2: of each side, shared alike by its recordings; or one for each recording, those
			      * before first */
};

#define PLUMB_DIFF_OPTIONS_INIT                                                                                        \
	{                                                                                                              \
		.size = sizeof(struct plumb_diff_options), .format = "text", .fail_above = -1                          \
	}

/** What a comparison has of the options of a report: idle, threads, processes, names, escapes, colours, width. What
 * they point to is borrowed. */
PLUMB_API void plumb_diff_take_report(struct plumb_diff_options *o, const struct plumb_report_options *report);

struct plumb_diff;

/**
 * Compare. The profiles are only read; they and what @p o points to must live as long as the comparison.
 * Errors: PLUMB_ERR_UNKNOWN_FORMAT, PLUMB_ERR_INVALID (modes differ, nothing to compare, no such function, units that
 * are not from 1e-9 to 1e18 or whose number does not fit, or with shares or a function as the measure, times of
 * recordings that have none), PLUMB_ERR_NO_MEMORY. Owner of *ret: caller, plumb_diff_destroy().
 */
PLUMB_API struct plumb_error *plumb_diff_create(const struct plumb_profile *const *before, size_t before_count,
						const struct plumb_profile *const *after, size_t after_count,
						const struct plumb_diff_options *o,
						struct plumb_diff **ret) PLUMB_MUST_CHECK;
PLUMB_API void plumb_diff_destroy(struct plumb_diff *d);

/** Write it to the file descriptor @p fd (not closed). Errors: PLUMB_ERR_WRITE_FAILED. */
PLUMB_API struct plumb_error *plumb_diff_write(const struct plumb_diff *d, int fd) PLUMB_MUST_CHECK;

/** Whether the limit was passed; false without one. It is if a row takes significantly more, by more than the limit, or
 * if all of it does: of programs that ended by themselves, or for a unit of work, or where "none" says that the work is
 * the same. With fewer than three recordings a side the latter may be chance, and counts all the same; so does a
 * recording that missed so much of its time that how long such a program took is not known. */
PLUMB_API bool plumb_diff_failed(const struct plumb_diff *d);

/** The @p i-th form that a comparison can have, from 0; false past the last. */
PLUMB_API bool plumb_diff_format_at(size_t i, struct plumb_format *ret);
/** The form that the suffix of @p path names, NULL if none. */
PLUMB_API const char *plumb_diff_format_for_path(const char *path);

#ifdef __cplusplus
}
#endif
#endif
