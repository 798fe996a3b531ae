/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. */
#include "target_tags.h"

#include <stdlib.h>

#include "mem_live.h"

struct pl_target_tags {
	struct plumb_tags tags;
	struct plumb_tag_table table;
	struct pl_mem_live *live;
};

/* Where the texts of a number begin in the process. */
static bool find(const struct pl_target_tags *t, uint32_t id, pl_addr *at, struct plumb_tag_texts *ret)
{
	struct pl_mem *mem = pl_mem_live_mem(t->live);

	return id < t->table.numbers && pl_mem_get_u64(mem, t->table.texts + 8ull * id, at) && *at &&
	       pl_mem_get(mem, *at, ret, sizeof *ret);
}

static bool text_of(void *ctx, uint32_t id, char *ret, size_t size)
{
	const struct pl_target_tags *t = ctx;
	struct plumb_tag_texts head;
	pl_addr at;

	if (!find(t, id, &at, &head) || head.text_len <= 1 || head.text_len > size ||
	    !pl_mem_get(pl_mem_live_mem(t->live), at + sizeof head + head.labels_len, ret, head.text_len))
		return false;
	ret[head.text_len - 1] = '\0';
	return true;
}

static size_t labels_of(void *ctx, uint32_t id, char *ret, size_t size)
{
	const struct pl_target_tags *t = ctx;
	struct plumb_tag_texts head;
	pl_addr at;

	if (!find(t, id, &at, &head) || head.labels_len > size ||
	    !pl_mem_get(pl_mem_live_mem(t->live), at + sizeof head, ret, head.labels_len))
		return 0;
	return head.labels_len;
}

static bool read_table(struct pl_target_tags *t, pl_addr at)
{
	struct pl_mem *mem = pl_mem_live_mem(t->live);

	return pl_mem_get(mem, at, &t->table, sizeof t->table) && t->table.magic == PLUMB_TAG_TABLE_MAGIC &&
	       t->table.place_size == sizeof t->tags && pl_mem_get(mem, t->table.place, &t->tags, sizeof t->tags) &&
	       t->tags.ready;
}

struct plumb_error *pl_target_tags_create(pid_t pid, uint64_t at, struct pl_target_tags **ret)
{
	struct pl_target_tags *t = calloc(1, sizeof *t);

	if (!t)
		return &pl_err_no_memory;
	struct plumb_error *err = pl_mem_live_create(pid, &t->live);
	if (!err && !read_table(t, at))
		err = pl_error(PLUMB_ERR_INVALID, "process %d has no tags where they were said to be", (int)pid);
	if (err) {
		pl_target_tags_destroy(t);
		return err;
	}
	t->tags.text = text_of;
	t->tags.labels = labels_of;
	t->tags.ctx = t;
	*ret = t;
	return NULL;
}

const struct plumb_tags *pl_target_tags_get(const struct pl_target_tags *t)
{
	return &t->tags;
}

void pl_target_tags_destroy(struct pl_target_tags *t)
{
	if (!t)
		return;
	if (t->live)
		pl_mem_live_destroy(t->live);
	free(t);
}
