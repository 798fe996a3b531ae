/* SPDX-License-Identifier: Apache-2.0 */
/* Any memory as a Python process: detect -> interpreters -> threads -> walk -> code -> lines -> names. */
#include "code.h"
#include "frame.h"
#include "lines.h"
#include "process.h"

#define THREADS_MAX 6
#define CODES_MAX   40

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

	if (!pl_frame_walk(mem, py, ts, NULL, &frames, &root) && frames.len > PL_MAX_FRAMES)
		__builtin_trap();
	for (size_t i = 0; i < frames.len && i < CODES_MAX; i++)
		use_code(mem, py, &frames.data[i], c);
	if (!pl_pthread_tid_offset(mem, ts->thread_id, (pid_t[]){1, 2}, 2, &tid_at) && tid_at > 1600)
		__builtin_trap();
	pl_vec_deinit(&frames);
}

static void use_interp(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in)
{
	pl_tstate_vec threads = {0};
	struct pl_interp again;
	struct pl_code code;
	size_t sum = 0;

	if (pl_interp_read_again(mem, py, in, &again))
		return;
	pl_code_init(&code);
	if (pl_tstate_list(mem, py, in, &threads, NULL) && threads.len > PL_MAX_THREADS)
		__builtin_trap();
	for (size_t k = 0; k < threads.len && k < THREADS_MAX; k++)
		use_thread(mem, py, &threads.data[k], &code);
	plumb_error_destroy(pl_thread_names(mem, py, in, use_name, &sum));
	pl_code_deinit(&code);
	pl_vec_deinit(&threads);
}

static void use(struct pl_mem *mem, const struct pl_py *py)
{
	process_each_interp(mem, py, use_interp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	process_fuzz(data, size, use);
	return 0;
}
