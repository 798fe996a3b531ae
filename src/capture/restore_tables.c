/* SPDX-License-Identifier: Apache-2.0 */
/* Table rows of a payload into a profile (layer capture). One thread at a time.
 *
 * A row may refer to rows that only a damaged chunk held. It is kept, with "<lost>" in the place of what is missing: a
 * stack without its outer frames still says what ran. Ids and counts are hostile: a count is believed only as far as
 * there are bytes for it and memory is spent only within r->memory_left. */
#include "restore.h"

#include "axis.h"
#include "events.h"
#include "labels.h"

#include <string.h>

#define LOST "<lost>"

struct plumb_error *pl_restore_spend(struct pl_restore *r, uint64_t bytes)
{
	if (bytes > r->memory_left)
		return &pl_err_corrupt;
	r->memory_left -= bytes;
	return NULL;
}

static struct plumb_error *lost_stack(struct pl_restore *r, uint32_t *ret)
{
	if (!r->has_lost_stack) {
		struct plumb_error *err = pl_profile_marker(r->profile, 0, LOST, &r->lost_stack);
		if (err)
			return err;
		r->has_lost_stack = true;
	}
	*ret = r->lost_stack;
	return NULL;
}

static struct plumb_error *lost_location(struct pl_restore *r, uint32_t *ret)
{
	uint32_t stack = 0;
	struct plumb_error *err = lost_stack(r, &stack);
	if (!err)
		*ret = r->profile->stacks[stack].location;
	return err;
}

static struct plumb_error *string_id(struct pl_restore *r, uint32_t id, uint32_t *ret)
{
	if (id == 0) {
		*ret = 0;
		return NULL;
	}
	return pl_idmap_get(&r->strings, id, ret) ? NULL : pl_profile_string(r->profile, LOST, strlen(LOST), ret);
}

static struct plumb_error *function_id(struct pl_restore *r, uint32_t id, uint32_t *ret)
{
	if (pl_idmap_get(&r->functions, id, ret))
		return NULL;
	uint32_t location = 0;
	struct plumb_error *err = lost_location(r, &location);
	if (!err)
		*ret = r->profile->locations[location].function;
	return err;
}

static struct plumb_error *location_id(struct pl_restore *r, uint32_t id, uint32_t *ret)
{
	return pl_idmap_get(&r->locations, id, ret) ? NULL : lost_location(r, ret);
}

struct plumb_error *pl_restore_stack_id(struct pl_restore *r, uint32_t id, uint32_t *ret)
{
	if (id == 0) {
		*ret = 0;
		return NULL;
	}
	return pl_idmap_get(&r->stacks, id, ret) ? NULL : lost_stack(r, ret);
}

static struct plumb_error *process_id(struct pl_restore *r, uint32_t id, uint32_t *ret)
{
	uint32_t brief = 0;
	if (pl_map_get(&r->lives, id, 0, ret))
		return NULL;
	/* A recording of an older plumb, or the rest was lost. */
	if (pl_idmap_get(&r->processes, id, &brief))
		return pl_profile_process(r->profile, &r->brief.data[brief], ret);
	struct pl_process lost = {0};
	struct plumb_error *err = pl_profile_string(r->profile, LOST, strlen(LOST), &lost.program);
	return err ? err : pl_profile_process(r->profile, &lost, ret);
}

struct plumb_error *pl_restore_thread_id(struct pl_restore *r, uint32_t id, uint32_t *ret)
{
	if (pl_map_get(&r->threads, id, 0, ret))
		return NULL;
	struct pl_thread lost = {0};
	struct plumb_error *err = pl_profile_string(r->profile, LOST, strlen(LOST), &lost.name);
	if (!err)
		err = process_id(r, UINT32_MAX, &lost.process);
	return err ? err : pl_profile_thread(r->profile, &lost, ret);
}

/* The row before, in ids of the file: rows are differences. */
union fields {
	struct pl_function function; /* in ids of the file */
	struct pl_location location;
	uint32_t stack_location;
};

