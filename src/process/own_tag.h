/* SPDX-License-Identifier: Apache-2.0 */
/* The tag of a thread of this process, read once as a sample reads it. Any thread. */
#ifndef PL_OWN_TAG_H
#define PL_OWN_TAG_H

#include <plumb/tags.h>

struct plumb_error *pl_own_tag(const struct plumb_tags *t, uint64_t tstate, uint32_t *ret) PLUMB_MUST_CHECK;

#endif
