/* SPDX-License-Identifier: Apache-2.0 */
/* Four times the file is four times the work and the memory, in each format: for files as they are, and for those that
 * somebody made so that few bytes ask for much. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "counted.h"
#include "import.h"
#include "protobuf.h"
#include "unit.h"

#define ITEMS	    1024u
#define WORK_A_CALL 3500u

static void say(struct pl_buf *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct pl_buf *to, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	int len = vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	assert_in_range(len, 0, sizeof text - 1);
	assert_ok(pl_buf_add(to, text, (size_t)len));
}

static void repeat(struct pl_buf *to, const char *text, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		say(to, "%s", text);
}

/* ---- collapsed stacks ---- */

static void folded_lines(struct pl_buf *to, unsigned items)
{
	for (unsigned i = 0; i < items; i++)
		say(to, "a.py:main:1;b.py:f%u:%u;c.py:g%u:%u %u\n", i % 100, i % 7, i, i % 11, 1 + i % 5);
}

static void folded_deep_stack(struct pl_buf *to, unsigned items)
{
	for (unsigned i = 0; i < items; i++)
		say(to, "a.py:f%u:%u;", i % 10, i % 7);
	say(to, "end 1\n");
}

static void folded_long_name(struct pl_buf *to, unsigned items)
{
	repeat(to, "((::", items);
	say(to, " 1\n");
}

/* ---- callgrind ---- */

static void callgrind_chain(struct pl_buf *to, unsigned items)
{
	say(to, "# callgrind format\nevents: Ir\n");
	for (unsigned i = 0; i < items; i++)
		say(to, "fn=f%u\n%u 10\ncfn=f%u\ncalls=1 1\n%u %u\n", i, i, i + 1, i, 10 * (items - i));
	say(to, "fn=f%u\n1 10\n", items);
}

/* Each line of a function is met at each place where the function is called. */
static void callgrind_lines_and_callers(struct pl_buf *to, unsigned items)
{
	say(to, "# callgrind format\nevents: Ir\nfn=leaf\n");
	for (unsigned i = 0; i < items; i++)
		say(to, "%u 1000000\n", i + 1);
	for (unsigned i = 0; i < items; i++)
		say(to, "fn=c%u\n1 1\ncfn=leaf\ncalls=1 1\n1 1000000\n", i);
}

static void callgrind_everybody_calls_everybody(struct pl_buf *to, unsigned items)
{
	unsigned functions = 1;

	while (functions * functions < items)
		functions++;
	say(to, "# callgrind format\nevents: Ir\n");
	for (unsigned i = 0; i < functions; i++) {
		say(to, "fn=f%u\n1 1000\n", i);
		for (unsigned k = 0; k < functions; k++)
			say(to, "cfn=f%u\ncalls=1 1\n1 1000000\n", k);
	}
}

/* A name is told once and meant often; its end is looked at for a number. */
static void callgrind_long_name_told_once(struct pl_buf *to, unsigned items)
{
	say(to, "# callgrind format\ncreator: plumb 1\nevents: Ir\nfn=(1) f:");
	repeat(to, "00000000", items);
	say(to, "1\n");
	for (unsigned i = 0; i < items; i++)
		say(to, "fn=(1)\n%u 1\n", i);
}

/* ---- Dask ---- */

#define DASK_NODE                                                                                                      \
	"\"count\":%u,\"identifier\":\"f%u;a.py;3\",\"description\":{\"filename\":\"a.py\",\"name\":\"f%u\","          \
	"\"line_number\":%u,\"line\":\"\"}"

static void dask_flat(struct pl_buf *to, unsigned items)
{
	say(to, "{" DASK_NODE ",\"children\":{", items, 0u, 0u, 1u);
	for (unsigned i = 0; i < items; i++)
		say(to, "%s\"f%u\":{" DASK_NODE ",\"children\":{}}", i ? "," : "", i, 1u, i, i, i % 9);
	say(to, "}}");
}

static void dask_deep(struct pl_buf *to, unsigned items)
{
	const unsigned depth = 250;

	say(to, "{" DASK_NODE ",\"children\":{", items, 0u, 0u, 1u);
	for (unsigned i = 0; i < items; i += depth) {
		say(to, "%s\"k%u\":{\"children\":{", i ? "," : "", i);
		for (unsigned k = 1; k < depth; k++)
			say(to, "\"k\":{\"children\":{");
		for (unsigned k = 0; k < depth; k++)
			say(to, "}," DASK_NODE "}", k + 1, i + k, i + k, k);
	}
	say(to, "}}");
}

