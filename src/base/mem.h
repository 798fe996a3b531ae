/* SPDX-License-Identifier: Apache-2.0 */
/* pl_mem: "read n bytes at address a". The one thing src/cpython knows of the world, so that a live
 * process, our own process, a captured image, a core file and a fuzzer all run the same code.
 *
 * Failure is one of the static errors pl_err_unreadable or pl_err_target_exited: reading allocates nothing. */
#ifndef PL_MEM_H
#define PL_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

typedef uint64_t pl_addr; /* an address in the target; never dereferenced here */

struct pl_range {
	pl_addr addr;
	uint32_t len;
};

struct pl_mem;

struct pl_mem_ops {
	/** Copy exactly @p len bytes or fail; @p dst is undefined after a failure. */
	struct plumb_error *(*read)(struct pl_mem *mem, pl_addr addr, void *dst, size_t len);
	/** Optional (NULL): copy exactly all of these, one after the other, to consecutive bytes, or fail. */
	struct plumb_error *(*read_all)(struct pl_mem *mem, const struct pl_range *ranges, size_t n, void *dst);
	/** Optional (NULL): the caller will soon read inside this range. Never fails, may do nothing. */
	void (*prefetch)(struct pl_mem *mem, pl_addr addr, size_t len);
	/** Optional (NULL): the caller is to use @p len bytes once more that it has kept. An error: it may not. */
	struct plumb_error *(*reuse)(struct pl_mem *mem, size_t len);
};

/** Embed as the first member of an implementation. */
struct pl_mem {
	const struct pl_mem_ops *ops;
};

static inline struct plumb_error *PLUMB_MUST_CHECK pl_mem_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	return mem->ops->read(mem, addr, dst, len);
}

static inline void pl_mem_prefetch(struct pl_mem *mem, pl_addr addr, size_t len)
{
	if (mem->ops->prefetch)
		mem->ops->prefetch(mem, addr, len);
}

static inline struct plumb_error *PLUMB_MUST_CHECK pl_mem_reuse(struct pl_mem *mem, size_t len)
{
	return mem->ops->reuse ? mem->ops->reuse(mem, len) : NULL;
}

static inline struct plumb_error *PLUMB_MUST_CHECK pl_mem_read_u64(struct pl_mem *mem, pl_addr addr, uint64_t *ret)
{
	return pl_mem_read(mem, addr, ret, sizeof *ret);
}

/** Whether it could be read: for who does without it, and wants no reason. */
static inline bool pl_mem_get(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct plumb_error *err = pl_mem_read(mem, addr, dst, len);

	plumb_error_destroy(err);
	return !err;
}

/** The same of several ranges, one after the other, at once where that can be. */
static inline bool pl_mem_get_all(struct pl_mem *mem, const struct pl_range *ranges, size_t n, void *dst)
{
	uint8_t *to = (uint8_t *)dst;

	if (mem->ops->read_all) {
		struct plumb_error *err = mem->ops->read_all(mem, ranges, n, dst);

		plumb_error_destroy(err);
		return !err;
	}
	for (size_t i = 0; i < n; to += ranges[i++].len)
		if (!pl_mem_get(mem, ranges[i].addr, to, ranges[i].len))
			return false;
	return true;
}

static inline bool pl_mem_get_u64(struct pl_mem *mem, pl_addr addr, uint64_t *ret)
{
	return pl_mem_get(mem, addr, ret, sizeof *ret);
}

#endif
