/* SPDX-License-Identifier: Apache-2.0 */
/* Anybody's profile.proto (layer import). Two passes: tables first, for they may stand after the samples.
 *
 * A location is one frame for each of its lines, inlined ones too; without lines it is its address. A short file can
 * say "this location, which has a thousand lines, a million times": frames are counted against the length of the file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "importers.h"
#include "pprof_labels.h"
#include "pprof_meaning.h"
#include "strtab.h"
#include "words.h"

#define LOOK_FIELDS 10000  /* that pl_pprof_is looks at */
#define FRAMES_FREE 65536  /* that any file may have, */
#define FRAMES_EACH 4	   /* and for each of its bytes */
#define TAG_PREFIX  "tag." /* as export/symbols.h has it */
#define LABEL_MAX   1024   /* bytes of a name or value; longer ones are left out */
#define TAG_MAX	    ((size_t)PL_LABELS_MAX * (2 * LABEL_MAX + 4))

/* Whether a mapping is of the kernel: asked for each location, of a name that may be long. */
enum answer { NOT_ASKED, NO, YES };

struct reader {
	struct pl_pprof t;
	struct pl_pprof_meaning meaning;
	struct pl_sink *sink;
	struct plumb_profile *p;
	uint32_t *location_of; /* line, and after all of them each location without one -> location of the profile */
	uint32_t *bare;	       /* location -> its place there, if it has no lines */
	uint32_t *string_of;   /* string -> 1 + string of the profile, 0: not yet */
	uint8_t *kernel;       /* mapping -> enum answer */
	struct pl_pprof_keys keys;
	uint64_t frames_left;
	pl_pb_numbers locations, values; /* of the sample that is read */
	PL_VEC(uint32_t) frames;	 /* likewise, the outermost first: locations of the profile */
	struct pl_buf tag_labels, tag_text;
	struct pl_strtab *label_sets; /* struct pl_pprof_label of each sample -> set */
	PL_VEC(uint32_t) tags;	      /* set -> stack; none has set 0 and stack 0 */
	struct pl_pprof_who last;     /* whose thread is */
	uint32_t last_thread;
	bool has_last;
};

static struct plumb_error *string_of(struct reader *r, uint64_t string, uint32_t *ret)
{
	struct pl_cursor text;
	struct plumb_error *err = pl_pprof_text(&r->t, string, &text);

	if (!err && !r->string_of[string]) {
		err = pl_profile_string(r->p, text.p ? (const void *)text.p : "", pl_cursor_left(&text), ret);
		if (!err)
			r->string_of[string] = *ret + 1;
	}
	if (!err)
		*ret = r->string_of[string] - 1;
	return err;
}

static bool ends_with(struct pl_cursor text, const char *end)
{
	size_t len = strlen(end);

	return pl_cursor_left(&text) >= len && memcmp(text.end - len, end, len) == 0;
}

/* What kind of frame has this file, in another's profile. */
static uint8_t origin_by_file(struct pl_cursor file, bool kernel)
{
	if (kernel)
		return PL_ORIGIN_KERNEL;
	if (ends_with(file, ".py") || ends_with(file, ".pyx") || ends_with(file, ".pyc"))
		return PL_ORIGIN_PYTHON;
	return pl_cursor_left(&file) && *file.p == '<' ? PL_ORIGIN_PYTHON : PL_ORIGIN_NATIVE;
}

/* Locations need not have a mapping: it is without a name then, and of nothing. */
static struct plumb_error *look_at_mapping(const struct reader *r, uint64_t mapping, struct pl_cursor *name,
					   bool *kernel)
{
	uint32_t index;

	*name = (struct pl_cursor){0};
	*kernel = false;
	if (!pl_map_get(&r->t.mapping_ids, mapping, 0, &index))
		return NULL;
	struct plumb_error *err = pl_pprof_text(&r->t, r->t.mapping_files.data[index], name);
	if (!err && r->kernel[index] == NOT_ASKED) {
		size_t len = pl_cursor_left(name);
		r->kernel[index] = len >= 7 && memmem(name->p, len, "[kernel", 7) ? YES : NO;
	}
	*kernel = r->kernel[index] == YES;
	return err;
}

static struct plumb_error *mapping_file(struct reader *r, uint64_t mapping, uint32_t *ret)
{
	uint32_t index;

