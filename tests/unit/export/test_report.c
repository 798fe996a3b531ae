/* SPDX-License-Identifier: Apache-2.0 */
/* Text, Markdown and JSON: what they say, how wide and long they get, and what hostile names can do to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "clock.h"
#include "events.h"
#include "refine.h"
#include "report_facts.h"
#include "unit.h"
#include "units.h"
#include "words.h"

#define RUN (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)

static void golden(const struct build *b, const char *format, const struct pl_export_options *o, const char *file)
{
	size_t len;
	char *got = build_output(b->p, format, o, &len);

	build_assert_golden(file, got, len);
	free(got);
}

static void text_of_the_example(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;

	build_example(&b);
	golden(&b, "text", &o, "example-80.txt");
	o.width = 60;
	golden(&b, "text", &o, "example-60.txt");
	o.width = 200;
	o.filter.lines = true;
	golden(&b, "text", &o, "example-200-lines.txt");
	o.width = 80;
	o.unicode = false;
	o.color = true;
	o.full_names = true;
	o.filter.idle = PL_IDLE_KEEP;
	golden(&b, "text", &o, "example-80-ascii-color-full-idle.txt");
	build_end(&b);
}

static void markdown_of_the_example(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;

	build_example(&b);
	golden(&b, "markdown", &o, "example.md");
	build_end(&b);
}

static void json_of_the_example(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;

	build_example(&b);
	o.filter.lines = true;
	golden(&b, "json", &o, "example.json");
	build_end(&b);
}

/* Everything that makes a header long, on a tree that is wide and deep. */
static void build_worst(struct build *b)
{
	static const char *const names[] = {
		"x", "\xe4\xb8\xad\xe6\x96\x87\xe5\x90\x8d\xe5\xad\x97\xe4\xb8\xad\xe6\x96\x87",
		"a\x1b[2J\x1b[31m\nb\r\t\xe2\x80\xae", "\xed\xb2\x80\xff\xfe</script>`|;\"'", ""};
	uint32_t f = 0, fork;
	struct pl_meta *m;

	build_start(b);
	m = &b->p->meta;
	m->command = build_string(b, "python \x1b]0;title\x07 -c 'import \xe4\xb8\xad\xe6\x96\x87; "
				     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'");
	b->p->processes[0].program = m->command;
	for (int i = 0; i < PL_LOSSES; i++)
		m->losses[i] = UINT64_MAX / 1000;
	m->complete = m->jitter = false;
	m->stops = m->stopped_ns = m->profiler_cpu_ns = UINT64_MAX / 3;
	for (int i = 0; i < 40; i++)
		build_thread(b, 5000u + (unsigned)i, names[i % 5], 0.5 * (i & 1));
	for (int i = 0; i < 200; i++)
		f = build_frame(b, f, names[i % 5], "/a/very/long/path/with/many/parts/to/__init__.py", 1000000 + i);
	fork = f;
	for (int i = 0; i < 20; i++) {
		f = build_frame(b, fork, names[i % 5], names[(i + 2) % 5], 10 + i);
		build_samples(b, (uint32_t)(i % 40), f, RUN | PL_STATE_WANTS_GIL | PL_STATE_IN_GC, i % PL_QUALITIES, 3);
		build_samples(b, (uint32_t)(i % 40), f, PL_STATE_UNKNOWN, i % PL_QUALITIES, 1);
	}
}

static void text_keeps_to_its_width_and_to_25_lines(void **state)
{
	static void (*const builders[])(struct build *) = {build_example, build_worst};
	struct build b;
	int columns, lines;
	char *got;

	for (size_t i = 0; i < 2; i++) {
		builders[i](&b);
		for (int width = 40; width <= 200; width++) {
			struct pl_export_options o = build_options(width);

			o.unicode = width % 3;
			o.filter.lines = width & 1;
			o.filter.idle = PL_IDLE_KEEP;
			got = build_output(b.p, "text", &o, NULL);
			lines = build_lines(got, &columns);
			if (lines > 25 || columns > width)
				fail_msg("width %d: %d lines, %d columns:\n%s", width, lines, columns, got);
			/* The hot path and the top functions are there at any width. */
			assert_non_null(strstr(got, " where the time went"));
			assert_non_null(strstr(got, " self "));
			assert_non_null(strstr(got, "\nquality: "));
			assert_null(strchr(got, '\x1b'));
			assert_null(strchr(got, '\r'));
			free(got);
		}
		build_end(&b);
	}
}

/* The first line of the answer is the first of all, and nothing of how it was found stands before it. */
static void the_answer_comes_first(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;
	char *got;

	build_worst(&b);
	b.p->meta.refused[PL_REFUSED_OTHER] = 80000;
	got = build_output(b.p, "text", &o, NULL);
	assert_true(strstr(got, "computing") < strstr(got, " where the time went"));
	assert_true(strstr(got, " where the time went") < strstr(got, "\nquality: "));
	assert_true(strstr(got, "\nquality: ") < strstr(got, "\n! "));
	free(got);
	build_end(&b);
}

/* In the width that a terminal has if nobody made it wider, each share tells how certain it is. */
static void at_80_columns_every_share_has_its_interval(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;
	char *got, *line, *rest, share[16], error[16];
	int rows = 0;

	build_example(&b);
	got = build_output(b.p, "text", &o, NULL);
	for (line = strtok_r(got, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strstr(line, ".py:"))
			continue;
		rows++;
		if (sscanf(line, " %15[0-9.] %15[0-9.] ", share, error) != 2)
			fail_msg("no share and interval: %s", line);
	}
	assert_true(rows >= 8);
	free(got);
	build_end(&b);
}

static void ascii_is_ascii(void **state)
{
	struct pl_export_options o = build_options(100);
	struct build b;
	char *got;

	build_worst(&b);
	o.unicode = false;
	got = build_output(b.p, "text", &o, NULL);
	for (const char *s = got; *s; s++)
		assert_true(*s == '\n' || (*s >= ' ' && *s <= '~'));
	free(got);
	build_end(&b);
}

static void expect_text(const struct build *b, const struct pl_export_options *o, const char *want)
{
	char *got = build_output(b->p, "text", o, NULL);

	if (!strstr(got, want))
		fail_msg("no \"%s\" in:\n%s", want, got);
	free(got);
}

static void losses_and_a_cut_recording_are_told_in_sentences(void **state)
{
	struct pl_export_options o = build_options(200);
	struct build b;

	o.quality = true;
	build_example(&b);
	b.p->meta.losses[PL_LOSS_MISSED] = 500;
	b.p->meta.losses[PL_LOSS_UNREADABLE] = 3;
	b.p->meta.losses[PL_LOSS_QUEUE] = 4000;
	b.p->meta.losses[PL_LOSS_DAMAGED] = 5;
	b.p->meta.complete = false;
	expect_text(&b, &o, "missed 500");
	expect_text(&b, &o, "unreadable 3");
	expect_text(&b, &o, "! incomplete: the profiler was killed");
	expect_text(&b, &o, "! 4.8 % of the time was missed (times are scaled)");
	expect_text(&b, &o, "! 4,000 samples were dropped");
	expect_text(&b, &o, "! a part of the recording is damaged and left out: 5 samples are lost");
	b.p->meta.damaged_parts = 3;
	expect_text(&b, &o, "! 3 parts of the recording are damaged and left out: 5 samples are lost");
	b.p->meta.losses[PL_LOSS_DAMAGED] = 0;
	expect_text(&b, &o, "! 3 parts of the recording are damaged and left out: no sample is lost, but texts");
	expect_text(&b, &o, "damaged parts 3");
	b.p->meta.taken_ns = 3000000; /* a budget made the ticks that were missed longer than the others */
	b.p->meta.missed_ns = 1000000;
	expect_text(&b, &o, "! 25 % of the time was missed");
	o.color = true;
	expect_text(&b, &o, "\033[1;33mmissed 500\033[0m");
	build_end(&b);
}

/* As fast as possible: what kept it from being faster is a limit that was about reached, whichever there is. */
static void what_came_of_the_highest_rate_is_told(void **state)
{
	struct pl_export_options o = build_options(200);
	struct build b;

	build_example(&b);
	struct pl_meta *m = &b.p->meta;
	m->period_ns = 0;
	m->ticks = 900;
	m->duration_ns = m->taken_ns = PL_NS_PER_S;
	m->max_overhead_ppm = 0;
	m->max_still_ppm = 25000;
	m->stopped_ns = 22000000;
	expect_text(&b, &o, "sampled at 900/s, so that the program is held up for no more than 2.5 % of its time");
	assert_true(pl_report_lowered_rate(m) == 900 && pl_report_lowered_for_still(m));
	m->stopped_ns = 5000000;
	assert_true(pl_report_lowered_rate(m) == 0);
	m->max_overhead_ppm = 20000;
	m->profiler_cpu_ns = 18000000;
	assert_true(pl_report_lowered_rate(m) == 900 && !pl_report_lowered_for_still(m));
	m->max_overhead_ppm = m->max_still_ppm = 0;
	assert_true(pl_report_lowered_rate(m) == 0);
	build_end(&b);
}

/* Ten periods of 7 ms were sampled at 1,000/s, and 5.93 seconds of such were missed: 1.67 samples a second, not 143. */
static void what_was_missed_does_not_count_for_the_rate_that_was_taken(void **state)
{
	struct pl_export_options o = build_options(200);
	struct build b;

	build_example(&b);
	struct pl_meta *m = &b.p->meta;
	m->period_ns = 1000000;
	m->ticks = 10;
	m->taken_ns = 70000000;
	m->duration_ns = 6 * PL_NS_PER_S;
	m->missed_ns = m->duration_ns - m->taken_ns;
	m->losses[PL_LOSS_MISSED] = 5930;
	m->max_still_ppm = 25000;
	m->stopped_ns = 22000000;
	expect_text(&b, &o, "sampled at 1.67/s, so that the program is held up for no more than 2.5 % of its time");
	o.quality = true;
	expect_text(&b, &o, "1.67/s taken");
	m->ticks = 70; /* the rate was kept where it was taken: what was missed is told by itself */
	assert_true(pl_report_lowered_rate(m) == 0);
	build_end(&b);
}

static void a_refused_stop_is_told_with_its_cause(void **state)
{
	struct pl_export_options o = build_options(200);
	struct build b;

	o.quality = true;
	build_example(&b);
	b.p->meta.refused[PL_REFUSED_TRACER] = 1;
	assert_null(pl_profile_string(b.p,
				      "g\x1b"
				      "db (pid 7) traces it",
				      22, &b.p->meta.refused_why));
	expect_text(&b, &o, "stops refused 1");
	expect_text(&b, &o, "! a stop was refused: g\\x1bdb (pid 7) traces it");
	b.p->meta.refused[PL_REFUSED_FILTER] = 3000;
	expect_text(&b, &o, "! 3,001 stops were refused: g\\x1bdb (pid 7) traces it");
	build_end(&b);
}

/* The sentences have no room on every page: what they say stands in the figures, too. */
static void every_loss_is_a_figure_at_any_width(void **state)
{
	static const char *const losses[PL_LOSSES] = {
		"missed ",	    "unreadable ",	    "dropped ",
		"damaged ",	    "unseen processes ",    "not followed ",
		"folded ",	    "without awaiters ",    "without native frames ",
		"events left out ", "places without lines "};
	struct build b;
	char want[64];

	build_worst(&b);
	for (int i = 0; i < PL_LOSSES; i++)
		b.p->meta.losses[i] = 70000 + (uint64_t)i;
	b.p->meta.refused[PL_REFUSED_OTHER] = 80000;
	for (int width = 40; width <= 200; width += 20) {
		struct pl_export_options o = build_options(width);

		o.quality = true;
		expect_text(&b, &o, "incomplete");
		for (int i = 0; i < PL_LOSSES; i++) {
			snprintf(want, sizeof want, "%s%s", losses[i], pl_units_count(70000 + (uint64_t)i).s);
			expect_text(&b, &o, want);
		}
		expect_text(&b, &o, "stops refused 80,000");
	}
	build_end(&b);
}

static void every_loss_is_told_below_a_picture(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;
	char want[64];

	build_example(&b);
	for (int i = 0; i < PL_LOSSES; i++)
		b.p->meta.losses[i] = 70000 + (uint64_t)i;
	char *got = build_output(b.p, "svg", &o, NULL);
	for (int i = 0; i < PL_LOSSES; i++) {
		snprintf(want, sizeof want, " %s %s", pl_units_count(70000 + (uint64_t)i).s, pl_losses[i].word);
		if (!strstr(got, want))
			fail_msg("no \"%s\"", want);
	}
	assert_null(strstr(got, "(null)"));
	free(got);
	build_end(&b);
}

/* On a busy machine there is more to tell than there is room for. */
static void damage_is_told_before_what_is_less_grave(void **state)
{
	static const int widths[] = {80, 100, 120, 200};
	struct build b;

	build_worst(&b);
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		struct pl_export_options o = build_options(widths[i]);

		expect_text(&b, &o, "! a part of the recording is damaged and left out");
	}
	build_end(&b);
}

