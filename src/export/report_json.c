/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, schema plumb.report/1: docs/user/json.md says what each member means. Layer export; any thread. Streams.
 *
 * Ids of the profile never appear: they depend on the order of interning. Functions are numbered by weight, locations
 * by function and line, so that equal profiles give equal text. Additions keep the version; anything else raises it. */
#include <stdlib.h>
#include <string.h>

#include "events_json.h"
#include "formats.h"
#include "frame_name.h"
#include "gil_blame.h"
#include "index.h"
#include "lock_blame.h"
#include "json.h"
#include "loop_holds.h"
#include "opcodes.h"
#include "own_code.h"
#include "report_facts.h"
#include "size_limit.h"
#include "stack_ranks.h"
#include "waits_table.h"
#include "words.h"

#define SCHEMA	     "plumb.report/1"
#define NO_INDEX     UINT32_MAX
#define SHARE_DIGITS 6

/* Of all stacks, which are written whole: a few kilobytes of a recording can stand for any number. Who reads them takes
 * up to 40 bytes of memory for each. A thousand deep, at another depth each time, a recording has ten for a byte. */
#define FRAMES_MAX    5e7
#define FRAMES_BASE   1e7
#define FRAMES_A_BYTE 1e2

struct report {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	struct pl_json j;
	struct pl_totals totals;
	pl_function_rows functions, lines;
	pl_thread_rows threads;
	pl_stack_rows stacks;
	pl_label_rows labels;
	struct pl_waits waits;
	struct pl_gil_blame blame;
	struct pl_lock_blame locks;
	struct pl_loop_holds holds;
	uint32_t *function_index, *thread_index, *location_index; /* id -> index in the output */
	uint32_t *locations;					  /* index in the output -> id */
	uint32_t location_count;
	uint32_t *ranks;   /* of each stack that occurs: locations go by their index */
	uint32_t *path;	   /* of one stack */
	uint32_t *sources; /* rows of the profile by the name of the file */
};

static void key_share(struct pl_json *j, const char *key, double v)
{
	pl_json_key_double(j, key, v, SHARE_DIGITS);
}

static void key_text(struct pl_json *j, const char *key, struct pl_text t)
{
	pl_json_key_strn(j, key, t.s, t.len);
}

static void write_words(struct pl_json *j, const char *key, const char *const *words, size_t count)
{
	pl_json_key(j, key);
	if (!words) {
		pl_json_null(j);
		return;
	}
	pl_json_array(j);
	for (size_t i = 0; i < count; i++)
		pl_json_str(j, words[i]);
	pl_json_array_end(j);
}

static void write_filter(struct report *r)
{
	static const char *const idle[] = {"hide-threads", "keep", "skip-samples"};
	const struct pl_filter *f = &r->o->filter;
	struct pl_json *j = &r->j;

	pl_json_key(j, "filter");
	pl_json_object(j);
	pl_json_key_str(j, "idle", idle[f->idle]);
	pl_json_key_u64(j, "idle_threads_hidden", r->totals.idle_threads_hidden);
	write_words(j, "threads", f->threads, f->thread_count);
	write_words(j, "processes", f->processes, f->process_count);
	pl_json_object_end(j);
}

static void write_samples(struct report *r)
{
	struct pl_json *j = &r->j;

	pl_json_key_u64(j, "ticks", r->p->meta.ticks);
	pl_json_key_u64(j, "taken_ns", r->p->meta.taken_ns);
	pl_json_key(j, "samples");
	pl_json_object(j);
	pl_json_key_u64(j, "total", r->totals.samples);
	pl_json_key_u64(j, "weight_ns", r->totals.weight_ns);
	for (unsigned q = 0; q < PL_QUALITIES; q++)
		pl_json_key_u64(j, pl_quality_name(q), r->totals.by_quality[q]);
	pl_json_object_end(j);
	pl_report_losses(j, r->p);
	pl_report_overhead(j, r->p);
}

static void write_state(struct pl_json *j, const char *key, uint64_t samples, const struct pl_part *part)
{
	pl_json_key(j, key);
	pl_json_object(j);
	pl_json_key_u64(j, "samples", samples);
	key_share(j, "share", part->share);
	key_share(j, "half_width", part->half_width);
	pl_json_object_end(j);
}

