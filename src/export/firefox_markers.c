/* SPDX-License-Identifier: Apache-2.0 */
/* The Firefox Profiler's markers: what happened beside samples. Layer export; any thread. */
#include "categories.h"
#include "firefox_parts.h"
#include "words.h"

enum { MARKER_START, MARKER_LOSS, MARKERS };
#define INSTANT 0u /* phase */
#define TYPE	"loss"

static const char *const names[MARKERS] = {"First sample", "Lost"};

struct marker {
	int name;
	uint64_t time_ns;
	const char *what; /* of a loss */
	uint64_t count;
};

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
			m.list[m.count++] =
				(struct marker){MARKER_LOSS, start_ns, pl_losses[i].about, w->p->meta.losses[i]};
	}
	return m;
}

static void write_data(struct pl_firefox *w, const struct marker *m)
{
	if (!m->what) {
		pl_json_null(&w->j);
		return;
	}
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "type", TYPE);
	pl_json_key_str(&w->j, "what", m->what);
	pl_json_key_u64(&w->j, "count", m->count);
	pl_json_object_end(&w->j);
}

static void write_name(struct pl_firefox *w, const struct marker *m)
{
	pl_json_u64(&w->j, (uint64_t)pl_strtab_count(w->p->strings) + (uint64_t)m->name);
}

static void write_start(struct pl_firefox *w, const struct marker *m)
{
	pl_json_double(&w->j, (double)m->time_ns / 1e6, 6);
}

static void write_end(struct pl_firefox *w, const struct marker *m)
{
	pl_json_null(&w->j);
}

static void write_phase(struct pl_firefox *w, const struct marker *m)
{
	pl_json_u64(&w->j, INSTANT);
}

static void write_category(struct pl_firefox *w, const struct marker *m)
{
	pl_json_u64(&w->j, PL_CATEGORY_OTHER);
}

void pl_firefox_write_markers(struct pl_firefox *w, bool with_losses, uint64_t start_ns)
{
	static const struct {
		const char *key;
		void (*write)(struct pl_firefox *, const struct marker *);
	} columns[] = {{"data", write_data},   {"name", write_name},   {"startTime", write_start},
		       {"endTime", write_end}, {"phase", write_phase}, {"category", write_category}};
	struct markers m = markers_of(w, with_losses, start_ns);

	pl_json_key(&w->j, "markers");
	pl_json_object(&w->j);
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		pl_json_key(&w->j, columns[i].key);
		pl_json_array(&w->j);
		for (int k = 0; k < m.count; k++)
			columns[i].write(w, &m.list[k]);
		pl_json_array_end(&w->j);
	}
	pl_json_key_u64(&w->j, "length", (uint64_t)m.count);
	pl_json_object_end(&w->j);
}

void pl_firefox_write_marker_names(struct pl_firefox *w)
{
	for (int i = 0; i < MARKERS; i++)
		pl_json_str(&w->j, names[i]);
}

static void write_field(struct pl_firefox *w, const char *key, const char *label, const char *format)
{
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "key", key);
	pl_json_key_str(&w->j, "label", label);
	pl_json_key_str(&w->j, "format", format);
	pl_json_object_end(&w->j);
}

void pl_firefox_write_marker_schema(struct pl_firefox *w)
{
	pl_json_key(&w->j, "markerSchema");
	pl_json_array(&w->j);
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "name", TYPE);
	pl_json_key_str(&w->j, "tableLabel", "{marker.data.count} {marker.data.what}");
	pl_json_key_str(&w->j, "chartLabel", "{marker.data.count} {marker.data.what}");
	pl_json_key(&w->j, "display");
	pl_json_array(&w->j);
	pl_json_str(&w->j, "marker-chart");
	pl_json_str(&w->j, "marker-table");
	pl_json_str(&w->j, "timeline-overview");
	pl_json_array_end(&w->j);
	pl_json_key(&w->j, "fields");
	pl_json_array(&w->j);
	write_field(w, "what", "What", "string");
	write_field(w, "count", "How many", "integer");
	pl_json_array_end(&w->j);
	pl_json_object_end(&w->j);
	pl_json_array_end(&w->j);
}
