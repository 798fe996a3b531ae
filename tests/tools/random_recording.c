/* SPDX-License-Identifier: Apache-2.0 */
#include "random_recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"

#define PERIOD_NS     1000000u
#define START_REAL_NS 1700000000123456789u
#define LONG_NAME     65536u
#define PROCESSES     4
#define THREADS	      4 /* of each process */

/* Bytes with their length: names may hold a NUL. */
struct name {
	const char *s;
	size_t len;
};
#define NAME(text)                                                                                                     \
	{                                                                                                              \
		text, sizeof(text) - 1                                                                                 \
	}

static char long_name[LONG_NAME];

static const struct name nasty[] = {
	NAME("plain"),
	NAME("semi;colon"),
	NAME("two words"),
	NAME(" leading and trailing "),
	NAME("line\nbreak"),
	NAME("carriage\r\nreturn"),
	NAME("tab\there"),
	NAME("\"quoted\" 'name'"),
	NAME("</script><script>alert(1)</script>"),
	NAME("&amp;<b>"),
	NAME("]]>"),
	NAME("u2028\xe2\x80\xa8u2029\xe2\x80\xa9"),
	NAME("next\xc2\x85line"),
	NAME("surrogate\xed\xb2\x80"),
	NAME("pair\xed\xa0\xbd\xed\xb8\x80"),
	NAME("invalid\xff\xfe"),
	NAME("cut\xe2\x82"),
	NAME("nul\0inside"),
	NAME("\x1b[31mred\x07"),
	NAME("caf\xc3\xa9 \xf0\x9f\x90\x8d"),
	NAME("back\\slash\\n"),
	NAME("=1+1"),
	NAME("name 12"),
	NAME("(file.py:3)"),
	NAME("%s%n"),
	NAME("<lambda>"),
	NAME("<module>"),
	NAME(""),
};
#define WIDE_FUNCTIONS 5000
#define NASTY	       (sizeof nasty / sizeof *nasty)
#define FUNCTIONS      (NASTY * 2 + 1) /* each name twice, and the long one */

struct maker {
	const struct random_shape *shape;
	struct plumb_profile *p;
	struct pl_rng rng;
	uint32_t functions[FUNCTIONS]; /* not `wide` */
	uint32_t threads[PROCESSES * THREADS];
	uint64_t now_ns;
};

static uint64_t below(struct maker *m, uint64_t n)
{
	return pl_rng_next(&m->rng) % n;
}

static struct plumb_error *add_name(struct maker *m, struct name n, uint32_t *ret)
{
	return pl_profile_string(m->p, n.s, n.len, ret);
}

static struct plumb_error *add_text(struct maker *m, const char *text, uint32_t *ret)
{
	return pl_profile_string(m->p, text, strlen(text), ret);
}

static struct name name_of(const struct maker *m, size_t i)
{
	if (i / 2 == NASTY)
		return (struct name){long_name, m->shape->plain ? 64 : LONG_NAME};
	return m->shape->plain ? (struct name)NAME("function") : nasty[i / 2];
}

/* A build-id; where a file has several functions it has several builds. */
static struct plumb_error *add_build(struct maker *m, uint32_t file, size_t i)
{
	struct pl_module module = {.file = file};
	char text[24];

	snprintf(text, sizeof text, "%08zx", i);
	struct plumb_error *err = add_text(m, text, &module.build_id);
	return err ? err : pl_profile_module(m->p, &module);
}

/* Function @p i: of its two, one is in a file with a plain name, the other in one with the name next to its own. */
static struct plumb_error *add_function(struct maker *m, size_t i)
{
	static const struct name files[] = {NAME("/srv/app/main.py"), NAME("/usr/lib/python3.12/json/decoder.py"),
					    NAME("/usr/lib/libc.so.6"), NAME("<frozen runpy>"),
					    NAME("/srv/venv/lib/python3.12/site-packages/requests/sessions.py")};
	struct pl_function f = {.firstline = (uint32_t)(1 + i * 10)};
	struct name name = name_of(m, i);
	char text[64];
	struct plumb_error *err;

	f.origin = i % 9 == 7 ? PL_ORIGIN_NATIVE : i % 9 == 5 ? PL_ORIGIN_KERNEL : i % 9 == 3 ? PL_ORIGIN_TASK : 0;
	if (f.origin == PL_ORIGIN_NATIVE || f.origin == PL_ORIGIN_KERNEL)
		f.firstline = 0;
	if (m->shape->plain && i / 2 != NASTY)
		name = (struct name){text, (size_t)snprintf(text, sizeof text, "function_%zu", i)};
	err = add_name(m, name, &f.name);
	if (!err && f.origin == PL_ORIGIN_PYTHON && i % 4 == 0)
		err = add_text(m, "Class.method", &f.qualname);
	if (!err)
		err = add_name(m, i % 2 && !m->shape->plain ? name_of(m, i - 1) : files[i / 2 % 5], &f.file);
	if (!err)
		err = pl_profile_function(m->p, &f, &m->functions[i]);
	return err || f.origin != PL_ORIGIN_NATIVE ? err : add_build(m, f.file, i);
}

