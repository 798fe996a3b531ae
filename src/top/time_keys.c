/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: the keys that are about time. */
#include <curses.h>
#include <string.h>

#include "cell_text.h"
#include "ui.h"

#define NS_PER_S 1000000000ll

static void pause_or_go_on(struct ui *ui)
{
	if (ui->feed->still)
		feed_go_on(ui->feed);
	else
		feed_stay(ui->feed);
	strips_show(ui->strips, 0);
	ui->look_again = true;
}

static bool has_times(struct ui *ui)
{
	if (!ui->feed->timed)
		ui_tell(ui, "a time cannot be chosen: the samples of this recording have none");
	return ui->feed->timed;
}

static void step(struct ui *ui, int64_t by_s)
{
	if (!has_times(ui))
		return;
	uint64_t before_ns = feed_shown_ns(ui->feed);
	struct plumb_error *err = feed_step(ui->feed, by_s * NS_PER_S);
	if (err) {
		ui_tell_error(ui, err);
		return;
	}
	uint64_t last_ns = ui->feed->stayed_ns, shown_ns = feed_shown_ns(ui->feed);
	if (before_ns == shown_ns)
		ui_tell(ui, by_s < 0 ? "nothing older is kept" : "nothing newer is known yet");
	strips_show(ui->strips, last_ns > shown_ns ? (last_ns - shown_ns) / (uint64_t)NS_PER_S : 0);
	ui->look_again = true;
}

static void mark(struct ui *ui)
{
	struct changes *c = &ui->changes;
	char from[24], to[24];

	if (!has_times(ui))
		return;
	table_clear(&ui->tables[VIEW_CHANGES]); /* a stretch that ends takes the comparison with it */
	struct plumb_error *err = changes_mark(c, ui->feed);
	if (err)
		ui_tell_error(ui, err);
	else if (c->begun)
		ui_tell(ui, "a stretch begins at %s; f ends it at the time shown then", cell_time(c->begin_ns, from));
	else if (!c->kept)
		ui_tell(ui, "the stretch was too short: f begins one, f at a later time ends it");
	else
		ui_tell(ui, "kept: %s to %s; d compares it with the time shown", cell_time(c->from_ns, from),
			cell_time(c->to_ns, to));
}

void ui_compare(struct ui *ui)
{
	int rows, width;

	table_clear(&ui->tables[VIEW_CHANGES]); /* the rows were of the comparison before, which is gone */
	terminal_size(&rows, &width);
	struct plumb_error *err = changes_compare(&ui->changes, ui->feed, width);
	if (err)
		ui_tell_error(ui, err);
}

static void compare(struct ui *ui)
{
	const struct changes *c = &ui->changes;
	uint64_t from_ns, to_ns;

	if (!has_times(ui))
		return;
	ui->view = VIEW_CHANGES;
	if (!c->kept)
		ui_tell(ui, "nothing is kept to compare with: f begins a stretch of time, f later ends it");
	else if (!changes_against(c, ui->feed, &from_ns, &to_ns))
		ui_tell(ui, "the time shown is within the stretch that is kept");
	else
		ui_compare(ui);
}

bool ui_time_key(struct ui *ui, int key)
{
	switch (key) {
	case 'p':
		pause_or_go_on(ui);
		return true;
	case '[':
	case ']':
		step(ui, key == '[' ? -1 : 1);
		return true;
	case '{':
	case '}':
		step(ui, key == '{' ? -10 : 10);
		return true;
	case KEY_LEFT:
	case KEY_RIGHT:
		if (ui->view == VIEW_TREE || ui->view == VIEW_TASKS)
			return false;
		step(ui, key == KEY_LEFT ? -1 : 1);
		return true;
	case 'f':
		mark(ui);
		return true;
	case 'd':
		compare(ui);
		return true;
	default:
		return false;
	}
}
