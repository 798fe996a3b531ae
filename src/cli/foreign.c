/* SPDX-License-Identifier: Apache-2.0 */
/* Names of other profilers' options and commands: py-spy 0.4, austin 3.7 and 4.1, CPython 3.15's profiling.sampling,
 * pyinstrument 5.1, memray 1.20 and perf 6.1. Layer cli; data. A letter that means different things to different tools
 * is answered for each.
 *
 * An answer names what there is: a whole command ('plumb dump PID'), or an option, and then the commands that have it,
 * unless all have it or the answer is for one command alone. */
#include "foreign.h"

#include <stddef.h>
#include <string.h>

#define NATIVE	 "a recording has them if it was made with it: with 'run', 'attach' and 'dump'"
#define CHILDREN "'plumb run' samples the processes that the program starts, too; with 'attach' say '--subprocesses'"
#define SAMPLING "with 'run' and 'attach': "
#define ROWS	 "with 'run', 'attach' and 'report': "
#define CPU	 "use '--mode cpu'"
#define FUNCTION ROWS "use '--functions', which is the default"
#define MEMORY	 "plumb samples time, not memory"
#define DUMP	 "use 'plumb dump PID'"
#define CORE	 "use 'plumb dump --core FILE'"
#define LOCALS	 "use 'plumb dump PID --locals'"
#define LIVE	 "use 'plumb top PID', or 'plumb top -- PROGRAM ...'"
#define THREADS                                                                                                        \
	"threads are always kept apart; " ROWS "'--threads NAME,TID' picks some; 'plumb report FILE --json' lists all"
#define FOLDED	ROWS "use '-o NAME.folded'"
#define HTML	"with 'run', 'attach', 'report' and 'diff': use '--html', or '--open' to show it at once"
#define NAMED	ROWS "name the output after its format, '-o NAME.folded'; 'plumb help formats' lists them"
#define ATTACH	"use 'plumb attach PID'"
#define ASYNC	SAMPLING "use '--tasks'; 'plumb dump PID' shows all tasks"
#define GC	"time in the garbage collector is always recorded: 'plumb report FILE --quality' shows its share"
#define SLEEP	SAMPLING "use '--mode cpu', or '--skip-idle' to leave waiting out of the report"
#define GIL	SAMPLING "use '--mode gil'"
#define ALL	"all threads are sampled; " ROWS "'--idle' shows those that did nothing, too"
#define EACH	"give each process: 'plumb dump PID PID'"
#define NO_NEED "not needed: a plumb recording is binary, small and always written"
#define OWN                                                                                                            \
	"functions of libraries are folded; " ROWS                                                                     \
	"'--own LIST' says what is none, 'plumb report FILE -f tree' shows all"
#define LOCALE	  "plain ASCII is written unless LC_ALL, LC_CTYPE or LANG names UTF-8"
#define EVENT	  "plumb samples time alone; " SAMPLING "'--mode cpu' is perf's cpu-clock"
#define CALLS	  "not needed: each sample is a whole Python stack; " SAMPLING "'--native' adds the functions of C"
#define PERF_RATE SAMPLING "use '-r 99'"

