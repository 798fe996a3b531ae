/* SPDX-License-Identifier: Apache-2.0 */
/* What happened at a moment, as markers of the Firefox Profiler's format. Layer export; any thread. */
#include <stdio.h>
#include <stdlib.h>

#include "firefox_parts.h"
#include "labels.h"
#include "words.h"

/* The thread whose marker it is: its own; of a process its first; else the first of all. One without samples is not in
 * the file. */
static uint32_t owner_of(const struct plumb_profile *p, const struct pl_event *e, const uint32_t *first_of,
			 const struct pl_spool *spool)
{
	uint32_t none = p->thread_count, first = e->process ? first_of[e->process - 1] : none;

	if (e->thread && pl_spool_count(spool, e->thread - 1))
		return e->thread - 1;
	return first == none ? first_of[p->process_count] : first;
}

/* The first thread with samples of each process, behind them that of all; thread_count: there is none. NULL: no
 * memory. */
static uint32_t *first_threads(const struct plumb_profile *p, const struct pl_spool *spool)
{
	uint32_t *first = malloc(((size_t)p->process_count + 1) * sizeof *first);

	for (uint32_t i = 0; first && i <= p->process_count; i++)
		first[i] = p->thread_count;
	for (uint32_t i = p->thread_count; first && i-- > 0;)
		if (pl_spool_count(spool, i))
			first[p->threads[i].process] = first[p->process_count] = i;
	return first;
}

static int compare(const void *a, const void *b)
{
	const struct pl_event *e = a, *f = b;

	if (e->thread != f->thread)
		return e->thread < f->thread ? -1 : 1;
	return (e->time_ns > f->time_ns) - (e->time_ns < f->time_ns);
}

/* Afterwards `thread` of each is that of its owner, and they are in its order. */
struct plumb_error *pl_firefox_events_prepare(struct pl_firefox *w, const struct pl_spool *spool)
{
	if (!w->p->event_count || !pl_profile_is_timed(w->p))
		return NULL;
	uint32_t *first = first_threads(w->p, spool);
	struct plumb_error *err = first ? pl_events_by_time(w->p, &w->o->filter, &w->events) : &pl_err_no_memory;
	for (size_t i = 0; i < w->events.len && !err; i++)
		w->events.data[i].thread = owner_of(w->p, &w->events.data[i], first, spool);
	if (!err && w->events.len)
		qsort(w->events.data, w->events.len, sizeof *w->events.data, compare);
	free(first);
	return err;
}

/* The first that is not of a thread before. */
static size_t first_of(const struct pl_firefox *w, uint32_t thread)
{
	size_t low = 0, high = w->events.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->events.data[mid].thread < thread)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct pl_event *pl_firefox_events_of(const struct pl_firefox *w, uint32_t thread, size_t *count_ret)
{
	size_t from = first_of(w, thread), to;

	for (to = from; to < w->events.len && w->events.data[to].thread == thread;)
		to++;
	*count_ret = to - from;
	return to > from ? &w->events.data[from] : NULL;
}

/* "number=3, loss=0.25"; cut to what there is room for. */
static void write_values(struct pl_firefox *w, const struct pl_event *e)
{
	struct pl_label labels[PL_LABELS_MAX];
	unsigned count = pl_labels_in(w->p, e->labels, labels);
	char text[4096] = "";
	size_t len = 0;

	for (unsigned i = 0; i < count && len < sizeof text; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%.200s=%.200s", i ? ", " : "", labels[i].name,
					labels[i].value);
	pl_json_key_str(&w->j, "values", text);
}

void pl_firefox_write_event(struct pl_firefox *w, const struct pl_event *e)
{
	struct pl_text name = pl_text_of(w->p, e->name);

	pl_json_key_str(&w->j, "kind", e->kind < PL_EVENTS ? pl_events[e->kind].one : "other");
	pl_json_key_strn(&w->j, "what", name.s, name.len);
	if (e->duration_ns) {
		pl_json_key(&w->j, "duration");
		pl_json_decimal(&w->j, e->duration_ns, 6);
	}
	if (e->labels)
		write_values(w, e);
}

void pl_firefox_write_event_fields(struct pl_firefox *w)
{
	pl_firefox_write_field(w, "kind", "Kind", "string");
	pl_firefox_write_field(w, "what", "What", "string");
	pl_firefox_write_field(w, "duration", "Duration", "duration");
	pl_firefox_write_field(w, "values", "Values", "string");
}