/* A table in the order of a payload. */
struct table {
	enum pl_section tag;
	struct pl_idmap *ids;
	/** Decode the next row and intern it. @p fields: of the row before, zeros at first. */
	struct plumb_error *(*row)(struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields,
				   uint32_t *ret);
	/** Decode a row that is not due yet and fetch what it will need; NULL: that is in the caches anyway. */
	void (*expect)(const struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields);
};

#define AHEAD 12 /* rows */

static struct plumb_error *string_row(struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields,
				      uint32_t *ret)
{
	uint64_t len = pl_decode(d);
	const uint8_t *text = NULL;
	if (d->bad || len > pl_cursor_left(&d->cursor) || !pl_cursor_bytes(&d->cursor, (size_t)len, &text))
		return &pl_err_corrupt;
	len = len > PL_STRING_MAX_BYTES ? PL_STRING_MAX_BYTES : len;
	struct plumb_error *err = pl_restore_spend(r, len);
	return err ? err : pl_profile_string(r->profile, text, (size_t)len, ret);
}

/* Recordings from before there were labels have the texts of tags. */
static struct plumb_error *labels_of(struct pl_restore *r, const struct pl_function *f, uint32_t *ret)
{
	size_t len = 0;
	const char *text = pl_strtab_get(r->profile->strings, f->name, &len);

	if (f->origin != PL_ORIGIN_MARKER || r->labels)
		return NULL;
	struct plumb_error *err = pl_restore_spend(r, len);
	return err ? err : pl_labels_of_text(r->profile, text, len, ret);
}

/* The number that a section of the chunk has for the row at hand, if it is there; @p d is bad if it is. */
static uint32_t column(struct pl_decoder *section, struct pl_decoder *d)
{
	uint32_t value = section ? pl_decode_u32(section) : 0;

	d->bad = d->bad || (section && section->bad);
	return value;
}

static struct plumb_error *function_row(struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields,
					uint32_t *ret)
{
	struct pl_function *last = &fields->function, f;
	last->name = pl_decode_delta_u32(d, last->name);
	last->qualname = pl_decode_delta_u32(d, last->name);
	last->file = pl_decode_delta_u32(d, last->file);
	last->firstline = pl_decode_delta_u32(d, last->firstline);
	uint64_t origin = pl_decode(d);
	uint32_t labels = column(r->labels, d), unnamed = column(r->unnamed, d), plumbing = column(r->plumbing, d);
	uint32_t source = column(r->debug, d);
	if (d->bad || origin >= PL_ORIGINS)
		return &pl_err_corrupt;
	if ((unnamed || plumbing || source) && (labels || origin != PL_ORIGIN_NATIVE || (unnamed && source)))
		return &pl_err_corrupt;
	f = *last;
	f.origin = (uint8_t)origin;
	f.plumbing = plumbing != 0;
	struct plumb_error *err = string_id(r, last->name, &f.name);
	if (!err)
		err = string_id(r, last->qualname, &f.qualname);
	if (!err)
		err = string_id(r, last->file, &f.file);
	if (!err)
		err = string_id(r, labels, &f.labels);
	if (!err)
		err = string_id(r, unnamed, &f.unnamed);
	if (!err)
		err = string_id(r, source, &f.source);
	if (!err)
		err = labels_of(r, &f, &f.labels);
	return err ? err : pl_profile_function(r->profile, &f, ret);
}

/* Sum of two numbers as a 32-bit one. */
static int32_t decode_delta_i32(struct pl_decoder *d, int32_t from)
{
	int64_t delta = pl_decode_signed(d), v = 0;
	if (!__builtin_add_overflow(delta, from, &v) && v >= INT32_MIN && v <= INT32_MAX)
		return (int32_t)v;
	d->bad = true;
	return 0;
}

/* Of a native function, of which nothing else is said. A row that was lost may be of any kind. */
static struct plumb_error *take_address(struct pl_restore *r, struct pl_location *l)
{
	uint64_t address = r->addresses ? pl_decode(r->addresses) : 0;

