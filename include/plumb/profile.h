/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: what was recorded, ready to be written in any output format. */
#ifndef PLUMB_PROFILE_H
#define PLUMB_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <plumb/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plumb_profile;

/** Which samples of waiting threads count. */
enum plumb_idle {
	PLUMB_IDLE_HIDE_THREADS, /* leave out threads (not the main one) that did nothing all along; the header says how
				    many */
	PLUMB_IDLE_KEEP,	 /* count everything */
	PLUMB_IDLE_SKIP_SAMPLES, /* count only samples on a CPU or holding the GIL */
};

struct plumb_report_options {
	size_t size;	    /* sizeof(struct plumb_report_options) */
	const char *format; /* "text", "json", "markdown", "collapsed"; see plumb_format_at() */
	enum plumb_idle idle;
	const char *const *threads; /* only these, by name or decimal tid; NULL: all */
	size_t thread_count;
	const char *const *processes; /* only these, by name or decimal pid; NULL: all */
	size_t process_count;
	bool lines; /* rows are lines instead of functions */
	bool full_names;
	bool no_escape;	       /* collapsed: leave names as they are */
	bool color, ascii;     /* text */
	int width;	       /* text; 0: 80 */
	const char *recording; /* text: shown in the next commands; NULL: none */
};

#define PLUMB_REPORT_OPTIONS_INIT                                                                                      \
	{                                                                                                              \
		.size = sizeof(struct plumb_report_options), .format = "text"                                          \
	}

/** How a recording file ended. */
struct plumb_recording_info {
	bool complete;		/* false: the profiler was killed; all whole chunks were read */
	uint64_t ignored_bytes; /* after the last whole chunk */
	uint64_t damaged_chunks;
};

/**
 * Read a recording. @param info may be NULL.
 * Errors: PLUMB_ERR_NOT_FOUND, PLUMB_ERR_NOT_A_RECORDING, PLUMB_ERR_NEWER_RECORDING, PLUMB_ERR_EMPTY, PLUMB_ERR_SYSTEM.
 * Owner of *ret: caller, plumb_profile_destroy().
 */
PLUMB_API struct plumb_error *plumb_profile_open(const char *path, struct plumb_recording_info *info,
						 struct plumb_profile **ret) PLUMB_MUST_CHECK;
PLUMB_API void plumb_profile_destroy(struct plumb_profile *p);

/** Write @p p to the file descriptor @p fd (not closed). Errors: PLUMB_ERR_UNKNOWN_FORMAT, PLUMB_ERR_WRITE_FAILED. */
PLUMB_API struct plumb_error *plumb_profile_write(const struct plumb_profile *p, const struct plumb_report_options *o,
						  int fd) PLUMB_MUST_CHECK;

/** An output format. */
struct plumb_format {
	const char *name, *suffix /* "" if none */, *summary;
};
/** The @p i-th format, from 0; false past the last. */
PLUMB_API bool plumb_format_at(size_t i, struct plumb_format *ret);
/** The format that the suffix of @p path names, NULL if none. */
PLUMB_API const char *plumb_format_for_path(const char *path);

#ifdef __cplusplus
}
#endif
#endif
