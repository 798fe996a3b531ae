/* SPDX-License-Identifier: Apache-2.0 */
/* The debug information of a file that a process has mapped, or of one by its build-id. */
#ifndef PL_MAPPED_LINES_H
#define PL_MAPPED_LINES_H

#include "dwarf.h"
#include "mapped_functions.h"

/**
 * That of the file of mapping @p m, an executable one: in the file itself, else in what belongs to it by its build-id
 * (debug_file.h). place->work has to be there as long as *ret is.
 * @param build_id as many bytes as it has; may be empty.
 * *ret: NULL if there is none that can be read. Errors: PLUMB_ERR_NO_MEMORY. Owner of *ret: caller.
 */
struct plumb_error *pl_mapped_lines(const struct pl_mapped_place *place, const struct pl_mapping *m,
				    const uint8_t *build_id, size_t build_id_len,
				    struct pl_dwarf **ret) PLUMB_MUST_CHECK;

/** The same where no process has it mapped: in the plain file @p path, if it has that build-id, else in what belongs to
 * it. @p work has to be there as long as *ret is. */
struct plumb_error *pl_filed_lines(const char *path, const uint8_t *build_id, size_t build_id_len, struct pl_work *work,
				   struct pl_dwarf **ret) PLUMB_MUST_CHECK;

#endif
