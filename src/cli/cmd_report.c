/* SPDX-License-Identifier: Apache-2.0 */
/* plumb report: write a recording in any output format. Layer cli. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "term.h"

static const struct opt *const tables[] = {options_rows, options_formats, options_common, NULL};

static const char *const examples[] = {
	"plumb report plumb.app.4242.plumb",
	"the report again; --lines for lines, --threads NAME for some threads",
	"plumb report plumb.app.4242.plumb --json | jq '.functions[:5]'",
	"all figures; 'plumb help formats' lists the formats",
	"plumb report plumb.app.4242.plumb -o app.folded",
	"stacks for flamegraph.pl, speedscope and others",
	NULL,
};

/* Where the report goes. */
struct target {
	const char *path; /* for messages */
	int fd;
};

static bool choose_format(struct config *c, struct failure *why)
{
	if (c->format)
		c->report.format = c->format;
	else if (c->output)
		c->report.format = plumb_format_for_path(c->output);
	if (c->report.format)
		return true;
	return refuse(why,
		      "add '-f NAME'; 'plumb help formats' lists the names and the ends of files that go with them",
		      "the name '%s' does not tell which format to write", c->output);
}

/* -o onto the recording itself would destroy it before it is read again. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool open_target(const struct config *c, const char *recording, struct target *ret, struct failure *why)
{
	*ret = (struct target){.path = "standard output", .fd = STDOUT_FILENO};
	if (!c->output)
		return (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_RDONLY ||
		       refuse(why, "give '-o OUT' to write a file", "cannot write to standard output: it is closed");
	if (is_same_file(recording, c->output))
		return refuse(why, "give another name with '-o'", "'%s' is the recording itself", c->output);
	ret->path = c->output;
	ret->fd = open(c->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return ret->fd >= 0 || refuse(why, "", "cannot write %s: %s", c->output, strerror(errno));
}

/* The text tells all this itself. */
static void warn_incomplete(const struct config *c, const char *path, const struct plumb_recording_info *info)
{
	char message[512];

	if (strcmp(c->report.format, "text") == 0)
		return;
	if (info->damaged_chunks) {
		snprintf(message, sizeof message, "%s: %" PRIu64 " damaged part%s left out", path, info->damaged_chunks,
			 info->damaged_chunks == 1 ? "" : "s");
		complain(message, "");
	}
	if (!info->complete) {
		snprintf(message, sizeof message,
			 "%s is incomplete: the profiler was killed; up to its last second is missing", path);
		complain(message, "");
	}
}

/* The reader of a pipe went away: head(1) and pagers do, and need no message. */
static bool reader_left(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

static int close_target(struct target *t)
{
	struct failure why;

	if (t->fd == STDOUT_FILENO || close(t->fd) == 0)
		return 0;
	refuse(&why, "", "cannot write %s: %s", t->path, strerror(errno));
	return complain_failure(&why);
}

static int write_profile(struct config *c, const struct plumb_profile *p, const char *recording)
{
	struct plumb_error *err;
	struct failure why;
	struct target t;
	int status = 0, closed;

	if (!open_target(c, recording, &t, &why))
		return complain_failure(&why);
	term_look(c, t.fd);
	c->report.recording = recording;
	err = plumb_profile_write(p, &c->report, t.fd);
	if (err && reader_left(t.fd)) {
		plumb_error_destroy(err);
		status = EXIT_OWN_FAILURE;
	} else if (err) {
		status = complain_error(err);
	}
	closed = close_target(&t);
	return status ? status : closed;
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct plumb_recording_info info = {0};
	struct plumb_profile *p;
	struct plumb_error *err;
	struct failure why;
	int status;

	if (!choose_format(c, &why))
		return complain_failure(&why);
	if (c->threads.count) {
		c->report.threads = (const char *const *)c->threads.words;
		c->report.thread_count = c->threads.count;
	}
	if (c->processes.count) {
		c->report.processes = (const char *const *)c->processes.words;
		c->report.process_count = c->processes.count;
	}
	err = plumb_profile_open(argv[0], &info, &p);
	if (err)
		return complain_error(err);
	warn_incomplete(c, argv[0], &info);
	status = write_profile(c, p, argv[0]);
	plumb_profile_destroy(p);
	return status;
}

const struct command command_report = {
	.name = "report",
	.usage = "FILE",
	.summary = "write a recording as text, JSON, Markdown or collapsed stacks",
	.about = "Write the recording FILE to standard output. The exit status is 0, or 125 if that failed.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 1,
	.max_operands = 1,
	.operand = "the name of a recording",
	.run = run,
};
