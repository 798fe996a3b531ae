/* SPDX-License-Identifier: Apache-2.0 */
/* plumb report: write a recording in any output format. Layer cli. */
#include <string.h>

#include "config.h"
#include "page_file.h"
#include "destination.h"
#include "term.h"

static const struct opt *const tables[] = {options_rows,   options_text,    options_idle,   options_threads,
					   options_native, options_filters, options_own,    options_formats,
					   options_names,  options_output,  options_force,  options_html,
					   options_json,   options_width,   options_common, NULL};

static const char *const examples[] = {
	"plumb report plumb.app.py.4242.plumb",
	"the report again; --lines for lines, --threads NAME for some threads",
	"plumb report plumb.app.py.4242.plumb --json | jq '.functions[:5]'",
	"all figures; 'plumb help formats' lists the formats",
	"plumb report plumb.app.py.4242.plumb -o app.folded",
	"stacks for flamegraph.pl, speedscope and others",
	"plumb report plumb.app.py.4242.plumb --open",
	"a page with everything in it, in your browser; --html writes it without showing it",
	NULL,
};

static bool choose_format(struct config *c, struct failure *why)
{
	if (c->format)
		c->report.format = c->format;
	else if (c->open && !c->output)
		c->report.format = "html";
	else if (c->output)
		c->report.format = plumb_format_for_path(c->output);
	if (c->report.format)
		return true;
	return refuse(why,
		      "add '-f NAME'; 'plumb help formats' lists the names and the ends of files that go with them",
		      "the name '%s' does not say which format to write", c->output);
}

static int write_profile(struct config *c, const struct plumb_profile *p, char *recording)
{
	struct page_file page;
	struct failure why;
	struct destination t;

	if (!page_file_choose(c, c->report.format, recording, ".html", &page, &why))
		return complain_failure(&why);

	if (!destination_open(c->output, config_output_name(c), &recording, 1, &t, &why))
		return complain_failure(&why);
	if (!destination_takes(&t, c->report.format, &why)) {
		destination_drop(&t);
		return complain_failure(&why);
	}
	term_look(c, t.fd);
	c->report.replaces = c->force ? NULL : c->output;
	c->report.recording = strcmp(recording, "-") == 0 ? NULL : recording;
	int status = destination_close(&t, plumb_profile_write(p, &c->report, t.fd));
	return status ? status : page_file_show(c, &page);
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct plumb_recording_info info = {0};
	struct plumb_profile *p;
	struct plumb_error *err;
	struct failure why;
	int status;

	if (!choose_format(c, &why))
		return complain_failure(&why);
	config_report(c);
	err = plumb_profile_open_as(argv[0], c->from, &info, &p);
	if (err)
		return complain_input_error(err);
	err = config_own(c, p);
	if (err) {
		plumb_profile_destroy(p);
		return complain_error(err);
	}
	if (strcmp(c->report.format, "text") != 0) /* which tells it itself */
		destination_warn_incomplete(argv[0], &info);
	destination_note_skipped(argv[0], &info);
	status = write_profile(c, p, argv[0]);
	plumb_profile_destroy(p);
	return status;
}

const struct command command_report = {
	.name = "report",
	.usage = "FILE",
	.summary = "write a recording as text, as a page for a browser, as JSON or Markdown, or for another tool",
	.about = "Write the recording FILE to standard output, as text if nothing else is asked for. FILE may also "
		 "be of another tool, compressed by gzip, or - for standard input: 'plumb help formats' lists what "
		 "can be read and written. The exit status is 0, 1 if there is something wrong with FILE, or 125 "
		 "if plumb failed.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 1,
	.max_operands = 1,
	.operand = "the name of a recording",
	.run = run,
};
