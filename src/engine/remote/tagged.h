/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of samples that bear a tag: the frames of an untagged stack on the tag "[route=/x]" (model/labels.h), which
 * takes the place of the root. */
#ifndef PL_TAGGED_H
#define PL_TAGGED_H

#include <plumb/tags.h>

#include "map.h"
#include "profile.h"

#define PL_TAGGED_MAX (1u << 20)

struct pl_tagged {
	const struct plumb_tags *tags; /* borrowed; NULL: there are none */
	size_t max;	      /* stacks with a tag; further ones are counted as PLUMB_TAG_OTHER. 0: PL_TAGGED_MAX */
	struct pl_map stacks; /* (tag, stack) -> the stack with the tag */
};

void pl_tagged_deinit(struct pl_tagged *t);
/** @p tag may be any number; one without a text changes nothing. */
struct plumb_error *pl_tagged_stack(struct pl_tagged *t, struct plumb_profile *p, uint32_t tag, uint32_t stack,
				    uint32_t *ret) PLUMB_MUST_CHECK;

#endif
