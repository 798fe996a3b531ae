/* SPDX-License-Identifier: Apache-2.0 */
/* Who held the GIL while threads waited for it, in JSON. Inside the layer only. */
#ifndef PL_GIL_BLAME_H
#define PL_GIL_BLAME_H

#include "gil_waits.h"
#include "json.h"

/** "gil_blame", where a thread waited for the GIL. */
void pl_gil_blame_json(const struct pl_gil_blame *b, const struct plumb_profile *p, struct pl_json *j);

#endif
