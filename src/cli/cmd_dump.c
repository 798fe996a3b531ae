/* SPDX-License-Identifier: Apache-2.0 */
/* plumb dump: what the threads of some processes are doing right now. Layer cli. Writes to stdout. */
#include <stdlib.h>
#include <unistd.h>

#include <plumb/dump.h>

#include "config.h"
#include "signals.h"
#include "term.h"
#include "which.h"

#define EXIT_SOME_FAILED 1

static const struct opt *const tables[] = {options_dump, options_json, options_width, options_common, NULL};

static const char *const examples[] = {
	"plumb dump 4242",
	"all threads of process 4242: what each is doing or waits for, and its stack",
	"plumb dump app.py",
	"the process that runs the script app.py, if it is the only one; else plumb lists them",
	"plumb dump --locals 4242",
	"with the arguments and variables of each function",
	"plumb dump --native 4242",
	"with the functions of C between those of Python: where a thread hangs in a library",
	"plumb dump 4242 --threads worker-1,4250",
	"two of its threads, and those that they wait for",
	"plumb dump $(pgrep -f app.py)",
	"all processes of a program",
	"plumb dump 4242 --json | jq -r '.processes[].threads[] | \"\\(.name) \\(.doing)\"'",
	"one line a thread",
	"plumb dump --core core.4242",
	"what it was doing when it crashed",
	"plumb dump --core core.4242 --root /srv/container",
	"a program of a container whose files are below that directory",
	NULL,
};

static struct plumb_dump_look look_of(const struct config *c)
{
	struct plumb_dump_look look = PLUMB_DUMP_LOOK_INIT;

	look.json = c->format != NULL;
	/* In a file or a pipe nothing is cut to the width of a terminal that is not there. */
	look.width = c->width ? c->width : isatty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) : 0;
	look.color = term_color(c, STDOUT_FILENO);
	look.ascii = !term_is_utf8();
	return look;
}

/* One process that cannot be read does not keep us from the others. Returns how many could not. */
static int dump_all(struct plumb_dump *d, const char *core, const struct chosen *c)
{
	struct plumb_error *err = core ? plumb_dump_add_core(d, core) : NULL;
	int failed = err != NULL;

	if (err)
		complain_error(err);
	for (int i = 0; i < c->count; i++) {
		signals_hold_suspension();
		err = plumb_dump_add(d, c->pids[i]);
		signals_allow_suspension();
		if (!err)
			continue;
		complain_error(err);
		failed++;
	}
	return failed;
}

static int dump_chosen(const struct config *c, const struct chosen *chosen)
{
	const struct plumb_dump_look look = look_of(c);
	const int all = chosen->count + (c->core != NULL);
	struct plumb_dump *d;
	struct plumb_error *err = plumb_dump_create(&c->dump, &d);

	if (err)
		return complain_error(err);
	int failed = dump_all(d, c->core, chosen);

	if (failed < all || look.json)
		err = plumb_dump_write(d, &look, STDOUT_FILENO);
	plumb_dump_destroy(d);
	if (err)
		return complain_error(err);
	if (failed == all)
		return EXIT_OWN_FAILURE;
	return failed || chosen->failed ? EXIT_SOME_FAILED : 0;
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct chosen chosen;
	struct failure why;

	if (!argc && !c->core) {
		refuse(&why, "usage: plumb dump PID|NAME..., or plumb dump --core FILE",
		       "dump needs the id or the name of a process");
		return complain_failure(&why);
	}
	if (c->dump.root && !c->core) {
		refuse(&why, "a running process has its own root directory", "'--root' goes with '--core FILE'");
		return complain_failure(&why);
	}
	if (c->dump.trust_core && !c->core) {
		refuse(&why, "files of a running process are read with its own rights",
		       "'--trust-core' goes with '--core FILE'");
		return complain_failure(&why);
	}
	if ((c->dump.native || c->dump.native_all) && c->core) {
		refuse(&why, "the native frames of a core: gdb, or eu-stack --core FILE",
		       "'--native' is for running processes");
		return complain_failure(&why);
	}
	c->dump.thread_words = (const char *const *)c->threads.words;
	c->dump.thread_word_count = c->threads.count;
	int status = which_processes(cmd, argc, argv, &c->names, &chosen);
	if (status)
		return status;
	status = dump_chosen(c, &chosen);
	free(chosen.pids);
	return status;
}

const struct command command_dump = {
	.name = "dump",
	.usage = "PID|NAME... | --core FILE",
	.summary = "what a program is doing right now: every thread, its stack, and what it waits for",
	.about = "For each process: its threads, what each is doing (running, waiting for the GIL and who holds it, "
		 "blocked "
		 "in which system call on which file, pipe, socket or lock; of a sleep or a time limit, how long it "
		 "is), "
		 "and its stack, the "
		 "innermost "
		 "frame first, with source lines. Works on a program that hangs and on one that is stopped. Every "
		 "stack is "
		 "proved to have existed; threads that wait are not disturbed, a running one may be stopped for some "
		 "microseconds. NAME is that of a script, of a module (python -m) or of a program; if there is more "
		 "than one "
		 "process of that name, plumb lists them. The exit status is 0, 1 if some of the processes could not "
		 "be read, "
		 "125 if none could.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 0,
	.max_operands = -1,
	.operand = "PID",
	.run = run,
};
