/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: a frame. A header of four lines, the rows, a line for what was done or can be. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ui.h"
#include "cell_text.h"
#include "flame.h"

#define LINE_BYTES   2048
#define REASONS	     3 /* of waits, of which each has this part or more */
#define LEAST_REASON 0.01

static const char *const view_names[VIEWS] = {"functions", "tree", "threads", "lines", "flame", "tasks", "diff", "out"};

static void put_line(const struct ui *ui, int row, int width, enum tone tone, const char *raw)
{
	char text[LINE_BYTES];

	cell_fit(raw, ui->feed->o->unicode, width, false, text, sizeof text);
	terminal_put(row, 0, tone, tone == TONE_BAR, text);
}

static void add(char *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* To @p buf of LINE_BYTES. */
static void add(char *buf, const char *fmt, ...)
{
	size_t len = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + len, LINE_BYTES - len, fmt, ap);
	va_end(ap);
}

/* What stands in the place of the process when there is none. */
static const char *no_process(const struct ui *ui)
{
	if (ui->feed->recording)
		return ui->feed->o->recording;
	if (ui->states || *ui->thread || *ui->module || *ui->focus || *ui->tag)
		return "(no sample passes the filters)";
	return "(no Python seen yet)";
}

static void draw_program(const struct ui *ui, int width)
{
	const struct look *l = &ui->feed->look;
	char line[LINE_BYTES] = "", time[24];

	if (ui->feed->still)
		add(line, "%s %s  ", ui->feed->session ? "PAUSED at" : "at", cell_time(feed_shown_ns(ui->feed), time));
	else
		add(line, "plumb top  ");
	if (l->process.pid)
		add(line, "%.200s %d", l->process.name, l->process.pid);
	else
		add(line, "%.200s", no_process(ui));
	if (l->info.processes > 1)
		add(line, " and %" PRIu32 " more", l->info.processes - 1);
	if (l->process.pid && *l->process.python)
		add(line, "  CPython %.40s", l->process.python);
	add(line, "  %s", l->info.mode ? l->info.mode : "");
	if (l->info.period_ns)
		add(line, " %.0f Hz", 1e9 / (double)l->info.period_ns);
	if (ui->states)
		add(line, "  %s only", state_choices[ui->states].name);
	if (*ui->thread)
		add(line, "  thread %.60s", ui->thread);
	if (*ui->module)
		add(line, "  module %.60s", ui->module);
	if (*ui->focus)
		add(line, "  like %.60s", ui->focus);
	if (*ui->tag)
		add(line, "  label %.60s", ui->tag);
	put_line(ui, 0, width, TONE_STRONG, line);
}

static void add_losses(char *line, const struct look *l)
{
	char percent[16];
	uint64_t lost = l->info.unreadable + l->info.queue + l->info.folded;

	if (l->totals.missed >= 0.001)
		add(line, "  missed %s %%", cell_percent(l->totals.missed, percent));
	if (lost)
		add(line, "  lost %" PRIu64, lost);
}

static void draw_totals(const struct ui *ui, int width)
{
	const struct look *l = &ui->feed->look;
	const struct plumb_view_totals *t = &l->totals, *now = &l->recent_totals;
	char line[LINE_BYTES] = "", time[24], percent[16];

	add(line, "%s  %" PRIu64 " samples  %" PRIu32 " thread%s", cell_time(l->info.duration_ns, time), t->samples,
	    t->threads, t->threads == 1 ? "" : "s");
	if (now->samples)
		add(line, "  5 s: on CPU %s %%", cell_percent(now->on_cpu_share, percent));
	if (t->samples)
		add(line, "  all: %s %%", cell_percent(t->on_cpu_share, percent));
	if (t->gil_held > 0)
		add(line, "  GIL held %s %%", cell_percent(t->gil_held, percent));
	add_losses(line, l);
	put_line(ui, 1, width, TONE_PLAIN, line);
}

/* What is waited for now, as far as there is room. */
static void add_waits(char *line, const struct look *l)
{
	const struct plumb_view *v = l->recent ? l->recent : l->all;
	struct plumb_view_reason r = {.size = sizeof r};
	char percent[16];

	for (size_t i = 0; i < REASONS && plumb_view_reason_at(v, i, &r) && r.of_waiting >= LEAST_REASON; i++)
		add(line, "%s %s %s %%", i ? "," : "  waited:", r.text, cell_percent(r.of_waiting, percent));
}

static void draw_sentence(const struct ui *ui, int width)
{
	const char *sentence = ui->feed->look.sentence;
	char line[LINE_BYTES] = "";

	add(line, "%.400s", *sentence ? sentence : "nothing stands out as wrong");
	add_waits(line, &ui->feed->look);
	put_line(ui, 2, width, *sentence ? TONE_WARN : TONE_FAINT, line);
}

int ui_views(const struct ui *ui)
{
	return ui->feed->launched ? VIEWS : VIEW_OUTPUT;
}

static int name_tab(const struct ui *ui, int i, bool all, char *buf, size_t size)
{
	bool named = all || i == (int)ui->view;

	/* All of them fit into 80 columns so. */
	return snprintf(buf, size, named ? " %d %s%s" : " %d ", i + 1, view_names[i], i == VIEW_OUTPUT ? "" : " ");
}

/* On a narrow screen only the one that is shown has a name. */
static void draw_tabs(const struct ui *ui, int width)
{
	char text[32];
	int all = 0;

	for (int i = 0; i < ui_views(ui); i++)
		all += name_tab(ui, i, true, text, sizeof text) + (i > 0);
	for (int i = 0, x = 0; i < ui_views(ui); i++) {
		int len = name_tab(ui, i, all <= width, text, sizeof text);

		terminal_put(3, x, i == (int)ui->view ? TONE_BAR : TONE_FAINT, false, text);
		x += len + 1;
	}
}