static void write_states(struct report *r)
{
	const struct pl_totals *t = &r->totals;
	struct pl_json *j = &r->j;

	pl_json_key(j, "states");
	pl_json_object(j);
#define PLUMB_STATE(name, bit, member, ...) write_state(j, #member, t->member, &t->doing.member);
#include <plumb/words.def>
	pl_json_object_end(j);
}

/* Those that there are; together they are the time that threads waited. */
static void write_waits(struct report *r)
{
	const struct pl_totals *t = &r->totals;
	struct pl_json *j = &r->j;

	if (!t->reasons_known)
		return;
	pl_json_key(j, "waits_for");
	pl_json_object(j);
	for (unsigned i = 0; i < PL_REASONS; i++)
		if (t->waits[i].samples)
			write_state(j, pl_reasons[i].word, t->waits[i].samples, &t->waits[i].part);
	pl_json_object_end(j);
}

static void write_share(struct pl_json *j, const char *key, const struct pl_share *s)
{
	pl_json_key(j, key);
	pl_json_object(j);
	pl_json_key_u64(j, "samples", s->samples);
	pl_json_key_u64(j, "weight_ns", s->weight_ns);
	key_share(j, "share", s->share);
	key_share(j, "half_width", s->half_width);
	pl_json_object_end(j);
}

/* Of a row that is a tag. */
static void write_tag(struct report *r, uint32_t function)
{
	struct pl_label labels[PL_LABELS_MAX];
	unsigned count = pl_function_labels(r->p, function, labels);

	if (!count)
		return;
	pl_json_key(&r->j, "labels");
	pl_json_array(&r->j);
	for (unsigned i = 0; i < count; i++) {
		pl_json_object(&r->j);
		pl_json_key_strn(&r->j, "name", labels[i].name, labels[i].name_len);
		pl_json_key_strn(&r->j, "value", labels[i].value, labels[i].value_len);
		pl_json_object_end(&r->j);
	}
	pl_json_array_end(&r->j);
}

