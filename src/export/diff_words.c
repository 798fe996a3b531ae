/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison in words and figures. Layer export; pure, any thread. */
#include "diff_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_FRAMES	 6 /* of a path, the innermost ones */
#define DETECTABLE_ROWS	 3
#define DETECTABLE_SHARE 0.005
#define FINE		 0.02 /* a half width below which relative changes have a decimal */

const char *const pl_diff_verdicts[] = {
	[PL_DIFF_SAME] = "",	 [PL_DIFF_NEW] = "new",	  [PL_DIFF_GONE] = "gone",
	[PL_DIFF_MORE] = "more", [PL_DIFF_LESS] = "less",
};

static const char *plus_minus(bool unicode)
{
	return unicode ? "\xc2\xb1" : "+-";
}

struct pl_units pl_diff_change(const struct pl_diff_value *v, bool unicode)
{
	double change = (v->after - v->before) * 100, half = v->half_width * 100;
	int decimals = half < 0.095 ? 2 : 1;
	double unit = decimals == 2 ? 100 : 10;
	struct pl_units u;

	snprintf(u.s, sizeof u.s, "%+.*f %s%.*f", decimals, fmin(fmax(change, -9e9), 9e9), plus_minus(unicode),
		 decimals, fmin(ceil(half * unit - 1e-9) / unit + 0.0, 9e9));
	return u;
}

/* "+20 % ±6"; without a half width if that is NaN. Its half is rounded up, never to look more certain than it is. */
static struct pl_units signed_percent(double share, double half_width, bool unicode)
{
	bool fine = half_width < FINE && fabs(share) < 9.995;
	double percent = fmin(share * 100, 9e9), half = fmin(half_width * 100, 9e9), unit = fine ? 10 : 1;
	struct pl_units u;

	if (isnan(half_width))
		snprintf(u.s, sizeof u.s, "%+.*f %%", fabs(share) < 0.0995, percent);
	else
		snprintf(u.s, sizeof u.s, "%+.*f %% %s%.*f", fine, percent, plus_minus(unicode), fine,
			 ceil(half * unit - 1e-9) / unit + 0.0);
	return u;
}

struct pl_units pl_diff_relative_text(const struct pl_diff *d, const struct pl_diff_value *v, bool unicode)
{
	double relative = pl_diff_relative(d, v), half_width = pl_diff_relative_half_width(d, v);

	if (!isfinite(relative) || !(v->before > 0))
		return (struct pl_units){""};
	if (v->verdict == PL_DIFF_SAME && !(half_width < 1))
		return (struct pl_units){"unknown"};
	return signed_percent(relative, half_width, unicode);
}

struct pl_units pl_diff_took_text(const struct pl_diff *d, const struct pl_diff_value *v, enum pl_diff_side side)
{
	bool before = side == PL_DIFF_BEFORE;

	if (!d->in_time)
		return pl_units_percent(before ? v->before : v->after);
	return pl_units_time_as(before ? v->time.before_ns : v->time.after_ns,
				fmax(v->time.before_ns, v->time.after_ns));
}

struct pl_diff_text pl_diff_side_text(const struct pl_diff_total *t)
{
	struct pl_diff_text ret;

	if (t->runs > 1)
		snprintf(ret.s, sizeof ret.s, "%zu recordings, %s of threads, %s samples", t->runs,
			 pl_units_time((double)t->weight_ns).s, pl_units_count(t->samples).s);
	else
		snprintf(ret.s, sizeof ret.s, "%s of threads, %s samples", pl_units_time((double)t->weight_ns).s,
			 pl_units_count(t->samples).s);
	return ret;
}

struct pl_diff_text pl_diff_growth_text(const struct pl_diff *d, const struct pl_diff_look *look)
{
	struct pl_diff_growth g = pl_diff_growth(d, 0);
	double like = fmax(g.before_ns, g.after_ns);
	struct pl_diff_text ret = {""};

	if (!g.known)
		return ret;
	snprintf(ret.s, sizeof ret.s, "%s %s %s%s%.100s, %s", pl_units_time_as(g.before_ns, like).s,
		 look->unicode ? "\xe2\x86\x92" : "->", pl_units_time_as(g.after_ns, like).s,
		 d->per_unit	   ? " per "
		 : d->between_runs ? " a run"
				   : "",
		 d->per_unit ? look->unit : "", signed_percent(g.relative, g.half_width, look->unicode).s);
	return ret;
}

