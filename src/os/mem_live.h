/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process. Reads only; the target is never written to. */
#ifndef PL_MEM_LIVE_H
#define PL_MEM_LIVE_H

#include <sys/types.h>

#include "mem.h"

struct pl_mem_live;

/** Opens /proc/PID/mem. Errors: PLUMB_ERR_NO_PROCESS, PLUMB_ERR_NOT_PERMITTED (explained by priv.h). */
struct plumb_error *pl_mem_live_create(pid_t pid, struct pl_mem_live **ret) PLUMB_MUST_CHECK;
void pl_mem_live_destroy(struct pl_mem_live *m);
/** Single reads by pread on /proc/PID/mem. */
struct pl_mem *pl_mem_live_mem(struct pl_mem_live *m);
/** True once the address space is gone: the process ended or runs another program. */
bool pl_mem_live_gone(struct pl_mem_live *m);

/** Whoever has our process may close our descriptors: open again what is no longer ours. True: it was so. */
bool pl_mem_live_reopen(struct pl_mem_live *m);

#define PL_READV_MAX 1024

/**
 * Read @p n ranges one after the other into consecutive bytes at @p dst (the sum of their lengths), in one system call.
 * @param got number of leading ranges that were read whole. Errors: pl_err_target_exited only; less than all is not an
 * error.
 */
struct plumb_error *pl_mem_live_readv(struct pl_mem_live *m, const struct pl_range *ranges, size_t n, void *dst,
				      size_t *got) PLUMB_MUST_CHECK;

/** Tries both on this process itself. Errors: PLUMB_ERR_NOT_PERMITTED: a filter refuses one of them. */
struct plumb_error *pl_mem_live_try_own(void) PLUMB_MUST_CHECK;

#endif
