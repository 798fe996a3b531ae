/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os. PTRACE_GETREGSET on a thread in a ptrace stop. To add a processor: its branch here and its row in
 * unwind/arch.c. */
#include "registers.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#if defined(__x86_64__)

bool pl_registers_read(pid_t tid, uint64_t ret[PL_DWARF_REGISTERS])
{
	struct user_regs_struct r;
	struct iovec to = {&r, sizeof r};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &to) || to.iov_len != sizeof r)
		return false;
	const uint64_t words[PL_DWARF_REGISTERS] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
						    r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
	memcpy(ret, words, sizeof words);
	return true;
}

#else

bool pl_registers_read(pid_t tid, uint64_t ret[PL_DWARF_REGISTERS])
{
	(void)tid;
	(void)ret;
	return false;
}

#endif
