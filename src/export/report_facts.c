/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a recording as members of a JSON object (layer export; any thread). */
#include "report_facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "frame_name.h"
#include "summary.h"
#include "words.h"

#define SHARE_DIGITS 6

#define WORTH_TELLING_RATE 0.9 /* of the rate that was asked for */
#define REACHED		   0.5 /* of a limit, on average: it is what set the rate */

static void key_text(struct pl_json *j, const char *key, struct pl_text t)
{
	pl_json_key_strn(j, key, t.s, t.len);
}

void pl_report_share(struct pl_json *j, const struct pl_share *s)
{
	pl_json_key_u64(j, "samples", s->samples);
	pl_json_key_u64(j, "weight_ns", s->weight_ns);
	pl_json_key_double(j, "share", s->share, SHARE_DIGITS);
	pl_json_key_double(j, "half_width", s->half_width, SHARE_DIGITS);
}

void pl_report_recording(struct pl_json *j, const struct plumb_profile *p)
{
	const struct pl_meta *m = &p->meta;
	char seed[24];

	key_text(j, "command", pl_text_of(p, m->command));
	key_text(j, "host", pl_text_of(p, m->host));
	key_text(j, "engine", pl_text_of(p, m->engine));
	pl_json_key_str(j, "mode", pl_mode_name(m->mode));
	if (m->start_real_ns)
		pl_json_key_time(j, "start", m->start_real_ns);
	else
		pl_json_key_null(j, "start");
	pl_json_key_u64(j, "duration_ns", m->duration_ns);
	pl_json_key_u64(j, "halted_ns", m->halted_ns);
	pl_json_key_u64(j, "used_cpu_ns", m->used_cpu_ns);
	pl_json_key_u64(j, "period_ns", m->period_ns);
	if (m->period_ns)
		pl_json_key_double(j, "rate_hz", (double)PL_NS_PER_S / (double)m->period_ns, 3);
	else
		pl_json_key_null(j, "rate_hz");
	pl_json_key_bool(j, "jitter", m->jitter);
	pl_json_key_bool(j, "native_threads", m->native_threads);
	/* 64 bits: more than a number holds in most readers. */
	snprintf(seed, sizeof seed, "%" PRIu64, m->seed);
	pl_json_key_str(j, "seed", seed);
	pl_json_key_bool(j, "complete", m->complete);
}

struct sums {
	uint64_t samples, weight_ns;
};

/* Of each process, over its threads. NULL: no memory. */
static struct sums *sum_processes(const struct plumb_profile *p, const pl_thread_rows *threads)
{
	struct sums *sums = calloc((size_t)p->process_count + 1, sizeof *sums);

	for (size_t i = 0; i < threads->len && sums; i++) {
		const struct pl_thread_row *row = &threads->data[i];
		struct sums *sum = &sums[p->threads[row->thread].process];

		sum->samples += row->samples;
		sum->weight_ns += row->weight_ns;
	}
	return sums;
}

struct plumb_error *pl_report_processes(struct pl_json *j, const struct plumb_profile *p, const pl_thread_rows *threads)
{
	struct sums *sums = sum_processes(p, threads);

