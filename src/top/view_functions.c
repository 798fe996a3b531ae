/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: functions, of the last seconds and since the start. */
#include "views.h"
#include "cell_text.h"

static const struct column columns[TABLE_COLUMNS] = {
	{"5 s %", 5, 0}, {"self %", 6, 0}, {"95 %", 6, 60}, {"total %", 7, 50}};

static const char *const bars[TABLE_BARS] = {"5 s", "since the start"};

static const char *const titles[ORDERS][2] = {
	[ORDER_SELF_NOW] = {"function, by self, last 5 s", "own function, by self, last 5 s"},
	[ORDER_SELF] = {"function, by self, since the start", "own function, by self, since the start"},
	[ORDER_TOTAL_NOW] = {"function, by total, last 5 s (5 s: total)",
			     "own function, by total, last 5 s (5 s: total)"},
	[ORDER_TOTAL] = {"function, by total, since the start (5 s: total)",
			 "own function, by total, since the start (5 s: total)"},
};

static double weight_of(enum order order, const struct plumb_view_function *now, const struct plumb_view_function *all)
{
	switch (order) {
	case ORDER_SELF_NOW:
		return now->self.share + all->self.share * 1e-9; /* what did nothing now comes behind, in its order */
	case ORDER_TOTAL_NOW:
		return now->total.share + all->total.share * 1e-9;
	case ORDER_TOTAL:
		return all->total.share;
	default:
		return all->self.share;
	}
}

static struct bar bar_of(const struct plumb_share *s)
{
	if (!s->samples)
		return (struct bar){0};
	return (struct bar){s->share - s->half_width, s->share + s->half_width};
}

static void fill(struct row *r, const struct choice *c, const struct plumb_view_function *now,
		 const struct plumb_view_function *all, bool unicode)
{
	bool total = c->order == ORDER_TOTAL_NOW || c->order == ORDER_TOTAL;

	r->key = table_function_key(0, all);
	r->function = *all;
	r->has_function = true;
	r->name = all->qualname;
	cell_place(all, r->tail, sizeof r->tail);
	view_percent(r->figures[0], total ? &now->total : &now->self);
	view_percent(r->figures[1], &all->self);
	view_interval(r->figures[2], &all->self, unicode);
	view_percent(r->figures[3], &all->total);
	r->bars[0] = bar_of(total ? &now->total : &now->self);
	r->bars[1] = bar_of(total ? &all->total : &all->self);
	r->weight = weight_of(c->order, now, all);
	r->tone = all->self.share >= VIEW_HOT ? TONE_HOT : all->library ? TONE_FAINT : TONE_PLAIN;
}

struct plumb_error *view_functions(struct table *t, const struct choice *c, const struct look *l,
				   const struct strips *strips, bool unicode)
{
	struct plumb_view_function all = {.size = sizeof all};

	t->columns = columns;
	t->bars = bars;
	t->title = titles[c->order][c->own_functions];
	table_clear(t);
	for (size_t i = 0; plumb_view_function_at(l->all, i, &all); i++) {
		struct plumb_view_function now = {.size = sizeof now};

		if (all.library && c->own_functions)
			continue;
		struct row *r = table_add(t);
		if (!r)
			break;
		if (l->recent)
			plumb_view_function_like(l->recent, &all, &now);
		fill(r, c, &now, &all, unicode);
	}
	table_sort(t);
	table_ready(t);
	return NULL;
}
