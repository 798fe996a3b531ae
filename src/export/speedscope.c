/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope's own format: one sampled profile for each thread, and where there are several one of all of them. Layer
 * export; any thread.
 *
 * A sample is its frames, from the outermost, as indices into one list; neighbours with the same stack are one sample,
 * for a viewer that draws two days of a sleeping thread one by one runs out of memory. Weights are nanoseconds; where
 * the profile knows only numbers of samples they are those, and the unit is "none". The profile of all threads is made
 * of distinct stacks: its order says nothing.
 *
 * What the format has no place for, but this program reads again (import/from_speedscope.c), stands in members named
 * "plumb", and of frames "origin", "plain_name" and the like, which other readers pass over. */
#include <stdlib.h>

#include "buf.h"
#include "formats.h"
#include "frame_name.h"
#include "index.h"
#include "json.h"
#include "size_limit.h"
#include "spool.h"
#include "words.h"

#define FRAMES_MAX    1e10 /* of all runs: no viewer takes so much, and it would fill the disk */
#define FRAMES_BASE   1e8  /* of a small recording; and for each of its bytes, of which a sample takes some: */
#define FRAMES_A_BYTE 1e4
#define SCHEMA	      "https://www.speedscope.app/file-format-schema.json"

struct stack_sum {
	uint64_t samples, weight_ns;
};

struct writer {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	struct pl_json j;
	struct pl_spool *spool;
	pl_thread_rows threads;	  /* the busiest first */
	struct stack_sum *stacks; /* over all threads */
	bool weighted;		  /* weights are times, not numbers of samples */
	uint64_t frames;	  /* that there are to write */
	uint32_t *path;		  /* of one stack */
};

/* A run of samples with one stack. */
struct run {
	uint32_t stack;
	uint64_t samples, weight_ns;
};

/* One of the columns of a profile: what is written of each run. */
struct column {
	struct writer *w;
	void (*write)(struct writer *w, const struct run *run);
	struct run run;
	uint64_t sum; /* of all weights */
};

static uint64_t weight_of(const struct writer *w, const struct run *run)
{
	return w->weighted ? run->weight_ns : run->samples;
}

static void write_stack(struct writer *w, const struct run *run)
{
	uint32_t depth = 0;

	for (uint32_t s = run->stack; s; s = w->p->stacks[s].parent)
		w->path[depth++] = w->p->stacks[s].location;
	pl_json_array(&w->j);
	while (depth)
		pl_json_u64(&w->j, w->path[--depth]);
	pl_json_array_end(&w->j);
}

static void write_weight(struct writer *w, const struct run *run)
{
	pl_json_u64(&w->j, weight_of(w, run));
}

static void write_count(struct writer *w, const struct run *run)
{
	pl_json_u64(&w->j, run->samples);
}

/* Writes nothing. */
static void count_frames(struct writer *w, const struct run *run)
{
	w->frames = pl_sum_u64(w->frames, w->p->stacks[run->stack].depth);
}

static void end_run(struct column *c)
{
	if (c->run.samples == 0)
		return;
	c->sum += weight_of(c->w, &c->run);
	c->write(c->w, &c->run);
	c->run = (struct run){0};
}

static void add_to_run(struct column *c, uint32_t stack, uint64_t samples, uint64_t weight_ns)
{
	if (c->run.stack != stack)
		end_run(c);
	c->run.stack = stack;
	c->run.samples += samples;
	c->run.weight_ns += weight_ns;
}

static struct plumb_error *add_sample(void *ctx, const struct pl_sample *s)
{
	add_to_run(ctx, s->stack, 1 + s->extra, s->weight_ns);
	return NULL;
}

/* Of @p thread, or of all threads if that is NULL. */
static struct plumb_error *each_run(struct writer *w, const struct pl_thread_row *thread,
				    void (*write)(struct writer *, const struct run *), uint64_t *sum_ret)
{
	struct column c = {.w = w, .write = write};
	struct plumb_error *err = NULL;

	if (thread)
		err = pl_spool_each(w->spool, thread->thread, add_sample, &c);
	for (uint32_t i = 0; !thread && i < w->p->stack_count; i++) {
		if (w->stacks[i].samples)
			add_to_run(&c, i, w->stacks[i].samples, w->stacks[i].weight_ns);
	}
	end_run(&c);
	*sum_ret = c.sum;
	return err;
}

static struct plumb_error *write_column(struct writer *w, const char *key, const struct pl_thread_row *thread,
					void (*write)(struct writer *, const struct run *), uint64_t *sum_ret)
{
	pl_json_key(&w->j, key);
	pl_json_array(&w->j);
	struct plumb_error *err = each_run(w, thread, write, sum_ret);
	pl_json_array_end(&w->j);
	return err;
}

