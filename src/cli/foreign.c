/* SPDX-License-Identifier: Apache-2.0 */
/* Names of other profilers' options and commands: py-spy 0.4, austin 3.7 and 4.1, and CPython 3.15's
 * profiling.sampling. Layer cli; data. A letter that means different things to different tools is answered for each. */
#include "foreign.h"

#include <stddef.h>
#include <string.h>

#define NATIVE	 "not yet: plumb shows Python frames only"
#define CHILDREN "'run' samples the processes that the program starts, too; with 'attach' say '--subprocesses'"
#define MEMORY	 "plumb samples time, not memory"
#define DUMP	 "use 'plumb dump PID'"
#define CORE	 "use 'plumb dump --core FILE'"
#define LOCALS	 "use 'plumb dump PID --locals'"
#define LIVE	 "not yet: 'plumb attach PID' shows the hottest function while it runs"
#define THREADS	 "threads are always told apart; '--threads NAME,TID' picks some, 'plumb report FILE --json' lists all"
#define FOLDED	 "use '-o NAME.folded', or 'plumb report FILE -f collapsed' later"
#define HTML	 "not yet: make stacks with '-o NAME.folded' and open them in speedscope or flamegraph.pl"
#define OTHER	 "not yet: 'plumb help formats' lists the output formats"
#define ATTACH	 "use 'plumb attach PID'"
#define ASYNC	 "not yet: coroutines are shown on the thread that runs them"
#define GC	 "time in the garbage collector is always recorded; the header of the report tells its share"
#define SLEEP	 "use '--mode cpu', or '--skip-idle' to leave waiting out of the report"
#define NO_NEED	 "not needed: a plumb recording is binary, small and always written"

