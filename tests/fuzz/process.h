/* SPDX-License-Identifier: Apache-2.0 */
/* Any memory as a Python process, for the fuzzers of src/cpython. The input is an image as tests/golden/cpython makes
 * them, with what the ELF files would say at address 16. What the image lacks is unreadable, or, if the runtime address
 * is odd, made of the input's own bytes, so that every pointer leads somewhere. */
#ifndef PL_FUZZ_PROCESS_H
#define PL_FUZZ_PROCESS_H

#include "threads.h"

/** Do with the process what is to be fuzzed. */
typedef void process_fn(struct pl_mem *mem, const struct pl_py *py);

/** Call @p use for the Python that detection finds, and again with the layouts that the input names or brings along,
 * because detection stops most of what is damaged. Each time reads are bounded, and then fail. */
void process_fuzz(const uint8_t *data, size_t size, process_fn *use);

/** The interpreters of the process, the first few. */
typedef void process_interp_fn(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in);
void process_each_interp(struct pl_mem *mem, const struct pl_py *py, process_interp_fn *use);

#endif
