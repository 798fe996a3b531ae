/* SPDX-License-Identifier: Apache-2.0 */
/* What the terminal and the environment say about how to write. Layer cli. */
#include "term.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 80
#define MIN_WIDTH     20

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

int term_width(int fd)
{
	struct winsize size;
	int columns;

	if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= MIN_WIDTH)
		return size.ws_col;
	return value_int(env("COLUMNS"), MIN_WIDTH, 1000, &columns) ? columns : DEFAULT_WIDTH;
}

bool term_is_utf8(void)
{
	const char *locale = *env("LC_ALL") ? env("LC_ALL") : *env("LC_CTYPE") ? env("LC_CTYPE") : env("LANG");

	return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

static bool is_dumb(void)
{
	return !*env("TERM") || strcmp(env("TERM"), "dumb") == 0;
}

bool term_color(const struct config *c, int fd)
{
	if (c->color != COLOR_AUTO)
		return c->color == COLOR_ALWAYS;
	if (*env("NO_COLOR"))
		return false;
	if (*env("CLICOLOR_FORCE") && strcmp(env("CLICOLOR_FORCE"), "0") != 0)
		return true;
	return isatty(fd) && !is_dumb();
}

bool term_can_redraw(int fd)
{
	return isatty(fd) && !is_dumb();
}

void term_look(struct config *c, int fd)
{
	c->report.width = c->width ? c->width : term_width(fd);
	c->report.color = term_color(c, fd);
	c->report.ascii = !term_is_utf8();
}
