/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a file by its build-id, when no process that has it mapped is there. */
#ifndef PL_FILED_FUNCTIONS_H
#define PL_FILED_FUNCTIONS_H

#include "elf_functions.h"

/** Is this the file with that build-id? False: it is another one, or does not say. */
bool pl_elf_has_build_id(const struct pl_elf *e, const uint8_t *build_id, size_t len);

/**
 * Those of the plain file @p path, if it has that build-id; then, if it was stripped or is another one, of what is kept
 * of it by build-id (debug_file.h), likewise.
 * @param more adds what else tells of functions of a stripped file; NULL: nothing does.
 * @param work that may be done for it; borrowed.
 * Errors: PLUMB_ERR_NOT_FOUND: none of these is here; PLUMB_ERR_NO_MEMORY. Owner of *ret: caller.
 */
struct plumb_error *pl_filed_functions(const char *path, const uint8_t *build_id, size_t len,
				       void (*more)(const struct pl_elf *e, struct pl_functions *f),
				       struct pl_work *work, struct pl_functions **ret) PLUMB_MUST_CHECK;

#endif
