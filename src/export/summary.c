/* SPDX-License-Identifier: Apache-2.0 */
/* A report in words. Layer export; pure, any thread. Text and Markdown share it; JSON has the bare numbers. What is
 * judged of them is summary_verdict.c.
 *
 * A number that should be 0 and is not is a warning, so that it stands out. Whatever makes the shares less than the
 * whole truth (losses, a cut recording, too few samples) is said in a sentence of its own. */
#include "summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "frame_name.h"
#include "glyph.h"
#include "report_facts.h"
#include "units.h"
#include "words.h"

#define PROCESSES_SHOWN 4
#define NAME_BYTES	41 /* of one in an item, with its end */
/* Processes times threads: beyond that nobody adds up who used which CPU time. */
#define MOST_COMPARED 1000000

static struct pl_item *next_item(struct pl_summary_row *row)
{
	int last = (int)(sizeof row->items / sizeof row->items[0]) - 1;

	return &row->items[row->count < last ? row->count++ : last];
}

static bool is_plain(const char *name)
{
	return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .+-")];
}

void pl_item_mark(struct pl_item *it, const char *name)
{
	const char *found = it && name && !is_plain(name) ? strstr(it->text, name) : NULL;

	if (found) {
		it->name_at = (size_t)(found - it->text);
		it->name_len = strlen(name);
	}
}

struct pl_item *pl_summary_item(struct pl_summary_row *row, enum pl_tone tone, const char *fmt, ...)
{
	struct pl_item *it = next_item(row);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(it->text, sizeof it->text, fmt, ap);
	va_end(ap);
	it->tone = tone;
	it->name_len = 0;
	return it;
}

void pl_summary_name(struct pl_summary *s, int row, const char *before, struct pl_text name, const char *behind)
{
	char shown[NAME_BYTES] = "";

	pl_glyph_add(shown, sizeof shown, name, s->unicode);
	struct pl_item *it = pl_summary_item(&s->rows[row], PL_TONE_PLAIN, "%s%s%s", before, shown, behind);
	it->name_at = strlen(before);
	it->name_len = is_plain(shown) ? 0 : strlen(shown);
}

struct pl_item *pl_summary_warn(struct pl_summary *s, const char *fmt, ...)
{
	struct pl_item *it;
	va_list ap;

	if (s->warning_count == (int)(sizeof s->warnings / sizeof s->warnings[0]))
		return NULL;
	it = &s->warnings[s->warning_count++];
	va_start(ap, fmt);
	vsnprintf(it->text, sizeof it->text, fmt, ap);
	va_end(ap);
	it->tone = PL_TONE_WARN;
	it->name_len = 0;
	return it;
}

static const char *text(const struct plumb_profile *p, uint32_t string)
{
	return pl_strtab_get(p->strings, string, NULL);
}

/* The word of the command line that is the script, and all behind it: what is before is the interpreter's. */
static struct pl_text from_script(struct pl_text command, struct pl_text script)
{
	const char *at = command.s, *end = at + command.len;

	while (script.len && at < end) {
		const char *blank = memchr(at, ' ', (size_t)(end - at));
		struct pl_text word = pl_text_basename((struct pl_text){at, (size_t)((blank ? blank : end) - at)});

		if (word.len == script.len && memcmp(word.s, script.s, script.len) == 0)
			return (struct pl_text){word.s, (size_t)(end - word.s)};
		at = blank ? blank + 1 : end;
	}
	return (struct pl_text){command.s, 0};
}

struct pl_text pl_summary_program(const struct plumb_profile *p, bool full)
{
	struct pl_text found, command;

	if (full || !p->process_count || p->processes[0].host)
		return pl_text_command(p, full);
	/* The first is whose command it was, or the first Python of a launcher's. */
	command = pl_text_of(p, p->processes[0].program);
	found = from_script(command, pl_text_of(p, p->processes[0].name));
	if (!found.len)
		found = pl_text_without_folder(command);
	return found.len ? found : pl_text_command(p, false);
}

