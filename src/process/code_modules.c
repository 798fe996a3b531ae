/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time, see code_modules.h for what another one may read. */
#include "code_modules.h"

#include <stdlib.h>
#include <string.h>

#define MODULES_MAX 65536u
#define SAME_MAX    64 /* of one inode number, which is looked at for each of them */

static void destroy(struct pl_code_module *m)
{
	free(m->map.path);
	free(m);
}

void pl_code_modules_deinit(struct pl_code_modules *m)
{
	for (size_t i = 0; i < m->all.len; i++)
		destroy(m->all.data[i]);
	pl_vec_deinit(&m->all);
	pl_map_deinit(&m->by_inode);
}

static bool is_same(const struct pl_code_module *m, const struct pl_file_view *seen, const struct pl_mapping *map,
		    const uint8_t *build_id, uint8_t len)
{
	return m->map.inode == map->inode && m->map.dev_major == map->dev_major && m->map.dev_minor == map->dev_minor &&
	       m->map.deleted == map->deleted && m->build_id_len == len &&
	       (!len || memcmp(m->build_id, build_id, len) == 0) && strcmp(m->map.path, map->path) == 0 &&
	       pl_rights_equal(&m->seen.rights, &seen->rights);
}

static struct plumb_error *add(struct pl_code_modules *m, pid_t pid, const struct pl_file_view *seen,
			       const struct pl_mapping *map, const uint8_t *build_id, uint8_t len,
			       struct pl_code_module **ret)
{
	struct pl_code_module *one = calloc(1, sizeof *one);

	if (!one)
		return &pl_err_no_memory;
	*one = (struct pl_code_module){
		.id = (uint32_t)m->all.len, .pid = pid, .seen = *seen, .map = *map, .build_id_len = len};
	if (len)
		memcpy(one->build_id, build_id, len);
	one->map.path = strdup(map->path);
	/* Room first: what is in the map is in the list. */
	if (!one->map.path || !pl_vec_reserve(&m->all, 1) || !pl_map_set(&m->by_inode, map->inode, 0, one->id)) {
		destroy(one);
		return &pl_err_no_memory;
	}
	(void)pl_vec_push(&m->all, one);
	*ret = one;
	return NULL;
}

struct plumb_error *pl_code_modules_find(struct pl_code_modules *m, pid_t pid, const struct pl_file_view *seen,
					 const struct pl_mapping *map, const uint8_t *build_id, uint8_t len,
					 const struct pl_code_module **ret)
{
	uint32_t first = UINT32_MAX;
	struct pl_code_module *one = NULL;
	int tried = 0;

	if (len > PL_MODULE_ID_MAX)
		return &pl_err_limit;
	(void)pl_map_get(&m->by_inode, map->inode, 0, &first);
	for (uint32_t k = first; k != UINT32_MAX && tried < SAME_MAX; k = m->all.data[k]->same, tried++)
		if (is_same(m->all.data[k], seen, map, build_id, len)) {
			*ret = m->all.data[k];
			return NULL;
		}
	if (m->all.len >= MODULES_MAX || tried == SAME_MAX)
		return &pl_err_limit;
	struct plumb_error *err = add(m, pid, seen, map, build_id, len, &one);
	if (err)
		return err;
	one->same = first;
	*ret = one;
	return NULL;
}
