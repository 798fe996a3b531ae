/* SPDX-License-Identifier: Apache-2.0 */
/* pprof's profile.proto, gzipped: two values for each (stack, thread, state), labels that tell the latter two, and what
 * the format has no fields for in comments. Layer export; any thread.
 *
 * One location for each function and line: readers that show only one line of a location lose nothing. The origin of a
 * function (Python, native, ...) is that of its mapping; a library whose build is known has one of its own. The
 * mappings say that they are symbolized, or Go's pprof would look for the program. A function has a system name only
 * where that differs: pprof takes an equal one for one that is still to be demangled, and cuts "<lambda>" out of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "gzip.h"
#include "protobuf.h"
#include "symbols.h"
#include "words.h"

/* Field numbers. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum {
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER, LINE_COLUMN };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_START };

enum { KEY_THREAD, KEY_TID, KEY_PROCESS, KEY_PID, KEY_HOST, KEY_STATE, KEY_REASON, KEY_QUALITY, KEYS };
static const char *const key_names[KEYS] = {"thread", "tid", "process", "pid", "host", "state", "waits_for", "quality"};
/* What labels of the program are not called: importers know these, ours too (import/pprof_labels.c). */
static const char *const reserved[] = {"thread",     "tid",	  "process",	  "pid",       "host",
				       "state",	     "quality",	  "thread_name",  "waits_for", "thread name",
				       "thread_id",  "thread id", "process_name", "comm",      "process_id",
				       "process id", NULL};

struct pprof {
	const struct plumb_profile *p;
	struct pl_symbols symbols;
	struct pl_pb w;
	uint32_t keys[KEYS];
	uint32_t qualities[PL_QUALITIES]; /* strings */
	uint32_t reasons[PL_REASONS];	  /* 0: none */
};

/* Values are signed. */
static uint64_t value_of(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : v;
}

static struct plumb_error *write_value_type(struct pprof *f, uint32_t field, const char *type, const char *unit)
{
	uint32_t t = 0, u = 0;
	struct plumb_error *err = pl_symbols_text(&f->symbols, type, &t);
	size_t m;

	if (!err)
		err = pl_symbols_text(&f->symbols, unit, &u);
	if (err)
		return err;
	m = pl_pb_begin(&f->w, field);
	pl_pb_u64(&f->w, VALUE_TYPE, t);
	pl_pb_u64(&f->w, VALUE_UNIT, u);
	pl_pb_end(&f->w, m);
	return NULL;
}

static struct plumb_error *write_comment(struct pprof *f, const char *what, const char *text, size_t len)
{
	struct pl_buf line = PL_BUF_INIT(SIZE_MAX);
	uint32_t id = 0;
	struct plumb_error *err = pl_buf_printf(&line, "%s: ", what);

	if (!err)
		err = pl_buf_add(&line, text, len);
	if (!err)
		err = pl_symbols_bytes(&f->symbols, line.data, line.len, &id);
	pl_buf_deinit(&line);
	pl_pb_u64(&f->w, PROFILE_COMMENT, id);
	return err;
}

static struct plumb_error *write_comment_of(struct pprof *f, const char *what, uint32_t string)
{
	size_t len;
	const char *text = pl_strtab_get(f->p->strings, string, &len);

	return len ? write_comment(f, what, text, len) : NULL;
}

/* An importer knows our files by the first. */
static struct plumb_error *write_comments(struct pprof *f, const char *made_by)
{
	const struct pl_meta *m = &f->p->meta;
	struct pl_meta copy = *m;
	char number[24];
	size_t version_len;
	const char *version = pl_strtab_get(f->p->strings, m->plumb_version, &version_len),
		   *mode = pl_mode_name(m->mode);
	struct plumb_error *err = write_comment(f, "plumb", version, version_len);

