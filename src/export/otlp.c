/* SPDX-License-Identifier: Apache-2.0 */
/* OpenTelemetry's profiles: an ExportProfilesServiceRequest, as protobuf or as JSON of the same. Layer export; any
 * thread.
 *
 * A resource for each process, in it two profiles: the samples, and their time. Samples of a timed profile are taken
 * together in windows of bounded size, a window giving one profile of each kind for each process with the instants of
 * its samples; so memory follows distinct stacks. The dictionary comes last, for it grows on the way; its length has to
 * stand before it, so it is written twice, the first time only to be measured. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "formats.h"
#include "frame_name.h"
#include "index.h"
#include "otlp_fields.h"
#include "otlp_source.h"
#include "otlp_tables.h"
#include "size_limit.h"
#include "words.h"

#define WINDOW_SAMPLES ((size_t)1 << 16)
#define ID_BYTES       16
#define OWN_ATTRIBUTES 5 /* of a sample, beside its labels */
#define MAX_ATTRIBUTES (OWN_ATTRIBUTES + PL_LABELS_MAX)

enum value { VALUE_COUNT, VALUE_WEIGHT, VALUES };

struct item {
	uint32_t process;
	struct pl_sample s;
	size_t order; /* in which samples came */
};

struct otlp {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	struct pl_otlp_tables t;
	struct pl_pb w;
	struct pl_json *j; /* NULL: protobuf */
	uint32_t open;	   /* array in the JSON of the request */
	uint32_t open_table;
	PL_VEC(struct item) window;
	uint64_t first_ns, last_ns; /* of its samples */
	uint64_t windows;
	bool timed;
	uint32_t value_names[VALUES], value_units[VALUES], period_name, period_unit; /* strings */
};

/* ---- What a sample refers to ----------------------------------------------------------------------------------------
 */

static const char *const reserved[] = {"thread.name",	   "thread.id",	    "thread.state",
				       "thread.waits_for", "plumb.quality", NULL};

/* A label without a value is none. */
static struct plumb_error *add_labels(struct otlp *f, uint32_t stack, uint32_t *ret, int *count)
{
	const struct pl_symbol_tag *tag;
	struct plumb_error *err = pl_symbols_tag(&f->t.symbols, f->t.symbols.tag_nodes[stack], &tag);

	for (unsigned i = 0; i < tag->count && !err; i++) {
		if (tag->labels[i].value)
			err = pl_otlp_attribute_of(&f->t, tag->labels[i].name, tag->labels[i].value, &ret[(*count)++]);
	}
	return err;
}

static struct plumb_error *find_attributes(struct otlp *f, const struct pl_sample *s, uint32_t *ret, int *count_ret)
{
	const struct pl_thread *t = &f->p->threads[s->thread];
	struct pl_text name = pl_text_of(f->p, t->name);
	const char *quality = pl_quality_name(s->quality);
	enum pl_reason reason = pl_reason_of(s->state); /* UNKNOWN is 0 */
	char state[PL_STATE_TEXT_BYTES];
	struct plumb_error *err = NULL;
	int n = 0;

	if (name.len)
		err = pl_otlp_attribute(&f->t, "thread.name", name.s, name.len, 0, &ret[n++]);
	if (!err)
		err = pl_otlp_attribute(&f->t, "thread.id", NULL, 0, t->tid, &ret[n++]);
	pl_state_text(s->state, state);
	if (!err)
		err = pl_otlp_attribute(&f->t, "thread.state", state, strlen(state), 0, &ret[n++]);
	if (!err && reason)
		err = pl_otlp_attribute(&f->t, "thread.waits_for", pl_reasons[reason].word,
					strlen(pl_reasons[reason].word), 0, &ret[n++]);
	if (!err && s->quality != PL_EXACT)
		err = pl_otlp_attribute(&f->t, "plumb.quality", quality, strlen(quality), 0, &ret[n++]);
	if (!err)
		err = add_labels(f, s->stack, ret, &n);
	*count_ret = n;
	return err;
}

static struct plumb_error *make_names(struct otlp *f)
{
	const char *mode = pl_mode_name(f->p->meta.mode);
	struct pl_symbols *s = &f->t.symbols;
	struct plumb_error *err = pl_symbols_text(s, "samples", &f->value_names[VALUE_COUNT]);

	if (!err)
		err = pl_symbols_text(s, "count", &f->value_units[VALUE_COUNT]);
	if (!err)
		err = pl_symbols_text(s, mode, &f->value_names[VALUE_WEIGHT]);
	if (!err)
		err = pl_symbols_text(s, "nanoseconds", &f->value_units[VALUE_WEIGHT]);
	f->period_name = f->value_names[VALUE_WEIGHT];
	f->period_unit = f->value_units[VALUE_WEIGHT];
	return err;
}