/* Most profiles have none. */
static void write_labels(struct report *r)
{
	struct pl_json *j = &r->j;

	if (!r->labels.len)
		return;
	pl_json_key(j, "labels");
	pl_json_array(j);
	for (size_t i = 0; i < r->labels.len && !ferror(j->out); i++) {
		const struct pl_label_row *row = &r->labels.data[i];

		pl_json_object(j);
		pl_json_key_strn(j, "name", row->label.name, row->label.name_len);
		pl_json_key_strn(j, "value", row->label.value, row->label.value_len);
		write_share(j, "total", &row->total);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

static void write_functions(struct report *r)
{
	struct pl_json *j = &r->j;

	pl_json_key(j, "functions");
	pl_json_array(j);
	for (size_t i = 0; i < r->functions.len && !ferror(j->out); i++) {
		const struct pl_function_row *row = &r->functions.data[i];
		const struct pl_function *f = &r->p->functions[row->function];

		pl_json_object(j);
		key_text(j, "name", pl_text_of(r->p, f->name));
		key_text(j, "qualname", pl_frame_qualname(r->p, f));
		key_text(j, "file", pl_text_of(r->p, f->file));
		pl_json_key_u64(j, "line", f->firstline);
		if (f->source)
			key_text(j, "source", pl_text_of(r->p, f->source));
		pl_json_key_str(j, "kind", pl_kind_name(f->origin));
		pl_json_key_bool(j, "own", !pl_own_code_is_library(r->p, f));
		write_tag(r, row->function);
		write_share(j, "self", &row->self);
		write_share(j, "total", &row->total);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

/* With --lines only. */
static void write_lines(struct report *r)
{
	struct pl_json *j = &r->j;

	if (!r->o->filter.lines)
		return;
	pl_json_key(j, "lines");
	pl_json_array(j);
	for (size_t i = 0; i < r->lines.len && !ferror(j->out); i++) {
		const struct pl_function_row *row = &r->lines.data[i];

		pl_json_object(j);
		pl_json_key_u64(j, "function", r->function_index[row->function]);
		pl_json_key_i64(j, "line", row->line);
		write_share(j, "self", &row->self);
		write_share(j, "total", &row->total);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

static void write_opcode(struct report *r, unsigned opcode)
{
	const char *name = pl_opcode_name(pl_opcodes_of(r->p), opcode);

	pl_json_key_u64(&r->j, "opcode", opcode);
	if (name)
		pl_json_key_str(&r->j, "opcode_name", name);
}

static void write_locations(struct report *r)
{
	struct pl_json *j = &r->j;

	pl_json_key(j, "locations");
	pl_json_array(j);
	for (uint32_t i = 0; i < r->location_count && !ferror(j->out); i++) {
		const struct pl_location *l = &r->p->locations[r->locations[i]];

		pl_json_object(j);
		pl_json_key_u64(j, "function", r->function_index[l->function]);
		pl_json_key_i64(j, "line", l->line);
		pl_json_key_i64(j, "end_line", l->end_line);
		pl_json_key_i64(j, "column", l->column);
		pl_json_key_i64(j, "end_column", l->end_column);
		if (l->opcode)
			write_opcode(r, l->opcode - 1);
		if (l->inlined)
			pl_json_key_bool(j, "inlined", true);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

/* Only what there is: most stacks are of one quality. */
static void write_quality(struct pl_json *j, const struct pl_stack_row *row)
{
	pl_json_key(j, "quality");
	pl_json_object(j);
	for (int q = 0; q < PL_QUALITIES; q++)
		if (row->by_quality[q])
			pl_json_key_u64(j, pl_quality_name((unsigned)q), row->by_quality[q]);
	pl_json_object_end(j);
}

static void write_stack(struct report *r, const struct pl_stack_row *row)
{
	struct pl_json *j = &r->j;
	uint32_t len = 0;

	for (uint32_t s = row->stack; s; s = r->p->stacks[s].parent)
		r->path[len++] = r->location_index[r->p->stacks[s].location];
	pl_json_object(j);
	pl_json_key_u64(j, "thread", r->thread_index[row->thread]);
	pl_json_key_u64(j, "samples", row->samples);
	pl_json_key_u64(j, "weight_ns", row->weight_ns);
	write_quality(j, row);
	pl_json_key(j, "frames");
	pl_json_array(j);
	while (len > 0)
		pl_json_u64(j, r->path[--len]);
	pl_json_array_end(j);
	pl_json_object_end(j);
}

/* What is in no stack, as there are too many frames. */
static void write_left_out(struct report *r, size_t from)
{
	uint64_t samples = 0, weight_ns = 0;

	if (from == r->stacks.len)
		return;
	for (size_t i = from; i < r->stacks.len; i++) {
		samples = pl_sum_u64(samples, r->stacks.data[i].samples);
		weight_ns = pl_sum_u64(weight_ns, r->stacks.data[i].weight_ns);
	}
	pl_json_key(&r->j, "stacks_left_out");
	pl_json_object(&r->j);
	pl_json_key_u64(&r->j, "count", r->stacks.len - from);
	pl_json_key_u64(&r->j, "samples", samples);
	pl_json_key_u64(&r->j, "weight_ns", weight_ns);
	pl_json_object_end(&r->j);
}

/* The heaviest, as many as there is room for. */
static void write_stacks(struct report *r)
{
	struct pl_json *j = &r->j;
	uint32_t left = (uint32_t)pl_size_limit(r->p, FRAMES_MAX, FRAMES_BASE, FRAMES_A_BYTE);
	size_t i = 0;

	pl_json_key(j, "stacks");
	pl_json_array(j);
	for (; i < r->stacks.len && !ferror(j->out); i++) {
		uint32_t depth = r->p->stacks[r->stacks.data[i].stack].depth;

		if (depth > left)
			break;
		left -= depth;
		write_stack(r, &r->stacks.data[i]);
	}
	pl_json_array_end(j);
	write_left_out(r, i);
}

/* Which files a report can show without having them. Their text is too much for JSON. */
static void write_sources(struct report *r)
{
	struct pl_json *j = &r->j;

	pl_json_key(j, "sources");
	pl_json_array(j);
	for (uint32_t i = 0; i < r->p->source_count && !ferror(j->out); i++) {
		const struct pl_source *s = &r->p->sources[r->sources[i]];

		pl_json_object(j);
		key_text(j, "file", pl_text_of(r->p, s->file));
		pl_json_key_u64(j, "bytes", s->len);
		pl_json_key_bool(j, "changed", s->changed);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
	pl_json_key_u64(j, "sources_left_out", r->p->meta.sources_left_out);
}

static struct plumb_error *view_all(struct report *r)
{
	struct pl_filter f = r->o->filter;
	struct plumb_error *err = pl_view_totals(r->p, &f, &r->totals);

	if (!err)
		err = pl_view_threads(r->p, &f, &r->threads);
	if (!err)
		err = pl_view_stacks(r->p, &f, &r->stacks);
	if (!err)
		err = pl_view_labels(r->p, &f, &r->labels);
	if (!err)
		err = pl_waits_find(r->p, &f, &r->waits);
	if (!err)
		err = pl_gil_blame_find(r->p, &f, &r->blame);
	if (!err)
		err = pl_lock_blame_find(r->p, &f, &r->locks);
	if (!err)
		err = pl_loop_holds_find(r->p, &f, &r->holds);
	if (!err && f.lines)
		err = pl_view_functions(r->p, &f, &r->lines);
	f.lines = false;
	return err ? err : pl_view_functions(r->p, &f, &r->functions);
}

static uint32_t *filled(size_t count)
{
	uint32_t *a = malloc((count + 1) * sizeof *a);

	if (a)
		memset(a, 0xff, (count + 1) * sizeof *a); /* NO_INDEX */
	return a;
}

static struct plumb_error *allocate(struct report *r)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < r->stacks.len; i++) {
		uint32_t d = r->p->stacks[r->stacks.data[i].stack].depth;

		depth = d > depth ? d : depth;
	}
	r->function_index = filled(r->p->function_count);
	r->thread_index = filled(r->p->thread_count);
	r->location_index = filled(r->p->location_count);
	r->locations = filled(r->p->location_count);
	r->ranks = calloc((size_t)r->p->stack_count + 1, sizeof *r->ranks);
	r->path = filled(depth);
	r->sources = filled(r->p->source_count);
	bool all = r->function_index && r->thread_index && r->location_index && r->locations;
	return all && r->ranks && r->path && r->sources ? NULL : &pl_err_no_memory;
}

static int compare_locations(const void *va, const void *vb, void *ctx)
{
	const struct report *r = ctx;
	const struct pl_location *a = &r->p->locations[*(const uint32_t *)va],
				 *b = &r->p->locations[*(const uint32_t *)vb];
	const int32_t x[] = {a->line, a->column, a->end_line, a->end_column, a->opcode},
		      y[] = {b->line, b->column, b->end_line, b->end_column, b->opcode};

	if (a->function != b->function)
		return r->function_index[a->function] < r->function_index[b->function] ? -1 : 1;
	for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

/* The locations that occur. A node seen before has had its whole path marked: deep stacks share most of theirs. */
static struct plumb_error *collect_locations(struct report *r)
{
	bool *seen = calloc((size_t)r->p->stack_count + 1, sizeof *seen);

	if (!seen)
		return &pl_err_no_memory;
	for (size_t i = 0; i < r->stacks.len; i++) {
		for (uint32_t s = r->stacks.data[i].stack; s && !seen[s]; s = r->p->stacks[s].parent) {
			uint32_t l = r->p->stacks[s].location;

			seen[s] = true;
			if (r->location_index[l] == NO_INDEX) {
				r->location_index[l] = 0;
				r->locations[r->location_count++] = l;
			}
		}
	}
	free(seen);
	return NULL;
}

static int compare_stacks(const void *va, const void *vb, void *ctx)
{
	const struct pl_stack_row *a = va, *b = vb;
	const struct report *r = ctx;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	if (a->weight_ns != b->weight_ns)
		return a->weight_ns < b->weight_ns ? 1 : -1;
	if (a->thread != b->thread)
		return r->thread_index[a->thread] < r->thread_index[b->thread] ? -1 : 1;
	return (r->ranks[a->stack] > r->ranks[b->stack]) - (r->ranks[a->stack] < r->ranks[b->stack]);
}

static int compare_sources(const void *va, const void *vb, void *ctx)
{
	const struct plumb_profile *p = ctx;
	struct pl_text a = pl_text_of(p, p->sources[*(const uint32_t *)va].file);
	struct pl_text b = pl_text_of(p, p->sources[*(const uint32_t *)vb].file);
	int order = memcmp(a.s, b.s, a.len < b.len ? a.len : b.len);

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static void sort_sources(struct report *r)
{
	for (uint32_t i = 0; i < r->p->source_count; i++)
		r->sources[i] = i;
	qsort_r(r->sources, r->p->source_count, sizeof *r->sources, compare_sources, (void *)(uintptr_t)r->p);
}

/* Equally heavy ones by what they say. */
static struct plumb_error *sort_stacks(struct report *r)
{
	if (!r->stacks.len)
		return NULL;
	for (size_t i = 0; i < r->stacks.len; i++)
		r->ranks[r->stacks.data[i].stack] = 1;
	struct plumb_error *err = pl_stack_ranks_by(r->p, r->location_index, r->ranks);
	if (!err)
		qsort_r(r->stacks.data, r->stacks.len, sizeof *r->stacks.data, compare_stacks, r);
	return err;
}

static struct plumb_error *number(struct report *r)
{
	struct plumb_error *err = allocate(r);

	if (err)
		return err;
	for (size_t i = 0; i < r->functions.len; i++)
		r->function_index[r->functions.data[i].function] = (uint32_t)i;
	for (size_t i = 0; i < r->threads.len; i++)
		r->thread_index[r->threads.data[i].thread] = (uint32_t)i;
	err = collect_locations(r);
	if (err)
		return err;
	qsort_r(r->locations, r->location_count, sizeof *r->locations, compare_locations, r);
	for (uint32_t i = 0; i < r->location_count; i++)
		r->location_index[r->locations[i]] = i;
	sort_sources(r);
	return sort_stacks(r);
}

static struct plumb_error *write_all(struct report *r)
{
	struct pl_json *j = &r->j;
	struct plumb_error *err;

	pl_json_object(j);
	pl_json_key_str(j, "schema", SCHEMA);
	key_text(j, "plumb_version", pl_text_of(r->p, r->p->meta.plumb_version));
	pl_report_recording(j, r->p);
	err = pl_report_findings(j, r->p, &r->o->filter);
	if (!err)
		err = pl_report_processes(j, r->p, &r->threads);
	if (err)
		return err;
	write_filter(r);
	write_samples(r);
	write_states(r);
	write_waits(r);
	pl_report_threads(j, r->p, &r->threads);
	write_labels(r);
	write_functions(r);
	write_lines(r);
	write_locations(r);
	write_stacks(r);
	pl_gil_blame_json(&r->blame, r->p, j);
	pl_lock_blame_json(&r->locks, r->p, j);
	pl_loop_holds_json(&r->holds, r->p, NULL, j);
	err = pl_waits_json(&r->waits, j);
	if (!err)
		err = pl_events_json(r->p, &r->o->filter, j);
	if (err)
		return err;
	write_sources(r);
	pl_json_object_end(j);
	fputc('\n', j->out);
	return NULL;
}

static void deinit(struct report *r)
{
	pl_waits_deinit(&r->waits);
	pl_gil_blame_deinit(&r->blame);
	pl_lock_blame_deinit(&r->locks);
	pl_loop_holds_deinit(&r->holds);
	pl_vec_deinit(&r->functions);
	pl_vec_deinit(&r->lines);
	pl_vec_deinit(&r->threads);
	pl_vec_deinit(&r->stacks);
	pl_vec_deinit(&r->labels);
	free(r->function_index);
	free(r->thread_index);
	free(r->location_index);
	free(r->locations);
	free(r->ranks);
	free(r->path);
	free(r->sources);
}

struct plumb_error *pl_report_json_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct report r = {.p = p, .o = o};
	struct plumb_error *err = view_all(&r);

	pl_json_init(&r.j, out, 0);
	if (!err)
		err = number(&r);
	if (!err)
		err = write_all(&r);
	deinit(&r);
	return err;
}
