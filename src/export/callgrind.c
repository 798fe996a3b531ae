/* SPDX-License-Identifier: Apache-2.0 */
/* The format of valgrind's callgrind, for KCachegrind, QCachegrind and callgrind_annotate. Layer export; any thread.
 * Streams.
 *
 * Functions with the cost of each of their lines, and calls with the cost of what was called. Two events: samples and
 * nanoseconds. A sampler does not count calls: calls=N is the number of samples. Of a recursive function only the
 * outermost call on a stack has a cost, so that the calls into a function add up to its inclusive cost, as
 * callgrind_annotate takes them; the inner calls are there with the cost 0. All outermost frames are called by one
 * function, because callgrind_annotate would forget the part of a function that nobody calls.
 *
 * Where there are functions of machine code each function has an object: theirs is the library, that of all others
 * "<python>". Their file is the library, too, and not "???": callgrind_annotate tells functions apart by file and name.
 *
 * A function is called by its name and its first line: the readers tell functions of one file apart by their name
 * alone, and there can be many lambdas in a file. */
#include <inttypes.h>
#include <string.h>

#include "callgraph.h"
#include "formats.h"
#include "utf8.h"
#include "words.h"

#define ROOT_NAME     "<all>"
#define PYTHON_OBJECT "<python>" /* of what is no machine code */
#define PYTHON_NUMBER 0		 /* those of libraries are those of their files */

/* Line by line, and without blanks at the ends: so control characters and such blanks are escaped. */
static struct plumb_error *clean(struct pl_buf *out, struct pl_text t)
{
	const uint8_t *s = (const uint8_t *)t.s;
	struct plumb_error *err = NULL;

	for (size_t i = 0, used; i < t.len && !err; i += used) {
		uint32_t code;
		bool at_end;

		used = pl_utf8_decode(s + i, t.len - i, &code);
		at_end = code == ' ' && (i == 0 || i + 1 == t.len);
		if (code == PL_UTF8_INVALID)
			err = pl_buf_add(out, "\xef\xbf\xbd", 3);
		else if (code < ' ' || code == 0x7f || at_end)
			err = pl_buf_printf(out, "\\x%02" PRIx32, code);
		else if (code == 0x85 || code == 0xa0 || code == 0x2028 || code == 0x2029)
			err = pl_buf_printf(out, "\\u%04" PRIx32, code);
		else
			err = pl_buf_add(out, s + i, used);
	}
	return err || out->len ? err : pl_buf_add_str(out, "<unnamed>");
}

struct writer {
	const struct pl_callgraph *g;
	FILE *out;
	bool *file_known, *function_known, *object_known; /* whether the number has been given its name */
	bool objects;					  /* there are native functions */
	bool python_known;
};

static void put_text(const struct writer *w, uint32_t string)
{
	struct pl_text t = pl_callgraph_text(w->g, string);

	fwrite(t.s, 1, t.len, w->out);
}

/* A name is written at its first use, then its number will do. */
static void put_file(struct writer *w, const char *key, uint32_t function)
{
	uint32_t file = w->g->functions.data[function].file;

	fprintf(w->out, "%s=(%" PRIu32 ")", key, file + 1);
	if (!w->file_known[file]) {
		putc(' ', w->out);
		put_text(w, file);
	}
	w->file_known[file] = true;
	putc('\n', w->out);
}

static void put_python(struct writer *w, const char *key)
{
	fprintf(w->out, "%s=(%d)%s\n", key, PYTHON_NUMBER, w->python_known ? "" : " " PYTHON_OBJECT);
	w->python_known = true;
}

/* The one of the function before would hold on. */
static void put_object(struct writer *w, const char *key, uint32_t function)
{
	const struct pl_graph_function *f = &w->g->functions.data[function];

	if (!w->objects)
		return;
	if (!f->native) {
		put_python(w, key);
		return;
	}
	fprintf(w->out, "%s=(%" PRIu32 ")", key, f->library + 1);
	if (!w->object_known[f->library]) {
		putc(' ', w->out);
		put_text(w, f->library);
	}
	w->object_known[f->library] = true;
	putc('\n', w->out);
}

static void put_name(struct writer *w, const char *key, uint32_t function)
{
	const struct pl_graph_function *f = &w->g->functions.data[function];

	fprintf(w->out, "%s=(%" PRIu32 ")", key, function + 1);
	if (!w->function_known[function]) {
		putc(' ', w->out);
		put_text(w, f->name);
		if (f->firstline)
			fprintf(w->out, ":%" PRIu32, f->firstline);
	}
	w->function_known[function] = true;
	putc('\n', w->out);
}

static void put_cost(struct writer *w, int32_t line, const struct pl_graph_cost *cost)
{
	fprintf(w->out, "%" PRId32 " %" PRIu64 " %" PRIu64 "\n", line > 0 ? line : 0, cost->samples, cost->weight_ns);
}