	*ret = 0;
	return pl_map_get(&r->t.mapping_ids, mapping, 0, &index) ? string_of(r, r->t.mapping_files.data[index], ret)
								 : NULL;
}

static struct plumb_error *find_origin(const struct reader *r, uint64_t mapping, uint64_t file_string, uint8_t *ret)
{
	struct pl_cursor file, map;
	bool kernel;
	struct plumb_error *err = pl_pprof_text(&r->t, file_string, &file);

	if (!err)
		err = look_at_mapping(r, mapping, &map, &kernel);
	if (err)
		return err;
	*ret = PL_ORIGIN_PYTHON;
	if (!r->meaning.ours)
		*ret = origin_by_file(file, kernel);
	else if (mapping > 1 && !pl_origin_parse((const char *)map.p, pl_cursor_left(&map), ret))
		*ret = PL_ORIGIN_NATIVE; /* a library */
	return NULL;
}

/* The name to show is the qualified one in our files. Others' system names are mangled. */
static struct plumb_error *add_function(struct reader *r, const struct pl_pprof_function *from, uint64_t mapping,
					uint32_t *ret)
{
	struct pl_function f = {0};
	uint64_t shown = from->name ? from->name : from->system_name;
	uint64_t plain = r->meaning.ours && from->system_name ? from->system_name : shown;
	struct plumb_error *err = string_of(r, shown, &f.qualname);

	if (!err)
		err = string_of(r, plain, &f.name);
	if (!err)
		err = string_of(r, from->file, &f.file);
	if (!err)
		err = find_origin(r, mapping, from->file, &f.origin);
	if (from->firstline > 0 && from->firstline <= INT32_MAX)
		f.firstline = (uint32_t)from->firstline;
	return err ? err : pl_profile_function(r->p, &f, ret);
}

static struct plumb_error *add_line(struct reader *r, const struct pl_pprof_line *line, uint64_t mapping, uint32_t *ret)
{
	struct pl_location l = {.column = -1, .end_column = -1};
	struct plumb_error *err;
	uint32_t index;

	if (!pl_map_get(&r->t.function_ids, line->function, 0, &index))
		return pl_error(PLUMB_ERR_CORRUPT, "a location is in function %" PRIu64 ", which is not there",
				line->function);
	err = add_function(r, &r->t.functions.data[index], mapping, &l.function);
	if (err)
		return err;
	if (line->line > 0 && line->line <= INT32_MAX)
		l.line = l.end_line = (int32_t)line->line;
	if (line->column > 0 && line->column <= INT32_MAX)
		l.column = (int32_t)line->column - 1;
	return pl_profile_location(r->p, &l, ret);
}

static struct plumb_error *add_address(struct reader *r, const struct pl_pprof_location *from, uint32_t *ret)
{
	struct pl_location l = {.column = -1, .end_column = -1};
	struct pl_function f = {.origin = PL_ORIGIN_NATIVE};
	char name[24];
	int len = snprintf(name, sizeof name, "0x%" PRIx64, from->address);
	struct plumb_error *err = mapping_file(r, from->mapping, &f.file);

	if (!err)
		err = pl_profile_string(r->p, name, (size_t)len, &f.name);
	f.qualname = f.name;
	if (!err)
		err = pl_profile_function(r->p, &f, &l.function);
	return err ? err : pl_profile_location(r->p, &l, ret);
}

static struct plumb_error *add_locations(struct reader *r)
{
	struct plumb_error *err = NULL;
	uint32_t next = (uint32_t)r->t.lines.len;

	for (size_t i = 0; i < r->t.locations.len && !err; i++) {
		const struct pl_pprof_location *l = &r->t.locations.data[i];

		for (uint32_t k = l->first; k < l->first + l->count && !err; k++)
			err = add_line(r, &r->t.lines.data[k], l->mapping, &r->location_of[k]);
		if (err || l->count)
			continue;
		r->bare[i] = next;
		err = add_address(r, l, &r->location_of[next++]);
	}
	return err;
}

static struct plumb_error *note_builds(struct reader *r)
{
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < r->t.mapping_files.len && !err; i++) {
		struct pl_module m;

		if (!r->t.mapping_builds.data[i])
			continue;
		if (!(err = string_of(r, r->t.mapping_files.data[i], &m.file)) &&
		    !(err = string_of(r, r->t.mapping_builds.data[i], &m.build_id)))
			err = pl_profile_module(r->p, &m);
	}
	return err;
}

