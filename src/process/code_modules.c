/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time, see code_modules.h for what another one may read. */
#include "code_modules.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

#define MODULES_MAX 65536u
#define SAME_MAX    64 /* of one name, that differ in what is not hashed: each is looked at */

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
	pl_map_deinit(&m->by_file);
}

/* Beside the inode, which is that of another file once it is gone. */
static uint64_t hash_of(const struct pl_code_file *f)
{
	uint64_t path = pl_hash_bytes(f->map->path, strlen(f->map->path));

	return f->build_id_len ? path ^ pl_hash_rotate(pl_hash_bytes(f->build_id, f->build_id_len), 1) : path;
}

static bool is_same(const struct pl_code_module *m, const struct pl_code_file *f)
{
	const struct pl_mapping *map = f->map;

	return m->map.inode == map->inode && m->map.dev_major == map->dev_major && m->map.dev_minor == map->dev_minor &&
	       m->map.deleted == map->deleted && m->build_id_len == f->build_id_len &&
	       (!m->build_id_len || memcmp(m->build_id, f->build_id, m->build_id_len) == 0) &&
	       strcmp(m->map.path, map->path) == 0 && pl_rights_equal(&m->seen.rights, &f->seen->rights);
}

static struct plumb_error *add(struct pl_code_modules *m, const struct pl_code_file *f, struct pl_code_module **ret)
{
	struct pl_code_module *one = calloc(1, sizeof *one);

	if (!one)
		return &pl_err_no_memory;
	*one = (struct pl_code_module){.id = (uint32_t)m->all.len,
				       .pid = f->pid,
				       .seen = *f->seen,
				       .map = *f->map,
				       .build_id_len = (uint8_t)f->build_id_len};
	if (f->build_id_len)
		memcpy(one->build_id, f->build_id, f->build_id_len);
	one->map.path = strdup(f->map->path);
	/* Room first: what is in the map is in the list. */
	if (!one->map.path || !pl_vec_reserve(&m->all, 1) ||
	    !pl_map_set(&m->by_file, f->map->inode, hash_of(f), one->id)) {
		destroy(one);
		return &pl_err_no_memory;
	}
	(void)pl_vec_push(&m->all, one);
	*ret = one;
	return NULL;
}

struct plumb_error *pl_code_modules_find(struct pl_code_modules *m, const struct pl_code_file *f,
					 const struct pl_code_module **ret)
{
	uint32_t first = UINT32_MAX;
	struct pl_code_module *one = NULL;
	int tried = 0;

	if (f->build_id_len > PL_MODULE_ID_MAX)
		return &pl_err_limit;
	(void)pl_map_get(&m->by_file, f->map->inode, hash_of(f), &first);
	for (uint32_t k = first; k != UINT32_MAX && tried < SAME_MAX; k = m->all.data[k]->same, tried++)
		if (is_same(m->all.data[k], f)) {
			*ret = m->all.data[k];
			return NULL;
		}
	if (m->all.len >= MODULES_MAX || tried == SAME_MAX)
		return &pl_err_limit;
	struct plumb_error *err = add(m, f, &one);
	if (err)
		return err;
	one->same = first;
	*ret = one;
	return NULL;
}

/* No other process and no other look has this number. */
struct plumb_error *pl_code_modules_perf_map(struct pl_code_modules *m, pid_t pid, const struct pl_file_view *seen,
					     uint32_t look, const struct pl_code_module **ret)
{
	static char path[] = PL_JIT_FILE;
	const struct pl_mapping map = {.inode = (uint64_t)pid << 32 | look, .path = path};

	return pl_code_modules_find(m, &(struct pl_code_file){pid, seen, &map, NULL, 0}, ret);
}

bool pl_code_module_is_perf_map(const struct pl_mapping *map)
{
	return strcmp(map->path, PL_JIT_FILE) == 0;
}
