/* SPDX-License-Identifier: Apache-2.0 */
/* A minute at 1 kHz and depth 100 takes at most 0.1 MB: simulated with one sample at a random point of each period. */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "recording.h"

#define PERIOD_NS 1000000ull
#define SAMPLES	  60000
#define DEPTH	  100
#define BUDGET	  100000

struct simulation {
	struct plumb_profile *p;
	struct pl_rng rng;
	uint32_t thread, stacks[64];
	struct pl_capture_writer *w;
	char *path;
};

/* 64 stacks of DEPTH frames that differ in their last two, with names and paths of ordinary length. */
static void make_stacks(struct simulation *s)
{
	char name[64], file[64];
	uint32_t trunk = 0;
	for (int i = 0; i < DEPTH - 2; i++) {
		snprintf(name, sizeof name, "Component%d.handle_request_%d", i / 4, i);
		snprintf(file, sizeof file, "/srv/application/package_%d/module_%d.py", i / 20, i / 5);
		trunk = add_frame(s->p, trunk, name, file, 20 + 13 * i);
	}
	for (int i = 0; i < 64; i++) {
		snprintf(name, sizeof name, "Model.compute_%d", i / 4);
		uint32_t caller = add_frame(s->p, trunk, name, "/srv/application/model.py", 100 + i);
		s->stacks[i] = add_frame(s->p, caller, "inner_loop", "/srv/application/kernels.py", 10 + i % 7);
	}
}

static void begin(struct simulation *s, uint64_t seed)
{
	*s = (struct simulation){.rng = {.state = seed}, .path = temp_file()};
	check(pl_profile_create(&s->p));
	s->p->meta = (struct pl_meta){.start_real_ns = 1760000000123456789ull,
				      .period_ns = PERIOD_NS,
				      .jitter = true,
				      .seed = pl_rng_next(&s->rng)};
	s->p->meta.command = add_string(s->p, "python -m application --workers 1");
	s->thread = add_thread(s->p, 4242, 4242, "MainThread", true);
	s->p->threads[s->thread].cpu_known = true;
	make_stacks(s);
	check(pl_capture_create(s->path, s->p, &s->w));
}

/* Totals that move on as those of a real profiler do. */
static void flush_if_due(struct simulation *s, uint64_t now_ns)
{
	struct pl_meta *m = &s->p->meta;
	if (!pl_capture_wants_flush(s->w))
		return;
	m->duration_ns = now_ns;
	m->ticks = now_ns / PERIOD_NS;
	m->losses[PL_LOSS_MISSED] += random_below(&s->rng, 3);
	m->stops += random_below(&s->rng, 50);
	m->stopped_ns += random_below(&s->rng, 1000000);
	m->profiler_cpu_ns += 4000000 + random_below(&s->rng, 1000000);
	s->p->threads[s->thread].cpu_ns += 790000000 + random_below(&s->rng, 10000000);
	check(pl_capture_flush(s->w, s->p));
}

static void add(struct simulation *s, unsigned tick, uint32_t stack, uint8_t state, uint8_t quality)
{
	struct pl_sample sample = {.time_ns = tick * PERIOD_NS + random_below(&s->rng, PERIOD_NS),
				   .thread = s->thread,
				   .stack = stack,
				   .state = state,
				   .quality = quality,
				   .weight_ns = PERIOD_NS};
	check(pl_profile_add(s->p, &sample));
	check(pl_capture_add(s->w, &sample));
	flush_if_due(s, sample.time_ns);
}

static void end(struct simulation *s, const char *pattern)
{
	struct plumb_profile *back = NULL;
	struct pl_capture_info info;
	size_t len = 0;
	check(pl_capture_finish(s->w, s->p));
	uint8_t *bytes = file_bytes(s->path, &len);
	check(read_bytes(bytes, len, &back, &info));
	print_message("%s: %zu bytes\n", pattern, len);
	assert_int_equal(samples_in(back), SAMPLES);
	assert_in_range(info.chunks, 70, 77);
	assert_in_range(len, 1, BUDGET);
	free(bytes);
	unlink(s->path);
	free(s->path);
	pl_capture_destroy(s->w);
	pl_profile_destroy(s->p);
	pl_profile_destroy(back);
}

#define BUSY (PL_STATE_ON_CPU | PL_STATE_HAS_GIL)

static void one_stack_fits(void **state)
{
	struct simulation s;
	begin(&s, 1);
	for (unsigned i = 0; i < SAMPLES; i++)
		add(&s, i, s.stacks[0], BUSY, PL_EXACT);
	end(&s, "one stack");
}

/* Nothing to predict: each sample one of twenty. */
static void twenty_stacks_in_random_order_fit(void **state)
{
	struct simulation s;
	begin(&s, 2);
	for (unsigned i = 0; i < SAMPLES; i++)
		add(&s, i, s.stacks[random_below(&s.rng, 20)], BUSY, PL_EXACT);
	end(&s, "twenty stacks in random order");
}

/* The shares of a real program: the first stack has half of the samples, the next a quarter of the rest, ... */
static void a_program_with_hot_spots_fits(void **state)
{
	struct simulation s;
	begin(&s, 3);
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint32_t at = 0;
		while (at < 63 && random_below(&s.rng, 4) != 0)
			at++;
		uint8_t quality = random_below(&s.rng, 10) ? PL_EXACT : PL_STOPPED;
		add(&s, i, s.stacks[at], random_below(&s.rng, 50) ? BUSY : PL_STATE_ON_CPU, quality);
	}
	end(&s, "hot spots, one in ten stopped");
}

/* Phases of 50 ms, as of a program that does one thing after the other. */
static void phases_fit(void **state)
{
	struct simulation s;
	begin(&s, 4);
	for (unsigned i = 0; i < SAMPLES; i++)
		add(&s, i, s.stacks[i / 50 % 8 * 8 + random_below(&s.rng, 4)], i / 50 % 8 ? BUSY : 0, PL_EXACT);
	end(&s, "phases");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stack_fits),
		cmocka_unit_test(twenty_stacks_in_random_order_fit),
		cmocka_unit_test(a_program_with_hot_spots_fits),
		cmocka_unit_test(phases_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
