/* SPDX-License-Identifier: Apache-2.0 */
/* What valgrind's callgrind and programs that write its format tell: functions with the cost of each line, and calls
 * with what they cost inclusively. Layer import; any thread. Stacks: flow.h.
 *
 * A line is `key=value`, `key: value`, or positions and costs. Names can be `(12) name`, and from then on `(12)`;
 * numbers of lines can be relative to the last ones. Events "Samples" and "ns", which plumb writes, are what they are
 * called; of other events the first one counts, and a unit of it is taken for a sample and for a nanosecond. */
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "importers.h"
#include "span.h"

#define HEAD_BYTES   65536u
#define MAX_COLUMNS  64
#define NO_EVENT     (-1)
#define MOST_ROUNDED 1000 /* of so many parts one */
#define OURS	     "plumb "
#define OUR_ROOT     "<all>"
#define OUR_PYTHON   "<python>" /* the object of what is no machine code */
#define ROOT	     UINT32_MAX /* of our own files: the function that stands for no caller at all */
#define NO_FUNCTION  (UINT32_MAX - 1)

enum space { OBJECTS, FILES, FUNCTIONS };

/* A function as lines name it, piece by piece. */
struct named {
	uint32_t object, file, function; /* of the flow, or ROOT or NO_FUNCTION */
};

/* A name that ends with a line, as plumb writes it, in two. It may be long, and be told once for many lines. */
struct split_name {
	uint32_t name, line;
};

struct reader {
	struct pl_sink *sink;
	struct pl_flow flow;
	struct pl_span rest; /* of the file */
	size_t line;
	struct pl_map names; /* (space, number) -> string */
	struct pl_map split; /* name of a function -> index of what is in it */
	PL_VEC(struct split_name) splits;
	bool ours;
	int positions, line_position, samples_event, ns_event;
	uint64_t last[MAX_COLUMNS]; /* positions of the line before */
	struct named current, called;
	uint32_t line_file; /* file of the lines that follow: fi= and fe= change it */
	bool is_call;	    /* the next costs are those of a call */
	bool has_totals;
	uint32_t pid;
	uint64_t summary, totals; /* what the file says that all of it costs, before and behind the costs; 0: nothing */
};

static bool begins_with(const struct pl_import_input *in, size_t len, const char *text)
{
	return len >= strlen(text) && memcmp(in->bytes, text, strlen(text)) == 0;
}

bool pl_callgrind_is(const struct pl_import_input *in)
{
	size_t len = in->len < HEAD_BYTES ? in->len : HEAD_BYTES;

	return begins_with(in, len, "# callgrind format") ||
	       ((begins_with(in, len, "events:") || memmem(in->bytes, len, "\nevents:", 8)) &&
		memmem(in->bytes, len, "\nfn=", 4));
}

static struct plumb_error *fail(const struct reader *r, const char *what)
{
	return pl_error(PLUMB_ERR_CORRUPT, "line %zu: %s", r->line, what);
}

/* The next line, without blanks around it; false behind the last. */
static bool next_line(struct reader *r, struct pl_span *ret)
{
	if (!pl_span_line(&r->rest, ret))
		return false;
	r->line++;
	*ret = pl_span_trim(*ret);
	return true;
}

/* Decimal, or hexadecimal after 0x; false if it is neither or beyond 64 bits. */
static bool number_of(struct pl_span t, uint64_t *ret)
{
	if (pl_span_starts(t, "0x") || pl_span_starts(t, "0X"))
		return pl_span_hex((struct pl_span){t.s + 2, t.len - 2}, ret);
	return pl_span_decimal(t, ret);
}

static struct plumb_error *intern(struct reader *r, struct pl_span t, uint32_t *ret)
{
	return pl_profile_string(r->sink->profile, t.s, t.len, ret);
}

/* `name`, `(12) name` or `(12)`. */
static struct plumb_error *read_name(struct reader *r, enum space space, struct pl_span t, uint32_t *ret)
{
	const char *close = t.len && *t.s == '(' ? memchr(t.s, ')', t.len) : NULL;
	uint64_t number;
	struct plumb_error *err;

	if (!close || !number_of((struct pl_span){t.s + 1, (size_t)(close - t.s) - 1}, &number))
		return intern(r, t, ret);
	t = pl_span_trim((struct pl_span){close + 1, t.len - (size_t)(close + 1 - t.s)});
	if (t.len == 0)
		return pl_map_get(&r->names, number, space, ret) ? NULL : fail(r, "a number stands for no name yet");
	err = intern(r, t, ret);
	return err || pl_map_set(&r->names, number, space, *ret) ? err : &pl_err_no_memory;
}

