/* SPDX-License-Identifier: Apache-2.0 */
/* The processed profile of the Firefox Profiler, version 66: samples and markers of each thread. Layer export; any
 * thread. One fixed version: its readers know how to bring that up to their own. The tables that threads share are in
 * firefox_tables.c.
 *
 * A weight is a number of samples. The CPU graph is made of `threadCPUDelta`: what a thread used since its sample
 * before. By CPU time that is the sample's weight; by wall clock, where only the state at the instant is known, all of
 * the time between or nothing.
 *
 * A profile without times gets some: each thread's samples stand one after the other, and meta.extra says so. */
#include <stdlib.h>

#include "firefox_parts.h"
#include "formats.h"
#include "gzip.h"
#include "spool.h"
#include "timeline.h"
#include "words.h"

#define VERSION	      66
#define GECKO_VERSION 31

struct thread_row {
	uint64_t time_ns, seen_ns; /* seen: of the time since the sample before */
	uint64_t count, weight_ns;
	uint32_t stack;
	uint16_t state;
};

/* The samples of a thread, one column of them. */
struct column {
	struct pl_firefox *w;
	struct pl_timeline timeline;
	void (*write)(struct pl_firefox *w, const struct thread_row *row);
	uint64_t rows, first_ns;
};

static struct plumb_error *add_sample(void *ctx, const struct pl_sample *s)
{
	struct column *c = ctx;
	struct pl_timeline last = c->timeline;
	uint64_t now = pl_timeline_next(&c->timeline, s), gap = last.started ? now - last.now_ns : 0;
	struct thread_row row = {.time_ns = now,
				 .seen_ns = pl_timeline_length(&c->timeline, gap, c->timeline.count),
				 .count = 1 + s->extra,
				 .weight_ns = s->weight_ns,
				 .stack = s->stack,
				 .state = s->state};

	if (!last.started)
		c->first_ns = now;
	c->rows++;
	c->write(c->w, &row);
	return NULL;
}

static void write_time(struct pl_firefox *w, const struct thread_row *row)
{
	pl_json_decimal(&w->j, row->time_ns, 6); /* milliseconds */
}

static void write_stack(struct pl_firefox *w, const struct thread_row *row)
{
	if (row->stack)
		pl_json_u64(&w->j, pl_firefox_stack(w, row->stack, row->state));
	else
		pl_json_null(&w->j);
}

static void write_weight(struct pl_firefox *w, const struct thread_row *row)
{
	pl_json_u64(&w->j, row->count);
}

static void write_cpu(struct pl_firefox *w, const struct thread_row *row)
{
	if (w->p->meta.mode == PL_MODE_CPU)
		pl_json_u64(&w->j, row->weight_ns);
	else if (row->state & PL_STATE_UNKNOWN)
		pl_json_null(&w->j);
	else if ((row->state & PL_STATE_ON_CPU) && !pl_state_ready(row->state))
		pl_json_u64(&w->j, row->seen_ns);
	else
		pl_json_u64(&w->j, 0);
}

static struct plumb_error *write_column(struct pl_firefox *w, struct pl_spool *spool, uint32_t thread, const char *key,
					void (*write)(struct pl_firefox *, const struct thread_row *),
					struct column *ret)
{
	struct plumb_error *err;

	*ret = (struct column){.w = w, .write = write};
	pl_timeline_start(&ret->timeline, w->p);
	pl_json_key(&w->j, key);
	pl_json_array(&w->j);
	err = pl_spool_each(spool, thread, add_sample, ret);
	pl_json_array_end(&w->j);
	return err;
}

static struct plumb_error *write_samples(struct pl_firefox *w, struct pl_spool *spool, uint32_t thread,
					 struct column *ret)
{
	struct plumb_error *err;