static void several_processes_have_a_row(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;
	uint32_t f;

	o.quality = true;
	build_start(&b);
	f = build_frame(&b, 0, "work", "/a.py", 3);
	build_samples(&b, 0, f, PL_STATE_ON_CPU, PL_EXACT, 2000);
	for (uint32_t i = 1; i <= 5; i++)
		build_samples(&b, build_process(&b, 5000 + i, 4242, "worker.py"), f, PL_STATE_ON_CPU, PL_EXACT,
			      (int)(i * 400));
	b.p->meta.losses[PL_LOSS_UNSEEN] = 2;
	b.p->meta.losses[PL_LOSS_BEYOND] = 3;
	expect_text(&b, &o, "6 processes");
	expect_text(&b, &o, " processes 4242 25 % \xc2\xb1");
	expect_text(&b, &o, "worker.py 5005 25 % \xc2\xb1");
	expect_text(&b, &o, "3 more");
	expect_text(&b, &o, "unseen processes 2");
	expect_text(&b, &o, "! 3 processes and threads were too many");
	o.filter.processes = (const char *const[]){"5004"};
	o.filter.process_count = 1;
	expect_text(&b, &o, "worker.py 5004 100 %");
	o.filter.processes = (const char *const[]){"nobody"};
	expect_text(&b, &o, "! no samples of a process 'nobody'; there are: 4242, 5001 worker.py");
	build_end(&b);
}

