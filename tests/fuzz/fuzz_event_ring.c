/* SPDX-License-Identifier: Apache-2.0 */
/* Any memory as a ring of events, looked at again and again: each look reads and takes so much and no more, and what it
 * takes is whole.
 *
 * An input is how often it is looked at, and an image, which begins with where it is and the ring's place. */
#include "cursor.h"
#include "event_ring.h"
#include "mem_image.h"
#include "require.h"

#include <string.h>

#define READS_MAX 64
#define LOOKS	  8

struct counted {
	struct pl_mem mem, *image;
	unsigned reads;
};

static struct plumb_error *counted_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct counted *c = (struct counted *)mem;

	REQUIRE(++c->reads <= READS_MAX && len <= PL_EVENT_TEXTS_MAX);
	return pl_mem_read(c->image, addr, dst, len);
}

static uint64_t sum; /* of all that was heard, so that it is read */

static void hear(void *ctx, const struct pl_said_event *e)
{
	uint32_t *left = ctx, ends = 0;

	REQUIRE(*left && e->name_len + e->labels_len <= PLUMB_EVENT_TEXT_BYTES);
	--*left;
	REQUIRE(!memchr(e->text, '\0', e->name_len));
	for (uint32_t i = 0; i < e->labels_len; i++)
		ends += e->text[e->name_len + i] == '\0';
	REQUIRE(ends % 2 == 0 && (!e->labels_len || e->text[e->name_len + e->labels_len - 1] == '\0'));
	sum += e->time_ns + ends;
}

static void look(struct pl_mem *image, uint64_t place, unsigned looks)
{
	static const struct pl_mem_ops ops = {.read = counted_read};
	struct pl_event_ring ring = {.place = place};
	struct pl_event_room *room;
	struct plumb_error *err = pl_event_room_create(&room);

	plumb_error_destroy(err);
	for (unsigned i = 0; !err && i < looks; i++) {
		struct counted c = {.mem.ops = &ops, .image = image};
		uint32_t left = i % 3 ? UINT32_MAX : 5;
		struct pl_event_look l = {.now_ns = i * UINT64_C(60000000),
					  .since_ns = 1000,
					  .most = left,
					  .last = i + 1 == looks,
					  .said = hear,
					  .ctx = &left};

		pl_event_ring_look(&ring, &c.mem, room, &l);
	}
	if (!err)
		pl_event_room_destroy(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_cursor c = {.p = data, .end = data + size};
	struct pl_mem_image *image;
	uint64_t place;
	uint32_t looks;

	if (!pl_cursor_u32(&c, &looks) || !pl_cursor_u64(&c, &place))
		return 0;
	struct plumb_error *err = pl_mem_image_create(c.p, (size_t)(c.end - c.p), &image);
	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	look(pl_mem_image_mem(image), place, looks % LOOKS);
	pl_mem_image_destroy(image);
	return 0;
}
