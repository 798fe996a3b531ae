/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the tables into sections (layer capture). Reads the profile, keeps nothing of it.
 *
 * A row is written as differences to the row before it, which are small numbers, often the same ones: a new chain of
 * calls is "parent one before me, location one after its predecessor's" over and over. */
#include "tables.h"

#include <string.h>

/* One table on its way into a section. */
struct table {
	const struct plumb_profile *profile;
	enum pl_section tag;
	uint32_t from, count; /* first new row, rows in all */
	/** Write row @p id; the row before it is id - 1 unless @p first. */
	void (*row)(struct pl_encoder *e, const struct plumb_profile *p, uint32_t id, bool first);
};

static void string_row(struct pl_encoder *e, const struct plumb_profile *p, uint32_t id, bool first)
{
	size_t len = 0;
	const char *text = pl_strtab_get(p->strings, id, &len);
	if (len > PL_STRING_MAX_BYTES)
		len = PL_STRING_MAX_BYTES;
	pl_encode(e, len);
	pl_encode_bytes(e, text, len);
}

static void function_row(struct pl_encoder *e, const struct plumb_profile *p, uint32_t id, bool first)
{
	static const struct pl_function none;
	const struct pl_function *f = &p->functions[id], *last = first ? &none : f - 1;
	pl_encode_delta(e, f->name, last->name);
	pl_encode_delta(e, f->qualname, f->name);
	pl_encode_delta(e, f->file, last->file);
	pl_encode_delta(e, f->firstline, last->firstline);
	pl_encode(e, f->origin);
}

static void location_row(struct pl_encoder *e, const struct plumb_profile *p, uint32_t id, bool first)
{
	static const struct pl_location none;
	const struct pl_location *l = &p->locations[id], *last = first ? &none : l - 1;
	pl_encode_delta(e, l->function, last->function);
	pl_encode_signed(e, (int64_t)l->line - last->line);
	pl_encode_signed(e, (int64_t)l->end_line - l->line);
	pl_encode_signed(e, l->column);
	pl_encode_signed(e, (int64_t)l->end_column - l->column);
}

static uint64_t opcode_of(const struct plumb_profile *p, uint32_t location)
{
	return p->locations[location].opcode;
}

static uint64_t labels_of(const struct plumb_profile *p, uint32_t function)
{
	return p->functions[function].labels;
}

static uint64_t unnamed_of(const struct plumb_profile *p, uint32_t function)
{
	return p->functions[function].unnamed;
}

static uint64_t plumbing_of(const struct plumb_profile *p, uint32_t function)
{
	return p->functions[function].plumbing;
}

static uint64_t address_of(const struct plumb_profile *p, uint32_t location)
{
	return p->locations[location].address;
}

/* A number more for each row of a table that was just written; nothing if all are 0. */
static struct plumb_error *encode_column(const struct plumb_profile *p, enum pl_section tag, uint32_t from, uint32_t to,
					 uint64_t (*value_of)(const struct plumb_profile *p, uint32_t id),
					 struct pl_buf *raw)
{
	struct pl_buf section = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder s = {.buf = &section}, out = {.buf = raw};
	bool any = false;

	for (uint32_t id = from; id < to; id++) {
		pl_encode(&s, value_of(p, id));
		any = any || value_of(p, id);
	}
	out.err = s.err;
	if (any)
		pl_encode_section(&out, tag, &section);
	pl_buf_deinit(&section);
	return out.err;
}

/* What debug information says: of the functions that were just written the file with their lines, of the locations
 * whether they are inlined. Nothing if it says nothing. */
static struct plumb_error *encode_debug(const struct plumb_profile *p, const struct pl_table_marks *m,
					const struct pl_table_marks *to, struct pl_buf *raw)
{
	struct pl_buf section = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder s = {.buf = &section}, out = {.buf = raw};
	bool any = false;

	for (uint32_t id = m->functions; id < to->functions; id++) {
		pl_encode(&s, p->functions[id].source);
		any = any || p->functions[id].source;
	}
	for (uint32_t id = m->locations; id < to->locations; id++) {
		pl_encode(&s, p->locations[id].inlined);
		any = any || p->locations[id].inlined;
	}
	out.err = s.err;
	if (any)
		pl_encode_section(&out, PL_SECTION_DEBUG, &section);
	pl_buf_deinit(&section);
	return out.err;
}