static struct plumb_error *add_thread(struct maker *m, uint32_t process, int i, uint32_t *ret)
{
	struct pl_thread t = {.process = process, .main = i == 0, .cpu_known = i != 2};
	struct plumb_error *err;

	t.tid = m->p->processes[process].pid + (uint64_t)i;
	if (t.cpu_known)
		t.cpu_ns = below(m, 1000000000);
	err = i == 0 ? add_text(m, "MainThread", &t.name)
		     : add_name(m, m->shape->plain ? (struct name)NAME("worker") : nasty[below(m, NASTY)], &t.name);
	return err ? err : pl_profile_thread(m->p, &t, ret);
}

static struct plumb_error *add_process(struct maker *m, int i)
{
	/* The last has the pid of the first: the number was used again. */
	struct pl_process proc = {.pid = 4000 + 100 * (uint32_t)(i % (PROCESSES - 1)),
				  .parent = i ? 4000 : 0,
				  .start_ns = 1000000000ull * (uint64_t)(i + 1),
				  .came_ns = (uint64_t)i * PERIOD_NS,
				  .ended = i == 2};
	uint32_t id = 0;
	struct plumb_error *err;

	proc.ended_ns = proc.ended ? 50000000 : 0;
	err = add_text(m, "python3 app.py --x=a b", &proc.program);
	if (!err)
		err = add_name(m, m->shape->plain ? (struct name)NAME("app.py") : nasty[(size_t)i], &proc.name);
	if (!err)
		err = add_text(m, i % 2 ? "3.12.1" : "2.7.18", &proc.python);
	if (!err)
		err = pl_profile_process(m->p, &proc, &id);
	for (int t = 0; !err && t < THREADS; t++)
		err = add_thread(m, id, t, &m->threads[i * THREADS + t]);
	return err;
}

static struct plumb_error *add_meta(struct maker *m)
{
	struct pl_meta *meta = &m->p->meta;
	struct plumb_error *err;

	*meta = (struct pl_meta){.start_real_ns = START_REAL_NS,
				 .period_ns = PERIOD_NS,
				 .seed = m->shape->seed,
				 .mode = (uint8_t)(m->shape->plain ? PL_MODE_WALL : m->shape->seed % 3),
				 .jitter = true,
				 .complete = true,
				 .stops = 12,
				 .stopped_ns = 345678,
				 .profiler_cpu_ns = 7654321};
	/* Not what was folded: each sentence takes lines of the report, of which some tests look for the last. */
	for (int i = 0; i <= PL_LOSS_BEYOND && !m->shape->plain; i++)
		meta->losses[i] = below(m, 4);
	err = add_text(m, "python3 app.py --x=a b", &meta->command);
	if (!err)
		err = add_text(m, "remote", &meta->engine);
	if (!err)
		err = add_text(m, "0.1.0", &meta->plumb_version);
	return err ? err : add_text(m, "box", &meta->host);
}

static struct plumb_error *add_tables(struct maker *m)
{
	struct plumb_error *err = add_meta(m);

	memset(long_name, 'x', sizeof long_name);
	for (size_t i = 0; !err && !m->shape->wide && i < FUNCTIONS; i++)
		err = add_function(m, i);
	for (int i = 0; !err && i < PROCESSES; i++)
		err = add_process(m, i);
	return err;
}

/* Small numbers often: half of them 0, a quarter 1, ... */
static uint32_t mostly_small(struct maker *m)
{
	return (uint32_t)__builtin_ctzll(pl_rng_next(&m->rng) | 1u << 7);
}

/* The function that is called from the frame on top of @p stack, and the line that it runs. */
static uint32_t choose_callee(struct maker *m, uint32_t stack, int32_t *line_ret)
{
	uint32_t caller = stack ? m->p->locations[m->p->stacks[stack].location].function : 0;

	*line_ret = 10 + (int32_t)(m->shape->program ? mostly_small(m) : below(m, 30));
	if (!m->shape->program)
		return (uint32_t)below(m, WIDE_FUNCTIONS);
	return (uint32_t)((caller * 2654435761u + mostly_small(m) * 40503u) % WIDE_FUNCTIONS);
}

static struct plumb_error *push_wide(struct maker *m, uint32_t *stack)
{
	struct pl_location l = {.column = -1, .end_column = -1};
	struct pl_function f = {0};
	char text[64];
	uint64_t i = choose_callee(m, *stack, &l.line);
	uint32_t id = 0;
	struct plumb_error *err;

