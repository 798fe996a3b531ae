/* SPDX-License-Identifier: Apache-2.0 */
/* plumb diff: what changed between recordings, and how sure that is. Layer cli. */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "page_file.h"
#include "destination.h"
#include "term.h"

#define EXIT_SLOWER 1

static const struct opt *const tables[] = {
	options_diff, options_idle,	  options_threads, options_native, options_filters,
	options_own,  options_diff_forms, options_names,   options_output, options_force,
	options_html, options_json,	  options_width,   options_common, NULL};

static const char *const examples[] = {
	"plumb diff before.plumb after.plumb",
	"what changed, and how sure that is; --lines for lines, --paths for paths of calls",
	"plumb diff old1.plumb old2.plumb old3.plumb -- new1.plumb new2.plumb new3.plumb",
	"several recordings a side show how much runs differ by chance",
	"plumb diff before.plumb after.plumb -o what-changed.svg",
	"a flame graph of the second recording, coloured by what changed",
	"plumb diff before.plumb after.plumb --open",
	"a page with both in it, in your browser",
	"plumb diff main.plumb branch.plumb --fail-above 5% --markdown",
	"for CI: exit status 1 if anything is significantly slower by more than 5 %",
	"plumb diff before.plumb after.plumb --normalize handle_request",
	"time per unit of time of handle_request instead of shares of everything",
	"plumb diff before.plumb after.plumb --per request=1200,1250 --fail-above 5%",
	"time per request, as counted by a load generator",
	NULL,
};

/* The recordings, those before first. */
struct inputs {
	struct plumb_profile **profiles;
	struct plumb_profile **refined; /* what passes the filters; NULL: all */
	size_t count, before;
	char *names[2];
};

static bool choose_format(struct config *c, struct failure *why)
{
	if (c->format)
		c->diff.format = c->format;
	else if (c->open && !c->output)
		c->diff.format = "html";
	else if (c->output)
		c->diff.format = plumb_diff_format_for_path(c->output);
	if (c->diff.format)
		return true;
	return refuse(why, "add '-f NAME': text, json, markdown, html, collapsed or svg",
		      "the name '%s' does not say which format to write", c->output);
}

static bool choose_sides(const struct config *c, int operands, struct inputs *in, struct failure *why)
{
	in->count = (size_t)operands;
	in->before = c->split >= 0 ? (size_t)c->split : 1;
	if (c->split < 0 && operands != 2)
		return refuse(why, "put '--' between them: plumb diff A1 A2 A3 -- B1 B2 B3",
			      "%d recordings: it is not clear which are before and which are after", operands);
	if (in->before == 0 || in->before == in->count)
		return refuse(why, "give recordings on both sides of '--': plumb diff A1 A2 -- B1 B2",
			      "there is no recording %s '--'", in->before ? "after" : "before");
	return true;
}

/* "a.plumb b.plumb" */
static char *join(char *const *words, size_t count)
{
	size_t len = 1;

	for (size_t i = 0; i < count; i++)
		len += strlen(words[i]) + 1;
	char *all = malloc(len), *at = all;
	for (size_t i = 0; i < count && all; i++) {
		if (i)
			*at++ = ' ';
		at = stpcpy(at, words[i]);
	}
	return all;
}

static struct plumb_error *open_all(const struct config *c, struct inputs *in, char *const *paths)
{
	for (size_t i = 0; i < in->count; i++) {
		struct plumb_recording_info info = {0};
		struct plumb_error *err = plumb_profile_open(paths[i], &info, &in->profiles[i]);

		if (err)
			return err;
		destination_warn_incomplete(paths[i], &info);
		destination_note_skipped(paths[i], &info);
		err = config_own(c, in->profiles[i]);
		if (!err)
			err = plumb_profile_refine(in->profiles[i], &c->report, &in->refined[i]);
		if (err)
			return err;
	}
	return NULL;
}