static struct plumb_error *write_columns(struct writer *w, const struct pl_thread_row *thread)
{
	uint64_t end = 0, counts;
	struct plumb_error *err = write_column(w, "samples", thread, write_stack, &end);

	if (!err)
		err = write_column(w, "weights", thread, write_weight, &end);
	if (err)
		return err;
	pl_json_key_u64(&w->j, "startValue", 0);
	pl_json_key_u64(&w->j, "endValue", end);
	if (!thread || !w->weighted)
		return NULL;
	return write_column(w, "plumb_counts", thread, write_count, &counts);
}

static void key_text(struct writer *w, const char *key, uint32_t string)
{
	struct pl_text t = pl_text_of(w->p, string);

	pl_json_key_strn(&w->j, key, t.s, t.len);
}

/* The title of a profile is the only place for its thread and process. */
static struct plumb_error *write_title(struct writer *w, const struct pl_thread *t)
{
	const struct pl_process *proc = &w->p->processes[t->process];
	struct pl_text thread = pl_text_of(w->p, t->name), process = pl_text_of(w->p, proc->name);
	struct pl_buf b = PL_BUF_INIT((size_t)1 << 32);
	struct plumb_error *err = NULL;

	if (w->p->process_count > 1) {
		err = pl_buf_add(&b, process.s, process.len);
		if (!err)
			err = pl_buf_printf(&b, "%s%u: ", process.len ? " " : "", (unsigned)proc->pid);
	}
	if (!err)
		err = pl_buf_add(&b, thread.s, thread.len);
	if (!err)
		err = pl_buf_printf(&b, "%s%llu", thread.len ? " " : "thread ", (unsigned long long)t->tid);
	if (!err)
		pl_json_key_strn(&w->j, "name", (const char *)b.data, b.len);
	pl_buf_deinit(&b);
	return err;
}

static void write_identity(struct writer *w, const struct pl_thread *t)
{
	pl_json_key(&w->j, "plumb");
	pl_json_object(&w->j);
	pl_json_key_u64(&w->j, "process", t->process);
	pl_json_key_u64(&w->j, "tid", t->tid);
	key_text(w, "thread", t->name);
	pl_json_key_bool(&w->j, "main", t->main);
	pl_json_object_end(&w->j);
}

static struct plumb_error *write_profile(struct writer *w, const struct pl_thread_row *thread)
{
	const struct pl_thread *t = thread ? &w->p->threads[thread->thread] : NULL;
	struct plumb_error *err = NULL;

	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "type", "sampled");
	if (t) {
		err = write_title(w, t);
		write_identity(w, t);
	} else {
		pl_json_key_str(&w->j, "name", "all threads");
		pl_json_key(&w->j, "plumb");
		pl_json_object(&w->j);
		pl_json_key_bool(&w->j, "sum", true);
		pl_json_object_end(&w->j);
	}
	pl_json_key_str(&w->j, "unit", w->weighted ? "nanoseconds" : "none");
	if (!err)
		err = write_columns(w, thread);
	pl_json_object_end(&w->j);
	return err;
}

static struct plumb_error *write_profiles(struct writer *w)
{
	struct plumb_error *err = NULL;

	pl_json_key_u64(&w->j, "activeProfileIndex", 0); /* the busiest */
	pl_json_key(&w->j, "profiles");
	pl_json_array(&w->j);
	for (size_t i = 0; i < w->threads.len && !err; i++)
		err = write_profile(w, &w->threads.data[i]);
	if (!err && w->threads.len != 1)
		err = write_profile(w, NULL);
	pl_json_array_end(&w->j);
	return err;
}

static void write_frame_extras(struct writer *w, const struct pl_function *f, const struct pl_location *l)
{
	if (f->origin != PL_ORIGIN_PYTHON)
		pl_json_key_str(&w->j, "origin", pl_kind_name(f->origin));
	if (f->qualname)
		key_text(w, "plain_name", f->name);
	if (f->firstline)
		pl_json_key_u64(&w->j, "first_line", f->firstline);
	if (l->end_line != l->line)
		pl_json_key_i64(&w->j, "end_line", l->end_line);
	if (l->end_column >= 0)
		pl_json_key_i64(&w->j, "end_col", (int64_t)l->end_column + 1);
}

static void write_frame(struct writer *w, const struct pl_location *l)
{
	const struct pl_function *f = &w->p->functions[l->function];

	pl_json_object(&w->j);
	key_text(w, "name", f->qualname ? f->qualname : f->name);
	if (pl_text_of(w->p, pl_function_source(f)).len)
		key_text(w, "file", pl_function_source(f));
	if (l->line > 0)
		pl_json_key_i64(&w->j, "line", l->line);
	if (l->column >= 0)
		pl_json_key_i64(&w->j, "col", (int64_t)l->column + 1); /* editors count from 1 */
	write_frame_extras(w, f, l);
	pl_json_object_end(&w->j);
}