/* Whole percents that add up to 100. */
static void computing(struct pl_summary_row *row, const struct pl_totals *t)
{
	long on_cpu = lround(100 * t->doing.on_cpu.share), unknown = lround(100 * t->doing.unknown.share);
	long waiting = on_cpu + unknown < 100 ? 100 - on_cpu - unknown : 0;

	if (unknown)
		pl_summary_item(row, PL_TONE_STRONG, "%ld %% computing, %ld %% waiting, %ld %% unknown", on_cpu,
				waiting, unknown);
	else
		pl_summary_item(row, PL_TONE_STRONG, "%ld %% computing, %ld %% waiting", on_cpu, waiting);
}

static void threads(struct pl_summary_row *row, const struct pl_totals *t)
{
	char idle[32] = "";

	if (t->idle_threads_hidden)
		snprintf(idle, sizeof idle, " (+%" PRIu32 " idle)", t->idle_threads_hidden);
	pl_summary_item(row, PL_TONE_PLAIN, "%" PRIu32 " thread%s%s", t->threads, t->threads == 1 ? "" : "s", idle);
}

static void title(struct pl_summary *s, const struct plumb_profile *p)
{
	struct pl_summary_row *row = &s->rows[PL_SUMMARY_TITLE];
	const struct pl_totals *t = &s->totals;
	double of_time = pl_ratio((double)t->weight_ns, (double)p->meta.duration_ns);

	if (p->meta.imported)
		pl_summary_name(s, PL_SUMMARY_TITLE, "from ", pl_text_of(p, p->meta.engine), "");
	if (p->meta.duration_ns || !p->meta.imported)
		pl_summary_item(row, PL_TONE_PLAIN, "%s", pl_units_time((double)p->meta.duration_ns).s);
	if (p->process_count == 1 && text(p, p->processes[0].python)[0])
		pl_summary_name(s, PL_SUMMARY_TITLE, "CPython ", pl_text_of(p, p->processes[0].python), "");
	if (p->process_count > 1)
		pl_summary_item(row, PL_TONE_PLAIN, "%" PRIu32 " processes", p->process_count);
	threads(row, t);
	if (t->samples == 0 || (p->meta.imported && t->unknown == t->samples))
		return;
	if (p->meta.mode == PL_MODE_CPU)
		pl_summary_item(row, PL_TONE_STRONG, "%s of CPU time (%s of a core)",
				pl_units_time((double)t->weight_ns).s, pl_units_percent(of_time).s);
	else if (p->meta.mode == PL_MODE_GIL)
		pl_summary_item(row, PL_TONE_STRONG, "GIL held %s (%s of the time)",
				pl_units_time((double)t->weight_ns).s, pl_units_percent(of_time < 1 ? of_time : 1).s);
	else
		computing(row, t);
}

static double lived(const struct plumb_profile *p, uint32_t process)
{
	const struct pl_process *proc = &p->processes[process];
	double end = (double)(proc->ended ? proc->ended_ns : p->meta.duration_ns);

	return end > (double)proc->came_ns ? end - (double)proc->came_ns : 0;
}

/* How much time of processes there was in one of the recording: of all, or of @p shown. */
static double process_time(const struct plumb_profile *p, const pl_process_rows *shown)
{
	double sum = 0, duration = (double)p->meta.duration_ns;

	if (p->process_count <= 1)
		return 1;
	for (uint32_t i = 0; i < (shown ? shown->len : p->process_count); i++)
		sum += lived(p, shown ? shown->data[i].process : i);
	return sum > 0 && duration > 0 ? sum / duration : 1;
}

/* How much time of threads there was in one of their process. Older recordings know the number of ticks only. */
static double of_threads(const struct plumb_profile *p, const struct pl_totals *t, const pl_process_rows *shown)
{
	double processes = process_time(p, shown);

	if (p->meta.taken_ns)
		return pl_ratio((double)t->weight_ns, (double)p->meta.taken_ns * processes);
	return pl_ratio((double)t->samples, (double)p->meta.ticks * processes);
}

