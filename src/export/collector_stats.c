/* SPDX-License-Identifier: Apache-2.0 */
/* What a collector's output says of its run (layer export; pure). */
#include "collector_stats.h"

#include <math.h>

static void key_number(struct pl_json *j, const char *key, double v)
{
	pl_json_key(j, key);
	pl_json_number(j, v);
}

/* A profile of ours knows the same figures by other names. */
static struct pl_collector own_figures(const struct plumb_profile *p)
{
	const struct pl_meta *m = &p->meta;
	double seconds = (double)m->duration_ns / 1e9, interval = (double)m->period_ns / 1e3;
	double expected = (double)m->ticks + (double)m->losses[PL_LOSS_MISSED];
	double seen = (double)m->ticks + (double)m->losses[PL_LOSS_UNREADABLE];

	return (struct pl_collector){
		.measured = seconds > 0,
		.interval_usec = interval,
		.run_interval_usec = interval,
		.duration_sec = seconds,
		.sample_rate = seconds > 0 ? (double)m->ticks / seconds : NAN,
		.error_rate = seen > 0 ? 100 * (double)m->losses[PL_LOSS_UNREADABLE] / seen : NAN,
		.missed_samples = expected > 0 ? 100 * (double)m->losses[PL_LOSS_MISSED] / expected : NAN,
		.mode = m->mode,
	};
}

void pl_collector_stats_write(const struct pl_thread_figures *f, bool seed, FILE *out)
{
	struct pl_collector c = f->p->meta.collector.known ? f->p->meta.collector : own_figures(f->p);
	struct pl_json j;

	pl_json_init(&j, out, 0);
	pl_json_object(&j);
	if (c.measured) {
		key_number(&j, "sample_interval_usec", c.run_interval_usec);
		key_number(&j, "duration_sec", c.duration_sec);
		key_number(&j, "sample_rate", c.sample_rate);
		key_number(&j, "error_rate", c.error_rate);
		key_number(&j, "missed_samples", c.missed_samples);
		key_number(&j, "mode", c.mode);
	} else if (!seed) {
		key_number(&j, "sample_interval_usec", c.interval_usec);
	}
	pl_thread_figures_write(f, &j);
	pl_json_object_end(&j);
}