/* ---- perf script ---- */

static void perf_events(struct pl_buf *to, unsigned items)
{
	for (unsigned i = 0; i < items; i++)
		say(to, "python 7/%u 1.%06u: 1000 cpu-clock:\n\t%x f%u+0x1 (/usr/bin/x)\n\t10 main (/usr/bin/x)\n\n",
		    7 + i % 50, i, 4096 + i, i % 300);
}

static void perf_deep_stack(struct pl_buf *to, unsigned items)
{
	say(to, "python 7/7 1.0: 1000 cpu-clock:\n");
	for (unsigned i = 0; i < items; i++)
		say(to, "\t%x f%u (((a.so)\n", 4096 + i, i % 10);
	say(to, "\n");
}

static void perf_times_in_a_name(struct pl_buf *to, unsigned items)
{
	perf_events(to, 1);
	repeat(to, "1.0: x/y ", items);
	say(to, "7/7 1.0: 1000 cpu-clock:\n\t10 main (/usr/bin/x)\n\n");
}

static void perf_times_behind_blanks(struct pl_buf *to, unsigned items)
{
	perf_events(to, 1);
	repeat(to, "    ", items);
	repeat(to, "1.5: ", items);
	say(to, "\n");
}

/* ---- pprof ---- */

enum { SAMPLE_TYPE = 1, SAMPLE = 2, MAPPING = 3, LOCATION = 4, FUNCTION = 5, STRING = 6, COMMENT = 13 };
enum { EMPTY, SAMPLES, COUNT, NAME, STATE, MARK, LONG }; /* strings */

static void pb_strings(struct pl_pb *w, const struct pl_buf *text)
{
	static const char *const strings[] = {"", "samples", "count", "f", "state", "plumb: 1"};

	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		pl_pb_item(w, STRING, strings[i], strlen(strings[i]));
	pl_pb_item(w, STRING, text->data ? (const void *)text->data : "", text->len);
	size_t type = pl_pb_begin(w, SAMPLE_TYPE);
	pl_pb_u64(w, 1, SAMPLES);
	pl_pb_u64(w, 2, COUNT);
	pl_pb_end(w, type);
}

static void pb_location(struct pl_pb *w, uint64_t id, uint64_t function)
{
	size_t location = pl_pb_begin(w, LOCATION);

	pl_pb_u64(w, 1, id);
	pl_pb_u64(w, 2, 1);
	pl_pb_u64(w, 3, 0x1000 + id);
	if (function) {
		size_t line = pl_pb_begin(w, 4);
		pl_pb_u64(w, 1, function);
		pl_pb_u64(w, 2, id);
		pl_pb_end(w, line);
	}
	pl_pb_end(w, location);
}

static void pb_tables(struct pl_pb *w, unsigned locations, bool with_lines)
{
	size_t mapping = pl_pb_begin(w, MAPPING);

	pl_pb_u64(w, 1, 1);
	pl_pb_u64(w, 5, LONG);
	pl_pb_end(w, mapping);
	size_t function = pl_pb_begin(w, FUNCTION);
	pl_pb_u64(w, 1, 1);
	pl_pb_u64(w, 2, NAME);
	pl_pb_end(w, function);
	for (unsigned i = 1; i <= locations; i++)
		pb_location(w, i, with_lines);
}

/* @p label_name: of one whose value is LONG; EMPTY: none. */
static void pb_sample(struct pl_pb *w, uint64_t location, uint64_t label_name)
{
	size_t sample = pl_pb_begin(w, SAMPLE);

	pl_pb_u64(w, 1, location);
	pl_pb_u64(w, 2, 1);
	if (label_name) {
		size_t label = pl_pb_begin(w, 3);
		pl_pb_u64(w, 1, label_name);
		pl_pb_u64(w, 2, LONG);
		pl_pb_end(w, label);
	}
	pl_pb_end(w, sample);
}

static void pb_file(struct pl_buf *to, const char *part, unsigned parts, void (*rest)(struct pl_pb *w, unsigned items),
		    unsigned items)
{
	struct pl_buf text = PL_BUF_INIT(1 << 26);
	struct pl_pb w;

	repeat(&text, part, parts);
	pl_pb_init(&w, NULL);
	pb_strings(&w, &text);
	rest(&w, items);
	assert_null(w.err);
	assert_ok(pl_buf_add(to, w.buf.data, w.buf.len));
	pl_pb_deinit(&w);
	pl_buf_deinit(&text);
}

