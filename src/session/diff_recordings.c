/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/diff.h>, on top of model (comparing) and export (writing). */
#include <plumb/diff.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <plumb/plumb.h>

#include "buf.h"
#include "chosen.h"
#include "diff.h"
#include "diff_page.h"
#include "diff_sides.h"
#include "given.h"
#include "named.h"
#include "stream.h"

#define MAX_TEXT_LINES 25
#define MADE_BY_MAX    (1u << 20)
/* Beyond these, times for a unit are no numbers. */
#define LEAST_UNITS 1e-9
#define MOST_UNITS  1e18

struct plumb_diff {
	struct plumb_diff_options options;
	const struct pl_diff_format *format;
	struct pl_diff diff, paths; /* paths: of a page only */
	struct pl_diff_sides sides; /* likewise */
	double *units;		    /* of each recording; NULL: not told */
	struct pl_buf made_by;
};

/* What --normalize can say but the name of a function. */
static const struct measure {
	const char *word;
	enum pl_diff_scale scale;
	enum pl_diff_measure measure;
} measures[] = {
	{"none", PL_DIFF_BY_TIME, PL_DIFF_IN_TIME},
	{"total", PL_DIFF_BY_TIME, PL_DIFF_IN_SHARES},
	{"time", PL_DIFF_BY_TIME, PL_DIFF_IN_SHARES}, /* an older word for it */
	{"samples", PL_DIFF_BY_SAMPLES, PL_DIFF_IN_SHARES},
};

void plumb_diff_take_report(struct plumb_diff_options *o, const struct plumb_report_options *given)
{
	struct plumb_report_options of_given, *report = &of_given;

	plumb_error_destroy(pl_given_report(given, report)); /* what cannot be is refused with the rest of @p o */
	o->idle = report->idle;
	o->threads = report->threads;
	o->thread_count = report->thread_count;
	o->processes = report->processes;
	o->process_count = report->process_count;
	o->full_names = report->full_names;
	o->no_escape = report->no_escape;
	o->color = report->color;
	o->ascii = report->ascii;
	o->width = report->width;
}

static struct measure measure_of(const struct plumb_diff_options *o)
{
	if (!o->normalize)
		return (struct measure){NULL, PL_DIFF_BY_TIME, PL_DIFF_AS_FITS};
	for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
		if (strcmp(measures[i].word, o->normalize) == 0)
			return measures[i];
	}
	return (struct measure){o->normalize, PL_DIFF_BY_FUNCTION, PL_DIFF_IN_SHARES};
}

static const char *reference_of(const struct plumb_diff_options *o)
{
	return measure_of(o).scale == PL_DIFF_BY_FUNCTION ? o->normalize : NULL;
}

/* Idle threads and samples, and threads and processes by name. */
static struct pl_filter filter_of(const struct plumb_diff_options *o)
{
	return (struct pl_filter){.idle = pl_chosen_idle(o->idle),
				  .threads = o->threads,
				  .thread_count = o->thread_count,
				  .processes = o->processes,
				  .process_count = o->process_count};
}

static struct pl_diff_options model_options(const struct plumb_diff *d, bool paths)
{
	static const enum pl_diff_rows rows[] = {[PLUMB_DIFF_FUNCTIONS] = PL_DIFF_FUNCTIONS,
						 [PLUMB_DIFF_LINES] = PL_DIFF_LINES,
						 [PLUMB_DIFF_PATHS] = PL_DIFF_PATHS};
	const struct plumb_diff_options *o = &d->options;
	struct measure m = measure_of(o);

	return (struct pl_diff_options){
		.filter = filter_of(o),
		.rows = paths ? PL_DIFF_PATHS : rows[o->rows],
		.scale = m.scale,
		.reference = reference_of(o),
		.measure = m.measure,
		.units = d->units,
	};
}

static const char *unit_of(const struct plumb_diff_options *o)
{
	return o->per ? o->per : "unit";
}