/* Locations keep their numbers: a frame is a function and a line, as the profile has it. */
static void write_frames(struct writer *w)
{
	pl_json_key(&w->j, "shared");
	pl_json_object(&w->j);
	pl_json_key(&w->j, "frames");
	pl_json_array(&w->j);
	for (uint32_t i = 0; i < w->p->location_count; i++)
		write_frame(w, &w->p->locations[i]);
	pl_json_array_end(&w->j);
	pl_json_object_end(&w->j);
}

static void write_processes(struct writer *w)
{
	pl_json_key(&w->j, "plumb_processes");
	pl_json_array(&w->j);
	for (uint32_t i = 0; i < w->p->process_count; i++) {
		const struct pl_process *proc = &w->p->processes[i];

		pl_json_object(&w->j);
		pl_json_key_u64(&w->j, "pid", proc->pid);
		pl_json_key_u64(&w->j, "parent", proc->parent);
		pl_json_key_u64(&w->j, "start_ns", proc->start_ns);
		key_text(w, "name", proc->name);
		key_text(w, "program", proc->program);
		key_text(w, "python", proc->python);
		if (proc->host)
			key_text(w, "host", proc->host);
		pl_json_object_end(&w->j);
	}
	pl_json_array_end(&w->j);
}

static void write_recording(struct writer *w)
{
	const struct pl_meta *m = &w->p->meta;

	pl_json_key(&w->j, "plumb");
	pl_json_object(&w->j);
	if (w->o->made_by)
		pl_json_key_str(&w->j, "made_by", w->o->made_by);
	key_text(w, "command", m->command);
	pl_json_key_str(&w->j, "mode", pl_mode_name(m->mode));
	pl_json_key_u64(&w->j, "period_ns", m->period_ns);
	pl_json_key_u64(&w->j, "duration_ns", m->duration_ns);
	pl_json_key_u64(&w->j, "start_real_ns", m->start_real_ns);
	pl_json_object_end(&w->j);
}

static struct plumb_error *write_file(struct writer *w)
{
	struct plumb_error *err;

	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "$schema", SCHEMA);
	pl_json_key_str(&w->j, "exporter", "plumb");
	key_text(w, "name", w->p->meta.command);
	write_recording(w);
	write_processes(w);
	write_frames(w);
	err = write_profiles(w);
	pl_json_object_end(&w->j);
	putc('\n', w->j.out);
	return err;
}

static struct plumb_error *sum_stacks(struct writer *w)
{
	w->stacks = calloc(w->p->stack_count, sizeof *w->stacks);
	if (!w->stacks)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < w->p->cell_count; i++) {
		const struct pl_cell *c = &w->p->cells[i];
		struct stack_sum *sum = &w->stacks[c->stack];

		sum->samples = pl_sum_u64(sum->samples, c->samples);
		sum->weight_ns = pl_sum_u64(sum->weight_ns, c->weight_ns);
	}
	return NULL;
}

static struct plumb_error *measure(struct writer *w)
{
	struct plumb_error *err = NULL;
	uint64_t sum;

	for (size_t i = 0; i < w->threads.len && !err; i++)
		err = each_run(w, &w->threads.data[i], count_frames, &sum);
	if (!err && (double)w->frames > pl_size_limit(w->p, FRAMES_MAX, FRAMES_BASE, FRAMES_A_BYTE))
		err = pl_size_limit_exceeded(
			pl_error(PLUMB_ERR_LIMIT, "it would be the %.0f million frames of the stacks of all samples",
				 (double)w->frames / 1e6));
	return err;
}

static struct plumb_error *prepare(struct writer *w)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP};
	struct pl_totals totals;
	uint32_t depth = 0;
	struct plumb_error *err = pl_view_threads(w->p, &everything, &w->threads);

	if (!err)
		err = sum_stacks(w);
	if (!err)
		err = pl_view_totals(w->p, &everything, &totals);
	if (!err)
		err = pl_spool_create(w->p, &w->spool);
	if (err)
		return err;
	w->weighted = totals.weight_ns > 0 && !w->p->meta.counted;
	for (uint32_t i = 0; i < w->p->stack_count; i++)
		depth = w->p->stacks[i].depth > depth ? w->p->stacks[i].depth : depth;
	w->path = calloc((size_t)depth + 1, sizeof *w->path);
	return w->path ? measure(w) : &pl_err_no_memory;
}

struct plumb_error *pl_speedscope_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct writer w = {.p = p, .o = o};
	struct plumb_error *err = prepare(&w);

	pl_json_init(&w.j, out, 0);
	if (!err)
		err = write_file(&w);
	pl_spool_destroy(w.spool);
	pl_vec_deinit(&w.threads);
	free(w.stacks);
	free(w.path);
	return err;
}