static struct pl_diff_text unit_text(const struct pl_diff *d, const struct pl_diff_look *look)
{
	struct pl_diff_text ret;

	snprintf(ret.s, sizeof ret.s, "%.100s: time of all threads for each of %.10g before and %.10g after",
		 look->unit, d->sides[PL_DIFF_BEFORE].units, d->sides[PL_DIFF_AFTER].units);
	return ret;
}

struct pl_diff_text pl_diff_scale_text(const struct pl_diff *d, const struct pl_diff_look *look)
{
	struct pl_diff_text ret = {""};

	if (d->per_unit)
		return unit_text(d, look);
	if (d->in_time)
		snprintf(ret.s, sizeof ret.s, "run: time of all threads (points: of their shares of it)");
	else if (d->scale == PL_DIFF_BY_TIME)
		snprintf(ret.s, sizeof ret.s, "time: shares of all time, so what one row gains the others lose");
	else if (d->scale == PL_DIFF_BY_SAMPLES)
		snprintf(ret.s, sizeof ret.s, "samples: shares of all samples, so what one row gains the others lose");
	else
		snprintf(ret.s, sizeof ret.s, "the time of %.200s, which is 100 %% on both sides", look->reference);
	return ret;
}

static const char *row_word(const struct pl_diff *d, uint32_t count)
{
	static const char *const words[][2] = {[PL_DIFF_FUNCTIONS] = {"function", "functions"},
					       [PL_DIFF_LINES] = {"line", "lines"},
					       [PL_DIFF_PATHS] = {"path", "paths"}};

	return words[d->rows][count != 1];
}

static uint32_t changed_rows(const struct pl_diff *d)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < d->row_count; r++)
		count += d->table[r].self.verdict != PL_DIFF_SAME || d->table[r].total.verdict != PL_DIFF_SAME;
	return count;
}

struct pl_diff_text pl_diff_found_text(const struct pl_diff *d, bool unicode)
{
	uint32_t changed = changed_rows(d);
	struct pl_diff_text ret;

	if (changed)
		snprintf(ret.s, sizeof ret.s,
			 "%s of %s %s changed; of such findings %g %% may be chance (%s is a 95 %% interval)",
			 pl_units_count(changed).s, pl_units_count(d->row_count).s, row_word(d, d->row_count),
			 PL_DIFF_SELF_RATE * 100, plus_minus(unicode));
	else
		snprintf(ret.s, sizeof ret.s, "no change %sin %s %s beyond chance", d->share_too ? "of its own " : "",
			 pl_units_count(d->row_count).s, row_word(d, d->row_count));
	return ret;
}

/* No smaller than it is. */
static struct plumb_error *add_seen_from(struct pl_buf *text, double share)
{
	double percent = share * 100;

	if (!isfinite(share))
		return pl_buf_add_str(text, "of any size");
	if (percent < 9.95)
		return pl_buf_printf(text, "below %.1f %%", ceil(percent * 10 - 1e-9) / 10);
	return pl_buf_printf(text, "below %.0f %%", fmin(ceil(percent - 1e-9), 9e9));
}

struct plumb_error *pl_diff_detectable_text(const struct pl_diff *d, const struct pl_diff_look *look,
					    struct pl_diff_text *ret)
{
	struct pl_buf text = PL_BUF_INIT(64u << 10);
	struct plumb_error *err = NULL;
	int told = 0;

	for (uint32_t i = 0; i < d->row_count && told < DETECTABLE_ROWS && !err && !pl_diff_few_runs(d); i++) {
		const struct pl_diff_key *k = &d->keys[d->table[d->order[i]].key];
		const struct pl_diff_value *v = &d->table[d->order[i]].self;
		struct pl_text name = pl_frame_qualname(k->profile, &k->profile->functions[k->function]);

		if (v->verdict != PL_DIFF_SAME || isnan(v->seen_from) || !(v->before > DETECTABLE_SHARE))
			continue;
		err = pl_buf_printf(&text, "%sof %.*s ", told ? ", " : "", name.len > 40 ? 40 : (int)name.len, name.s);
		if (!err)
			err = add_seen_from(&text, v->seen_from);
		told++;
	}
	ret->s[0] = '\0';
	if (!err && told)
		snprintf(ret->s, sizeof ret->s, "%s", pl_buf_str(&text));
	pl_buf_deinit(&text);
	return err;
}