	if (!err && made_by)
		err = write_comment(f, "made by", made_by, strlen(made_by));
	if (!err)
		err = write_comment_of(f, "command", m->command);
	if (!err)
		err = write_comment_of(f, "host", m->host);
	if (!err)
		err = write_comment_of(f, "engine", m->engine);
	if (!err)
		err = write_comment(f, "mode", mode, strlen(mode));
	if (!err && m->jitter)
		err = write_comment(f, "jitter", "yes", 3);
	if (!err && !m->complete)
		err = write_comment(f, "complete", "no", 2);
	for (const struct pl_meta_figure *g = pl_meta_figures; g->name && !err; g++) {
		int len = snprintf(number, sizeof number, "%" PRIu64, *pl_meta_figure(&copy, g));

		if (*pl_meta_figure(&copy, g))
			err = write_comment(f, g->name, number, (size_t)len);
	}
	return err;
}

static struct plumb_error *write_head(struct pprof *f, const struct pl_export_options *o)
{
	const struct pl_meta *m = &f->p->meta;
	uint32_t type = 0;
	struct plumb_error *err = write_value_type(f, PROFILE_SAMPLE_TYPE, "samples", "count");

	if (!err && !m->counted)
		err = write_value_type(f, PROFILE_SAMPLE_TYPE, pl_mode_name(m->mode), "nanoseconds");
	if (!err && !m->counted)
		err = write_value_type(f, PROFILE_PERIOD_TYPE, pl_mode_name(m->mode), "nanoseconds");
	if (!err)
		err = pl_symbols_text(&f->symbols, m->counted ? "samples" : pl_mode_name(m->mode), &type);
	if (err)
		return err;
	pl_pb_u64(&f->w, PROFILE_TIME, value_of(m->start_real_ns));
	pl_pb_u64(&f->w, PROFILE_DURATION, value_of(m->duration_ns));
	pl_pb_u64(&f->w, PROFILE_PERIOD, value_of(m->period_ns));
	pl_pb_u64(&f->w, PROFILE_DEFAULT_TYPE, type);
	return write_comments(f, o->made_by);
}

static struct plumb_error *make_words(struct pprof *f)
{
	struct plumb_error *err = NULL;

	for (int i = 0; i < KEYS && !err; i++)
		err = pl_symbols_text(&f->symbols, key_names[i], &f->keys[i]);
	for (unsigned i = 0; i < PL_QUALITIES && !err; i++)
		err = pl_symbols_text(&f->symbols, pl_quality_name(i), &f->qualities[i]);
	for (unsigned i = PL_REASON_GIL; i < PL_REASONS && !err; i++)
		err = pl_symbols_text(&f->symbols, pl_reasons[i].word, &f->reasons[i]);
	return err;
}

/* A label without a value is none. */
static void write_label(struct pprof *f, uint32_t key, uint32_t field, uint64_t value)
{
	size_t m;

	if (!value)
		return;
	m = pl_pb_begin(&f->w, SAMPLE_LABEL);
	pl_pb_u64(&f->w, LABEL_KEY, key);
	pl_pb_u64(&f->w, field, value);
	pl_pb_end(&f->w, m);
}

static struct plumb_error *write_tag(struct pprof *f, uint32_t node)
{
	const struct pl_symbol_tag *tag;
	struct plumb_error *err = pl_symbols_tag(&f->symbols, node, &tag);

	for (unsigned i = 0; i < tag->count; i++)
		write_label(f, tag->labels[i].name, LABEL_TEXT, tag->labels[i].value);
	return err;
}

static struct plumb_error *write_labels(struct pprof *f, const struct pl_symbol_group *g)
{
	const struct pl_thread *t = &f->p->threads[g->thread];
	const struct pl_process *proc = &f->p->processes[t->process];
	uint32_t thread = 0, process = 0, host = 0, state = 0;
	char text[PL_STATE_TEXT_BYTES];
	struct plumb_error *err = pl_symbols_string(&f->symbols, t->name, &thread);

