/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/view.h>, over the questions of model/view.h. One owner at a time. */
#include <plumb/view.h>

#include <stdlib.h>
#include <string.h>

#include "chosen.h"
#include "frame_name.h"
#include "given.h"
#include "hash.h"
#include "map.h"
#include "own_code.h"
#include "summary.h"
#include "words.h"

struct plumb_view {
	const struct plumb_profile *p; /* what passes the filters that are not of `filter` */
	struct plumb_profile *refined; /* `p`, where that is not the caller's */
	bool *library;		       /* of functions: not the program's own */
	struct pl_filter filter;
	struct pl_summary *summary; /* once it was asked for */
	bool ascii;		    /* of its sentences */
	pl_function_rows functions, lines;
	struct pl_map by_function; /* what tells functions apart -> row of `functions` */
	pl_tree_rows waits;
	pl_tree_rows tree;
	bool has_tree; /* of these */
	enum plumb_view_tree tree_of;
	double tree_min_share;
	pl_thread_rows threads;
	pl_process_rows processes;
	pl_label_rows labels;
	enum pl_reason reasons[PL_REASONS];
	unsigned reason_count;
};

struct plumb_error *plumb_view_open(const struct plumb_profile *p, const struct plumb_report_options *o,
				    struct plumb_view **ret)
{
	struct plumb_view *v = calloc(1, sizeof *v);
	struct plumb_report_options mine;
	struct plumb_error *err = pl_given_report(o, &mine);

	err = err || v ? err : &pl_err_no_memory;
	err = err ? err : plumb_profile_refine(p, &mine, &v->refined);
	if (err) {
		free(v);
		return err;
	}
	v->p = v->refined ? v->refined : p;
	v->library = pl_own_code_libraries(v->p);
	if (!v->library) {
		plumb_view_close(v);
		return &pl_err_no_memory;
	}
	v->filter = pl_chosen(&mine);
	v->filter.lines = false;
	*ret = v;
	return NULL;
}

void plumb_view_close(struct plumb_view *v)
{
	if (!v)
		return;
	pl_vec_deinit(&v->functions);
	pl_map_deinit(&v->by_function);
	pl_vec_deinit(&v->lines);
	pl_vec_deinit(&v->waits);
	pl_vec_deinit(&v->tree);
	pl_vec_deinit(&v->threads);
	pl_vec_deinit(&v->processes);
	pl_vec_deinit(&v->labels);
	free(v->summary);
	free(v->library);
	pl_profile_destroy(v->refined);
	free(v);
}

static struct plumb_share share_of(const struct pl_share *s)
{
	return (struct plumb_share){.samples = s->samples,
				    .weight_ns = s->weight_ns,
				    .on_cpu_ns = s->on_cpu_ns,
				    .share = s->share,
				    .half_width = s->half_width};
}

/* ---- figures of all ---------------------------------------------------------------------------------------------- */

static struct plumb_error *summarize(struct plumb_view *v, bool ascii)
{
	struct plumb_error *err;

	if (v->summary && v->ascii == ascii)
		return NULL;
	if (!v->summary && !(v->summary = calloc(1, sizeof *v->summary)))
		return &pl_err_no_memory;
	v->ascii = ascii;
	err = pl_summary_make(v->p, &v->filter, !ascii, v->summary);
	if (!err)
		err = pl_summary_find(v->summary, v->p, &v->filter);
	if (err) {
		free(v->summary);
		v->summary = NULL;
	}
	return err;
}

struct plumb_error *plumb_view_totals(struct plumb_view *v, struct plumb_view_totals *ret)
{
	struct plumb_error *err = summarize(v, v->ascii);