const struct foreign foreign_options[] = {
	/* What one command answers otherwise than the others. */
	{"--pid", "py-spy's", "give the number alone: 'plumb dump PID'", "dump"},
	{"-p", "py-spy's", "give the number alone: 'plumb dump PID'", "dump"},
	{"--pid", "py-spy's", "give the number alone: 'plumb attach PID'", "attach"},
	{"-p", "py-spy's", "give the number alone: 'plumb attach PID'", "attach"},
	{"--pid", "other tools'", "give the number alone: 'plumb doctor PID'", "doctor"},
	{"-p", "other tools'", "give the number alone: 'plumb doctor PID'", "doctor"},
	{"-j", "py-spy's", "use '--json'", "dump"},
	{"-j", "py-spy's", "use '--json'", "doctor"},
	{"-j", "py-spy's", "use '--json'", "report"},
	{"-i", "perf's", "give the recording alone: 'plumb report FILE'", "report"},
	{"--children", "perf's",
	 "not needed: the tree's shares count what a function calls, too; those of 'self' do not", "report"},
	{"-c", "py-spy's", "use '--core FILE'", "dump"},
	{"--subprocesses", "py-spy's", EACH, "dump"},
	{"-s", "py-spy's", EACH, "dump"},
	{"--all-threads", "other tools'", "not needed: all threads are shown", "dump"},
	{"-a", "other tools'", "not needed: all threads are shown", "dump"},
	{"-m", "python's or austin's", "a module: 'plumb run -- python3 -m MODULE'; austin's -m (memory): " MEMORY,
	 "run"},
	{"-c", "python's or austin's", "code: 'plumb run -- python3 -c CODE'; austin's -c (CPU time): " CPU, "run"},

	{"--pid", "py-spy's", ATTACH, NULL},
	{"-p", "py-spy's", ATTACH, NULL},
	{"--native", "py-spy's", NATIVE, NULL},
	{"-n", "py-spy's", NATIVE, NULL},
	{"--nonblocking", "py-spy's", "with 'run', 'attach' and 'dump': use '--never-stop'", NULL},
	{"--subprocesses", "py-spy's", CHILDREN, NULL},
	{"-s", "py-spy's or austin's", "py-spy's -s (children): " CHILDREN "; austin's -s (sleepless): " SLEEP, NULL},
	{"--gil", "py-spy's", GIL, NULL},
	{"-g", "py-spy's, austin's or perf's", "py-spy's -g: " GIL "; austin's -g: " GC "; perf's -g: " CALLS, NULL},
	{"--function", "py-spy's", FUNCTION, NULL},
	{"-F", "py-spy's or perf's", "py-spy's -F: " FUNCTION "; perf's -F 99: " PERF_RATE, NULL},
	{"--nolineno", "py-spy's", FUNCTION "; collapsed stacks always have lines", NULL},
	{"--full-filenames", "py-spy's", "use 'plumb report FILE --names full'", NULL},
	{"--format", "py-spy's", NAMED, NULL},
	{"-f", "py-spy's", NAMED, NULL},
	{"--thread", "py-spy's", THREADS, NULL},
	{"-t", "py-spy's or austin's",
	 "py-spy's -t: " THREADS "; austin's -t (timeout): not needed, plumb waits for Python to start", NULL},
	{"-i", "py-spy's, austin's or pyinstrument's",
	 "py-spy's -i: " ROWS "use '--idle'; austin's -i 100 (microseconds): 'plumb run -r 10k', a rate; "
	 "pyinstrument's -i 0.001 (seconds): 'plumb run -r 1k'",
	 NULL},
	{"--delay", "py-spy's", "not yet: start the program first, then 'plumb attach PID'", NULL},
	{"--core", "py-spy's", CORE, NULL},
	{"--locals", "py-spy's", LOCALS, NULL},
	{"-l", "py-spy's", LOCALS, NULL},
	{"-j", "py-spy's", "use 'plumb report FILE --json' or 'plumb dump PID --json'", NULL},
	{"-c", "py-spy's or austin's", "py-spy's -c: " CORE "; austin's -c (CPU time): " SAMPLING CPU, NULL},

	{"--interval", "austin's or pyinstrument's", SAMPLING "use '-r RATE': an interval of 100 us is '-r 10k'", NULL},
	{"--timeout", "austin's", "not needed: plumb waits for Python to start", NULL},
	{"--sleepless", "austin's", SLEEP, NULL},
	{"--cpu", "austin's", SAMPLING CPU, NULL},
	{"--memory", "austin's", MEMORY, NULL},
	{"-m", "austin's", MEMORY, NULL},
	{"--full", "austin's", MEMORY "; " SAMPLING "'--mode wall' and '--mode cpu' are two recordings", NULL},
	{"--heap", "austin's", "not needed: plumb grows no heap of its own with the program", NULL},
	{"--gc", "austin's", GC, NULL},
	{"--children", "austin's", CHILDREN, NULL},
	{"-C", "austin's", CHILDREN, NULL},
	{"--exposure", "austin's", SAMPLING "use '-d SECONDS'", NULL},
	{"-x", "austin's", SAMPLING "use '-d SECONDS'", NULL},
	{"--pipe", "austin's", "not needed: standard output stays the program's; " FOLDED, NULL},
	{"-P", "austin's", "not needed: standard output stays the program's; " FOLDED, NULL},
	{"--where", "austin's", DUMP, NULL},
	{"-w", "austin's", DUMP, NULL},
	{"--kernel", "austin's", NATIVE, NULL},
	{"-k", "austin's", NATIVE, NULL},
	{"-b", "austin's", NO_NEED, NULL},

	{"--sampling-rate", "profiling.sampling's", SAMPLING "use '-r RATE'", NULL},
	{"--all-threads", "profiling.sampling's", ALL, NULL},
	{"-a", "profiling.sampling's", ALL, NULL},
	{"--blocking", "profiling.sampling's", SAMPLING "use '--always-stop'", NULL},
	{"--live", "profiling.sampling's", LIVE, NULL},
	{"--async-aware", "profiling.sampling's", ASYNC, NULL},
	{"--async-mode", "profiling.sampling's", ASYNC, NULL},
	{"--no-gc", "profiling.sampling's", GC, NULL},
	{"--collapsed", "profiling.sampling's", FOLDED, NULL},
	{"--flamegraph", "profiling.sampling's", ROWS "use '-o NAME.svg'", NULL},
	{"--heatmap", "profiling.sampling's", HTML, NULL},
	{"--diff-flamegraph", "profiling.sampling's", "use 'plumb diff BEFORE AFTER -o NAME.svg'", NULL},
	{"--gecko", "profiling.sampling's", ROWS "use '-o NAME.firefox.json'", NULL},
	{"--pstats", "profiling.sampling's", ROWS "use '-o NAME.pstats'", NULL},
	{"--jsonl", "profiling.sampling's", ROWS "use '-o NAME.jsonl'", NULL},
	{"--binary", "profiling.sampling's", NO_NEED, NULL},
	{"--compression", "profiling.sampling's", NO_NEED, NULL},
	{"--browser", "profiling.sampling's", HTML, NULL},
	{"--realtime-stats", "profiling.sampling's", LIVE, NULL},
	{"--sort", "profiling.sampling's or perf's",
	 "the report sorts by self time; 'plumb report FILE --json' has all figures", NULL},
	{"--limit", "profiling.sampling's", ROWS "use '--top COUNT'; 'plumb report FILE --json' has all of it", NULL},
	{"--no-summary", "profiling.sampling's", SAMPLING "use '--quiet'", NULL},

	{"--renderer", "pyinstrument's", NAMED, NULL},
	{"--outfile", "pyinstrument's", ROWS "use '-o FILE'", NULL},
	{"--load", "pyinstrument's", "use 'plumb report FILE'", NULL},
	{"--load-prev", "pyinstrument's", "use 'plumb report FILE'", NULL},
	{"--timeline", "pyinstrument's", "'plumb report FILE --open' has one", NULL},
	{"--show-all", "pyinstrument's", "use 'plumb report FILE -f tree'", NULL},
	{"--show", "pyinstrument's", OWN, NULL},
	{"--show-regex", "pyinstrument's", OWN, NULL},
	{"--hide", "pyinstrument's", OWN, NULL},
	{"--hide-regex", "pyinstrument's", OWN, NULL},
	{"--render-option", "pyinstrument's", "'plumb help report' lists what a report takes", NULL},
	{"--from-path", "pyinstrument's", "not needed: 'plumb run -- PROGRAM' looks in PATH, as a shell does", NULL},
	{"--target-description", "pyinstrument's", "not needed: a report is called after the program", NULL},
	{"--use-timing-thread", "pyinstrument's", "not needed: plumb samples from outside the program", NULL},
	{"--unicode", "pyinstrument's", LOCALE, NULL},
	{"--no-unicode", "pyinstrument's", LOCALE, NULL},

	{"--follow-fork", "memray's", CHILDREN, NULL},
	{"--live-remote", "memray's", LIVE, NULL},
	{"--live-port", "memray's", LIVE, NULL},
	{"--aggregate", "memray's", NO_NEED, NULL},
	{"--compress-on-exit", "memray's", NO_NEED, NULL},
	{"--no-compress", "memray's", NO_NEED, NULL},
	{"--trace-python-allocators", "memray's", MEMORY, NULL},
	{"--leaks", "memray's", MEMORY, NULL},
	{"--temporary-allocations", "memray's", MEMORY, NULL},
	{"--biggest-allocs", "memray's", MEMORY, NULL},
	{"--temporal", "memray's", "not needed: 'plumb report FILE --open' has a timeline", NULL},
	{"--split-threads", "memray's", THREADS, NULL},
	{"--no-web", "memray's", "not needed: a page loads nothing from anywhere", NULL},

	{"--input", "perf's", "give the recording alone: 'plumb report FILE'", NULL},
	{"--no-children", "perf's", "the shares of 'self' do not count what a function calls", NULL},
	{"--freq", "perf's", PERF_RATE, NULL},
	{"--call-graph", "perf's", CALLS, NULL},
	{"--event", "perf's", EVENT, NULL},
	{"-e", "perf's", EVENT, NULL},
	{"--all-cpus", "perf's", "plumb samples processes: use 'plumb attach PID --subprocesses'", NULL},
	{"--tid", "perf's", THREADS, NULL},
	{"--per-thread", "perf's", THREADS, NULL},
	{"--no-inherit", "perf's", SAMPLING "use '--no-subprocesses'", NULL},
	{"--stdio", "perf's", "not needed: 'plumb report FILE' writes text", NULL},
	{"--percent-limit", "perf's", "use 'plumb report FILE --min-share PERCENT'", NULL},
	{"--no-color", "other tools'", "use '--color never'", NULL},
	{"--colour", "other tools'", "use '--color'", NULL},
	{NULL, NULL, NULL, NULL},
};