static void draw_bottom(const struct ui *ui, int row, int width)
{
	const char *leave = ui->feed->o->choose ? "q back" : "q quit", *state = ui_state(ui);
	char line[LINE_BYTES] = "";

	if (ui->prompt)
		add(line, "%s: %s_", ui_prompt(ui->prompt), ui->typed);
	else if (*ui->message)
		add(line, "%s", ui->message);
	else if (*state)
		add(line, "%s  %s  s save", state, leave);
	else
		add(line, "%s  ? help  Tab view  Enter open  / search  s save", leave);
	put_line(ui, row, width, ui->prompt || *ui->message ? TONE_STRONG : TONE_FAINT, line);
}

static void draw_help(const struct ui *ui, int rows, int width)
{
	static const char *const lines[] = {
		"arrows, pages  move; Home, End; flame: up, down, to the sides",
		"Enter          functions: lines; trees: open or shut; flame: as wide as",
		"               the screen, and back; threads: only this one",
		"/ n            search, next",
		"< >            functions: sort by self or total, of 5 s or of all",
		"c              samples: all, on CPU, waiting, with the GIL, wanting it",
		"a N            functions, trees: own code, all code; native frames on, off",
		"t m F T        only a thread, a module, functions like a regex, a label",
		"+ -            rate up, down",
		"p              pause the screen, and go on; sampling goes on",
		"[ ] { }        pause, and go back or on by a second, by ten",
		"f d            keep a stretch of time: f at both ends; d: what changed",
		"s o            save all as a recording; open it as a page",
		"y e            show file and line, and copy them; open $EDITOR there",
		"q, Ctrl-C      quit; q goes back to the list that it came from",
		"5 s: the last five seconds; the others: since the start. 95 %: half the",
		"width of the interval in which a share is. Any key goes back.",
	};
	int count = (int)(sizeof lines / sizeof *lines), from = UI_HEADER_ROWS + 1;
	char views[64];

	snprintf(views, sizeof views, "1 to %d, Tab    the views", ui_views(ui));
	put_line(ui, UI_HEADER_ROWS, width, TONE_PLAIN, views);
	for (int i = 0; i < count && from + i < rows - 1; i++)
		put_line(ui, from + i, width, TONE_PLAIN, lines[i]);
}

/* Of the thread that is chosen, on a line of its own. */
static bool draw_doing(const struct ui *ui, int row, int width)
{
	const struct row *r = ui->view == VIEW_THREADS ? table_chosen(&ui->tables[VIEW_THREADS]) : NULL;
	struct plumb_dump_thread told = {.size = sizeof told};
	char line[LINE_BYTES] = "";

	if (!r || !r->pid || !waits_of(&ui->waits, r->pid, r->tid, &told))
		return false;
	add(line, "%.200s (%" PRIu64 "): %s", told.name, told.tid, told.doing);
	put_line(ui, row, width, TONE_PLAIN, line);
	return true;
}

static void draw_table(struct ui *ui, int to, int width)
{
	if (to > UI_HEADER_ROWS + 2 && !ui->help && draw_doing(ui, to - 1, width))
		to--;
	table_draw(&ui->tables[ui->view], UI_HEADER_ROWS, to, width, ui->feed->o->unicode);
}

void ui_draw(struct ui *ui)
{
	int rows, width;

	terminal_size(&rows, &width);
	terminal_clear();
	if (ui->feed->look.all) {
		draw_program(ui, width);
		draw_totals(ui, width);
		draw_sentence(ui, width);
	}
	draw_tabs(ui, width);
	if (ui->help)
		draw_help(ui, rows, width);
	else if (ui->view == VIEW_FLAME)
		flame_draw(&ui->tables[VIEW_FLAME], &ui->choice, UI_HEADER_ROWS, rows - 1, width, ui->feed->o->unicode);
	else if (ui->tables[ui->view].columns)
		draw_table(ui, rows - 1, width);
	draw_bottom(ui, rows - 1, width);
	terminal_show();
}

/* While the screen stands still, so does this. */
static void read_output(struct ui *ui)
{
	struct written *w = &ui->written;

	if (!ui->feed->still || !w->text)
		written_read(w, ui->feed->output_fd);
	snprintf(ui->choice.output_title, sizeof ui->choice.output_title,
		 w->size ? "%s, %" PRIu64 " bytes: what it wrote last" : "%s: it has written nothing", ui->feed->output,
		 w->size);
}

void ui_fill(struct ui *ui)
{
	static view_fill_fn *const fill[VIEWS] = {view_functions, view_tree,  view_threads, view_lines,
						  view_flame,	  view_tasks, view_changes, view_output};

	if (!ui->feed->look.all)
		return;
	if (ui->view == VIEW_OUTPUT)
		read_output(ui);
	struct plumb_error *err =
		fill[ui->view](&ui->tables[ui->view], &ui->choice, &ui->feed->look, ui->strips, ui->feed->o->unicode);
	if (err) {
		table_clear(&ui->tables[ui->view]);
		ui_tell_error(ui, err);
	}
}

void ui_tell(struct ui *ui, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ui->message, sizeof ui->message, fmt, ap);
	va_end(ap);
}

void ui_tell_error(struct ui *ui, struct plumb_error *err)
{
	ui_tell(ui, "%s", plumb_error_message(err));
	plumb_error_destroy(err);
}
