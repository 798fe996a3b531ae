/* SPDX-License-Identifier: Apache-2.0 */
/* Any memory as that of a process with a JIT compiler, whose code is unwound then. The input is an image of memory as
 * base/mem_image.h has it, with struct facts at address 16 (make_jit.py writes it). What the image lacks is unreadable.
 */
#include <stdint.h>

#include "jit_code.h"
#include "mem_image.h"
#include "require.h"
#include "resume.h"

#define STEPS	   40000
#define IMAGES_MAX 256
#define LOOKS	   3

struct facts {
	uint64_t data[2]; /* from, to: memory that can be written to */
	uint64_t pc, sp, anchor;
	uint64_t heads[LOOKS - 1][4]; /* of a list, for the looks after the first one: where it is, and 24 bytes */
};

struct hostile {
	struct pl_mem mem, *image;
	const uint64_t *head; /* lies over the image; NULL: none does */
};

static struct plumb_error *hostile_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	const struct hostile *h = (struct hostile *)mem;
	struct plumb_error *err = pl_mem_read(h->image, addr, dst, len);

	if (!err && h->head && addr == h->head[0] && len == 24)
		__builtin_memcpy(dst, h->head + 1, len);
	return err;
}

/* What unwinding reads: tables that were copied, and the image. */
struct view {
	struct pl_mem mem, *under;
	const struct pl_jit_code *jit;
};

static struct plumb_error *view_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	const struct view *v = (struct view *)mem;

	return pl_jit_code_read(v->jit, addr, dst, len) ? NULL : pl_mem_read(v->under, addr, dst, len);
}

static void check(const struct pl_jit_code *j)
{
	REQUIRE(j->list_count <= PL_JIT_LISTS_MAX);
	for (size_t i = 0; i < j->pieces.len; i++) {
		const struct pl_jit_piece *p = &j->pieces.data[i];
		const char *name = pl_functions_find(pl_jit_piece_functions(p), p->start, 0);

		REQUIRE(p->start < p->end && (i == 0 || p->start >= p[-1].end));
		REQUIRE(!name || __builtin_strlen(name) < 1u << 24);
	}
}

static void unwind(const struct pl_jit_code *j, struct hostile *h, const struct facts *f)
{
	static const struct pl_mem_ops ops = {.read = view_read};
	struct view view = {{&ops}, &h->mem, j};
	struct pl_unwind_image images[IMAGES_MAX];
	size_t n = 0;

	for (; n < j->pieces.len && n < IMAGES_MAX; n++)
		images[n] = pl_jit_piece_image(&j->pieces.data[n]);
	struct pl_unwinder u = {&view.mem, &pl_unwind_x86_64, images, n, STEPS, NULL, &view.mem};
	struct pl_landing landing = {.distance = 64};
	pl_native_frame_vec frames = {0};
	struct pl_registers regs = {0};

	pl_register_set(&regs, PL_X86_64_RIP, f->pc);
	pl_register_set(&regs, PL_X86_64_RSP, f->sp);
	(void)pl_unwind_on(&u, &regs, &f->anchor, f->anchor != 0, &landing, &frames);
	for (size_t i = 0; i < frames.len; i++)
		REQUIRE(frames.data[i].image == PL_NO_IMAGE || frames.data[i].image < n);
	pl_vec_deinit(&frames);
}

static void run(struct hostile *h, const struct facts *f)
{
	char path[] = "/lib/library.so";
	struct pl_mapping data = {.start = f->data[0],
				  .end = f->data[1],
				  .inode = 1,
				  .readable = true,
				  .writable = true,
				  .executable = true,
				  .path = path};
	const pl_mapping_vec maps = {&data, data.start < data.end, 1};
	struct pl_jit_code j = {.list_count = 0};

	for (int i = 0; i < LOOKS; i++) {
		bool changed;
		uint64_t work;

		h->head = i ? f->heads[i - 1] : NULL;
		(void)pl_jit_code_moved(&j, &h->mem);
		struct plumb_error *err = pl_jit_code_look(&j, &h->mem, &maps, true, &changed, &work);
		plumb_error_destroy(err);
		check(&j);
		unwind(&j, h, f);
	}
	pl_jit_code_deinit(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct pl_mem_ops ops = {.read = hostile_read};
	struct pl_mem_image *img;
	struct facts facts;
	struct plumb_error *err = pl_mem_image_create(data, size, &img);

	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	struct hostile h = {.mem = {&ops}, .image = pl_mem_image_mem(img)};
	err = pl_mem_read(h.image, 16, &facts, sizeof facts);
	if (!err)
		run(&h, &facts);
	plumb_error_destroy(err);
	pl_mem_image_destroy(img);
	return 0;
}
