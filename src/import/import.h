/* SPDX-License-Identifier: Apache-2.0 */
/* Input formats: one file and one line in the table (importers.c) each. Layer import: base and model only.
 *
 * An importer gets the whole input as bytes and gives samples to a sink. It trusts nothing: every count and length is
 * checked against the bytes that are left, depth and memory are bounded by the length of the input, and what is wrong
 * ends it with PLUMB_ERR_CORRUPT and a sentence that says where ("line 12: ..."), or is skipped and counted where the
 * format is a list of lines. */
#ifndef PL_IMPORT_H
#define PL_IMPORT_H

#include "profile.h"
#include "vec.h"

struct pl_import_input {
	const uint8_t *bytes; /* decompressed; they end with a NUL that is not counted in len */
	size_t len;
};

/** Where samples go. The profile counts them. */
struct pl_sink {
	struct plumb_profile *profile; /* tables are interned here, and facts about the whole go to profile->meta */
	pl_sample_fn *fn;	       /* sees each sample; may be NULL */
	void *ctx;
	bool timed;	  /* set by the importer before the first one: its samples have times of their own */
	bool counted;	  /* likewise: it knows numbers of samples only, and these become their weights */
	uint64_t skipped; /* lines or records that were no samples */

	/* Private: samples that are counted together, and the frames that stand on their stacks. */
	struct pl_sample waiting[PL_TOGETHER];
	size_t frames_end[PL_TOGETHER]; /* in frames */
	size_t waiting_count;
	PL_VEC(uint32_t) frames;
};

/** Give a sample; it is counted at the latest when pl_importer_run() ends. */
struct plumb_error *pl_sink_add(struct pl_sink *sink, const struct pl_sample *s) PLUMB_MUST_CHECK;
/** The same with @p count locations on top of its stack, the outermost first. */
struct plumb_error *pl_sink_add_frames(struct pl_sink *sink, const struct pl_sample *s, const uint32_t *frames,
				       size_t count) PLUMB_MUST_CHECK;
/** The first one last: for formats that begin with the innermost. */
void pl_frames_turn(uint32_t *frames, size_t count);

/** Whether it looks like that; cheap, from its beginning. */
typedef bool pl_importer_is(const struct pl_import_input *in);
typedef struct plumb_error *pl_importer_read(const struct pl_import_input *in, struct pl_sink *sink);

struct pl_importer {
	const char *name;	     /* "collapsed" */
	const char *const *suffixes; /* {".folded", NULL} */
	const char *summary;	     /* one line for `plumb help formats` */
	pl_importer_is *is;
	pl_importer_read *read; /* called by pl_importer_run() */
};

/** Read @p in, and count all samples of it. After an error some may be counted. */
struct plumb_error *pl_importer_run(const struct pl_importer *importer, const struct pl_import_input *in,
				    struct pl_sink *sink) PLUMB_MUST_CHECK;

/** All of them, the most particular first; ends with a NULL name. */
extern const struct pl_importer pl_importers[];
const struct pl_importer *pl_importer_by_name(const char *name);
/** The first whose `is` says yes; NULL: none. */
const struct pl_importer *pl_importer_for(const struct pl_import_input *in);

#endif
