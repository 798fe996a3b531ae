/* SPDX-License-Identifier: Apache-2.0 */
/* In plumb: become plumb-top, which needs ncurses, with the same words. Layer cli. It lies beside plumb where both were
 * built, else where it was installed: from plumb first, so that a tree that was moved works. Others may write where
 * plumb lies, as in /tmp, and can put there, by renaming it, also a file of root's: what is run is a file, not a link,
 * where nobody may put another but root and those whose plumb is. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "signals.h"
#include "top_begin.h"
#include "writers.h"

#define OWN_FILE "/proc/self/exe"

/* "/usr/bin/" */
static bool own_folder(char *buf, size_t size)
{
	ssize_t len = readlink(OWN_FILE, buf, size - 1);

	if (len <= 0)
		return false;
	buf[len] = '\0';
	char *slash = strrchr(buf, '/');
	if (slash)
		slash[1] = '\0';
	return slash != NULL;
}

/* Whoever owns plumb's folder, or one above it, can replace plumb itself: what he lays beside it is no less his. In a
 * sticky one others can do that and no more. */
static bool is_trusted(const char *path)
{
	char folder[PATH_MAX];
	struct stat own, around;

	if (stat(OWN_FILE, &own) != 0 || !own_folder(folder, sizeof folder) || stat(folder, &around) != 0)
		return false;
	if (strncmp(path, folder, strlen(folder)) == 0 && !strchr(path + strlen(folder), '/'))
		return nobody_else_writes_beside(path, own.st_uid, own.st_gid) ||
		       nobody_else_writes_beside(path, around.st_uid, around.st_gid);
	return nobody_else_writes(path, own.st_uid, own.st_gid);
}

/* -1: it is not there; *stranger: or others may write there. A link is none to follow: who owns it can turn it. */
static int open_trusted(const char *tried, bool *stranger)
{
	char path[PATH_MAX];
	struct stat st;

	if (lstat(tried, &st) != 0)
		return -1;
	*stranger = !S_ISREG(st.st_mode) || !realpath(tried, path) || !is_trusted(path);
	return *stranger ? -1 : open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/* @p path: of the one that is open, or of one that is not run. */
static int find(char *path, size_t size, bool *stranger)
{
	static const char *const places[] = {"plumb-top", PLUMB_LIBEXEC_FROM_BIN "/plumb-top",
					     PLUMB_LIBEXEC "/plumb-top"};
	char folder[PATH_MAX], tried[2 * PATH_MAX];

	if (!own_folder(folder, sizeof folder))
		return -1;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int len = snprintf(tried, sizeof tried, "%s%s", *places[i] == '/' ? "" : folder, places[i]);
		bool before = *stranger;
		int fd = len > 0 && (size_t)len < sizeof tried ? open_trusted(tried, stranger) : -1;

		if (fd >= 0 || *stranger != before)
			snprintf(path, size, "%s", tried);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static char **words_of(const struct config *c)
{
	static char plumb[] = "plumb";
	size_t count = 0;

	while (c->words && c->words[count])
		count++;
	char **words = calloc(count + 2, sizeof *words);
	if (!words)
		return NULL;
	words[0] = plumb;
	for (size_t i = 0; i < count; i++)
		words[i + 1] = c->words[i];
	return words;
}

int top_begin(const struct command *cmd, struct config *c, int argc, char **argv)
{
	char path[2 * PATH_MAX];
	bool stranger = false;
	struct failure why;
	int fd = find(path, sizeof path, &stranger);

	if (fd < 0 && stranger)
		refuse(&why, "install plumb where nobody else may write",
		       "%s is a link, or others may put another file in its place: it is not run", path);
	else if (fd < 0)
		refuse(&why, "build plumb where libncurses-dev is installed, or use 'plumb attach'",
		       "this plumb was built without its live view");
	if (fd < 0)
		return complain_failure(&why);
	char **words = words_of(c);
	signals_give_back();
	if (words)
		fexecve(fd, words, environ);
	refuse(&why, "", "cannot start %s: %s", path, strerror(errno));
	free(words);
	close(fd);
	return complain_failure(&why);
}