	if (!err)
		err = pl_symbols_string(&f->symbols, proc->name, &process);
	if (!err)
		err = pl_symbols_string(&f->symbols, proc->host, &host);
	if (!err)
		err = pl_symbols_text(&f->symbols, pl_state_text(g->state, text), &state);
	write_label(f, f->keys[KEY_THREAD], LABEL_TEXT, thread);
	write_label(f, f->keys[KEY_TID], LABEL_NUMBER, value_of(t->tid));
	write_label(f, f->keys[KEY_PROCESS], LABEL_TEXT, process);
	write_label(f, f->keys[KEY_PID], LABEL_NUMBER, proc->pid);
	write_label(f, f->keys[KEY_HOST], LABEL_TEXT, host);
	write_label(f, f->keys[KEY_STATE], LABEL_TEXT, state);
	write_label(f, f->keys[KEY_REASON], LABEL_TEXT, f->reasons[pl_reason_of(g->state)]);
	write_label(f, f->keys[KEY_QUALITY], LABEL_TEXT,
		    g->quality == PL_EXACT ? 0 : f->qualities[g->quality % PL_QUALITIES]);
	return err;
}

static struct plumb_error *write_sample(void *ctx, const struct pl_symbol_group *g)
{
	struct pprof *f = ctx;
	size_t m = pl_pb_begin(&f->w, PROFILE_SAMPLE), packed;
	uint32_t tag = f->symbols.tag_nodes[g->stack];
	struct plumb_error *err;

	if (g->stack != tag) {
		packed = pl_pb_begin(&f->w, SAMPLE_LOCATIONS);
		for (uint32_t s = g->stack; s != tag; s = f->p->stacks[s].parent)
			pl_pb_raw_u64(&f->w, f->symbols.location_of[f->p->stacks[s].location] + 1ull);
		pl_pb_end(&f->w, packed);
	}
	packed = pl_pb_begin(&f->w, SAMPLE_VALUES);
	pl_pb_raw_u64(&f->w, value_of(g->samples));
	if (!f->p->meta.counted)
		pl_pb_raw_u64(&f->w, value_of(g->weight_ns));
	pl_pb_end(&f->w, packed);
	err = write_labels(f, g);
	if (!err)
		err = write_tag(f, tag);
	pl_pb_end(&f->w, m);
	return err ? err : pl_pb_flush_some(&f->w);
}

/* The first is what the profile is of. */
static struct plumb_error *mapping_name(struct pprof *f, unsigned origin, uint32_t *ret)
{
	if (origin != PL_ORIGIN_PYTHON)
		return pl_symbols_text(&f->symbols, pl_origin_name(origin), ret);
	for (uint32_t i = 0; i < f->p->process_count; i++) {
		if (f->p->processes[i].name)
			return pl_symbols_string(&f->symbols, f->p->processes[i].name, ret);
	}
	return pl_symbols_text(&f->symbols, "python", ret);
}

static void write_mapping(struct pprof *f, uint64_t id, uint32_t name, uint32_t build_id)
{
	size_t m = pl_pb_begin(&f->w, PROFILE_MAPPING);

	pl_pb_u64(&f->w, MAPPING_ID, id);
	pl_pb_u64(&f->w, MAPPING_FILE, name);
	pl_pb_u64(&f->w, MAPPING_BUILD_ID, build_id);
	pl_pb_u64(&f->w, MAPPING_HAS_FUNCTIONS, 1);
	pl_pb_u64(&f->w, MAPPING_HAS_FILES, 1);
	pl_pb_u64(&f->w, MAPPING_HAS_LINES, 1);
	pl_pb_end(&f->w, m);
}

/* Those of the origins stand before those of libraries. */
static uint64_t mapping_of(const struct pl_symbol_function *fn)
{
	return fn->library ? PL_ORIGINS + (uint64_t)fn->library : fn->origin + 1u;
}

static struct plumb_error *write_mappings(struct pprof *f)
{
	struct plumb_error *err = NULL;

	for (unsigned i = 0; i < PL_ORIGINS && !err; i++) {
		uint32_t name = 0;

		if (i != PL_ORIGIN_PYTHON && !f->symbols.origins[i])
			continue;
		err = mapping_name(f, i, &name);
		write_mapping(f, i + 1, name, 0);
	}
	for (size_t i = 0; i < f->symbols.libraries.len && !err; i++) {
		const struct pl_symbol_library *l = &f->symbols.libraries.data[i];

		write_mapping(f, PL_ORIGINS + i + 1, l->file, l->build_id);
		err = pl_pb_flush_some(&f->w);
	}
	return err;
}