static void a_program_that_only_waited_is_told_so(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;

	build_start(&b);
	build_samples(&b, 0, build_frame(&b, 0, "wait", "/a.py", 3), 0, PL_EXACT, 10000);
	expect_text(&b, &o, "! nothing ran: every thread was waiting");
	b.p->meta.halted_ns = b.p->meta.duration_ns * 3 / 10;
	expect_text(&b, &o, "! the process was stopped 30 % of the time, by a signal or a debugger; 'kill");
	b.p->meta.halted_ns = b.p->meta.duration_ns;
	expect_text(&b, &o, "! the process was stopped all of the time, by a signal or a debugger; 'kill");
	expect_text(&b, &o, "0 % computing, 100 % waiting");
	build_end(&b);
}

static void a_recording_that_is_too_short_is_told_with_how_much_more_it_takes(void **state)
{
	struct pl_export_options o = build_options(200);
	struct build b;

	build_start(&b);
	b.p->meta.duration_ns = 100000000;
	b.p->meta.ticks = 100;
	for (int i = 0; i < 100; i++)
		build_samples(&b, 0, build_frame(&b, 0, "f", "/a.py", i & 1 ? 3 : 9), RUN, PL_EXACT, 1);
	/* 1.96 * sqrt(.25/100) is 9.6 points: for 2 points 24 times as much. */
	expect_text(&b, &o, "quality: fair");
	expect_text(&b, &o,
		    "! shares are only known to \xc2\xb1"
		    "10 points; 24 times the work, or time, gives");
	build_end(&b);
}