/* The frames of one location, the outermost line last in its list. */
static struct plumb_error *push_location(struct reader *r, uint64_t id)
{
	const struct pl_pprof_location *l;
	bool ok = true;
	uint32_t index;

	if (!pl_pprof_find_location(&r->t, id, &index))
		return pl_error(PLUMB_ERR_CORRUPT, "location %" PRIu64 " is not there", id);
	l = &r->t.locations.data[index];
	if (r->frames_left <= l->count)
		return pl_error(PLUMB_ERR_LIMIT, "its stacks are too long for a file of its size");
	r->frames_left -= l->count + 1;
	if (l->count == 0)
		ok = pl_vec_push(&r->frames, r->location_of[r->bare[index]]);
	for (uint32_t i = l->count; i-- > 0 && ok;)
		ok = pl_vec_push(&r->frames, r->location_of[l->first + i]);
	return ok ? NULL : &pl_err_no_memory;
}

/* Without a start, processes are told apart by their program: a number that was used twice has two names. */
static struct plumb_error *add_thread(struct reader *r, const struct pl_pprof_who *l, uint32_t *ret)
{
	struct pl_process proc = {.pid = (uint32_t)l->pid};
	struct pl_thread t = {.tid = l->tid};
	struct plumb_error *err = string_of(r, l->process, &proc.name);

	if (!err)
		err = string_of(r, l->host, &proc.host);
	if (!err)
		err = string_of(r, l->thread, &t.name);
	if (!proc.name)
		proc.name = r->meaning.program;
	/* Threads of which only the name is known: each name is one. */
	if (t.tid == PL_PPROF_NO_TID)
		t.tid = l->thread;
	t.main = l->pid && l->tid == l->pid;
	proc.program = proc.name;
	if (!err)
		err = pl_profile_process(r->p, &proc, &t.process);
	return err ? err : pl_profile_thread(r->p, &t, ret);
}

static struct plumb_error *find_thread(struct reader *r, const struct pl_pprof_who *l, uint32_t *ret)
{
	struct plumb_error *err = NULL;

	if (!r->has_last || r->last.tid != l->tid || r->last.pid != l->pid || r->last.thread != l->thread ||
	    r->last.process != l->process || r->last.host != l->host)
		err = add_thread(r, l, &r->last_thread);
	r->has_last = !err;
	r->last = *l;
	*ret = r->last_thread;
	return err;
}

/* Up to a NUL; more than LABEL_MAX: too long. */
static size_t label_len(struct pl_cursor text)
{
	size_t left = pl_cursor_left(&text);

	return strnlen((const char *)text.p, left < LABEL_MAX + 1 ? left : LABEL_MAX + 1);
}

/* As pprof.c has it: a name that is one of its own has something before it. What was looked at is added to *looked_at,
 * also if it is too long. */
static struct plumb_error *add_label(struct reader *r, struct pl_cursor name, struct pl_cursor value, size_t *looked_at)
{
	size_t prefix = strlen(TAG_PREFIX), name_len, value_len;
	struct plumb_error *err;

	if (pl_cursor_left(&name) > prefix && memcmp(name.p, TAG_PREFIX, prefix) == 0)
		name.p += prefix;
	name_len = label_len(name);
	value_len = label_len(value);
	*looked_at += name_len + value_len + 2;
	if (!name_len || name_len > LABEL_MAX || value_len > LABEL_MAX)
		return NULL;
	err = pl_buf_printf(&r->tag_text, "%s%.*s=%.*s", r->tag_text.len ? ", " : "[", (int)name_len, name.p,
			    (int)value_len, value.p);
	if (!err)
		err = pl_buf_printf(&r->tag_labels, "%.*s%c%.*s%c", (int)name_len, name.p, 0, (int)value_len, value.p,
				    0);
	return err;
}

/* The stack that samples with these labels stand on. They count as frames do: a short file can name long ones again and
 * again, in other combinations. */
static struct plumb_error *make_tag(struct reader *r, const struct pl_pprof_labels *l, uint32_t *ret)
{
	struct plumb_error *err = NULL;
	size_t looked_at = 0;