static const struct foreign options[] = {
	{"--pid", "py-spy's", ATTACH},
	{"-p", "py-spy's", ATTACH},
	{"--native", "py-spy's", NATIVE},
	{"-n", "py-spy's", NATIVE},
	{"--nonblocking", "py-spy's", "use '--never-stop'"},
	{"--subprocesses", "py-spy's", CHILDREN},
	{"-s", "py-spy's or austin's", "py-spy's -s (children): " CHILDREN "; austin's -s (sleepless): " SLEEP},
	{"--gil", "py-spy's", "use '--mode gil'"},
	{"-g", "py-spy's or austin's", "py-spy's -g: use '--mode gil'; austin's -g: " GC},
	{"--function", "py-spy's", "use '--functions', which is the default"},
	{"-F", "py-spy's", "use '--functions', which is the default"},
	{"--nolineno", "py-spy's", "use '--functions', which is the default; collapsed stacks always have lines"},
	{"--full-filenames", "py-spy's", "use 'plumb report FILE --names full'"},
	{"--format", "py-spy's", "name the output after its format: '-o NAME.folded'; 'plumb help formats' lists them"},
	{"-f", "py-spy's", "name the output after its format: '-o NAME.folded'; 'plumb help formats' lists them"},
	{"--thread", "py-spy's", THREADS},
	{"-t", "py-spy's or austin's",
	 "py-spy's -t: " THREADS "; austin's -t (timeout): not needed, plumb waits for Python to start"},
	{"-i", "py-spy's or austin's",
	 "py-spy's -i: use '--idle'; austin's -i 100 (microseconds): use '-r 10k' (a rate)"},
	{"--delay", "py-spy's", "not yet: start the program first, then 'plumb attach PID'"},
	{"--core", "py-spy's", CORE},
	{"--locals", "py-spy's", LOCALS},
	{"-l", "py-spy's", LOCALS},
	{"-j", "py-spy's", "use 'plumb report FILE --json'"},
	{"-c", "py-spy's or austin's", "py-spy's -c: " CORE "; austin's -c (CPU time): use '--mode cpu'"},

	{"--interval", "austin's", "use '-r RATE': an interval of 100 us is '-r 10k'"},
	{"--timeout", "austin's", "not needed: plumb waits for Python to start"},
	{"--sleepless", "austin's", SLEEP},
	{"--cpu", "austin's", "use '--mode cpu'"},
	{"--memory", "austin's", MEMORY},
	{"-m", "austin's", MEMORY},
	{"--full", "austin's", MEMORY "; '--mode wall' and '--mode cpu' are two recordings"},
	{"--heap", "austin's", "not needed: plumb grows no heap of its own with the program"},
	{"--gc", "austin's", GC},
	{"--children", "austin's", CHILDREN},
	{"-C", "austin's", CHILDREN},
	{"--exposure", "austin's", "use '-d SECONDS'"},
	{"-x", "austin's", "use '-d SECONDS'"},
	{"--pipe", "austin's", "not needed: standard output stays the program's; " FOLDED},
	{"-P", "austin's", "not needed: standard output stays the program's; " FOLDED},
	{"--where", "austin's", DUMP},
	{"-w", "austin's", DUMP},
	{"--kernel", "austin's", NATIVE},
	{"-k", "austin's", NATIVE},
	{"-b", "austin's", NO_NEED},

	{"--sampling-rate", "profiling.sampling's", "use '-r RATE'"},
	{"--all-threads", "profiling.sampling's",
	 "all threads are sampled; '--idle' shows those that did nothing, too"},
	{"-a", "profiling.sampling's", "all threads are sampled; '--idle' shows those that did nothing, too"},
	{"--blocking", "profiling.sampling's", "use '--always-stop'"},
	{"--live", "profiling.sampling's", LIVE},
	{"--async-aware", "profiling.sampling's", ASYNC},
	{"--async-mode", "profiling.sampling's", ASYNC},
	{"--no-gc", "profiling.sampling's", GC},
	{"--opcodes", "profiling.sampling's", "not yet: '--lines' is as fine as it gets"},
	{"--collapsed", "profiling.sampling's", FOLDED},
	{"--flamegraph", "profiling.sampling's", HTML},
	{"--heatmap", "profiling.sampling's", HTML},
	{"--diff-flamegraph", "profiling.sampling's", HTML},
	{"--gecko", "profiling.sampling's", OTHER},
	{"--pstats", "profiling.sampling's", OTHER},
	{"--jsonl", "profiling.sampling's", "use 'plumb report FILE --json'"},
	{"--binary", "profiling.sampling's", NO_NEED},
	{"--compression", "profiling.sampling's", NO_NEED},
	{"--browser", "profiling.sampling's", HTML},
	{"--realtime-stats", "profiling.sampling's", LIVE},
	{"--sort", "profiling.sampling's", "the report sorts by self time; 'plumb report FILE --json' has all figures"},
	{"--limit", "profiling.sampling's", "the report has 25 lines; 'plumb report FILE --json' has all of it"},
	{"--no-summary", "profiling.sampling's", "use '--quiet'"},
	{"--no-color", "other tools'", "use '--color never'"},
	{"--colour", "other tools'", "use '--color'"},
	{NULL, NULL, NULL},
};

static const struct foreign commands_elsewhere[] = {
	{"record", "py-spy's",
	 "use 'plumb run -- PROGRAM ...' to start a program, 'plumb attach PID' for a running one"},
	{"top", "py-spy's", LIVE},
	{"where", "austin's", DUMP},
	{"start", "other profilers'", "use 'plumb run -- PROGRAM ...'"},
	{"replay", "profiling.sampling's", "use 'plumb report FILE'"},
	{"show", "other profilers'", "use 'plumb report FILE'"},
	{"view", "other profilers'", "use 'plumb report FILE'"},
	{"export", "other profilers'", "use 'plumb report FILE -f FORMAT -o OUT'"},
	{"diff", "other profilers'", "not yet: compare two 'plumb report FILE --markdown' side by side"},
	{"serve", "other profilers'", "not yet: each recording is a file that 'plumb report' reads"},
	{"push", "other profilers'", "not yet: each recording is a file that 'plumb report' reads"},
	{"version", "other profilers'", "use 'plumb --version'"},
	{"completions", "py-spy's", "use 'plumb completion SHELL'"},
	{NULL, NULL, NULL},
};

static const struct foreign *find(const struct foreign *table, const char *name)
{
	for (; table->name; table++) {
		if (strcmp(table->name, name) == 0)
			return table;
	}
	return NULL;
}

const struct foreign *foreign_option(const char *option)
{
	return find(options, option);
}

const struct foreign *foreign_command(const char *name)
{
	return find(commands_elsewhere, name);
}
