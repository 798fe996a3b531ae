/* SPDX-License-Identifier: Apache-2.0 */
/* plumb symbolize: names and lines of C, C++ and Rust that were not known when it was sampled. Layer cli. */
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "destination.h"
#include "patience.h"
#include "shown.h"

static const struct opt *const tables[] = {options_recording, options_force, options_quiet, options_common, NULL};

static const char *const examples[] = {
	"plumb symbolize app.plumb -o named.plumb",
	"with symbols that packages have put into /usr/lib/debug, and of files that are here",
	"PLUMB_DEBUG_PATH=~/.cache/debuginfod_client plumb symbolize app.plumb --force",
	"with those that debuginfod-find has fetched; the recording itself has the names then",
	NULL,
};

static void tell_missing(void *ctx, const char *path, const char *build_id)
{
	const struct config *c = ctx;

	if (c->quiet)
		return;
	fputs("plumb: nothing is here of ", stderr);
	put_shown(path, SIZE_MAX, stderr);
	fprintf(stderr, ", build-id %s\n", build_id);
}

static void tell(const struct config *c, const struct plumb_symbolized *s, const char *out)
{
	if (c->quiet)
		return;
	if (s->unnamed)
		fprintf(stderr, "plumb: names of %zu of %zu native functions without one", s->named, s->unnamed);
	else
		fputs("plumb: all native functions have names, or are in files without a build-id", stderr);
	if (s->places)
		fprintf(stderr, "; lines of %zu of %zu places without one", s->told, s->places);
	if (out) {
		fputs(" -> ", stderr);
		put_shown(out, SIZE_MAX, stderr);
	}
	fputc('\n', stderr);
	if (s->left_out)
		fprintf(stderr,
			"plumb: %zu places have no line: there was too much debug information to look through\n",
			s->left_out);
	if (s->named < s->unnamed || s->told + s->left_out < s->places)
		fputs("hint: packages of debug symbols have the others (Debian: NAME-dbgsym)\n", stderr);
}

/* The recording itself is not written if it would say the same. */
static struct plumb_error *save(const struct config *c, const struct plumb_profile *p,
				const struct plumb_profile *named, const char **out)
{
	if (!named && !c->output) {
		*out = NULL;
		return NULL;
	}
	patience_for_output(*out);
	struct plumb_error *err = plumb_profile_save_as(named ? named : p, *out, c->force);
	patience_end();
	return err;
}

static int symbolize(struct config *c, const struct plumb_profile *p, const char *out)
{
	struct plumb_symbolized info;
	struct plumb_profile *named;
	patience_begin("debug information of PLUMB_DEBUG_PATH, of /usr/lib/debug or of the files themselves");
	struct plumb_error *err = plumb_profile_symbolize(p, tell_missing, c, &info, &named);
	patience_end();
	if (!err)
		err = save(c, p, named, &out);
	plumb_profile_destroy(named);
	if (err)
		return complain_error(err);
	tell(c, &info, out);
	return 0;
}

static bool is_itself(const struct config *c, const char *path)
{
	return c->output ? destination_is_input(c->output, path) : access(path, F_OK) == 0;
}

static bool check_output(struct config *c, const char *path, struct failure *why)
{
	if (strcmp(path, "-") == 0 && !c->output)
		return refuse(why, "plumb symbolize - -o OUT",
			      "standard input has no name to be written to: symbolize needs '-o OUT'");
	if (!c->force && is_itself(c, path))
		return refuse(why, "'-o OUT' names another file, '--force' replaces it",
			      "'%s' itself would be replaced", c->output ? c->output : path);
	return !c->output || destination_for_recording(&c->output, why);
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct plumb_recording_info info;
	struct plumb_profile *p;
	struct failure why;

	patience_begin(c->output ? c->output : argv[0]);
	bool good = check_output(c, argv[0], &why);
	patience_end();
	if (!good)
		return complain_failure(&why);
	struct plumb_error *err = plumb_profile_open_as(argv[0], "plumb", &info, &p);
	if (err)
		return complain_input_error(err);
	destination_warn_incomplete(argv[0], &info);
	int status = symbolize(c, p, c->output ? c->output : argv[0]);
	plumb_profile_destroy(p);
	return status;
}

const struct command command_symbolize = {
	.name = "symbolize",
	.usage = "FILE [-o OUT]",
	.summary = "add names and lines of C, C++ and Rust that were not there when it was recorded",
	.about =
		"Read the recording FILE, of 'run --native' or 'attach --native' on this or another machine, and write "
		"it with names for the native functions that had none (libfoo.so+0x1234), and with the lines and the "
		"inlined functions that debug information tells of. Both are looked for by "
		"build-id: in the directories of PLUMB_DEBUG_PATH, in /usr/lib/debug, and in the very file, if it is "
		"here. Without -o FILE itself is replaced, which needs "
		"--force. The exit status is 0, 1 if there is something wrong "
		"with FILE, or 125 if plumb failed.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 1,
	.max_operands = 1,
	.operand = "the name of a recording",
	.run = run,
};
