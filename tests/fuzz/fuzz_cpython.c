/* SPDX-License-Identifier: Apache-2.0 */
/* Any memory as a Python process: detect -> interpreters -> threads -> walk -> code -> lines -> names. The input is an
 * image as tests/golden/cpython makes them, with what the ELF files would say at address 16. What the image lacks is
 * unreadable, or, if the runtime address is odd, made of the input's own bytes, so that every pointer leads somewhere.
 * After detection the same is done with the layout forced, because detection stops most of what is damaged. */
#include <string.h>

#include "code.h"
#include "frame.h"
#include "lines.h"
#include "mem_image.h"
#include "threads.h"

#define THREADS_MAX 6
#define CODES_MAX   40
#define READS_MAX   200000 /* a list of 8192 threads, each with a walk of 65536 frames, would be slow and no error */

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

static void use_name(void *ctx, uint64_t thread_id, const char *name, size_t len)
{
	size_t *sum = ctx;

	for (size_t i = 0; i < len; i++)
		*sum += (uint8_t)name[i];
	*sum += thread_id;
}

static void use_code(struct pl_mem *mem, const struct pl_py *py, const struct pl_frame *f, struct pl_code *c)
{
	struct pl_frame again;
	pl_addr base;

	if (!f->code || pl_frame_read(mem, py, f->addr, &again) || pl_code_read(mem, py, f->code, c))
		return;
	if (again.tlbc_index && !pl_code_copy_base(mem, py, &again, &base))
		pl_code_leave_copy(&again, base, c->instr_base);
	pl_lines_find(py->layout.line_table, c->linetable.data, c->linetable.len, (int32_t)c->firstlineno,
		      pl_code_offset(py, c, &again));
}

static void use_thread(struct pl_mem *mem, const struct pl_py *py, const struct pl_tstate *ts, struct pl_code *c)
{
	pl_frame_vec frames = {0};
	uint32_t tid_at;
	pl_addr root;

	if (!pl_frame_walk(mem, py, ts, &frames, &root) && frames.len > PL_MAX_FRAMES)
		__builtin_trap();
	for (size_t i = 0; i < frames.len && i < CODES_MAX; i++)
		use_code(mem, py, &frames.data[i], c);
	if (!pl_pthread_tid_offset(mem, ts->thread_id, 1, &tid_at) && tid_at > 1600)
		__builtin_trap();
	pl_vec_deinit(&frames);
}

static void use_process(struct pl_mem *mem, const struct pl_py *py)
{
	pl_interp_vec interps = {0};
	pl_tstate_vec threads = {0};
	struct pl_code code;
	size_t sum = 0;

	pl_code_init(&code);
	if (pl_interp_list(mem, py, &interps) && interps.len > PL_MAX_INTERPRETERS)
		__builtin_trap();
	for (size_t i = 0; i < interps.len && i < 3; i++) {
		struct pl_interp again;
		if (pl_interp_read_again(mem, py, &interps.data[i], &again))
			break;
		pl_vec_clear(&threads);
		if (pl_tstate_list(mem, py, &interps.data[i], &threads) && threads.len > PL_MAX_THREADS)
			__builtin_trap();
		for (size_t k = 0; k < threads.len && k < THREADS_MAX; k++)
			use_thread(mem, py, &threads.data[k], &code);
		if (pl_thread_names(mem, py, &interps.data[i], use_name, &sum))
			break;
	}
	pl_code_deinit(&code);
	pl_vec_deinit(&interps);
	pl_vec_deinit(&threads);
}

static void force_layout(struct hostile *h, const struct pl_py_facts *facts)
{
	size_t count;
	const struct pl_layout *rows = pl_layout_rows(&count);
	struct pl_py py = {.runtime = facts->runtime, .none = facts->version};

	py.layout = rows[facts->name_version % count];
	if (py.layout.version < PL_PY_VERSION(3, 7, 0)) { /* they have no _PyRuntime */
		py.interp_head = facts->runtime;
		py.tstate_current = facts->tstate_current;
	}
	if (!pl_layout_finish(&py.layout))
		return;
	h->reads = 0;
	use_process(&h->mem, &py);
	py.code_type = facts->code_type;
	h->reads = 0;
	use_process(&h->mem, &py);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct pl_mem_ops ops = {.read = hostile_read};
	struct pl_mem_image *img;
	uint64_t words[5];
	struct pl_py py;
	struct plumb_error *err = pl_mem_image_create(data, size, &img);

	if (err) {
		plumb_error_destroy(err);
		return 0;
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
		err = pl_py_detect(&h.mem, &facts, &py);
		h.reads = 0;
		if (!err)
			use_process(&h.mem, &py);
		plumb_error_destroy(err);
		force_layout(&h, &facts);
	}
	pl_mem_image_destroy(img);
	return 0;
}
