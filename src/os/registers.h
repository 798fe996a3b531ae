/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a thread that we have stopped (pause.h). */
#ifndef PL_REGISTERS_H
#define PL_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PL_DWARF_REGISTERS 17 /* x86-64: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip */

/** By their DWARF numbers, as src/unwind has them. From the thread of ours that stopped it. False: it does not stand
 * still yet, or this processor is not known. */
bool pl_registers_read(pid_t tid, uint64_t ret[PL_DWARF_REGISTERS]);

#endif