/* Without a line @p ret is the whole name. */
static struct plumb_error *split_name(struct reader *r, uint32_t whole, struct split_name *ret)
{
	struct pl_span name;
	uint64_t line = 0;
	size_t at;

	*ret = (struct split_name){.name = whole};
	name.s = pl_strtab_get(r->sink->profile->strings, whole, &name.len);
	for (at = name.len; at && name.s[at - 1] >= '0' && name.s[at - 1] <= '9'; at--)
		;
	if (at < 2 || name.s[at - 1] != ':' || !number_of((struct pl_span){name.s + at, name.len - at}, &line) ||
	    line > INT32_MAX)
		return NULL;
	ret->line = (uint32_t)line;
	return intern(r, (struct pl_span){name.s, at - 1}, &ret->name);
}

/* plumb writes the first line of a function behind its name. */
static struct plumb_error *split_first_line(struct reader *r, struct pl_function *f)
{
	struct split_name s;
	struct plumb_error *err;
	uint32_t at;

	if (!pl_map_get(&r->split, f->name, 0, &at)) {
		at = (uint32_t)r->splits.len;
		err = split_name(r, f->name, &s);
		if (err)
			return err;
		if (!pl_vec_push(&r->splits, s) || !pl_map_set(&r->split, f->name, 0, at))
			return &pl_err_no_memory;
	}
	f->name = r->splits.data[at].name;
	f->firstline = r->splits.data[at].line;
	return NULL;
}

static uint8_t origin_of(const struct reader *r, const struct named *n, struct pl_span file)
{
	struct pl_span object;

	object.s = pl_strtab_get(r->sink->profile->strings, n->object, &object.len);
	if (r->ours && object.len && !pl_span_is(object, OUR_PYTHON))
		return PL_ORIGIN_NATIVE;
	if (pl_span_starts(file, "<frozen ") || (file.len > 3 && pl_span_ends(file, ".py")))
		return PL_ORIGIN_PYTHON;
	return r->ours && !pl_span_is(file, "~") ? PL_ORIGIN_PYTHON : PL_ORIGIN_NATIVE;
}

/* Where the file is not known the object is as good. */
static struct plumb_error *read_function(struct reader *r, struct pl_span t, struct named *n)
{
	struct pl_function f = {0};
	struct pl_span file, name;
	struct plumb_error *err = read_name(r, FUNCTIONS, t, &f.name);

	if (err)
		return err;
	name.s = pl_strtab_get(r->sink->profile->strings, f.name, &name.len);
	if (r->ours && pl_span_is(name, OUR_ROOT)) {
		n->function = ROOT;
		return NULL;
	}
	file.s = pl_strtab_get(r->sink->profile->strings, n->file, &file.len);
	f.file = n->object && (file.len == 0 || pl_span_is(file, "???")) ? n->object : n->file;
	f.origin = origin_of(r, n, file);
	err = r->ours ? split_first_line(r, &f) : NULL;
	return err ? err : pl_flow_function(&r->flow, r->sink, &f, &n->function);
}

/* Absolute, or +n, -n and * relative to the line before. */
static bool read_position(struct pl_span word, uint64_t *last)
{
	uint64_t v;

	if (pl_span_is(word, "*"))
		return true;
	if (word.len && (*word.s == '+' || *word.s == '-')) {
		if (!number_of((struct pl_span){word.s + 1, word.len - 1}, &v))
			return false;
		*last = *word.s == '+' ? *last + v : *last - v; /* of addresses: wraps as they do */
		return true;
	}
	if (!number_of(word, &v))
		return false;
	*last = v;
	return true;
}

static struct plumb_error *read_events(struct reader *r, struct pl_span t, uint64_t events[MAX_COLUMNS])
{
	struct pl_span word = pl_span_word(&t);
	int count = 0;

	for (; word.len; word = pl_span_word(&t)) {
		if (count == MAX_COLUMNS)
			return fail(r, "there are more than 64 costs");
		if (!number_of(word, &events[count++]))
			return fail(r, "a cost is no number");
	}
	return NULL;
}

static struct plumb_error *add_costs(struct reader *r, const struct pl_flow_cost *cost, int32_t line)
{
	struct pl_flow_line self = {.function = r->current.function, .line = line, .cost = *cost};
	struct pl_flow_edge call = {.caller = r->current.function, .callee = r->called.function, .line = line};

