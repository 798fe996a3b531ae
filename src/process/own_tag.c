/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. */
#include "own_tag.h"

#include <unistd.h>

#include "mem_live.h"
#include "tags_layout.h"

struct plumb_error *pl_own_tag(const struct plumb_tags *t, uint64_t tstate, uint32_t *ret)
{
	const struct pl_context_layout layout = pl_tags_layout(t);
	struct pl_mem_live *live;
	struct pl_context c;
	struct plumb_error *err = pl_mem_live_create(getpid(), &live);

	if (err)
		return err;
	err = pl_context_read(pl_mem_live_mem(live), &layout, tstate, &c);
	if (!err)
		err = pl_context_tag(pl_mem_live_mem(live), &layout, &c, ret);
	pl_mem_live_destroy(live);
	return err;
}
