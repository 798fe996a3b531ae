/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: plumb_tags_find. */
#include <plumb/tags.h>

#include "own_tag.h"

struct plumb_error *plumb_tags_find(const struct plumb_tags *t, uint64_t thread_state, uint32_t *ret)
{
	return pl_own_tag(t, thread_state, ret);
}
