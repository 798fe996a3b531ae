/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of the files that sampled functions come from: which are wanted, which were read. Consumer thread only. */
#ifndef PL_SOURCE_TEXTS_H
#define PL_SOURCE_TEXTS_H

#include "file_text.h"
#include "map.h"
#include "profile.h"
#include "source_reader.h"
#include "vec.h"

#define PL_TEXTS_MAX_BYTES (32u << 20) /* of all */
#define PL_TEXTS_MAX_FILES 65536u      /* names tried, once for each process that ran something of them */

struct pl_process_info;

/** Wishes in the order in which they came, linked by their `next`: numbers of them, + 1; 0: none. */
struct pl_text_list {
	uint32_t first, last;
};

struct pl_text_place {
	struct pl_text_list waiting; /* for it to become known */
	pid_t pid;		     /* 0: not known yet */
	uint64_t start_ns;
	uint32_t view_number;
	struct pl_file_view view;
};

struct pl_text_wish {
	uint32_t file, process; /* string id; number in the output */
	uint32_t view;		/* of the process, when it ran code of that file */
	uint32_t next;
};

struct pl_texts {
	bool off;
	PL_VEC(struct pl_text_place) places; /* by number in the output */
	PL_VEC(struct pl_text_wish) wishes;  /* all there ever were */
	struct pl_text_list due;	     /* those of known processes that were not asked for yet */
	PL_VEC(struct pl_file_state) states;
	struct pl_map asked;	/* (file, process) */
	struct pl_map read;	/* file -> its state when it was read last */
	struct pl_map left_out; /* file */
	uint64_t bytes;
	struct pl_source_reader reader;
	struct pl_text_wish asked_for; /* while reader.asker.asked */
	bool late;		       /* nothing more is asked for */
};

void pl_texts_deinit(struct pl_texts *t);
/** A function of @p file is run by @p process, which need not be known yet, and had that @p view then; 0: none for
 * certain, so nothing is read for it. */
struct plumb_error *pl_texts_want(struct pl_texts *t, uint32_t file, uint32_t process, uint32_t view) PLUMB_MUST_CHECK;
/** What is known of a process. */
struct plumb_error *pl_texts_process(struct pl_texts *t, const struct pl_process_info *info) PLUMB_MUST_CHECK;
/** Read what is wanted of known processes into @p p, as much as comes in a few milliseconds. */
struct plumb_error *pl_texts_read(struct pl_texts *t, struct plumb_profile *p) PLUMB_MUST_CHECK;
/** All of it that comes in some seconds; the rest is left out, and counted. */
struct plumb_error *pl_texts_finish(struct pl_texts *t, struct plumb_profile *p) PLUMB_MUST_CHECK;

#endif
