/* SPDX-License-Identifier: Apache-2.0 */
/* Which Python it is: what src/os finds in the files of a process is what src/cpython starts from. */
#ifndef PL_WHICH_PYTHON_H
#define PL_WHICH_PYTHON_H

#include "detect.h"
#include "image.h"
#include "work.h"

/**
 * As pl_py_detect(), reading no more than @p work allows: how much there is to walk through is up to whoever made the
 * stacks. Errors: as that, and PLUMB_ERR_LIMIT.
 */
struct plumb_error *pl_which_python(struct pl_mem *mem, const struct pl_python_image *image, struct pl_work *work,
				    struct pl_py *ret) PLUMB_MUST_CHECK;

#endif