	snprintf(text, sizeof text, "function_%" PRIu64, i);
	err = add_text(m, text, &f.name);
	snprintf(text, sizeof text, "/srv/app/package/module_%" PRIu64 ".py", i / 20);
	if (!err)
		err = add_text(m, text, &f.file);
	if (!err)
		err = pl_profile_function(m->p, &f, &l.function);
	l.end_line = l.line;
	if (!err)
		err = pl_profile_location(m->p, &l, &id);
	return err ? err : pl_profile_stack(m->p, *stack, id, stack);
}

static struct plumb_error *push_frame(struct maker *m, uint32_t *stack)
{
	struct pl_location l = {.column = -1, .end_column = -1};
	const struct pl_function *f;
	uint32_t id = 0;
	struct plumb_error *err;

	l.function = m->functions[below(m, FUNCTIONS)];
	f = &m->p->functions[l.function];
	if (f->firstline) {
		l.line = l.end_line = (int32_t)(f->firstline + below(m, 3));
		if (f->origin == PL_ORIGIN_PYTHON && below(m, 2)) {
			l.end_line += (int32_t)below(m, 2);
			l.column = (int32_t)below(m, 3);
			l.end_column = l.column + 5;
		}
	}
	err = pl_profile_location(m->p, &l, &id);
	return err ? err : pl_profile_stack(m->p, *stack, id, stack);
}

static struct plumb_error *make_stack(struct maker *m, uint32_t *ret)
{
	uint64_t depth = m->shape->wide ? 12 + below(m, 8) : below(m, 8);
	struct plumb_error *err = NULL;

	*ret = 0;
	for (uint64_t i = 0; i < depth && !err; i++)
		err = m->shape->wide ? push_wide(m, ret) : push_frame(m, ret);
	if (!err && !m->shape->wide && below(m, 10) == 0)
		err = pl_profile_marker(m->p, *ret, "<moving>", ret);
	return err;
}

/* A new stack is a call from one that there is, so that each is one node: what a large program looks like. Of those
 * that there are the newest come most often, by the logarithm of their age. */
static struct plumb_error *choose_stack(struct maker *m, uint32_t sample, uint32_t *ret)
{
	const struct random_shape *shape = m->shape;
	uint32_t count = m->p->stack_count,
		 wanted = (uint32_t)((uint64_t)shape->stacks * (sample + 1) / shape->samples);
	struct plumb_error *err = NULL;

	*ret = (uint32_t)(count - 1 - below(m, 1 + below(m, count)));
	while (!err && m->p->stack_count <= wanted) {
		*ret = (uint32_t)below(m, count);
		err = push_wide(m, ret);
	}
	return err;
}

/* A third of the samples falls into the tick of the one before. */
static uint64_t next_tick(struct maker *m)
{
	return below(m, 3) ? PERIOD_NS / 2 + below(m, PERIOD_NS) : 0;
}

static struct pl_sample make_sample(struct maker *m)
{
	struct pl_sample s = {.thread = m->threads[below(m, PROCESSES * THREADS)], .weight_ns = PERIOD_NS};

	m->now_ns += m->shape->span_ns ? below(m, 2 * m->shape->span_ns / m->shape->samples + 1) : next_tick(m);
	s.time_ns = m->now_ns;
	s.state = (uint16_t)(m->shape->plain ? below(m, 2) * PL_STATE_ON_CPU
					     : below(m, 64) | below(m, 16) << PL_STATE_BITS);
	s.quality = (uint8_t)(m->shape->plain ? PL_EXACT : below(m, PL_QUALITIES));
	if (!m->shape->plain && below(m, 4) == 0)
		s.weight_ns = below(m, 5) * 1234567;
	return s;
}

static uint32_t outermost(const struct plumb_profile *p, uint32_t stack)
{
	while (p->stacks[stack].depth > 1)
		stack = p->stacks[stack].parent;
	return stack;
}

struct plumb_error *random_recording(const struct random_shape *shape, struct plumb_profile *p, pl_sample_fn *fn,
				     void *ctx)
{
	struct maker m = {.shape = shape, .p = p, .rng = {.state = shape->seed}};
	struct plumb_error *err = add_tables(&m);

	for (uint32_t i = 0; !err && i < shape->samples; i++) {
		struct pl_sample s = make_sample(&m);

		err = shape->stacks ? choose_stack(&m, i, &s.stack) : make_stack(&m, &s.stack);
		if (shape->stacks) /* it calls what it calls */
			s.thread =
				m.threads[(shape->program ? outermost(p, s.stack) : s.stack) % (PROCESSES * THREADS)];
		p->meta.ticks = i + 1;
		p->meta.duration_ns = m.now_ns + PERIOD_NS;
		if (!err)
			err = fn(ctx, &s);
	}
	return err;
}
