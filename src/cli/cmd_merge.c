/* SPDX-License-Identifier: Apache-2.0 */
/* plumb merge: recordings added up to one. Layer cli. */
#include <inttypes.h>

#include <plumb/merge.h>

#include "config.h"
#include "shown.h"
#include "destination.h"
#include "patience.h"

static const struct opt *const tables[] = {options_recording, options_force, options_quiet, options_common, NULL};

static const char *const examples[] = {
	"plumb merge monday.plumb tuesday.plumb -o week.plumb",
	"one recording of both; 'plumb report week.plumb' reads it",
	"plumb merge web1.plumb web2.plumb web3.plumb -o web.plumb",
	"of several machines: their processes stay apart",
	NULL,
};

static bool check_output(struct config *c, char *const *paths, int count, struct failure *why)
{
	if (!c->output)
		return refuse(why, "plumb merge A B -o OUT", "merge needs '-o OUT', the recording to write");
	for (int i = 0; i < count; i++) {
		if (destination_is_input(c->output, paths[i]))
			return refuse(why, "give another name with '-o'", "'%s' is one of the recordings to be merged",
				      c->output);
	}
	return destination_for_recording(&c->output, why);
}

static struct plumb_error *add_all(struct plumb_merge *m, char *const *paths, int count)
{
	for (int i = 0; i < count; i++) {
		struct plumb_recording_info info = {0};
		bool again = false;
		struct plumb_error *err = plumb_merge_add(m, paths[i], &info, &again);

		if (err)
			return err;
		destination_warn_incomplete(paths[i], &info);
		destination_note_skipped(paths[i], &info);
		if (again) {
			struct failure why;

			refuse(&why, "leave one out if that was not meant",
			       "%s holds the same samples as a recording before it: they count twice", paths[i]);
			complain(why.message, why.hint);
		}
	}
	return NULL;
}

static void tell(const struct config *c, const struct plumb_merge *m, int count)
{
	uint64_t samples, stacks;
	size_t processes, hosts;

	if (c->quiet)
		return;
	plumb_merge_totals(m, &samples, &stacks, &processes, &hosts);
	fprintf(stderr, "plumb: %d recording%s: %" PRIu64 " samples, %" PRIu64 " stacks, %zu process%s, %zu host%s -> ",
		count, count == 1 ? "" : "s", samples, stacks, processes, processes == 1 ? "" : "es", hosts,
		hosts == 1 ? "" : "s");
	put_shown(c->output, SIZE_MAX, stderr);
	fputc('\n', stderr);
}

static int merge(const struct config *c, struct plumb_merge *m, char *const *paths, int count)
{
	struct plumb_error *err = add_all(m, paths, count);

	if (err)
		return complain_input_error(err);
	patience_for_output(c->output);
	err = plumb_merge_write(m, c->output, c->force);
	patience_end();
	if (err)
		return complain_error(err);
	tell(c, m, count);
	return 0;
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct plumb_merge *m;
	struct failure why;

	patience_begin(c->output);
	bool good = check_output(c, argv, argc, &why);
	patience_end();
	if (!good)
		return complain_failure(&why);
	struct plumb_error *err = plumb_merge_create(&m);
	if (err)
		return complain_error(err);
	int status = merge(c, m, argv, argc);
	plumb_merge_destroy(m);
	return status;
}

const struct command command_merge = {
	.name = "merge",
	.usage = "FILE... -o OUT",
	.summary = "add up recordings of several processes, machines or days",
	.about = "Write one recording that holds the samples of all. The order of the recordings does not matter, "
		 "and the file is the same, byte for byte. The times of single samples are lost. The "
		 "exit status is 0, 1 if there is something wrong with a FILE, or 125 if plumb failed.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 1,
	.max_operands = -1,
	.operand = "the names of recordings",
	.run = run,
};