	if ((r->addresses && r->addresses->bad) || address > PL_ADDRESS_MAX)
		return &pl_err_corrupt;
	if (address && (l->line || l->opcode || l->inlined))
		return &pl_err_corrupt;
	l->address = r->profile->functions[l->function].origin == PL_ORIGIN_NATIVE ? address : 0;
	return NULL;
}

static struct plumb_error *location_row(struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields,
					uint32_t *ret)
{
	struct pl_location *last = &fields->location, l;
	last->function = pl_decode_delta_u32(d, last->function);
	last->line = decode_delta_i32(d, last->line);
	last->end_line = decode_delta_i32(d, last->line);
	last->column = decode_delta_i32(d, 0);
	last->end_column = decode_delta_i32(d, last->column);
	uint64_t opcode = r->opcodes ? pl_decode(r->opcodes) : 0;
	uint32_t inlined = column(r->debug, d);
	if (d->bad || (r->opcodes && r->opcodes->bad) || opcode > UINT16_MAX)
		return &pl_err_corrupt;
	l = *last;
	l.inlined = inlined != 0;
	l.opcode = (uint16_t)opcode;
	struct plumb_error *err = function_id(r, last->function, &l.function);
	err = err ? err : take_address(r, &l);
	return err ? err : pl_profile_location(r->profile, &l, ret);
}

static struct plumb_error *stack_row(struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields,
				     uint32_t *ret)
{
	uint64_t above = pl_decode(d);
	fields->stack_location = pl_decode_delta_u32(d, fields->stack_location);
	if (d->bad || above == 0 || above > id)
		return &pl_err_corrupt;
	uint32_t parent = 0, location = 0;
	struct plumb_error *err = pl_restore_stack_id(r, id - (uint32_t)above, &parent);
	if (!err)
		err = location_id(r, fields->stack_location, &location);
	if (!err && r->profile->stacks[parent].depth >= PL_STACK_MAX_DEPTH)
		err = &pl_err_corrupt;
	/* Trees of calls are written with the names of their nodes. */
	uint64_t bytes = 0;
	if (!err)
		err = pl_restore_name_bytes(r, location, &bytes);
	if (!err)
		err = pl_restore_spend(r, bytes);
	return err ? err : pl_profile_stack(r->profile, parent, location, ret);
}

/* Any stack can be the parent of any other, and they are more than the caches hold. */
static void expect_stack(const struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields)
{
	uint64_t above = pl_decode(d);
	uint32_t parent = 0, location = 0;
	fields->stack_location = pl_decode_delta_u32(d, fields->stack_location);
	if (d->bad || above == 0 || above > id)
		return;
	if (above == id || pl_idmap_get(&r->stacks, id - (uint32_t)above, &parent))
		if (pl_idmap_get(&r->locations, fields->stack_location, &location))
			pl_profile_expect_stack(r->profile, parent, location);
}

static struct plumb_error *process_row(struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields,
				       uint32_t *ret)
{
	struct pl_process proc = {.pid = pl_decode_u32(d)};
	uint32_t program = pl_decode_u32(d), python = pl_decode_u32(d);
	if (d->bad)
		return &pl_err_corrupt;
	struct plumb_error *err = string_id(r, program, &proc.program);
	if (!err)
		err = string_id(r, python, &proc.python);
	*ret = (uint32_t)r->brief.len;
	return err ? err : pl_vec_push(&r->brief, proc) ? NULL : &pl_err_no_memory;
}

/* 1 + an id of the file, 0: none. */
static struct plumb_error *place_id(struct pl_restore *r, uint32_t place, uint32_t *ret)
{
	uint32_t location = 0;
	struct plumb_error *err = place ? location_id(r, place - 1, &location) : NULL;

	*ret = place && !err ? 1 + location : 0;
	return err;
}

