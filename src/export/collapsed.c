/* SPDX-License-Identifier: Apache-2.0 */
/* Collapsed ("folded") stacks: `tid:ID;basename:function:line;... COUNT`, outermost frame first, and where there is
 * more than one process `pid:ID NAME;` before that. Layer export; any thread.
 *
 * One line per distinct (frames, thread), where a frame is (file, function, line): the profile tells frames apart by
 * more (columns, first lines), so its stacks are first mapped to a coarser trie, in which equal stacks meet. Each frame
 * is rendered once; whole lines never are, because all lines of a deep profile together can be far larger than memory.
 *
 * Written for readers that split at the last blank and at ';'. With options.escape names that would break a line apart
 * are changed, and no others; without it the bytes are those of the program. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "formats.h"
#include "frame_name.h"
#include "line_order.h"
#include "map.h"
#include "row_index.h"
#include "size_limit.h"

#define TEXT_MAX_BYTES ((size_t)4 << 30)
#define LINE_BYTES     32 /* of a line, about, without its process and its frames */
#define NO_PART	       UINT32_MAX
#define ANNOTATION     "_[k]" /* as flamegraph.pl and others know it */

struct line {
	uint32_t node;
	uint32_t process;
	uint64_t tid, samples, weight_ns, count;
};

struct collapsed {
	const struct plumb_profile *p;
	const struct pl_export_options *o;
	struct pl_buf text;
	PL_VEC(struct pl_line_part) parts; /* frames as text: bytes of `text` */
	struct pl_line_part *roots;	   /* of the processes; NULL: there is one */
	uint32_t *root_order;		   /* of the processes: where theirs stands among all */
	PL_VEC(struct pl_line_node) nodes; /* node 0: no frame */
	PL_VEC(struct line) lines;
	uint32_t *part_of; /* location -> part, or NO_PART */
	uint32_t *node_of; /* stack -> node */
	uint32_t *ranks;   /* of nodes: by the text of their frames */
	uint32_t *path;	   /* of the line that is written, innermost part first */
};

static struct plumb_error *add_text(struct collapsed *c, struct pl_text t)
{
	const unsigned char *s = (const unsigned char *)t.s;
	struct plumb_error *err;
	size_t skip;

	if (!c->o->escape)
		return pl_buf_add(&c->text, s, t.len);
	err = pl_buf_reserve(&c->text, t.len);
	for (size_t i = 0; i < t.len && !err; i += skip ? skip : 1) {
		skip = pl_text_line_break(s + i, t.len - i);
		err = pl_buf_add_u8(&c->text, skip ? ' ' : s[i] == ';' ? ':' : s[i]);
	}
	return err;
}

/* As those of perf that were imported. */
static bool ends_annotated(const struct collapsed *c)
{
	const size_t len = strlen(ANNOTATION);

	return c->text.len >= len && memcmp(c->text.data + c->text.len - len, ANNOTATION, len) == 0;
}

static uint32_t file_of(const struct pl_function *f, const struct pl_location *loc)
{
	return loc->line > 0 ? pl_function_source(f) : f->file;
}

static struct plumb_error *add_part(struct collapsed *c, const struct pl_location *loc)
{
	const struct pl_function *f = &c->p->functions[loc->function];
	struct pl_text file = pl_text_of(c->p, file_of(f, loc));
	struct pl_line_part part = {.at = c->text.len};
	bool bare = pl_frame_is_bare(c->p, f, loc->line);
	struct plumb_error *err = NULL;

	if (!bare)
		err = add_text(c, c->o->full_names ? file : pl_text_basename(file));
	if (!err && !bare)
		err = pl_buf_add_u8(&c->text, ':');
	if (!err)
		err = add_text(c, c->o->full_names ? pl_frame_qualname(c->p, f) : pl_text_of(c->p, f->name));
	if (!err && !bare)
		err = pl_buf_printf(&c->text, ":%" PRId32, loc->line);
	if (!err && c->o->annotate && f->origin == PL_ORIGIN_KERNEL && !ends_annotated(c))
		err = pl_buf_add_str(&c->text, ANNOTATION);
	if (err)
		return err;
	part.len = c->text.len - part.at;
	return pl_vec_push(&c->parts, part) ? NULL : &pl_err_no_memory;
}

