/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/profile.h>, writing: filters, formats, and what is said of what a format leaves out. */
#include <plumb/profile.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "chosen.h"
#include "export.h"
#include "facts.h"
#include "given.h"
#include "refine.h"
#include "named.h"
#include "older.h"
#include "save.h"
#include "stream.h"
#include "summary.h"

#define MAX_TEXT_LINES 25

static const struct pl_format recording_format = {
	.name = PL_RECORDING_FORMAT,
	.suffixes = (const char *const[]){".plumb", NULL},
	.summary = "a recording, as 'plumb run' writes: to be read by plumb again",
	.keeps = ~0u,
	.binary = true,
};

static const struct pl_format *format_by_name(const char *name)
{
	return strcmp(name, recording_format.name) == 0 ? &recording_format : pl_format_by_name(name);
}

static struct pl_export_options export_options(const struct plumb_report_options *o)
{
	return (struct pl_export_options){
		.filter = pl_chosen(o),
		.full_names = o->full_names,
		.escape = !o->no_escape,
		.annotate = o->annotate,
		.width = o->width ? o->width : 80,
		.color = o->color,
		.unicode = !o->ascii,
		.max_lines = MAX_TEXT_LINES,
		.top = o->top,
		.quality = o->quality,
		.recording = o->recording,
		.program = o->program,
		.page_option = o->page_option,
		.made_by = o->made_by,
		.seed = o->seed_flavour,
	};
}

static bool has_frames_of(const struct plumb_profile *p, enum pl_native_shown shown)
{
	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct pl_function *f = &p->functions[i];

		if (f->plumbing || (shown < PL_NATIVE_CALLABLE && f->origin == PL_ORIGIN_NATIVE) ||
		    (shown == PL_NATIVE_OFF && f->origin == PL_ORIGIN_KERNEL))
			return true;
	}
	return false;
}

_Static_assert(PLUMB_NATIVE_SHOWN_ALL == (int)PL_NATIVE_ALL && PLUMB_NATIVE_SHOWN_LEAF == (int)PL_NATIVE_LEAF,
	       "the choices of the library are those of the model");

/* Which native frames are shown, if that is not just all there are. A recording keeps those that nobody spoke of. */
static enum pl_native_shown native_shown(const struct plumb_profile *p, const struct plumb_report_options *o,
					 const struct pl_format *format)
{
	enum pl_native_shown shown = (enum pl_native_shown)o->native;

	if (!shown && !format->write)
		return PL_NATIVE_AS_RECORDED;
	if (!shown)
		shown = p->meta.native ? (enum pl_native_shown)p->meta.native : PL_NATIVE_CALLABLE;
	return has_frames_of(p, shown) ? shown : PL_NATIVE_AS_RECORDED;
}

static bool has_addresses(const struct plumb_profile *p)
{
	for (uint32_t i = 0; i < p->location_count; i++)
		if (p->locations[i].address)
			return true;
	return false;
}

/* What of the native frames is written. A recording keeps where lines are missing, for whoever has them later. */
static void refine_native(const struct plumb_profile *p, const struct plumb_report_options *o,
			  const struct pl_format *format, struct pl_refine *r)
{
	r->native = native_shown(p, o, format);
	r->no_addresses = format->write && has_addresses(p);
}

/* Views choose threads and processes by themselves. */
static struct pl_refine refine_options(const struct plumb_report_options *o, const struct pl_format *format)
{
	struct pl_refine r = {
		.from_ns = o->from_ns,
		.to_ns = o->to_ns,
		.doing = o->states,
		.kinds = o->kinds,
		.modules = o->modules,
		.module_count = o->module_count,
		.tags = o->tags,
		.tag_count = o->tag_count,
		.focus = o->focus,
		.ignore = o->ignore,
		.functions = o->functions,
		.min_share = o->min_share,
	};

	if (format->views)
		return r;
	r.threads = o->threads;
	r.thread_count = o->thread_count;
	r.processes = o->processes;
	r.process_count = o->process_count;
	r.skip_idle = o->idle == PLUMB_IDLE_SKIP_SAMPLES;
	return r;
}

/* What passes, with its own code, as a profile of its own; NULL if that is all of it as it is. */
static struct plumb_error *refine(const struct plumb_profile *p, const struct pl_refine *r,
				  const struct plumb_report_options *o, struct plumb_profile **ret)
{
	*ret = NULL;
	struct plumb_error *err = pl_refine_asks(r) || o->own_count ? pl_refine(p, r, ret) : NULL;
	if (err || !o->own_count)
		return err;
	err = pl_profile_set_own(*ret, o->own, o->own_count);
	if (err) {
		pl_profile_destroy(*ret);
		*ret = NULL;
	}
	return err;
}

struct plumb_error *plumb_profile_refine(const struct plumb_profile *p, const struct plumb_report_options *given,
					 struct plumb_profile **ret)
{
	struct plumb_report_options o;
	struct plumb_error *err = pl_given_report(given, &o);
	const struct pl_format *format = pl_format_by_name("text");
	struct pl_refine r = refine_options(&o, format);

	if (err)
		return err;
	refine_native(p, &o, format, &r);
	return refine(p, &r, &o, ret);
}

