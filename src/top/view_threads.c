/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: threads, with what they did in the last minute. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "views.h"
#include "cell_text.h"

static const struct column columns[TABLE_COLUMNS] = {
	{"CPU %", 5, 0}, {"GIL %", 5, 0}, {"want %", 6, 50}, {"thread", 8, 60}};

/* Who had the GIL for most of the last second. */
static double most_gil(const struct plumb_view *second)
{
	struct plumb_view_thread t = {.size = sizeof t};
	double most = 0;

	for (size_t i = 0; second && plumb_view_thread_at(second, i, &t); i++)
		most = t.has_gil_share > most ? t.has_gil_share : most;
	return most;
}

/* The threads of the last second, by their numbers: there may be thousands, and so there are of all. */
struct place {
	int pid;
	uint64_t tid;
	size_t at; /* in the view */
};

struct places {
	struct place *list;
	size_t count;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Without memory there are none. */
static struct places list_places(const struct plumb_view *v)
{
	struct plumb_view_thread t = {.size = sizeof t};
	struct places places = {0};
	size_t n = 0;

	while (v && plumb_view_thread_at(v, n, &t))
		n++;
	places.list = n ? calloc(n, sizeof *places.list) : NULL;
	for (; places.list && places.count < n && plumb_view_thread_at(v, places.count, &t); places.count++)
		places.list[places.count] = (struct place){t.pid, t.tid, places.count};
	if (places.count)
		qsort(places.list, places.count, sizeof *places.list, compare_places);
	return places;
}

static bool find(const struct plumb_view *v, const struct places *places, const struct plumb_view_thread *like,
		 struct plumb_view_thread *ret)
{
	const struct place asked = {.pid = like->pid, .tid = like->tid};
	const struct place *found =
		places->count ? bsearch(&asked, places->list, places->count, sizeof asked, compare_places) : NULL;

	return found && plumb_view_thread_at(v, found->at, ret);
}

static void fill(struct row *r, const struct plumb_view_thread *t, const struct plumb_view_thread *now, double most)
{
	const uint64_t id[] = {(uint64_t)t->pid, t->tid};

	r->key = table_key(0, id, sizeof id);
	cell_percent(now->on_cpu_share, r->figures[0]);
	cell_percent(now->has_gil_share, r->figures[1]);
	cell_percent(now->wants_gil_share, r->figures[2]);
	snprintf(r->figures[3], sizeof r->figures[3], "%" PRIu64, t->tid);
	r->sign = now->has_gil && now->has_gil_share >= most ? "G " : "  ";
	r->name = *t->name ? t->name : "?";
	r->tone = *r->sign == 'G' ? TONE_STRONG : t->idle ? TONE_FAINT : TONE_PLAIN;
	r->weight = (double)t->on_cpu;
	if (now->on_cpu == now->samples && now->samples)
		return;
	r->pid = t->pid;
	r->tid = t->tid;
}

static void tell_waits(struct row *r, const struct waits *w)
{
	struct plumb_dump_thread told = {.size = sizeof told};

	if (r->pid && waits_of(w, r->pid, r->tid, &told) && *told.waits)
		r->note = told.waits;
}

static bool are_of_several(const struct plumb_view *v)
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

static void tell_owner(struct row *r, const struct plumb_view_thread *t)
{
	r->owner = t->pid;
	r->owner_name = *t->process ? t->process : NULL;
}

static const char *title_of(const struct look *l, bool several)
{
	if (l->second)
		return several ? "process, name (G: has the GIL), what it waits for   last minute"
			       : "name (G: has the GIL), what it waits for   last minute";
	return several ? "process, name (G: has the GIL most)" : "name (G: has the GIL most)";
}

struct plumb_error *view_threads(struct table *t, const struct choice *c, const struct look *l,
				 const struct strips *strips, bool unicode)
{
	struct plumb_view_thread row = {.size = sizeof row};
	double most = most_gil(l->second ? l->second : l->all);
	struct places places = list_places(l->second);
	bool several = are_of_several(l->all);

	t->columns = columns;
	t->title = title_of(l, several);
	table_clear(t);
	for (size_t i = 0; plumb_view_thread_at(l->all, i, &row); i++) {
		struct plumb_view_thread now = {.size = sizeof now};
		struct row *r = table_add(t);

		if (!r)
			break;
		if (!l->second)
			now = row;
		else if (!find(l->second, &places, &row, &now))
			now = (struct plumb_view_thread){0};
		fill(r, &row, &now, most);
		if (several)
			tell_owner(r, &row);
		tell_waits(r, c->waits);
		strips_text(strips, &row, STRIPS_SECONDS, unicode, r->tail, sizeof r->tail);
	}
	free(places.list);
	table_sort(t);
	table_ready(t);
	return NULL;
}