enum note { NOTE_UNSCALED, NOTE_ONE_RUN, NOTE_FEW_RUNS, NOTE_INDEPENDENT, NOTE_MOVED, NOTES };

static bool is_told(const struct pl_diff *d, enum note note)
{
	switch (note) {
	case NOTE_UNSCALED:
		return d->sides[PL_DIFF_BEFORE].unscaled || d->sides[PL_DIFF_AFTER].unscaled;
	case NOTE_ONE_RUN:
		return !d->between_runs;
	case NOTE_FEW_RUNS:
		return pl_diff_few_runs(d);
	case NOTE_INDEPENDENT:
		return !d->sides[PL_DIFF_BEFORE].batched || !d->sides[PL_DIFF_AFTER].batched;
	default:
		return d->moved > 0;
	}
}

/* "before missed 95 % of its time": the side that missed too much to tell how long it took. */
static struct pl_diff_text unscaled_text(const struct pl_diff *d)
{
	bool before = d->sides[PL_DIFF_BEFORE].unscaled >= d->sides[PL_DIFF_AFTER].unscaled;
	struct pl_diff_text ret;

	snprintf(ret.s, sizeof ret.s, "'%s' missed %.0f %% of its time", before ? "before" : "after",
		 floor(100 * d->sides[before ? PL_DIFF_BEFORE : PL_DIFF_AFTER].unscaled));
	return ret;
}

/* What one recording a side cannot tell, and what it needs therefore to call something a change. */
static struct pl_diff_text one_run_text(const struct pl_diff *d)
{
	const char *rule = d->share_too ? "a row counts as changed only if its share changed as well, by %g %% or more"
			   : d->in_time ? "changes below %g %% are not shown, larger ones may be due to the machine"
					: "changes below %g %% of a row are not shown";
	struct pl_diff_text ret = {"one recording a side does not show how much runs differ: "};
	size_t len = strlen(ret.s);

	snprintf(ret.s + len, sizeof ret.s - len, rule,
		 100 * (d->in_time && !d->share_too ? PL_DIFF_MIN_TIME_CHANGE : PL_DIFF_MIN_CHANGE));
	len = strlen(ret.s);
	snprintf(ret.s + len, sizeof ret.s - len, "; several do: plumb diff A1 A2 A3 -- B1 B2 B3");
	return ret;
}

static struct pl_diff_text note_text(const struct pl_diff *d, enum note note)
{
	struct pl_diff_text ret;

	if (note == NOTE_ONE_RUN)
		return one_run_text(d);
	if (note == NOTE_UNSCALED)
		snprintf(ret.s, sizeof ret.s,
			 "%.99s, so how long it took is not known: what is compared are shares of the rest",
			 unscaled_text(d).s);
	else if (note == NOTE_FEW_RUNS)
		snprintf(ret.s, sizeof ret.s,
			 "fewer than %d recordings a side hardly show how much runs differ, so only very large changes "
			 "are found: use %d or more",
			 PL_DIFF_RUNS_MIN, PL_DIFF_RUNS_MIN);
	else if (note == NOTE_INDEPENDENT)
		snprintf(ret.s, sizeof ret.s, "too short, or without times: samples are taken for independent");
	else
		snprintf(ret.s, sizeof ret.s, "%s taken for the same though in another folder: %s",
			 d->moved == 1 ? "function" : "functions", pl_units_count(d->moved).s);
	return ret;
}

bool pl_diff_note_at(const struct pl_diff *d, int i, struct pl_diff_text *ret)
{
	for (int note = 0; note < NOTES; note++) {
		if (!is_told(d, (enum note)note) || i-- > 0)
			continue;
		*ret = note_text(d, (enum note)note);
		return true;
	}
	return false;
}

/* That the total grew is no matter of shares, so it is told in its own words. */
static void add_grown(const struct pl_diff *d, double above, struct pl_diff_text *ret)
{
	struct pl_diff_growth g = pl_diff_growth(d, above);
	size_t len = strlen(ret->s);

	snprintf(ret->s + len, sizeof ret->s - len, "%s the total grew by %.3g %%%s",
		 len ? " and" : "failed:", fmin(g.relative * 100, 9e9),
		 g.sure ? ""
			: "; with three recordings a side or more it is known whether that is chance ('--normalize "
			  "total': shares alone)");
}