/* Locations that differ in nothing a line shows are one part, but equal base names of different files are not. */
static struct plumb_error *make_parts(struct collapsed *c)
{
	struct pl_map seen = PL_MAP_INIT;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; !err && i < c->p->location_count; i++) {
		const struct pl_location *loc = &c->p->locations[i];
		const struct pl_function *f = &c->p->functions[loc->function];
		uint32_t name = c->o->full_names && f->qualname ? f->qualname : f->name;
		bool bare = pl_frame_is_bare(c->p, f, loc->line);
		uint64_t k0 = (uint64_t)file_of(f, loc) << 32 | name, k1 = (uint64_t)bare << 32 | (uint32_t)loc->line;

		c->part_of[i] = NO_PART;
		if (pl_frame_is_launcher(c->p, f) || pl_map_get(&seen, k0, k1, &c->part_of[i]))
			continue;
		c->part_of[i] = (uint32_t)c->parts.len;
		err = add_part(c, loc);
		if (!err && !pl_map_set(&seen, k0, k1, c->part_of[i]))
			err = &pl_err_no_memory;
	}
	pl_map_deinit(&seen);
	return err;
}

static struct plumb_error *make_roots(struct collapsed *c)
{
	struct plumb_error *err = NULL;

	if (c->p->process_count <= 1)
		return NULL;
	c->roots = calloc(c->p->process_count, sizeof *c->roots);
	if (!c->roots)
		return &pl_err_no_memory;
	for (uint32_t i = 0; !err && i < c->p->process_count; i++) {
		const struct pl_process *proc = &c->p->processes[i];

		c->roots[i].at = c->text.len;
		err = pl_buf_printf(&c->text, "pid:%" PRIu32 "%s", proc->pid, proc->name ? " " : "");
		if (!err)
			err = add_text(c, pl_text_of(c->p, proc->name));
		if (!err && proc->host)
			err = pl_buf_add_u8(&c->text, '@');
		if (!err)
			err = add_text(c, pl_text_of(c->p, proc->host));
		c->roots[i].len = c->text.len - c->roots[i].at;
	}
	return err;
}

static bool find_node(const struct collapsed *c, const struct pl_row_index *seen, const struct pl_line_node *n,
		      uint32_t *ret)
{
	uint32_t hash = pl_row_hash(n->parent, n->part), id;
	size_t at = pl_row_index_start(seen, hash);

	while (pl_row_index_next(seen, hash, &at, &id)) {
		if (c->nodes.data[id].parent == n->parent && c->nodes.data[id].part == n->part) {
			*ret = id;
			return true;
		}
	}
	return false;
}

/* Parents have smaller ids than their children, so one pass maps the whole trie. */
static struct plumb_error *make_nodes(struct collapsed *c)
{
	struct pl_row_index seen = {0};
	bool ok = pl_vec_push(&c->nodes, (struct pl_line_node){0});

	for (uint32_t i = 1; ok && i < c->p->stack_count; i++) {
		uint32_t parent = c->node_of[c->p->stacks[i].parent], part = c->part_of[c->p->stacks[i].location];
		struct pl_line_node n = {.parent = parent, .part = part, .depth = c->nodes.data[parent].depth + 1};

		c->node_of[i] = parent;
		if (part == NO_PART || find_node(c, &seen, &n, &c->node_of[i]))
			continue;
		c->node_of[i] = (uint32_t)c->nodes.len;
		ok = pl_vec_push(&c->nodes, n) && pl_row_index_add(&seen, pl_row_hash(parent, part), c->node_of[i]);
	}
	pl_row_index_deinit(&seen);
	return ok ? NULL : &pl_err_no_memory;
}

static uint64_t count_of(const struct collapsed *c, const struct line *l)
{
	uint64_t period = c->p->meta.period_ns, count;

	if (c->p->meta.mode != PL_MODE_CPU || period == 0)
		return l->samples;
	count = l->weight_ns / period + (l->weight_ns % period >= period - period / 2);
	return count ? count : 1;
}

/* There is no header that could say how many threads were left out for being idle: so none is. */
static struct pl_filter whole_threads(const struct plumb_profile *p, const struct pl_filter *f)
{
	struct pl_filter whole = *f;

