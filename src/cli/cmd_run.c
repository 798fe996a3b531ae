/* SPDX-License-Identifier: Apache-2.0 */
/* plumb run: start a program and sample it. Layer cli. */
#include <sys/wait.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init.h"
#include "outcome.h"
#include "signals.h"

static const struct opt *const tables[] = {options_sampling, options_rows,   options_text, options_idle,
					   options_filters,  options_own,    options_html, options_force,
					   options_quiet,    options_common, NULL};

#define LOOK_MS 1000

static const char *const examples[] = {
	"plumb run -- python app.py --port 80",
	"the report comes when the program ends, or at Ctrl-C",
	"plumb run -d 30 -- python -m http.server",
	"sample for 30 seconds; the program goes on",
	"plumb run --no-subprocesses -- python pool.py",
	"the program's own process, not those that it starts",
	"plumb run -o app.folded -- ./start.sh",
	"any command that runs Python; also stacks for flamegraph.pl",
	NULL,
};

int program_exit_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return EXIT_SIGNAL_BASE + WTERMSIG(wait_status);
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EXIT_OWN_FAILURE;
}

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), end_len = strlen(end);

	return len >= end_len && strcmp(s + len - end_len, end) == 0;
}

int complain_launch(struct plumb_error *err, const char *program)
{
	enum plumb_error_code code = plumb_error_code(err);
	char hint[256];
	int status = code == PLUMB_ERR_NOT_FOUND	? EXIT_PROGRAM_NOT_FOUND
		     : code == PLUMB_ERR_NOT_EXECUTABLE ? EXIT_NOT_EXECUTABLE
							: EXIT_OWN_FAILURE;

	if (status == EXIT_OWN_FAILURE || !ends_with(program, ".py"))
		return complain_error(err), status;
	snprintf(hint, sizeof hint, "to run a script, name its interpreter: plumb run -- python %s", program);
	complain(plumb_error_message(err), hint);
	plumb_error_destroy(err);
	return status;
}

static void tell_no_python(int argc, char **argv)
{
	char command[256], message[512];
	size_t at = 0;

	for (int i = 0; i < argc && at < sizeof command; i++)
		at += (size_t)snprintf(command + at, sizeof command - at, "%s%s", i ? " " : "", argv[i]);
	snprintf(message, sizeof message, "nothing to report: no Python that plumb can sample ran in '%s%s'", command,
		 at < sizeof command ? "" : "...");
	complain(message, "");
}

/* The program may outlive the sampling (-d); its status is ours all the same. */
static int end_of_program(struct plumb_session *s, const struct plumb_result *r)
{
	if (r->target_ended)
		return program_exit_status(r->wait_status);
	return program_exit_status(plumb_session_reap(s));
}

/* A shell would say so, had it started the program itself. Nobody wonders about an end that he asked for, or a reader.
 */
static void tell_signal(const struct config *c, const struct plumb_result *r)
{
	char message[128];
	int signo = r->target_ended && WIFSIGNALED(r->wait_status) ? WTERMSIG(r->wait_status) : 0;

	if (!signo || signo == SIGINT || signo == SIGPIPE || c->quiet)
		return;
	snprintf(message, sizeof message, "the program was killed by signal %d (%.60s)", signo, strsignal(signo));
	complain(message, "");
}

/* Who sits at a terminal sees that it is sampled, and what will come of it. */
static void tell_begin(const struct config *c)
{
	char message[PATH_MAX + 80], limit[40] = "";

	if (c->quiet || !isatty(STDERR_FILENO))
		return;
	if (c->session.duration_ns)
		snprintf(limit, sizeof limit, " for %g s", (double)c->session.duration_ns / 1e9);
	snprintf(message, sizeof message, "sampling%s into %s; the report comes at the end", limit,
		 c->session.output ? c->session.output : "plumb.PROG.PID.plumb");
	tell_note(NULL, message);
}

/* Who waits for more than the program should know what for. */
static void wait_end(struct plumb_session *s)
{
	struct plumb_status st = {0};
	bool told = false, waiting = false;
	char message[160];

	while (!st.ended) {
		waiting = st.program_ended;
		plumb_session_wait(s, LOOK_MS, &st);
		if (st.program_ended)
			signals_tell_group_of_hangup();
		if (st.ended || told || !waiting)
			continue;
		snprintf(message, sizeof message,
			 "the program has ended; sampling goes on for %" PRIu64 " process%s that it left", st.processes,
			 st.processes == 1 ? "" : "es");
		complain(message, "Ctrl-C ends the sampling; '--no-subprocesses' samples the program alone");
		told = true;
	}
}

static int sample(struct config *c, int argc, char **argv, struct second_output *second)
{
	struct plumb_session *s;
	struct plumb_result result = {0};
	struct plumb_error *err = plumb_session_launch(&c->session, argv, &s);
	int failed, status;

	if (err)
		return complain_launch(err, argv[0]);
	signals_watch(s);
	tell_begin(c);
	wait_end(s);
	failed = outcome_tell(c, s, second, &result);
	tell_signal(c, &result);
	if (!result.found_python)
		tell_no_python(argc, argv);
	status = end_of_program(s, &result);
	signals_watch(NULL);
	plumb_session_destroy(s);
	/* What the program says matters more to a script; only a success is not told when ours was none. */
	return status ? status : failed;
}

static int run_and_tell(struct config *c, int argc, char **argv)
{
	struct second_output second;
	struct failure why;
	int status;

	if (!outcome_prepare(c, &second, &why))
		return complain_failure(&why);
	c->session.signals = signals_inherited();
	signals_for_run();
	status = sample(c, argc, argv, &second);
	outcome_discard(&second);
	return status;
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct failure why;
	pid_t other = init_fork();

	if (other == 0)
		return run_and_tell(c, argc, argv);
	if (other > 0)
		return program_exit_status(init_look_after(other));
	refuse(&why, "", "cannot start a process: %s", strerror(errno));
	return complain_failure(&why);
}

const struct command command_run = {
	.name = "run",
	.usage = "[--] PROGRAM [ARG...]",
	.summary = "start a program and sample it until it ends",
	.about = "Start PROGRAM with its arguments and sample the Python in it, and in the processes that it starts, "
		 "from "
		 "the first moment. The program keeps its "
		 "standard input and output; plumb writes to standard error and saves a recording, "
		 "plumb.PROG.PID.plumb. "
		 "The exit status is the program's own (128+N for signal N); 125 if plumb failed, 126 if PROGRAM "
		 "cannot be "
		 "executed, 127 if there is none. Ctrl-C and signals to plumb go to the program.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_PROGRAM,
	.min_operands = 1,
	.max_operands = -1,
	.operand = "a program to run",
	.run = run,
};
