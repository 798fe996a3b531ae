/* SPDX-License-Identifier: Apache-2.0 */
/* In plumb: become plumb-top, which needs ncurses, with the same words. Layer cli. It lies beside plumb where both were
 * built, else where it was installed: from plumb first, so that a tree that was moved works. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "signals.h"
#include "top_begin.h"

#define MAX_WORDS 4096

/* "/usr/bin/" */
static bool own_folder(char *buf, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", buf, size - 1);

	if (len <= 0)
		return false;
	buf[len] = '\0';
	char *slash = strrchr(buf, '/');
	if (slash)
		slash[1] = '\0';
	return slash != NULL;
}

static bool find(char *path, size_t size)
{
	static const char *const places[] = {"plumb-top", PLUMB_LIBEXEC_FROM_BIN "/plumb-top",
					     PLUMB_LIBEXEC "/plumb-top"};
	char folder[PATH_MAX];

	if (!own_folder(folder, sizeof folder))
		return false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int len = snprintf(path, size, "%s%s", *places[i] == '/' ? "" : folder, places[i]);

		if (len > 0 && (size_t)len < size && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

int top_begin(const struct command *cmd, struct config *c, int argc, char **argv)
{
	char path[2 * PATH_MAX], plumb[] = "plumb";
	char *words[MAX_WORDS + 2] = {plumb};
	struct failure why;
	int count = 0;

	if (!find(path, sizeof path)) {
		refuse(&why, "build plumb where libncurses-dev is installed, or use 'plumb attach'",
		       "this plumb was built without its live view");
		return complain_failure(&why);
	}
	for (; count < MAX_WORDS && c->words && c->words[count]; count++)
		words[count + 1] = c->words[count];
	signals_give_back();
	execv(path, words);
	refuse(&why, "", "cannot start %s: %s", path, strerror(errno));
	return complain_failure(&why);
}
