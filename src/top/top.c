/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: from the options to what runs, and what is told when it is over. */
#include "top.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "arrivals.h"
#include "feed.h"
#include "plain.h"
#include "programs.h"
#include "screen.h"
#include "terminal.h"

static void tell(const struct top_options *o, const char *what, const char *name)
{
	char message[512];

	if (!*name || !o->report.note)
		return;
	snprintf(message, sizeof message, what, name);
	o->report.note(o->report.note_ctx, message);
}

/* Small containers have no locale but that of the C library itself. */
static bool can_unicode(void)
{
	setlocale(LC_CTYPE, "");
	if (MB_CUR_MAX == 1)
		setlocale(LC_CTYPE, "C.UTF-8");
	return MB_CUR_MAX > 1;
}

static void tell_end(const struct top_options *o, const struct feed *f)
{
	tell(o, "process %s goes on without plumb", f->left);
	tell(o, "what the program wrote is in %s", f->output);
	tell(o, "the recording is %s", f->own_output);
	tell(o, "the page is %s", f->page);
}

/* What was chosen from the list, again and again. The terminal is open. */
static void watch_chosen(struct programs *p, struct top_options *o)
{
	o->pids = &o->pid;
	o->pid_count = 1;
	for (bool back = true; back && (o->pid = programs_choose(p));) {
		struct feed f;
		struct plumb_error *err = feed_open(&f, o);
		int signo;

		if (!err) {
			back = screen_run(&f, &signo);
			err = feed_close(&f, 0);
		}
		if (err)
			programs_tell_error(p, err);
	}
}

static struct plumb_error *choose(struct top_options *o)
{
	struct programs p = {.o = o};
	struct plumb_error *err = NULL;

	if (!o->plain && terminal_open(o->color))
		watch_chosen(&p, o);
	else
		err = programs_print(&p);
	terminal_close();
	programs_free(&p);
	return err;
}

static struct plumb_error *watch(const struct top_options *o, int *status)
{
	struct feed f;
	struct plumb_error *err = feed_open(&f, o);
	int signo = 0;

	if (err)
		return err;
	arrivals_catch();
	if (!o->plain && terminal_open(o->color)) {
		screen_run(&f, &signo);
		terminal_close();
	} else {
		if (!o->plain)
			tell(o, "%s: lines are written instead of a screen",
			     "ncurses does not know this terminal (TERM)");
		signo = plain_run(&f);
	}
	err = feed_close(&f, signo);
	*status = signo ? -1 : f.wait_status; /* who ends it himself knows how */
	tell_end(o, &f);
	return err;
}

struct plumb_error *top_run(const struct top_options *o, int *status)
{
	struct top_options mine = *o;

	mine.unicode = o->unicode && can_unicode();
	if (!mine.choose)
		return watch(&mine, status);
	arrivals_catch();
	return choose(&mine);
}
