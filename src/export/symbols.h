/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for formats that have tables of their own: valid UTF-8, only what samples refer to, and each thing once even
 * if the profile tells two apart by more than the format does. */
#ifndef PL_SYMBOLS_H
#define PL_SYMBOLS_H

#include "labels.h"
#include "map.h"
#include "profile.h"
#include "vec.h"

struct pl_symbol_function {
	uint32_t name, system_name, file; /* strings of the tables; system_name 0: as the name */
	uint32_t firstline;
	uint8_t origin;
	uint32_t library; /* 1 + index; 0: none whose build is known */
};
/** A file of machine code whose build-id is known. */
struct pl_symbol_library {
	uint32_t file, build_id; /* strings of the tables */
};
struct pl_symbol_location {
	uint32_t function; /* index */
	int32_t line, column;
};

/* The labels of a tag. */
struct pl_symbol_tag {
	unsigned count;
	struct {
		uint32_t name, value; /* strings of the tables */
	} labels[PL_LABELS_MAX];
};

struct pl_symbols {
	const struct plumb_profile *p;
	struct pl_strtab *strings;
	PL_VEC(struct pl_symbol_function) functions;
	PL_VEC(struct pl_symbol_location) locations;
	PL_VEC(struct pl_symbol_library) libraries;
	struct pl_map library_of; /* string of the tables -> index */
	uint32_t *location_of;	  /* profile's location -> index; only those that samples refer to */
	uint32_t *string_of;	  /* profile's string -> 1 + string of the tables, 0: not asked for yet */
	uint32_t *tag_of;	  /* profile's function -> 1 + index of `tags`, 0: not asked for yet */
	uint32_t *tag_nodes;	  /* profile's stack -> its tag (pl_tag_nodes) */
	PL_VEC(struct pl_symbol_tag) tags;
	const char *const *reserved; /* names that the format uses itself, NULL after the last */
	bool origins[PL_ORIGINS];    /* which there are */
};

#define PL_SYMBOLS_PREFIX "tag." /* of labels with a reserved name */

/** All locations and functions of @p p that have samples, in the order of its ids; tags are none. */
struct plumb_error *pl_symbols_init(struct pl_symbols *s, const struct plumb_profile *p,
				    const char *const *reserved) PLUMB_MUST_CHECK;
void pl_symbols_deinit(struct pl_symbols *s);
struct plumb_error *pl_symbols_bytes(struct pl_symbols *s, const void *text, size_t len,
				     uint32_t *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_symbols_text(struct pl_symbols *s, const char *text, uint32_t *ret) PLUMB_MUST_CHECK;
/** Of a string of the profile. */
struct plumb_error *pl_symbols_string(struct pl_symbols *s, uint32_t string, uint32_t *ret) PLUMB_MUST_CHECK;

/** The labels of the samples on the tag @p node (of tag_nodes), which may be 0. They live until the next call. */
struct plumb_error *pl_symbols_tag(struct pl_symbols *s, uint32_t node,
				   const struct pl_symbol_tag **ret) PLUMB_MUST_CHECK;

/** Samples that agree in all but their time. */
struct pl_symbol_group {
	uint32_t stack, thread;
	uint16_t state;
	uint8_t quality;
	uint64_t samples, weight_ns;
};
typedef struct plumb_error *pl_symbol_group_fn(void *ctx, const struct pl_symbol_group *g);
/** Give all cells of @p p to @p fn, in the order of stack, thread, state, quality; its first error ends it. Memory: 4
 * bytes for each cell and each stack. */
struct plumb_error *pl_symbol_groups_each(const struct plumb_profile *p, pl_symbol_group_fn *fn,
					  void *ctx) PLUMB_MUST_CHECK;

/** Errors: PLUMB_ERR_LIMIT if stacks that have @p frames together are more than anyone can read. */
struct plumb_error *pl_symbols_check_frames(double frames) PLUMB_MUST_CHECK;

#endif