/* ---- Samples and profiles -------------------------------------------------------------------------------------------
 */

static uint64_t value_of(const struct pl_sample *s, enum value value)
{
	uint64_t v = value == VALUE_COUNT ? pl_sum_u64(s->extra, 1) : s->weight_ns;

	return v > INT64_MAX ? INT64_MAX : v; /* values are signed */
}

static bool same_sample(const struct item *a, const struct item *b)
{
	return a->process == b->process && a->s.stack == b->s.stack && a->s.thread == b->s.thread &&
	       a->s.state == b->s.state && a->s.quality == b->s.quality;
}

/* An instant without a value counts 1. */
static bool needs_values(const struct item *items, size_t count, enum value value)
{
	for (size_t i = 0; i < count; i++) {
		if (value == VALUE_WEIGHT || items[i].s.extra)
			return true;
	}
	return false;
}

static void write_times(struct otlp *f, const struct item *items, size_t count, enum value value)
{
	size_t m;

	if (needs_values(items, count, value)) {
		m = pl_pb_begin(&f->w, SAMPLE_VALUES);
		for (size_t i = 0; i < count; i++)
			pl_pb_raw_u64(&f->w, value_of(&items[i].s, value));
		pl_pb_end(&f->w, m);
	}
	m = pl_pb_begin(&f->w, SAMPLE_TIMES);
	for (size_t i = 0; i < count; i++)
		pl_pb_raw_fixed64(&f->w, f->p->meta.start_real_ns + items[i].s.time_ns);
	pl_pb_end(&f->w, m);
}

static void write_sum(struct otlp *f, const struct item *items, size_t count, enum value value)
{
	size_t m = pl_pb_begin(&f->w, SAMPLE_VALUES);
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum = pl_sum_u64(sum, value_of(&items[i].s, value));
	pl_pb_raw_u64(&f->w, sum > INT64_MAX ? INT64_MAX : sum);
	pl_pb_end(&f->w, m);
}

static struct plumb_error *write_sample(struct otlp *f, const struct item *items, size_t count, enum value value)
{
	uint32_t attributes[MAX_ATTRIBUTES], stack = 0;
	int n = 0;
	struct plumb_error *err = find_attributes(f, &items->s, attributes, &n);
	size_t m, packed;

	if (!err)
		err = pl_otlp_stack(&f->t, items->s.stack, &stack);
	if (err)
		return err;
	m = pl_pb_begin(&f->w, PROFILE_SAMPLES);
	pl_pb_u64(&f->w, SAMPLE_STACK, stack);
	packed = pl_pb_begin(&f->w, SAMPLE_ATTRIBUTES);
	for (int i = 0; i < n; i++)
		pl_pb_raw_u64(&f->w, attributes[i]);
	pl_pb_end(&f->w, packed);
	if (f->timed)
		write_times(f, items, count, value);
	else
		write_sum(f, items, count, value);
	pl_pb_end(&f->w, m);
	return NULL;
}

static void write_type(struct otlp *f, uint32_t field, uint32_t name, uint32_t unit)
{
	size_t m = pl_pb_begin(&f->w, field);

	pl_pb_u64(&f->w, TYPE_NAME, name);
	pl_pb_u64(&f->w, TYPE_UNIT, unit);
	pl_pb_end(&f->w, m);
}

/* Never the same for two profiles, and for equal recordings the same. */
static void write_id(struct otlp *f, uint32_t process, enum value value)
{
	const struct pl_meta *meta = &f->p->meta;
	const struct pl_process *proc = &f->p->processes[process];
	const uint64_t facts[] = {meta->start_real_ns, meta->seed, proc->pid, proc->start_ns, process,
				  f->windows,	       value};
	struct pl_rng rng = {0};
	uint8_t id[ID_BYTES];

	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		rng.state = pl_rng_next(&rng) ^ facts[i];
	for (size_t i = 0; i < ID_BYTES; i += 8) {
		uint64_t word = pl_rng_next(&rng) | 1; /* all zeroes would be none */

		memcpy(id + i, &word, 8);
	}
	pl_pb_bytes(&f->w, PROFILE_ID, id, sizeof id);
}