	if (err)
		return err;
	const struct pl_totals *t = &v->summary->totals;
	struct plumb_view_totals all = {
		.samples = t->samples,
		.weight_ns = t->weight_ns,
		.duration_ns = v->p->meta.duration_ns,
		.on_cpu = t->on_cpu,
		.has_gil = t->has_gil,
		.wants_gil = t->wants_gil,
		.in_gc = t->in_gc,
		.exception = t->exception,
		.unknown = t->unknown,
		.threads = t->threads,
		.idle_threads_hidden = t->idle_threads_hidden,
		.on_cpu_half_width = t->doing.on_cpu.half_width,
		.has_gil_half_width = t->doing.has_gil.half_width,
		.wants_gil_half_width = t->doing.wants_gil.half_width,
		.gil_held = v->summary->gil_held,
		.missed = v->summary->missed,
		.time_scale = v->summary->scale,
		.on_cpu_share = t->doing.on_cpu.share,
		.has_gil_share = t->doing.has_gil.share,
		.wants_gil_share = t->doing.wants_gil.share,
	};
	pl_give_row(ret, &all, sizeof all);
	return NULL;
}

struct plumb_error *plumb_view_reasons(struct plumb_view *v, size_t *count)
{
	struct plumb_error *err = summarize(v, v->ascii);

	if (err)
		return err;
	v->reason_count = pl_view_reasons(&v->summary->totals, v->reasons);
	*count = v->reason_count;
	return NULL;
}

bool plumb_view_reason_at(const struct plumb_view *v, size_t i, struct plumb_view_reason *ret)
{
	if (!v->summary || i >= v->reason_count)
		return false;
	const struct pl_totals *t = &v->summary->totals;
	const struct pl_reason_part *r = &t->waits[v->reasons[i]];
	struct plumb_view_reason row = {.word = pl_reasons[v->reasons[i]].word,
					.text = pl_reasons[v->reasons[i]].text,
					.samples = r->samples,
					.share = r->part.share,
					.half_width = r->part.half_width,
					.of_waiting = pl_ratio(r->part.share, t->waited)};

	pl_give_row(ret, &row, sizeof row);
	return true;
}

struct plumb_error *plumb_view_sentence(struct plumb_view *v, bool ascii, const char **ret)
{
	struct plumb_error *err = summarize(v, ascii);

	if (err)
		return err;
	*ret = v->summary->faults.count ? v->summary->faults.list[0].sentence : "";
	return NULL;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static struct plumb_view_function describe(const struct plumb_view *v, uint32_t id, const struct pl_share *self,
					   const struct pl_share *total)
{
	const struct pl_function *f = &v->p->functions[id];
	struct pl_text qualname = pl_frame_qualname(v->p, f);
	struct plumb_view_function row = {
		.size = sizeof row,
		.qualname = qualname.s,
		.qualname_len = qualname.len,
		.firstline = f->firstline,
		.short_file = pl_text_short_path(pl_text_of(v->p, f->file)).s,
		.kind = (enum plumb_kind)(1 << f->origin),
		.library = v->library[id],
		.bare = pl_frame_is_bare(v->p, f, (int32_t)f->firstline),
		.self = share_of(self),
		.total = share_of(total),
	};

	row.name = pl_strtab_get(v->p->strings, f->name, &row.name_len);
	row.file = pl_strtab_get(v->p->strings, f->file, &row.file_len);
	return row;
}

/* Of what tells it apart: a name, a file and a line. */
struct key {
	uint64_t k0, k1;
};

static struct key key_of(struct pl_text qualname, struct pl_text file, uint32_t firstline)
{
	return (struct key){pl_hash_bytes(qualname.s, qualname.len),
			    pl_hash_words(pl_hash_bytes(file.s, file.len), firstline)};
}

/* The first row of each, which is the heaviest one. False without memory. */
static bool number_functions(const struct plumb_view *v, const pl_function_rows *rows, struct pl_map *ret)
{
	for (size_t i = rows->len; i-- > 0;) {
		const struct pl_function *f = &v->p->functions[rows->data[i].function];
		struct key k = key_of(pl_frame_qualname(v->p, f), pl_text_of(v->p, f->file), f->firstline);

		if (!pl_map_set(ret, k.k0, k.k1, (uint32_t)i))
			return false;
	}
	return true;
}

struct plumb_error *plumb_view_functions(struct plumb_view *v, size_t *count)
{
	pl_function_rows rows = {0};
	struct pl_map numbers = PL_MAP_INIT;
	struct plumb_error *err = pl_view_functions(v->p, &v->filter, &rows);

