/* SPDX-License-Identifier: Apache-2.0 */
/* The Firefox Profiler's markers: what happened beside samples. Layer export; any thread. */
#include "categories.h"
#include "firefox_parts.h"
#include "words.h"

enum { MARKER_START, MARKER_LOSS, MARKER_LABELS, MARKER_EVENT, MARKERS };
enum phase { INSTANT, INTERVAL };

static const char *const names[MARKERS] = {"First sample", "Lost", "Labels", "Event"};
static const char *const types[MARKERS] = {
	[MARKER_LOSS] = "loss", [MARKER_LABELS] = "labels", [MARKER_EVENT] = "event"};

struct marker {
	int name;
	uint64_t time_ns;
	const char *what; /* of a loss */
	uint64_t count;
	uint32_t tag; /* of labels: the node; */
	uint64_t end_ns;
	const struct pl_event *event;
};

/* Those that are not labels. */
struct markers {
	struct marker list[1 + PL_LOSSES];
	int count;
};

/* When something was lost is not known: it is told where the first thread begins. */
static struct markers markers_of(const struct pl_firefox *w, bool with_losses, uint64_t start_ns)
{
	struct markers m = {.list = {{.name = MARKER_START, .time_ns = start_ns}}, .count = 1};

	for (int i = 0; i < PL_LOSSES && with_losses; i++) {
		if (w->p->meta.losses[i])
			m.list[m.count++] = (struct marker){.name = MARKER_LOSS,
							    .time_ns = start_ns,
							    .what = pl_losses[i].about,
							    .count = w->p->meta.losses[i]};
	}
	return m;
}

static void write_data(struct pl_firefox *w, const struct marker *m)
{
	if (!types[m->name]) {
		pl_json_null(&w->j);
		return;
	}
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "type", types[m->name]);
	if (m->tag) {
		pl_firefox_write_labels(w, m->tag);
	} else if (m->event) {
		pl_firefox_write_event(w, m->event);
	} else {
		pl_json_key_str(&w->j, "what", m->what);
		pl_json_key_u64(&w->j, "count", m->count);
	}
	pl_json_object_end(&w->j);
}

static void write_name(struct pl_firefox *w, const struct marker *m)
{
	pl_json_u64(&w->j, (uint64_t)pl_strtab_count(w->p->strings) + (uint64_t)m->name);
}

static void write_start(struct pl_firefox *w, const struct marker *m)
{
	pl_json_decimal(&w->j, m->time_ns, 6);
}

static void write_end(struct pl_firefox *w, const struct marker *m)
{
	if (m->tag)
		pl_json_decimal(&w->j, m->end_ns, 6);
	else
		pl_json_null(&w->j);
}

static void write_phase(struct pl_firefox *w, const struct marker *m)
{
	pl_json_u64(&w->j, m->tag ? INTERVAL : INSTANT);
}

static void write_category(struct pl_firefox *w, const struct marker *m)
{
	pl_json_u64(&w->j, PL_CATEGORY_OTHER);
}

struct column {
	struct pl_firefox *w;
	void (*write)(struct pl_firefox *, const struct marker *);
	uint64_t rows;
};

static void write_run(void *ctx, const struct pl_firefox_run *r)
{
	struct column *c = ctx;
	const struct marker m = {.name = MARKER_LABELS, .time_ns = r->start_ns, .end_ns = r->end_ns, .tag = r->tag};

	c->write(c->w, &m);
	c->rows++;
}

/* A pause takes no time of the recording: all are instants. */
static void write_events(struct column *c, uint32_t thread)
{
	size_t count;
	const struct pl_event *e = pl_firefox_events_of(c->w, thread, &count);

	for (size_t i = 0; i < count; i++) {
		const struct marker m = {.name = MARKER_EVENT, .time_ns = e[i].time_ns, .event = &e[i]};

		c->write(c->w, &m);
		c->rows++;
	}
}

struct plumb_error *pl_firefox_write_markers(struct pl_firefox *w, struct pl_spool *spool, uint32_t thread,
					     bool with_losses, uint64_t start_ns)
{
	static const struct {
		const char *key;
		void (*write)(struct pl_firefox *, const struct marker *);
	} columns[] = {{"data", write_data},   {"name", write_name},   {"startTime", write_start},
		       {"endTime", write_end}, {"phase", write_phase}, {"category", write_category}};
	struct markers m = markers_of(w, with_losses, start_ns);
	struct column column = {0};
	struct plumb_error *err = NULL;

	pl_json_key(&w->j, "markers");
	pl_json_object(&w->j);
	for (size_t i = 0; i < sizeof columns / sizeof columns[0] && !err; i++) {
		column = (struct column){.w = w, .write = columns[i].write};
		pl_json_key(&w->j, columns[i].key);
		pl_json_array(&w->j);
		for (int k = 0; k < m.count; k++)
			columns[i].write(w, &m.list[k]);
		err = pl_firefox_runs_each(w, spool, thread, write_run, &column);
		write_events(&column, thread);
		pl_json_array_end(&w->j);
	}
	pl_json_key_u64(&w->j, "length", (uint64_t)m.count + column.rows);
	pl_json_object_end(&w->j);
	return err;
}

void pl_firefox_write_marker_names(struct pl_firefox *w)
{
	for (int i = 0; i < (w->events.len ? MARKERS : w->tag_nodes ? MARKER_EVENT : MARKER_LABELS); i++)
		pl_json_str(&w->j, names[i]);
}

void pl_firefox_write_field(struct pl_firefox *w, const char *key, const char *label, const char *format)
{
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "key", key);
	pl_json_key_str(&w->j, "label", label);
	pl_json_key_str(&w->j, "format", format);
	pl_json_object_end(&w->j);
}

static void write_loss_fields(struct pl_firefox *w)
{
	pl_firefox_write_field(w, "what", "What", "string");
	pl_firefox_write_field(w, "count", "How many", "integer");
}

static void write_labels_fields(struct pl_firefox *w)
{
	pl_firefox_write_field(w, PL_FIREFOX_TAG, "All labels", "string");
	pl_firefox_write_label_fields(w);
}

static void write_schema(struct pl_firefox *w, int marker, const char *label, const char *const *display,
			 void (*write_fields)(struct pl_firefox *))
{
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "name", types[marker]);
	pl_json_key_str(&w->j, "tableLabel", label);
	pl_json_key_str(&w->j, "chartLabel", label);
	pl_json_key(&w->j, "display");
	pl_json_array(&w->j);
	for (; *display; display++)
		pl_json_str(&w->j, *display);
	pl_json_array_end(&w->j);
	pl_json_key(&w->j, "fields");
	pl_json_array(&w->j);
	write_fields(w);
	pl_json_array_end(&w->j);
	pl_json_object_end(&w->j);
}

void pl_firefox_write_marker_schema(struct pl_firefox *w)
{
	/* The last one shows where something was lost, however long the recording is. */
	static const char *const display[] = {"marker-chart", "marker-table", "timeline-overview", NULL},
				 *const in_views[] = {"marker-chart", "marker-table", NULL};

	pl_json_key(&w->j, "markerSchema");
	pl_json_array(&w->j);
	write_schema(w, MARKER_LOSS, "{marker.data.count} {marker.data.what}", display, write_loss_fields);
	if (w->tag_nodes)
		write_schema(w, MARKER_LABELS, "{marker.data." PL_FIREFOX_TAG "}", in_views, write_labels_fields);
	if (w->events.len)
		write_schema(w, MARKER_EVENT, "{marker.data.kind} {marker.data.what}", display,
			     pl_firefox_write_event_fields);
	pl_json_array_end(&w->j);
}