	pl_json_key(&w->j, "samples");
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "weightType", "samples");
	err = write_column(w, spool, thread, "stack", write_stack, ret);
	if (!err)
		err = write_column(w, spool, thread, "time", write_time, ret);
	if (!err)
		err = write_column(w, spool, thread, "weight", write_weight, ret);
	if (!err)
		err = write_column(w, spool, thread, "threadCPUDelta", write_cpu, ret);
	pl_json_key_u64(&w->j, "length", ret->rows);
	pl_json_object_end(&w->j);
	return err;
}

static void write_process(struct pl_firefox *w, const struct pl_process *proc)
{
	struct pl_text name = pl_text_of(w->p, proc->name ? proc->name : proc->program);
	char pid[40];

	/* A pid is text, and that of one process: numbers are used again. */
	if (proc->before)
		snprintf(pid, sizeof pid, "%u.%u", (unsigned)proc->pid, (unsigned)proc->before);
	else
		snprintf(pid, sizeof pid, "%u", (unsigned)proc->pid);
	pl_json_key_str(&w->j, "processType", "default");
	pl_json_key_strn(&w->j, "processName", name.s, name.len);
	pl_json_key_str(&w->j, "pid", pid);
	pl_json_key_double(&w->j, "processStartupTime", (double)proc->came_ns / 1e6, 6);
	pl_json_key(&w->j, "processShutdownTime");
	if (proc->ended)
		pl_json_double(&w->j, (double)proc->ended_ns / 1e6, 6);
	else
		pl_json_null(&w->j);
}

static struct plumb_error *write_thread(struct pl_firefox *w, struct pl_spool *spool, uint32_t id, bool first)
{
	const struct pl_thread *t = &w->p->threads[id];
	struct pl_text name = pl_text_of(w->p, t->name);
	struct column samples;
	struct plumb_error *err;

	pl_json_object(&w->j);
	write_process(w, &w->p->processes[t->process]);
	pl_json_key_strn(&w->j, "name", name.s, name.len);
	pl_json_key_bool(&w->j, "isMainThread", t->main);
	pl_json_key_u64(&w->j, "tid", t->tid);
	pl_json_key(&w->j, "pausedRanges");
	pl_json_array(&w->j);
	pl_json_array_end(&w->j);
	err = write_samples(w, spool, id, &samples);
	pl_json_key_double(&w->j, "registerTime", (double)samples.first_ns / 1e6, 6);
	pl_json_key_null(&w->j, "unregisterTime");
	if (!err)
		err = pl_firefox_write_markers(w, spool, id, first, samples.first_ns);
	pl_json_object_end(&w->j);
	return err;
}

static struct plumb_error *write_threads(struct pl_firefox *w, struct pl_spool *spool)
{
	struct plumb_error *err = NULL;
	bool first = true;

	pl_json_key(&w->j, "threads");
	pl_json_array(&w->j);
	for (uint32_t i = 0; i < w->p->thread_count && !err; i++) {
		if (pl_spool_count(spool, i) == 0)
			continue;
		err = write_thread(w, spool, i, first);
		first = false;
	}
	pl_json_array_end(&w->j);
	return err;
}

static void write_extra(struct pl_firefox *w, const char *label, const char *text, size_t len)
{
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "label", label);
	pl_json_key_str(&w->j, "format", "string");
	pl_json_key_strn(&w->j, "value", text, len);
	pl_json_object_end(&w->j);
}

static void write_extras(struct pl_firefox *w)
{
	static const char *const modes[] = {"wall clock", "CPU time", "time with the GIL"};
	_Static_assert(sizeof modes / sizeof *modes == PL_MODES, "each mode is told");
	static const char untimed[] = "made up: the profile has none, so samples stand one after the other";
	const struct pl_meta *m = &w->p->meta;
	struct pl_text command = pl_text_of(w->p, m->command);
	const char *mode = modes[m->mode < PL_MODES ? m->mode : PL_MODE_WALL];

	pl_json_key(&w->j, "extra");
	pl_json_array(&w->j);
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "label", "Recording");
	pl_json_key(&w->j, "entries");
	pl_json_array(&w->j);
	write_extra(w, "Command", command.s, command.len);
	write_extra(w, "Samples by", mode, strlen(mode));
	if (w->o->made_by)
		write_extra(w, "Written by", w->o->made_by, strlen(w->o->made_by));
	if (!pl_profile_is_timed(w->p))
		write_extra(w, "Times", untimed, sizeof untimed - 1);
	pl_json_array_end(&w->j);
	pl_json_object_end(&w->j);
	pl_json_array_end(&w->j);
}

