/* SPDX-License-Identifier: Apache-2.0 */
/* This process as the one to be unwound, and some of its bytes as a made-up one. */
#ifndef PL_TEST_OWN_H
#define PL_TEST_OWN_H

#include <ucontext.h>

#include "unwind.h"

#define OWN_IMAGES_MAX 64

/** The memory of this process; what is not mapped is unreadable. */
struct pl_mem *own_mem(void);
/** The images that are loaded, the vDSO too; sorted. */
size_t own_images(struct pl_unwind_image ret[OWN_IMAGES_MAX]);
void own_registers(const ucontext_t *c, struct pl_registers *ret);

/** The memory that is these bytes at @p addr, and nothing else. Valid until the next call. */
struct pl_mem *own_bytes(pl_addr addr, const void *bytes, size_t len);

#endif
