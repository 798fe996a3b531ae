/* SPDX-License-Identifier: Apache-2.0 */
/* In plumb-top: what is to be watched, and how. Layer cli. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "browser.h"
#include "config.h"
#include "signals.h"
#include "term.h"
#include "top.h"
#include "top_begin.h"
#include "which.h"

#define USUAL_HZ 100.0 /* it may run for days */

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), end_len = strlen(end);

	return len >= end_len && strcmp(s + len - end_len, end) == 0;
}

/* "app.py" is a process, also where a file has that name. */
static bool is_recording(const char *operand)
{
	static const char magic[] = "plumb";
	char begin[sizeof magic] = "";
	struct stat st;

	if (ends_with(operand, ".plumb"))
		return true;
	if (stat(operand, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	int fd = open(operand, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); /* be it a pipe by now, or have a lease */
	if (fd < 0)
		return false;
	bool is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		  pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin && memcmp(begin, magic, sizeof magic) == 0;
	close(fd);
	return is;
}

static bool names_a_recording(const struct config *c, bool named, struct failure *why)
{
	const char *format = c->output ? plumb_format_for_path(c->output) : NULL;

	if (c->output && !named)
		return refuse(why, "name the process, too", "-o is the recording of one process, and none is named");
	if (!format || strcmp(format, "plumb") == 0)
		return true;
	return refuse(why, "'plumb convert' writes other formats of a recording",
		      "top records, and '%s' is no recording", c->output);
}

static bool are_ids(int argc, char **argv)
{
	int pid;

	for (int i = 0; i < argc; i++)
		if (!value_pid(argv[i], &pid))
			return false;
	return true;
}

/* A program that is not behind '--' has operands, too. */
static bool check_operands(const struct config *c, int argc, char **argv, struct failure *why)
{
	if (!names_a_recording(c, argc || c->names.count, why))
		return false;
	if (c->split == 0 && argc == 0)
		return refuse(why, "to start a program: plumb top -- PROGRAM [ARG...]",
			      "there is no program behind '--'");
	if (c->split == 0 && c->names.count)
		return refuse(why, "leave out one of them", "top does not take '--name' beside a program");
	if (c->split != 0 && argc > 1 && !are_ids(argc, argv))
		return refuse(why, "to start a program: plumb top -- PROGRAM [ARG...]",
			      "top does not take '%s' beside '%s'", argv[1], argv[0]);
	return true;
}

/* Fill in what is watched. Returns 0 or the exit status. */
static int choose(const struct command *cmd, struct config *c, int argc, char **argv, struct top_options *o,
		  struct chosen *chosen)
{
	struct failure why;

	if (!check_operands(c, argc, argv, &why))
		return complain_failure(&why);
	if (c->split == 0) {
		o->program = argv;
		return 0;
	}
	o->choose = argc == 0 && !c->names.count;
	if (argc == 1 && is_recording(argv[0]))
		o->recording = argv[0];
	if (o->choose || o->recording)
		return 0;
	int status = which_processes(cmd, argc, argv, &c->names, chosen);
	if (status)
		return status;
	o->pids = chosen->pids;
	o->pid_count = (size_t)chosen->count;
	return chosen->count ? 0 : EXIT_OWN_FAILURE;
}

static void prepare(struct config *c)
{
	config_report(c);
	if (!c->rate_given)
		c->session.rate_hz = USUAL_HZ;
	c->session.threads = c->report.threads;
	c->session.thread_count = c->report.thread_count;
	c->session.own = (const char *const *)c->own.words;
	c->session.own_count = c->own.count;
	c->session.output = c->output;
	c->session.signals = signals_inherited();
}

static int complain_begin(struct plumb_error *err, const struct top_options *o)
{
	if (o->program)
		return complain_launch(err, o->program[0]);
	return o->recording ? complain_input_error(err) : complain_error(err);
}

static bool browse(const char *path, char *why, size_t size)
{
	struct failure failure = {.message = ""};
	bool ok = browser_open(path, &failure);

	snprintf(why, size, "%s", failure.message);
	return ok;
}

static int watch(struct config *c, struct top_options o)
{
	int wait_status = -1;

	prepare(c);
	o.session = c->session;
	o.report = c->report;
	o.plain = c->plain || !term_can_redraw(STDOUT_FILENO);
	o.color = term_color(c, STDOUT_FILENO);
	o.unicode = term_is_utf8();
	o.browse = browse;
	if (o.program)
		signals_hold_suspension();
	else
		signals_before_attach();
	struct plumb_error *err = top_run(&o, &wait_status);
	if (err)
		return complain_begin(err, &o);
	return wait_status < 0 ? finish_stdout() : program_exit_status(wait_status);
}

int top_begin(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct top_options o = {0};
	struct chosen chosen = {0};
	int status = choose(cmd, c, argc, argv, &o, &chosen);

	prctl(PR_SET_NAME, "plumb-top"); /* it was executed without a name */
	c->session.refused = which_refused;
	c->session.refused_ctx = &chosen;
	if (!status)
		status = watch(c, o);
	free(chosen.pids);
	return status;
}
