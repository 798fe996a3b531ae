/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is read within limits. Layer os. */
#include "mem_limited.h"

static struct plumb_error *limited_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_mem_limited *m = (struct pl_mem_limited *)mem;

	if (!pl_work_spend(m->work, PL_WORK_CALL + len))
		return &pl_err_limit;
	return pl_mem_read(m->inner, addr, dst, len);
}

static struct plumb_error *limited_reuse(struct pl_mem *mem, size_t len)
{
	struct pl_mem_limited *m = (struct pl_mem_limited *)mem;

	return pl_work_spend(m->work, PL_WORK_KEPT + len) ? NULL : &pl_err_limit;
}

static const struct pl_mem_ops limited_ops = {.read = limited_read, .reuse = limited_reuse};

struct pl_mem *pl_mem_limited_init(struct pl_mem_limited *m, struct pl_mem *inner, struct pl_work *work)
{
	*m = (struct pl_mem_limited){.mem.ops = &limited_ops, .inner = inner, .work = work};
	return &m->mem;
}
