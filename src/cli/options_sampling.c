/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `plumb run` and `plumb attach`: what is sampled, and how. Layer cli; data and one-line setters. */
#include <math.h>
#include <string.h>

#include "config.h"

const char *const option_modes[] = {
#define PLUMB_MODE(name, word, ...) [PLUMB_MODE_##name] = word,
#include <plumb/words.def>
	NULL};

static bool set_duration(struct config *c, const char *value, struct failure *why)
{
	if (!value_duration(value, &c->session.duration_ns))
		return refuse(why, "give seconds, as in '-d 10' or '-d 0.5', or '500ms', '2m', '1h30m'",
			      "'%s' is not a duration", value);
	return true;
}

static bool set_until(struct config *c, const char *value, struct failure *why)
{
	if (!value_percent(value, &c->session.until))
		return refuse(why, "give points from 0.01 to 100, as in '--until 1%'", "'%s' is not a percentage",
			      value);
	return true;
}

static bool set_rate(struct config *c, const char *value, struct failure *why)
{
	c->rate_given = true;
	if (!value_rate(value, &c->session.rate_hz))
		return refuse(why,
			      "give samples per second from 0.01 to 1000000, as in '-r 1000', '-r 1k' or '-r 100hz', "
			      "or 'max'",
			      "'%s' is not a sampling rate", value);
	return true;
}

static bool set_max_overhead(struct config *c, const char *value, struct failure *why)
{
	if (strcmp(value, "none") == 0)
		c->session.max_overhead = INFINITY;
	else if (!value_percent(value, &c->session.max_overhead))
		return refuse(why, "give percent from 0.01 to 100, as in '--max-overhead 1', or 'none'",
			      "'%s' is not a percentage", value);
	return true;
}

static bool set_priority(struct config *c, const char *value, struct failure *why)
{
	c->session.priority = true;
	return true;
}

static bool set_max_nodes(struct config *c, const char *value, struct failure *why)
{
	uint64_t n;

	if (!value_u64(value, &n) || n == 0 || n > UINT32_MAX / 8)
		return refuse(why, "give a whole number, as in '--max-nodes 1000000'", "'%s' is not a number of places",
			      value);
	c->session.max_nodes = (size_t)n;
	return true;
}

static bool set_mode(struct config *c, const char *value, struct failure *why)
{
	int mode = value_word(value, option_modes);

	if (mode < 0 && strcmp(value, "exception") == 0)
		return refuse(why, "the modes are wall, cpu and gil",
			      "profiling.sampling's mode '%s' is not in plumb yet", value);
	if (mode < 0)
		return refuse(why, "the modes are wall, cpu and gil", "there is no mode '%s'", value);
	c->session.mode = (enum plumb_mode)mode;
	return true;
}

/* Which there are the session knows. */
static bool set_engine(struct config *c, const char *value, struct failure *why)
{
	c->session.engine = value;
	return true;
}

static bool set_subprocesses(struct config *c, const char *value, struct failure *why)
{
	c->session.subprocesses = PLUMB_SUBPROCESSES_YES;
	return true;
}

static bool set_no_subprocesses(struct config *c, const char *value, struct failure *why)
{
	c->session.subprocesses = PLUMB_SUBPROCESSES_NO;
	return true;
}

static bool set_opcodes(struct config *c, const char *value, struct failure *why)
{
	c->session.opcodes = true;
	return true;
}

static bool set_tasks(struct config *c, const char *value, struct failure *why)
{
	c->session.tasks = true;
	return true;
}

static bool set_native(struct config *c, const char *value, struct failure *why)
{
	if (c->session.native == PLUMB_NATIVE_NONE)
		c->session.native = PLUMB_NATIVE_CALLED;
	return true;
}

static bool set_native_all(struct config *c, const char *value, struct failure *why)
{
	c->session.native = PLUMB_NATIVE_ALL;
	return true;
}

static bool set_native_leaf(struct config *c, const char *value, struct failure *why)
{
	c->session.native = PLUMB_NATIVE_LEAF;
	return true;
}

static bool set_kernel(struct config *c, const char *value, struct failure *why)
{
	c->session.kernel = true;
	return set_native(c, value, why);
}

static bool set_native_threads(struct config *c, const char *value, struct failure *why)
{
	c->session.native_threads = true;
	return set_native(c, value, why);
}

static bool set_no_sources(struct config *c, const char *value, struct failure *why)
{
	c->session.no_sources = true;
	return true;
}

static bool set_no_jitter(struct config *c, const char *value, struct failure *why)
{
	c->session.no_jitter = true;
	return true;
}

static bool set_seed(struct config *c, const char *value, struct failure *why)
{
	if (!value_u64(value, &c->session.seed))
		return refuse(why, "give a whole number from 0 to 18446744073709551615", "'%s' is not a seed", value);
	c->session.has_seed = true;
	return true;
}

static bool set_never_stop(struct config *c, const char *value, struct failure *why)
{
	c->session.stop = PLUMB_STOP_NEVER;
	return true;
}

static bool set_always_stop(struct config *c, const char *value, struct failure *why)
{
	c->session.stop = PLUMB_STOP_ALWAYS;
	return true;
}

#define SAMPLING "Sampling"
#define STOPPING "Stopping the program's threads"

