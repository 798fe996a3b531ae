/* SPDX-License-Identifier: Apache-2.0 */
/* What tasks waited for. Layer export; any thread. Task seconds are no time of threads: they are added up by the
 * outermost coroutine, and never with samples. */
#include "waits_table.h"

#include <stdlib.h>
#include <string.h>

#include "dump_model.h"
#include "frame_name.h"
#include "index.h"
#include "map.h"
#include "own_code.h"
#include "size_limit.h"
#include "stack_ranks.h"
#include "units.h"
#include "words.h"

#define TIME_COLUMNS 8
/* On the report page: more nobody reads. */
#define PAGE_ROOTS  100
#define PAGE_PLACES 20 /* of each */
/* Of the stacks of JSON, which are written whole, with names: a few kilobytes can stand for any number. Who reads them
 * takes nine times as much memory. Those of a server take some hundred kilobytes. */
#define STACKS_BYTES	    ((double)(256u << 20))
#define STACKS_BYTES_BASE   32e6
#define STACKS_BYTES_A_BYTE 1e3
#define FRAME_BYTES	    32 /* around its names */

static const char future[] = "future", stream[] = "stream";

/* asyncio's streams wait for a future, which stands for a socket or a pipe. */
static const char *word_of(const struct plumb_profile *p, const struct pl_wait *w)
{
	const struct pl_function *f = &p->functions[p->locations[p->stacks[w->stack].location].function];

	if (w->what < PL_DUMP_FORS && w->what != PL_DUMP_FOR_RESULT && w->what != PL_DUMP_FOR_UNKNOWN)
		return pl_awaited_words[w->what].word;
	return pl_text_ends_with(pl_text_of(p, f->file), "asyncio/streams.py") ? stream : future;
}

static const char *text_of(const char *word)
{
	for (size_t i = 0; i < PL_DUMP_FORS; i++)
		if (pl_awaited_words[i].word == word)
			return pl_awaited_words[i].thing;
	return word == stream ? "a stream" : "a future";
}

