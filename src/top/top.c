/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: from the options to what runs, and what is told when it is over. */
#include "top.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "arrivals.h"
#include "feed.h"
#include "plain.h"
#include "screen.h"

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

struct plumb_error *top_run(const struct top_options *o, int *status)
{
	struct top_options mine = *o;
	struct feed f;

	mine.unicode = o->unicode && can_unicode();
	struct plumb_error *err = feed_open(&f, &mine);
	if (err)
		return err;
	arrivals_catch();
	int signo = 0;
	if (o->plain || !screen_run(&f, &signo)) {
		if (!o->plain)
			tell(o, "%s: lines are written instead of a screen",
			     "ncurses does not know this terminal (TERM)");
		signo = plain_run(&f);
	}
	err = feed_close(&f, signo);
	*status = signo ? -1 : f.wait_status; /* who ends it himself knows how */
	tell(o, "what the program wrote is in %s", f.output);
	tell(o, "the recording is %s", f.own_output);
	return err;
}
