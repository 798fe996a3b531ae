/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the kernel a blocked thread is. It is not stopped for that. */
#ifndef PL_KERNEL_STACK_H
#define PL_KERNEL_STACK_H

#include <stdint.h>
#include <sys/types.h>

#include "thread_clock.h"

#define PL_KERNEL_FRAMES 32
#define PL_KERNEL_NAME	 64

struct pl_kernel_stack {
	uint32_t count;				      /* 0: not known */
	char names[PL_KERNEL_FRAMES][PL_KERNEL_NAME]; /* innermost first */
};

/** Of a thread that is blocked, of which @p info was told: the functions of the kernel that it is in, where the kernel
 * tells them (CAP_SYS_ADMIN); else one frame of its system call and the function that it waits in, "futex
 * (futex_do_wait)". Whether it stood still throughout is for the caller to see. */
void pl_kernel_stack_read(pid_t pid, pid_t tid, const struct pl_activity_info *info, struct pl_kernel_stack *ret);
/** Pure: the text of a file /proc/PID/task/TID/stack. What leads from user space into a system call is left out. */
void pl_kernel_stack_parse(const char *text, struct pl_kernel_stack *ret);

#endif
