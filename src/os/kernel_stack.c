/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; any thread. */
#include "kernel_stack.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proc_file.h"
#include "syscalls.h"

#define TEXT_BYTES 8192

/* Each stack of a system call ends with these; they say nothing. */
static bool is_entry(const char *name)
{
	static const char *const entries[] = {"entry_SYSCALL",	"do_syscall_", "x64_sys_call",	"el0",
					      "invoke_syscall", "do_el0_svc",  "ret_from_fork", NULL};

	for (const char *const *e = entries; *e; e++)
		if (strncmp(name, *e, strlen(*e)) == 0)
			return true;
	return false;
}

/* A name ends with its offset: "do_epoll_wait+0x2f/0x40". False: it is none. */
static bool take_name(const char *text, size_t len, char ret[static PL_KERNEL_NAME])
{
	const size_t name = strcspn(text, "+ \n");

	if (name == 0 || name > len || (text[0] == '0' && text[1] == 'x')) /* the kernel hides what it is */
		return false;
	snprintf(ret, PL_KERNEL_NAME, "%.*s", (int)name, text);
	return true;
}

void pl_kernel_stack_parse(const char *text, struct pl_kernel_stack *ret)
{
	ret->count = 0;
	for (const char *line = text; *line && ret->count < PL_KERNEL_FRAMES;) {
		size_t len = strcspn(line, "\n");
		const char *behind = memchr(line, ']', len); /* "[<0>] " */
		char *name = ret->names[ret->count];

		if (behind && behind[1] == ' ' && take_name(behind + 2, len - (size_t)(behind + 2 - line), name) &&
		    !is_entry(name))
			ret->count++;
		line += len + (line[len] == '\n');
	}
}

static bool read_file(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "task/%d/%s", (int)tid, name);
	return pl_proc_file(pid, path, text, size) > 0;
}

/* Its system call, and the function of the kernel that it waits in, as far as they are known. */
static void make_one(pid_t pid, pid_t tid, const struct pl_activity_info *info, struct pl_kernel_stack *ret)
{
	const struct pl_call *call = info->syscall >= 0 ? pl_call_find(info->syscall) : NULL;
	char where[PL_KERNEL_NAME / 2] = "", what[PL_KERNEL_NAME / 2 - 3] = "";

	if (!read_file(pid, tid, "wchan", where, sizeof where) || where[0] == '0')
		where[0] = '\0';
	if (call)
		snprintf(what, sizeof what, "%s", call->name);
	else if (info->syscall >= 0)
		snprintf(what, sizeof what, "system call %d", info->syscall);
	if (what[0] && where[0])
		snprintf(ret->names[0], PL_KERNEL_NAME, "%s (%s)", what, where);
	else
		snprintf(ret->names[0], PL_KERNEL_NAME, "%s", what[0] ? what : where);
	ret->count = ret->names[0][0] ? 1 : 0;
}

void pl_kernel_stack_read(pid_t pid, pid_t tid, const struct pl_activity_info *info, struct pl_kernel_stack *ret)
{
	char text[TEXT_BYTES];

	ret->count = 0;
	if (read_file(pid, tid, "stack", text, sizeof text))
		pl_kernel_stack_parse(text, ret);
	if (!ret->count)
		make_one(pid, tid, info, ret);
}