/* Where all frames were left out, or there were none, what is told is whether threads ran: that is known no better. */
static void without_functions_what_is_told_is_as_uncertain_as_what_threads_did(void **state)
{
	struct pl_export_options o = build_options(200);
	struct build b;

	build_start(&b);
	b.p->meta.duration_ns = 100000000;
	b.p->meta.ticks = 100;
	for (int i = 0; i < 100; i++)
		build_samples(&b, 0, 0, i & 1 ? PL_STATE_ON_CPU : 0, PL_EXACT, 1);
	expect_text(&b, &o, "quality: fair");
	expect_text(&b, &o,
		    "100 samples \xc2\xb7 \xc2\xb1"
		    "9.7 points");
	build_end(&b);
}

/* Not what started it. */
static void the_title_is_the_program(void **state)
{
	static const struct {
		const char *command, *program, *name, *title;
	} titles[] = {
		{"env bash /shims/python3 /srv/app.py 3", "/opt/bin/python3 -X dev /srv/app.py 3", "app.py",
		 "app.py 3 \xc2\xb7 "},
		{"python3 -m json.tool x", "/opt/bin/python3 -m json.tool x", "json.tool", "json.tool x \xc2\xb7 "},
		{"env python3 -c 1", "/opt/bin/python3 -c 1", "python", "python3 -c 1 \xc2\xb7 "},
		{"/usr/bin/python3 app.py", "", "", "python3 app.py \xc2\xb7 "}};

	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
		struct pl_export_options o = build_options(120);
		struct build b;
		char *got;

		build_start(&b);
		b.p->meta.command = build_string(&b, titles[i].command);
		b.p->processes[0].program = build_string(&b, titles[i].program);
		b.p->processes[0].name = build_string(&b, titles[i].name);
		got = build_output(b.p, "text", &o, NULL);
		if (strncmp(got, titles[i].title, strlen(titles[i].title)) != 0)
			fail_msg("%s, and not %s", got, titles[i].title);
		free(got);
		build_end(&b);
	}
}

