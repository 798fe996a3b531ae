/* SPDX-License-Identifier: Apache-2.0 */
/* The geometry of a flame graph. Layer export; any thread.
 *
 * Frames come depth first: one pass places them, with the next free place of each depth. What is too narrow to be seen
 * is not left out: it goes into the strip of its depth, which ends where a box or a gap follows. */
#include "svg_boxes.h"

#include <assert.h>

static bool end_strip(struct pl_svg_boxes *b, uint32_t depth)
{
	struct pl_svg_strip *s = &b->strips.data[depth];
	struct pl_svg_box box = s->box;

	s->box.frames = 0;
	if (box.frames == 0)
		return true;
	box.width = s->end - box.x > b->min_width ? s->end - box.x : b->min_width;
	return pl_vec_push(&b->list, box);
}

static bool add_to_strip(struct pl_svg_boxes *b, const struct pl_svg_box *box)
{
	struct pl_svg_strip *s = &b->strips.data[box->depth];

	if (s->box.frames && box->x - s->end > b->min_width && !end_strip(b, box->depth))
		return false;
	if (s->box.frames == 0)
		s->box = (struct pl_svg_box){.x = box->x, .depth = box->depth};
	s->box.frames++;
	s->box.total.samples += box->total.samples;
	s->box.total.weight_ns += box->total.weight_ns;
	s->box.total.share += box->total.share;
	s->end = box->x + box->width;
	return true;
}

static bool reach_depth(struct pl_svg_boxes *b, uint32_t depth)
{
	while (b->next.len <= depth + 1) {
		if (!pl_vec_push(&b->next, 0.0) || !pl_vec_push(&b->strips, (struct pl_svg_strip){0}))
			return false;
	}
	if (depth > b->depth)
		b->depth = depth;
	return true;
}

bool pl_svg_boxes_root(struct pl_svg_boxes *b, double x, double width, const struct pl_share *total)
{
	struct pl_svg_box box = {.x = x, .width = width, .total = *total};

	if (!pl_svg_boxes_end(b) || !reach_depth(b, 0))
		return false;
	b->next.data[1] = x;
	return pl_vec_push(&b->list, box);
}

bool pl_svg_boxes_frame(struct pl_svg_boxes *b, uint32_t depth, double width, uint32_t row,
			const struct pl_share *total)
{
	struct pl_svg_box box = {.width = width, .depth = depth, .row = row, .total = *total};

	assert(depth > 0 && depth < b->next.len);
	if (!reach_depth(b, depth))
		return false;
	box.x = b->next.data[depth];
	b->next.data[depth] = box.x + width;
	b->next.data[depth + 1] = box.x;
	if (width < b->min_width)
		return add_to_strip(b, &box);
	return end_strip(b, depth) && pl_vec_push(&b->list, box);
}

bool pl_svg_boxes_end(struct pl_svg_boxes *b)
{
	bool ok = true;

	for (uint32_t d = 0; ok && d < b->strips.len; d++)
		ok = end_strip(b, d);
	return ok;
}

void pl_svg_boxes_deinit(struct pl_svg_boxes *b)
{
	pl_vec_deinit(&b->list);
	pl_vec_deinit(&b->next);
	pl_vec_deinit(&b->strips);
}
