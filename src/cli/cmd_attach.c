/* SPDX-License-Identifier: Apache-2.0 */
/* plumb attach: sample a running process. Layer cli. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "outcome.h"
#include "signals.h"
#include "status_line.h"
#include "term.h"
#include "which.h"

#define REDRAW_MS 250
#define ASKED_MS  100

static bool set_announce(struct config *c, const char *value, struct failure *why)
{
	c->announce = true;
	return true;
}

static bool set_tags_at(struct config *c, const char *value, struct failure *why)
{
	if (!value_u64(value, &c->session.tags_at))
		return refuse(why, "give an address of the program", "'%s' is not an address", value);
	return true;
}

static bool set_after(struct config *c, const char *value, struct failure *why)
{
	if (!value_u64(value, &c->after))
		return refuse(why, "give the id of a thread", "'%s' is not the id of a thread", value);
	return true;
}

/* Of who starts us, in a thread for that alone, has to know, and has tags: the engine of `import plumb` that is
 * external. */
static const struct opt options_announce[] = {
	{"announce", 0, NULL, NULL, "Output", set_announce},
	{"after", 0, "TID", NULL, "Output", set_after},
	{"tags-at", 0, "ADDRESS", NULL, "Output", set_tags_at},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

static const struct opt *const tables[] = {
	options_called,	 options_sampling, options_rows, options_text,	options_idle,
	options_filters, options_own,	   options_html, options_force, options_quiet,
	options_common,	 options_announce, NULL};

static const char *const examples[] = {
	"plumb attach 4242",
	"until Ctrl-C, or until the process ends",
	"plumb attach app.py",
	"the process that runs the script app.py, if it is the only one; else plumb lists them",
	"plumb attach 4242 -d 10 --mode cpu",
	"ten seconds of CPU time",
	"plumb attach 4242 --subprocesses",
	"with its children, present and future: a server with its workers",
	"plumb attach 4242 4300 4301",
	"several processes in one recording, which knows each of them, until all have ended",
	"plumb attach --name app.py",
	"all processes of that name",
	"plumb attach 4242 --threads worker-1,worker-2 --lines",
	"two of its threads, by line",
	NULL,
};

/* Who has changed its user may not signal us any more, and empties the file that we have announced ourselves in. */
static bool is_told_to_end(const struct config *c)
{
	struct stat st;

	return c->announce && fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

/* Returns for how long it was sampled. Who has it announced has nothing but the recording. */
static uint64_t watch(const struct config *c, struct plumb_session *s)
{
	bool draw = !c->quiet && term_can_redraw(STDERR_FILENO);
	struct plumb_status st = {0};

	while (!st.ended) {
		plumb_session_wait(s, draw ? REDRAW_MS : c->announce ? ASKED_MS : -1, &st);
		if (is_told_to_end(c) || (c->announce && st.unrecorded))
			plumb_session_stop(s);
		if (draw && !st.ended)
			status_line_draw(&st, c->session.duration_ns);
	}
	if (draw)
		status_line_erase();
	return st.elapsed_ns;
}

/* Whoever asked for a time learns that there was less. */
static void tell_early_end(const struct config *c, const struct chosen *chosen, const struct plumb_result *r,
			   uint64_t sampled_ns)
{
	char message[128];

	if (!r->target_ended || c->quiet || sampled_ns >= c->session.duration_ns)
		return;
	snprintf(message, sizeof message, "the process%s ended after %.1f of %.1f s", chosen->count > 1 ? "es" : "",
		 (double)sampled_ns / 1e9, (double)c->session.duration_ns / 1e9);
	complain(message, "");
}

/* The thread that has started us is at its end, and would be sampled. Ten seconds at most: its number may be another's.
 */
static void wait_until_it_has_ended(pid_t pid, uint64_t tid)
{
	struct timespec step = {.tv_nsec = 500000};
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%llu", (int)pid, (unsigned long long)tid);
	for (int i = 0; i < 20000 && access(path, F_OK) == 0; i++)
		nanosleep(&step, NULL);
}

static void send_descriptor(int to, int fd)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof fd)] = {0};
	char byte = 0;
	struct iovec bytes = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
	struct cmsghdr *first = CMSG_FIRSTHDR(&message);

	first->cmsg_level = SOL_SOCKET;
	first->cmsg_type = SCM_RIGHTS;
	first->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(first), &fd, sizeof fd);
	(void)sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Who has given us a socket reads the recording through that, and asks for it by no name: another file may have that by
 * then, and it may have lost the rights to open it. False: it is lost already. */
