/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is read until some time. Layer os. */
#include "mem_until.h"

#include "clock.h"

#define REUSES 64 /* take less time than one read */

static struct plumb_error *look_at_clock(struct pl_mem_until *m)
{
	m->late |= pl_clock_monotonic_ns() >= m->end_ns;
	return m->late ? &pl_err_limit : NULL;
}

static struct plumb_error *until_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_mem_until *m = (struct pl_mem_until *)mem;
	struct plumb_error *err = look_at_clock(m);

	return err ? err : pl_mem_read(m->inner, addr, dst, len);
}

static struct plumb_error *until_reuse(struct pl_mem *mem, size_t len)
{
	struct pl_mem_until *m = (struct pl_mem_until *)mem;

	(void)len;
	if (!m->late && ++m->reused % REUSES)
		return NULL;
	return look_at_clock(m);
}

static const struct pl_mem_ops until_ops = {.read = until_read, .reuse = until_reuse};

struct pl_mem *pl_mem_until_init(struct pl_mem_until *m, struct pl_mem *inner, uint64_t end_ns)
{
	*m = (struct pl_mem_until){.mem.ops = &until_ops, .inner = inner, .end_ns = end_ns};
	return &m->mem;
}
