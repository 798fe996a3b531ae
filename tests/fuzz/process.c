/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include "debug_offsets.h"
#include "mem_image.h"

#define INTERPS_MAX   3
#define HEAD_DISTANCE 256
#define READS_MAX     200000 /* a list of 8192 threads, each with a walk of 65536 frames, would be slow and no error */

struct hostile {
	struct pl_mem mem, *image;
	const uint8_t *data;
	size_t size, reads;
	bool filled;
};

static struct plumb_error *hostile_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct hostile *h = (struct hostile *)mem;
	struct plumb_error *err;

	if (++h->reads > READS_MAX)
		return &pl_err_target_exited;
	err = pl_mem_read(h->image, addr, dst, len);
	if (!err || !h->filled)
		return err;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)dst)[i] = h->data[(addr * 31 + i) % h->size];
	return NULL;
}

void process_each_interp(struct pl_mem *mem, const struct pl_py *py, process_interp_fn *use)
{
	pl_interp_vec interps = {0};

	if (pl_interp_list(mem, py, &interps, NULL) && interps.len > PL_MAX_INTERPRETERS)
		__builtin_trap();
	for (size_t i = 0; i < interps.len && i < INTERPS_MAX; i++)
		use(mem, py, &interps.data[i]);
	pl_vec_deinit(&interps);
}

/* Does the word at @p at lead to an interpreter whose newest thread belongs to it? */
static bool is_head(struct hostile *h, const struct pl_layout *lay, pl_addr at)
{
	pl_addr interp, thread, back;

	return !pl_mem_read_u64(&h->mem, at, &interp) && interp &&
	       !pl_mem_read_u64(&h->mem, interp + lay->interp.threads_head, &thread) &&
	       !pl_mem_read_u64(&h->mem, thread + lay->tstate.interp, &back) && back == interp;
}

/* Up to 3.6 there is no _PyRuntime: two static words, close together. */
static void find_head(struct hostile *h, const struct pl_py_facts *facts, struct pl_py *py)
{
	if (py->layout.version >= PL_PY_VERSION(3, 7, 0))
		return;
	py->tstate_current = facts->tstate_current;
	py->interp_head = facts->runtime;
	for (pl_addr d = 8; !py->interp_head && d <= HEAD_DISTANCE; d += 8) {
		if (is_head(h, &py->layout, py->tstate_current + d))
			py->interp_head = py->tstate_current + d;
		else if (is_head(h, &py->layout, py->tstate_current - d))
			py->interp_head = py->tstate_current - d;
	}
}

static void force_layout(struct hostile *h, const struct pl_py_facts *facts, const struct pl_layout *layout,
			 process_fn *use)
{
	struct pl_py py = {.layout = *layout,
			   .runtime = facts->runtime,
			   .none = facts->version,
			   .unicode_bytes = facts->runtime_size & 1 ? 2 : 4};

	if (!pl_layout_finish(&py.layout))
		return;
	h->reads = 0;
	find_head(h, facts, &py);
	use(&h->mem, &py);
	py.code_type = facts->code_type;
	h->reads = 0;
	use(&h->mem, &py);
}

/* What the interpreter says of itself, whether or not its threads bear it out. */
static bool force_own(struct hostile *h, const struct pl_py_facts *facts, process_fn *use)
{
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct pl_layout layout;

	h->reads = 0;
	if (pl_mem_read(&h->mem, facts->runtime, bytes, sizeof bytes))
		return false;
	struct plumb_error *err = pl_debug_offsets_parse(bytes, sizeof bytes, &layout);
	if (!err)
		force_layout(h, facts, &layout, use);
	bool parsed = !err;
	plumb_error_destroy(err);
	return parsed;
}

/* The rows of the minor release that the facts name, with the GIL and without; any row if they name none. */
static void force_rows(struct hostile *h, const struct pl_py_facts *facts, process_fn *use)
{
	size_t count;
	const struct pl_layout *rows = pl_layout_rows(&count);
	bool named = false;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].version >> 8 != facts->name_version >> 8)
			continue;
		named = true;
		force_layout(h, facts, &rows[i], use);
	}
	if (!named)
		force_layout(h, facts, &rows[facts->name_version % count], use);
}

static void detect(struct hostile *h, const struct pl_py_facts *facts, process_fn *use)
{
	struct pl_py py;
	struct plumb_error *err = pl_py_detect(&h->mem, facts, &py);

	h->reads = 0;
	if (!err)
		use(&h->mem, &py);
	plumb_error_destroy(err);
}

void process_fuzz(const uint8_t *data, size_t size, process_fn *use)
{
	static const struct pl_mem_ops ops = {.read = hostile_read};
	struct pl_mem_image *img;
	uint64_t words[5];
	struct plumb_error *err = pl_mem_image_create(data, size, &img);

	if (err) {
		plumb_error_destroy(err);
		return;
	}
	struct hostile h = {.mem = {&ops}, .image = pl_mem_image_mem(img), .data = data, .size = size};
	if (!pl_mem_read(h.image, 16, words, sizeof words)) {
		struct pl_py_facts facts = {.runtime = words[0] & ~UINT64_C(1),
					    .runtime_size = words[1],
					    .version = words[2],
					    .code_type = words[3],
					    .name_version = (uint32_t)words[4]};
		if (pl_mem_read(h.image, 16 + sizeof words, &facts.tstate_current, sizeof facts.tstate_current))
			facts.tstate_current = 0;
		h.filled = words[0] & 1;
		detect(&h, &facts, use);
		if (!force_own(&h, &facts, use))
			force_rows(&h, &facts, use);
	}
	pl_mem_image_destroy(img);
}
