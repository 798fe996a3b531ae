/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a file that a process has mapped. */
#ifndef PL_MAPPED_FUNCTIONS_H
#define PL_MAPPED_FUNCTIONS_H

#include "elf_functions.h"
#include "maps.h"
#include "mem.h"
#include "target_file.h"

/** A process whose files are asked; all borrowed. */
struct pl_mapped_place {
	pid_t pid;
	const struct pl_file_view *seen; /* under which the files were seen to be mapped: with its rights they are read,
					  and what belongs to them */
	const pl_mapping_vec *maps;
	struct pl_mem *mem;
	struct pl_work *work; /* that may be done for all files together */
	/* Add what else tells of functions of a stripped file; NULL: nothing does. */
	void (*more)(const struct pl_elf *e, struct pl_functions *f);
};

/**
 * Those of the file of mapping @p m, an executable one: of the file itself, then, if it was stripped, of what belongs
 * to it by its build-id (debug_file.h). The vDSO is read from memory.
 * @param build_id as many bytes as it has; may be empty.
 * Errors: as pl_elf_open_fd, PLUMB_ERR_NOT_FOUND: no route leads to the file; PLUMB_ERR_NOT_PERMITTED: the process
 * itself may not read it. Owner of *ret: caller.
 */
struct plumb_error *pl_mapped_functions(const struct pl_mapped_place *place, const struct pl_mapping *m,
					const uint8_t *build_id, size_t build_id_len,
					struct pl_functions **ret) PLUMB_MUST_CHECK;

#endif
