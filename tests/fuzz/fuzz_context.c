/* SPDX-License-Identifier: Apache-2.0 */
/* Any memory as a thread's context, by any idea of where things are: nothing is read far from where the words point,
 * and what is not found leaves nothing behind.
 *
 * An input is six words (the thread state, the ContextVar, the types of tags and nodes), the five offsets, the hash,
 * and an image. */
#include "context.h"
#include "cursor.h"
#include "mem_image.h"
#include "require.h"

#define READS_MAX 64 /* 8 levels of two reads, a collision, the ends */
#define NO_TAG	  0xfefefefe

struct counted {
	struct pl_mem mem, *image;
	unsigned reads;
};

static struct plumb_error *counted_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct counted *c = (struct counted *)mem;

	REQUIRE(++c->reads <= READS_MAX && len <= 512);
	return pl_mem_read(c->image, addr, dst, len);
}

static bool take_tags(struct pl_cursor *c, uint64_t *tstate, struct pl_context_layout *t)
{
	uint32_t *const offsets[] = {&t->context, &t->vars, &t->root, &t->type, &t->header, &t->hash};
	uint64_t *const words[] = {tstate,	    &t->var,	    &t->value_type,
				   &t->bitmap_type, &t->array_type, &t->collision_type};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!pl_cursor_u64(c, words[i]))
			return false;
	for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
		if (!pl_cursor_u32(c, offsets[i]))
			return false;
	return true;
}

static void look(struct pl_mem *image, const struct pl_context_layout *t, uint64_t tstate)
{
	static const struct pl_mem_ops ops = {.read = counted_read};
	struct counted c = {.mem.ops = &ops, .image = image};
	struct pl_context context = {.addr = NO_TAG, .vars = NO_TAG};
	uint32_t tag = NO_TAG;

	if (pl_context_read(&c.mem, t, tstate, &context)) {
		REQUIRE(context.addr == NO_TAG && context.vars == NO_TAG);
		return;
	}
	REQUIRE(context.addr || !context.vars);
	if (pl_context_tag(&c.mem, t, &context, &tag))
		REQUIRE(tag == NO_TAG);
	else if (!context.vars)
		REQUIRE(tag == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_cursor c = {.p = data, .end = data + size};
	struct pl_context_layout t = {0};
	struct pl_mem_image *image;
	uint64_t tstate;

	if (!take_tags(&c, &tstate, &t))
		return 0;
	struct plumb_error *err = pl_mem_image_create(c.p, (size_t)(c.end - c.p), &image);
	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	look(pl_mem_image_mem(image), &t, tstate);
	pl_mem_image_destroy(image);
	return 0;
}