static void take_filters(struct config *c)
{
	config_report(c);
	c->diff.per = c->per.unit;
	c->diff.units = c->per.counts;
	c->diff.unit_count = c->per.count;
}

/* What is compared; ends with the last recording after. NULL: no memory. */
static const struct plumb_profile **chosen(const struct inputs *in)
{
	const struct plumb_profile **all = calloc(in->count, sizeof *all);

	for (size_t i = 0; i < in->count && all; i++)
		all[i] = in->refined[i] ? in->refined[i] : in->profiles[i];
	return all;
}

static int write_diff(struct config *c, const struct inputs *in, char *const *paths)
{
	const struct plumb_profile **profiles = chosen(in);
	struct plumb_diff *d;
	struct failure why;
	struct destination t;
	int status;

	term_look(c, c->output ? -1 : 1);
	plumb_diff_take_report(&c->diff, &c->report);
	if (!profiles) {
		complain("out of memory", "");
		return EXIT_OWN_FAILURE;
	}
	struct plumb_error *err =
		plumb_diff_create(profiles, in->before, profiles + in->before, in->count - in->before, &c->diff, &d);
	free(profiles);
	if (err)
		return complain_error(err);
	if (destination_open(c->output, config_output_name(c), paths, in->count, &t, &why))
		status = destination_close(&t, plumb_diff_write(d, t.fd));
	else
		status = complain_failure(&why);
	if (!status && plumb_diff_failed(d))
		status = EXIT_SLOWER;
	plumb_diff_destroy(d);
	return status;
}

/* A page gets its name from the last recording. */
static int write_or_show(struct config *c, const struct inputs *in, char *const *paths)
{
	struct page_file page;
	struct failure why;

	if (!page_file_choose(c, c->diff.format, paths[in->count - 1], ".diff.html", &page, &why))
		return complain_failure(&why);
	int status = write_diff(c, in, paths);
	int shown = status && status != EXIT_SLOWER ? 0 : page_file_show(c, &page);
	return status ? status : shown;
}

static int compare(struct config *c, struct inputs *in, char *const *paths)
{
	in->profiles = calloc(in->count, sizeof(struct plumb_profile *));
	in->refined = calloc(in->count, sizeof(struct plumb_profile *));
	in->names[0] = join(paths, in->before);
	in->names[1] = join(paths + in->before, in->count - in->before);
	if (!in->profiles || !in->refined || !in->names[0] || !in->names[1]) {
		complain("out of memory", "");
		return EXIT_OWN_FAILURE;
	}
	c->diff.before_name = in->names[0];
	c->diff.after_name = in->names[1];
	struct plumb_error *err = open_all(c, in, paths);
	return err ? complain_error(err) : write_or_show(c, in, paths);
}

static void destroy_all(struct plumb_profile **profiles, size_t count)
{
	for (size_t i = 0; profiles && i < count; i++)
		plumb_profile_destroy(profiles[i]);
	free(profiles);
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct inputs in = {0};
	struct failure why;

	if (!choose_format(c, &why) || !choose_sides(c, argc, &in, &why))
		return complain_failure(&why);
	take_filters(c);
	int status = compare(c, &in, argv);
	destroy_all(in.refined, in.count); /* each reads what it was made of */
	destroy_all(in.profiles, in.count);
	free(in.names[0]);
	free(in.names[1]);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.usage = "BEFORE AFTER | BEFORE... -- AFTER...",
	.summary = "compare recordings: what takes more, what takes less, and how sure that is",
	.about = "Compare the recordings BEFORE and AFTER. A difference is called a change only if chance is an "
		 "unlikely cause, "
		 "all compared rows taken into account. The exit status is 0; 1 if a limit given "
		 "with --fail-above is exceeded; 125 if the comparison failed.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_TWO_SIDES,
	.min_operands = 2,
	.max_operands = -1,
	.operand = "two recordings",
	.run = run,
};