static void write_meta(struct pl_firefox *w)
{
	const struct pl_meta *m = &w->p->meta;
	struct pl_timeline t;

	pl_timeline_start(&t, w->p);
	pl_json_key(&w->j, "meta");
	pl_json_object(&w->j);
	pl_json_key_u64(&w->j, "version", GECKO_VERSION);
	pl_json_key_u64(&w->j, "preprocessedProfileVersion", VERSION);
	pl_json_key_str(&w->j, "product", "plumb");
	pl_json_key_str(&w->j, "importedFrom", "plumb");
	pl_json_key_double(&w->j, "interval", (double)t.interval_ns / 1e6, 6);
	pl_json_key_double(&w->j, "startTime", (double)m->start_real_ns / 1e6, 3);
	pl_json_key_u64(&w->j, "processType", 0);
	pl_json_key_u64(&w->j, "stackwalk", 1);
	pl_json_key_bool(&w->j, "symbolicated", true);
	pl_json_key_bool(&w->j, "sourceCodeIsNotOnSearchfox", true);
	pl_json_key_bool(&w->j, "usesOnlyOneStackType", true);
	pl_json_key_bool(&w->j, "doesNotUseFrameImplementation", true);
	pl_json_key(&w->j, "extensions");
	pl_json_object(&w->j);
	for (const char *const *key = (const char *const[]){"baseURL", "id", "name", NULL}; *key; key++) {
		pl_json_key(&w->j, *key);
		pl_json_array(&w->j);
		pl_json_array_end(&w->j);
	}
	pl_json_key_u64(&w->j, "length", 0);
	pl_json_object_end(&w->j);
	pl_json_key(&w->j, "sampleUnits");
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "time", "ms");
	pl_json_key_str(&w->j, "eventDelay", "ms");
	pl_json_key_str(&w->j, "threadCPUDelta", "ns");
	pl_json_object_end(&w->j);
	pl_firefox_write_categories(w);
	pl_firefox_write_marker_schema(w);
	write_extras(w);
	pl_json_object_end(&w->j);
}

static struct plumb_error *write_file(struct pl_firefox *w, struct pl_spool *spool)
{
	struct plumb_error *err;

	pl_json_object(&w->j);
	write_meta(w);
	pl_firefox_write_libs(w);
	pl_firefox_write_shared(w);
	err = write_threads(w, spool);
	pl_json_object_end(&w->j);
	putc('\n', w->j.out);
	return err;
}

struct plumb_error *pl_firefox_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct pl_firefox w = {.p = p, .o = o};
	struct pl_spool *spool = NULL;
	struct plumb_error *err = pl_firefox_prepare(&w);

	if (!err)
		err = pl_spool_create(p, &spool);
	if (!err)
		err = pl_firefox_labels_measure(&w, spool);
	if (!err)
		err = pl_firefox_events_prepare(&w, spool);
	pl_json_init(&w.j, out, 0);
	if (!err)
		err = write_file(&w, spool);
	pl_spool_destroy(spool);
	pl_firefox_deinit(&w);
	return err;
}

struct plumb_error *pl_firefox_gz_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	FILE *packed = pl_gzip_open(out);
	struct plumb_error *err;

	if (!packed)
		return &pl_err_no_memory;
	err = pl_firefox_write(p, o, packed);
	fclose(packed); /* what goes wrong shows in ferror(out) */
	return err;
}
