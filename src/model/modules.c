/* SPDX-License-Identifier: Apache-2.0 */
/* The builds of the files that native functions are in (layer model). One owner at a time.
 *
 * They are no part of what names a function: profiles of two builds are compared and added by names. A file that has
 * several of them in one profile has them all as rows, and none that is told of it. */
#include "index.h"
#include "profile.h"

bool pl_is_build_id(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
			return false;
	return len && len % 2 == 0 && len <= PL_BUILD_ID_TEXT_MAX;
}

static struct plumb_error *append(struct plumb_profile *p, const struct pl_module *m)
{
	struct pl_profile_index *x = p->index;
	struct plumb_error *err =
		pl_row_room(p, (void **)&p->modules, &x->module_cap, p->module_count, sizeof *p->modules);
	uint32_t told;

	if (err)
		return err;
	if (!pl_map_reserve(&x->modules, 2))
		return &pl_err_no_memory;
	const bool several = pl_map_get(&x->modules, m->file, 0, &told);
	(void)pl_map_set(&x->modules, m->file, 0, several ? 0 : m->build_id);
	(void)pl_map_set(&x->modules, m->file, m->build_id, p->module_count);
	p->modules[p->module_count++] = *m;
	return NULL;
}

struct plumb_error *pl_profile_module(struct plumb_profile *p, const struct pl_module *m)
{
	size_t len;
	const char *text = pl_strtab_get(p->strings, m->build_id, &len);
	uint32_t row;

	if (!m->file || !pl_is_build_id(text, len) || pl_map_get(&p->index->modules, m->file, m->build_id, &row))
		return NULL;
	return append(p, m);
}

uint32_t pl_profile_build_id(const struct plumb_profile *p, uint32_t file)
{
	uint32_t told;

	return pl_map_get(&p->index->modules, file, 0, &told) ? told : 0;
}
