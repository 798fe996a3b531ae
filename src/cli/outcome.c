/* SPDX-License-Identifier: Apache-2.0 */
/* What `run` and `attach` do alike, before and after the sampling. Layer cli. Everything told goes to stderr: stdout is
 * the program's. The recording is complete before anything else is written, so that no later failure costs it. */
#include "outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "page_file.h"
#include "signals.h"
#include "term.h"

static bool open_second(struct second_output *second, struct failure *why)
{
	second->created = access(second->path, F_OK) != 0;
	second->fd = open(second->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (second->fd >= 0)
		return true;
	return refuse(why, "give another place with '-o'", "cannot write %s: %s", second->path, strerror(errno));
}

/* --html or --open: the page is what -o names, or it goes beside the recording. */
static bool wants_page(struct config *c, struct second_output *second, struct failure *why)
{
	const char *format = c->output ? plumb_format_for_path(c->output) : NULL;

	if (!format || strcmp(format, "plumb") == 0)
		second->beside = true;
	else if (strcmp(format, "html") != 0)
		return refuse(why, "leave out '--html', or give a name that ends in .html",
			      "there is one output beside the recording: '%s' is no page", c->output);
	return page_file_check(c, "html", why);
}

bool outcome_prepare(struct config *c, struct second_output *second, struct failure *why)
{
	*second = (struct second_output){.fd = -1};
	config_report(c);
	/* The report is told of threads, too: if there is none of that name, it names those there are. */
	c->session.threads = c->report.threads;
	c->session.thread_count = c->report.thread_count;
	if ((c->format || c->open) && !wants_page(c, second, why))
		return false;
	if (!c->output)
		return true;
	second->format = plumb_format_for_path(c->output);
	if (!second->format || strcmp(second->format, "plumb") == 0) {
		second->format = NULL;
		c->session.output = c->output;
		return true;
	}
	if (!page_file_check(c, second->format, why))
		return false;
	second->path = c->output;
	return open_second(second, why);
}

void outcome_discard(struct second_output *second)
{
	if (second->fd < 0)
		return;
	close(second->fd);
	second->fd = -1;
	if (second->created)
		unlink(second->path);
}

/* The file is cut only now: a session that came to nothing leaves an older one alone. */
static int write_second(struct config *c, const struct plumb_profile *p, struct second_output *second)
{
	struct plumb_report_options o = c->report;
	struct plumb_error *err;
	int fd = second->fd, failed = 0;

	if (fd < 0)
		return 0;
	second->fd = -1;
	o.format = second->format;
	o.note = c->quiet ? NULL : tell_note;
	o.color = false;
	o.width = 0;
	if (ftruncate(fd, 0) != 0 && errno != EINVAL) /* a pipe or a device cannot be cut and need not be */
		failed = errno;
	err = plumb_profile_write(p, &o, fd);
	if (close(fd) != 0 && !err && !failed)
		failed = errno;
	if (failed) {
		struct failure why;

		plumb_error_destroy(err);
		refuse(&why, "", "cannot write %s: %s", second->path, strerror(failed));
		return complain_failure(&why);
	}
	return err ? complain_error(err) : 0;
}

/* Its place is that of the recording, which was written there. */
static bool open_beside(const char *recording, struct second_output *second, struct page_file *page,
			struct failure *why)
{
	if (!page_file_name(recording, ".html", false, page, why))
		return false;
	second->format = "html";
	second->path = page->name;
	return open_second(second, why);
}

static int write_page(struct config *c, const struct plumb_profile *p, const char *recording,
		      struct second_output *second)
{
	struct page_file page = {0};
	struct failure why;
	bool shown = second->beside || (second->format && strcmp(second->format, "html") == 0);

	if (second->beside && !open_beside(recording, second, &page, &why))
		return complain_failure(&why);
	int status = write_second(c, p, second);
	return status || !shown ? status : page_file_show(c, &page);
}

static int write_report(struct config *c, const struct plumb_profile *p, const char *recording)
{
	struct plumb_error *err;

	if (c->quiet)
		return 0;
	term_look(c, STDERR_FILENO);
	c->report.recording = recording;
	c->report.format = "text";
	c->report.note = NULL; /* it is seen what is not in it */
	err = plumb_profile_write(p, &c->report, STDERR_FILENO);
	return err ? complain_error(err) : 0;
}

int outcome_tell(struct config *c, struct plumb_session *s, struct second_output *second, struct plumb_result *ret)
{
	struct plumb_error *err = plumb_session_finish(s, ret);
	const struct plumb_profile *p = plumb_session_profile(s);
	int report = 0, other = 0;

	signals_allow_suspension();
	int status = err ? complain_error(err) : 0;
	if (ret->found_python && p) {
		report = write_report(c, p, ret->recording);
		other = write_page(c, p, ret->recording, second);
	} else {
		outcome_discard(second);
	}
	return status ? status : report ? report : other;
}
