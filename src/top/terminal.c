/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see terminal.h. The one file that knows ncurses. Keys come raw: Ctrl-C and Ctrl-Z are keys. */
#include "terminal.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clipboard.h"

#define ESCAPE_MS 25
#define CTRL_Z	  26
#define COPY_MAX  4096 /* bytes of what is written to copy something */

static struct {
	SCREEN *screen;
	FILE *in, *out;
	bool color;
	int clicked, clicked_column;
} terminal;

static attr_t attributes(enum tone tone)
{
	static const attr_t plain[] = {[TONE_HOT] = A_BOLD,
				       [TONE_WARN] = A_BOLD,
				       [TONE_STRONG] = A_BOLD,
				       [TONE_FAINT] = 0,
				       [TONE_BAR] = A_REVERSE};
	static const short pairs[] = {[TONE_HOT] = 1, [TONE_WARN] = 2, [TONE_FAINT] = 3, [TONE_BAR] = 0};
	attr_t a = tone == TONE_PLAIN ? A_NORMAL : plain[tone];

	if (terminal.color && (tone == TONE_HOT || tone == TONE_WARN || tone == TONE_FAINT))
		a |= COLOR_PAIR(pairs[tone]);
	return a;
}

static void begin_colors(bool color)
{
	terminal.color = color && has_colors() && start_color() == OK && use_default_colors() == OK;
	if (!terminal.color)
		return;
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_YELLOW, -1);
	init_pair(3, COLOR_CYAN, -1);
}

/* Keys come from the terminal also where standard input is something else. */
static FILE *open_keys(void)
{
	int fd = isatty(STDIN_FILENO) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open("/dev/tty", O_RDWR | O_CLOEXEC);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

static FILE *open_screen(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

bool terminal_open(bool color)
{
	terminal.in = open_keys();
	terminal.out = open_screen();
	if (terminal.in && terminal.out)
		terminal.screen = newterm(NULL, terminal.out, terminal.in);
	if (!terminal.screen)
		return false;
	set_escdelay(ESCAPE_MS);
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	timeout(0);
	curs_set(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0); /* a press is an event, not the beginning of a click */
	begin_colors(color);
	return true;
}

void terminal_close(void)
{
	if (terminal.screen) {
		endwin();
		delscreen(terminal.screen);
	}
	if (terminal.in)
		fclose(terminal.in);
	if (terminal.out)
		fclose(terminal.out);
	memset(&terminal, 0, sizeof terminal);
}

int terminal_fd(void)
{
	return fileno(terminal.in);
}

/* Whoever reports the wheel another way reports none. */
static int mouse_key(void)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return 0;
	if (event.bstate & BUTTON4_PRESSED)
		return KEY_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return KEY_DOWN;
	terminal.clicked = event.y;
	terminal.clicked_column = event.x;
	return event.bstate & BUTTON1_PRESSED ? KEY_MOUSE : 0;
}

int terminal_clicked(int *column)
{
	*column = terminal.clicked_column;
	return terminal.clicked;
}

int terminal_key(void)
{
	int key;

	do
		key = getch();
	while (key == KEY_RESIZE); /* what resizeterm() leaves behind was typed by nobody */
	if (key == KEY_MOUSE)
		return mouse_key();
	if (key == KEY_SUSPEND) /* what some terminals call it */
		return CTRL_Z;
	return key == ERR ? -1 : key;
}

void terminal_size(int *rows, int *columns)
{
	getmaxyx(stdscr, *rows, *columns);
}

void terminal_resized(void)
{
	struct winsize size;

	if (ioctl(fileno(terminal.out), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
	clearok(stdscr, TRUE);
}

void terminal_suspend(void)
{
	endwin();
}

void terminal_resume(void)
{
	terminal_resized();
	refresh();
}

void terminal_clear(void)
{
	erase();
}

void terminal_put(int row, int column, enum tone tone, bool reversed, const char *text)
{
	int rows, columns;

	getmaxyx(stdscr, rows, columns);
	if (row < 0 || row >= rows || column < 0 || column >= columns)
		return;
	attrset(attributes(tone) | (reversed ? A_REVERSE : 0));
	mvaddstr(row, column, text);
	attrset(A_NORMAL);
}

void terminal_mark(int row)
{
	mvchgat(row, 0, -1, A_REVERSE, 0, NULL);
}

void terminal_show(void)
{
	refresh();
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* ncurses has written all of its own by now: it does so when it shows something. */
void terminal_copy(const char *text)
{
	const char *name = getenv("TERM");
	bool in_screen = is_set("STY") && !is_set("TMUX");
	char sequence[COPY_MAX];

	if (!name || !clipboard_sequence(text, name, in_screen, sequence, sizeof sequence))
		return;
	for (size_t at = 0, len = strlen(sequence); at < len;) {
		ssize_t n = write(fileno(terminal.out), sequence + at, len - at);

		if (n < 0 && errno != EINTR)
			return;
		at += n > 0 ? (size_t)n : 0;
	}
}
