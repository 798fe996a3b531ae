/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that asks, as the kernel numbers it. Layer os; from any thread. */
#ifndef PL_OWN_TID_H
#define PL_OWN_TID_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* gettid() came with glibc 2.30; wheels are for 2.28. */
static inline pid_t pl_own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

#endif