	if (!sums)
		return &pl_err_no_memory;
	pl_json_key(j, "processes");
	pl_json_array(j);
	for (uint32_t i = 0; i < p->process_count; i++) {
		const struct pl_process *proc = &p->processes[i];

		pl_json_object(j);
		pl_json_key_u64(j, "pid", proc->pid);
		pl_json_key_u64(j, "parent", proc->parent);
		key_text(j, "name", pl_text_of(p, proc->name));
		key_text(j, "program", pl_text_of(p, proc->program));
		key_text(j, "python", pl_text_of(p, proc->python));
		if (proc->host)
			key_text(j, "host", pl_text_of(p, proc->host));
		pl_json_key_u64(j, "start_ns", proc->start_ns);
		pl_json_key_u64(j, "came_ns", proc->came_ns);
		pl_json_key_u64_or_null(j, "ended_ns", proc->ended, proc->ended_ns);
		pl_json_key_u64(j, "samples", sums[i].samples);
		pl_json_key_u64(j, "weight_ns", sums[i].weight_ns);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
	free(sums);
	return NULL;
}

void pl_report_threads(struct pl_json *j, const struct plumb_profile *p, const pl_thread_rows *threads)
{
	pl_json_key(j, "threads");
	pl_json_array(j);
	for (size_t i = 0; i < threads->len; i++) {
		const struct pl_thread_row *row = &threads->data[i];
		const struct pl_thread *t = &p->threads[row->thread];

		pl_json_object(j);
		pl_json_key_u64(j, "process", t->process);
		pl_json_key_u64(j, "pid", t->process < p->process_count ? p->processes[t->process].pid : 0);
		pl_json_key_u64(j, "tid", t->tid);
		key_text(j, "name", pl_text_of(p, t->name));
		pl_json_key_bool(j, "main", t->main);
		pl_json_key_bool(j, "idle", row->idle);
		pl_json_key_u64(j, "samples", row->samples);
		pl_json_key_u64(j, "weight_ns", row->weight_ns);
		pl_json_key_u64(j, "on_cpu", row->on_cpu);
		pl_json_key_u64(j, "has_gil", row->has_gil);
		pl_json_key_u64(j, "wants_gil", row->wants_gil);
		pl_json_key_u64_or_null(j, "cpu_ns", t->cpu_known, t->cpu_ns);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

void pl_report_losses(struct pl_json *j, const struct plumb_profile *p)
{
	const struct pl_meta *m = &p->meta;

	pl_json_key(j, "losses");
	pl_json_object(j);
	for (int i = 0; i < PL_LOSSES; i++) {
		pl_json_key_u64(j, pl_losses[i].member, m->losses[i]);
		if (i == PL_LOSS_MISSED)
			pl_json_key_u64_or_null(j, "missed_ns", m->taken_ns != 0, m->missed_ns);
		if (i == PL_LOSS_DAMAGED)
			pl_json_key_u64(j, "damaged_parts", m->damaged_parts);
	}
	pl_json_object_end(j);
}

static void write_refusals(struct pl_json *j, const struct plumb_profile *p)
{
	const struct pl_meta *m = &p->meta;

	pl_json_key(j, "stops_refused");
	pl_json_object(j);
	for (int i = 0; i < PL_REFUSALS; i++)
		pl_json_key_u64(j, pl_refusals[i], m->refused[i]);
	if (m->refused_why)
		key_text(j, "last", pl_text_of(p, m->refused_why));
	else
		pl_json_key_null(j, "last");
	pl_json_object_end(j);
}

/* For how long a cost might have been had, at its limit. */
static double lasts_ns(uint64_t cost_ns, uint32_t limit_ppm)
{
	return limit_ppm ? (double)cost_ns * 1e6 / limit_ppm : 0;
}

/* The rate follows whichever is nearer its limit. */
bool pl_report_lowered_for_still(const struct pl_meta *m)
{
	return lasts_ns(m->stopped_ns, m->max_still_ppm) > lasts_ns(m->profiler_cpu_ns, m->max_overhead_ppm);
}

/* As fast as possible is no figure to compare with: a limit is what kept it from being faster where it was reached. */
static bool reached_a_limit(const struct pl_meta *m)
{
	double lasts =
		fmax(lasts_ns(m->stopped_ns, m->max_still_ppm), lasts_ns(m->profiler_cpu_ns, m->max_overhead_ppm));

	return lasts > REACHED * (double)m->taken_ns;
}

static bool is_lowered(const struct pl_meta *m)
{
	double ticks = (double)m->ticks * (double)m->period_ns;

	if (!m->max_overhead_ppm && !m->max_still_ppm)
		return false;
	return m->period_ns ? ticks < WORTH_TELLING_RATE * (double)m->taken_ns : reached_a_limit(m);
}

/* The first periods are short until it is known what they cost, and many of them can be missed: whoever counts samples
 * counts those of all the time. */
double pl_report_lowered_rate(const struct pl_meta *m)
{
	double all_ns = (double)m->taken_ns + (double)m->missed_ns;

	return is_lowered(m) && all_ns > 0 ? (double)m->ticks * PL_NS_PER_S / all_ns : 0;
}

static void write_limit(struct pl_json *j, const char *key, uint32_t ppm)
{
	if (ppm)
		pl_json_key_double(j, key, ppm / 1e6, 6);
	else
		pl_json_key_null(j, key);
}

static void write_lowered(struct pl_json *j, const struct pl_meta *m)
{
	double lowered = pl_report_lowered_rate(m);

	if (lowered <= 0) {
		pl_json_key_null(j, "lowered_to_hz");
		pl_json_key_null(j, "lowered_for");
		return;
	}
	pl_json_key_double(j, "lowered_to_hz", lowered, 6);
	pl_json_key_str(j, "lowered_for", pl_report_lowered_for_still(m) ? "stopped" : "profiler_cpu");
}

void pl_report_overhead(struct pl_json *j, const struct plumb_profile *p)
{
	const struct pl_meta *m = &p->meta;

	pl_json_key(j, "overhead");
	pl_json_object(j);
	pl_json_key_u64(j, "stops", m->stops);
	pl_json_key_u64(j, "stopped_ns", m->stopped_ns);
	write_refusals(j, p);
	pl_json_key_u64(j, "profiler_cpu_ns", m->profiler_cpu_ns);
	write_limit(j, "limit", m->max_overhead_ppm);
	write_limit(j, "stopped_limit", m->max_still_ppm);
	write_lowered(j, m);
	pl_json_object_end(j);
}

static void write_fault(struct pl_json *j, const struct pl_fault *fault)
{
	pl_json_object(j);
	pl_json_key_str(j, "rule", fault->rule);
	pl_json_key_str(j, "sentence", fault->sentence);
	pl_json_key(j, "figures");
	pl_json_object(j);
	for (int i = 0; i < fault->figure_count; i++)
		pl_json_key_double(j, fault->figures[i].name, fault->figures[i].value, 6);
	pl_json_object_end(j);
	pl_json_object_end(j);
}

static void write_faults(struct pl_json *j, const struct pl_faults *faults)
{
	pl_json_key_str_or_null(j, "finding", faults->count ? faults->list[0].sentence : NULL);
	pl_json_key(j, "findings");
	pl_json_array(j);
	for (int i = 0; i < faults->count; i++)
		write_fault(j, &faults->list[i]);
	pl_json_array_end(j);
}

struct plumb_error *pl_report_findings(struct pl_json *j, const struct plumb_profile *p, const struct pl_filter *f)
{
	struct pl_summary *s = malloc(sizeof *s);
	struct plumb_error *err = s ? pl_summary_make(p, f, true, s) : &pl_err_no_memory;

	if (!err)
		err = pl_summary_find(s, p, f);
	if (!err)
		write_faults(j, &s->faults);
	free(s);
	return err;
}