/* Whoever holds the GIL holds it for the whole process: a share of time, not of thread time. Of samples that were
 * selected it is not known at which ticks there were any. */
static void gil_held(struct pl_summary *s, const struct plumb_profile *p, const pl_process_rows *shown)
{
	struct pl_summary_row *row = &s->rows[PL_SUMMARY_GIL];
	const struct pl_totals *t = &s->totals;
	double held = t->doing.has_gil.share, half_width = t->doing.has_gil.half_width;

	if (!p->meta.selected) {
		double threads_at_once = of_threads(p, t, shown);

		held *= threads_at_once;
		half_width *= threads_at_once;
		s->gil_held = held < 1 ? held : 1;
		s->gil_held_half_width = half_width;
	}
	if (p->meta.ticks)
		pl_summary_item(row, PL_TONE_PLAIN,
				p->meta.selected ? "held in %s of what was chosen" : "held %s of the time",
				pl_units_share(held < 1 ? held : 1, half_width, s->unicode).s);
}

static struct pl_units part(const struct pl_summary *s, const struct pl_part *part)
{
	return pl_units_share(part->share, part->half_width, s->unicode);
}

static void wall_states(struct pl_summary *s, const struct plumb_profile *p, const pl_process_rows *shown)
{
	struct pl_summary_row *row = &s->rows[PL_SUMMARY_WHERE];
	const struct pl_totals *t = &s->totals;

	const struct pl_part *ready = &t->waits[PL_REASON_CPU].part;

	pl_summary_item(row, PL_TONE_PLAIN, "on CPU %s", part(s, &t->doing.on_cpu).s);
	if (ready->share >= PL_SUMMARY_WORTH_TELLING)
		pl_summary_item(row, PL_TONE_PLAIN, "ready without a CPU %s", part(s, ready).s);
	pl_summary_item(row, PL_TONE_PLAIN, "waiting %s", part(s, &t->doing.waiting).s);
	if (t->doing.unknown.share >= PL_SUMMARY_WORTH_TELLING)
		pl_summary_item(row, PL_TONE_WARN, "unknown %s", part(s, &t->doing.unknown).s);
	gil_held(s, p, shown);
}

static void where(struct pl_summary *s, const struct plumb_profile *p, const pl_process_rows *shown)
{
	struct pl_summary_row *row = &s->rows[PL_SUMMARY_WHERE];
	const struct pl_totals *t = &s->totals;

	if (t->samples == 0 || (p->meta.imported && t->unknown == t->samples))
		return;
	if (p->meta.mode == PL_MODE_WALL)
		wall_states(s, p, shown);
	if (t->doing.wants_gil.share >= PL_SUMMARY_WORTH_TELLING)
		pl_summary_item(row, PL_TONE_PLAIN, "waiting for the GIL %s", part(s, &t->doing.wants_gil).s);
	if (t->doing.in_gc.share >= PL_SUMMARY_WORTH_TELLING)
		pl_summary_item(row, PL_TONE_PLAIN, "in GC %s", part(s, &t->doing.in_gc).s);
}

/* What was waited for: parts of the time waited, so that a program that mostly waits is read as easily as one that
 * hardly does. How much it waited is in the row above. */
static void waits(struct pl_summary *s, const struct plumb_profile *p)
{
	const struct pl_totals *t = &s->totals;
	enum pl_reason reasons[PL_REASONS];
	unsigned count = pl_view_reasons(t, reasons);

	if (p->meta.mode != PL_MODE_WALL || t->doing.waiting.share < PL_SUMMARY_WORTH_TELLING)
		return;
	for (unsigned i = 0; i < count; i++) {
		double share = pl_ratio(t->waits[reasons[i]].part.share, t->waited);

		if (share >= PL_SUMMARY_WORTH_TELLING)
			pl_summary_item(&s->rows[PL_SUMMARY_WAITS], PL_TONE_PLAIN, "%s %ld %%",
					pl_reasons[reasons[i]].text, lround(100 * share));
	}
}

