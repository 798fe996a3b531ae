/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for the Python of a process, try by try. It may run none, be about to run one, or execute another program
 * while it is looked at: what one try has found is kept for the next, as long as that may do better. */
#ifndef PL_FIND_PYTHON_H
#define PL_FIND_PYTHON_H

#include <sys/types.h>

#include "detect.h"
#include "image.h"
#include "mem_live.h"

/** Plain data; zero: nothing is known yet. */
struct pl_find {
	uint32_t torn;	  /* tries that ended with a Python that could not be proved */
	bool image_known; /* an interpreter is mapped, at these addresses: */
	struct pl_python_image image;
	struct pl_mem_live *live; /* with image_known: its memory. Whoever takes it leaves NULL */
};

/** Nothing is known any more. */
void pl_find_forget(struct pl_find *f);
/** Try once, with no more than @p work. Errors: PLUMB_ERR_NOT_READY, PLUMB_ERR_NOT_PYTHON, those of pl_which_python. */
struct plumb_error *pl_find_python(struct pl_find *f, pid_t pid, struct pl_work *work,
				   struct pl_py *ret) PLUMB_MUST_CHECK;
/** What was found is of no use, and @p err says why: forget it, unless the next try may find something better. */
void pl_find_failed(struct pl_find *f, const struct plumb_error *err);
/** Is one try more worth while after @p tries of them, of which the last one has ended with @p err? Of a Python that
 * comes up for about a second. If so, returns after a moment. */
bool pl_find_await(const struct pl_find *f, const struct plumb_error *err, int tries);

#endif