const struct foreign foreign_commands[] = {
	{"record", "py-spy's",
	 "use 'plumb run -- PROGRAM ...' to start a program, 'plumb attach PID' for a running one", NULL},
	{"where", "austin's", DUMP, NULL},
	{"start", "other profilers'", "use 'plumb run -- PROGRAM ...'", NULL},
	{"replay", "profiling.sampling's", "use 'plumb report FILE'", NULL},
	{"show", "other profilers'", "use 'plumb report FILE'", NULL},
	{"view", "other profilers'", "use 'plumb report FILE'", NULL},
	{"export", "other profilers'", "use 'plumb convert FILE OUT'", NULL},
	{"serve", "other profilers'", "not yet: each recording is a file that 'plumb report' reads", NULL},
	{"push", "other profilers'", "not yet: each recording is a file that 'plumb report' reads", NULL},
	{"live", "profiling.sampling's", LIVE, NULL},
	{"flamegraph", "memray's", "use 'plumb report FILE -o NAME.svg', or 'plumb report FILE --open'", NULL},
	{"trace", "other profilers'", "plumb samples, and traces nothing: use 'plumb run -- PROGRAM ...'", NULL},
	{"profile", "other profilers'", "use 'plumb run -- PROGRAM ...'", NULL},
	{"stat", "perf's", "use 'plumb report FILE'", NULL},
	{"stats", "memray's", "use 'plumb report FILE'", NULL},
	{"summary", "memray's", "use 'plumb report FILE'", NULL},
	{"tree", "memray's", "use 'plumb report FILE -f tree'", NULL},
	{"table", "memray's", "use 'plumb report FILE --top 40'", NULL},
	{"parse", "memray's", "use 'plumb convert FILE OUT -f jsonl'", NULL},
	{"transform", "memray's", "use 'plumb convert FILE OUT'", NULL},
	{"detach", "memray's", "not needed: 'plumb attach PID -d 30' ends by itself, and at Ctrl-C", NULL},
	{"timechart", "perf's", "'plumb report FILE --open' has a timeline", NULL},
	{"annotate", "perf's", "use 'plumb report FILE --lines'", NULL},
	{"script", "perf's", "use 'plumb convert FILE OUT -f perf-script'", NULL},
	{"list", "other profilers'", "use 'plumb report FILE'; 'plumb attach NAME' lists the processes of that name",
	 NULL},
	{"open", "other profilers'", "use 'plumb report FILE --open'", NULL},
	{"html", "other profilers'", "use 'plumb report FILE --html'", NULL},
	{"version", "other profilers'", "use 'plumb --version'", NULL},
	{"completions", "py-spy's", "use 'plumb completion SHELL'", NULL},
	{NULL, NULL, NULL, NULL},
};

/* Rows for one command stand before those for all. */
static const struct foreign *find(const struct foreign *table, const char *name, const char *command)
{
	for (; table->name; table++) {
		if (strcmp(table->name, name) == 0 && (!table->command || strcmp(table->command, command) == 0))
			return table;
	}
	return NULL;
}

const struct foreign *foreign_option(const char *option, const char *command)
{
	return find(foreign_options, option, command);
}

const struct foreign *foreign_command(const char *name)
{
	return find(foreign_commands, name, "");
}
