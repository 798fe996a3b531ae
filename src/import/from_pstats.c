/* SPDX-License-Identifier: Apache-2.0 */
/* What cProfile, profile and this program's own exporter write: {(file, first line, name): (cc, nc, tt, ct, callers)},
 * where callers are {function: (nc, cc, tt, ct)}, or of the old pure-Python profile {function: nc}. Layer import; any
 * thread. Times are seconds. Stacks: flow.h. */
#include <math.h>
#include <string.h>

#include "clock.h"
#include "flow.h"
#include "importers.h"
#include "marshal.h"

#define UNIT_NS	    1000u /* what counts as a sample */
#define MAX_SECONDS 4e9	  /* more than a century, and far from the end of 64 bits of nanoseconds */

/* Of a caller: its part of the callee's inclusive time is known, or to be made of the number of calls. */
struct reader {
	struct pl_marshal m;
	struct pl_sink *sink;
	struct pl_flow flow;
};

bool pl_pstats_is(const struct pl_import_input *in)
{
	uint8_t second = in->len > 1 ? in->bytes[1] & 0x7f : 0;

	if (in->len < 2 || (in->bytes[0] & 0x7f) != '{')
		return false;
	if (second == '0')
		return in->len == 2;
	if (second == ')')
		return in->len > 2 && in->bytes[2] == 3;
	return second == '(' && in->len > 5 && memcmp(in->bytes + 2, "\3\0\0\0", 4) == 0;
}

static struct plumb_error *expect(struct reader *r, enum pl_marshal_kind kind, const char *what,
				  struct pl_marshal_token *ret)
{
	struct plumb_error *err = pl_marshal_next(&r->m, ret);

	return err || ret->kind == kind ? err : pl_marshal_fail(&r->m, what);
}

static struct plumb_error *read_string(struct reader *r, const char *what, uint32_t *ret)
{
	struct pl_marshal_token t;
	struct plumb_error *err = expect(r, PL_MARSHAL_TEXT, what, &t);

	if (err)
		return err;
	if (t.has_kept) {
		*ret = t.kept;
		return NULL;
	}
	err = pl_profile_string(r->sink->profile, t.text, t.count, ret);
	pl_marshal_keep_text(&r->m, &t, *ret);
	return err;
}

/* Builtins have the file "~" and no line, as plumb's own markers and native functions are written. */
static uint8_t origin_of(const struct plumb_profile *p, const struct pl_function *f)
{
	if (f->firstline || strcmp(pl_strtab_get(p->strings, f->file, NULL), "~") != 0)
		return PL_ORIGIN_PYTHON;
	return PL_ORIGIN_NATIVE;
}

/* The rest of a key whose head is @p head. */
static struct plumb_error *read_key(struct reader *r, const struct pl_marshal_token *head, uint32_t *ret)
{
	struct pl_function f = {0};
	struct pl_marshal_token line = {0};
	struct plumb_error *err;

	if (head->kind == PL_MARSHAL_KEPT) {
		*ret = head->kept;
		return NULL;
	}
	if (head->kind != PL_MARSHAL_TUPLE || head->count != 3)
		return pl_marshal_fail(&r->m, "a function is no (file, line, name)");
	err = read_string(r, "the file of a function is no text", &f.file);
	if (!err)
		err = expect(r, PL_MARSHAL_INT, "the line of a function is no number", &line);
	if (!err)
		err = read_string(r, "the name of a function is no text", &f.name);
	if (err)
		return err;
	f.firstline = line.number > 0 && line.number <= INT32_MAX ? (uint32_t)line.number : 0;
	f.origin = origin_of(r->sink->profile, &f);
	err = pl_flow_function(&r->flow, r->sink, &f, ret);
	pl_marshal_keep(&r->m, head->ref, *ret);
	return err;
}

static struct plumb_error *read_number(struct reader *r, double *ret)
{
	struct pl_marshal_token t;
	struct plumb_error *err = pl_marshal_next(&r->m, &t);

	if (err)
		return err;
	if ((t.kind != PL_MARSHAL_INT && t.kind != PL_MARSHAL_FLOAT) || !isfinite(t.number))
		return pl_marshal_fail(&r->m, "a figure of a function is no number");
	*ret = t.number;
	return NULL;
}

/* Clocks that go back make tiny negative times. */
static struct plumb_error *read_seconds(struct reader *r, double *ret_ns)
{
	double seconds = 0;
	struct plumb_error *err = read_number(r, &seconds);

	if (!err && seconds > MAX_SECONDS)
		return pl_marshal_fail(&r->m, "a time is longer than a century");
	*ret_ns = seconds > 0 ? seconds * (double)PL_NS_PER_S : 0;
	return err;
}

