/* SPDX-License-Identifier: Apache-2.0 */
/* The list of what is wrong with a program, and the rules that need no more than totals. Layer export; pure, any
 * thread. */
#include "faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame_name.h"
#include "gil_waits.h"
#include "glyph.h"

/* From these shares on something is wrong. */
#define GIL_WANTED_MUCH 0.2
#define GIL_HELD_MUCH	0.8
#define HOLDER_MUCH	0.3 /* of what was waited */
#define GC_MUCH		0.08
#define READY_MUCH	0.2
/* Fewer samples say nothing for sure, whatever their interval. */
#define FEWEST_SAMPLES 50

#define NAME_BYTES 100

/* ---- making one -------------------------------------------------------------------------------------------------- */

struct pl_fault *pl_fault_add(struct pl_faults *faults, const char *rule, double cost)
{
	struct pl_fault *fault = &faults->list[faults->count++];

	*fault = (struct pl_fault){.rule = rule, .cost = cost};
	return fault;
}

void pl_fault_figure(struct pl_fault *fault, const char *name, double value)
{
	fault->figures[fault->figure_count++] = (struct pl_fault_figure){name, value};
}

void pl_fault_say(struct pl_fault *fault, const char *fmt, ...)
{
	size_t len = strlen(fault->sentence);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fault->sentence + len, sizeof fault->sentence - len, fmt, ap);
	va_end(ap);
}

void pl_fault_name(struct pl_fault *fault, const struct pl_fault_case *c, uint32_t function, int32_t line)
{
	const struct pl_function *f = &c->p->functions[function];
	char name[NAME_BYTES] = "", file[NAME_BYTES] = "";

	pl_glyph_add(name, sizeof name, pl_frame_qualname(c->p, f), c->unicode);
	pl_glyph_add(file, sizeof file, pl_text_short_path(pl_text_of(c->p, f->file)), c->unicode);
	fault->name_at = strlen(fault->sentence);
	if (line > 0)
		pl_fault_say(fault, "%s (%s:%d)", name, file, line);
	else
		pl_fault_say(fault, "%s", name);
	fault->name_len = strlen(fault->sentence) - fault->name_at;
}

/* ---- rules of totals --------------------------------------------------------------------------------------------- */

static bool is_sure(const struct pl_part *part, double least)
{
	return part->share - part->half_width >= least;
}

/* One function that held it for much of what was waited. */
static struct plumb_error *tell_holder(const struct pl_fault_case *c, struct pl_fault *fault)
{
	struct pl_gil_blame blame;
	struct plumb_error *err = pl_gil_blame_find(c->p, c->filter, &blame);
	const struct pl_gil_row *most = !err && blame.rows.len ? &blame.rows.data[0] : NULL;

	if (most && pl_fault_is_sure(&most->held, HOLDER_MUCH)) {
		pl_fault_say(fault, "; for %.0f %% of that wait it was held by ", most->held.share * 100);
		pl_fault_name(fault, c, most->function, (int32_t)c->p->functions[most->function].firstline);
		pl_fault_figure(fault, "holder", most->held.share);
	}
	pl_gil_blame_deinit(&blame);
	return err;
}

static struct plumb_error *rule_gil(const struct pl_fault_case *c, struct pl_faults *faults)
{
	const struct pl_part waited = c->totals->doing.wants_gil,
			     held = {.share = c->gil_held, .half_width = c->gil_held_half_width};
	struct pl_fault *fault;

	if (!is_sure(&waited, GIL_WANTED_MUCH) || !is_sure(&held, GIL_HELD_MUCH))
		return NULL;
	fault = pl_fault_add(faults, "gil", waited.share);
	pl_fault_say(fault,
		     "threads waited for the GIL for %.0f %% of their time, and it was held for %.0f %% of the time: "
		     "more threads will not help",
		     waited.share * 100, held.share * 100);
	pl_fault_figure(fault, "waited", waited.share);
	pl_fault_figure(fault, "held", held.share);
	return tell_holder(c, fault);
}

static struct plumb_error *rule_gc(const struct pl_fault_case *c, struct pl_faults *faults)
{
	const struct pl_part in_gc = c->totals->doing.in_gc;
	struct pl_fault *fault;

	if (!is_sure(&in_gc, GC_MUCH))
		return NULL;
	fault = pl_fault_add(faults, "gc", in_gc.share);
	pl_fault_say(fault, "garbage collection took %.0f %% of the time", in_gc.share * 100);
	pl_fault_figure(fault, "took", in_gc.share);
	return NULL;
}

static struct plumb_error *rule_cpu(const struct pl_fault_case *c, struct pl_faults *faults)
{
	const struct pl_part ready = c->totals->waits[PL_REASON_CPU].part;
	struct pl_fault *fault;

	if (!is_sure(&ready, READY_MUCH))
		return NULL;
	fault = pl_fault_add(faults, "cpu", ready.share);
	pl_fault_say(fault,
		     "threads were ready and waited for a CPU for %.0f %% of their time: the CPUs that they may use "
		     "are busy, or a limit of theirs is reached (as a container's)",
		     ready.share * 100);
	pl_fault_figure(fault, "waited", ready.share);
	return NULL;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* Equal profiles give equal lists. */
static int compare(const void *va, const void *vb)
{
	const struct pl_fault *a = va, *b = vb;

	return a->cost != b->cost ? (a->cost < b->cost ? 1 : -1) : strcmp(a->rule, b->rule);
}

struct plumb_error *pl_faults_find(const struct pl_fault_case *c, struct pl_faults *ret)
{
	static struct plumb_error *(*const rules[PL_FAULTS_MAX])(const struct pl_fault_case *,
								 struct pl_faults *) = {rule_gil,
											rule_gc,
											rule_cpu,
											pl_fault_rule_import,
											pl_fault_rule_event_loop,
											pl_fault_rule_loop_holds,
											pl_fault_rule_lock};
	struct plumb_error *err = NULL;

	ret->count = 0;
	/* Of samples that were selected for what they show the shares are no longer those of the program. */
	if (c->totals->samples < FEWEST_SAMPLES || c->p->meta.selected)
		return NULL;
	for (size_t i = 0; i < sizeof rules / sizeof *rules && !err; i++)
		err = rules[i](c, ret);
	qsort(ret->list, (size_t)ret->count, sizeof *ret->list, compare);
	return err;
}