static void note(const struct plumb_report_options *o, const char *message)
{
	if (o->note)
		o->note(o->note_ctx, message);
}

/* "pstats has no room for threads, times: left out" */
static void note_what_is_lost(const struct plumb_profile *p, const struct pl_format *format,
			      const struct plumb_report_options *o)
{
	unsigned lost = pl_facts_of(p) & ~format->keeps;
	char message[512];
	int at = snprintf(message, sizeof message, "%s has no room for", format->name);

	if (format->report || !lost || !o->note)
		return;
	for (const char *between = " "; lost; lost &= lost - 1, between = ", ")
		at += snprintf(message + at, sizeof message - (size_t)at, "%s%s", between, pl_fact_name(lost));
	snprintf(message + at, sizeof message - (size_t)at, ": left out");
	note(o, message);
}

static struct plumb_error *write_failed(void)
{
	return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write the output");
}

static struct plumb_error *write_to(const struct pl_format *format, const struct plumb_profile *p,
				    const struct pl_export_options *o, FILE *out)
{
	struct plumb_error *err = format->write(p, o, out);
	bool failed = ferror(out) != 0;

	if (fclose(out) || failed)
		return err ? err : write_failed();
	return err;
}

static struct plumb_error *write_format(const struct pl_format *format, const struct plumb_profile *p,
					const struct plumb_report_options *o, bool part, int fd)
{
	struct pl_export_options eo = export_options(o);

	eo.part = part;
	if (!format->write)
		return pl_save(p, fd);
	FILE *out = pl_stream_open(fd, eo.color && format->colours);
	if (!out)
		return write_failed();
	return write_to(format, p, &eo, out);
}

/* A name that nobody bears. What was sampled is chosen by the same names: then the report comes all the same. Text
 * tells it itself. */
static struct plumb_error *check_names(const struct plumb_profile *p, const struct pl_format *format,
				       const struct plumb_report_options *o)
{
	const struct pl_filter f = pl_chosen(o);
	struct pl_item unmatched;

	if (!o->chosen_before)
		return pl_check_names(&p, 1, &f);
	if (!format->colours && pl_summary_unmatched(&p, 1, &f, true, &unmatched))
		note(o, unmatched.text);
	return NULL;
}

struct plumb_error *plumb_format_check(const char *name)
{
	const struct pl_format *f = format_by_name(name);

	return f && f->check ? f->check() : NULL;
}

static struct plumb_error *write_profile(const struct plumb_profile *p, const struct plumb_report_options *o, int fd)
{
	const struct pl_format *format = format_by_name(o->format ? o->format : "text");
	struct plumb_profile *refined;

	if (!format)
		return pl_error(PLUMB_ERR_UNKNOWN_FORMAT, "there is no output format '%s'", o->format);
	struct pl_refine r = refine_options(o, format);
	const bool part = pl_refine_asks(&r);
	refine_native(p, o, format, &r);
	struct plumb_error *err = check_names(p, format, o);
	if (err || (err = refine(p, &r, o, &refined)))
		return err;
	const struct plumb_profile *written = refined ? refined : p;
	if (!format->write)
		err = pl_older_gives_way(written, o->replaces);
	if (!err)
		err = write_format(format, written, o, part, fd);
	if (!err && refined && !refined->cell_count)
		note(o, "no sample passes the filters");
	if (!err) /* a failure is told alone */
		note_what_is_lost(written, format, o);
	pl_profile_destroy(refined);
	return err;
}

struct plumb_error *plumb_profile_write(const struct plumb_profile *p, const struct plumb_report_options *given, int fd)
{
	struct plumb_report_options o;
	struct plumb_error *err = pl_given_report(given, &o);

	return err ? err : write_profile(p, &o, fd);
}

static bool is_recording_path(const char *path)
{
	const char *suffix = recording_format.suffixes[0];
	size_t len = strlen(path), suffix_len = strlen(suffix);

	return len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0;
}

const char *plumb_format_for_path(const char *path)
{
	const struct pl_format *f = is_recording_path(path) ? &recording_format : pl_format_by_path(path);

	return f ? f->name : NULL;
}

bool plumb_format_is_binary(const char *name)
{
	const struct pl_format *f = format_by_name(name);

	return f && f->binary;
}

static void list_facts(unsigned facts, char *ret, size_t size)
{
	size_t at = 0;

	*ret = '\0';
	for (const char *between = ""; facts && pl_fact_name(facts); facts &= facts - 1, between = ", ") {
		int n = snprintf(ret + at, size - at, "%s%s", between, pl_fact_name(facts));
		at += n > 0 && (size_t)n < size - at ? (size_t)n : 0;
	}
}

bool plumb_format_keeps(const char *name, char *ret, size_t size)
{
	const struct pl_format *f = format_by_name(name);

	if (!f || f->report)
		return false;
	list_facts(f->keeps, ret, size);
	return true;
}

bool plumb_format_at(size_t i, struct plumb_format *ret)
{
	const struct pl_format *f = pl_formats;

	while (f->name && i > 0) {
		f++;
		i--;
	}
	if (!f->name && i > 0)
		return false;
	f = f->name ? f : &recording_format;
	*ret = (struct plumb_format){f->name, f->suffixes[0] ? f->suffixes[0] : "", f->summary};
	return true;
}