static struct plumb_error *lock_row(struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields,
				    uint32_t *ret)
{
	struct pl_lock_state l = {.object = pl_decode(d)};
	uint64_t how = pl_decode(d), tid = pl_decode(d);
	uint32_t name = pl_decode_u32(d), location = pl_decode_u32(d), inside = pl_decode_u32(d);
	struct plumb_error *err = NULL;
	if (d->bad || how >> 1 >= PL_LOCK_HOLDERS)
		return &pl_err_corrupt;
	l.holder = (uint8_t)(how >> 1);
	l.recursive = how & 1;
	if (l.holder == PL_LOCK_HELD) {
		l.tid = tid;
		if ((err = string_id(r, name, &l.name)) || (err = place_id(r, location, &l.location)))
			return err;
		err = place_id(r, inside, &l.inside);
	}
	return err ? err : pl_profile_lock(r->profile, &l, ret);
}

/* What is no build-id, as it is lost or the file lies, says nothing. Nothing refers to such a row. */
static struct plumb_error *module_row(struct pl_restore *r, struct pl_decoder *d, uint32_t id, union fields *fields,
				      uint32_t *ret)
{
	struct pl_module m = {.file = pl_decode_u32(d)};
	m.build_id = pl_decode_u32(d);
	if (d->bad)
		return &pl_err_corrupt;
	*ret = 0;
	if (!pl_idmap_get(&r->strings, m.file, &m.file) || !pl_idmap_get(&r->strings, m.build_id, &m.build_id))
		return NULL;
	return pl_profile_module(r->profile, &m);
}

static struct plumb_error *restore_table(struct pl_restore *r, const struct table *t, struct pl_decoder *d)
{
	if (!pl_cursor_left(&d->cursor))
		return NULL;
	uint64_t id = pl_decode_u32(d), end = id + pl_decode_u32(d);
	if (d->bad || id < t->ids->next || end > UINT32_MAX || end - id > pl_cursor_left(&d->cursor))
		return &pl_err_corrupt;
	union fields fields = {0}, later_fields = {0};
	struct pl_decoder later = *d;
	for (uint64_t next = id; id < end; id++) {
		uint32_t value = 0;
		for (; t->expect && next < end && next < id + AHEAD; next++)
			t->expect(r, &later, (uint32_t)next, &later_fields);
		struct plumb_error *err = pl_restore_spend(r, PL_ROW_MEMORY);
		if (!err)
			err = t->row(r, d, (uint32_t)id, &fields, &value);
		if (err)
			return err;
		if (!pl_idmap_append(t->ids, (uint32_t)id, value))
			return &pl_err_no_memory;
	}
	return NULL;
}

static struct plumb_error *thread_row(struct pl_restore *r, struct pl_decoder *d)
{
	uint32_t id = pl_decode_u32(d), process = pl_decode_u32(d);
	struct pl_thread t = {.tid = pl_decode(d)};
	uint32_t name = pl_decode_u32(d);
	uint64_t flags = pl_decode(d);
	t.main = flags & 1;
	t.cpu_known = flags & 2;
	t.cpu_ns = pl_decode(d);
	if (d->bad)
		return &pl_err_corrupt;
	struct plumb_error *err = process_id(r, process, &t.process);
	if (!err)
		err = string_id(r, name, &t.name);
	if (r->again)
		t = (struct pl_thread){.process = t.process, .tid = t.tid}; /* changes nothing */
	uint32_t row = 0;
	if (!err)
		err = pl_profile_thread(r->profile, &t, &row);
	if (err)
		return err;
	return pl_map_set(&r->threads, id, 0, row) ? NULL : &pl_err_no_memory;
}

/* What finds a process again and changes nothing of it: what it was called at first, when its start is known, is not
 * what it is called now. */
static struct pl_process process_key(const struct pl_process *proc)
{
	struct pl_process key = {.pid = proc->pid, .start_ns = proc->start_ns, .host = proc->host};
	if (!proc->start_ns) {
		key.program = proc->program;
		key.python = proc->python;
	}
	return key;
}