	if (!r->is_call) {
		if (self.function == ROOT)
			return fail(r, "the function that stands for no caller costs something itself");
		return pl_vec_push(&r->flow.lines, self) ? NULL : &pl_err_no_memory;
	}
	r->is_call = false;
	call.cost = (double)(r->flow.by_weight ? cost->weight_ns : cost->samples);
	if (call.caller == ROOT && call.callee != ROOT)
		r->flow.functions.data[call.callee].root += call.cost;
	if (call.caller == ROOT || call.callee == ROOT)
		return NULL;
	return pl_vec_push(&r->flow.edges, call) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *read_costs(struct reader *r, struct pl_span t)
{
	uint64_t events[MAX_COLUMNS] = {0}, line;
	struct pl_flow_cost cost;
	struct plumb_error *err;

	if (r->current.function == NO_FUNCTION)
		return fail(r, "costs come before any function");
	if (r->is_call && r->called.function == NO_FUNCTION)
		return fail(r, "it is not said what is called");
	for (int i = 0; i < r->positions; i++) {
		if (!read_position(pl_span_word(&t), &r->last[i]))
			return fail(r, "a position is no number");
	}
	err = read_events(r, t, events);
	if (err)
		return err;
	line = r->line_position == NO_EVENT || r->line_file != r->current.file ? 0 : r->last[r->line_position];
	cost.samples = events[r->samples_event];
	cost.weight_ns = events[r->ns_event];
	return add_costs(r, &cost, line <= INT32_MAX ? (int32_t)line : 0);
}

static struct plumb_error *read_event_names(struct reader *r, struct pl_span t)
{
	struct pl_span word = pl_span_word(&t);

	r->samples_event = r->ns_event = 0;
	for (int i = 0; word.len; word = pl_span_word(&t), i++) {
		if (i == MAX_COLUMNS)
			return fail(r, "there are more than 64 events");
		if (pl_span_is(word, "Samples"))
			r->samples_event = i;
		else if (pl_span_is(word, "ns"))
			r->ns_event = i;
	}
	r->flow.by_weight = r->samples_event != r->ns_event;
	return NULL;
}

static struct plumb_error *read_positions(struct reader *r, struct pl_span t)
{
	struct pl_span word = pl_span_word(&t);

	r->positions = 0;
	r->line_position = NO_EVENT;
	for (; word.len; word = pl_span_word(&t)) {
		if (r->positions == MAX_COLUMNS)
			return fail(r, "there are more than 64 positions");
		if (pl_span_is(word, "line"))
			r->line_position = r->positions;
		r->positions++;
	}
	return r->positions ? NULL : fail(r, "there are no positions");
}

/* Of each part of the file once. Some tools say there what is no number of ours. */
static void add_told(const struct reader *r, struct pl_span costs, uint64_t *told)
{
	struct pl_span word = pl_span_word(&costs);
	uint64_t cost;

	for (int i = 0; i < r->samples_event && word.len; i++)
		word = pl_span_word(&costs);
	if (word.len && number_of(word, &cost))
		*told = pl_sum_u64(*told, cost);
}

static struct plumb_error *read_header(struct reader *r, struct pl_span key, struct pl_span value)
{
	struct pl_meta *meta = &r->sink->profile->meta;
	uint64_t pid;

	if (pl_span_is(key, "events"))
		return read_event_names(r, value);
	if (pl_span_is(key, "positions"))
		return read_positions(r, value);
	if (pl_span_is(key, "cmd"))
		return intern(r, value, &meta->command);
	if (pl_span_is(key, "creator")) {
		r->ours = pl_span_starts(value, OURS);
		r->flow.roots = r->ours ? PL_FLOW_GIVEN : PL_FLOW_UNCALLED;
	}
	if (pl_span_is(key, "totals")) {
		r->has_totals = true;
		add_told(r, value, &r->totals);
	}
	if (pl_span_is(key, "pid") && number_of(value, &pid) && pid <= UINT32_MAX)
		r->pid = (uint32_t)pid;
	else if (pl_span_is(key, "desc") && r->ours && memmem(value.s, value.len, "samples of CPU time", 19))
		meta->mode = PL_MODE_CPU;
	else if (pl_span_is(key, "desc") && r->ours && memmem(value.s, value.len, "with the GIL", 12))
		meta->mode = PL_MODE_GIL;
	else if (pl_span_is(key, "summary"))
		add_told(r, value, &r->summary);
	return NULL; /* version, part and others say nothing about costs */
}

static struct plumb_error *read_assignment(struct reader *r, struct pl_span key, struct pl_span value)
{
	struct plumb_error *err;
	uint32_t ignored;

