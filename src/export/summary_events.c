/* SPDX-License-Identifier: Apache-2.0 */
/* A report in words: what happened beside the samples (layer export). */
#include <stdio.h>

#include "events.h"
#include "summary.h"
#include "units.h"
#include "words.h"

#define NAMES_SHOWN 3

/* Marks of one name. */
struct called {
	uint32_t name;
	uint64_t count;
};

struct counts {
	uint64_t kinds[PL_EVENTS];
	struct called called[NAMES_SHOWN];
	size_t names;
	uint64_t other_marks;
};

static void count_mark(struct counts *c, uint32_t name)
{
	size_t i = 0;

	while (i < c->names && c->called[i].name != name)
		i++;
	if (i == NAMES_SHOWN) {
		c->other_marks++;
		return;
	}
	if (i == c->names)
		c->called[c->names++] = (struct called){.name = name};
	c->called[i].count++;
}

/* Which processes there were is a row of its own. */
static void count_event(struct counts *c, const struct pl_event *e)
{
	if (e->kind == PL_EVENT_MARK)
		count_mark(c, e->name);
	else if (e->kind < PL_EVENTS && e->kind != PL_EVENT_STARTED && e->kind != PL_EVENT_ENDED)
		c->kinds[e->kind]++;
}

static void tell_marks(struct pl_summary *s, const struct plumb_profile *p, const struct counts *c)
{
	char count[80];

	for (size_t i = 0; i < c->names; i++) {
		snprintf(count, sizeof count, " %s", pl_units_count(c->called[i].count).s);
		pl_summary_name(s, PL_SUMMARY_EVENTS, "", pl_text_of(p, c->called[i].name), count);
	}
	if (c->other_marks)
		pl_summary_item(&s->rows[PL_SUMMARY_EVENTS], PL_TONE_PLAIN, "%s other marks",
				pl_units_count(c->other_marks).s);
}

struct plumb_error *pl_summary_events(struct pl_summary *s, const struct plumb_profile *p, const struct pl_filter *f)
{
	struct pl_summary_row *row = &s->rows[PL_SUMMARY_EVENTS];
	struct counts c = {.names = 0};
	pl_event_vec events = {0};
	struct plumb_error *err = p->event_count ? pl_events_by_time(p, f, &events) : NULL;

	for (size_t i = 0; i < events.len && !err; i++)
		count_event(&c, &events.data[i]);
	for (int kind = 0; kind < PL_EVENTS; kind++)
		if (c.kinds[kind])
			pl_summary_item(row, PL_TONE_PLAIN, "%s %s", pl_units_count(c.kinds[kind]).s,
					c.kinds[kind] == 1 ? pl_events[kind].one : pl_events[kind].several);
	tell_marks(s, p, &c);
	if (p->meta.losses[PL_LOSS_EVENTS])
		pl_summary_item(row, PL_TONE_PLAIN, "%s left out", pl_units_count(p->meta.losses[PL_LOSS_EVENTS]).s);
	pl_vec_deinit(&events);
	return err;
}