static struct plumb_error *life_row(struct pl_restore *r, struct pl_decoder *d)
{
	uint32_t id = pl_decode_u32(d);
	struct pl_process proc = {.pid = pl_decode_u32(d)};
	proc.start_ns = pl_decode(d);
	proc.parent = pl_decode_u32(d);
	uint32_t program = pl_decode_u32(d), name = pl_decode_u32(d), python = pl_decode_u32(d);
	proc.came_ns = pl_decode(d);
	proc.ended = pl_decode(d) & 1;
	proc.ended_ns = pl_decode(d);
	if (d->bad)
		return &pl_err_corrupt;
	struct plumb_error *err = string_id(r, program, &proc.program);
	if (!err)
		err = string_id(r, name, &proc.name);
	if (!err)
		err = string_id(r, python, &proc.python);
	(void)pl_map_get(&r->hosts, id, 0, &proc.host);
	if (r->again)
		proc = process_key(&proc);
	uint32_t row = 0;
	if (!err)
		err = pl_profile_process(r->profile, &proc, &row);
	if (err)
		return err;
	return pl_map_set(&r->lives, id, 0, row) ? NULL : &pl_err_no_memory;
}

/* Before the row of the process itself: the host is a part of what names it. */
static struct plumb_error *host_row(struct pl_restore *r, struct pl_decoder *d)
{
	uint32_t id = pl_decode_u32(d), text = pl_decode_u32(d), host = 0;
	struct plumb_error *err = d->bad ? &pl_err_corrupt : string_id(r, text, &host);
	if (err)
		return err;
	return pl_map_set(&r->hosts, id, 0, host) ? NULL : &pl_err_no_memory;
}

/* A later row of a file adds to the one before, as merging does. Without its name a text is of no use. */
static struct plumb_error *source_row(struct pl_restore *r, struct pl_decoder *d)
{
	uint32_t id = pl_decode_u32(d), file = 0;
	uint64_t flags = pl_decode(d), len = pl_decode(d);
	const uint8_t *text = NULL;
	if (d->bad || len > PL_SOURCE_MAX_BYTES || !pl_cursor_bytes(&d->cursor, (size_t)len, &text))
		return &pl_err_corrupt;
	if (!pl_idmap_get(&r->strings, id, &file))
		return NULL;
	struct plumb_error *err = pl_restore_spend(r, len);
	if (err || r->again)
		return err;
	return pl_profile_source(r->profile, file, text, (size_t)len, flags & PL_SOURCE_CHANGED);
}

static struct plumb_error *wait_row(struct pl_restore *r, struct pl_decoder *d)
{
	uint32_t thread = pl_decode_u32(d), stack = pl_decode_u32(d);
	uint64_t what = pl_decode(d);
	struct pl_wait w = {.tasks = pl_decode(d)};

	w.task_ns = pl_decode(d);
	if (d->bad || what > UINT8_MAX)
		return &pl_err_corrupt;
	w.what = (uint8_t)what;
	struct plumb_error *err = pl_restore_thread_id(r, thread, &w.thread);
	if (!err)
		err = pl_restore_stack_id(r, stack, &w.stack);
	if (!err)
		err = pl_restore_spend_frames(r, w.stack);
	return err || r->again ? err : pl_profile_wait(r->profile, &w);
}

/* Each chunk has what has come since the one before. */
static struct plumb_error *restore_waits(struct pl_restore *r, struct pl_decoder *d)
{
	struct plumb_error *err = NULL;

	if (!pl_cursor_left(&d->cursor))
		return NULL;
	struct pl_waited more = {.looks = pl_decode(d)};
	more.covered_ns = pl_decode(d);
	more.lost_ns = pl_decode(d);
	if (d->bad)
		return &pl_err_corrupt;
	if (!r->again)
		pl_profile_waited(r->profile, &more);
	while (!err && pl_cursor_left(&d->cursor)) {
		err = pl_restore_spend(r, PL_ROW_MEMORY);
		if (!err)
			err = wait_row(r, d);
	}
	return err;
}

