/* SPDX-License-Identifier: Apache-2.0 */
/* What a program says of its tags, as src/cpython wants to know it: that layer knows no public header. */
#ifndef PL_TAGS_LAYOUT_H
#define PL_TAGS_LAYOUT_H

#include <plumb/tags.h>

#include "context.h"

/** Of tags that are ready. */
static inline struct pl_context_layout pl_tags_layout(const struct plumb_tags *t)
{
	return (struct pl_context_layout){.var = t->var,
					  .value_type = t->value_type,
					  .bitmap_type = t->bitmap_type,
					  .array_type = t->array_type,
					  .collision_type = t->collision_type,
					  .hash = t->hash,
					  .context = t->context,
					  .vars = t->vars,
					  .root = t->root,
					  .type = t->type,
					  .header = t->header};
}

#endif