	*ret = 0;
	pl_buf_clear(&r->tag_text);
	pl_buf_clear(&r->tag_labels);
	for (unsigned i = 0; i < l->count && !err; i++) {
		struct pl_cursor name, value;

		err = pl_pprof_text(&r->t, l->own[i].name, &name);
		if (!err)
			err = pl_pprof_text(&r->t, l->own[i].value, &value);
		if (!err)
			err = add_label(r, name, value, &looked_at);
	}
	if (!err && r->frames_left < looked_at / 16)
		return pl_error(PLUMB_ERR_LIMIT, "its labels are too long for a file of its size");
	r->frames_left -= err ? 0 : looked_at / 16;
	if (err || !r->tag_labels.len)
		return err;
	err = pl_buf_printf(&r->tag_text, "]");
	return err ? err : pl_profile_tag(r->p, pl_buf_str(&r->tag_text), r->tag_labels.data, r->tag_labels.len, ret);
}

/* The same labels, by their numbers, are made a tag of once. */
static struct plumb_error *find_tag(struct reader *r, const struct pl_pprof_labels *l, uint32_t *ret)
{
	uint32_t set = 0;
	struct plumb_error *err = pl_strtab_add(r->label_sets, l->own, l->count * sizeof *l->own, &set);

	if (!err && set == r->tags.len) {
		err = make_tag(r, l, ret);
		if (!err && !pl_vec_push(&r->tags, *ret))
			err = &pl_err_no_memory;
	}
	if (!err)
		*ret = r->tags.data[set];
	return err;
}

static struct plumb_error *read_sample_fields(struct reader *r, struct pl_cursor c, struct pl_pprof_labels *labels)
{
	struct plumb_error *err = NULL;
	enum pl_pb_status status = PL_PB_END;
	struct pl_pb_field f;

	r->locations.len = r->values.len = 0;
	labels->who = (struct pl_pprof_who){.tid = PL_PPROF_NO_TID};
	labels->state = r->meaning.on_cpu ? PL_STATE_ON_CPU : PL_STATE_UNKNOWN;
	labels->quality = 0;
	labels->reason = PL_REASON_UNKNOWN;
	labels->count = 0;
	while (!err && (status = pl_pb_next(&c, &f)) == PL_PB_FIELD) {
		if (f.number == 1)
			err = pl_pb_add_numbers(&f, &r->locations);
		else if (f.number == 2)
			err = pl_pb_add_numbers(&f, &r->values);
		else if (f.number == 3 && f.wire == PL_PB_BYTES)
			err = pl_pprof_label_read(&r->keys, f.bytes, labels);
	}
	if (err == &pl_err_corrupt || (!err && status == PL_PB_BROKEN))
		return pl_pprof_error(&r->t, c.p, "a sample is damaged");
	if (!err && r->values.len != r->t.types.len)
		err = pl_pprof_error(&r->t, c.end, "a sample has %zu values, and there are %zu types of them",
				     r->values.len, r->t.types.len);
	return err;
}

static struct plumb_error *read_sample(struct reader *r, struct pl_cursor c)
{
	struct pl_pprof_labels labels;
	struct pl_sample s = {0};
	enum pl_pprof_worth worth;
	uint64_t count;
	struct plumb_error *err = read_sample_fields(r, c, &labels);

	if (err)
		return err;
	worth = pl_pprof_weigh(&r->meaning, r->values.data, &count, &s.weight_ns);
	r->sink->skipped += worth == PL_PPROF_NEGATIVE;
	if (worth != PL_PPROF_SAMPLES)
		return NULL;
	err = find_tag(r, &labels, &s.stack);
	pl_vec_clear(&r->frames);
	for (size_t i = r->locations.len; i-- > 0 && !err;)
		err = push_location(r, r->locations.data[i]);
	if (!err)
		err = find_thread(r, &labels.who, &s.thread);
	s.state = labels.state | pl_reason_state(labels.reason);
	s.quality = labels.quality;
	s.extra = count - 1;
	r->sink->counted = r->meaning.weight == PL_PPROF_NO_VALUE && !r->meaning.period_ns;
	return err ? err : pl_sink_add_frames(r->sink, &s, r->frames.data, r->frames.len);
}