/* Those of threads that are shown; a thread whose tasks wait may well be idle. */
static bool passes(const struct pl_waits *w, const struct pl_wait *wait)
{
	struct pl_filter f = w->filter;
	const struct pl_cell cell = {.thread = wait->thread};

	f.idle = PL_IDLE_KEEP;
	return wait->stack && pl_view_passes(w->p, &f, &cell);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

struct finder {
	struct pl_waits *w;
	struct pl_map sums;	  /* (root and location, what) -> position */
	uint32_t *roots, *places; /* of each stack: function and location */
};

/* In one pass, as a stack comes behind its parent: places are stacks at first, 0 where none is of own code. */
static void find_places(struct finder *f, const bool *library)
{
	const struct plumb_profile *p = f->w->p;

	for (uint32_t i = 1; i < p->stack_count; i++) {
		const struct pl_stack *s = &p->stacks[i];
		uint32_t function = p->locations[s->location].function;

		f->roots[i] = s->parent ? f->roots[s->parent] : function;
		f->places[i] = library[function] ? f->places[s->parent] : i;
	}
	for (uint32_t i = 1; i < p->stack_count; i++)
		f->places[i] = p->stacks[f->places[i] ? f->places[i] : i].location;
}

static struct plumb_error *finder_init(struct finder *f)
{
	const struct plumb_profile *p = f->w->p;
	bool *library = pl_own_code_libraries(p);

	f->roots = calloc((size_t)p->stack_count + 1, sizeof *f->roots);
	f->places = calloc((size_t)p->stack_count + 1, sizeof *f->places);
	bool ok = library && f->roots && f->places;
	if (ok)
		find_places(f, library);
	free(library);
	return ok ? NULL : &pl_err_no_memory;
}

static void finder_deinit(struct finder *f)
{
	pl_map_deinit(&f->sums);
	free(f->roots);
	free(f->places);
}

static struct plumb_error *add(struct finder *f, struct pl_wait_sum key, uint64_t tasks, uint64_t task_ns)
{
	uint64_t at = (uint64_t)key.root << 32 | key.location, what = (uint64_t)(uintptr_t)key.what;
	uint32_t row;

	if (!pl_map_get(&f->sums, at, what, &row)) {
		row = (uint32_t)f->w->sums.len;
		if (!pl_vec_push(&f->w->sums, key) || !pl_map_set(&f->sums, at, what, row))
			return &pl_err_no_memory;
	}
	struct pl_wait_sum *sum = &f->w->sums.data[row];
	sum->tasks = pl_sum_u64(sum->tasks, tasks);
	sum->task_ns = pl_sum_u64(sum->task_ns, task_ns);
	return NULL;
}

static struct plumb_error *add_wait(struct finder *f, const struct pl_wait *wait)
{
	const struct plumb_profile *p = f->w->p;
	struct pl_wait_sum key = {.root = f->roots[wait->stack], .location = PL_WAIT_ROOT};
	struct plumb_error *err = add(f, key, wait->tasks, wait->task_ns);

	f->w->task_ns = pl_sum_u64(f->w->task_ns, wait->task_ns);
	key.location = f->places[wait->stack];
	key.what = word_of(p, wait);
	return err ? err : add(f, key, wait->tasks, wait->task_ns);
}

/* What a root computed is in the samples of its stacks. */
static void add_computed(struct finder *f)
{
	const struct plumb_profile *p = f->w->p;
	uint32_t row;

	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];
		uint64_t at = (uint64_t)f->roots[c->stack] << 32 | PL_WAIT_ROOT;

		if (c->stack && c->state & PL_STATE_ON_CPU && pl_view_passes(p, &f->w->filter, c) &&
		    pl_map_get(&f->sums, at, 0, &row))
			f->w->sums.data[row].computed_ns += c->weight_ns;
	}
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_sums(const void *va, const void *vb, void *ctx)
{
	const struct plumb_profile *p = ctx;
	const struct pl_wait_sum *a = va, *b = vb;
	int order = compare_u64(b->root_ns, a->root_ns);

	if (!order)
		order = pl_order_functions(p, a->root, b->root);
	if (!order)
		order = (b->location == PL_WAIT_ROOT) - (a->location == PL_WAIT_ROOT);
	if (!order)
		order = compare_u64(b->task_ns, a->task_ns);
	if (!order && a->location != PL_WAIT_ROOT)
		order = pl_order_locations(p, a->location, b->location);
	return order || !a->what || !b->what ? order : strcmp(a->what, b->what);
}

static int most_first(const void *a, const void *b)
{
	return compare_u64(*(const uint64_t *)b, *(const uint64_t *)a);
}

/* Roots by their sums, each before its places; and how much the heaviest have. */
static struct plumb_error *sort(struct finder *f)
{
	struct pl_waits *w = f->w;
	uint32_t row = 0;

	for (size_t i = 0; i < w->sums.len; i++) {
		struct pl_wait_sum *s = &w->sums.data[i];

		if (pl_map_get(&f->sums, (uint64_t)s->root << 32 | PL_WAIT_ROOT, 0, &row))
			s->root_ns = w->sums.data[row].task_ns;
		if (!pl_vec_push(&w->ranks, s->task_ns))
			return &pl_err_no_memory;
	}
	if (!w->sums.len)
		return NULL;
	qsort(w->ranks.data, w->ranks.len, sizeof *w->ranks.data, most_first);
	qsort_r(w->sums.data, w->sums.len, sizeof *w->sums.data, compare_sums, (void *)(uintptr_t)w->p);
	return NULL;
}

struct plumb_error *pl_waits_find(const struct plumb_profile *p, const struct pl_filter *filter, struct pl_waits *ret)
{
	struct finder f = {.w = ret, .sums = PL_MAP_INIT};

	*ret = (struct pl_waits){.p = p, .filter = *filter};
	if (!p->wait_count)
		return NULL;
	struct plumb_error *err = finder_init(&f);
	for (uint32_t i = 0; i < p->wait_count && !err; i++)
		if (passes(ret, &p->waits[i]))
			err = add_wait(&f, &p->waits[i]);
	if (!err && ret->sums.len)
		add_computed(&f);
	if (!err)
		err = sort(&f);
	finder_deinit(&f);
	return err;
}

