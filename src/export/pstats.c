/* SPDX-License-Identifier: Apache-2.0 */
/* pstats: what cProfile writes and `python -m pstats` reads. Layer export; any thread. Streams.
 *
 * A marshalled dictionary {(file, first line, name): (cc, nc, tt, ct, {caller: (cc, nc, tt, ct)})}, in version 2 of
 * marshal, which every Python from 2.7 on reads. tt and ct are seconds of the function itself and with what it calls,
 * once per stack even under recursion. A sampler does not count calls: cc and nc are the samples that the function was
 * on the stack in. Texts have the code of interned strings: the native str of both Python 2 and 3. */
#include <string.h>

#include "callgraph.h"
#include "clock.h"
#include "formats.h"

static void put_u32(uint32_t v, FILE *out)
{
	for (int i = 0; i < 4; i++, v >>= 8)
		putc((int)(v & 0xff), out);
}

static void put_tuple(uint32_t items, FILE *out)
{
	putc('(', out);
	put_u32(items, out);
}

static void put_text(struct pl_text t, FILE *out)
{
	putc('t', out);
	put_u32((uint32_t)t.len, out);
	fwrite(t.s, 1, t.len, out);
}

/* Beyond 31 bits a long: digits of 15 bits. */
static void put_count(uint64_t v, FILE *out)
{
	uint32_t digits = 0;

	if (v <= INT32_MAX) {
		putc('i', out);
		put_u32((uint32_t)v, out);
		return;
	}
	for (uint64_t rest = v; rest; rest >>= 15)
		digits++;
	putc('l', out);
	put_u32(digits, out);
	for (; v; v >>= 15) {
		putc((int)(v & 0xff), out);
		putc((int)(v >> 8 & 0x7f), out);
	}
}

static void put_seconds(uint64_t ns, FILE *out)
{
	double seconds = (double)ns / (double)PL_NS_PER_S;
	uint64_t bits;

	memcpy(&bits, &seconds, sizeof bits);
	putc('g', out);
	put_u32((uint32_t)bits, out);
	put_u32((uint32_t)(bits >> 32), out);
}

static void put_figures(const struct pl_graph_cost *self, const struct pl_graph_cost *total, FILE *out)
{
	put_count(total->samples, out);
	put_count(total->samples, out);
	put_seconds(self->weight_ns, out);
	put_seconds(total->weight_ns, out);
}

static void put_key(const struct pl_callgraph *g, uint32_t function, FILE *out)
{
	const struct pl_graph_function *f = &g->functions.data[function];
	struct pl_text file = pl_callgraph_text(g, f->file);

	put_tuple(3, out);
	put_text(file.len ? file : (struct pl_text){"~", 1}, out);
	put_count(f->firstline, out);
	put_text(pl_callgraph_text(g, f->name), out);
}

/* Its edges lie at *at, and *at is moved behind them. */
static void put_function(const struct pl_callgraph *g, uint32_t function, size_t *at, FILE *out)
{
	const struct pl_graph_function *f = &g->functions.data[function];

	put_key(g, function, out);
	put_tuple(5, out);
	put_figures(&f->self, &f->total, out);
	putc('{', out);
	for (; *at < g->edges.len && g->edges.data[*at].callee == function; (*at)++) {
		const struct pl_graph_edge *e = &g->edges.data[*at];

		if (e->caller == PL_GRAPH_ROOT)
			continue;
		put_key(g, e->caller, out);
		put_tuple(4, out);
		put_figures(&e->self, &e->once, out);
	}
	putc('0', out);
}

struct plumb_error *pl_pstats_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct pl_graph_options go = {.full_names = o->full_names, .clean = pl_graph_clean_utf8};
	struct pl_callgraph g;
	struct plumb_error *err = pl_callgraph_build(p, &go, &g);
	size_t at = 0;

	if (err)
		return err;
	putc('{', out);
	for (uint32_t i = 0; i < g.functions.len && !ferror(out); i++)
		put_function(&g, i, &at, out);
	putc('0', out);
	pl_callgraph_deinit(&g);
	return NULL;
}
