/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `plumb dump`. Layer cli; data and one-line setters. */
#include <sys/stat.h>

#include "config.h"

static bool set_core(struct config *c, const char *value, struct failure *why)
{
	if (!*value)
		return refuse(why, "", "option '--core' needs the name of a file");
	c->core = value;
	return true;
}

static bool set_root(struct config *c, const char *value, struct failure *why)
{
	struct stat st;

	if (stat(value, &st) != 0 || !S_ISDIR(st.st_mode))
		return refuse(why, "give the directory that was the root of the program", "there is no directory '%s'",
			      value);
	c->dump.root = value;
	return true;
}

static bool set_trust_core(struct config *c, const char *value, struct failure *why)
{
	c->dump.trust_core = true;
	return true;
}

static bool set_locals(struct config *c, const char *value, struct failure *why)
{
	c->dump.locals = true;
	return true;
}

static bool set_native(struct config *c, const char *value, struct failure *why)
{
	c->dump.native = true;
	return true;
}

static bool set_native_all(struct config *c, const char *value, struct failure *why)
{
	c->dump.native_all = true;
	return true;
}

static bool set_kernel(struct config *c, const char *value, struct failure *why)
{
	c->dump.kernel = true;
	return set_native(c, value, why);
}

static bool set_no_source(struct config *c, const char *value, struct failure *why)
{
	c->dump.no_source = true;
	return true;
}

static bool set_timeout(struct config *c, const char *value, struct failure *why)
{
	if (!value_duration(value, &c->dump.limit_ns))
		return refuse(why, "give seconds, as in '--timeout 10' or '--timeout 0.5', or '500ms'",
			      "'%s' is not a duration", value);
	return true;
}

static bool set_never_stop(struct config *c, const char *value, struct failure *why)
{
	c->dump.stop = PLUMB_STOP_NEVER;
	return true;
}

#define READING "Reading the process"
#define OUTPUT	"Output"

const struct opt options_dump[] = {
	{"core", 0, "FILE", "read a core file instead of a process", READING, set_core},
	{"root", 0, "DIR", "with --core: the program's files are below DIR, which was its root directory", READING,
	 set_root},
	{"trust-core", 0, NULL, "with --core: it is not forged; read all files that it names, with your rights",
	 READING, set_trust_core},
	{"threads", 0, "LIST",
	 "only these threads and those that they wait for, by name, id or threading.get_ident(), separated by commas; "
	 "may be repeated",
	 READING, option_set_threads},
	{"locals", 'l', NULL, "show arguments and local variables; values whose names are those of secrets are masked",
	 OUTPUT, set_locals},
	{"native", 'n', NULL, "also show the functions of C, C++ and Rust, between those of Python", OUTPUT,
	 set_native},
	{"native-all", 0, NULL, "the same, with those of the interpreter that only pass calls on; also '--native=all'",
	 OUTPUT, set_native_all},
	{"kernel", 0, NULL,
	 "as --native, and where in the kernel a blocked thread is: its functions for root, else the system call",
	 OUTPUT, set_kernel},
	{"no-source", 0, NULL, "do not show source lines", OUTPUT, set_no_source},
	{"timeout", 0, "TIME", "give up on a process after TIME: seconds (default: 5), or as in 500ms, 2m", READING,
	 set_timeout},
	{"never-stop", 0, NULL, "never stop a thread; what cannot be proved is marked", READING, set_never_stop},
	{NULL, 0, NULL, NULL, NULL, NULL},
};
