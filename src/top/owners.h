/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes the threads of a view are of. */
#ifndef OWNERS_H
#define OWNERS_H

#include <plumb/plumb.h>

struct owners {
	bool several;
	struct plumb_view_process *list; /* owned, by number; NULL: none is known */
	size_t count;
};

/** Of the threads of @p v, which was asked for them and for its processes; as long as it lives. */
struct owners owners_of(const struct plumb_view *v);
void owners_free(struct owners *o);
/** NULL: not known. */
const char *owners_name(const struct owners *o, int pid);

#endif