static void write_location(struct pprof *f, size_t i)
{
	const struct pl_symbol_location *l = &f->symbols.locations.data[i];
	size_t m = pl_pb_begin(&f->w, PROFILE_LOCATION), line;

	pl_pb_u64(&f->w, LOCATION_ID, i + 1);
	pl_pb_u64(&f->w, LOCATION_MAPPING, mapping_of(&f->symbols.functions.data[l->function]));
	line = pl_pb_begin(&f->w, LOCATION_LINE);
	pl_pb_u64(&f->w, LINE_FUNCTION, l->function + 1ull);
	pl_pb_u64(&f->w, LINE_NUMBER, l->line > 0 ? (uint64_t)l->line : 0);
	pl_pb_u64(&f->w, LINE_COLUMN, l->column >= 0 ? (uint64_t)l->column + 1 : 0);
	pl_pb_end(&f->w, line);
	pl_pb_end(&f->w, m);
}

static void write_function(struct pprof *f, size_t i)
{
	const struct pl_symbol_function *fn = &f->symbols.functions.data[i];
	size_t m = pl_pb_begin(&f->w, PROFILE_FUNCTION);

	pl_pb_u64(&f->w, FUNCTION_ID, i + 1);
	pl_pb_u64(&f->w, FUNCTION_NAME, fn->name);
	pl_pb_u64(&f->w, FUNCTION_SYSTEM_NAME, fn->system_name);
	pl_pb_u64(&f->w, FUNCTION_FILE, fn->file);
	pl_pb_u64(&f->w, FUNCTION_START, fn->firstline);
	pl_pb_end(&f->w, m);
}

static struct plumb_error *write_tables(struct pprof *f)
{
	struct plumb_error *err = write_mappings(f);

	for (size_t i = 0; i < f->symbols.locations.len && !err; i++) {
		write_location(f, i);
		err = pl_pb_flush_some(&f->w);
	}
	for (size_t i = 0; i < f->symbols.functions.len && !err; i++) {
		write_function(f, i);
		err = pl_pb_flush_some(&f->w);
	}
	for (uint32_t i = 0; i < pl_strtab_count(f->symbols.strings) && !err; i++) {
		size_t len;
		const char *text = pl_strtab_get(f->symbols.strings, i, &len);

		pl_pb_item(&f->w, PROFILE_STRING, text, len);
		err = pl_pb_flush_some(&f->w);
	}
	return err ? err : pl_pb_flush(&f->w);
}

static struct plumb_error *write_profile(struct pprof *f, const struct pl_export_options *o)
{
	struct plumb_error *err = write_head(f, o);

	if (!err)
		err = make_words(f);
	if (!err)
		err = pl_symbol_groups_each(f->p, write_sample, f);
	return err ? err : write_tables(f);
}

struct frames {
	const struct plumb_profile *p;
	double count;
};

static struct plumb_error *add_frames(void *ctx, const struct pl_symbol_group *g)
{
	struct frames *f = ctx;

	f->count += f->p->stacks[g->stack].depth;
	return NULL;
}

/* What there is to write: a stack stands there once for each thread and state in which it was seen. */
static struct plumb_error *check_size(const struct plumb_profile *p)
{
	struct frames frames = {.p = p};
	struct plumb_error *err = pl_symbol_groups_each(p, add_frames, &frames);

	return err ? err : pl_symbols_check_frames(frames.count);
}

struct plumb_error *pl_pprof_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct pprof f = {.p = p};
	struct plumb_error *err = check_size(p);
	FILE *zipped = err ? NULL : pl_gzip_open(out);

	if (!err)
		err = zipped ? pl_symbols_init(&f.symbols, p, reserved) : &pl_err_no_memory;
	if (!err) {
		pl_pb_init(&f.w, zipped);
		err = write_profile(&f, o);
		pl_pb_deinit(&f.w);
		pl_symbols_deinit(&f.symbols);
	}
	/* What goes wrong in closing shows in ferror(out). */
	if (zipped)
		(void)fclose(zipped);
	return err;
}