	if (pl_span_is(key, "ob"))
		return read_name(r, OBJECTS, value, &r->current.object);
	if (pl_span_is(key, "cob"))
		return read_name(r, OBJECTS, value, &r->called.object);
	if (pl_span_is(key, "cfi") || pl_span_is(key, "cfl"))
		return read_name(r, FILES, value, &r->called.file);
	if (pl_span_is(key, "fi") || pl_span_is(key, "fe"))
		return read_name(r, FILES, value, &r->line_file);
	if (pl_span_is(key, "fl")) {
		err = read_name(r, FILES, value, &r->current.file);
		r->line_file = r->current.file;
		r->called = r->current; /* a call within the file or object names it not again */
		return err;
	}
	if (pl_span_is(key, "fn")) {
		r->line_file = r->current.file;
		err = read_function(r, value, &r->current);
		r->called = r->current;
		return err;
	}
	if (pl_span_is(key, "cfn"))
		return read_function(r, value, &r->called);
	if (pl_span_is(key, "calls")) {
		r->is_call = true;
		return NULL;
	}
	/* Where a jump goes costs nothing, but a name that comes here first is not said again. */
	if (pl_span_is(key, "jfi"))
		return read_name(r, FILES, value, &ignored);
	if (pl_span_is(key, "jfn"))
		return read_name(r, FUNCTIONS, value, &ignored);
	if (pl_span_is(key, "jump") || pl_span_is(key, "jcnd"))
		return NULL;
	r->sink->skipped++;
	return NULL;
}

/* After a call the next one is again in the function's own file and object. */
static struct plumb_error *read_line(struct reader *r, struct pl_span t)
{
	size_t at = 0;

	if (t.len == 0 || *t.s == '#')
		return NULL;
	if ((*t.s >= '0' && *t.s <= '9') || *t.s == '+' || *t.s == '-' || *t.s == '*') {
		bool was_call = r->is_call;
		struct plumb_error *err = read_costs(r, t);

		if (was_call)
			r->called = r->current;
		return err;
	}
	while (at < t.len && t.s[at] != '=' && t.s[at] != ':')
		at++;
	if (at == t.len) {
		r->sink->skipped++;
		return NULL;
	}
	if (t.s[at] == '=')
		return read_assignment(r, (struct pl_span){t.s, at},
				       pl_span_trim((struct pl_span){t.s + at + 1, t.len - at - 1}));
	return read_header(r, (struct pl_span){t.s, at}, pl_span_trim((struct pl_span){t.s + at + 1, t.len - at - 1}));
}

/* Ours end with what all of it costs. Of others it is known only if there is less than they say, and they may round
 * each cost: not that the last number is cut, nor by a line that does not end, as some programs leave the last one. */
static bool is_cut(const struct reader *r, uint64_t cost)
{
	uint64_t told = r->summary > r->totals ? r->summary : r->totals;

	if (r->ours)
		return !r->has_totals || r->totals != cost;
	return told > cost && told - cost > told / MOST_ROUNDED;
}

static void set_meta(struct reader *r)
{
	struct pl_meta *meta = &r->sink->profile->meta;
	struct pl_flow_cost all = {0};

	for (size_t i = 0; i < r->flow.lines.len; i++) {
		all.samples = pl_sum_u64(all.samples, r->flow.lines.data[i].cost.samples);
		all.weight_ns = pl_sum_u64(all.weight_ns, r->flow.lines.data[i].cost.weight_ns);
	}
	meta->complete = !is_cut(r, all.samples);
	r->sink->counted = all.weight_ns == 0;
	meta->duration_ns = all.weight_ns;
	meta->period_ns = all.samples ? all.weight_ns / all.samples : 0;
}

struct plumb_error *pl_callgrind_read(const struct pl_import_input *in, struct pl_sink *sink)
{
	struct reader r = {.sink = sink,
			   .rest = {(const char *)in->bytes, in->len},
			   .positions = 1,
			   .current.function = NO_FUNCTION,
			   .called.function = NO_FUNCTION};
	struct plumb_error *err = NULL;
	struct pl_span line;
	uint32_t thread;

	while (!err && next_line(&r, &line))
		err = read_line(&r, line);
	if (!err)
		err = pl_flow_thread(sink, r.pid, "callgrind", &thread);
	set_meta(&r);
	if (!err)
		err = pl_flow_write(&r.flow, thread, sink);
	pl_map_deinit(&r.names);
	pl_map_deinit(&r.split);
	pl_vec_deinit(&r.splits);
	pl_flow_deinit(&r.flow);
	return err;
}
