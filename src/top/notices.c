/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: what happened to what is watched, for the last line of the screen. */
#include <stdio.h>
#include <string.h>

#include "ui.h"

#define NS_PER_S 1000000000ull
#define CLOSED	 0.99 /* of the last seconds */

/* Once it was known: another program that a process executes, and processes that come. */
void ui_notice(struct ui *ui)
{
	const struct look *l = &ui->feed->look;
	struct notices *n = &ui->notices;
	bool executed = n->pid && n->pid == l->process.pid && strcmp(n->name, l->process.name) != 0;

	if (!ui->feed->session || !l->process.pid)
		return;
	if (executed)
		ui_tell(ui, "process %d has executed another program: %.200s", l->process.pid, l->process.name);
	else if (n->processes && l->info.processes > n->processes)
		ui_tell(ui, "%u more process%s: %u by now", l->info.processes - n->processes,
			l->info.processes - n->processes == 1 ? "" : "es", l->info.processes);
	n->pid = l->process.pid;
	n->processes = l->info.processes;
	snprintf(n->name, sizeof n->name, "%s", l->process.name);
}

/* In wall mode each thread has samples, whatever it does, as long as it can be read. */
static bool is_silent(const struct feed *f)
{
	struct plumb_profile_info recent;

	if (!f->session || f->still || f->status.ended || !f->status.found_python || !f->look.recent_profile ||
	    f->status.elapsed_ns < (FEED_RECENT_S + 1) * NS_PER_S)
		return false;
	plumb_profile_info(f->look.recent_profile, &recent);
	return !recent.samples && recent.mode && strcmp(recent.mode, "wall") == 0;
}

/* As of a program that has given up rights, or has become somebody else's: its threads are seen, their stacks are not.
 */
static bool is_closed(const struct feed *f)
{
	struct plumb_view_function first = {.size = sizeof first};

	return f->session && !f->still && f->look.recent && f->status.elapsed_ns >= FEED_RECENT_S * NS_PER_S &&
	       plumb_view_function_at(f->look.recent, 0, &first) && first.bare && first.self.share > CLOSED &&
	       strcmp(first.name, "<moving>") == 0;
}

const char *ui_state(const struct ui *ui)
{
	if (ui->feed->session && ui->feed->status.ended)
		return "the program has ended; its figures stay";
	if (is_silent(ui->feed))
		return "no sample for 5 s: it runs no Python now, or may not be read: see 'plumb doctor'";
	if (is_closed(ui->feed))
		return "no stack can be read: 'plumb doctor PID' says whether it may be";
	return "";
}