	if (p->meta.collector.skip_idle)
		whole.idle = PL_IDLE_SKIP_SAMPLES;
	if (whole.idle == PL_IDLE_HIDE_THREADS)
		whole.idle = PL_IDLE_KEEP;
	return whole;
}

static struct plumb_error *make_lines(struct collapsed *c)
{
	struct pl_filter filter = whole_threads(c->p, &c->o->filter);
	struct pl_map seen = PL_MAP_INIT;
	pl_stack_rows rows = {0};
	struct plumb_error *err = pl_view_stacks(c->p, &filter, &rows);

	for (size_t i = 0; !err && i < rows.len; i++) {
		const struct pl_stack_row *r = &rows.data[i];
		struct line l = {.node = c->node_of[r->stack],
				 .process = c->p->threads[r->thread].process,
				 .tid = c->p->threads[r->thread].tid};
		uint32_t at = (uint32_t)c->lines.len;

		if (l.node == 0)
			continue;
		if (!pl_map_get(&seen, l.node, r->thread, &at) &&
		    !(pl_vec_push(&c->lines, l) && pl_map_set(&seen, l.node, r->thread, at))) {
			err = &pl_err_no_memory;
			break;
		}
		c->lines.data[at].samples += r->samples;
		c->lines.data[at].weight_ns += r->weight_ns;
	}
	for (size_t i = 0; i < c->lines.len; i++)
		c->lines.data[i].count = count_of(c, &c->lines.data[i]);
	pl_vec_deinit(&rows);
	pl_map_deinit(&seen);
	return err;
}

/* Thread ids are compared as the text they are, up to the ';' that ends them. */
static int compare_tids(uint64_t a, uint64_t b)
{
	char x[24], y[24];

	if (a == b)
		return 0;
	snprintf(x, sizeof x, "%" PRIu64 ";", a);
	snprintf(y, sizeof y, "%" PRIu64 ";", b);
	return strcmp(x, y);
}

/* The roots of two processes, as the text they are, up to the ';' that ends them. */
static int compare_roots(const struct collapsed *c, uint32_t a, uint32_t b)
{
	const struct pl_line_part *x, *y;
	const unsigned char *text = c->text.data;
	size_t len;
	int order;

	if (!c->roots || a == b)
		return 0;
	x = &c->roots[a];
	y = &c->roots[b];
	len = x->len < y->len ? x->len : y->len;
	order = memcmp(text + x->at, text + y->at, len);
	if (order || x->len == y->len)
		return order;
	return x->len < y->len ? ';' - text[y->at + len] : text[x->at + len] - ';';
}

static int compare_processes(const void *va, const void *vb, void *ctx)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	int order = compare_roots(ctx, a, b);

	return order ? order : (a > b) - (a < b);
}

/* Names can be long, and lines many: they are sorted once. Equal ones have one place. */
static struct plumb_error *order_roots(struct collapsed *c)
{
	uint32_t count = c->p->process_count, *sorted = calloc((size_t)count + 1, sizeof *sorted);

	c->root_order = calloc((size_t)count + 1, sizeof *c->root_order);
	if (!sorted || !c->root_order) {
		free(sorted);
		return &pl_err_no_memory;
	}
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof *sorted, compare_processes, c);
	for (uint32_t i = 1; i < count; i++) {
		bool same = compare_roots(c, sorted[i - 1], sorted[i]) == 0;
		c->root_order[sorted[i]] = same ? c->root_order[sorted[i - 1]] : i;
	}
	free(sorted);
	return NULL;
}

static int compare_lines(const void *va, const void *vb, void *ctx)
{
	const struct line *a = va, *b = vb;
	const struct collapsed *c = ctx;
	const uint32_t *roots = c->root_order, *ranks = c->ranks;
	int order;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	order = (roots[a->process] > roots[b->process]) - (roots[a->process] < roots[b->process]);
	if (!order)
		order = compare_tids(a->tid, b->tid);
	if (!order)
		order = (ranks[a->node] > ranks[b->node]) - (ranks[a->node] < ranks[b->node]);
	return order ? order : (a->process > b->process) - (a->process < b->process);
}

