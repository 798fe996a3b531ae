/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: what keys do. */
#include <curses.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell_text.h"
#include "editor.h"
#include "flame.h"
#include "move.h"
#include "ui.h"

#define CTRL(c)	  ((c)&0x1f)
#define ESCAPE	  27
#define LEAST_HZ  1
#define MOST_HZ	  10000
#define PAGE_LESS 8 /* rows that are none of the table's */

static struct table *table_of(struct ui *ui)
{
	return &ui->tables[ui->view];
}

static void show(struct ui *ui, enum view view)
{
	const struct row *r = table_chosen(table_of(ui));

	if (view == VIEW_LINES && ui->view != VIEW_LINES && r && r->has_function)
		choice_function(&ui->choice, &r->function);
	ui->view = view;
	ui_fill(ui); /* more keys may come before it is drawn */
}

static void open_row(struct ui *ui)
{
	const struct row *r = table_chosen(table_of(ui));

	if (!r)
		return;
	switch (ui->view) {
	case VIEW_FUNCTIONS:
		show(ui, VIEW_LINES);
		break;
	case VIEW_TREE:
	case VIEW_TASKS:
		if (r->has_children)
			shut_turn(&ui->choice.shut, r->key);
		break;
	case VIEW_THREADS:
		ui_only_thread(ui, *ui->thread ? "" : r->figures[3]);
		break;
	default:
		break;
	}
}

/* Right opens, left shuts. */
static void turn_row(struct ui *ui, bool open)
{
	const struct row *r = table_chosen(table_of(ui));

	if ((ui->view == VIEW_TREE || ui->view == VIEW_TASKS) && r && r->has_children && r->open != open)
		shut_turn(&ui->choice.shut, r->key);
}

static void change_rate(struct ui *ui, double by)
{
	double rate = ui->rate_hz * by;
	struct plumb_error *err;

	if (!ui->feed->session || rate < LEAST_HZ || rate > MOST_HZ)
		return;
	err = plumb_session_set_rate(ui->feed->session, rate);
	if (err) {
		ui_tell_error(ui, err);
		return;
	}
	ui->rate_hz = rate;
	ui_tell(ui, "%.0f samples per second and thread", rate);
}

static void save(struct ui *ui)
{
	const char *name;
	struct plumb_error *err = feed_save(ui->feed, &name);

	if (err)
		ui_tell_error(ui, err);
	else
		ui_tell(ui, ui->feed->session ? "saved %s" : "it is %s already", name);
}

/* Whoever pastes it into a shell is as safe as the screen is; what is too long to be shown is not copied. */
static void copy_place(struct ui *ui)
{
	const struct row *r = table_chosen(table_of(ui));
	char place[sizeof ui->message] = "", text[4 * sizeof place]; /* a byte becomes "\xff" */
	int len = 0;

	if (ui->view == VIEW_LINES && r && ui->choice.file)
		len = snprintf(place, sizeof place, "%s:%s", ui->choice.file, r->figures[3]);
	else if (r && r->has_function && !r->function.bare)
		len = snprintf(place, sizeof place, "%s:%" PRIu32, r->function.file, r->function.firstline);
	ui_tell(ui, "%s", place);
	if (len < 1 || (size_t)len >= sizeof place)
		return;
	cell_fit(place, ui->feed->o->unicode, sizeof text, false, text, sizeof text);
	terminal_copy(text);
}

static void edit(struct ui *ui)
{
	const struct row *r = table_chosen(table_of(ui));
	char why[256];
	bool ok = true;

	if (ui->view == VIEW_LINES && r && ui->choice.file)
		ok = editor_open(ui->choice.file, (unsigned)strtoul(r->figures[3], NULL, 10), why, sizeof why);
	else if (r && r->has_function && !r->function.bare)
		ok = editor_open(r->function.file, r->function.firstline, why, sizeof why);
	if (!ok)
		ui_tell(ui, "%s", why);
}

/* Who has the GIL while others want it is to blame, who wants it suffers. */
const struct state_choice state_choices[] = {
	{0, ""},
	{PLUMB_DOING_ON_CPU, "on CPU"},
	{PLUMB_DOING_WAITING, "waiting"},
	{PLUMB_DOING_GIL, "holding the GIL"},
	{PLUMB_DOING_WANTS_GIL, "waiting for the GIL"},
};

static void change_states(struct ui *ui)
{
	ui->states = (ui->states + 1) % (sizeof state_choices / sizeof *state_choices);
	feed_only_states(ui->feed, state_choices[ui->states].states);
	ui->look_again = true;
}

/* Functions are all at first, trees the program's own. */
static void turn_own(struct ui *ui)
{
	bool *turned = ui->view == VIEW_FUNCTIONS ? &ui->choice.own_functions : &ui->choice.all_code;

	*turned = !*turned;
}