/* CPU time of a process; false where it is not known of all of its threads. */
static bool cpu_of(const struct plumb_profile *p, uint32_t process, double *ret)
{
	bool known = true;

	*ret = 0;
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct pl_thread *t = &p->threads[i];

		if (t->process != process)
			continue;
		known &= t->cpu_known;
		*ret += (double)t->cpu_ns;
	}
	return known;
}

struct shown_process {
	double cpu_ns;
	const struct pl_process_row *row;
};

static int compare_cpu(const void *a, const void *b)
{
	const struct shown_process *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void show_process(struct pl_summary *s, const struct plumb_profile *p, const struct shown_process *shown,
			 bool cpu)
{
	const struct pl_share *share = &shown->row->total;
	const struct pl_process *proc = &p->processes[shown->row->process];
	char name[80] = "", host[80] = "", who[200];

	pl_glyph_add(name, sizeof name, pl_text_of(p, proc->name), s->unicode);
	pl_glyph_add(host, sizeof host, pl_text_of(p, proc->host), s->unicode);
	snprintf(who, sizeof who, "%s%s%" PRIu32 "%s%s", name, *name ? " " : "", proc->pid, *host ? "@" : "", host);
	struct pl_item *it = pl_summary_item(&s->rows[PL_SUMMARY_PROCESSES], PL_TONE_PLAIN, "%s %s%s", who,
					     cpu ? pl_units_time(shown->cpu_ns).s
						 : pl_units_share(share->share, share->half_width, s->unicode).s,
					     cpu ? " of CPU" : "");
	pl_item_mark(it, who);
}

/* By the CPU time that they took, where that is known: the thread time of one that waits for the others is the largest.
 */
static struct plumb_error *show_processes(struct pl_summary *s, const struct plumb_profile *p,
					  const pl_process_rows *rows)
{
	struct shown_process *all = calloc(rows->len + 1, sizeof *all);
	size_t shown = rows->len <= PROCESSES_SHOWN ? rows->len : PROCESSES_SHOWN - 1;
	bool cpu = rows->len * (size_t)p->thread_count < MOST_COMPARED;

	if (!all)
		return &pl_err_no_memory;
	for (size_t i = 0; i < rows->len; i++) {
		all[i].row = &rows->data[i];
		cpu = cpu && cpu_of(p, rows->data[i].process, &all[i].cpu_ns);
	}
	if (cpu)
		qsort(all, rows->len, sizeof *all, compare_cpu);
	for (size_t i = 0; i < shown; i++)
		show_process(s, p, &all[i], cpu);
	if (shown < rows->len)
		pl_summary_item(&s->rows[PL_SUMMARY_PROCESSES], PL_TONE_PLAIN, "%zu more", rows->len - shown);
	free(all);
	return NULL;
}

/* What depends on which processes have samples here. */
static struct plumb_error *processes(struct pl_summary *s, const struct plumb_profile *p, const struct pl_filter *f)
{
	pl_process_rows rows = {0};
	struct plumb_error *err = p->process_count > 1 ? pl_view_processes(p, f, &rows) : NULL;

	where(s, p, f->processes || f->threads ? &rows : NULL);
	if (!err)
		err = show_processes(s, p, &rows);
	pl_vec_deinit(&rows);
	return err;
}

static void samples(struct pl_summary *s, const struct plumb_profile *p)
{
	static const char *const modes[] = {"wall clock", "CPU time", "GIL holders only"};
	_Static_assert(sizeof modes / sizeof *modes == PL_MODES, "each mode is told");
	struct pl_summary_row *row = &s->rows[PL_SUMMARY_SAMPLES];
	double seconds = (double)p->meta.duration_ns / PL_NS_PER_S, taken = pl_ratio((double)p->meta.ticks, seconds);
	double lowered = pl_report_lowered_rate(&p->meta);
	double wanted = p->meta.period_ns ? (double)PL_NS_PER_S / (double)p->meta.period_ns : 0;

	if (p->meta.imported && !p->meta.period_ns)
		pl_summary_item(row, PL_TONE_PLAIN, "%s", pl_units_count(s->totals.samples).s);
	else
		pl_summary_item(row, PL_TONE_PLAIN, "%s at %s%s", pl_units_count(s->totals.samples).s,
				pl_units_rate(wanted > 0 ? wanted : taken).s, wanted > 0 ? "" : " (max)");
	if (lowered > 0 && wanted > 0)
		pl_summary_item(row, PL_TONE_PLAIN, "%s taken", pl_units_rate(lowered).s);
	if (!p->meta.counted)
		pl_summary_item(row, PL_TONE_PLAIN, "%s", modes[p->meta.mode < PL_MODES ? p->meta.mode : PL_MODE_WALL]);
	if (s->totals.idle_threads_hidden)
		pl_summary_item(row, PL_TONE_PLAIN, "%" PRIu32 " thread%s (%" PRIu32 " idle left out: --idle)",
				s->totals.threads, s->totals.threads == 1 ? "" : "s", s->totals.idle_threads_hidden);
	else
		pl_summary_item(row, PL_TONE_PLAIN, "%" PRIu32 " thread%s", s->totals.threads,
				s->totals.threads == 1 ? "" : "s");
	if (!p->meta.jitter && !p->meta.imported)
		pl_summary_item(row, PL_TONE_PLAIN, "no jitter");
	if (p->process_count == 1 && p->processes[0].pid)
		pl_summary_item(row, PL_TONE_PLAIN, "pid %" PRIu32, p->processes[0].pid);
}

static void counted(struct pl_summary_row *row, const char *what, uint64_t n)
{
	pl_summary_item(row, n ? PL_TONE_WARN : PL_TONE_PLAIN, "%s %s", what, pl_units_count(n).s);
}

static void qualities(struct pl_summary_row *row, const struct pl_totals *t)
{
	const uint64_t *q = t->by_quality;
	double all = (double)t->samples;

	pl_summary_item(row, PL_TONE_PLAIN, "exact %s", pl_units_percent(pl_ratio((double)q[PL_EXACT], all)).s);
	pl_summary_item(row, PL_TONE_PLAIN, "stopped %s", pl_units_percent(pl_ratio((double)q[PL_STOPPED], all)).s);
	if (q[PL_DOUBTFUL])
		pl_summary_item(row, PL_TONE_WARN, "doubtful %s",
				pl_units_percent(pl_ratio((double)q[PL_DOUBTFUL], all)).s);
	if (q[PL_PARTIAL])
		pl_summary_item(row, PL_TONE_WARN, "partial %s",
				pl_units_percent(pl_ratio((double)q[PL_PARTIAL], all)).s);
	else
		pl_summary_item(row, PL_TONE_PLAIN, "partial 0");
}

uint64_t pl_summary_refused_stops(const struct plumb_profile *p)
{
	uint64_t times = 0;

	for (int i = 0; i < PL_REFUSALS; i++)
		times += p->meta.refused[i];
	return times;
}

bool pl_summary_tells_truth(const struct pl_summary *s, const struct plumb_profile *p)
{
	const uint64_t *q = s->totals.by_quality;
	uint64_t lost = 0;

	for (int i = 0; i < PL_LOSSES; i++)
		lost |= p->meta.losses[i];
	return lost || (q[PL_DOUBTFUL] != s->totals.samples && q[PL_EXACT] != s->totals.samples);
}

static void truth(struct pl_summary *s, const struct plumb_profile *p)
{
	struct pl_summary_row *row = &s->rows[PL_SUMMARY_TRUTH];

	if (p->meta.imported && !pl_summary_tells_truth(s, p))
		return;
	if (!p->meta.complete)
		pl_summary_item(row, PL_TONE_WARN, "incomplete");
	if (s->totals.samples)
		qualities(row, &s->totals);
	for (int i = 0; i < PL_LOSSES; i++) {
		if (p->meta.losses[i] || i == PL_LOSS_MISSED || i == PL_LOSS_UNREADABLE)
			counted(row, pl_losses[i].word, p->meta.losses[i]);
		if (i == PL_LOSS_DAMAGED && p->meta.damaged_parts)
			counted(row, "damaged parts", p->meta.damaged_parts);
	}
	if (pl_summary_refused_stops(p))
		counted(row, "stops refused", pl_summary_refused_stops(p));
}

static void overhead(struct pl_summary *s, const struct plumb_profile *p)
{
	struct pl_summary_row *row = &s->rows[PL_SUMMARY_OVERHEAD];
	double duration = (double)p->meta.duration_ns;

	if (p->meta.imported && !p->meta.stopped_ns && !p->meta.profiler_cpu_ns)
		return;
	pl_summary_item(row, PL_TONE_PLAIN, "program held up %s",
			pl_units_percent(pl_ratio((double)p->meta.stopped_ns, duration * process_time(p, NULL))).s);
	pl_summary_item(row, PL_TONE_PLAIN, "profiler %s of a core",
			pl_units_percent(pl_ratio((double)p->meta.profiler_cpu_ns, duration)).s);
	pl_summary_name(s, PL_SUMMARY_OVERHEAD, "engine ", pl_text_of(p, p->meta.engine), "");
}

static void allow_for_missed(struct pl_summary *s, const struct pl_meta *m)
{
	s->missed = pl_view_missed(m);
	s->scale = 1;
	if (s->missed >= PL_SUMMARY_WORTH_TELLING && !m->counted)
		s->scale = pl_view_scale(m);
}

struct plumb_error *pl_summary_make(const struct plumb_profile *p, const struct pl_filter *f, bool unicode,
				    struct pl_summary *ret)
{
	static const char *const labels[PL_SUMMARY_ROWS] = {
		[PL_SUMMARY_TITLE] = "",	   [PL_SUMMARY_PROCESSES] = "processes",
		[PL_SUMMARY_WAITS] = "waited",	   [PL_SUMMARY_EVENTS] = "events",
		[PL_SUMMARY_WHERE] = "where",	   [PL_SUMMARY_GIL] = "GIL",
		[PL_SUMMARY_SAMPLES] = "samples",  [PL_SUMMARY_TRUTH] = "stacks",
		[PL_SUMMARY_OVERHEAD] = "overhead"};
	struct plumb_error *err;

	memset(ret, 0, sizeof *ret);
	ret->unicode = unicode;
	err = pl_view_totals(p, f, &ret->totals);
	if (err)
		return err;
	for (int i = 0; i < PL_SUMMARY_ROWS; i++)
		ret->rows[i].label = labels[i];
	allow_for_missed(ret, &p->meta);
	title(ret, p);
	waits(ret, p);
	err = processes(ret, p, f);
	if (!err)
		err = pl_summary_events(ret, p, f);
	if (err)
		return err;
	samples(ret, p);
	truth(ret, p);
	overhead(ret, p);
	pl_summary_add_warnings(ret, p, f);
	return NULL;
}

struct plumb_error *pl_summary_find(struct pl_summary *s, const struct plumb_profile *p, const struct pl_filter *f)
{
	const struct pl_fault_case c = {.p = p,
					.filter = f,
					.totals = &s->totals,
					.gil_held = s->gil_held,
					.gil_held_half_width = s->gil_held_half_width,
					.unicode = s->unicode};

	return pl_faults_find(&c, &s->faults);
}
