/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See file_lines.h. */
#include "file_lines.h"

#include <stdlib.h>

#include "mapped_lines.h"

struct pl_file_lines *pl_file_lines_of_mapping(const struct pl_mapped_place *place, const struct pl_mapping *m,
					       const uint8_t *build_id, size_t build_id_len, uint64_t most)
{
	struct pl_file_lines *l = calloc(1, sizeof *l);
	struct pl_mapped_place mine = *place;

	if (!l)
		return NULL;
	l->work.most = most;
	mine.work = &l->work;
	plumb_error_destroy(pl_mapped_lines(&mine, m, build_id, build_id_len, &l->dwarf));
	return l;
}

void pl_file_lines_destroy(struct pl_file_lines *l)
{
	if (!l)
		return;
	pl_dwarf_close(l->dwarf);
	free(l);
}