static void what_is_wrong_is_told_in_the_second_line(void **state)
{
	struct pl_export_options o = build_options(200);
	struct build b;

	build_start(&b);
	b.p->meta.ticks = 1000;
	build_thread(&b, 4243, "other", 1);
	for (int i = 0; i < 1000; i++) {
		build_samples(&b, 0, build_frame(&b, 0, "f", "/a.py", 3), RUN, PL_EXACT, 1);
		build_samples(&b, 1, build_frame(&b, 0, "g", "/a.py", 9), PL_STATE_WANTS_GIL, PL_EXACT, 1);
	}
	expect_text(&b, &o,
		    "\n threads waited for the GIL for 50 % of their time, and it was held for 100 % of the time: more "
		    "threads "
		    "will not help\n");
	build_end(&b);
}

/* The samples of what_is_wrong_is_told_in_the_second_line with their instants: both threads at once. */
static struct plumb_error *in_pairs(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	const uint32_t *stacks = ctx;
	struct plumb_error *err = NULL;

	for (uint64_t i = 0; i < 2000 && !err; i++) {
		uint32_t thread = i % 2;

		err = fn(fn_ctx, &(struct pl_sample){.time_ns = i / 2 * 1000000 + thread,
						     .thread = thread,
						     .stack = stacks[thread],
						     .state = thread ? PL_STATE_WANTS_GIL : RUN,
						     .weight_ns = 1000000});
	}
	return err;
}

static void who_held_the_gil_is_told_with_it(void **state)
{
	struct pl_export_options o = build_options(200);
	uint32_t stacks[2];
	struct build b;

	build_start(&b);
	b.p->meta.ticks = 1000;
	build_thread(&b, 4243, "other", 1);
	stacks[0] = build_frame(&b, 0, "f", "/srv/a.py", 3);
	stacks[1] = build_frame(&b, 0, "g", "/srv/a.py", 9);
	for (int i = 0; i < 1000; i++) {
		build_samples(&b, 0, stacks[0], RUN, PL_EXACT, 1);
		build_samples(&b, 1, stacks[1], PL_STATE_WANTS_GIL, PL_EXACT, 1);
	}
	b.p->stream = (struct pl_stream){.each = in_pairs, .ctx = stacks};
	expect_text(&b, &o, "will not help; for 100 % of that wait it was held by f (a.py:2)\n");
	build_end(&b);
}

/* Where the rate has fallen a sample stands for more, in the table as in the sentence. */
static void what_is_wrong_is_told_of_time(void **state)
{
	struct pl_export_options o = build_options(100);
	struct pl_sample s;
	struct build b;

	build_start(&b);
	for (int i = 0; i < 200; i++) {
		const uint64_t begin = b.now_ns;

		build_samples(&b, 0, build_frame(&b, 0, "f", "/a.py", 3), 0, PL_EXACT, 5);
		s = (struct pl_sample){.time_ns = b.now_ns,
				       .stack = build_frame(&b, 0, "g", "/a.py", 9),
				       .state = RUN | PL_STATE_IN_GC,
				       .weight_ns = b.now_ns - begin};
		assert_null(pl_profile_add(b.p, &s));
	}
	expect_text(&b, &o, "50 % computing, 50 % waiting\n garbage collection took 50 % of the time\n");
	build_end(&b);
}

static void a_number_of_rows_can_be_asked_for(void **state)
{
	struct pl_export_options o = build_options(100);
	struct build b;
	int columns;
	char *got;

	build_start(&b);
	uint32_t root = build_frame(&b, 0, "main", "/srv/app.py", 3);
	for (int i = 0; i < 50; i++) {
		char name[8];

		snprintf(name, sizeof name, "f%d", i);
		build_samples(&b, 0, build_frame(&b, root, name, "/srv/app.py", 10 + 5 * i), RUN, PL_EXACT, 100);
	}
	got = build_output(b.p, "text", &o, NULL);
	assert_true(build_lines(got, &columns) <= 25);
	free(got);
	o.top = 40;
	got = build_output(b.p, "text", &o, NULL);
	assert_int_equal(build_lines(got, &columns),
			 1 + 2 + 40 + 2 + 40 + 1 + 2); /* title, tables, quality, commands */
	free(got);
	build_end(&b);
}

