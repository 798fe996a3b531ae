/* SPDX-License-Identifier: Apache-2.0 */
/* Files of this folder, and the tasks of an image. */
#ifndef PL_TEST_GOLDEN_IMAGE_H
#define PL_TEST_GOLDEN_IMAGE_H

#include "asyncio.h"
#include "mem_image.h"

/** All of "NAME.SUFFIX" with a NUL behind it; the caller's. NULL: it cannot be read. */
char *golden_file(const char *name, const char *suffix, size_t *len_ret);
/** What is in @p image, as it is read through @p mem. */
struct plumb_error *golden_tasks(struct pl_mem *image, struct pl_mem *mem, struct pl_py *py, struct pl_interp *interp,
				 struct pl_tasks *ret) PLUMB_MUST_CHECK;
/** NULL: none of that name. */
const struct pl_task *golden_task(const struct pl_tasks *tasks, const char *name);

#endif
