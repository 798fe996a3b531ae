/* SPDX-License-Identifier: Apache-2.0 */
/* Any memory as a thread that is unwound. The input is an image of memory as base/mem_image.h has it, with the
 * registers and the loaded images at address 16 (struct facts; tests/unit/unwind/capture_unwind.c writes it). What the
 * image lacks is unreadable, or, if it says so, made of the input's own bytes. */
#include <stdint.h>

#include "mem_image.h"
#include "require.h"
#include "resume.h"
#include "rules.h"

#define STEPS	  40000
#define READS_MAX (4 * STEPS + 1000) /* of memory: they follow the steps */
#define IMAGES	  4
#define ANCHORS	  4

struct facts {
	uint64_t regs[PL_X86_64_COUNT], known;
	uint64_t images[IMAGES][3]; /* start, end, head */
	uint64_t anchors[ANCHORS];
	uint64_t filled;
};

struct hostile {
	struct pl_mem mem, *image;
	const uint8_t *data;
	size_t size, reads;
	bool filled;
};

static struct plumb_error *hostile_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct hostile *h = (struct hostile *)mem;
	struct plumb_error *err = pl_mem_read(h->image, addr, dst, len);

	REQUIRE(++h->reads <= READS_MAX);
	if (!err || !h->filled)
		return err;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)dst)[i] = h->data[(addr * 31 + i) % h->size];
	return NULL;
}

static size_t images_of(const struct facts *f, struct pl_unwind_image ret[IMAGES])
{
	size_t n = 0;

	for (size_t i = 0; i < IMAGES; i++) {
		const uint64_t *w = f->images[i];

		if (w[0] < w[1] && (n == 0 || w[0] >= ret[n - 1].end))
			ret[n++] = (struct pl_unwind_image){.start = w[0], .end = w[1], .head = w[2]};
	}
	return n;
}

/* Those that ascend. */
static size_t anchors_of(const struct facts *f)
{
	size_t n = 0;

	while (n < ANCHORS && f->anchors[n] && (n == 0 || f->anchors[n] > f->anchors[n - 1]))
		n++;
	return n;
}

static void check(const struct pl_unwinder *u, const pl_native_frame_vec *frames)
{
	size_t signals = 0;

	REQUIRE(frames->len <= PL_NATIVE_FRAMES_MAX);
	for (size_t i = 0; i < frames->len; i++) {
		const struct pl_native_frame *f = &frames->data[i];

		REQUIRE(f->image == PL_NO_IMAGE || f->image < u->image_count);
		signals += (f->flags & PL_NATIVE_SIGNAL) != 0;
		REQUIRE(signals <= 17);
		REQUIRE(!f->cfa || (f->flags & PL_NATIVE_SIGNAL) || f->cfa > f->sp);
	}
}

/* What is remembered of the tables leads to the same frames. */
static void check_again(struct pl_unwinder *u, struct hostile *h, const struct pl_registers *start,
			const pl_native_frame_vec *frames, enum pl_unwind_end end)
{
	pl_native_frame_vec again = {0};

	REQUIRE(!pl_unwind_rules_create(&u->rules));
	for (int i = 0; i < 2; i++) {
		struct pl_registers regs = *start;

		h->reads = again.len = 0;
		u->steps = STEPS;
		REQUIRE(pl_unwind(u, &regs, PL_NATIVE_EXACT_PC, UINT64_MAX, &again) == end);
		REQUIRE(again.len == frames->len);
		for (size_t k = 0; k < frames->len; k++) {
			const struct pl_native_frame *a = &frames->data[k], *b = &again.data[k];

			REQUIRE(a->pc == b->pc && a->sp == b->sp && a->cfa == b->cfa && a->flags == b->flags);
			REQUIRE(a->function == b->function && a->image == b->image);
		}
	}
	pl_unwind_rules_destroy(u->rules);
	u->rules = NULL;
	pl_vec_deinit(&again);
}

/* By the tables alone. */
static void check_tables(struct pl_unwinder *u, struct hostile *h, const struct pl_registers *start)
{
	struct pl_registers regs = *start;
	pl_native_frame_vec frames = {0};
	enum pl_unwind_end end = pl_unwind(u, &regs, PL_NATIVE_EXACT_PC, UINT64_MAX, &frames);

	check(u, &frames);
	if (end != PL_UNWIND_LIMIT)
		check_again(u, h, start, &frames, end);
	pl_vec_deinit(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct pl_mem_ops ops = {.read = hostile_read};
	struct pl_unwind_image images[IMAGES];
	pl_native_frame_vec frames = {0};
	struct pl_mem_image *img;
	struct facts facts;
	struct plumb_error *err = pl_mem_image_create(data, size, &img);

	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	struct hostile h = {.mem = {&ops}, .image = pl_mem_image_mem(img), .data = data, .size = size};
	if (!pl_mem_read(h.image, 16, &facts, sizeof facts)) {
		struct pl_unwinder u = {&h.mem, &pl_unwind_x86_64, images, images_of(&facts, images), STEPS, NULL,
					&h.mem};
		struct pl_registers regs = {.known = facts.known & ((UINT64_C(1) << PL_X86_64_COUNT) - 1)};

		for (unsigned i = 0; i < PL_X86_64_COUNT; i++)
			regs.value[i] = facts.regs[i];
		h.filled = facts.filled & 1;
		struct pl_landing landing = {0};
		const struct pl_registers start = regs;

		(void)pl_unwind_on(&u, &regs, facts.anchors, anchors_of(&facts), &landing, &frames);
		check(&u, &frames);
		u.steps = STEPS;
		h.reads = 0;
		check_tables(&u, &h, &start);
	}
	pl_vec_deinit(&frames);
	pl_mem_image_destroy(img);
	return 0;
}