static struct plumb_error *sort_lines(struct collapsed *c)
{
	const struct pl_line_trie trie = {.text = c->text.data,
					  .parts = c->parts.data,
					  .nodes = c->nodes.data,
					  .part_count = (uint32_t)c->parts.len,
					  .node_count = (uint32_t)c->nodes.len};
	struct plumb_error *err = order_roots(c);

	c->ranks = calloc(c->nodes.len + 1, sizeof *c->ranks);
	if (!err)
		err = c->ranks ? pl_line_order(&trie, c->ranks) : &pl_err_no_memory;
	if (!err && c->lines.len)
		qsort_r(c->lines.data, c->lines.len, sizeof *c->lines.data, compare_lines, c);
	return err;
}

static void write_line(const struct collapsed *c, const struct line *l, FILE *out)
{
	uint32_t *path = c->path, len = 0;

	for (uint32_t n = l->node; n; n = c->nodes.data[n].parent)
		path[len++] = c->nodes.data[n].part;
	if (c->roots) {
		fwrite(c->text.data + c->roots[l->process].at, 1, c->roots[l->process].len, out);
		fputc(';', out);
	}
	fprintf(out, "tid:%" PRIu64, l->tid);
	while (len > 0) {
		const struct pl_line_part *part = &c->parts.data[path[--len]];

		fputc(';', out);
		fwrite(c->text.data + part->at, 1, part->len, out);
	}
	fprintf(out, " %" PRIu64 "\n", l->count);
}

/* What there is to write: whole stacks, and the name of the process, in each line. */
static struct plumb_error *check_size(const struct collapsed *c)
{
	double *bytes_of = calloc(c->nodes.len + 1, sizeof *bytes_of), sum = 0;

	if (!bytes_of)
		return &pl_err_no_memory;
	for (size_t i = 1; i < c->nodes.len; i++)
		bytes_of[i] = bytes_of[c->nodes.data[i].parent] + 1 + (double)c->parts.data[c->nodes.data[i].part].len;
	for (size_t i = 0; i < c->lines.len; i++) {
		const struct line *l = &c->lines.data[i];

		sum += LINE_BYTES + bytes_of[l->node] + (c->roots ? (double)c->roots[l->process].len : 0);
	}
	free(bytes_of);
	if (sum <= pl_size_limit_bytes(c->p))
		return NULL;
	return pl_size_limit_exceeded(
		pl_error(PLUMB_ERR_LIMIT, "with the whole stack in each line it would be %.0f GB", sum / 1e9));
}

static struct plumb_error *allocate(struct collapsed *c)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < c->p->stack_count; i++)
		depth = c->p->stacks[i].depth > depth ? c->p->stacks[i].depth : depth;
	c->part_of = calloc((size_t)c->p->location_count + 1, sizeof *c->part_of);
	c->node_of = calloc((size_t)c->p->stack_count + 1, sizeof *c->node_of);
	c->path = calloc((size_t)depth + 1, sizeof *c->path);
	return c->part_of && c->node_of && c->path ? NULL : &pl_err_no_memory;
}

static void deinit(struct collapsed *c)
{
	pl_buf_deinit(&c->text);
	pl_vec_deinit(&c->parts);
	pl_vec_deinit(&c->nodes);
	pl_vec_deinit(&c->lines);
	free(c->roots);
	free(c->root_order);
	free(c->part_of);
	free(c->node_of);
	free(c->ranks);
	free(c->path);
}

struct plumb_error *pl_collapsed_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct collapsed c = {.p = p, .o = o, .text = PL_BUF_INIT(TEXT_MAX_BYTES)};
	struct plumb_error *err = allocate(&c);

	if (!err)
		err = make_parts(&c);
	if (!err)
		err = make_roots(&c);
	if (!err)
		err = make_nodes(&c);
	if (!err)
		err = make_lines(&c);
	if (!err)
		err = check_size(&c);
	if (!err)
		err = sort_lines(&c);
	/* A reader that went away (EPIPE) needs no more lines; the caller reports the stream's error. */
	for (size_t i = 0; !err && i < c.lines.len && !ferror(out); i++)
		write_line(&c, &c.lines.data[i], out);
	deinit(&c);
	return err;
}
