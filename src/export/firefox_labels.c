/* SPDX-License-Identifier: Apache-2.0 */
/* Labels in the Firefox Profiler's format, which has no attributes of samples: a marker for each stretch of time in
 * which a thread bore one tag. Its viewer leaves samples out that are not within markers that are searched for. Layer
 * export; any thread. */
#include <stdio.h>
#include <stdlib.h>

#include "firefox_parts.h"
#include "labels.h"
#include "size_limit.h"
#include "symbols.h"
#include "timeline.h"

/* Columns of the viewer's tables. Labels of further names are told in the text of their tag only. */
#define NAMES_MAX 64

/* ---- names ------------------------------------------------------------------------------------------------------- */

static struct plumb_error *add_names(struct pl_firefox *w, uint32_t function)
{
	struct pl_label labels[PL_LABELS_MAX];
	unsigned count = pl_function_labels(w->p, function, labels);
	struct plumb_error *err = NULL;
	uint32_t id;

	for (unsigned i = 0; i < count && !err && pl_strtab_count(w->label_names) <= NAMES_MAX; i++)
		err = pl_strtab_add(w->label_names, labels[i].name, labels[i].name_len, &id);
	return err;
}

struct plumb_error *pl_firefox_labels_prepare(struct pl_firefox *w)
{
	bool any = false;
	struct plumb_error *err = pl_strtab_create(&w->label_names);

	for (uint32_t i = 0; i < w->p->function_count && !err; i++) {
		if (!w->p->functions[i].labels)
			continue;
		any = true;
		err = add_names(w, i);
	}
	if (err || !any)
		return err;
	w->tag_nodes = calloc((size_t)w->p->stack_count + 1, sizeof *w->tag_nodes);
	if (!w->tag_nodes)
		return &pl_err_no_memory;
	pl_tag_nodes(w->p, w->tag_nodes);
	return NULL;
}

/* A name that markers have themselves gets a prefix, and so has one that begins with it. */
static const char *prefix_of(const char *name)
{
	static const char *const taken[] = {"type", PL_FIREFOX_TAG, "cause"};

	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(name, taken[i]) == 0)
			return PL_SYMBOLS_PREFIX;
	return strncmp(name, PL_SYMBOLS_PREFIX, strlen(PL_SYMBOLS_PREFIX)) == 0 ? PL_SYMBOLS_PREFIX : "";
}

struct key {
	char s[256]; /* longer ones are cut, here and in the list of fields */
};

static struct key key_of(const char *name)
{
	struct key key;

	snprintf(key.s, sizeof key.s, "%s%s", prefix_of(name), name);
	return key;
}

void pl_firefox_write_labels(struct pl_firefox *w, uint32_t tag)
{
	uint32_t function = w->p->locations[w->p->stacks[tag].location].function;
	struct pl_text text = pl_text_of(w->p, w->p->functions[function].name);
	struct pl_label labels[PL_LABELS_MAX];
	unsigned count = pl_function_labels(w->p, function, labels);

	pl_json_key_strn(&w->j, PL_FIREFOX_TAG, text.s, text.len);
	for (unsigned i = 0; i < count; i++)
		pl_json_key_strn(&w->j, key_of(labels[i].name).s, labels[i].value, labels[i].value_len);
}

void pl_firefox_write_label_fields(struct pl_firefox *w)
{
	for (uint32_t i = 1; i < pl_strtab_count(w->label_names); i++) /* string 0 is empty */
		pl_firefox_write_field(w, key_of(pl_strtab_get(w->label_names, i, NULL)).s,
				       pl_strtab_get(w->label_names, i, NULL), "string");
}

/* ---- stretches of time ------------------------------------------------------------------------------------------- */

struct runs {
	const struct pl_firefox *w;
	pl_firefox_run_fn *fn;
	void *ctx;
	struct pl_timeline timeline;
	struct pl_firefox_run open; /* tag 0: none; end_ns: of its last sample */
	uint64_t count;		    /* of samples that the last one stands for */
};

/* What the thread did for longer than its last sample tells, nobody saw. */
static void close_run(struct runs *r, uint64_t lasted_ns)
{
	r->open.end_ns += lasted_ns;
	if (r->open.tag)
		r->fn(r->ctx, &r->open);
	r->open.tag = 0;
}

static struct plumb_error *add_sample(void *ctx, const struct pl_sample *s)
{
	struct runs *r = ctx;
	uint32_t tag = r->w->tag_nodes[s->stack];
	uint64_t now = pl_timeline_next(&r->timeline, s), gap = now - r->open.end_ns,
		 lasted = pl_timeline_length(&r->timeline, gap, r->count);

	if (r->open.tag && (tag != r->open.tag || lasted < gap))
		close_run(r, lasted);
	if (!r->open.tag)
		r->open = (struct pl_firefox_run){.tag = tag, .start_ns = now};
	r->open.end_ns = now;
	r->count = r->timeline.count;
	return NULL;
}

struct plumb_error *pl_firefox_runs_each(const struct pl_firefox *w, struct pl_spool *spool, uint32_t thread,
					 pl_firefox_run_fn *fn, void *ctx)
{
	struct runs r = {.w = w, .fn = fn, .ctx = ctx};
	struct plumb_error *err;

	if (!w->tag_nodes)
		return NULL;
	pl_timeline_start(&r.timeline, w->p);
	err = pl_spool_each(spool, thread, add_sample, &r);
	close_run(&r, r.timeline.period_ns);
	return err;
}

struct measure {
	const struct pl_firefox *w;
	double bytes;
};

static void measure_run(void *ctx, const struct pl_firefox_run *r)
{
	struct measure *m = ctx;
	const struct plumb_profile *p = m->w->p;
	const struct pl_function *f = &p->functions[p->locations[p->stacks[r->tag].location].function];

	m->bytes += (double)pl_text_of(p, f->name).len + (double)pl_text_of(p, f->labels).len;
}

struct plumb_error *pl_firefox_labels_measure(const struct pl_firefox *w, struct pl_spool *spool)
{
	struct measure m = {.w = w};
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < w->p->thread_count && !err; i++)
		err = pl_firefox_runs_each(w, spool, i, measure_run, &m);
	if (err || m.bytes <= pl_size_limit_bytes(w->p))
		return err;
	return pl_size_limit_exceeded(
		pl_error(PLUMB_ERR_LIMIT, "the labels of all stretches of time would be %.0f GB", m.bytes / 1e9));
}
