/* SPDX-License-Identifier: Apache-2.0 */
/* What `run` and `attach` do alike, before and after the sampling. Layer cli. Everything told goes to stderr: stdout is
 * the program's. The recording is complete before anything else is written, so that no later failure costs it. */
#include "outcome.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page_file.h"
#include "signals.h"
#include "term.h"

static bool open_second(const char *path, enum plumb_output_name name, struct second_output *second,
			struct failure *why)
{
	struct plumb_error *err = plumb_output_open(path, name, &second->file);

	if (!err)
		return true;
	refuse(why, plumb_error_code(err) == PLUMB_ERR_EXISTS ? plumb_error_hint(err) : "give another place with '-o'",
	       "%s", plumb_error_message(err));
	plumb_error_destroy(err);
	return false;
}

/* --html or --open: the page is what -o names, or it goes beside the recording. */
static bool wants_page(struct config *c, struct second_output *second, struct failure *why)
{
	const char *format = c->output ? plumb_format_for_path(c->output) : NULL;

	if (!format || strcmp(format, "plumb") == 0)
		second->beside = true;
	else if (strcmp(format, "html") != 0)
		return refuse(why, "leave out '--html', or give a name that ends in .html",
			      "there is only one output in addition to the recording, and '%s' is no page", c->output);
	return page_file_check(c, "html", why);
}

/* Where the program writes to. Devices take what comes from anybody, but for a terminal. */
static bool is_standard_output(const char *output)
{
	struct stat named, standard;

	return strcmp(output, "-") == 0 ||
	       (stat(output, &named) == 0 && fstat(STDOUT_FILENO, &standard) == 0 && named.st_dev == standard.st_dev &&
		named.st_ino == standard.st_ino && (!S_ISCHR(named.st_mode) || isatty(STDOUT_FILENO)));
}

/* "x.docx": whoever names a new file so expects another format. What is there is looked at when it is opened, and a
 * recording may have any name that does not end in letters. */
static bool names_unknown_format(const struct config *c, struct failure *why)
{
	const char *slash = strrchr(c->output, '/'), *name = slash ? slash + 1 : c->output, *end = strrchr(name, '.');

	if (!end || end == name || !end[1] || c->force || c->announce || access(c->output, F_OK) == 0 ||
	    strspn(end + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != strlen(end + 1))
		return false;
	refuse(why, "a recording is called NAME.plumb; 'plumb help formats' lists the other endings",
	       "no format ends in %s", end);
	return true;
}

bool outcome_prepare(struct config *c, struct second_output *second, struct failure *why)
{
	*second = (struct second_output){0};
	config_report(c);
	/* The report is told of threads, too: if there is none of that name, it names those there are. */
	c->session.threads = c->report.threads;
	c->session.thread_count = c->report.thread_count;
	c->report.chosen_before = true;
	c->session.own = (const char *const *)c->own.words;
	c->session.own_count = c->own.count;
	if ((c->format || c->open) && !wants_page(c, second, why))
		return false;
	if (!c->output)
		return true;
	if (is_standard_output(c->output))
		return refuse(why, "name a file with '-o'; 'plumb report FILE -f FORMAT' writes to standard output",
			      "a recording is not written to standard output");
	second->format = plumb_format_for_path(c->output);
	if (!second->format && names_unknown_format(c, why))
		return false;
	if (!second->format || strcmp(second->format, "plumb") == 0) {
		second->format = NULL;
		c->session.output = c->output;
		return true;
	}
	if (!page_file_check(c, second->format, why))
		return false;
	return open_second(c->output, config_output_name(c), second, why);
}

void outcome_discard(struct second_output *second)
{
	plumb_output_discard(second->file);
	second->file = NULL;
}

static void tell_written(const struct config *c, const struct second_output *second)
{
	char message[PATH_MAX + 16];

	if (c->quiet || second->beside)
		return;
	snprintf(message, sizeof message, "wrote %s", c->output);
	tell_note(NULL, message);
}

static int write_second(struct config *c, const struct plumb_profile *p, struct second_output *second)
{
	struct plumb_report_options o = c->report;

	if (!second->file)
		return 0;
	o.format = second->format;
	o.note = NULL; /* what it has no room for is in the recording */
	o.color = false;
	o.width = 0;
	struct plumb_error *err = plumb_profile_write(p, &o, plumb_output_fd(second->file));
	if (!err) {
		err = plumb_output_publish(second->file);
		second->file = NULL;
	}
	outcome_discard(second);
	if (err)
		return complain_error(err);
	tell_written(c, second);
	return 0;
}

/* Its place is that of the recording, which was written there. */
static bool open_beside(const struct config *c, const char *recording, struct second_output *second,
			struct page_file *page, struct failure *why)
{
	if (!page_file_name(recording, ".html", false, page, why))
		return false;
	second->format = "html";
	return open_second(page->name, c->force ? PLUMB_OUTPUT_FORCED : PLUMB_OUTPUT_CHOSEN, second, why);
}

static int write_page(struct config *c, const struct plumb_profile *p, const char *recording,
		      struct second_output *second)
{
	struct page_file page = {0};
	struct failure why;
	bool shown = second->beside || (second->format && strcmp(second->format, "html") == 0);

	if (second->beside && !recording) /* it could not be written, nor could this */
		return 0;
	if (second->beside && !open_beside(c, recording, second, &page, &why))
		return complain_failure(&why);
	int status = write_second(c, p, second);
	return status || !shown ? status : page_file_show(c, &page);
}

static int write_report(struct config *c, const struct plumb_profile *p, const char *recording)
{
	struct plumb_error *err;

	if (c->quiet)
		return 0;
	term_look(c, STDERR_FILENO);
	c->report.recording = recording;
	c->report.format = "text";
	c->report.note = NULL; /* it is seen what is not in it */
	err = plumb_profile_write(p, &c->report, STDERR_FILENO);
	return err ? complain_error(err) : 0;
}

/* The interval narrows with the root of the time. That nothing is known, for want of samples, the report says. */
static void tell_not_known(const struct config *c, const struct plumb_result *r)
{
	double factor = r->half_width / c->session.until;
	char message[160];

	if (c->quiet || r->known || r->half_width <= c->session.until || r->half_width >= 1)
		return;
	snprintf(
		message, sizeof message,
		"the sampling ended too early: the shares are known to %.3g points, and %.3g takes about %.0f times as "
		"long",
		100 * r->half_width, 100 * c->session.until, ceil(factor * factor));
	complain(message, "");
}

/* Nothing was sampled, and there was an older one. */
static void tell_older(const struct config *c)
{
	char message[PATH_MAX + 80];

	snprintf(message, sizeof message, "nothing was sampled, so %s stays as it was", c->session.output);
	complain(message, "");
}

int outcome_tell(struct config *c, struct plumb_session *s, struct second_output *second, struct plumb_result *ret)
{
	struct plumb_error *err = plumb_session_finish(s, ret);
	const struct plumb_profile *p = plumb_session_profile(s);
	int report = 0, other = 0;

	signals_allow_suspension();
	signals_begin_telling();
	int status = err ? complain_error(err) : 0;
	if (ret->found_python && p) {
		report = write_report(c, p, ret->recording);
		other = write_page(c, p, ret->recording, second);
	} else {
		outcome_discard(second);
	}
	if (ret->found_python && !ret->recording && !err && c->session.output)
		tell_older(c);
	tell_not_known(c, ret);
	signals_end_telling();
	return status ? status : report ? report : other;
}
