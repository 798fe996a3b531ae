/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of every frame of any memory, the locks it is inside of, and what it waits for. A value must stay
 * within the bounds it was asked for. */
#include <string.h>

#include "frame.h"
#include "locals.h"
#include "lock_wait.h"
#include "process.h"
#include "with.h"

#define THREADS_MAX 6
#define FRAMES_MAX  40
#define LONGEST_VALUE                                                                                                  \
	20000 /* eight times eight texts of 80 bytes, each escaped to ten times its length, would be more */

static bool use_local(void *ctx, const struct pl_local *l)
{
	size_t *sum = ctx;

	if (l->text_len > LONGEST_VALUE)
		__builtin_trap();
	for (size_t i = 0; i < l->text_len; i++) {
		if ((uint8_t)l->text[i] < 0x20 || l->text[i] == 0x7f)
			__builtin_trap();
	}
	*sum += l->name_len ? (size_t)l->name[0] : 0;
	return true;
}

struct locks {
	struct pl_values *v;
	pl_addr futex; /* of the last one */
};

static void use_lock(void *ctx, pl_addr obj)
{
	struct locks *l = ctx;
	enum pl_lock_kind kind;
	struct pl_lock lock;

	obj = pl_lock_behind(l->v, obj, &kind);
	if (pl_lock_read(l->v->mem, l->v->py, obj, kind, &lock))
		l->futex = lock.futex;
}

static void use_locks(struct pl_values *v, const pl_frame_vec *frames, pl_addr stack)
{
	struct locks l = {.v = v, .futex = stack};
	struct pl_lock_wait wait;

	for (size_t i = 0; i < frames->len && i < FRAMES_MAX; i++) {
		pl_with_each(v, &frames->data[i], use_lock, &l);
		if (pl_lock_released(v, &frames->data[i]))
			l.futex++;
	}
	pl_lock_wait_find(v, frames, l.futex, &wait);
	if (strnlen(wait.type, sizeof wait.type) == sizeof wait.type)
		__builtin_trap();
}

static void use_thread(struct pl_values *v, const struct pl_tstate *ts)
{
	pl_frame_vec frames = {0};
	pl_addr root;
	size_t sum = 0;

	if (pl_frame_walk(v->mem, v->py, ts, NULL, &frames, &root) && frames.len > PL_MAX_FRAMES)
		__builtin_trap();
	for (size_t i = 0; i < frames.len && i < FRAMES_MAX; i++)
		plumb_error_destroy(pl_locals_each(v, &frames.data[i], use_local, &sum));
	use_locks(v, &frames, ts->frame);
	pl_vec_deinit(&frames);
}

static void use_interp(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in)
{
	pl_tstate_vec threads = {0};
	struct pl_values v;

	pl_values_init(&v, mem, py, NULL);
	plumb_error_destroy(pl_tstate_list(mem, py, in, &threads, NULL));
	for (size_t i = 0; i < threads.len && i < THREADS_MAX; i++)
		use_thread(&v, &threads.data[i]);
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