static struct plumb_error *check_units(const struct plumb_diff_options *o, size_t before, size_t after)
{
	for (size_t i = 0; i < o->unit_count; i++) {
		if (!(o->units[i] >= LEAST_UNITS && o->units[i] <= MOST_UNITS))
			return pl_error(PLUMB_ERR_INVALID, "an amount of work done is a number from %g to %g, not %g",
					LEAST_UNITS, MOST_UNITS, o->units[i]);
	}
	if (o->normalize && measure_of(o).measure != PL_DIFF_IN_TIME)
		return pl_error(PLUMB_ERR_INVALID, "time per %s and --normalize %s are two measures: leave one out",
				unit_of(o), o->normalize);
	if (o->unit_count != 2 && o->unit_count != before + after)
		return pl_error(PLUMB_ERR_INVALID,
				"%zu amounts of work do not fit %zu recordings: give two, one of each side, or one of "
				"each recording",
				o->unit_count, before + after);
	return NULL;
}

/* The work that each recording did; what is told of a side is shared alike by its recordings. */
static struct plumb_error *take_units(struct plumb_diff *d, size_t before, size_t after)
{
	const struct plumb_diff_options *o = &d->options;
	struct plumb_error *err = o->units ? check_units(o, before, after) : NULL;

	if (err || !o->units)
		return err;
	d->units = calloc(before + after, sizeof *d->units);
	if (!d->units)
		return &pl_err_no_memory;
	for (size_t i = 0; i < before + after; i++) {
		if (o->unit_count == before + after)
			d->units[i] = o->units[i];
		else
			d->units[i] = i < before ? o->units[0] / (double)before : o->units[1] / (double)after;
	}
	return NULL;
}

static struct plumb_error *tell_maker(struct plumb_diff *d)
{
	const struct plumb_diff_options *o = &d->options;

	struct plumb_error *err =
		pl_buf_printf(&d->made_by, "plumb %s: plumb diff %s -- %s%s%s", PLUMB_VERSION,
			      o->before_name ? o->before_name : "?", o->after_name ? o->after_name : "?",
			      o->normalize ? " --normalize " : "", o->normalize ? o->normalize : "");

	for (size_t i = 0; d->units && i < o->unit_count && !err; i++)
		err = i ? pl_buf_printf(&d->made_by, ",%.10g", o->units[i])
			: pl_buf_printf(&d->made_by, " --per %s=%.10g", unit_of(o), o->units[i]);
	return err ? err : pl_buf_add(&d->made_by, "", 1);
}

/* A thread may have been in some of the recordings only. */
static struct plumb_error *check_names(const struct pl_diff_input *sides, const struct pl_filter *f)
{
	const struct pl_diff_input *before = &sides[PL_DIFF_BEFORE], *after = &sides[PL_DIFF_AFTER];
	const struct plumb_profile **all = calloc(before->count + after->count + 1, sizeof(*all));

	if (!all)
		return &pl_err_no_memory;
	for (size_t i = 0; i < before->count; i++)
		all[i] = before->profiles[i];
	for (size_t i = 0; i < after->count; i++)
		all[before->count + i] = after->profiles[i];
	struct plumb_error *err = pl_check_names(all, before->count + after->count, f);
	free(all);
	return err;
}

static struct plumb_error *compare(struct plumb_diff *d, const struct pl_diff_input *sides)
{
	struct plumb_error *err = take_units(d, sides[PL_DIFF_BEFORE].count, sides[PL_DIFF_AFTER].count);
	struct pl_diff_options o = model_options(d, d->format->paths);

	if (!err)
		err = check_names(sides, &o.filter);
	if (!err)
		err = tell_maker(d);

	if (!d->format->write)
		o.rows = PL_DIFF_FUNCTIONS;
	if (!err)
		err = pl_diff_make(sides, &o, &d->diff);
	if (err || d->format->write)
		return err;
	o.rows = PL_DIFF_PATHS;
	err = pl_diff_make(sides, &o, &d->paths);
	return err ? err : pl_diff_sides_init(&d->sides, sides, &o.filter);
}