static void write_span(struct otlp *f)
{
	const struct pl_meta *meta = &f->p->meta;
	if (!f->timed) {
		pl_pb_fixed64(&f->w, PROFILE_TIME, meta->start_real_ns);
		pl_pb_u64(&f->w, PROFILE_DURATION, meta->duration_ns);
		return;
	}
	pl_pb_fixed64(&f->w, PROFILE_TIME, meta->start_real_ns + f->first_ns);
	pl_pb_u64(&f->w, PROFILE_DURATION, f->last_ns - f->first_ns + (meta->period_ns ? meta->period_ns : 1));
}

static struct plumb_error *write_profile(struct otlp *f, const struct item *items, size_t count, enum value value)
{
	size_t m = pl_pb_begin(&f->w, SCOPE_PROFILES), n;
	struct plumb_error *err = NULL;

	write_type(f, PROFILE_TYPE, f->value_names[value], f->value_units[value]);
	for (size_t i = 0; i < count && !err; i += n) {
		for (n = 1; i + n < count && same_sample(&items[i], &items[i + n]); n++)
			;
		err = write_sample(f, &items[i], n, value);
	}
	write_span(f);
	write_type(f, PROFILE_PERIOD_TYPE, f->period_name, f->period_unit);
	pl_pb_u64(&f->w, PROFILE_PERIOD, f->p->meta.period_ns > INT64_MAX ? INT64_MAX : f->p->meta.period_ns);
	write_id(f, items->process, value);
	pl_pb_end(&f->w, m);
	return err;
}

/* ---- Resources ------------------------------------------------------------------------------------------------------
 */

/* What was written is complete as far as it goes: on with it. */
static struct plumb_error *hand_over(struct otlp *f, const struct pl_proto_field *table, uint32_t *open)
{
	if (!f->j)
		return pl_pb_flush_some(&f->w);
	if (f->w.err)
		return f->w.err;
	pl_proto_json(f->j, table, (struct pl_cursor){f->w.buf.data, f->w.buf.data + f->w.buf.len}, open);
	pl_buf_clear(&f->w.buf);
	return NULL;
}

static struct plumb_error *write_process(struct otlp *f, const struct item *items, size_t count)
{
	size_t m = pl_pb_begin(&f->w, REQUEST_RESOURCES), scope;
	struct plumb_error *err = pl_otlp_resource(&f->t, &f->w, &f->p->processes[items->process]);

	scope = pl_pb_begin(&f->w, RESOURCE_SCOPES);
	if (!err)
		err = pl_otlp_instrument(&f->t, &f->w, f->o->made_by);
	for (enum value v = 0; v < VALUES && !err; v++)
		err = write_profile(f, items, count, v);
	pl_pb_end(&f->w, scope);
	pl_pb_end(&f->w, m);
	return err ? err : hand_over(f, pl_otlp_request, &f->open);
}

/* ---- Windows --------------------------------------------------------------------------------------------------------
 */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = compare_u64(x->process, y->process);

	if (!order)
		order = compare_u64(x->s.stack, y->s.stack);
	if (!order)
		order = compare_u64(x->s.thread, y->s.thread);
	if (!order)
		order = compare_u64(x->s.state, y->s.state);
	if (!order)
		order = compare_u64(x->s.quality, y->s.quality);
	if (!order)
		order = compare_u64(x->s.time_ns, y->s.time_ns);
	return order ? order : compare_u64(x->order, y->order);
}

static struct plumb_error *end_window(struct otlp *f)
{
	struct item *items = f->window.data;
	struct plumb_error *err = NULL;
	size_t n;

	if (f->window.len)
		qsort(items, f->window.len, sizeof *items, compare_items);
	for (size_t i = 0; i < f->window.len && !err; i += n) {
		for (n = 1; i + n < f->window.len && items[i].process == items[i + n].process; n++)
			;
		err = write_process(f, &items[i], n);
	}
	f->windows++;
	pl_vec_clear(&f->window);
	return err;
}

static struct plumb_error *add_sample(void *ctx, const struct pl_sample *s)
{
	struct otlp *f = ctx;
	struct item item = {.process = f->p->threads[s->thread].process, .s = *s, .order = f->window.len};

	f->first_ns = f->window.len && f->first_ns < s->time_ns ? f->first_ns : s->time_ns;
	f->last_ns = f->window.len && f->last_ns > s->time_ns ? f->last_ns : s->time_ns;
	if (!pl_vec_push(&f->window, item))
		return &pl_err_no_memory;
	return f->timed && f->window.len == WINDOW_SAMPLES ? end_window(f) : NULL;
}

/* ---- The whole ------------------------------------------------------------------------------------------------------
 */