static struct plumb_error *read_samples(struct reader *r, const struct pl_import_input *in)
{
	struct pl_cursor c = {.p = in->bytes, .end = in->bytes + in->len};
	struct plumb_error *err = NULL;
	struct pl_pb_field f;

	while (!err && pl_pb_next(&c, &f) == PL_PB_FIELD) {
		if (f.number == PL_PPROF_SAMPLE && f.wire == PL_PB_BYTES)
			err = read_sample(r, f.bytes);
	}
	return err;
}

static struct plumb_error *make_room(struct reader *r)
{
	r->location_of = calloc(r->t.lines.len + r->t.locations.len + 1, sizeof *r->location_of);
	r->bare = calloc(r->t.locations.len + 1, sizeof *r->bare);
	r->string_of = calloc(r->t.strings.len + 1, sizeof *r->string_of);
	r->kernel = calloc(r->t.mapping_files.len + 1, sizeof *r->kernel);
	if (!r->location_of || !r->bare || !r->string_of || !r->kernel || !pl_vec_push(&r->tags, 0))
		return &pl_err_no_memory;
	struct plumb_error *err = pl_strtab_create(&r->label_sets);
	return err ? err : pl_pprof_keys_init(&r->keys, &r->t);
}

struct plumb_error *pl_pprof_read(const struct pl_import_input *in, struct pl_sink *sink)
{
	struct reader r = {
		.sink = sink, .p = sink->profile, .tag_labels = PL_BUF_INIT(TAG_MAX), .tag_text = PL_BUF_INIT(TAG_MAX)};
	struct plumb_error *err = pl_pprof_read_tables(&r.t, in);

	r.frames_left = FRAMES_FREE + (uint64_t)in->len * FRAMES_EACH;
	if (!err)
		err = pl_pprof_understand(&r.t, r.p, &r.meaning);
	if (!err)
		err = make_room(&r);
	r.keys.ours = r.meaning.ours;
	if (!err)
		err = add_locations(&r);
	if (!err)
		err = note_builds(&r);
	if (!err)
		err = read_samples(&r, in);
	free(r.location_of);
	free(r.bare);
	free(r.string_of);
	free(r.kernel);
	pl_pprof_keys_deinit(&r.keys);
	pl_vec_deinit(&r.locations);
	pl_vec_deinit(&r.values);
	pl_vec_deinit(&r.frames);
	pl_buf_deinit(&r.tag_labels);
	pl_buf_deinit(&r.tag_text);
	pl_strtab_destroy(r.label_sets);
	pl_vec_deinit(&r.tags);
	pl_pprof_deinit(&r.t);
	return err;
}

/* A type of samples has two small fields, and nothing else that begins with field 1 does. */
static bool is_type(struct pl_cursor c)
{
	struct pl_pb_field f;
	enum pl_pb_status status;
	unsigned seen = 0;

	while ((status = pl_pb_next(&c, &f)) == PL_PB_FIELD) {
		if (f.wire != PL_PB_VARINT || f.number > 2)
			return false;
		seen |= f.number;
	}
	return status == PL_PB_END && seen;
}

bool pl_pprof_is(const struct pl_import_input *in)
{
	static const uint8_t wires[] = {0,
					PL_PB_BYTES,
					PL_PB_BYTES,
					PL_PB_BYTES,
					PL_PB_BYTES,
					PL_PB_BYTES,
					PL_PB_BYTES,
					PL_PB_VARINT,
					PL_PB_VARINT,
					PL_PB_VARINT,
					PL_PB_VARINT,
					PL_PB_BYTES,
					PL_PB_VARINT,
					PL_PB_VARINT,
					PL_PB_VARINT,
					PL_PB_VARINT};
	struct pl_cursor c = {.p = in->bytes, .end = in->bytes + in->len};
	struct pl_pb_field f;

	for (int i = 0; i < LOOK_FIELDS && pl_pb_next(&c, &f) == PL_PB_FIELD; i++) {
		if (f.number >= sizeof wires)
			return false;
		/* Comments may be packed. */
		if (f.wire != (enum pl_pb_wire)wires[f.number] &&
		    !(f.number == PL_PPROF_COMMENT && f.wire == PL_PB_BYTES))
			return false;
		if (f.number == PL_PPROF_SAMPLE_TYPE)
			return is_type(f.bytes);
	}
	return false;
}
