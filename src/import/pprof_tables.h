/* SPDX-License-Identifier: Apache-2.0 */
/* A profile.proto's tables, which may stand before or after its samples, and its facts. Private to import/pprof*.c. */
#ifndef PL_PPROF_TABLES_H
#define PL_PPROF_TABLES_H

#include "import.h"
#include "map.h"
#include "protobuf.h"

/* Field numbers of Profile and of a sample. */
enum {
	PL_PPROF_SAMPLE_TYPE = 1,
	PL_PPROF_SAMPLE,
	PL_PPROF_MAPPING,
	PL_PPROF_LOCATION,
	PL_PPROF_FUNCTION,
	PL_PPROF_STRING,
	PL_PPROF_TIME = 9,
	PL_PPROF_DURATION,
	PL_PPROF_PERIOD_TYPE,
	PL_PPROF_PERIOD,
	PL_PPROF_COMMENT,
	PL_PPROF_DEFAULT_TYPE
};

struct pl_pprof_type {
	uint64_t name, unit; /* strings */
};
struct pl_pprof_function {
	uint64_t name, system_name, file;
	int64_t firstline;
};
struct pl_pprof_line {
	uint64_t function; /* its id */
	int64_t line, column;
};
struct pl_pprof_location {
	uint64_t mapping, address; /* mapping: its id */
	uint32_t first, count;	   /* lines, the innermost first */
};

struct pl_pprof {
	const uint8_t *begin; /* of the input */
	PL_VEC(struct pl_cursor) strings;
	PL_VEC(struct pl_pprof_type) types;
	PL_VEC(struct pl_pprof_function) functions;
	PL_VEC(struct pl_pprof_line) lines;
	PL_VEC(struct pl_pprof_location) locations;
	PL_VEC(uint64_t) mapping_files, mapping_builds;	       /* strings */
	struct pl_map function_ids, location_ids, mapping_ids; /* id -> index */
	uint64_t in_order; /* the ids of so many locations, from the first on, are 1, 2, ... */
	pl_pb_numbers comments;
	struct pl_pprof_type period_type;
	int64_t time_ns, duration_ns, period;
	uint64_t default_type; /* string */
	uint64_t samples;
};

/** Errors: PLUMB_ERR_CORRUPT naming the byte, PLUMB_ERR_NO_MEMORY. @p t is for pl_pprof_deinit in any case. */
struct plumb_error *pl_pprof_read_tables(struct pl_pprof *t, const struct pl_import_input *in) PLUMB_MUST_CHECK;
void pl_pprof_deinit(struct pl_pprof *t);
/** Text of a string. Errors: PLUMB_ERR_CORRUPT: there is none of that number. */
struct plumb_error *pl_pprof_text(const struct pl_pprof *t, uint64_t string, struct pl_cursor *ret) PLUMB_MUST_CHECK;
/** The index of a location; false: there is none of that id. */
bool pl_pprof_find_location(const struct pl_pprof *t, uint64_t id, uint32_t *ret);
bool pl_pprof_is_text(struct pl_cursor text, const char *what);
/** "byte N: ..." of what is at @p at. */
struct plumb_error *pl_pprof_error(const struct pl_pprof *t, const uint8_t *at, const char *fmt, ...)
	PL_PRINTF(3, 4) PLUMB_MUST_CHECK;

#endif