static void pb_plain_rest(struct pl_pb *w, unsigned items)
{
	pb_tables(w, items, true);
	for (unsigned i = 1; i <= items; i++)
		pb_sample(w, i, EMPTY);
}

static void pprof_plain(struct pl_buf *to, unsigned items)
{
	pb_file(to, "/bin/x", 1, pb_plain_rest, items);
}

static void pprof_long_mapping(struct pl_buf *to, unsigned items)
{
	pb_file(to, "/directory/[kerne", items, pb_plain_rest, items);
}

static void pb_addresses_rest(struct pl_pb *w, unsigned items)
{
	pb_tables(w, items, false);
	for (unsigned i = 1; i <= items; i++)
		pb_sample(w, i, EMPTY);
}

static void pprof_addresses_in_a_long_mapping(struct pl_buf *to, unsigned items)
{
	pb_file(to, "/directory/[kerne", items, pb_addresses_rest, items);
}

static void pb_states_rest(struct pl_pb *w, unsigned items)
{
	pb_tables(w, 1, true);
	for (unsigned i = 1; i <= items; i++)
		pb_sample(w, 1, STATE);
}

static void pprof_long_state(struct pl_buf *to, unsigned items)
{
	pb_file(to, "on-cpu,", items, pb_states_rest, items);
}

/* A label of the program, which is read of our files only: its name is as long as its value. */
static void pb_labels_rest(struct pl_pb *w, unsigned items)
{
	pb_tables(w, 1, true);
	pl_pb_u64(w, COMMENT, MARK);
	for (unsigned i = 0; i < items; i++)
		pb_sample(w, 1, LONG);
}

static void pprof_long_label(struct pl_buf *to, unsigned items)
{
	pb_file(to, "0123456789abcdef0123456789abcdef", items, pb_labels_rest, items);
}

static void pb_comments_rest(struct pl_pb *w, unsigned items)
{
	pb_tables(w, 1, true);
	for (unsigned i = 0; i < items; i++)
		pl_pb_u64(w, COMMENT, LONG);
	pb_sample(w, 1, EMPTY);
}

static void pprof_one_comment_often(struct pl_buf *to, unsigned items)
{
	pb_file(to, "plumb::::::", items, pb_comments_rest, items);
}

/* Each line of a function costs a frame wherever the location is named. */
static void pb_inlined_rest(struct pl_pb *w, unsigned items)
{
	pb_tables(w, 0, false);
	size_t location = pl_pb_begin(w, LOCATION);
	pl_pb_u64(w, 1, 1);
	for (unsigned i = 0; i < 8; i++) {
		size_t line = pl_pb_begin(w, 4);
		pl_pb_u64(w, 1, 1);
		pl_pb_u64(w, 2, i + 1);
		pl_pb_end(w, line);
	}
	pl_pb_end(w, location);
	size_t sample = pl_pb_begin(w, SAMPLE);
	for (unsigned i = 0; i < items; i++)
		pl_pb_u64(w, 1, 1);
	pl_pb_u64(w, 2, 1);
	pl_pb_end(w, sample);
}

static void pprof_inlined(struct pl_buf *to, unsigned items)
{
	pb_file(to, "x", 1, pb_inlined_rest, items);
}

/* ---- pstats ---- */

