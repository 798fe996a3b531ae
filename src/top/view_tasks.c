/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: what asyncio tasks wait for, each coroutine below the one that awaits it. Task seconds, since the start.
 */
#include <stdio.h>

#include "views.h"
#include "cell_text.h"

static const struct column columns[TABLE_COLUMNS] = {
	{"tasks", 7, 0}, {"waited", 9, 0}, {"total %", 7, 50}, {NULL, 0, 0}};

/* How many were there at once on average, for how long together, and how much that is of all. */
static void add_figures(const void *ctx, struct row *r, const struct plumb_view_tree_row *row)
{
	const struct plumb_view_waited *all = ctx;
	const struct plumb_share *s = &row->function.total;
	char time[24];

	if (all->covered_ns)
		snprintf(r->figures[0], sizeof r->figures[0], "%.1f", (double)s->weight_ns / (double)all->covered_ns);
	snprintf(r->figures[1], sizeof r->figures[1], "%.15s", cell_time(s->weight_ns, time));
	view_percent(r->figures[2], s);
}

struct plumb_error *view_tasks(struct table *t, const struct choice *c, const struct look *l,
			       const struct strips *strips, bool unicode)
{
	enum plumb_view_tree which = c->all_code ? PLUMB_VIEW_TREE_ALL : PLUMB_VIEW_TREE_OWN;
	struct plumb_view_waited all = {.size = sizeof all};
	const struct view_tree tree = {plumb_view_wait_at, add_figures, &all, &c->shut, unicode};
	size_t count;
	struct plumb_error *err = plumb_view_waited(l->all, &all);

	if (!err)
		err = plumb_view_waits(l->all, which, VIEW_TREE_MIN_SHARE, &count);
	if (err)
		return err;
	t->columns = columns;
	t->title = !all.looks	 ? "no task was looked at: 'plumb top --tasks' does, without a choice of states"
		   : c->all_code ? "tasks that wait, below who awaits them, all code"
				 : "tasks that wait, below who awaits them, own code";
	view_tree_rows(t, &tree, l->all);
	return NULL;
}