static void no_samples_are_no_reason_to_divide_by_zero(void **state)
{
	static const char *const formats[] = {"text", "markdown", "json"};
	static const char *const threads[] = {"nobody"};
	struct pl_export_options o = build_options(80);
	struct build b;
	char *got;

	build_start(&b);
	b.p->meta.duration_ns = b.p->meta.ticks = b.p->meta.period_ns = 0;
	for (size_t i = 0; i < 3; i++) {
		got = build_output(b.p, formats[i], &o, NULL);
		assert_null(strstr(got, "nan"));
		assert_null(strstr(got, "inf"));
		free(got);
	}
	o.quality = true;
	b.p->meta.losses[PL_LOSS_UNREADABLE] = 9;
	expect_text(&b, &o, "! no samples:");
	expect_text(&b, &o, "unreadable 9"); /* why there are none */
	o.filter.threads = threads;
	o.filter.thread_count = 1;
	expect_text(&b, &o, "there are: 4242 MainThread");
	build_end(&b);
}

static void cpu_and_gil_mode_tell_time_of_their_kind(void **state)
{
	struct pl_export_options o = build_options(100);
	struct build b;

	build_example(&b);
	b.p->meta.mode = PL_MODE_CPU;
	expect_text(&b, &o, "10.0 s of CPU time (100 % of a core)");
	b.p->meta.mode = PL_MODE_GIL;
	expect_text(&b, &o, "GIL held 10.0 s (100 % of the time)");
	build_end(&b);
}

/* Ticks are the whole of all samples, and of no others. */
static void shares_of_a_part_are_of_that_part(void **state)
{
	struct pl_export_options o = build_options(100);
	const struct pl_refine focus = {.focus = "^holds "};
	struct plumb_profile *part;
	struct build b;

	o.quality = true;
	build_start(&b);
	b.p->meta.ticks = 1000;
	build_samples(&b, 0, build_frame(&b, 0, "holds", "/a.py", 1), PL_STATE_ON_CPU | PL_STATE_HAS_GIL, PL_EXACT,
		      300);
	build_samples(&b, 0, build_frame(&b, 0, "waits", "/a.py", 2), 0, PL_EXACT, 700);
	expect_text(&b, &o, "held 30 %");
	assert_ok(pl_refine(b.p, &focus, &part));
	expect_text(&(struct build){.p = part}, &o, "held in 100 %");
	pl_profile_destroy(part);
	build_end(&b);
}

/* Two of them hold a GIL all the time. */
static void the_time_of_some_processes_is_theirs(void **state)
{
	struct pl_export_options o = build_options(100);
	struct build b;

	o.quality = true;
	build_start(&b);
	b.p->meta.ticks = 1000;
	for (uint32_t pid = 5000; pid < 5002; pid++)
		build_samples(&b, build_process(&b, pid, 4242, "worker.py"), build_frame(&b, 0, "f", "/a.py", 1),
			      PL_STATE_ON_CPU | PL_STATE_HAS_GIL, PL_EXACT, 500); /* each lives for half of it */
	o.filter.processes = (const char *const[]){"5001"};
	o.filter.process_count = 1;
	expect_text(&b, &o, "held 100 %");
	build_end(&b);
}

static void next_commands_can_be_copied_to_a_shell(void **state)
{
	struct pl_export_options o = build_options(200);
	struct build b;

	build_example(&b);
	o.recording = "it's a; file.plumb";
	expect_text(&b, &o, "plumb report 'it'\"'\"'s a; file.plumb' --lines\n");
	o.program = "my tools/plumb";
	expect_text(&b, &o, "'my tools/plumb' report 'it'\"'\"'s a; file.plumb' --open\n");
	o.recording = "a\\'; b"; /* within single quotes fish has escapes */
	expect_text(&b, &o, "report 'a'\"\\\\\"''\"'\"'; b' --open\n");
	o.page_option = NULL;
	char *got = build_output(b.p, "text", &o, NULL);
	assert_null(strstr(got, "--open"));
	free(got);
	o.recording = NULL;
	got = build_output(b.p, "text", &o, NULL);
	assert_null(strstr(got, "next:"));
	free(got);
	build_end(&b);
}