static void put_u32(struct pl_buf *to, char code, uint32_t v)
{
	const uint8_t bytes[] = {(uint8_t)code, (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};

	assert_ok(pl_buf_add(to, bytes, sizeof bytes));
}

/* cc, nc, tt, ct */
static void put_figures(struct pl_buf *to)
{
	static const double seconds[] = {0.25, 0.5};

	put_u32(to, 'i', 1);
	put_u32(to, 'i', 1);
	for (int i = 0; i < 2; i++) {
		say(to, "g");
		assert_ok(pl_buf_add(to, &seconds[i], sizeof seconds[i]));
	}
}

static void put_name(struct pl_buf *to, const char *prefix, unsigned number)
{
	char name[32];
	int len = snprintf(name, sizeof name, "%s%u", prefix, number);

	put_u32(to, 'u', (uint32_t)len);
	say(to, "%s", name);
}

static void pstats_chain(struct pl_buf *to, unsigned items)
{
	say(to, "{");
	for (unsigned i = 0; i < items; i++) {
		put_u32(to, '(', 3);
		put_name(to, "file", i % 30);
		put_u32(to, 'i', i);
		put_name(to, "f", i);
		put_u32(to, '(', 5);
		put_figures(to);
		say(to, "{");
		if (i) {
			put_u32(to, '(', 3);
			put_name(to, "file", (i - 1) % 30);
			put_u32(to, 'i', i - 1);
			put_name(to, "f", i - 1);
			put_u32(to, '(', 4);
			put_figures(to);
		}
		say(to, "0");
	}
	say(to, "0");
}

/* A text stands there once, and is referred to. */
static void put_long_text(struct pl_buf *to, char code, unsigned i, unsigned items)
{
	if (i) {
		put_u32(to, code == 't' ? 'R' : 'r', 0);
		return;
	}
	put_u32(to, code, 16 * items);
	repeat(to, "0123456789abcdef", items);
}

static void put_one_text_often(struct pl_buf *to, char code, unsigned items)
{
	say(to, "{");
	for (unsigned i = 0; i < items; i++) {
		put_u32(to, '(', 3);
		put_long_text(to, code, i, items);
		put_u32(to, 'i', i);
		put_name(to, "f", 1);
		put_u32(to, '(', 5);
		put_figures(to);
		say(to, "{0");
	}
	say(to, "0");
}

static void pstats_one_text_often(struct pl_buf *to, unsigned items)
{
	put_one_text_often(to, (char)('u' | 0x80), items);
}

static void pstats_one_interned_text_often(struct pl_buf *to, unsigned items)
{
	put_one_text_often(to, 't', items);
}

/* ---- samples of collectors ---- */

static void samples_ticks(struct pl_buf *to, unsigned items)
{
	say(to, "{\"sample_interval_usec\":100,\"samples\":[");
	for (unsigned i = 0; i < items; i++)
		say(to,
		    "%s{\"interpreters\":[{\"threads\":[{\"id\":%u,\"status\":3,\"frames\":[[\"a.py\",%u,\"f%u\",null]"
		    ",[\"a.py\",1,\"main\",null]]}]}]}",
		    i ? "," : "", i % 20, i % 9, i);
	say(to, "]}");
}

static void begin_tasks(struct pl_buf *to)
{
	say(to, "{\"sample_interval_usec\":100,\"samples\":[{\"awaited\":[{\"thread_id\":1,\"tasks\":[");
}

static void put_task(struct pl_buf *to, unsigned id, unsigned parent)
{
	say(to, "{\"id\":%u,\"coros\":[{\"frames\":[[\"a.py\",%u,\"co\",null]]}],\"awaited_by\":[%u]},", id, id % 9,
	    parent);
}

/* The last of them is awaited by nobody. */
static void end_tasks(struct pl_buf *to, unsigned id)
{
	say(to, "{\"id\":%u,\"coros\":[]}]}]}", id);
}

static void samples_leaves_on_a_chain(struct pl_buf *to, unsigned items)
{
	begin_tasks(to);
	for (unsigned i = 0; i < items; i++)
		put_task(to, i, i + 1);
	for (unsigned i = 0; i < items; i++)
		put_task(to, 2 * items + i, 0);
	end_tasks(to, items);
	say(to, "]}");
}

/* Each leaf enters the ring at another place, and its way round is another one. */
static void samples_leaves_on_a_ring(struct pl_buf *to, unsigned items)
{
	begin_tasks(to);
	for (unsigned i = 0; i < items; i++)
		put_task(to, i, (i + 1) % items);
	for (unsigned i = 0; i < items; i++)
		put_task(to, 2 * items + i, i);
	end_tasks(to, 4 * items);
	say(to, "]}");
}

static unsigned square_root(unsigned n)
{
	unsigned root = 1;

	while ((root + 1) * (root + 1) <= n)
		root++;
	return root;
}

/* Of as many tasks as there may be where each way round is another one, because of others that wait for nothing;
 * put_one adds what one task of the ring has. */
static void ring_among_many(struct pl_buf *to, unsigned items, void (*put_one)(struct pl_buf *to, unsigned items))
{
	unsigned ring = 2 * square_root(items);

	begin_tasks(to);
	put_one(to, items);
	for (unsigned i = 1; i < ring; i++)
		put_task(to, i, (i + 1) % ring);
	for (unsigned i = 0; i < ring; i++)
		put_task(to, ring + i, i);
	for (unsigned i = 0; i < items; i++)
		say(to, "{\"id\":%u},", 2 * ring + i);
	end_tasks(to, 2 * ring + items);
	say(to, "]}");
}

static void put_deep_task(struct pl_buf *to, unsigned items)
{
	say(to, "{\"id\":0,\"coros\":[{\"frames\":[");
	for (unsigned i = 0; i < 8 * items; i++)
		say(to, "%s[\"\",%u,\"\"]", i ? "," : "", 1 + i % 9);
	say(to, "]}],\"awaited_by\":[1]},");
}

static void samples_deep_task_on_a_ring(struct pl_buf *to, unsigned items)
{
	ring_among_many(to, items, put_deep_task);
}

static void put_task_of_a_long_name(struct pl_buf *to, unsigned items)
{
	say(to, "{\"id\":0,\"name\":\"");
	repeat(to, "0123456789abcdef", 16 * items);
	say(to, "\",\"coros\":[],\"awaited_by\":[1]},");
}

static void samples_long_name_on_a_ring(struct pl_buf *to, unsigned items)
{
	ring_among_many(to, items, put_task_of_a_long_name);
}

static void samples_many_tasks_and_then_few(struct pl_buf *to, unsigned items)
{
	begin_tasks(to);
	for (unsigned i = 0; i < items; i++)
		put_task(to, i, items);
	end_tasks(to, items);
	for (unsigned i = 0; i < items; i++) {
		say(to, ",{\"awaited\":[{\"thread_id\":1,\"tasks\":[");
		put_task(to, 1, 2);
		end_tasks(to, 2);
	}
	say(to, "]}");
}

/* ---- speedscope ---- */

static void begin_speedscope(struct pl_buf *to, unsigned frames)
{
	say(to, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[");
	for (unsigned i = 0; i < frames; i++)
		say(to, "%s{\"name\":\"f%u\",\"file\":\"a.py\",\"line\":%u}", i ? "," : "", i, i % 9);
	say(to, "]},\"profiles\":[");
}

static void speedscope_samples(struct pl_buf *to, unsigned items)
{
	begin_speedscope(to, items);
	say(to, "{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"seconds\",\"startValue\":0,\"samples\":[");
	for (unsigned i = 0; i < items; i++)
		say(to, "%s[0,%u]", i ? "," : "", i);
	say(to, "],\"weights\":[");
	for (unsigned i = 0; i < items; i++)
		say(to, "%s1", i ? "," : "");
	say(to, "]}]}");
}

static void speedscope_deep_events(struct pl_buf *to, unsigned items)
{
	begin_speedscope(to, 10);
	say(to, "{\"type\":\"evented\",\"name\":\"t\",\"unit\":\"seconds\",\"startValue\":0,\"events\":[");
	for (unsigned i = 0; i < items; i++)
		say(to, "%s{\"type\":\"O\",\"frame\":%u,\"at\":%u}", i ? "," : "", i % 10, i);
	for (unsigned i = items; i-- > 0;)
		say(to, ",{\"type\":\"C\",\"frame\":%u,\"at\":%u}", i % 10, 2 * items - i);
	say(to, "]}]}");
}

static void speedscope_many_threads(struct pl_buf *to, unsigned items)
{
	begin_speedscope(to, 2);
	for (unsigned i = 0; i < items; i++)
		say(to,
		    "%s{\"type\":\"sampled\",\"name\":\"t%u\",\"unit\":\"none\",\"startValue\":0,\"samples\":[[0,1]],"
		    "\"weights\":[1]}",
		    i ? "," : "", i);
	say(to, "]}");
}

/* ---- all of them ---- */

struct shape {
	const char *importer, *name;
	void (*make)(struct pl_buf *to, unsigned items);
};

static void read_shape(void *ctx, unsigned items)
{
	const struct shape *s = ctx;
	struct pl_buf bytes = PL_BUF_INIT(1 << 28);
	struct plumb_profile *p;

	s->make(&bytes, items);
	assert_ok(pl_buf_add_u8(&bytes, 0));
	struct pl_import_input in = {.bytes = bytes.data, .len = bytes.len - 1};
	const struct pl_importer *importer = pl_importer_by_name(s->importer);
	counted_begin();
	assert_ok(pl_profile_create(&p));
	struct pl_sink sink = {.profile = p};
	(void)importer->is(&in);
	assert_ok(pl_importer_run(importer, &in, &sink));
	counted_end();
	assert_true(p->cell_count > 0);
	pl_profile_destroy(p);
	pl_buf_deinit(&bytes);
}

/* Where each of 256 functions calls all of them, there are more ways than could ever be gone; how far they are gone
 * follows the number of calls. */
static void a_graph_of_many_calls_is_gone_through_as_far_as_it_is_long(void **state)
{
	struct shape all = {"callgrind", NULL, callgrind_everybody_calls_everybody};
	const unsigned calls = 256 * 256;
	const uint64_t before = counted_now().work;

	(void)state;
	read_shape(&all, calls);
	assert_in_range(counted_now().work - before, 0, (uint64_t)WORK_A_CALL * calls);
}

static void work_follows_the_length_of_the_file(void **state)
{
	counted_linear(read_shape, *state, ITEMS);
}

#define SHAPE(importer, make)                                                                                          \
	{                                                                                                              \
		importer, #make, make                                                                                  \
	}

static struct shape shapes[] = {
	SHAPE("collapsed", folded_lines),
	SHAPE("collapsed", folded_deep_stack),
	SHAPE("collapsed", folded_long_name),
	SHAPE("callgrind", callgrind_chain),
	SHAPE("callgrind", callgrind_lines_and_callers),
	SHAPE("callgrind", callgrind_everybody_calls_everybody),
	SHAPE("callgrind", callgrind_long_name_told_once),
	SHAPE("dask", dask_flat),
	SHAPE("dask", dask_deep),
	SHAPE("perf-script", perf_events),
	SHAPE("perf-script", perf_deep_stack),
	SHAPE("perf-script", perf_times_in_a_name),
	SHAPE("perf-script", perf_times_behind_blanks),
	SHAPE("pprof", pprof_plain),
	SHAPE("pprof", pprof_long_mapping),
	SHAPE("pprof", pprof_addresses_in_a_long_mapping),
	SHAPE("pprof", pprof_long_state),
	SHAPE("pprof", pprof_long_label),
	SHAPE("pprof", pprof_one_comment_often),
	SHAPE("pprof", pprof_inlined),
	SHAPE("pstats", pstats_chain),
	SHAPE("pstats", pstats_one_text_often),
	SHAPE("pstats", pstats_one_interned_text_often),
	SHAPE("samples", samples_ticks),
	SHAPE("samples", samples_leaves_on_a_chain),
	SHAPE("samples", samples_leaves_on_a_ring),
	SHAPE("samples", samples_deep_task_on_a_ring),
	SHAPE("samples", samples_long_name_on_a_ring),
	SHAPE("samples", samples_many_tasks_and_then_few),
	SHAPE("speedscope", speedscope_samples),
	SHAPE("speedscope", speedscope_deep_events),
	SHAPE("speedscope", speedscope_many_threads),
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static int count_all(void)
{
	struct CMUnitTest tests[SHAPES + 1] = {
		[SHAPES] = cmocka_unit_test(a_graph_of_many_calls_is_gone_through_as_far_as_it_is_long)};

	for (size_t i = 0; i < SHAPES; i++)
		tests[i] = (struct CMUnitTest){.name = shapes[i].name,
					       .test_func = work_follows_the_length_of_the_file,
					       .initial_state = &shapes[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Seeds for fuzzers: small, for these to grow. */
static void save_all(const char *corpora)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct pl_buf bytes = PL_BUF_INIT(1 << 20);
		char path[4096];

		shapes[i].make(&bytes, 16);
		snprintf(path, sizeof path, "%s/import_%s/%s", corpora, shapes[i].importer, shapes[i].name);
		FILE *f = fopen(path, "wb");
		assert_non_null(f);
		assert_int_equal(fwrite(bytes.data, 1, bytes.len, f), bytes.len);
		assert_int_equal(fclose(f), 0);
		pl_buf_deinit(&bytes);
	}
}

/* With an argument, tests/fuzz/corpus: the same files for the fuzzers. */
int main(int argc, char **argv)
{
	if (argc == 1)
		return count_all();
	save_all(argv[1]);
	return 0;
}
