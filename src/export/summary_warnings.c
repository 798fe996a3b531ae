/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps a report from being the whole truth, in sentences: what was lost, refused, or is not there. Layer export;
 * pure, any thread. */
#include "summary.h"

#include <inttypes.h>
#include <string.h>

#include "clock.h"
#include "glyph.h"
#include "report_facts.h"
#include "select.h"
#include "units.h"
#include "words.h"

#define ALWAYS	     0.9
#define MUCH_UNSEEN  0.05 /* of the CPU time; less is start, end, and what one tick may be off */
#define LEAST_UNSEEN (PL_NS_PER_S / 10)
#define MUCH_LOWERED 0.5 /* of the rate that was asked for: from here down it is told */

/* A part without samples can have held the text of a file, or the totals at the end. */
static void warn_damage(struct pl_summary *s, const struct pl_meta *m)
{
	uint64_t parts = m->damaged_parts, samples = m->losses[PL_LOSS_DAMAGED];

	if (!parts && !samples)
		return;
	pl_summary_warn(s, "%s part%s of the recording %s damaged and left out: %s%s",
			parts > 1 ? pl_units_count(parts).s : "a", parts > 1 ? "s" : "", parts > 1 ? "are" : "is",
			samples ? pl_units_count(samples).s : "",
			samples == 1 ? " sample is lost"
			: samples    ? " samples are lost"
				     : "no sample is lost, but texts of files or the last totals may be");
}

/* No loss, but whoever counts samples would wonder where it is much. The details have the rate in any case. */
static void warn_lowered(struct pl_summary *s, const struct pl_meta *m)
{
	double rate = pl_report_lowered_rate(m);
	uint32_t threads = s->totals.threads + s->totals.idle_threads_hidden;

	if (rate <= 0 || rate * (double)m->period_ns > MUCH_LOWERED * PL_NS_PER_S) /* of max any is much */
		return;
	bool still = pl_report_lowered_for_still(m);
	char many[48] = "";
	if (threads > 1)
		snprintf(many, sizeof many, "each of %" PRIu32 " threads was ", threads);
	pl_summary_warn(s, "%ssampled at %s, so that %s no more than %s of %s (--max-overhead)", many,
			pl_units_rate(rate).s, still ? "the program is held up for" : "plumb takes",
			pl_units_percent((still ? m->max_still_ppm : m->max_overhead_ppm) / 1e6).s,
			still ? "its time" : "a core");
}

static void warn_losses(struct pl_summary *s, const struct plumb_profile *p)
{
	const uint64_t *l = p->meta.losses;

	if (s->missed >= PL_SUMMARY_WORTH_TELLING)
		pl_summary_warn(s,
				"%s of the time was missed%s: a busy machine, a limit of CPU time (as a container's), "
				"or -r too high",
				pl_units_percent(s->missed).s, s->scale > 1 ? " (times are scaled)" : "");
	if ((double)l[PL_LOSS_UNREADABLE] > PL_SUMMARY_WORTH_TELLING * (double)s->totals.samples)
		pl_summary_warn(s,
				"%s times a stack could not be read: they changed too fast, or /proc was not there any "
				"more (chroot, umount)",
				pl_units_count(l[PL_LOSS_UNREADABLE]).s);
	if (l[PL_LOSS_QUEUE])
		pl_summary_warn(s, "%s samples were dropped: the recording could not be written fast enough",
				pl_units_count(l[PL_LOSS_QUEUE]).s);
	if (l[PL_LOSS_BEYOND])
		pl_summary_warn(s, "%s processes and threads were too many to be followed and have no samples",
				pl_units_count(l[PL_LOSS_BEYOND]).s);
	if (l[PL_LOSS_FOLDED])
		pl_summary_warn(s,
				"there were too many different stacks: of %s samples only the outer part is shown, "
				"below <folded> "
				"(--max-nodes)",
				pl_units_count(l[PL_LOSS_FOLDED]).s);
	if ((double)l[PL_LOSS_TASK] >= PL_SUMMARY_WORTH_TELLING * (double)s->totals.samples && l[PL_LOSS_TASK])
		pl_summary_warn(s,
				"who awaits the task was not proved for %s samples: they are shown below the event "
				"loop",
				pl_units_count(l[PL_LOSS_TASK]).s);
	if ((double)l[PL_LOSS_NATIVE] >= PL_SUMMARY_WORTH_TELLING * (double)s->totals.samples && l[PL_LOSS_NATIVE])
		pl_summary_warn(s, "%s samples have no native frames: they are shown at their Python function%s",
				pl_units_count(l[PL_LOSS_NATIVE]).s, p->meta.native_threads ? ", or not at all" : "");
}

static void warn_lines(struct pl_summary *s, uint64_t places)
{
	if (places)
		pl_summary_warn(s,
				"%s place%s in functions of C, C++ or Rust %s no line: there was too much debug "
				"information to look through; 'plumb symbolize' may add them",
				pl_units_count(places).s, places > 1 ? "s" : "", places > 1 ? "have" : "has");
}

static void warn_refusals(struct pl_summary *s, const struct plumb_profile *p)
{
	uint64_t times = pl_summary_refused_stops(p);
	char why[320] = "";

	if (!times)
		return;
	pl_glyph_add(why, sizeof why, pl_text_of(p, p->meta.refused_why), s->unicode);
	pl_item_mark(pl_summary_warn(s, "%s stop%s refused: %s", times == 1 ? "a" : pl_units_count(times).s,
				     times == 1 ? " was" : "s were", *why ? why : "the cause is not in the recording"),
		     why);
}