static struct plumb_error *next_measured(void *ctx)
{
	return pl_pb_flush_some(ctx);
}

static struct plumb_error *next_table_row(void *ctx)
{
	struct otlp *f = ctx;

	return hand_over(f, pl_otlp_dictionary, &f->open_table);
}

static struct plumb_error *measure_tables(struct otlp *f, uint64_t *ret)
{
	struct pl_pb w;
	struct plumb_error *err;

	pl_pb_init(&w, NULL);
	err = pl_otlp_tables_write(&f->t, &w, next_measured, &w);
	if (!err)
		err = pl_pb_flush(&w);
	*ret = w.before;
	pl_pb_deinit(&w);
	return err;
}

static struct plumb_error *write_tables(struct otlp *f)
{
	uint64_t len = 0;
	struct plumb_error *err = f->j ? NULL : measure_tables(f, &len);

	if (err)
		return err;
	if (f->j) {
		pl_proto_json_close(f->j, &f->open);
		pl_json_key(f->j, "dictionary");
		pl_json_object(f->j);
	} else {
		pl_pb_header(&f->w, REQUEST_DICTIONARY, len);
	}
	err = pl_otlp_tables_write(&f->t, &f->w, next_table_row, f);
	if (f->j && !err) {
		pl_proto_json_close(f->j, &f->open_table);
		pl_json_object_end(f->j);
	}
	return err;
}

static double text_bytes(const struct otlp *f, uint32_t string)
{
	return (double)pl_text_of(f->p, string).len;
}

/* The dictionary has each stack with samples once. */
static struct plumb_error *check_stacks(const struct plumb_profile *p)
{
	bool *seen = calloc((size_t)p->stack_count + 1, 1);
	double frames = 0;

	if (!seen)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];

		frames += c->samples && !seen[c->stack] ? p->stacks[c->stack].depth : 0;
		seen[c->stack] |= c->samples > 0;
	}
	free(seen);
	return pl_symbols_check_frames(frames);
}

/* Each window tells of each process that is in it what it is, and what the recording is. */
static struct plumb_error *check_processes(const struct otlp *f)
{
	const struct pl_meta *m = &f->p->meta;
	double samples = 0, bytes = 0,
	       common = text_bytes(f, m->command) + text_bytes(f, m->engine) + text_bytes(f, m->plumb_version) +
			text_bytes(f, m->host);

	for (uint32_t i = 0; i < f->p->cell_count; i++)
		samples += (double)f->p->cells[i].samples;
	for (uint32_t i = 0; i < f->p->process_count; i++) {
		const struct pl_process *proc = &f->p->processes[i];

		bytes += common + 2 * text_bytes(f, proc->name) + 2 * text_bytes(f, proc->program) +
			 text_bytes(f, proc->python) + text_bytes(f, proc->host);
	}
	bytes *= f->timed ? samples / (double)WINDOW_SAMPLES + 1 : 1;
	if (bytes <= pl_size_limit_bytes(f->p))
		return NULL;
	return pl_size_limit_exceeded(pl_error(PLUMB_ERR_LIMIT,
					       "with what each process is in each part of the time it would be %.0f GB",
					       bytes / 1e9));
}

static struct plumb_error *write_request(struct otlp *f)
{
	struct plumb_error *err;

	if (f->j)
		pl_json_object(f->j);
	err = make_names(f);
	if (!err)
		err = pl_profile_each(f->p, add_sample, f);
	if (!err)
		err = end_window(f);
	if (!err)
		err = write_tables(f);
	if (f->j && !err)
		pl_json_object_end(f->j);
	return err ? err : pl_pb_flush(&f->w);
}

static struct plumb_error *write_otlp(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out,
				      struct pl_json *j)
{
	struct otlp f = {.p = p, .o = o, .j = j, .timed = pl_profile_is_timed(p)};
	struct plumb_error *err = pl_otlp_tables_init(&f.t, p, reserved);

	if (err)
		return err;
	pl_pb_init(&f.w, out);
	err = check_processes(&f);
	if (!err)
		err = check_stacks(p);
	if (!err)
		err = write_request(&f);
	pl_pb_deinit(&f.w);
	pl_vec_deinit(&f.window);
	pl_otlp_tables_deinit(&f.t);
	return err;
}

struct plumb_error *pl_otlp_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	return write_otlp(p, o, out, NULL);
}

struct plumb_error *pl_otlp_json_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct pl_json j;
	struct plumb_error *err;

	pl_json_init(&j, out, 0);
	err = write_otlp(p, o, out, &j);
	fputc('\n', out);
	return err;
}