	if (!err && !number_functions(v, &rows, &numbers))
		err = &pl_err_no_memory;
	if (err) {
		pl_vec_deinit(&rows);
		pl_map_deinit(&numbers);
		return err;
	}
	pl_vec_deinit(&v->functions);
	pl_map_deinit(&v->by_function);
	v->functions = rows;
	v->by_function = numbers;
	*count = rows.len;
	return NULL;
}

bool plumb_view_function_at(const struct plumb_view *v, size_t i, struct plumb_view_function *ret)
{
	if (i >= v->functions.len)
		return false;
	const struct pl_function_row *r = &v->functions.data[i];
	struct plumb_view_function row = describe(v, r->function, &r->self, &r->total);
	pl_give_row(ret, &row, sizeof row);
	return true;
}

static bool is_text(struct pl_text t, const char *s, size_t len)
{
	return t.len == len && memcmp(t.s, s, len) == 0;
}

static bool is_like(const struct plumb_view *v, uint32_t id, const struct plumb_view_function *like)
{
	const struct pl_function *f = &v->p->functions[id];

	return f->firstline == like->firstline &&
	       is_text(pl_frame_qualname(v->p, f), like->qualname, like->qualname_len) &&
	       is_text(pl_text_of(v->p, f->file), like->file, like->file_len);
}

bool plumb_view_function_like(const struct plumb_view *v, const struct plumb_view_function *like,
			      struct plumb_view_function *ret)
{
	struct key k = key_of((struct pl_text){like->qualname, like->qualname_len},
			      (struct pl_text){like->file, like->file_len}, like->firstline);
	uint32_t i;

	return pl_map_get(&v->by_function, k.k0, k.k1, &i) && is_like(v, v->functions.data[i].function, like) &&
	       plumb_view_function_at(v, i, ret);
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

_Static_assert(PLUMB_VIEW_ROW_LIBRARY == (int)PL_TREE_LIBRARY && PLUMB_VIEW_ROW_SELF == (int)PL_TREE_SELF,
	       "the kinds of rows of the library are those of the model");

static struct plumb_error *make_tree(const struct plumb_profile *p, const struct pl_filter *f,
				     enum plumb_view_tree which, double min_share, pl_tree_rows *ret)
{
	struct plumb_error *err = which == PLUMB_VIEW_TREE_OWN ? pl_own_code_tree(p, f, min_share, ret)
							       : pl_view_tree(p, f, min_share, ret);

	if (err)
		pl_vec_deinit(ret);
	return err;
}

struct plumb_error *plumb_view_tree(struct plumb_view *v, enum plumb_view_tree which, double min_share, size_t *count)
{
	pl_tree_rows rows = {0};

	if (v->has_tree && v->tree_of == which && v->tree_min_share == min_share) {
		*count = v->tree.len;
		return NULL;
	}
	struct plumb_error *err = make_tree(v->p, &v->filter, which, min_share, &rows);