/* Whoever asked for shares, or for the time of a function, sees what that hides. */
static void add_not_counted(const struct pl_diff *d, double above, struct pl_diff_text *ret)
{
	struct pl_diff_growth g = pl_diff_growth(d, above);
	size_t len = strlen(ret->s);

	if (g.known && g.relative > above && (d->in_shares || d->scale == PL_DIFF_BY_FUNCTION))
		snprintf(ret->s + len, sizeof ret->s - len,
			 "; that the total grew by %.3g %% does not count with this '--normalize'",
			 fmin(g.relative * 100, 9e9));
}

/* Nothing that could be slower passes. */
static void add_time_unknown(const struct pl_diff *d, struct pl_diff_text *ret)
{
	size_t len = strlen(ret->s);

	snprintf(ret->s + len, sizeof ret->s - len,
		 "%s %.99s, so how long it took is not known: record it again at a lower rate (-r), or "
		 "compare shares alone ('--normalize total')",
		 len ? " and" : "failed:", unscaled_text(d).s);
}

struct pl_diff_text pl_diff_limit_text(const struct pl_diff *d, const struct pl_diff_look *look)
{
	uint32_t slower = look->fail_above < 0 ? 0 : pl_diff_slower(d, look->fail_above);
	bool grew = look->fail_above >= 0 && pl_diff_grew(d, look->fail_above);
	struct pl_diff_text ret = {""};

	if (look->fail_above < 0)
		return ret;
	if (slower)
		snprintf(ret.s, sizeof ret.s, "failed: %s %s slower by more than %g %%", pl_units_count(slower).s,
			 row_word(d, slower), look->fail_above * 100);
	if (grew)
		add_grown(d, look->fail_above, &ret);
	if (d->time_unknown)
		add_time_unknown(d, &ret);
	if (!ret.s[0]) {
		snprintf(ret.s, sizeof ret.s, "passed: no %s is significantly slower by more than %g %%",
			 row_word(d, 1), look->fail_above * 100);
		add_not_counted(d, look->fail_above, &ret);
	}
	return ret;
}

struct plumb_error *pl_diff_row_name(const struct pl_diff *d, uint32_t row, bool unicode, struct pl_buf *ret)
{
	uint32_t chain[PATH_FRAMES];
	struct plumb_error *err = NULL;
	int count = 0;

	for (uint32_t r = row; r != PL_DIFF_NO_ROW && count < PATH_FRAMES; r = d->table[r].parent)
		chain[count++] = r;
	if (count > 0 && d->table[chain[count - 1]].parent != PL_DIFF_NO_ROW)
		err = pl_buf_add_str(ret, unicode ? "\xe2\x80\xa6 > " : "... > ");
	while (count-- > 0 && !err) {
		const struct pl_diff_key *k = &d->keys[d->table[chain[count]].key];
		struct pl_text name = pl_frame_qualname(k->profile, &k->profile->functions[k->function]);

		err = name.len ? pl_buf_add(ret, name.s, name.len) : pl_buf_add_str(ret, "?");
		if (!err && count)
			err = pl_buf_add_str(ret, " > ");
	}
	return err;
}

struct pl_text pl_diff_row_file(const struct pl_diff *d, uint32_t row, bool full_names, uint32_t *line_ret)
{
	const struct pl_diff_key *k = &d->keys[d->table[row].key];
	const struct pl_function *f = &k->profile->functions[k->function];
	uint32_t line = k->line > 0 ? (uint32_t)k->line : f->firstline;

	*line_ret = 0;
	if (pl_frame_is_bare(k->profile, f, (int32_t)line))
		return (struct pl_text){"", 0};
	*line_ret = line;
	struct pl_text file = pl_text_of(k->profile, k->line > 0 ? pl_function_source(f) : f->file);
	return full_names ? file : pl_text_short_path(file);
}

const struct pl_diff_value *pl_diff_shown(const struct pl_diff_row *r, bool *total_ret)
{
	*total_ret = r->self.verdict == PL_DIFF_SAME && r->total.verdict != PL_DIFF_SAME;
	return *total_ret ? &r->total : &r->self;
}
