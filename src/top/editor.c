/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see editor.h. The name of the file is text of others: it goes to no shell, it must be that of a file, and
 * what an editor may find in files of somebody else, such as commands for itself, is not for root to run. What lies
 * where others may put another file in its place, or one beside it, counts as theirs. */
#include "editor.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal.h"
#include "writers.h"

#define MAX_WORDS 8

extern char **environ;

static bool refuse(char *why, size_t size, const char *what)
{
	snprintf(why, size, "%s", what);
	return false;
}

/* A file system that a program serves (FUSE) says of owners what that program likes. Where all is on such a one, as in
 * some containers, whoever runs it is root there. */
static bool tells_its_owner(const char *path)
{
	struct statfs fs;
	struct stat st, root;

	return statfs(path, &fs) == 0 &&
	       (fs.f_type != FUSE_SUPER_MAGIC ||
		(stat(path, &st) == 0 && stat("/", &root) == 0 && st.st_dev == root.st_dev));
}

/* @p path: the file itself, whatever links @p file leads by. */
static bool may_edit(const char *file, char path[static PATH_MAX], char *why, size_t size)
{
	struct stat st;

	if (file[0] != '/')
		return refuse(why, size, "the editor is not started: the place of the file is not known");
	if (!realpath(file, path) || stat(path, &st) || !S_ISREG(st.st_mode))
		return refuse(why, size, "the editor is not started: there is no such file here");
	if (geteuid() == 0 && !(tells_its_owner(path) && nobody_else_writes(path, 0, 0)))
		return refuse(why, size, "the editor is not started: you are root, and others may replace the file");
	return true;
}

static const char *chosen_editor(void)
{
	const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");

	return visual && *visual ? visual : editor && *editor ? editor : "vi";
}

/* Words with blanks between them. */
static size_t split(char *text, char **words, size_t max)
{
	size_t count = 0;
	char *rest = NULL;

	for (char *word = strtok_r(text, " \t", &rest); word && count < max; word = strtok_r(NULL, " \t", &rest))
		words[count++] = word;
	return count;
}

/* With the signals as a program begins with them. */
static int start(char *const *words, pid_t *pid)
{
	posix_spawnattr_t attributes;
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int failed = posix_spawnp(pid, words[0], NULL, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

/* One that stops, by Ctrl-Z, is let go on: it has the terminal, and nobody else would. */
static void wait_for(pid_t pid)
{
	int status;

	do {
		while (waitpid(pid, &status, WUNTRACED) < 0)
			if (errno != EINTR)
				return;
		if (WIFSTOPPED(status))
			kill(pid, SIGCONT);
	} while (WIFSTOPPED(status));
}

bool editor_open(const char *file, unsigned line, char *why, size_t size)
{
	char command[512], place[24], path[PATH_MAX], *words[MAX_WORDS + 3];
	pid_t pid;

	if (!may_edit(file, path, why, size))
		return false;
	snprintf(command, sizeof command, "%s", chosen_editor());
	size_t count = split(command, words, MAX_WORDS);
	if (!count)
		return refuse(why, size, "the editor is not started: $VISUAL or $EDITOR names none");
	snprintf(place, sizeof place, "+%u", line ? line : 1);
	words[count] = place;
	words[count + 1] = path;
	words[count + 2] = NULL;
	terminal_suspend();
	int failed = start(words, &pid);
	if (!failed)
		wait_for(pid);
	terminal_resume();
	if (failed)
		snprintf(why, size, "the editor %s cannot be started: %s", words[0], strerror(failed));
	return !failed;
}