static struct plumb_error *event_of(struct pl_restore *r, uint32_t process, uint32_t thread, struct pl_event *e)
{
	struct plumb_error *err = string_id(r, e->name, &e->name);
	if (!err)
		err = string_id(r, e->labels, &e->labels);
	if (!err && process && !(err = process_id(r, process - 1, &e->process)))
		e->process++;
	if (!err && thread && !(err = pl_restore_thread_id(r, thread - 1, &e->thread)))
		e->thread++;
	return err;
}

static struct plumb_error *event_row(struct pl_restore *r, struct pl_decoder *d, uint64_t *time_ns)
{
	struct pl_event e = {.time_ns = *time_ns += (uint64_t)pl_decode_signed(d)};
	e.duration_ns = pl_decode(d);
	uint64_t kind = pl_decode(d);
	uint32_t process = pl_decode_u32(d), thread = pl_decode_u32(d);
	e.name = pl_decode_u32(d);
	e.labels = pl_decode_u32(d);
	if (d->bad || kind > UINT8_MAX)
		return &pl_err_corrupt;
	e.kind = (uint8_t)kind;
	struct plumb_error *err = event_of(r, process, thread, &e);
	if (err || r->again)
		return err;
	uint64_t *counted = &r->profile->meta.losses[PL_LOSS_EVENTS], lost = *counted;
	err = pl_profile_event(r->profile, &e);
	r->lost_events += *counted - lost;
	*counted = lost; /* as it was told: nobody knows whether totals will come that do not count it */
	return err;
}

static struct plumb_error *restore_events(struct pl_restore *r, struct pl_decoder *d)
{
	struct plumb_error *err = NULL;
	uint64_t time_ns = 0;

	while (!err && pl_cursor_left(&d->cursor)) {
		err = pl_restore_spend(r, PL_ROW_MEMORY);
		if (!err)
			err = event_row(r, d, &time_ns);
	}
	return err;
}

/* Number of rows, rows that are new or replace what is known. */
static struct plumb_error *restore_changing(struct pl_restore *r, struct pl_decoder *d,
					    struct plumb_error *(*row)(struct pl_restore *r, struct pl_decoder *d))
{
	if (!pl_cursor_left(&d->cursor))
		return NULL;
	uint64_t count = pl_decode(d);
	if (d->bad || count > pl_cursor_left(&d->cursor))
		return &pl_err_corrupt;
	for (; count; count--) {
		struct plumb_error *err = pl_restore_spend(r, PL_ROW_MEMORY);
		if (!err)
			err = row(r, d);
		if (err)
			return err;
	}
	return NULL;
}

static struct plumb_error *restore_meta_texts(struct pl_restore *r, struct pl_decoder *d, struct pl_meta *m)
{
	uint32_t *texts[] = {&m->command, &m->engine, &m->plumb_version, &m->host};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		uint32_t id = pl_decode_u32(d);
		struct plumb_error *err = d->bad ? &pl_err_corrupt : string_id(r, id, texts[i]);
		if (err)
			return err;
	}
	return NULL;
}

static void restore_counts(struct pl_decoder *d, uint64_t *ret, uint64_t known)
{
	uint64_t count = pl_decode(d);
	for (uint64_t i = 0; i < count && !d->bad; i++) {
		uint64_t n = pl_decode(d);
		if (i < known)
			ret[i] = n;
	}
}