/* cc, nc, tt, ct: only the times say something about time. */
static struct plumb_error *read_figures(struct reader *r, double *calls, double *self_ns, double *total_ns)
{
	double primitive;
	struct plumb_error *err = read_number(r, calls);

	if (!err)
		err = read_number(r, &primitive);
	if (!err)
		err = read_seconds(r, self_ns);
	return err ? err : read_seconds(r, total_ns);
}

static struct plumb_error *add_edge(struct reader *r, uint32_t caller, uint32_t callee, double cost)
{
	struct pl_flow_edge e = {.caller = caller, .callee = callee, .cost = cost};

	return pl_vec_push(&r->flow.edges, e) ? NULL : &pl_err_no_memory;
}

/* One caller and its figures. Returns in *calls what is to be shared out by numbers of calls. */
static struct plumb_error *read_caller(struct reader *r, const struct pl_marshal_token *head, uint32_t callee,
				       double *calls)
{
	struct pl_marshal_token t;
	double self_ns, total_ns, ignored;
	uint32_t caller = 0;
	struct plumb_error *err = read_key(r, head, &caller);

	if (!err)
		err = pl_marshal_next(&r->m, &t);
	if (err)
		return err;
	if (t.kind == PL_MARSHAL_TUPLE && t.count == 4) {
		err = read_figures(r, &ignored, &self_ns, &total_ns);
		return err ? err : add_edge(r, caller, callee, total_ns);
	}
	if (t.kind != PL_MARSHAL_INT || !(t.number >= 0))
		return pl_marshal_fail(&r->m, "the figures of a caller are neither a number nor four");
	*calls += t.number;
	return add_edge(r, caller, callee, t.number);
}

static struct plumb_error *read_callers(struct reader *r, uint32_t callee, double total_ns)
{
	struct pl_marshal_token t;
	size_t first = r->flow.edges.len;
	double calls = 0;
	struct plumb_error *err = expect(r, PL_MARSHAL_DICT, "the callers of a function are no dictionary", &t);

	while (!err && !(err = pl_marshal_next(&r->m, &t)) && t.kind != PL_MARSHAL_END)
		err = read_caller(r, &t, callee, &calls);
	for (size_t i = first; i < r->flow.edges.len && calls > 0 && !err; i++)
		r->flow.edges.data[i].cost *= total_ns / calls;
	return err;
}

static struct plumb_error *read_function(struct reader *r, const struct pl_marshal_token *head)
{
	struct pl_flow_line line = {0};
	struct pl_marshal_token t;
	double calls, self_ns = 0, total_ns = 0;
	struct plumb_error *err = read_key(r, head, &line.function);

	if (!err)
		err = expect(r, PL_MARSHAL_TUPLE, "the figures of a function are no tuple", &t);
	if (!err && t.count != 5)
		err = pl_marshal_fail(&r->m, "the figures of a function are not five");
	if (!err)
		err = read_figures(r, &calls, &self_ns, &total_ns);
	if (!err)
		err = read_callers(r, line.function, total_ns);
	if (err)
		return err;
	r->flow.functions.data[line.function].total = total_ns;
	line.cost.weight_ns = (uint64_t)(self_ns + 0.5);
	line.cost.samples = (line.cost.weight_ns + UNIT_NS / 2) / UNIT_NS;
	return pl_vec_push(&r->flow.lines, line) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *read_all(struct reader *r)
{
	struct pl_marshal_token t;
	struct plumb_error *err = expect(r, PL_MARSHAL_DICT, "the file holds no dictionary", &t);

	while (!err && !(err = pl_marshal_next(&r->m, &t)) && t.kind != PL_MARSHAL_END)
		err = read_function(r, &t);
	return err;
}

struct plumb_error *pl_pstats_read(const struct pl_import_input *in, struct pl_sink *sink)
{
	struct reader r = {.sink = sink, .flow = {.by_weight = true, .roots = PL_FLOW_TOTALS}};
	struct plumb_error *err;
	uint64_t all_ns = 0;
	uint32_t thread;

	pl_marshal_init(&r.m, in->bytes, in->len);
	err = read_all(&r);
	for (size_t i = 0; i < r.flow.lines.len; i++)
		all_ns = pl_sum_u64(all_ns, r.flow.lines.data[i].cost.weight_ns);
	if (!err)
		err = pl_flow_thread(sink, 0, "pstats", &thread);
	sink->profile->meta.period_ns = UNIT_NS;
	sink->profile->meta.duration_ns = all_ns;
	if (!err)
		err = pl_flow_write(&r.flow, thread, sink);
	pl_marshal_deinit(&r.m);
	pl_flow_deinit(&r.flow);
	return err;
}
