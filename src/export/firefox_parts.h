/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a processed profile of the Firefox Profiler. Inside export/firefox*.c only. */
#ifndef PL_FIREFOX_PARTS_H
#define PL_FIREFOX_PARTS_H

#include <string.h>

#include "events.h"
#include "export.h"
#include "frame_name.h"
#include "json.h"
#include "spool.h"
#include "strtab.h"
#include "vec.h"

/* The category of a sample is that of its innermost frame: where it waited, or collected garbage, its stack ends in a
 * variant of that frame. */
enum pl_firefox_variant { PL_FIREFOX_PLAIN, PL_FIREFOX_WAITING, PL_FIREFOX_GC, PL_FIREFOX_VARIANTS };

struct pl_firefox_row {
	uint32_t stack;
	uint8_t variant; /* never plain */
};

struct pl_firefox {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	struct pl_json j;
	uint32_t *variants[PL_FIREFOX_VARIANTS];  /* stack -> row of the stack table; 0: none. [0] is not used */
	uint32_t *frames[PL_FIREFOX_VARIANTS];	  /* location -> row of the frame table; likewise */
	PL_VEC(struct pl_firefox_row) rows;	  /* the variants, in the order of their rows */
	PL_VEC(struct pl_firefox_row) frame_rows; /* `stack` is a location */
	uint32_t *sources;			  /* string -> 1 + row of the sources */
	PL_VEC(uint32_t) source_files;
	uint32_t *libraries; /* string -> 1 + row of the resources: files of machine code, and the kernel */
	PL_VEC(uint32_t) library_files;
	PL_VEC(uint32_t) libs; /* by row of the resources: 1 + number of the lib, 0: its build is not known */
	uint32_t lib_count;
	uint32_t *tag_nodes;	       /* stack -> its tag (labels.h), 0: none; NULL: there is no tag */
	struct pl_strtab *label_names; /* those that have a column */
	pl_event_vec events;	       /* by thread whose markers they are, and time */
};

struct plumb_error *pl_firefox_prepare(struct pl_firefox *w) PLUMB_MUST_CHECK;
void pl_firefox_deinit(struct pl_firefox *w);
/** Row of the stack table for a sample. */
uint32_t pl_firefox_stack(const struct pl_firefox *w, uint32_t stack, uint16_t state);
void pl_firefox_write_categories(struct pl_firefox *w);
void pl_firefox_write_shared(struct pl_firefox *w);

/* firefox_libs.c */
void pl_firefox_write_libs(struct pl_firefox *w);

/* firefox_markers.c */
/** Markers of a thread: its start, with the first thread what was lost, its labels, and what happened. */
struct plumb_error *pl_firefox_write_markers(struct pl_firefox *w, struct pl_spool *spool, uint32_t thread, bool losses,
					     uint64_t start_ns) PLUMB_MUST_CHECK;
void pl_firefox_write_marker_schema(struct pl_firefox *w);
/** Names of markers: strings after those of the profile. */
void pl_firefox_write_marker_names(struct pl_firefox *w);
/** A field of a kind of markers. */
void pl_firefox_write_field(struct pl_firefox *w, const char *key, const char *label, const char *format);

/* firefox_events.c */
/** Nothing where the times are made up. */
struct plumb_error *pl_firefox_events_prepare(struct pl_firefox *w, const struct pl_spool *spool) PLUMB_MUST_CHECK;
/** Those whose marker is of that thread. */
const struct pl_event *pl_firefox_events_of(const struct pl_firefox *w, uint32_t thread, size_t *count_ret);
/** Members of a marker, and what columns they have. */
void pl_firefox_write_event(struct pl_firefox *w, const struct pl_event *e);
void pl_firefox_write_event_fields(struct pl_firefox *w);

/* firefox_labels.c */
#define PL_FIREFOX_TAG "tag" /* the field with the text of a tag */
struct plumb_error *pl_firefox_labels_prepare(struct pl_firefox *w) PLUMB_MUST_CHECK;
/** A stretch of time in which a thread bore one tag, a node. */
struct pl_firefox_run {
	uint32_t tag;
	uint64_t start_ns, end_ns;
};
typedef void pl_firefox_run_fn(void *ctx, const struct pl_firefox_run *r);
struct plumb_error *pl_firefox_runs_each(const struct pl_firefox *w, struct pl_spool *spool, uint32_t thread,
					 pl_firefox_run_fn *fn, void *ctx) PLUMB_MUST_CHECK;
/** Errors: PLUMB_ERR_LIMIT if those of all threads are more than anyone can read. */
struct plumb_error *pl_firefox_labels_measure(const struct pl_firefox *w, struct pl_spool *spool) PLUMB_MUST_CHECK;
/** Members of a marker: the text of @p tag, and each of its labels. */
void pl_firefox_write_labels(struct pl_firefox *w, uint32_t tag);
/** What columns labels have. */
void pl_firefox_write_label_fields(struct pl_firefox *w);

#endif
