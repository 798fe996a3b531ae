/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see screen.h. The loop: a signal, a key or a second that has passed; then a frame, if anything changed. */
#include "screen.h"

#include <signal.h>
#include <string.h>

#include "arrivals.h"
#include "terminal.h"
#include "ui.h"

#define PERIOD_MS 1000
#define FIRST_MS  250 /* the first looks come sooner: there is something to see at once */
#define FIRST	  3

static void suspend(struct ui *ui)
{
	terminal_suspend();
	feed_stand_still(ui->feed);
	terminal_resume();
}

static void take_signals(struct ui *ui)
{
	bool by_terminal;

	for (int signo; (signo = arrivals_signal(&by_terminal));) {
		if (arrivals_ends(signo)) {
			ui->over = true;
			ui->signo = by_terminal ? 0 : signo;
		} else if (signo == SIGTSTP) {
			suspend(ui);
		} else {
			terminal_resized(); /* SIGCONT: whatever was done to it meanwhile */
			if (ui->view == VIEW_CHANGES)
				ui_compare(ui);
		}
		ui->stale = true;
	}
}

#define CTRL(c) ((c)&0x1f)

static void take_keys(struct ui *ui)
{
	for (int key; !ui->over && (key = terminal_key()) >= 0; ui->stale = true) {
		if (key == CTRL('Z'))
			suspend(ui);
		else
			ui_key(ui, key);
	}
}

static void look(struct ui *ui, bool whole_period)
{
	struct plumb_error *err = feed_refresh(ui->feed);

	if (err) {
		ui_tell_error(ui, err);
		return;
	}
	ui_notice(ui);
	for (int i = 0; i < VIEWS; i++)
		table_clear(&ui->tables[i]); /* the rows were of the look before, which is gone */
	if (whole_period && !ui->feed->still && ui->feed->look.second)
		strips_add(ui->strips, ui->feed->look.second);
}

/* What is known of now is nothing that was then. */
static bool waits_can_be_told(const struct feed *f)
{
	return f->session && !f->status.ended && (!f->still || f->shown_ns == f->stayed_ns);
}

/* Of the threads that are shown, if they are and it is time to. */
static void ask_waits(struct ui *ui)
{
	const struct table *t = &ui->tables[VIEW_THREADS];
	struct waits_thread threads[WAITS_MAX];
	size_t count = 0;
	int rows, width;

	if (!waits_can_be_told(ui->feed)) {
		waits_forget(&ui->waits);
		ui_fill(ui);
	}
	if (ui->view != VIEW_THREADS || !waits_can_be_told(ui->feed) || ui->feed->still || !waits_due(&ui->waits))
		return;
	terminal_size(&rows, &width);
	for (size_t i = t->scroll; i < t->count && i < t->scroll + (size_t)rows && count < WAITS_MAX; i++)
		if (t->rows[i].pid)
			threads[count++] = (struct waits_thread){t->rows[i].pid, t->rows[i].tid};
	waits_ask(&ui->waits, threads, count);
	ui_fill(ui);
}

static void run(struct ui *ui)
{
	uint64_t next = arrivals_now_ms();
	int looks = 0;

	while (!ui->over) {
		uint64_t now = arrivals_now_ms();

		if (ui->look_again || (now >= next && !ui->feed->still)) {
			bool timely = now >= next;

			look(ui, timely && looks >= FIRST && ui->feed->session && !ui->feed->status.ended);
			ui->stale = true;
			ui->look_again = false;
			if (timely)
				next = now + (looks++ < FIRST ? FIRST_MS : PERIOD_MS);
		}
		if (ui->stale) {
			ui_fill(ui);
			ask_waits(ui);
			ui_draw(ui);
			ui->stale = false;
		}
		now = arrivals_now_ms();
		if (!arrivals_wait(terminal_fd(), ui->feed->still ? PERIOD_MS : next > now ? (int)(next - now) : 0))
			ui->over = true;
		take_signals(ui);
		take_keys(ui);
	}
}

bool screen_run(struct feed *f, int *signo)
{
	struct ui ui = {.feed = f, .rate_hz = f->o->session.rate_hz, .strips = strips_create()};

	ui.choice.changes = &ui.changes;
	ui.choice.waits = &ui.waits;
	ui.choice.written = &ui.written;
	if (ui.strips)
		run(&ui);
	for (int i = 0; i < VIEWS; i++)
		table_free(&ui.tables[i]);
	choice_free(&ui.choice);
	changes_free(&ui.changes);
	waits_forget(&ui.waits);
	written_free(&ui.written);
	strips_destroy(ui.strips);
	*signo = ui.signo;
	return ui.left;
}
