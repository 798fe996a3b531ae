/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see owners.h. */
#include "owners.h"

#include <stdlib.h>

static bool has_several(const struct plumb_view *v)
{
	struct plumb_view_thread t = {.size = sizeof t};
	int first = 0;

	for (size_t i = 0; plumb_view_thread_at(v, i, &t); i++) {
		if (i > 0 && t.pid != first)
			return true;
		first = t.pid;
	}
	return false;
}

static int by_pid(const void *va, const void *vb)
{
	const struct plumb_view_process *a = va, *b = vb;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Without memory none is known. */
struct owners owners_of(const struct plumb_view *v)
{
	struct plumb_view_process p = {.size = sizeof p};
	struct owners o = {.several = has_several(v)};
	size_t n = 0;

	while (o.several && plumb_view_process_at(v, n, &p))
		n++;
	o.list = n ? calloc(n, sizeof *o.list) : NULL;
	for (; o.list && o.count < n && plumb_view_process_at(v, o.count, &p); o.count++)
		o.list[o.count] = p;
	if (o.count)
		qsort(o.list, o.count, sizeof *o.list, by_pid);
	return o;
}

void owners_free(struct owners *o)
{
	free(o->list);
	*o = (struct owners){0};
}

const char *owners_name(const struct owners *o, int pid)
{
	const struct plumb_view_process sought = {.pid = pid},
					*found = o->count ? bsearch(&sought, o->list, o->count, sizeof sought, by_pid)
							  : NULL;

	return found && *found->name ? found->name : NULL;
}
