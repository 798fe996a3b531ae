/* SPDX-License-Identifier: Apache-2.0 */
/* plumb convert: from any format that is read to any that is written. Layer cli. */
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "page_file.h"
#include "destination.h"
#include "term.h"

static const struct opt *const tables[] = {
	options_formats, options_names, options_rows,	options_idle, options_threads, options_native, options_filters,
	options_own,	 options_force, options_common, NULL};

static const char *const examples[] = {
	"plumb convert plumb.app.py.4242.plumb app.folded",
	"stacks for flamegraph.pl and others; the end of the name says which format",
	"plumb convert other.folded other.plumb",
	"stacks of another profiler as a recording, for 'plumb report' and all the rest",
	"plumb convert plumb.app.py.4242.plumb part.plumb --time 10..20 --threads MainThread",
	"ten seconds of one thread",
	"curl -s URL | plumb convert - - --from collapsed -f json",
	"from standard input to standard output",
	NULL,
};

static bool choose_format(struct config *c, const char *out, struct failure *why)
{
	bool standard = strcmp(out, "-") == 0;

	c->report.format = c->format ? c->format : standard ? NULL : plumb_format_for_path(out);
	if (c->report.format)
		return true;
	if (standard)
		return refuse(why, "add '-f FORMAT'; 'plumb help formats' lists them",
			      "no format is given for standard output");
	return refuse(why,
		      "add '-f FORMAT'; 'plumb help formats' lists the names and the ends of files that go with them",
		      "the name '%s' does not say which format to write", out);
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size;
}

/* What can be made again is of another kind. */
static bool may_be_no_copy(const struct config *c, const char *in, const char *out)
{
	const char *kind = plumb_format_for_path(out), *of_in = plumb_format_for_path(in);

	return strcmp(c->report.format, "plumb") == 0 || (kind && of_in && strcmp(kind, of_in) == 0);
}

/* With two files as all the operands, as of '*.plumb', the second is no name for a copy of the first. */
static bool spares_files(const struct config *c, const char *in, const char *out, struct failure *why)
{
	if (c->force || !is_file(out) || !may_be_no_copy(c, in, out))
		return true;
	return refuse(why, "give another name, or --force to replace it",
		      "%s is there already, and convert would write the profile of %s in its place", out, in);
}

static int write_profile(struct config *c, const struct plumb_profile *p, char *in, const char *out)
{
	struct failure why;
	struct destination t;

	if (!page_file_check(c, c->report.format, &why))
		return complain_failure(&why);
	if (!destination_open(out, config_output_name(c), &in, 1, &t, &why))
		return complain_failure(&why);
	if (!destination_takes(&t, c->report.format, &why) || !spares_files(c, in, out, &why)) {
		destination_drop(&t);
		return complain_failure(&why);
	}
	term_look(c, t.fd);
	c->report.replaces = c->force ? NULL : out;
	c->report.recording = strcmp(in, "-") == 0 ? NULL : in;
	return destination_close(&t, plumb_profile_write(p, &c->report, t.fd));
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct plumb_recording_info info;
	struct plumb_profile *p;
	struct failure why;

	if (!choose_format(c, argv[1], &why))
		return complain_failure(&why);
	config_report(c);
	struct plumb_error *err = plumb_profile_open_as(argv[0], c->from, &info, &p);
	if (err)
		return complain_input_error(err);
	err = config_own(c, p);
	if (err) {
		plumb_profile_destroy(p);
		return complain_error(err);
	}
	destination_warn_incomplete(argv[0], &info);
	destination_note_skipped(argv[0], &info);
	int status = write_profile(c, p, argv[0], argv[1]);
	plumb_profile_destroy(p);
	return status;
}

const struct command command_convert = {
	.name = "convert",
	.usage = "IN OUT",
	.summary = "turn a recording into a file of another tool, or the other way round",
	.about = "Read IN, a recording or a file of another tool, and write OUT. The format of IN follows from its "
		 "content or --from, that of OUT from the end of its name or -f; - is standard input and "
		 "standard output. A note says what OUT has no room for. The exit status is 0, 1 if "
		 "something is wrong with IN, or 125 if plumb failed.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 2,
	.max_operands = 2,
	.written = 2,
	.operand = "the name of a file to read or to write",
	.run = run,
};