	if (err)
		return err;
	pl_vec_deinit(&v->tree);
	v->tree = rows;
	v->has_tree = true;
	v->tree_of = which;
	v->tree_min_share = min_share;
	*count = rows.len;
	return NULL;
}

static bool give_tree_row(const struct plumb_view *v, const pl_tree_rows *rows, size_t i,
			  struct plumb_view_tree_row *ret)
{
	if (i >= rows->len)
		return false;
	const struct pl_tree_row *r = &rows->data[i];
	struct plumb_view_tree_row row = {
		.depth = r->depth,
		.kind = (enum plumb_view_tree_kind)r->kind,
		.function = describe(v, r->function, &r->self, &r->total),
	};
	pl_give_row(ret, &row, sizeof row);
	return true;
}

bool plumb_view_tree_at(const struct plumb_view *v, size_t i, struct plumb_view_tree_row *ret)
{
	return give_tree_row(v, &v->tree, i, ret);
}

/* ---- what tasks wait for ----------------------------------------------------------------------------------------- */

/* A thread whose tasks wait may well be idle. */
static struct pl_filter filter_of_waits(const struct plumb_view *v)
{
	struct pl_filter f = v->filter;

	f.idle = PL_IDLE_KEEP;
	return f;
}

struct plumb_error *plumb_view_waited(struct plumb_view *v, struct plumb_view_waited *ret)
{
	struct pl_filter f = filter_of_waits(v);
	struct plumb_profile waits;
	struct pl_totals t;
	struct plumb_error *err = pl_profile_waits_only(v->p, &waits);

	if (err)
		return err;
	err = pl_view_totals(&waits, &f, &t);
	free(waits.cells);
	if (err)
		return err;
	struct plumb_view_waited all = {
		.looks = v->p->waited.looks,
		.covered_ns = v->p->waited.covered_ns,
		.task_ns = t.weight_ns,
		.lost_ns = v->p->waited.lost_ns,
	};
	pl_give_row(ret, &all, sizeof all);
	return NULL;
}

/* Tasks are looked at in rows, so that of how far they were seen at once an interval would tell less than nothing. */
static void forget_half_widths(pl_tree_rows *rows)
{
	for (size_t i = 0; i < rows->len; i++)
		rows->data[i].self.half_width = rows->data[i].total.half_width = 0;
}

struct plumb_error *plumb_view_waits(struct plumb_view *v, enum plumb_view_tree which, double min_share, size_t *count)
{
	struct pl_filter f = filter_of_waits(v);
	struct plumb_profile waits;
	pl_tree_rows rows = {0};
	struct plumb_error *err = pl_profile_waits_only(v->p, &waits);

	if (err)
		return err;
	err = make_tree(&waits, &f, which, min_share, &rows);
	free(waits.cells);
	if (err)
		return err;
	forget_half_widths(&rows);
	pl_vec_deinit(&v->waits);
	v->waits = rows;
	*count = rows.len;
	return NULL;
}

bool plumb_view_wait_at(const struct plumb_view *v, size_t i, struct plumb_view_tree_row *ret)
{
	return give_tree_row(v, &v->waits, i, ret);
}

/* ---- threads, processes and labels --------------------------------------------------------------------------- */

struct plumb_error *plumb_view_threads(struct plumb_view *v, size_t *count)
{
	pl_thread_rows rows = {0};
	struct plumb_error *err = pl_view_threads(v->p, &v->filter, &rows);

	if (err)
		return err;
	pl_vec_deinit(&v->threads);
	v->threads = rows;
	*count = rows.len;
	return NULL;
}

bool plumb_view_thread_at(const struct plumb_view *v, size_t i, struct plumb_view_thread *ret)
{
	if (i >= v->threads.len)
		return false;
	const struct pl_thread_row *r = &v->threads.data[i];
	const struct pl_thread *t = &v->p->threads[r->thread];
	const struct pl_process *proc = &v->p->processes[t->process];
	struct plumb_view_thread row = {
		.tid = t->tid,
		.pid = (int)proc->pid,
		.name = pl_text_of(v->p, t->name).s,
		.main = t->main,
		.idle = r->idle,
		.samples = r->samples,
		.weight_ns = r->weight_ns,
		.on_cpu = r->on_cpu,
		.has_gil = r->has_gil,
		.wants_gil = r->wants_gil,
		.on_cpu_share = pl_view_thread_share(v->p, r, r->on_cpu, r->on_cpu_ns),
		.has_gil_share = pl_view_thread_share(v->p, r, r->has_gil, r->has_gil_ns),
		.wants_gil_share = pl_view_thread_share(v->p, r, r->wants_gil, r->wants_gil_ns),
		.process = pl_text_of(v->p, proc->name).s,
	};
	pl_give_row(ret, &row, sizeof row);
	return true;
}

struct plumb_error *plumb_view_processes(struct plumb_view *v, size_t *count)
{
	pl_process_rows rows = {0};
	struct plumb_error *err = pl_view_processes(v->p, &v->filter, &rows);

