/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see feed.h. The files that are written, which nobody had before. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "feed.h"

#define NAMES_MAX 1000

struct plumb_error *feed_open_free(int pid, const char *suffix, char *name, size_t size, struct plumb_output **ret)
{
	struct plumb_error *err = NULL;

	for (int number = 1; number <= NAMES_MAX; number++) {
		char counted[16] = "";

		if (number > 1)
			snprintf(counted, sizeof counted, ".%d", number);
		snprintf(name, size, "plumb.top.%d%s.%s", pid, counted, suffix);
		plumb_error_destroy(err);
		err = plumb_output_open(name, PLUMB_OUTPUT_FREE, ret);
		if (plumb_error_code(err) != PLUMB_ERR_EXISTS)
			break;
	}
	if (err)
		name[0] = '\0';
	return err;
}

/* A file of that name, which is *name from then on, with what @p o chooses of @p p. */
static struct plumb_error *write_free(const struct feed *f, const struct plumb_profile *p,
				      const struct plumb_report_options *o, const char *suffix, char *name, size_t size)
{
	char chosen[sizeof f->own_output];
	struct plumb_output *file;
	int pid = f->pid || !f->o->pids ? f->pid : f->o->pids[0]; /* filters may leave nothing */
	struct plumb_error *err = feed_open_free(pid, suffix, chosen, sizeof chosen, &file);

	if (err)
		return err;
	err = plumb_profile_write(p, o, plumb_output_fd(file));
	if (!err)
		err = plumb_output_publish(file);
	else
		plumb_output_discard(file);
	if (!err)
		snprintf(name, size, "%s", chosen);
	return err;
}

struct plumb_error *feed_save(struct feed *f, const char **name)
{
	struct plumb_report_options all = PLUMB_REPORT_OPTIONS_INIT;
	struct plumb_profile *p;

	all.format = "plumb";
	all.idle = PLUMB_IDLE_KEEP;
	*name = f->session ? f->own_output : f->o->recording;
	if (!f->session)
		return NULL;
	struct plumb_error *err = plumb_session_snapshot(f->session, &p);
	if (err)
		return err;
	err = write_free(f, p, &all, "plumb", f->own_output, sizeof f->own_output);
	plumb_profile_destroy(p);
	return err;
}

struct plumb_error *feed_page(struct feed *f, const char **name)
{
	struct plumb_report_options page = f->o->report;
	struct plumb_profile *now = NULL;
	struct plumb_error *err = plumb_format_check("html");

	page.format = "html";
	page.note = NULL; /* the screen is ours */
	*name = f->page;
	if (!err && f->session)
		err = plumb_session_snapshot(f->session, &now);
	if (!err)
		err = write_free(f, now ? now : f->recording, &page, "html", f->page, sizeof f->page);
	plumb_profile_destroy(now);
	return err;
}