static void add_source(struct build *b, const char *file, const char *text, bool changed)
{
	struct plumb_error *err = pl_profile_source(b->p, build_string(b, file), text, strlen(text), changed);

	assert_null(err);
}

static void json_names_the_files_whose_text_there_is(void **state)
{
	static const char expected[] = "\"sources\":[{\"file\":\"/a.py\",\"bytes\":5,\"changed\":false},"
				       "{\"file\":\"/b.py\",\"bytes\":7,\"changed\":true}],\"sources_left_out\":3}";
	struct pl_export_options o = build_options(80);
	struct build b;
	size_t len;

	build_example(&b);
	add_source(&b, "/b.py", "secret\n", true);
	add_source(&b, "/a.py", "pass\n", false);
	b.p->meta.sources_left_out = 3;
	char *got = build_output(b.p, "json", &o, &len);
	assert_non_null(strstr(got, expected));
	assert_null(strstr(got, "secret"));
	free(got);
	build_end(&b);
}

static void no_name_breaks_out_of_json_or_markdown(void **state)
{
	struct pl_export_options o = build_options(80);
	struct build b;
	size_t len;
	char *got;

	build_worst(&b);
	o.filter.idle = PL_IDLE_KEEP;
	golden(&b, "markdown", &o, "worst.md");
	got = build_output(b.p, "json", &o, &len);
	assert_int_equal(strlen(got), len);
	assert_null(strstr(got, "</"));
	for (size_t i = 0; i + 1 < len; i++)
		assert_true((unsigned char)got[i] >= ' '); /* one line, no raw control */
	free(got);
	build_end(&b);
}

static void nothing_that_a_program_is_called_means_anything_in_markdown(void **state)
{
	static const char evil[] = "<img src=x onerror=alert(1)> **b** [c](http://e)";
	struct pl_export_options o = build_options(80);
	struct build b;

	build_start(&b);
	build_samples(&b, build_process(&b, 12, 1, evil), build_frame(&b, 0, "f", "/a.py", 1), PL_STATE_ON_CPU,
		      PL_EXACT, 500);
	b.p->meta.refused_why = build_string(&b, evil);
	b.p->meta.refused[0] = 3;
	char *got = build_output(b.p, "markdown", &o, NULL);
	int found = 0;
	for (const char *at = got; (at = strstr(at, "<img")); at++, found++)
		assert_int_equal(at[-1], '`');
	assert_int_equal(found, 2); /* the process and why stops were refused */
	free(got);
	build_end(&b);
}

/* As a recording says, which anybody may have written; a program names its events itself. */
static void nothing_that_a_recording_says_commands_a_terminal(void **state)
{
	static const char *const formats[] = {"text", "markdown"};
	static const char evil[] = "\x1b]0;t\a\x1b[31m\n\xe2\x80\xae";
	struct pl_export_options o = build_options(80);
	struct build b;

	o.quality = true;
	build_start(&b);
	build_samples(&b, 0, build_frame(&b, 0, "f", "/a.py", 1), PL_STATE_ON_CPU, PL_EXACT, 500);
	b.p->processes[0].python = b.p->meta.engine = build_string(&b, evil);
	assert_ok(pl_profile_event(b.p, &(struct pl_event){.kind = PL_EVENT_MARK, .name = build_string(&b, evil)}));
	for (int imported = 0; imported < 2; imported++) {
		b.p->meta.imported = imported;
		for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
			char *got = build_output(b.p, formats[i], &o, NULL);

			assert_non_null(strstr(got, "\\x1b]0;t"));
			assert_null(strchr(got, '\x1b'));
			assert_null(strstr(got, "\xe2\x80\xae"));
			free(got);
		}
	}
	build_end(&b);
}

static void names_of_64_kib_and_stacks_of_10000_frames_work(void **state)
{
	static const char *const formats[] = {"text", "markdown", "json", "collapsed"};
	struct pl_export_options o = build_options(80);
	char *name = malloc(64u << 10), *got;
	struct build b;
	uint32_t f = 0;
	int columns;

	assert_non_null(name);
	memset(name, 'n', 64u << 10);
	build_start(&b);
	for (int i = 0; i < 10000; i++)
		f = build_frame(&b, f, "fib", "/a.py", 5);
	f = build_frame_n(&b, f, name, 64u << 10, name, 64u << 10, 7);
	build_samples(&b, 0, f, RUN, PL_EXACT, 1000);
	for (size_t i = 0; i < 4; i++) {
		got = build_output(b.p, formats[i], &o, NULL);
		assert_true(build_lines(got, &columns) > 0);
		if (i == 0) {
			assert_true(columns <= 80);
			assert_non_null(strstr(got, "\xe2\x80\xa6 \xe2\x86\x92 nnn"));
		}
		free(got);
	}
	free(name);
	build_end(&b);
}