static void stack_row(struct pl_encoder *e, const struct plumb_profile *p, uint32_t id, bool first)
{
	const struct pl_stack *s = &p->stacks[id];
	pl_encode(e, id - s->parent);
	pl_encode_delta(e, s->location, first ? 0 : s[-1].location);
}

static void process_row(struct pl_encoder *e, const struct plumb_profile *p, uint32_t id, bool first)
{
	const struct pl_process *proc = &p->processes[id]; /* all that the first readers of the format know of */
	pl_encode(e, proc->pid);
	pl_encode(e, proc->program);
	pl_encode(e, proc->python);
}

static void lock_row(struct pl_encoder *e, const struct plumb_profile *p, uint32_t id, bool first)
{
	const struct pl_lock_state *l = &p->locks[id];
	pl_encode(e, l->object);
	pl_encode(e, (uint32_t)l->holder << 1 | (l->recursive ? 1 : 0));
	pl_encode(e, l->tid);
	pl_encode(e, l->name);
	pl_encode(e, l->location);
	pl_encode(e, l->inside);
}

static void module_row(struct pl_encoder *e, const struct plumb_profile *p, uint32_t id, bool first)
{
	pl_encode(e, p->modules[id].file);
	pl_encode(e, p->modules[id].build_id);
}

static void life_row(struct pl_encoder *e, const struct pl_process *proc, uint32_t id)
{
	pl_encode(e, id);
	pl_encode(e, proc->pid);
	pl_encode(e, proc->start_ns);
	pl_encode(e, proc->parent);
	pl_encode(e, proc->program);
	pl_encode(e, proc->name);
	pl_encode(e, proc->python);
	pl_encode(e, proc->came_ns);
	pl_encode(e, proc->ended ? 1 : 0);
	pl_encode(e, proc->ended_ns);
}

static void thread_row(struct pl_encoder *e, const struct pl_thread *t, uint32_t id)
{
	pl_encode(e, id);
	pl_encode(e, t->process);
	pl_encode(e, t->tid);
	pl_encode(e, t->name);
	pl_encode(e, (t->main ? 1 : 0) | (t->cpu_known ? 2 : 0));
	pl_encode(e, t->cpu_ns);
}

/* First id, number of rows, rows. *to_ret is set to the first row that is still to be written. */
static struct plumb_error *encode_table(const struct table *t, struct pl_buf *raw, uint32_t *to_ret)
{
	struct pl_buf rows = PL_BUF_INIT(PL_SECTION_MAX_BYTES), section = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder r = {.buf = &rows}, s = {.buf = &section}, out = {.buf = raw};
	uint32_t id = t->from;
	while (id < t->count && raw->len + rows.len < PL_TABLES_MAX_BYTES && !r.err) {
		t->row(&r, t->profile, id, id == t->from);
		id++;
	}
	if (id > t->from) {
		pl_encode(&s, t->from);
		pl_encode(&s, id - t->from);
		pl_encode_bytes(&s, rows.data, rows.len);
	}
	out.err = r.err ? r.err : s.err;
	pl_encode_section(&out, t->tag, &section);
	pl_buf_deinit(&rows);
	pl_buf_deinit(&section);
	if (!out.err)
		*to_ret = id;
	return out.err;
}

static bool same_thread(const struct pl_thread *a, const struct pl_thread *b)
{
	return a->process == b->process && a->tid == b->tid && a->name == b->name && a->main == b->main &&
	       a->cpu_ns == b->cpu_ns && a->cpu_known == b->cpu_known;
}

struct plumb_error *pl_rows_encode(const struct pl_encoder *rows, uint32_t count, enum pl_section tag,
				   struct pl_buf *raw, struct plumb_error *err)
{
	struct pl_buf section = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder s = {.buf = &section}, out = {.buf = raw, .err = err};

	if (count) {
		pl_encode(&s, count);
		pl_encode_bytes(&s, rows->buf->data, rows->buf->len);
	}
	if (!out.err)
		out.err = rows->err ? rows->err : s.err;
	pl_encode_section(&out, tag, &section);
	pl_buf_deinit(&section);
	return out.err;
}

