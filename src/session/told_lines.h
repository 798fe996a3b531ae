/* SPDX-License-Identifier: Apache-2.0 */
/* What debug information tells of the places of a profile whose lines were not known. */
#ifndef PL_TOLD_LINES_H
#define PL_TOLD_LINES_H

#include "late_symbols.h"
#include "refine.h"
#include "strtab.h"

struct pl_told_lines {
	struct pl_strtab *texts; /* many places can be in functions and files of the same name, which may be long */
	struct pl_told *told;	 /* by location */
	uint32_t count;		 /* of locations */
	size_t told_count, left_out;
};

/** Of the locations of @p p nothing is known yet. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_told_lines_init(struct pl_told_lines *l, const struct plumb_profile *p) PLUMB_MUST_CHECK;
void pl_told_lines_deinit(struct pl_told_lines *l);
/** Ask the file whose debug information is open in @p s of @p location, which is at @p address in it. Errors:
 * PLUMB_ERR_NO_MEMORY, PLUMB_ERR_LIMIT. */
struct plumb_error *pl_told_lines_add(struct pl_told_lines *l, struct pl_late_symbols *s, uint32_t location,
				      uint64_t address) PLUMB_MUST_CHECK;

#endif
