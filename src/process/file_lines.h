/* SPDX-License-Identifier: Apache-2.0 */
/* The debug information of a file, with the work that may be done for it: reading it, and each question. */
#ifndef PL_FILE_LINES_H
#define PL_FILE_LINES_H

#include "dwarf.h"
#include "mapped_functions.h"

struct pl_file_lines {
	struct pl_work work;
	struct pl_dwarf *dwarf; /* NULL: it has none that can be read */
};

/** That of a file that is mapped (mapped_lines.h), for @p most units of work; place->work is of no use here. NULL
 * without memory. Owner of what is returned: caller. */
struct pl_file_lines *pl_file_lines_of_mapping(const struct pl_mapped_place *place, const struct pl_mapping *m,
					       const uint8_t *build_id, size_t build_id_len, uint64_t most);
/** NULL-safe. */
void pl_file_lines_destroy(struct pl_file_lines *l);

#endif
