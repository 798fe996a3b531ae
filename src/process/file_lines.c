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
	l->partly = l->work.ran_out;
	return l;
}

struct pl_file_lines *pl_file_lines_of_build(const char *path, const uint8_t *build_id, size_t build_id_len,
					     uint64_t most)
{
	struct pl_file_lines *l = calloc(1, sizeof *l);

	if (!l)
		return NULL;
	l->work.most = most;
	plumb_error_destroy(pl_filed_lines(path, build_id, build_id_len, &l->work, &l->dwarf));
	l->partly = l->work.ran_out;
	return l;
}

size_t pl_file_lines_places(struct pl_file_lines *l, uint64_t addr, uint64_t most,
			    void (*tell)(void *ctx, const struct pl_dwarf_place *p), void *ctx, bool *left_out)
{
	l->work.most = l->work.spent + most;
	l->work.ran_out = false;
	size_t count = l->dwarf ? pl_dwarf_places(l->dwarf, addr, tell, ctx) : 0;

	*left_out = l->work.ran_out || (l->partly && !count);
	return count;
}

void pl_file_lines_destroy(struct pl_file_lines *l)
{
	if (!l)
		return;
	pl_dwarf_close(l->dwarf);
	free(l);
}
