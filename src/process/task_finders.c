/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See task_finders.h. */
#include "task_finders.h"

#include "clock.h"
#include "mem_limited.h"
#include "mem_pages.h"

#define AGAIN_NS   1000000000ull
#define MOST_BYTES (UINT64_C(16) << 20) /* read for it: the modules, and where asyncio describes itself */

void pl_task_finders_forget(struct pl_task_finders *f)
{
	for (size_t i = 0; i < f->list.len; i++)
		pl_task_stacks_destroy(f->list.data[i].stacks);
	pl_vec_clear(&f->list);
}

void pl_task_finders_deinit(struct pl_task_finders *f)
{
	pl_task_finders_forget(f);
	pl_vec_deinit(&f->list);
}

static struct pl_task_finder *find(struct pl_task_finders *f, pl_addr interp)
{
	for (size_t i = 0; i < f->list.len; i++)
		if (f->list.data[i].interp == interp)
			return &f->list.data[i];
	return NULL;
}

/* How many modules have been imported; 0 if that cannot be read. */
static uint64_t count_modules(const struct pl_py *py, struct pl_mem_live *live, const struct pl_interp *interp)
{
	uint64_t count = 0;

	if (interp->modules)
		plumb_error_destroy(
			pl_mem_read_u64(pl_mem_live_mem(live), interp->modules + py->layout.dict.used, &count));
	return count;
}

static bool is_due(struct pl_task_finder *f, uint64_t modules)
{
	bool due = f->modules != modules || pl_clock_monotonic_ns() >= f->next_ns;

	f->modules = modules;
	return due;
}

/* By whole pages: the thread may be stopped meanwhile. */
static struct plumb_error *look(struct pl_task_finder *f, struct pl_ration *looks, const struct pl_py *py,
				struct pl_mem_live *live, const struct pl_interp *interp)
{
	struct pl_work work = pl_ration_begin(looks, pl_clock_monotonic_ns());
	struct pl_mem_limited limited;
	struct pl_mem_pages *pages = NULL;

	work.most = work.most < MOST_BYTES ? work.most : MOST_BYTES;
	struct plumb_error *err =
		pl_mem_pages_create(pl_mem_limited_init(&limited, pl_mem_live_mem(live), &work), &pages);

	if (!err)
		err = pl_task_stacks_create(pl_mem_pages_mem(pages), py, interp, &f->stacks);
	pl_mem_pages_destroy(pages);
	pl_ration_end(looks, &work);
	f->failed = err;
	f->next_ns = pl_clock_monotonic_ns() + AGAIN_NS;
	if (!err || err == &pl_err_no_memory || err == &pl_err_target_exited)
		return err;
	plumb_error_destroy(err);
	return NULL;
}

struct plumb_error *pl_task_finders_get(struct pl_task_finders *f, const struct pl_py *py, struct pl_mem_live *live,
					const struct pl_interp *interp, struct pl_task_stacks **ret)
{
	struct pl_task_finder *known = find(f, interp->addr);

	if (!known && f->list.len == PL_MAX_INTERPRETERS)
		pl_task_finders_forget(f); /* most of them are gone */
	if (!known && pl_vec_push(&f->list, ((struct pl_task_finder){.interp = interp->addr})))
		known = &f->list.data[f->list.len - 1];
	if (!known)
		return &pl_err_no_memory;
	struct plumb_error *err = NULL;
	if (!known->stacks && is_due(known, count_modules(py, live, interp)))
		err = look(known, &f->looks, py, live, interp);
	*ret = known->stacks;
	return !err && known->failed ? &pl_err_unreadable : err;
}
