/* SPDX-License-Identifier: Apache-2.0 */
/* Why the kernel does not let us stop a thread (layer os). Any thread of ours; tries nothing but to read one byte.
 *
 * PTRACE_SEIZE asks for the same right as reading another process's memory does (PTRACE_MODE_ATTACH_REALCREDS in the
 * kernel: ids, dumpability, capabilities, Yama, security modules), and beyond that only whether somebody traces the
 * thread already. So if reading is allowed and nobody traces it, it was not the kernel's rules that refused: what is
 * left is a filter over our own system calls. */
#include "refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "host.h"
#include "own_fd.h"
#include "proc.h"
#include "thread_state.h"

#define SECCOMP_FILTER 2 /* in a status file */

/* Nothing is mapped at 0: a read that may be done fails for that, another one before. Where a filter keeps us from that
 * call, too, opening the memory asks for the same right. */
static bool is_readable(pid_t tid)
{
	char byte, path[32];
	struct iovec local = {.iov_base = &byte, .iov_len = 1}, remote = {.iov_base = NULL, .iov_len = 1};

	if (process_vm_readv(tid, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT)
		return true;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)tid);
	int fd = PL_OWN_FD(open(path, O_RDONLY | O_CLOEXEC));
	if (fd >= 0)
		pl_own_fd_close(fd);
	return fd >= 0;
}

static void judge_by_rules(const struct pl_refusal_facts *f, struct pl_refusal *ret)
{
	struct pl_priv_reason reason;

	pl_priv_reason(&f->priv, &reason);
	ret->cause = reason.known ? PL_REFUSAL_RIGHTS : PL_REFUSAL_OTHER;
	snprintf(ret->words, sizeof ret->words, "%s%s", reason.cause,
		 f->filtered && !reason.known ? "; a seccomp filter is around plumb, too" : "");
}

void pl_refusal_judge(const struct pl_refusal_facts *f, struct pl_refusal *ret)
{
	const char *name = *f->priv.tracer_name ? f->priv.tracer_name : "a debugger";

	if (f->priv.tracer) {
		ret->cause = PL_REFUSAL_TRACER;
		snprintf(ret->words, sizeof ret->words, "%s (pid %d) traces it", name, (int)f->priv.tracer);
	} else if (!f->readable) {
		judge_by_rules(f, ret);
	} else if (f->filtered) {
		ret->cause = PL_REFUSAL_FILTER;
		snprintf(ret->words, sizeof ret->words,
			 "a seccomp filter around plumb keeps it from calling ptrace; the kernel's own rules allow it");
	} else {
		ret->cause = PL_REFUSAL_OTHER;
		snprintf(ret->words, sizeof ret->words,
			 "the rules that let plumb read it allow it, no seccomp filter is around plumb, and nobody "
			 "seen from here traces it now");
	}
}

static bool is_ending(char letter)
{
	return letter == 'Z' || letter == 'X' || letter == '\0';
}

bool pl_refusal_find(pid_t pid, pid_t tid, struct pl_refusal *ret)
{
	struct pl_refusal_facts f;
	struct pl_thread_state state;

	pl_thread_state_read(pid, tid, &state);
	if (is_ending(state.letter) || !pl_priv_read(pid, &f.priv))
		return false;
	f.priv.tracer = state.tracer;
	f.priv.tracer_name[0] = '\0';
	if (state.tracer)
		pl_proc_comm(state.tracer, state.tracer, f.priv.tracer_name);
	f.readable = is_readable(tid);
	f.filtered = pl_host_own_status("Seccomp", 10, 0) == SECCOMP_FILTER;
	pl_refusal_judge(&f, ret);
	return true;
}