static struct plumb_error *encode_threads(const struct plumb_profile *p, const struct pl_table_marks *m,
					  struct pl_buf *raw, struct pl_table_marks *to)
{
	struct pl_buf rows = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder r = {.buf = &rows};
	struct plumb_error *err = NULL;
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->thread_count && !err; i++) {
		if (i >= m->threads.len || !same_thread(&p->threads[i], &m->threads.data[i])) {
			thread_row(&r, &p->threads[i], i);
			count++;
		}
		if (!pl_vec_push(&to->threads, p->threads[i]))
			err = &pl_err_no_memory;
	}
	err = pl_rows_encode(&r, count, PL_SECTION_THREADS, raw, err);
	pl_buf_deinit(&rows);
	return err;
}

static bool same_life(const struct pl_process *a, const struct pl_process *b)
{
	return a->parent == b->parent && a->program == b->program && a->name == b->name && a->python == b->python &&
	       a->came_ns == b->came_ns && a->ended == b->ended && a->ended_ns == b->ended_ns;
}

static struct plumb_error *encode_lives(const struct plumb_profile *p, const struct pl_table_marks *m,
					struct pl_buf *raw, struct pl_table_marks *to)
{
	struct pl_buf rows = PL_BUF_INIT(PL_SECTION_MAX_BYTES), host_rows = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder r = {.buf = &rows}, h = {.buf = &host_rows};
	struct plumb_error *err = NULL;
	uint32_t count = 0, hosts = 0;
	for (uint32_t i = 0; i < p->process_count && !err; i++) {
		if (i >= m->lives.len || !same_life(&p->processes[i], &m->lives.data[i])) {
			life_row(&r, &p->processes[i], i);
			count++;
		}
		if (i >= m->lives.len && p->processes[i].host) {
			pl_encode(&h, i);
			pl_encode(&h, p->processes[i].host);
			hosts++;
		}
		if (!pl_vec_push(&to->lives, p->processes[i]))
			err = &pl_err_no_memory;
	}
	err = pl_rows_encode(&r, count, PL_SECTION_LIVES, raw, err);
	err = pl_rows_encode(&h, hosts, PL_SECTION_HOSTS, raw, err);
	pl_buf_deinit(&rows);
	pl_buf_deinit(&host_rows);
	return err;
}