static void put_call(struct writer *w, const struct pl_graph_edge *e)
{
	put_object(w, "cob", e->callee);
	put_file(w, "cfi", e->callee);
	put_name(w, "cfn", e->callee);
	fprintf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n", e->once.samples, w->g->functions.data[e->callee].firstline);
	put_cost(w, e->line, &e->total);
}

static int compare_lines(const void *va, const void *vb)
{
	const struct pl_graph_line *a = va, *b = vb;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static int compare_calls(const void *va, const void *vb)
{
	const struct pl_graph_edge *a = va, *b = vb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

static struct plumb_error *put_fact(const char *key, struct pl_text t, FILE *out)
{
	struct pl_buf line = PL_BUF_INIT((size_t)1 << 30);
	struct plumb_error *err = clean(&line, t);

	if (!err)
		fprintf(out, "%s%s\n", key, pl_buf_str(&line));
	pl_buf_deinit(&line);
	return err;
}

static void put_all(const char *key, const struct pl_callgraph *g, FILE *out)
{
	fprintf(out, "%s: %" PRIu64 " %" PRIu64 "\n", key, g->all.samples, g->all.weight_ns);
}

static struct plumb_error *put_header(const struct plumb_profile *p, const char *made_by, const struct pl_callgraph *g,
				      FILE *out)
{
	struct plumb_error *err;

	fputs("# callgrind format\nversion: 1\n", out);
	err = made_by ? put_fact("creator: ", (struct pl_text){made_by, strlen(made_by)}, out)
		      : put_fact("creator: plumb ", pl_text_of(p, p->meta.plumb_version), out);
	if (!err && p->process_count == 1)
		fprintf(out, "pid: %" PRIu32 "\n", p->processes[0].pid);
	if (!err)
		err = put_fact("cmd: ", pl_text_of(p, p->meta.command), out);
	fprintf(out, "desc: Trigger: samples of %s; calls=N is a number of samples, not of calls\n",
		pl_mode_time(p->meta.mode));
	fputs("positions: line\nevent: ns : Nanoseconds\nevents: Samples ns\n", out);
	put_all("summary", g, out);
	return err;
}

static void put_functions(struct writer *w)
{
	const struct pl_callgraph *g = w->g;
	size_t edge = g->edges.len, line = 0;

	/* PL_GRAPH_ROOT is the greatest caller: the calls of the outermost frames are the last. */
	while (edge > 0 && g->edges.data[edge - 1].caller == PL_GRAPH_ROOT)
		edge--;
	putc('\n', w->out);
	if (w->objects)
		put_python(w, "ob");
	fputs("fl=(0) ~\nfn=(0) " ROOT_NAME "\n", w->out);
	for (size_t i = edge; i < g->edges.len; i++)
		put_call(w, &g->edges.data[i]);
	edge = 0;
	for (uint32_t f = 0; f < g->functions.len && !ferror(w->out); f++) {
		putc('\n', w->out);
		put_object(w, "ob", f);
		put_file(w, "fl", f);
		put_name(w, "fn", f);
		for (; line < g->lines.len && g->lines.data[line].function == f; line++)
			put_cost(w, g->lines.data[line].line, &g->lines.data[line].self);
		for (; edge < g->edges.len && g->edges.data[edge].caller == f; edge++)
			put_call(w, &g->edges.data[edge]);
	}
}

static struct plumb_error *writer_init(struct writer *w)
{
	size_t strings = (size_t)pl_strtab_count(w->g->strings) + 1;

	w->file_known = calloc(strings, sizeof *w->file_known);
	w->object_known = calloc(strings, sizeof *w->object_known);
	w->function_known = calloc(w->g->functions.len + 1, sizeof *w->function_known);
	for (size_t i = 0; i < w->g->functions.len && !w->objects; i++)
		w->objects = w->g->functions.data[i].native;
	return w->file_known && w->object_known && w->function_known ? NULL : &pl_err_no_memory;
}

struct plumb_error *pl_callgrind_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct pl_graph_options go = {.lines = true, .full_names = true, .clean = clean};
	struct pl_callgraph g;
	struct plumb_error *err = pl_callgraph_build(p, &go, &g);
	struct writer w = {.g = &g, .out = out};

	if (err)
		return err;
	err = writer_init(&w);
	err = err ? err : put_header(p, o->made_by, &g, out);
	if (!err) {
		if (g.edges.len)
			qsort(g.edges.data, g.edges.len, sizeof *g.edges.data, compare_calls);
		if (g.lines.len)
			qsort(g.lines.data, g.lines.len, sizeof *g.lines.data, compare_lines);
		put_functions(&w);
		putc('\n', out);
		put_all("totals", &g, out); /* the import knows by it that nothing was cut off */
	}
	free(w.file_known);
	free(w.object_known);
	free(w.function_known);
	pl_callgraph_deinit(&g);
	return err;
}
