/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, consumer thread only. */
#include "tagged.h"

#include "labels.h"
#include "vec.h"

typedef PL_VEC(uint32_t) pl_stack_path;

void pl_tagged_deinit(struct pl_tagged *t)
{
	pl_map_deinit(&t->stacks);
}

static struct plumb_error *note(struct pl_tagged *t, uint32_t tag, uint32_t stack, uint32_t tagged)
{
	return pl_map_set(&t->stacks, tag, stack, tagged) ? NULL : &pl_err_no_memory;
}

/* The tag alone, which is what the empty stack becomes. */
static struct plumb_error *find_tag(struct pl_tagged *t, struct plumb_profile *p, uint32_t tag, uint32_t *ret)
{
	const struct plumb_tags *tags = t->tags;
	char text[PLUMB_TAG_TEXT_BYTES], labels[PLUMB_TAG_LABEL_BYTES];

	if (pl_map_get(&t->stacks, tag, 0, ret))
		return NULL;
	struct plumb_error *err = NULL;
	*ret = 0;
	if (tags->text(tags->ctx, tag, text, sizeof text)) {
		size_t len = tags->labels ? tags->labels(tags->ctx, tag, labels, sizeof labels) : 0;

		err = pl_profile_tag(p, text, labels, len, ret);
	}
	return err ? err : note(t, tag, 0, *ret);
}

/* The frames of @p stack that are not on the tag yet, innermost first: as far as the first that is. */
static struct plumb_error *find_base(const struct pl_tagged *t, const struct plumb_profile *p, uint32_t tag,
				     uint32_t stack, pl_stack_path *path, uint32_t *base)
{
	while (!pl_map_get(&t->stacks, tag, stack, base)) {
		if (!pl_vec_push(path, stack))
			return &pl_err_no_memory;
		stack = p->stacks[stack].parent;
	}
	return NULL;
}

static struct plumb_error *build(struct pl_tagged *t, struct plumb_profile *p, uint32_t tag, uint32_t stack,
				 uint32_t *ret)
{
	pl_stack_path path = {0};
	uint32_t tagged;
	struct plumb_error *err = find_base(t, p, tag, stack, &path, &tagged);

	while (!err && path.len) {
		uint32_t node = path.data[--path.len];

		err = pl_profile_stack(p, tagged, p->stacks[node].location, &tagged);
		if (!err)
			err = note(t, tag, node, tagged);
	}
	pl_vec_deinit(&path);
	if (!err)
		*ret = tagged;
	return err;
}

struct plumb_error *pl_tagged_stack(struct pl_tagged *t, struct plumb_profile *p, uint32_t tag, uint32_t stack,
				    uint32_t *ret)
{
	size_t max = t->max ? t->max : PL_TAGGED_MAX;
	uint32_t alone;

	*ret = stack;
	if (!t->tags || tag == 0 || pl_map_get(&t->stacks, tag, stack, ret))
		return NULL;
	if (t->stacks.len >= max)
		tag = PLUMB_TAG_OTHER;
	struct plumb_error *err = find_tag(t, p, tag, &alone);
	if (err || alone == 0)
		return err;
	return build(t, p, tag, stack, ret);
}