/* What was added later: older recordings end before it. */
static struct plumb_error *restore_late_meta(struct pl_restore *r, struct pl_decoder *d, struct pl_meta *m)
{
	if (pl_cursor_left(&d->cursor))
		m->max_overhead_ppm = pl_decode_u32(d);
	if (!pl_cursor_left(&d->cursor))
		return NULL;
	m->taken_ns = pl_decode(d);
	m->missed_ns = pl_decode(d);
	restore_counts(d, m->refused, PL_REFUSALS);
	uint32_t why = pl_decode_u32(d);
	uint64_t flags = pl_cursor_left(&d->cursor) ? pl_decode(d) : 0;
	m->untimed = flags & PL_META_UNTIMED;
	m->counted = flags & PL_META_COUNTED;
	m->imported = flags & PL_META_IMPORTED;
	m->selected = flags & PL_META_SELECTED;
	m->native_threads = flags & PL_META_NATIVE_THREADS;
	r->incomplete = flags & PL_META_INCOMPLETE;
	m->sources_left_out = pl_cursor_left(&d->cursor) ? pl_decode(d) : 0;
	m->damaged_parts = pl_cursor_left(&d->cursor) ? pl_decode(d) : 0;
	m->max_still_ppm = pl_cursor_left(&d->cursor) ? pl_decode_u32(d) : 0;
	uint32_t own = pl_cursor_left(&d->cursor) ? pl_decode_u32(d) : 0;
	m->halted_ns = pl_cursor_left(&d->cursor) ? pl_decode(d) : 0;
	uint64_t native = pl_cursor_left(&d->cursor) ? pl_decode(d) : 0;
	m->used_cpu_ns = pl_cursor_left(&d->cursor) ? pl_decode(d) : 0;
	m->native = native < PL_NATIVE_CHOICES ? (uint8_t)native : PL_NATIVE_AS_RECORDED;
	struct plumb_error *err = d->bad ? &pl_err_corrupt : string_id(r, why, &m->refused_why);
	return err ? err : string_id(r, own, &m->own);
}

static struct plumb_error *restore_collector(struct pl_decoder *d, struct pl_collector *ret)
{
	struct pl_collector c = {0};
	uint64_t bits, flags;

	if (!pl_cursor_left(&d->cursor))
		return NULL;
	flags = pl_decode(d);
	c.skip_idle = flags & PL_RUN_SKIP_IDLE;
	c.measured = flags & PL_RUN_MEASURED;
	c.known = flags & PL_RUN_KNOWN;
	for (size_t i = 0; pl_collector_figure(&c, i); i++) {
		bits = pl_decode(d);
		memcpy(pl_collector_figure(&c, i), &bits, sizeof bits);
	}
	if (d->bad)
		return &pl_err_corrupt;
	*ret = c;
	return NULL;
}

/* Running totals: those of the last chunk stand. More losses than we know are of a newer plumb and left out. */
static struct plumb_error *restore_meta(struct pl_restore *r, struct pl_decoder *d, struct pl_decoder *collector)
{
	if (!pl_cursor_left(&d->cursor))
		return NULL;
	struct pl_meta m = {.start_real_ns = pl_decode(d)};
	m.duration_ns = pl_decode(d);
	m.period_ns = pl_decode(d);
	m.seed = pl_decode(d);
	uint64_t mode = pl_decode(d);
	m.jitter = pl_decode(d) != 0;
	m.ticks = pl_decode(d);
	m.stops = pl_decode(d);
	m.stopped_ns = pl_decode(d);
	m.profiler_cpu_ns = pl_decode(d);
	struct plumb_error *err = restore_meta_texts(r, d, &m);
	if (err)
		return err;
	restore_counts(d, m.losses, PL_LOSSES);
	err = restore_late_meta(r, d, &m);
	if (!err)
		err = restore_collector(collector, &m.collector);
	if (err)
		return err;
	if (d->bad || mode >= PL_MODES)
		return &pl_err_corrupt;
	m.mode = (uint8_t)mode;
	if (!r->again)
		r->profile->meta = m;
	return NULL;
}

static struct plumb_error *restore_pieces(struct pl_decoder *d, struct pl_axis *a)
{
	uint64_t last = 0, count = pl_decode(d);
	if (d->bad || count > PL_BATCHES)
		return &pl_err_corrupt;
	a->count = (uint32_t)count;
	for (uint32_t b = 0; b < a->count; b++)
		a->piece[b] = last += pl_decode(d);
	return NULL;
}

