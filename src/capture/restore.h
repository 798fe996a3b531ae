/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: decompressed payloads into a profile. */
#ifndef PL_CAPTURE_RESTORE_H
#define PL_CAPTURE_RESTORE_H

#include "capture.h"
#include "format.h"
#include "idmap.h"
#include "map.h"
#include "sum.h"

#define PL_ROW_MEMORY	   128	   /* a row, its entries in hash maps, its id */
#define PL_MEMORY_PER_BYTE 4096ull /* that rows and texts may take, of each byte of the file */

/** A thread of the current chunk. */
struct pl_thread_slot {
	uint32_t thread;    /* id of the profile */
	uint64_t weight_ns; /* of its last sample */
};

/** A place of the current chunk. */
struct pl_place {
	uint32_t thread_slot; /* number of the thread within the chunk */
	uint32_t stack;	      /* id of the profile */
	bool lost;	      /* part of its stack was in a damaged chunk */
};

struct pl_restore {
	struct plumb_profile *profile;
	pl_capture_sample_fn *fn;
	void *ctx;
	bool stopped; /* by an error of fn */
	bool again;   /* the profile has it all already: count nothing, change no row */
	struct pl_idmap strings, functions, locations, stacks, processes, locks, modules;
	PL_VEC(struct pl_process) brief; /* rows of section 5, which `processes` leads to; not yet in the profile */
	struct pl_map threads, lives;	 /* id of the file -> id of the profile */
	struct pl_map hosts;		 /* process of the file -> string of the profile */
	uint64_t memory_left;		 /* what the bytes read so far can justify; see restore.c */
	uint64_t frames_left;		 /* likewise, of all places */
	uint64_t cells_max;		 /* likewise, of the rows that samples make */
	uint64_t lost_samples;
	bool incomplete;      /* as its last totals say: what it was made of was */
	uint64_t lost_events; /* beyond what a profile takes */
	unsigned axis_shift;  /* of what was added up: as the last chunk had it */
	struct pl_axis axis;
	struct pl_decoder *opcodes; /* of the current chunk's locations; NULL: there are none */
	struct pl_decoder *labels;  /* of its functions, likewise */
	struct pl_decoder *unnamed; /* of those, too */
	struct pl_decoder *plumbing;
	struct pl_decoder *debug;     /* of its functions, then of its locations */
	struct pl_decoder *addresses; /* of its locations */
	bool has_lost_stack;
	uint32_t lost_stack;	     /* the marker "<lost>" */
	PL_VEC(bool) with_hole;	     /* by stack of the profile, as far as it was asked: "<lost>" is a part of it */
	PL_VEC(uint64_t) lengths;    /* by stack of the profile, as far as it was asked: what its frames count */
	PL_VEC(uint64_t) name_bytes; /* by location of the profile, as far as it was asked: how long its names are */
	/* Of the current chunk. */
	struct pl_map thread_slots; /* id of the file -> number of the slot */
	PL_VEC(struct pl_thread_slot) slots;
	PL_VEC(struct pl_place) places;
	size_t places_paid; /* the most that a chunk had: their memory is kept */
};

void pl_restore_init(struct pl_restore *r, struct plumb_profile *p, pl_capture_sample_fn *fn, void *ctx);
void pl_restore_deinit(struct pl_restore *r);
/** Apply one payload. Errors: PLUMB_ERR_CORRUPT if it contradicts itself: what came before the contradiction is kept
 * and the samples after it are counted as lost; others are final. */
struct plumb_error *pl_restore_chunk(struct pl_restore *r, const struct pl_chunk_header *h,
				     const struct pl_buf *raw) PLUMB_MUST_CHECK;

/* Parts of the above. Sections absent from the payload are empty. */
struct plumb_error *pl_restore_tables(struct pl_restore *r, struct pl_decoder sections[PL_SECTIONS]) PLUMB_MUST_CHECK;
struct plumb_error *pl_restore_samples(struct pl_restore *r, uint32_t count,
				       struct pl_decoder sections[PL_SECTIONS]) PLUMB_MUST_CHECK;

/** Take the frames of a stack, which formats write, of r->frames_left. Errors: PLUMB_ERR_CORRUPT if there are fewer. */
struct plumb_error *pl_restore_spend_frames(struct pl_restore *r, uint32_t stack) PLUMB_MUST_CHECK;
/** pl_profile_location_bytes(), which is asked for each stack. */
struct plumb_error *pl_restore_name_bytes(struct pl_restore *r, uint32_t location, uint64_t *ret) PLUMB_MUST_CHECK;
/** Take @p bytes of r->memory_left. Errors: PLUMB_ERR_CORRUPT if there are fewer. */
struct plumb_error *pl_restore_spend(struct pl_restore *r, uint64_t bytes) PLUMB_MUST_CHECK;

/* Ids of the file -> ids of the profile; what was lost becomes "<lost>". */
struct plumb_error *pl_restore_stack_id(struct pl_restore *r, uint32_t id, uint32_t *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_restore_thread_id(struct pl_restore *r, uint32_t id, uint32_t *ret) PLUMB_MUST_CHECK;

#endif