static void formats_are_found_by_name_and_by_path(void **state)
{
	assert_string_equal(pl_format_by_name("json")->name, "json");
	assert_null(pl_format_by_name("jso"));
	assert_string_equal(pl_format_by_path("/a.b/x.folded")->name, "collapsed");
	assert_string_equal(pl_format_by_path("x.md")->name, "markdown");
	assert_null(pl_format_by_path("/a.json/x"));
	assert_null(pl_format_by_path(".json")); /* a hidden file, not an ending */
	assert_null(pl_format_by_path("x.plumb"));
}

/* A program that computes all the time waits for nothing, also where it does not always have a CPU. */
static void who_never_waits_has_waited_for_nothing(void **state)
{
	struct pl_export_options o = build_options(80);
	const int ready = PL_STATE_ON_CPU | PL_REASON_CPU << PL_STATE_BITS;

	for (int waiting = 0; waiting <= 5; waiting += 5) {
		struct build b;

		build_start(&b);
		uint32_t f = build_frame(&b, 0, "f", "/a.py", 3);
		build_samples(&b, 0, f, PL_STATE_ON_CPU, PL_EXACT, 90);
		build_samples(&b, 0, f, ready, PL_EXACT, 10);
		build_samples(&b, 0, f, PL_REASON_SOCKET << PL_STATE_BITS, PL_EXACT, waiting);
		char *text = build_output(b.p, "text", &o, NULL);

		assert_int_equal(strstr(text, "\n waited ") != NULL, waiting != 0);
		free(text);
		build_end(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_the_example),
		cmocka_unit_test(markdown_of_the_example),
		cmocka_unit_test(json_of_the_example),
		cmocka_unit_test(text_keeps_to_its_width_and_to_25_lines),
		cmocka_unit_test(the_answer_comes_first),
		cmocka_unit_test(at_80_columns_every_share_has_its_interval),
		cmocka_unit_test(ascii_is_ascii),
		cmocka_unit_test(losses_and_a_cut_recording_are_told_in_sentences),
		cmocka_unit_test(what_came_of_the_highest_rate_is_told),
		cmocka_unit_test(what_was_missed_does_not_count_for_the_rate_that_was_taken),
		cmocka_unit_test(a_refused_stop_is_told_with_its_cause),
		cmocka_unit_test(every_loss_is_a_figure_at_any_width),
		cmocka_unit_test(every_loss_is_told_below_a_picture),
		cmocka_unit_test(damage_is_told_before_what_is_less_grave),
		cmocka_unit_test(several_processes_have_a_row),
		cmocka_unit_test(a_program_that_only_waited_is_told_so),
		cmocka_unit_test(a_recording_that_is_too_short_is_told_with_how_much_more_it_takes),
		cmocka_unit_test(without_functions_what_is_told_is_as_uncertain_as_what_threads_did),
		cmocka_unit_test(the_title_is_the_program),
		cmocka_unit_test(what_is_wrong_is_told_in_the_second_line),
		cmocka_unit_test(who_held_the_gil_is_told_with_it),
		cmocka_unit_test(what_is_wrong_is_told_of_time),
		cmocka_unit_test(a_number_of_rows_can_be_asked_for),
		cmocka_unit_test(no_samples_are_no_reason_to_divide_by_zero),
		cmocka_unit_test(cpu_and_gil_mode_tell_time_of_their_kind),
		cmocka_unit_test(shares_of_a_part_are_of_that_part),
		cmocka_unit_test(the_time_of_some_processes_is_theirs),
		cmocka_unit_test(next_commands_can_be_copied_to_a_shell),
		cmocka_unit_test(json_names_the_files_whose_text_there_is),
		cmocka_unit_test(no_name_breaks_out_of_json_or_markdown),
		cmocka_unit_test(nothing_that_a_program_is_called_means_anything_in_markdown),
		cmocka_unit_test(nothing_that_a_recording_says_commands_a_terminal),
		cmocka_unit_test(names_of_64_kib_and_stacks_of_10000_frames_work),
		cmocka_unit_test(formats_are_found_by_name_and_by_path),
		cmocka_unit_test(who_never_waits_has_waited_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
