/* SPDX-License-Identifier: Apache-2.0 */
/* plumb top: what a program does now. Layer cli; the options, of whoever runs it. */
#include "config.h"
#include "top_begin.h"

static bool set_plain(struct config *c, const char *value, struct failure *why)
{
	c->plain = true;
	return true;
}

static const struct opt options_top[] = {
	{"plain", 0, NULL,
	 "a line each second instead of a screen: for logs, pipes and screen readers (the default where standard "
	 "output is no terminal)",
	 "Report", set_plain},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

static const struct opt *const tables[] = {options_called, options_top,	    options_sampling,
					   options_idle,   options_filters, options_own,
					   options_force,  options_common,  NULL};

static const char *const examples[] = {
	"plumb top",
	"the Pythons that run; Enter looks into one of them, 'q' goes back to the list",
	"plumb top 4242",
	"where it spends its time now, and has since you look; '?' shows the keys, 'q' ends",
	"plumb top app.py",
	"the process that runs the script app.py, if it is the only one",
	"plumb top --name app.py",
	"all processes of that name, as one",
	"plumb top -- python app.py --port 80",
	"start the program; what it writes goes to a file",
	"plumb top 4242 --plain -d 60 >> load.log",
	"a line each second for a minute",
	NULL,
};

const struct command command_top = {
	.name = "top",
	.usage = "[PID...|NAME|FILE|-- PROGRAM [ARG...]]",
	.summary = "what a program does now: functions, calls, threads, lines, tasks",
	.about =
		"Watch a running Python process, or several, a PROGRAM that is started, or look at the recording FILE "
		"(NAME.plumb): its functions, calls, threads and lines, of the last five seconds beside all since "
		"the start. Without any of them it lists the Pythons that run and may be sampled, by the CPU time that "
		"they use, to choose one of. With --tasks it shows what asyncio tasks wait for. A program that is "
		"started "
		"writes into a file, plumb.top.PID.out, and reads nothing; at the end it gets the signal that Ctrl-C "
		"sends, and where that does not end it, plumb waits for its end or for Ctrl-C twice. Nothing is "
		"recorded but what the key 's' saves, or "
		"what -o names. The exit status is 0, that of the program if it ended by itself, or 125 if plumb "
		"failed.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 0,
	.max_operands = -1,
	.operand = "the id or the name of a process, a recording, or '--' and a program",
	.run = top_begin,
};
