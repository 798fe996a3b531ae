/* SPDX-License-Identifier: Apache-2.0 */
#include "simulated.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static double cost(const struct program *g, int function)
{
	static const double costs[SIMULATED_FUNCTIONS] = {0.2,	0.15, 0.13, 0.1,  0.1,	0.08,  0.07,   0.05,
							  0.04, 0.03, 0.02, 0.01, 0.01, 0.007, 0.0025, 0.0005};
	return function ? costs[function] : costs[0] * g->slow;
}

static int pick(const struct program *g, double at)
{
	double sum = 0, all = 0;
	for (int f = 0; f < SIMULATED_FUNCTIONS; f++)
		all += cost(g, f);
	for (int f = 0; f < SIMULATED_FUNCTIONS; f++) {
		sum += cost(g, f) / all;
		if (at < sum)
			return f;
	}
	return SIMULATED_FUNCTIONS - 1;
}

struct plumb_profile *simulate(const struct program *g, uint64_t seed, unsigned samples)
{
	struct plumb_profile *p = NULL;
	struct pl_rng rng = {seed};
	uint32_t stacks[SIMULATED_FUNCTIONS], last = 0;
	check(pl_profile_create(&p));
	uint32_t loop = add_frame(p, add_frame(p, 0, "main", "app.py", 1), "loop", "app.py", 2);
	for (int f = 0; f < SIMULATED_FUNCTIONS; f++) {
		char name[16];
		snprintf(name, sizeof name, "f%d", f);
		stacks[f] = add_frame(p, loop, name, "app.py", 10 + f);
	}
	uint32_t thread = add_thread(p, 1, 1, "MainThread", true);
	double total = 0, phase = pl_rng_unit(&rng);
	for (int f = 0; f < SIMULATED_FUNCTIONS; f++)
		total += cost(g, f);
	for (unsigned i = 0; i < samples; i++) {
		if (g->periodic)
			last = (uint32_t)pick(g, fmod(phase + (i + pl_rng_unit(&rng)) / (40 * total), 1));
		else if (i == 0 || pl_rng_unit(&rng) * g->dwell < 1)
			last = (uint32_t)pick(g, pl_rng_unit(&rng));
		add_samples(p, stacks[last], thread, PL_STATE_ON_CPU, i * MS, 1, MS);
	}
	p->meta.period_ns = MS;
	p->meta.ticks = samples;
	return p;
}

struct plumb_profile *simulate_run(const struct program *g, uint64_t seed, unsigned ms, double speed)
{
	double usual = 0, all = 0;
	for (int f = 0; f < SIMULATED_FUNCTIONS; f++) {
		usual += cost(&(struct program){.slow = 1}, f);
		all += cost(g, f);
	}
	struct plumb_profile *p = simulate(g, seed, (unsigned)(ms * all / usual * speed));
	p->processes[0].ended = true;
	p->meta.complete = true;
	return p;
}

struct pl_diff compare(struct plumb_profile *const *before, size_t n, struct plumb_profile *const *after, size_t m,
		       const struct pl_diff_options *o)
{
	const struct pl_diff_input sides[] = {{(const struct plumb_profile *const *)before, n},
					      {(const struct plumb_profile *const *)after, m}};
	struct pl_diff d;
	check(pl_diff_make(sides, o, &d));
	return d;
}

const char *name_of(const struct pl_diff *d, uint32_t row)
{
	const struct pl_diff_key *k = &d->keys[d->table[row].key];
	return pl_strtab_get(k->profile->strings, k->profile->functions[k->function].name, NULL);
}

const struct pl_diff_row *find_row(const struct pl_diff *d, const char *name, int32_t line)
{
	for (uint32_t r = 0; r < d->row_count; r++) {
		if (strcmp(name_of(d, r), name) == 0 && (!line || d->keys[d->table[r].key].line == line))
			return &d->table[r];
	}
	fail_msg("no row of %s:%d", name, line);
	return NULL;
}
