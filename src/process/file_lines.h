/* SPDX-License-Identifier: Apache-2.0 */
/* The debug information of a file, with the work that may be done for it: reading it, and each question. */
#ifndef PL_FILE_LINES_H
#define PL_FILE_LINES_H

#include "dwarf.h"
#include "mapped_functions.h"

struct pl_file_lines {
	struct pl_work work;
	struct pl_dwarf *dwarf; /* NULL: it has none that can be read */
	bool partly;		/* work ended before all of it was read */
};

/** That of a file that is mapped (mapped_lines.h), for @p most units of work; place->work is of no use here. NULL
 * without memory. Owner of what is returned: caller. */
struct pl_file_lines *pl_file_lines_of_mapping(const struct pl_mapped_place *place, const struct pl_mapping *m,
					       const uint8_t *build_id, size_t build_id_len, uint64_t most);
/** That of a file by its build-id (pl_filed_lines), likewise. */
struct pl_file_lines *pl_file_lines_of_build(const char *path, const uint8_t *build_id, size_t build_id_len,
					     uint64_t most);
/** Tell of the instruction at @p addr, as pl_dwarf_places does, for @p most units of work at most, which counts in
 * l->work. *left_out: something was not told, or may not have been, as that is not enough. */
size_t pl_file_lines_places(struct pl_file_lines *l, uint64_t addr, uint64_t most,
			    void (*tell)(void *ctx, const struct pl_dwarf_place *p), void *ctx, bool *left_out);
/** NULL-safe. */
void pl_file_lines_destroy(struct pl_file_lines *l);

#endif
