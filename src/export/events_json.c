/* SPDX-License-Identifier: Apache-2.0 */
/* What happened, as a member of JSON (layer export). Streams. */
#include "events_json.h"

#include "events.h"
#include "labels.h"
#include "words.h"

const char *pl_event_word(uint8_t kind)
{
	return kind < PL_EVENTS ? pl_events[kind].word : "other";
}

void pl_event_json_labels(struct pl_json *j, const struct plumb_profile *p, uint32_t labels)
{
	struct pl_label label[PL_LABELS_MAX];
	unsigned count = pl_labels_in(p, labels, label);

	if (!count)
		return;
	pl_json_key(j, "labels");
	pl_json_object(j);
	for (unsigned i = 0; i < count; i++)
		pl_json_key_strn(j, label[i].name, label[i].value, label[i].value_len);
	pl_json_object_end(j);
}

static void write_event(struct pl_json *j, const struct plumb_profile *p, const struct pl_event *e)
{
	size_t len = 0;
	uint64_t since_ns;
	const char *name = pl_strtab_get(p->strings, e->name, &len);

	pl_json_object(j);
	pl_json_key_str(j, "kind", pl_event_word(e->kind));
	if (pl_event_since_ns(p, e->time_ns, &since_ns))
		pl_json_key_u64(j, "time_ns", since_ns);
	if (e->duration_ns)
		pl_json_key_u64(j, "duration_ns", e->duration_ns);
	if (len)
		pl_json_key_strn(j, "name", name, len);
	if (e->process)
		pl_json_key_u64(j, "pid", p->processes[e->process - 1].pid);
	if (e->thread)
		pl_json_key_u64(j, "tid", p->threads[e->thread - 1].tid);
	pl_event_json_labels(j, p, e->labels);
	pl_json_object_end(j);
}

struct plumb_error *pl_events_json(const struct plumb_profile *p, const struct pl_filter *f, struct pl_json *j)
{
	pl_event_vec events = {0};

	if (!p->event_count)
		return NULL;
	struct plumb_error *err = pl_events_by_time(p, f, &events);
	if (err || !events.len)
		return err;
	pl_json_key(j, "events");
	pl_json_array(j);
	for (size_t i = 0; i < events.len && !ferror(j->out); i++)
		write_event(j, p, &events.data[i]);
	pl_json_array_end(j);
	pl_vec_deinit(&events);
	return NULL;
}