static bool set_name(struct config *c, const char *value, struct failure *why)
{
	if (*value == '\0' || !word_list_add_whole(&c->names, value))
		return refuse(why, "give the name of a script, of a module (python -m) or of a program",
			      "'%s' names no process", value);
	return true;
}

const struct opt options_called[] = {
	{"name", 0, "NAME",
	 "all processes of that name, in one recording: of their script, their module (python -m) or their program; "
	 "may "
	 "be repeated",
	 SAMPLING, set_name},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

const struct opt options_sampling[] = {
	{"rate", 'r', "RATE", "samples per second and thread: 1000 (the default; of top 100), 1k, 100hz, or max",
	 SAMPLING, set_rate},
	{"duration", 'd', "TIME", "end the sampling, not the program, after TIME: seconds, or as in 500ms, 2m, 1h30m",
	 SAMPLING, set_duration},
	{"until", 0, "PERCENT",
	 "end the sampling, not the program, when the shares in the report's tree are known to within PERCENT points",
	 SAMPLING, set_until},
	{"max-overhead", 0, "PERCENT",
	 "lower the rate where sampling holds the program up, or plumb computes, for more than PERCENT of the time; "
	 "none: never. Default: 2.5 for the program (no limit with --always-stop, nor with --never-stop -r max), 20 "
	 "for plumb's samples (no limit with '-r max')",
	 SAMPLING, set_max_overhead},
	{"priority", 0, NULL,
	 "sample before other programs, at nice -10 (root, or CAP_SYS_NICE): fewer samples are missed on a busy "
	 "machine, at the expense of the others",
	 SAMPLING, set_priority},
	{"max-nodes", 0, "N",
	 "tell at most N different places in stacks apart (default: 4194304); those beyond count at the outer part of "
	 "their stack, with a frame <folded>. It limits plumb's memory",
	 SAMPLING, set_max_nodes},
	{"mode", 0, "MODE", "wall: all time (the default); cpu: time on a CPU; gil: time holding the GIL", SAMPLING,
	 set_mode},
	{"threads", 0, "LIST", "only these threads, by name or id, separated by commas; may be repeated", SAMPLING,
	 option_set_threads},
	{"opcodes", 0, NULL,
	 "record which instruction each frame runs, as the interpreter has specialised it (Python 3.11 and newer)",
	 SAMPLING, set_opcodes},
	{"tasks", 0, NULL,
	 "show what an asyncio task does below the coroutines that await it, across tasks, instead of below the event "
	 "loop that runs it; and for how long tasks wait, where and what for (Python 3.7 and newer)",
	 SAMPLING, set_tasks},
	{"native", 'n', NULL,
	 "show the functions of C, C++ and Rust, too, between those of Python; each thread that runs is stopped for "
	 "its "
	 "sample",
	 SAMPLING, set_native},
	{"native-all", 0, NULL,
	 "the same, and what in the interpreter only passes calls on; also '--native=all'. That is recorded in any "
	 "case: 'plumb report --native all' shows it later",
	 SAMPLING, set_native_all},
	{"native-leaf", 0, NULL, "the same, only those that no Python function is inside of; also '--native=leaf'",
	 SAMPLING, set_native_leaf},
	{"native-callable", 0, NULL, "the same as --native; also '--native=callable'", SAMPLING, set_native},
	{"kernel", 0, NULL,
	 "as --native, and where in the kernel threads are that wait: its functions for root, else the system call",
	 SAMPLING, set_kernel},
	{"native-threads", 0, NULL,
	 "as --native, and the threads that run no Python, too: those of OpenBLAS, OpenMP, Rust's runtimes; also "
	 "'--native=threads'",
	 SAMPLING, set_native_threads},
	{"subprocesses", 0, NULL, "sample the processes that the program starts, too (the default of run)", SAMPLING,
	 set_subprocesses},
	{"no-subprocesses", 0, NULL, "sample only the program's own process (the default of attach)", SAMPLING,
	 set_no_subprocesses},
	{"output", 'o', "FILE",
	 "write the recording to FILE instead of plumb.PROG.PID.plumb; if FILE has the ending of an output format "
	 "(x.folded, x.json), it gets that format, and the recording its usual name",
	 SAMPLING, option_set_output},
	{"no-sources", 0, NULL, "do not keep the text of the sampled source files in the recording", SAMPLING,
	 set_no_sources},
	{"engine", 0, "NAME",
	 "what takes the samples: remote, which reads the program's memory from outside; auto (the default): whatever "
	 "can do what is asked for",
	 SAMPLING, set_engine},
	{"no-jitter", 0, NULL, "sample in the middle of each period instead of at a random point of it", SAMPLING,
	 set_no_jitter},
	{"seed", 0, "N", "seed of those random points, to repeat a recording", SAMPLING, set_seed},
	{"never-stop", 0, NULL,
	 "never stop a thread; one whose stack changes is read from its own processor, and what cannot be proved is "
	 "counted as doubtful or partial",
	 STOPPING, set_never_stop},
	{"always-stop", 0, NULL,
	 "stop each running thread at each sample (default: only where it must be, for 2.5 % of the time at most)",
	 STOPPING, set_always_stop},
	{NULL, 0, NULL, NULL, NULL, NULL},
};