void pl_waits_deinit(struct pl_waits *w)
{
	pl_vec_deinit(&w->sums);
	pl_vec_deinit(&w->ranks);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void add_place(struct pl_line *l, const struct plumb_profile *p, const struct pl_function *f, uint32_t line)
{
	struct pl_text file = pl_text_short_path(pl_text_of(p, f->file));
	int room = l->page->width - l->cols - 12;

	if (room < 8)
		return;
	pl_line_add(l, "  ");
	pl_line_name(l, file.s, file.len, room, PL_CUT_START);
	pl_line_addf(l, ":%u", line);
}

static void add_name(struct pl_line *l, const struct plumb_profile *p, const struct pl_function *f)
{
	struct pl_text name = pl_frame_qualname(p, f);
	int room = l->page->width - l->cols;

	pl_line_name(l, name.s, name.len, room > 8 ? room : 8, PL_CUT_END);
}

static void write_root(struct pl_line *l, const struct pl_waits *w, const struct pl_wait_sum *s, double scale)
{
	const struct pl_function *f = &w->p->functions[s->root];

	add_name(l, w->p, f);
	if (s->computed_ns && w->p->meta.mode != PL_MODE_GIL)
		pl_line_addf(l, " (computed %s)", pl_units_time((double)s->computed_ns * scale).s);
	add_place(l, w->p, f, f->firstline);
}

static void write_wait(struct pl_line *l, const struct pl_waits *w, const struct pl_wait_sum *s)
{
	const struct pl_location *at = &w->p->locations[s->location];
	const struct pl_function *f = &w->p->functions[at->function];

	pl_line_addf(l, "  %s, in ", text_of(s->what));
	add_name(l, w->p, f);
	add_place(l, w->p, f, at->line > 0 ? (uint32_t)at->line : f->firstline);
}

static void write_heading(const struct pl_waits *w, struct pl_page *page)
{
	struct pl_line l;

	pl_line_start(&l, page);
	pl_line_right(&l, "waited", TIME_COLUMNS);
	pl_line_add(&l, "  what tasks waited for, in task seconds");
	if (w->p->waited.lost_ns)
		pl_line_addf(&l, " (%s more not known)", pl_units_time((double)w->p->waited.lost_ns).s);
	pl_line_end(&l);
}

void pl_waits_write(const struct pl_waits *w, int max, double scale, struct pl_page *page)
{
	int written = 0;

	if (!w->sums.len || max <= 0)
		return;
	/* A root has no less than its places. */
	uint64_t least = w->ranks.data[(size_t)max < w->ranks.len ? (size_t)max - 1 : w->ranks.len - 1];
	pl_page_blank(page);
	write_heading(w, page);
	for (size_t i = 0; i < w->sums.len && written < max; i++) {
		const struct pl_wait_sum *s = &w->sums.data[i];
		struct pl_line l;

		if (s->task_ns < least)
			continue;
		pl_line_start(&l, page);
		pl_line_right(&l, pl_units_time((double)s->task_ns).s, TIME_COLUMNS);
		pl_line_add(&l, "  ");
		if (s->location == PL_WAIT_ROOT)
			write_root(&l, w, s, scale);
		else
			write_wait(&l, w, s);
		pl_line_end(&l);
		written++;
	}
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_function(struct pl_json *j, const struct plumb_profile *p, const struct pl_function *f, uint32_t line)
{
	struct pl_text name = pl_frame_qualname(p, f), file = pl_text_of(p, f->file);

	pl_json_key_strn(j, "name", name.s, name.len);
	pl_json_key_strn(j, "file", file.s, file.len);
	pl_json_key_u64(j, "line", line);
}

static void write_roots(const struct pl_waits *w, struct pl_json *j)
{
	pl_json_key(j, "roots");
	pl_json_array(j);
	for (size_t i = 0; i < w->sums.len && !ferror(j->out); i++) {
		const struct pl_wait_sum *s = &w->sums.data[i];
		const struct pl_function *f = &w->p->functions[s->root];

		if (s->location != PL_WAIT_ROOT)
			continue;
		pl_json_object(j);
		write_function(j, w->p, f, f->firstline);
		pl_json_key_u64(j, "task_ns", s->task_ns);
		pl_json_key_u64(j, "computed_ns", s->computed_ns);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

static void write_place(const struct pl_waits *w, const struct pl_wait_sum *s, struct pl_json *j)
{
	const struct pl_location *at = &w->p->locations[s->location];
	const struct pl_function *f = &w->p->functions[at->function];

	pl_json_object(j);
	pl_json_key_str(j, "what", text_of(s->what));
	write_function(j, w->p, f, at->line > 0 ? (uint32_t)at->line : f->firstline);
	pl_json_key_u64(j, "task_ns", s->task_ns);
	pl_json_object_end(j);
}

/* @return the first sum behind those of the root at @p at. */
static size_t write_root_and_places(const struct pl_waits *w, size_t at, struct pl_json *j)
{
	const struct pl_wait_sum *root = &w->sums.data[at];
	const struct pl_function *f = &w->p->functions[root->root];
	size_t next = at + 1;

	pl_json_object(j);
	write_function(j, w->p, f, f->firstline);
	pl_json_key_u64(j, "task_ns", root->task_ns);
	pl_json_key_u64(j, "computed_ns", root->computed_ns);
	pl_json_key(j, "places");
	pl_json_array(j);
	for (; next < w->sums.len && w->sums.data[next].location != PL_WAIT_ROOT; next++)
		if (next - at <= PAGE_PLACES)
			write_place(w, &w->sums.data[next], j);
	pl_json_array_end(j);
	pl_json_object_end(j);
	return next;
}

void pl_waits_page_json(const struct pl_waits *w, struct pl_json *j)
{
	size_t at = 0;

	if (!w->sums.len)
		return;
	pl_json_key(j, "waits");
	pl_json_object(j);
	pl_json_key_u64(j, "task_ns", w->task_ns);
	pl_json_key_u64(j, "lost_ns", w->p->waited.lost_ns);
	pl_json_key(j, "roots");
	pl_json_array(j);
	for (int i = 0; i < PAGE_ROOTS && at < w->sums.len; i++)
		at = write_root_and_places(w, at, j);
	pl_json_array_end(j);
	pl_json_object_end(j);
}

struct rows {
	const struct pl_waits *w;
	struct pl_wait *data; /* room for all */
	size_t len;
	uint32_t *ranks; /* of each stack */
	uint32_t *path;	 /* room for the deepest */
	uint64_t left;	 /* bytes that may still be written */
};

/* From the inside out, as a stack knows its parent only. @return how many; 0: there is no room for them. */
static uint32_t take_path(struct rows *r, uint32_t stack)
{
	const struct plumb_profile *p = r->w->p;
	uint32_t len = 0;

	for (uint32_t s = stack; s; s = p->stacks[s].parent) {
		uint64_t bytes = FRAME_BYTES + pl_profile_location_bytes(p, p->stacks[s].location);

		if (bytes > r->left)
			return 0;
		r->left -= bytes;
		r->path[len++] = p->stacks[s].location;
	}
	return len;
}

static void write_row(const struct rows *r, const struct pl_wait *wait, uint32_t len, struct pl_json *j)
{
	const struct plumb_profile *p = r->w->p;

	pl_json_object(j);
	pl_json_key_u64(j, "pid", p->processes[p->threads[wait->thread].process].pid);
	pl_json_key_u64(j, "tid", p->threads[wait->thread].tid);
	pl_json_key_str(j, "what", word_of(p, wait));
	pl_json_key_u64(j, "seen", wait->tasks);
	pl_json_key_u64(j, "task_ns", wait->task_ns);
	pl_json_key(j, "frames");
	pl_json_array(j);
	while (len) {
		const struct pl_location *at = &p->locations[r->path[--len]];

		pl_json_object(j);
		write_function(j, p, &p->functions[at->function], at->line > 0 ? (uint32_t)at->line : 0);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
	pl_json_object_end(j);
}

static int compare_rows(const void *va, const void *vb, void *ctx)
{
	const struct rows *r = ctx;
	const struct plumb_profile *p = r->w->p;
	const struct pl_wait *a = va, *b = vb;
	int order = compare_u64(b->task_ns, a->task_ns);

	if (!order)
		order = compare_u64(p->threads[a->thread].tid, p->threads[b->thread].tid);
	if (!order)
		order = compare_u64(r->ranks[a->stack], r->ranks[b->stack]);
	return order ? order : compare_u64(a->what, b->what);
}

static struct plumb_error *sort_rows(struct rows *r)
{
	const struct plumb_profile *p = r->w->p;

	for (uint32_t i = 0; i < p->wait_count; i++) {
		if (!passes(r->w, &p->waits[i]))
			continue;
		r->data[r->len++] = p->waits[i];
		r->ranks[p->waits[i].stack] = 1;
	}
	struct plumb_error *err = pl_stack_ranks(p, r->ranks);
	if (!err)
		qsort_r(r->data, r->len, sizeof *r->data, compare_rows, r);
	return err;
}

/* What there was no room for. */
static void write_left_out(const struct rows *r, size_t from, struct pl_json *j)
{
	uint64_t task_ns = 0;

	if (from == r->len)
		return;
	for (size_t i = from; i < r->len; i++)
		task_ns = pl_sum_u64(task_ns, r->data[i].task_ns);
	pl_json_key(j, "stacks_left_out");
	pl_json_object(j);
	pl_json_key_u64(j, "count", r->len - from);
	pl_json_key_u64(j, "task_ns", task_ns);
	pl_json_object_end(j);
}

static void write_rows(struct rows *r, struct pl_json *j)
{
	uint32_t len;
	size_t i = 0;

	pl_json_key(j, "stacks");
	pl_json_array(j);
	for (; i < r->len && !ferror(j->out) && (len = take_path(r, r->data[i].stack)) > 0; i++)
		write_row(r, &r->data[i], len, j);
	pl_json_array_end(j);
	write_left_out(r, i, j);
}

static uint32_t deepest(const struct plumb_profile *p)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < p->wait_count; i++)
		if (p->stacks[p->waits[i].stack].depth > depth)
			depth = p->stacks[p->waits[i].stack].depth;
	return depth;
}

static void write_json(struct rows *r, struct pl_json *j)
{
	const struct plumb_profile *p = r->w->p;

	pl_json_key(j, "waits");
	pl_json_object(j);
	pl_json_key_u64(j, "looks", p->waited.looks);
	pl_json_key_u64(j, "task_ns", r->w->task_ns);
	pl_json_key_u64(j, "covered_ns", p->waited.covered_ns);
	pl_json_key_u64(j, "lost_ns", p->waited.lost_ns);
	write_roots(r->w, j);
	write_rows(r, j);
	pl_json_object_end(j);
}

struct plumb_error *pl_waits_json(const struct pl_waits *w, struct pl_json *j)
{
	const struct plumb_profile *p = w->p;
	const double most = pl_size_limit(p, STACKS_BYTES, STACKS_BYTES_BASE, STACKS_BYTES_A_BYTE);
	struct rows r = {.w = w, .left = (uint64_t)most};

	if (!p->waited.looks)
		return NULL;
	r.data = calloc((size_t)p->wait_count + 1, sizeof *r.data);
	r.ranks = calloc((size_t)p->stack_count + 1, sizeof *r.ranks);
	r.path = calloc((size_t)deepest(p) + 1, sizeof *r.path);
	struct plumb_error *err = r.data && r.ranks && r.path ? sort_rows(&r) : &pl_err_no_memory;
	if (!err)
		write_json(&r, j);
	free(r.data);
	free(r.ranks);
	free(r.path);
	return err;
}