static void turn_native(struct ui *ui)
{
	const struct top_options *o = ui->feed->o;

	if (ui->feed->session && o->session.native == PLUMB_NATIVE_NONE) {
		ui_tell(ui, "native frames are not sampled: 'plumb top --native' does");
		return;
	}
	ui->no_native = !ui->no_native;
	feed_only_kinds(ui->feed, ui->no_native ? PLUMB_KIND_PYTHON | PLUMB_KIND_TASK | PLUMB_KIND_MARKER : 0);
	ui_tell(ui, ui->no_native ? "native frames are left out" : "native frames are shown");
	ui->look_again = true;
}

static void show_page(struct ui *ui)
{
	const char *name;
	char why[256] = "";
	struct plumb_error *err = feed_page(ui->feed, &name);

	if (err)
		ui_tell_error(ui, err);
	else if (ui->feed->o->browse(name, why, sizeof why))
		ui_tell(ui, "the page is %s", name);
	else
		ui_tell(ui, "%s", why);
}

static void quit(struct ui *ui, bool left)
{
	ui->over = true;
	ui->left = left;
	ui->signo = SIGINT; /* as Ctrl-C means to a program that was started here */
}

static bool moves(struct ui *ui, int key)
{
	int rows, columns;

	terminal_size(&rows, &columns);
	int column, row = key == KEY_MOUSE ? terminal_clicked(&column) - UI_HEADER_ROWS : 0;
	if (key == KEY_MOUSE && ui->view == VIEW_FLAME)
		flame_choose_at(table_of(ui), &ui->choice, row, column, columns);
	else if (key == KEY_MOUSE)
		table_choose_line(table_of(ui), row);
	if (key == KEY_MOUSE || (ui->view == VIEW_FLAME && flame_key(table_of(ui), &ui->choice, key)))
		return true;
	return move_by_key(table_of(ui), key, rows > PAGE_LESS ? rows - PAGE_LESS : 1);
}

static bool changes_view(struct ui *ui, int key)
{
	if (key == '\t')
		show(ui, (enum view)((ui->view + 1) % ui_views(ui)));
	else if (key == KEY_BTAB)
		show(ui, (enum view)((ui->view + ui_views(ui) - 1) % ui_views(ui)));
	else if (key >= '1' && key < '1' + ui_views(ui))
		show(ui, (enum view)(key - '1'));
	else
		return false;
	return true;
}

static void act(struct ui *ui, int key)
{
	switch (key) {
	case 'q':
	case CTRL('C'):
		quit(ui, key == 'q');
		break;
	case '?':
	case 'h':
		ui->help = true;
		break;
	case '\r':
	case '\n':
	case KEY_ENTER:
		open_row(ui);
		break;
	case KEY_RIGHT:
	case KEY_LEFT:
		turn_row(ui, key == KEY_RIGHT);
		break;
	case ESCAPE:
		if (ui->view == VIEW_LINES)
			show(ui, VIEW_FUNCTIONS);
		break;
	case 's':
		save(ui);
		break;
	case 'y':
		copy_place(ui);
		break;
	case 'e':
		edit(ui);
		break;
	case 'o':
		show_page(ui);
		break;
	case '>':
		ui->choice.order = (enum order)((ui->choice.order + 1) % ORDERS);
		break;
	case '<':
		ui->choice.order = (enum order)((ui->choice.order + ORDERS - 1) % ORDERS);
		break;
	case 'N':
		turn_native(ui);
		break;
	case 'c':
		change_states(ui);
		break;
	case 'a':
		turn_own(ui);
		break;
	case 't':
		ui_ask(ui, PROMPT_THREAD);
		break;
	case 'm':
		ui_ask(ui, PROMPT_MODULE);
		break;
	case 'F':
		ui_ask(ui, PROMPT_FOCUS);
		break;
	case 'T':
		ui_ask(ui, PROMPT_TAG);
		break;
	case '/':
		ui_ask(ui, PROMPT_SEARCH);
		break;
	case 'n':
		ui_search(ui);
		break;
	case '+':
		change_rate(ui, 2);
		break;
	case '-':
		change_rate(ui, 0.5);
		break;
	case CTRL('L'):
		terminal_resized();
		break;
	default:
		break;
	}
}

void ui_key(struct ui *ui, int key)
{
	ui->message[0] = '\0';
	if (ui->prompt) {
		ui_type(ui, key);
	} else if (ui->help) {
		ui->help = false;
		if (key == 'q' || key == CTRL('C'))
			quit(ui, key == 'q');
	} else if (!moves(ui, key) && !ui_time_key(ui, key) && !changes_view(ui, key)) {
		act(ui, key);
	}
}
