/* SPDX-License-Identifier: Apache-2.0 */
/* What happened at a moment, for the timeline of the report page (layer export). Streams. */
#include <stdlib.h>

#include "events.h"
#include "events_json.h"
#include "frame_name.h"
#include "page_parts.h"

/* Row of each thread among those of the page; NULL: no memory. */
static uint32_t *rows_of(const struct plumb_profile *p, const pl_thread_rows *threads)
{
	uint32_t *row = calloc((size_t)p->thread_count + 1, sizeof *row);

	for (size_t i = 0; row && i < threads->len; i++)
		row[threads->data[i].thread] = (uint32_t)i;
	return row;
}

static void write_event(struct pl_json *j, const struct plumb_profile *p, const struct pl_event *e, const uint32_t *row)
{
	struct pl_text name = pl_text_of(p, e->name);

	pl_json_object(j);
	pl_json_key_u64(j, "kind", e->kind);
	pl_json_key_u64(j, "at_ns", pl_event_axis_ns(p, e->time_ns));
	pl_json_key_strn(j, "name", name.s, name.len);
	if (e->duration_ns)
		pl_json_key_u64(j, "duration_ns", e->duration_ns);
	if (e->process)
		pl_json_key_u64(j, "pid", p->processes[e->process - 1].pid);
	if (e->thread)
		pl_json_key_u64(j, "thread", row[e->thread - 1]);
	pl_event_json_labels(j, p, e->labels);
	pl_json_object_end(j);
}

struct plumb_error *pl_page_events_json(const struct pl_page_meta *m, const struct plumb_profile *p, struct pl_json *j)
{
	pl_event_vec events = {0};

	if (!p->event_count || !pl_profile_has_time(p))
		return NULL;
	uint32_t *row = rows_of(p, m->threads);
	struct plumb_error *err = row ? pl_events_by_time(p, &m->o->filter, &events) : &pl_err_no_memory;
	if (!err) {
		pl_json_key(j, "events");
		pl_json_array(j);
		for (size_t i = 0; i < events.len && !ferror(j->out); i++)
			write_event(j, p, &events.data[i], row);
		pl_json_array_end(j);
	}
	pl_vec_deinit(&events);
	free(row);
	return err;
}