static bool hand_over_recording(struct plumb_session *s)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) != 0 || !S_ISSOCK(st.st_mode))
		return true;
	int fd = plumb_session_recording(s);
	if (fd < 0)
		return false;
	send_descriptor(STDIN_FILENO, fd);
	close(fd);
	return true;
}

/* On standard output, where attach has nothing else to say. A status that is not 0: nobody can know of it. */
static int announce(struct plumb_session *s)
{
	if (!hand_over_recording(s)) {
		plumb_session_stop(s);
		return 0; /* which the recording will say */
	}
	puts("sampling");
	int status = finish_stdout();
	if (status)
		plumb_session_stop(s);
	return status;
}

/* What was told of each is far above the report. */
static void tell_left_out(const struct config *c, const struct chosen *chosen)
{
	char message[96];

	if (!chosen->failed || c->quiet)
		return;
	snprintf(message, sizeof message, "%d of those that were named could not be sampled; see above",
		 chosen->failed);
	tell_note(NULL, message);
}

static int sample(struct config *c, struct chosen *chosen, struct second_output *second)
{
	struct plumb_session *s;
	struct plumb_result result = {0};

	c->session.refused = which_refused;
	c->session.refused_ctx = chosen;
	struct plumb_error *err = plumb_session_attach_all(&c->session, chosen->pids, (size_t)chosen->count, &s);
	uint64_t sampled_ns;
	int status, announced = 0;

	if (err)
		return complain_error(err);
	signals_for_attach();
	signals_watch(s);
	if (c->announce)
		announced = announce(s);
	sampled_ns = watch(c, s);
	status = outcome_tell(c, s, second, &result);
	tell_early_end(c, chosen, &result, sampled_ns);
	tell_left_out(c, chosen);
	signals_watch(NULL);
	plumb_session_destroy(s);
	if (!result.found_python && !status) {
		complain("nothing to report: the process ran no Python that plumb can sample", "");
		status = EXIT_OWN_FAILURE;
	}
	return status ? status : announced;
}

static int attach(struct config *c, struct chosen *chosen)
{
	struct second_output second;
	struct failure why;

	if (!chosen->count)
		return EXIT_OWN_FAILURE;
	if (!outcome_prepare(c, &second, &why))
		return complain_failure(&why);
	if (c->after)
		wait_until_it_has_ended(chosen->pids[0], c->after);
	signals_before_attach();
	int status = sample(c, chosen, &second);
	outcome_discard(&second);
	return status;
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct chosen chosen;
	struct failure why;

	if (!argc && !c->names.count) {
		refuse(&why, "usage: plumb attach PID|NAME..., or plumb attach --name NAME",
		       "attach needs the id or the name of a process");
		return complain_failure(&why);
	}
	int status = which_processes(cmd, argc, argv, &c->names, &chosen);
	if (status)
		return status;
	status = attach(c, &chosen);
	free(chosen.pids);
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.usage = "PID|NAME... | --name NAME",
	.summary = "sample a running process, or several",
	.about = "Sample a running Python process until Ctrl-C, until -d TIME is over, or until it ends. NAME is that "
		 "of "
		 "its script, of its module (python -m) or of its program; if there is more than one of that name, "
		 "plumb "
		 "lists them and samples none, but with --name all of them. Several processes are in one recording, "
		 "which knows each of them, until all have ended; one that cannot be sampled is told and left out. The "
		 "processes are "
		 "left as they were found. Writes to standard error and saves a recording, plumb.PROG.PID.plumb. The "
		 "exit "
		 "status is 0, or 125 if plumb failed.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 0,
	.max_operands = -1,
	.operand = "the id or the name of a process",
	.run = run,
};
