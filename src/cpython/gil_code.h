/* SPDX-License-Identifier: Apache-2.0 */
/* Where the GIL of a stripped 2.7 is. */
#ifndef PL_GIL_CODE_H
#define PL_GIL_CODE_H

#include "mem.h"

#define PL_GIL_CODE_BYTES 32

/**
 * The variable that the function PyEval_ThreadsInitialized of 2.7 compares with NULL: where the address of the lock is
 * that is the GIL. @p code: its first bytes, @p function their address. 0 if the code is not the few instructions that
 * compilers make of it.
 */
pl_addr pl_gil_lock_in_code(const uint8_t code[static PL_GIL_CODE_BYTES], pl_addr function);

#endif
