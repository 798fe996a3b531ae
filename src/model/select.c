/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples a question is about (layer model): thread names, idle threads, idle samples. Read-only, so that several
 * threads may ask one profile that nobody changes. */
#include "select.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "stats.h"

/* Does one of @p words name it? */
static bool is_named(const struct plumb_profile *p, const char *const *words, size_t count, uint64_t number,
		     uint32_t name)
{
	char decimal[24];
	snprintf(decimal, sizeof decimal, "%" PRIu64, number);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], decimal) == 0 ||
		    (name && strcmp(words[i], pl_strtab_get(p->strings, name, NULL)) == 0))
			return true;
	}
	return false;
}

bool pl_select_named(const struct plumb_profile *p, const struct pl_filter *f, uint32_t thread)
{
	const struct pl_thread *t = &p->threads[thread];
	const struct pl_process *proc = &p->processes[t->process];
	if (f->processes && !is_named(p, f->processes, f->process_count, proc->pid, proc->name))
		return false;
	return !f->threads || is_named(p, f->threads, f->thread_count, t->tid, t->name);
}

static bool names_thread(const struct plumb_profile *p, const char *word)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (is_named(p, &word, 1, p->threads[i].tid, p->threads[i].name))
			return true;
	return false;
}

static bool names_process(const struct plumb_profile *p, const char *word)
{
	for (uint32_t i = 0; i < p->process_count; i++)
		if (is_named(p, &word, 1, p->processes[i].pid, p->processes[i].name))
			return true;
	return false;
}

typedef bool names_fn(const struct plumb_profile *p, const char *word);

static const char *first_unmatched(const struct plumb_profile *const *profiles, size_t count, const char *const *words,
				   size_t word_count, names_fn *names)
{
	for (size_t i = 0; i < word_count && words; i++) {
		bool found = false;
		for (size_t k = 0; k < count && !found; k++)
			found = names(profiles[k], words[i]);
		if (!found)
			return words[i];
	}
	return NULL;
}

bool pl_select_unmatched(const struct plumb_profile *const *profiles, size_t count, const struct pl_filter *f,
			 struct pl_unmatched *ret)
{
	*ret = (struct pl_unmatched){
		.word = first_unmatched(profiles, count, f->processes, f->process_count, names_process)};
	ret->process = ret->word != NULL;
	if (!ret->word)
		ret->word = first_unmatched(profiles, count, f->threads, f->thread_count, names_thread);
	return ret->word != NULL;
}

/* Started by another process of this profile? */
static bool is_child(const struct plumb_profile *p, uint32_t process)
{
	const struct pl_process *proc = &p->processes[process];
	uint32_t any;
	return proc->parent && pl_map_get(&p->index->pids, proc->parent, proc->host, &any);
}

bool pl_view_thread_idle(const struct plumb_profile *p, uint32_t thread)
{
	assert(thread < p->thread_count);
	const struct pl_thread *t = &p->threads[thread];
	double sampled_ns = (double)p->index->thread_weight_ns[thread];
	if (t->main && !is_child(p, t->process))
		return false;
	return t->cpu_known && (double)t->cpu_ns < PL_IDLE_CPU_SHARE * sampled_ns;
}

/* A thread that was asked for by name is shown even if it slept all along. */
static bool thread_passes(const struct plumb_profile *p, const struct pl_filter *f, uint32_t thread)
{
	if (!pl_select_named(p, f, thread))
		return false;
	return f->threads || f->idle != PL_IDLE_HIDE_THREADS || !pl_view_thread_idle(p, thread);
}

static bool state_passes(const struct pl_filter *f, uint16_t state)
{
	return f->idle != PL_IDLE_SKIP_SAMPLES || (state & (PL_STATE_ON_CPU | PL_STATE_HAS_GIL));
}

bool pl_view_passes(const struct plumb_profile *p, const struct pl_filter *f, const struct pl_cell *cell)
{
	return state_passes(f, cell->state) && thread_passes(p, f, cell->thread);
}

struct plumb_error *pl_select_threads(const struct plumb_profile *p, const struct pl_filter *f, bool **ret)
{
	bool *passes = calloc((size_t)p->thread_count + 1, sizeof *passes);
	if (!passes)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < p->thread_count; i++)
		passes[i] = thread_passes(p, f, i);
	*ret = passes;
	return NULL;
}

/* Counting sort of the passing cells by batch; @p s has room for all of them. */
static void select_cells(const struct plumb_profile *p, const struct pl_filter *f, const bool *threads,
			 struct pl_selection *s)
{
	uint32_t fill[PL_BATCHES] = {0};
	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];
		if (threads[c->thread] && state_passes(f, c->state))
			fill[c->batch]++;
	}
	for (int b = 0; b < PL_BATCHES; b++) {
		s->start[b + 1] = s->start[b] + fill[b];
		fill[b] = s->start[b];
	}
	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];
		if (!threads[c->thread] || !state_passes(f, c->state))
			continue;
		s->cells[fill[c->batch]++] = c;
		s->samples = pl_sum_u64(s->samples, c->samples);
		s->weight_ns = pl_sum_u64(s->weight_ns, c->weight_ns);
		s->batch_samples[c->batch] = pl_sum_u64(s->batch_samples[c->batch], c->samples);
		s->batch_weight_ns[c->batch] = pl_sum_u64(s->batch_weight_ns[c->batch], c->weight_ns);
	}
}

struct plumb_error *pl_select(const struct plumb_profile *p, const struct pl_filter *f, struct pl_selection *ret)
{
	bool *threads = NULL;
	struct plumb_error *err = pl_select_threads(p, f, &threads);
	if (err)
		return err;
	struct pl_selection s = {.profile = p};
	s.cells = calloc((size_t)p->cell_count + 1, sizeof *s.cells);
	if (!s.cells) {
		free(threads);
		return &pl_err_no_memory;
	}
	select_cells(p, f, threads, &s);
	free(threads);
	*ret = s;
	return NULL;
}

void pl_selection_deinit(struct pl_selection *s)
{
	free(s->cells);
	*s = (struct pl_selection){0};
}

double pl_select_half_width(const uint64_t *hit_ns, const uint64_t *all_ns, uint64_t samples)
{
	double hit[PL_BATCHES], all[PL_BATCHES], weight_ns = 0, scale;

	for (int b = 0; b < PL_BATCHES; b++)
		weight_ns += (double)all_ns[b];
	scale = weight_ns > 0 ? (double)samples / weight_ns : 0;
	for (int b = 0; b < PL_BATCHES; b++) {
		hit[b] = (double)hit_ns[b] * scale;
		all[b] = (double)all_ns[b] * scale;
	}
	return pl_stats_share_half_width(hit, all, PL_BATCHES);
}

bool *pl_select_stacks(const struct pl_selection *s)
{
	const struct plumb_profile *p = s->profile;
	bool *needed = calloc((size_t)p->stack_count + 1, sizeof *needed);

	if (!needed)
		return NULL;
	for (uint32_t i = 0; i < s->start[PL_BATCHES]; i++)
		needed[s->cells[i]->stack] = true;
	for (uint32_t id = p->stack_count - 1; id > 0; id--) {
		if (needed[id])
			needed[p->stacks[id].parent] = true;
	}
	return needed;
}