struct plumb_error *plumb_diff_create(const struct plumb_profile *const *before, size_t before_count,
				      const struct plumb_profile *const *after, size_t after_count,
				      const struct plumb_diff_options *o, struct plumb_diff **ret)
{
	const struct pl_diff_input sides[PL_DIFF_SIDES] = {
		[PL_DIFF_BEFORE] = {before, before_count}, [PL_DIFF_AFTER] = {after, after_count}};
	struct plumb_diff *d = calloc(1, sizeof *d);

	if (!d)
		return &pl_err_no_memory;
	d->made_by = (struct pl_buf)PL_BUF_INIT(MADE_BY_MAX);
	struct plumb_error *err = pl_given_diff(o, &d->options);
	d->format = pl_diff_format_by_name(d->options.format ? d->options.format : "text");
	if (!err)
		err = d->format ? compare(d, sides)
				: pl_error(PLUMB_ERR_UNKNOWN_FORMAT, "a comparison cannot be written as '%s'",
					   d->options.format);
	if (err) {
		plumb_diff_destroy(d);
		return err;
	}
	*ret = d;
	return NULL;
}

void plumb_diff_destroy(struct plumb_diff *d)
{
	if (!d)
		return;
	pl_diff_deinit(&d->diff);
	pl_diff_deinit(&d->paths);
	pl_diff_sides_deinit(&d->sides);
	pl_buf_deinit(&d->made_by);
	free(d->units);
	free(d);
}

bool plumb_diff_failed(const struct plumb_diff *d)
{
	double above = d->options.fail_above;

	return above >= 0 && (pl_diff_slower(&d->diff, above) || pl_diff_grew(&d->diff, above) || d->diff.time_unknown);
}

static struct pl_diff_look look_of(const struct plumb_diff *d)
{
	const struct plumb_diff_options *o = &d->options;

	return (struct pl_diff_look){
		.names = {[PL_DIFF_BEFORE] = o->before_name, [PL_DIFF_AFTER] = o->after_name},
		.reference = reference_of(o),
		.unit = unit_of(o),
		.made_by = (const char *)d->made_by.data,
		.fail_above = o->fail_above,
		.full_names = o->full_names,
		.escape = !o->no_escape,
		.width = o->width ? o->width : 80,
		.max_lines = MAX_TEXT_LINES,
		.color = o->color,
		.unicode = !o->ascii,
	};
}

static struct plumb_error *write_page(const struct plumb_diff *d, const struct pl_diff_look *look, FILE *out)
{
	struct pl_diff_page page = {.sides = {d->sides.shown[PL_DIFF_BEFORE], d->sides.shown[PL_DIFF_AFTER]},
				    .functions = &d->diff,
				    .paths = &d->paths,
				    .look = look,
				    .options = {.filter = filter_of(&d->options),
						.made_by = look->made_by,
						.part = d->options.threads || d->options.processes}};

	return pl_diff_page_write(&page, out);
}

struct plumb_error *plumb_diff_write(const struct plumb_diff *d, int fd)
{
	struct pl_diff_look look = look_of(d);
	FILE *out = pl_stream_open(fd, look.color && d->format->write == pl_diff_text_write);

	if (!out)
		return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write the comparison");
	struct plumb_error *err = d->format->write ? d->format->write(&d->diff, &look, out) : write_page(d, &look, out);
	bool failed = ferror(out) != 0;
	if ((fclose(out) != 0 || failed) && !err)
		return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write the comparison");
	return err;
}

bool plumb_diff_format_at(size_t i, struct plumb_format *ret)
{
	for (size_t k = 0; pl_diff_formats[k].name; k++) {
		if (k < i)
			continue;
		*ret = (struct plumb_format){pl_diff_formats[k].name, pl_diff_formats[k].suffixes[0],
					     pl_diff_formats[k].summary};
		return true;
	}
	return false;
}

const char *plumb_diff_format_for_path(const char *path)
{
	const struct pl_diff_format *f = pl_diff_format_by_path(path);

	return f ? f->name : NULL;
}