static struct plumb_error *restore_spans(struct pl_restore *r, struct pl_decoder *d, struct pl_axis *a)
{
	PL_VEC(struct pl_recorded) spans = {0};
	struct plumb_error *err = NULL;
	uint64_t last = 0;
	while (!err && !d->bad && pl_cursor_left(&d->cursor)) {
		struct pl_recorded s = {.from_ns = last + pl_decode(d)};
		s.to_ns = last = s.from_ns + pl_decode(d);
		err = pl_restore_spend(r, sizeof s);
		if (!err && !pl_vec_push(&spans, s))
			err = &pl_err_no_memory;
	}
	a->spans = spans.data;
	a->span_count = spans.len;
	return err || !d->bad ? err : &pl_err_corrupt;
}

/* As the last chunk has it; whether it can be that of the samples shows at the end (pl_axis_set). What is damage is so
 * each time it is read: the rest of the chunk is not taken. */
static struct plumb_error *restore_axis(struct pl_restore *r, struct pl_decoder *d)
{
	struct pl_axis a = {.merged = true};
	if (!pl_cursor_left(&d->cursor))
		return NULL;
	uint64_t shift = pl_decode(d);
	struct plumb_error *err = shift < 64 ? restore_pieces(d, &a) : &pl_err_corrupt;
	if (!err)
		err = restore_spans(r, d, &a);
	if (err || r->again) {
		pl_axis_deinit(&a);
		return err;
	}
	pl_axis_deinit(&r->axis);
	r->axis = a;
	r->axis_shift = (unsigned)shift;
	return NULL;
}

static struct pl_decoder *present(struct pl_decoder *section)
{
	return pl_cursor_left(&section->cursor) ? section : NULL;
}

struct plumb_error *pl_restore_tables(struct pl_restore *r, struct pl_decoder sections[PL_SECTIONS])
{
	const struct table tables[] = {
		{PL_SECTION_STRINGS, &r->strings, string_row, NULL},
		{PL_SECTION_FUNCTIONS, &r->functions, function_row, NULL},
		{PL_SECTION_LOCATIONS, &r->locations, location_row, NULL},
		{PL_SECTION_STACKS, &r->stacks, stack_row, expect_stack},
		{PL_SECTION_PROCESSES, &r->processes, process_row, NULL},
		{PL_SECTION_LOCKS, &r->locks, lock_row, NULL},
		{PL_SECTION_MODULES, &r->modules, module_row, NULL},
	};
	r->opcodes = present(&sections[PL_SECTION_OPCODES]);
	r->labels = present(&sections[PL_SECTION_LABELS]);
	r->unnamed = present(&sections[PL_SECTION_UNNAMED]);
	r->plumbing = present(&sections[PL_SECTION_PLUMBING]);
	r->debug = present(&sections[PL_SECTION_DEBUG]);
	r->addresses = present(&sections[PL_SECTION_ADDRESSES]);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		struct plumb_error *err = restore_table(r, &tables[i], &sections[tables[i].tag]);
		if (err)
			return err;
	}
	struct plumb_error *err = restore_changing(r, &sections[PL_SECTION_HOSTS], host_row);
	if (!err)
		err = restore_changing(r, &sections[PL_SECTION_LIVES], life_row);
	if (!err)
		err = restore_changing(r, &sections[PL_SECTION_THREADS], thread_row);
	if (!err)
		err = restore_changing(r, &sections[PL_SECTION_SOURCES], source_row);
	if (!err)
		err = restore_waits(r, &sections[PL_SECTION_WAITS]);
	if (!err)
		err = restore_events(r, &sections[PL_SECTION_EVENTS]);
	if (!err)
		err = restore_axis(r, &sections[PL_SECTION_AXIS]);
	return err ? err : restore_meta(r, &sections[PL_SECTION_META], &sections[PL_SECTION_COLLECTOR]);
}
