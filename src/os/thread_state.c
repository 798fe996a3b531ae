/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a thread, from /proc/PID/task/TID (layer os). Any thread. */
#include "thread_state.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "own_tid.h"
#include "proc.h"
#include "proc_file.h"

#define STATUS_MAX 4096 /* a list of groups in the middle may be long */

void pl_thread_state_read(pid_t pid, pid_t tid, struct pl_thread_state *ret)
{
	char name[48], text[STATUS_MAX];

	*ret = (struct pl_thread_state){.blocks = UINT64_MAX, .ends = UINT64_MAX};
	snprintf(name, sizeof name, "task/%d/status", (int)tid);
	if (pl_proc_file_ends(pid, name, text, sizeof text) <= 0)
		return;
	const char *state = pl_proc_status_field(text, "State");
	ret->letter = state ? *state : 0;
	ret->tracer = (pid_t)pl_proc_status_number(text, "TracerPid", 10, 0);
	/* A stop of ours that has not come about, or not been taken back, yet. */
	if (ret->tracer && ret->tracer == pl_own_tid()) {
		ret->letter = ret->letter == 't' ? 'R' : ret->letter;
		ret->tracer = 0;
	}
	ret->blocks = pl_proc_status_number(text, "voluntary_ctxt_switches", 10, UINT64_MAX);
	uint64_t pushed_off = pl_proc_status_number(text, "nonvoluntary_ctxt_switches", 10, UINT64_MAX);
	if (ret->blocks != UINT64_MAX && pushed_off != UINT64_MAX)
		ret->ends = ret->blocks + pushed_off;
}

bool pl_process_age(pid_t pid, uint64_t *ret_ns)
{
	struct timespec now;
	uint64_t ticks;
	long hz = sysconf(_SC_CLK_TCK);
	struct plumb_error *err = pl_proc_start_time(pid, &ticks);

	if (err || hz <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
		plumb_error_destroy(err);
		return false;
	}
	uint64_t start_ns = ticks / (uint64_t)hz * 1000000000 + ticks % (uint64_t)hz * (1000000000 / (uint64_t)hz);
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	*ret_ns = now_ns > start_ns ? now_ns - start_ns : 0;
	return true;
}