	if (err)
		return err;
	pl_vec_deinit(&v->processes);
	v->processes = rows;
	*count = rows.len;
	return NULL;
}

bool plumb_view_process_at(const struct plumb_view *v, size_t i, struct plumb_view_process *ret)
{
	if (i >= v->processes.len)
		return false;
	const struct pl_process_row *r = &v->processes.data[i];
	const struct pl_process *proc = &v->p->processes[r->process];
	struct plumb_view_process row = {
		.pid = (int)proc->pid,
		.parent = (int)proc->parent,
		.name = pl_text_of(v->p, proc->name).s,
		.command = pl_text_of(v->p, proc->program).s,
		.python = pl_text_of(v->p, proc->python).s,
		.total = share_of(&r->total),
	};
	pl_give_row(ret, &row, sizeof row);
	return true;
}

struct plumb_error *plumb_view_labels(struct plumb_view *v, size_t *count)
{
	pl_label_rows rows = {0};
	struct plumb_error *err = pl_view_labels(v->p, &v->filter, &rows);

	if (err)
		return err;
	pl_vec_deinit(&v->labels);
	v->labels = rows;
	*count = rows.len;
	return NULL;
}

bool plumb_view_label_at(const struct plumb_view *v, size_t i, struct plumb_view_label *ret)
{
	if (i >= v->labels.len)
		return false;
	const struct pl_label_row *r = &v->labels.data[i];
	struct plumb_view_label row = {.name = r->label.name, .value = r->label.value, .total = share_of(&r->total)};
	pl_give_row(ret, &row, sizeof row);
	return true;
}

/* ---- lines and sources ------------------------------------------------------------------------------------------- */

struct plumb_error *plumb_view_lines(struct plumb_view *v, const struct plumb_view_function *f, size_t *count)
{
	struct pl_filter by_line = v->filter;
	pl_function_rows rows = {0};
	size_t kept = 0;

	by_line.lines = true;
	struct plumb_error *err = pl_view_functions(v->p, &by_line, &rows);
	if (err)
		return err;
	for (size_t i = 0; i < rows.len; i++)
		if (is_like(v, rows.data[i].function, f))
			rows.data[kept++] = rows.data[i];
	rows.len = kept;
	pl_vec_deinit(&v->lines);
	v->lines = rows;
	*count = kept;
	return NULL;
}

bool plumb_view_line_at(const struct plumb_view *v, size_t i, struct plumb_view_line *ret)
{
	if (i >= v->lines.len)
		return false;
	const struct pl_function_row *r = &v->lines.data[i];
	struct plumb_view_line row = {.line = r->line, .self = share_of(&r->self), .total = share_of(&r->total)};
	pl_give_row(ret, &row, sizeof row);
	return true;
}

const char *plumb_view_source(const struct plumb_view *v, const struct plumb_view_function *f, size_t *len,
			      bool *changed)
{
	for (uint32_t i = 0; i < v->p->source_count; i++) {
		const struct pl_source *s = &v->p->sources[i];

		if (!is_text(pl_text_of(v->p, s->file), f->file, f->file_len))
			continue;
		*len = s->len;
		if (changed)
			*changed = s->changed;
		return s->text;
	}
	return NULL;
}