/* What has come since. Whoever counts from anew has less than before: then all of it has come. */
static uint64_t more(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

static struct plumb_error *encode_waits(const struct plumb_profile *p, const struct pl_table_marks *m,
					struct pl_buf *raw, struct pl_table_marks *to)
{
	static const struct pl_wait none;
	struct pl_buf section = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder e = {.buf = &section}, out = {.buf = raw};

	pl_encode(&e, more(p->waited.looks, m->waited.looks));
	pl_encode(&e, more(p->waited.covered_ns, m->waited.covered_ns));
	pl_encode(&e, more(p->waited.lost_ns, m->waited.lost_ns));
	for (uint32_t i = 0; i < p->wait_count && !e.err; i++) {
		const struct pl_wait *w = &p->waits[i], *before = i < m->waits.len ? &m->waits.data[i] : &none;

		if (before->stack != w->stack || before->thread != w->thread || before->what != w->what)
			before = &none;
		if (w->tasks != before->tasks || w->task_ns != before->task_ns) {
			pl_encode(&e, w->thread);
			pl_encode(&e, w->stack);
			pl_encode(&e, w->what);
			pl_encode(&e, more(w->tasks, before->tasks));
			pl_encode(&e, more(w->task_ns, before->task_ns));
		}
		if (!pl_vec_push(&to->waits, *w))
			e.err = &pl_err_no_memory;
	}
	out.err = e.err;
	if (p->waited.looks || p->wait_count)
		pl_encode_section(&out, PL_SECTION_WAITS, &section);
	to->waited = p->waited;
	pl_buf_deinit(&section);
	return out.err;
}

static struct plumb_error *keep_changing(const struct pl_table_marks *m, struct pl_table_marks *to)
{
	for (size_t i = 0; i < m->threads.len; i++) {
		if (!pl_vec_push(&to->threads, m->threads.data[i]))
			return &pl_err_no_memory;
	}
	for (size_t i = 0; i < m->lives.len; i++) {
		if (!pl_vec_push(&to->lives, m->lives.data[i]))
			return &pl_err_no_memory;
	}
	for (size_t i = 0; i < m->waits.len; i++) {
		if (!pl_vec_push(&to->waits, m->waits.data[i]))
			return &pl_err_no_memory;
	}
	return NULL;
}

/* What changes is written when all else is: it refers to processes and strings. Until then it stays as it was. */
static struct plumb_error *encode_changing(const struct plumb_profile *p, const struct pl_table_marks *m,
					   struct pl_buf *raw, struct pl_table_marks *to, bool whole)
{
	if (!whole)
		return keep_changing(m, to);
	struct plumb_error *err = encode_lives(p, m, raw, to);
	if (!err)
		err = encode_threads(p, m, raw, to);
	return err ? err : encode_waits(p, m, raw, to);
}

void pl_table_marks_init(struct pl_table_marks *m)
{
	*m = (struct pl_table_marks){.strings = 1, .stacks = 1};
}

void pl_table_marks_deinit(struct pl_table_marks *m)
{
	pl_vec_deinit(&m->threads);
	pl_vec_deinit(&m->lives);
	pl_vec_deinit(&m->waits);
}

struct plumb_error *pl_tables_encode(const struct plumb_profile *p, const struct pl_table_marks *m, struct pl_buf *raw,
				     struct pl_table_marks *to, bool *whole_ret)
{
	*to = *m;
	to->threads.data = NULL;
	to->threads.len = to->threads.cap = 0;
	to->lives.data = NULL;
	to->lives.len = to->lives.cap = 0;
	to->waits.data = NULL;
	to->waits.len = to->waits.cap = 0;
	const struct table tables[] = {
		{p, PL_SECTION_STRINGS, m->strings, pl_strtab_count(p->strings), string_row},
		{p, PL_SECTION_FUNCTIONS, m->functions, p->function_count, function_row},
		{p, PL_SECTION_LOCATIONS, m->locations, p->location_count, location_row},
		{p, PL_SECTION_STACKS, m->stacks, p->stack_count, stack_row},
		{p, PL_SECTION_PROCESSES, m->processes, p->process_count, process_row},
		{p, PL_SECTION_LOCKS, m->locks, p->lock_count, lock_row},
		{p, PL_SECTION_MODULES, m->modules, p->module_count, module_row},
	};
	uint32_t *ends[] = {&to->strings,   &to->functions, &to->locations, &to->stacks,
			    &to->processes, &to->locks,	    &to->modules};
	bool whole = true;
	for (size_t i = 0; i < sizeof tables / sizeof *tables && whole; i++) {
		struct plumb_error *err = encode_table(&tables[i], raw, ends[i]);
		if (err)
			return err;
		whole = *ends[i] == tables[i].count;
	}
	struct plumb_error *err = encode_column(p, PL_SECTION_LABELS, m->functions, to->functions, labels_of, raw);
	if (!err)
		err = encode_column(p, PL_SECTION_UNNAMED, m->functions, to->functions, unnamed_of, raw);
	if (!err)
		err = encode_column(p, PL_SECTION_PLUMBING, m->functions, to->functions, plumbing_of, raw);
	if (!err)
		err = encode_column(p, PL_SECTION_OPCODES, m->locations, to->locations, opcode_of, raw);
	if (!err)
		err = encode_debug(p, m, to, raw);
	if (!err)
		err = encode_column(p, PL_SECTION_ADDRESSES, m->locations, to->locations, address_of, raw);
	if (!err)
		err = encode_changing(p, m, raw, to, whole);
	*whole_ret = whole;
	return err;
}

/* Nothing of what plumb itself recorded. */
static void encode_collector(const struct pl_collector *c, struct pl_encoder *out)
{
	struct pl_buf section = PL_BUF_INIT(1024);
	struct pl_encoder e = {.buf = &section, .err = out->err};
	struct pl_collector copy = *c;
	uint64_t bits;

	if (!c->known && !c->skip_idle)
		return;
	pl_encode(&e, (c->skip_idle ? PL_RUN_SKIP_IDLE : 0) | (c->measured ? PL_RUN_MEASURED : 0) |
			      (c->known ? PL_RUN_KNOWN : 0));
	for (size_t i = 0; pl_collector_figure(&copy, i); i++) {
		memcpy(&bits, pl_collector_figure(&copy, i), sizeof bits);
		pl_encode(&e, bits);
	}
	out->err = e.err;
	pl_encode_section(out, PL_SECTION_COLLECTOR, &section);
	pl_buf_deinit(&section);
}

static void encode_meta(const struct pl_meta *m, struct pl_encoder *out)
{
	struct pl_buf section = PL_BUF_INIT(1024);
	struct pl_encoder e = {.buf = &section, .err = out->err};
	pl_encode(&e, m->start_real_ns);
	pl_encode(&e, m->duration_ns);
	pl_encode(&e, m->period_ns);
	pl_encode(&e, m->seed);
	pl_encode(&e, m->mode);
	pl_encode(&e, m->jitter ? 1 : 0);
	pl_encode(&e, m->ticks);
	pl_encode(&e, m->stops);
	pl_encode(&e, m->stopped_ns);
	pl_encode(&e, m->profiler_cpu_ns);
	pl_encode(&e, m->command);
	pl_encode(&e, m->engine);
	pl_encode(&e, m->plumb_version);
	pl_encode(&e, m->host);
	pl_encode(&e, PL_LOSSES);
	for (int i = 0; i < PL_LOSSES; i++)
		pl_encode(&e, m->losses[i]);
	pl_encode(&e, m->max_overhead_ppm);
	pl_encode(&e, m->taken_ns);
	pl_encode(&e, m->missed_ns);
	pl_encode(&e, PL_REFUSALS);
	for (int i = 0; i < PL_REFUSALS; i++)
		pl_encode(&e, m->refused[i]);
	pl_encode(&e, m->refused_why);
	pl_encode(&e, (m->untimed ? PL_META_UNTIMED : 0) | (m->counted ? PL_META_COUNTED : 0) |
			      (m->imported ? PL_META_IMPORTED : 0) | (m->selected ? PL_META_SELECTED : 0) |
			      (m->native_threads ? PL_META_NATIVE_THREADS : 0) |
			      (m->complete ? 0 : PL_META_INCOMPLETE));
	pl_encode(&e, m->sources_left_out);
	pl_encode(&e, m->damaged_parts);
	pl_encode(&e, m->max_still_ppm);
	pl_encode(&e, m->own);
	pl_encode(&e, m->halted_ns);
	pl_encode(&e, m->native);
	pl_encode(&e, m->used_cpu_ns);
	out->err = e.err;
	pl_encode_section(out, PL_SECTION_META, &section);
	pl_buf_deinit(&section);
}

static void encode_axis(const struct plumb_profile *p, struct pl_encoder *out)
{
	struct pl_buf section = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder e = {.buf = &section, .err = out->err};
	const struct pl_axis *a = &p->axis;
	uint64_t last = 0;

	if (!a->merged)
		return;
	pl_encode(&e, (uint64_t)__builtin_ctzll(p->batch_ns));
	pl_encode(&e, a->count);
	for (uint32_t b = 0; b < a->count; b++) {
		pl_encode(&e, a->piece[b] - last);
		last = a->piece[b];
	}
	last = 0;
	for (size_t i = 0; i < a->span_count; i++) {
		pl_encode(&e, a->spans[i].from_ns - last);
		pl_encode(&e, a->spans[i].to_ns - a->spans[i].from_ns);
		last = a->spans[i].to_ns;
	}
	out->err = e.err;
	pl_encode_section(out, PL_SECTION_AXIS, &section);
	pl_buf_deinit(&section);
}

struct plumb_error *pl_whole_encode(const struct plumb_profile *p, struct pl_buf *raw)
{
	struct pl_encoder out = {.buf = raw};

	encode_meta(&p->meta, &out);
	encode_collector(&p->meta.collector, &out);
	encode_axis(p, &out);
	return out.err;
}
