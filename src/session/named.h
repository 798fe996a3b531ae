/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and processes that are asked for by name or number. */
#ifndef PL_NAMED_H
#define PL_NAMED_H

#include "view.h"

/** PLUMB_ERR_INVALID if one of them is in none of the profiles: it names it and those there are. */
struct plumb_error *pl_check_names(const struct plumb_profile *const *profiles, size_t count,
				   const struct pl_filter *f) PLUMB_MUST_CHECK;

#endif