/* One of the names that could have been meant; false when they fill the line. */
static bool add_candidate(char *names, size_t size, uint64_t number, struct pl_text name, bool unicode)
{
	size_t len = strlen(names);

	if (len >= size - 40)
		return false;
	snprintf(names + len, size - len, "%s%" PRIu64 "%s", len ? ", " : "", number, name.len ? " " : "");
	pl_glyph_add(names, size - 40, name, unicode);
	return true;
}

static void add_candidates(char *names, size_t size, const struct plumb_profile *p, bool processes, bool unicode)
{
	bool room = true;

	for (uint32_t i = 0; processes && i < p->process_count && room; i++)
		room = add_candidate(names, size, p->processes[i].pid, pl_text_of(p, p->processes[i].name), unicode);
	for (uint32_t i = 0; !processes && i < p->thread_count && room; i++)
		room = add_candidate(names, size, p->threads[i].tid, pl_text_of(p, p->threads[i].name), unicode);
}

bool pl_summary_unmatched(const struct plumb_profile *const *profiles, size_t count, const struct pl_filter *f,
			  bool unicode, struct pl_item *ret)
{
	char names[240] = "", word[120] = "";
	struct pl_unmatched u;

	*ret = (struct pl_item){.tone = PL_TONE_WARN};
	if (!pl_select_unmatched(profiles, count, f, &u))
		return false;
	for (size_t i = 0; i < count; i++)
		add_candidates(names, sizeof names, profiles[i], u.process, unicode);
	pl_glyph_add(word, sizeof word, (struct pl_text){u.word, strlen(u.word)}, unicode);
	snprintf(ret->text, sizeof ret->text, "no samples of a %s '%s'; there are: %s",
		 u.process ? "process" : "thread", word, *names ? names : "none");
	pl_item_mark(ret, strchr(ret->text, '\''));
	return true;
}

/* Nearly all of the time: it was so when the sampling began, and when it ended. */
static bool always_halted(const struct pl_meta *m)
{
	return m->duration_ns && (double)m->halted_ns > ALWAYS * (double)m->duration_ns;
}

static void warn_halted(struct pl_summary *s, const struct plumb_profile *p)
{
	const struct pl_meta *m = &p->meta;
	double share = pl_ratio((double)m->halted_ns, (double)m->duration_ns);
	struct pl_item of = {.text = "all of the time"};

	if (share < PL_SUMMARY_WORTH_TELLING)
		return;
	if (!always_halted(m))
		snprintf(of.text, sizeof of.text, "%s of the time", pl_units_percent(share).s);
	pl_summary_warn(s,
			"the process was stopped %s, by a signal or a debugger; 'kill -CONT %" PRIu32
			"' lets it go on after a signal",
			of.text, p->process_count ? p->processes[0].pid : 0);
}

/* In CPU mode the shares are of what the samples stand for: whoever reads them takes that for all of it. */
static void warn_unseen(struct pl_summary *s, const struct plumb_profile *p, const struct pl_filter *f)
{
	const struct pl_meta *m = &p->meta;
	uint64_t told = s->totals.weight_ns, unseen = m->used_cpu_ns > told ? m->used_cpu_ns - told : 0;
	double share = pl_ratio((double)unseen, (double)m->used_cpu_ns);

	if (m->mode != PL_MODE_CPU || m->selected || (f && (f->thread_count || f->process_count)) ||
	    unseen < LEAST_UNSEEN || share < MUCH_UNSEEN)
		return;
	pl_summary_warn(s, "%s of CPU time (%s of all) is in no share: of threads that %sended between two samples",
			pl_units_time((double)unseen).s, pl_units_percent(share).s,
			m->native_threads ? "" : "run no Python (--native-threads shows them) or ");
}

/* The gravest first: where there is no room for all, they are what is told. */
void pl_summary_add_warnings(struct pl_summary *s, const struct plumb_profile *p, const struct pl_filter *f)
{
	const struct pl_totals *t = &s->totals;
	struct pl_item unmatched;

	if (!p->meta.complete)
		pl_summary_warn(s, "incomplete: %s", pl_meta_missing(&p->meta));
	warn_halted(s, p);
	if (p->meta.another)
		pl_summary_warn(s, "another recording follows in the file and is left out: 'plumb merge' adds up "
				   "recordings, 'cat' does not");
	warn_damage(s, &p->meta);
	warn_losses(s, p);
	warn_unseen(s, p, f);
	warn_lines(s, p->meta.losses[PL_LOSS_LINES]);
	warn_lowered(s, &p->meta);
	warn_refusals(s, p);
	if (t->jit)
		pl_summary_warn(
			s,
			"%s ran code of Python's JIT compiler: what it inlined has no frame, and lines may be behind",
			pl_units_percent(pl_ratio((double)t->jit, (double)t->samples)).s);
	if (pl_summary_unmatched(&p, 1, f, s->unicode, &unmatched))
		pl_item_mark(pl_summary_warn(s, "%s", unmatched.text), unmatched.text + unmatched.name_at);
	else if (t->samples == 0)
		pl_summary_warn(s, "no samples: %s",
				p->meta.losses[PL_LOSS_UNREADABLE]
					? "no stack could be read"
					: "the program was too short, or all of its threads were left out");
	else if (p->meta.mode == PL_MODE_WALL && !p->meta.selected && !always_halted(&p->meta) &&
		 pl_ratio((double)(t->on_cpu + t->unknown), (double)t->samples) < PL_SUMMARY_WORTH_TELLING)
		pl_summary_warn(s, "nothing ran: every thread was waiting; the rows below show where");
}
