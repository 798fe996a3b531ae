/* SPDX-License-Identifier: Apache-2.0 */
/* Showing a file in the user's browser. Layer cli. No shell sees the name. */
#include "browser.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

/* In a process of its own: become @p program, away from our terminal. What failed goes to @p tell. */
static _Noreturn void become(const char *program, const char *path, int tell)
{
	char *const argv[] = {(char *)program, (char *)path, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null >= 0; fd++)
		dup2(null, fd);
	signals_give_back();
	execvp(program, argv);
	int failed = errno;
	(void)!write(tell, &failed, sizeof failed);
	_exit(EXIT_PROGRAM_NOT_FOUND);
}

/* A child of a child: it is nobody's to wait for. Returns the errno of the exec; 0: it runs. */
static int start(const char *program, const char *path)
{
	int tell[2], failed = 0;

	if (pipe2(tell, O_CLOEXEC) != 0)
		return errno;
	pid_t child = fork();
	if (child == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0)
			become(program, path, tell[1]);
		_exit(grandchild < 0 ? EXIT_OWN_FAILURE : 0);
	}
	close(tell[1]);
	if (child < 0 || read(tell[0], &failed, sizeof failed) != sizeof failed)
		failed = child < 0 ? EAGAIN : 0;
	close(tell[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return failed;
}

/* The programs of a list with colons between them, in turn. */
static bool start_one_of(const char *list, const char *path)
{
	char name[PATH_MAX];

	while (*list) {
		size_t len = strcspn(list, ":");

		if (len > 0 && len < sizeof name) {
			memcpy(name, list, len);
			name[len] = '\0';
			if (start(name, path) == 0)
				return true;
		}
		list += len + (list[len] == ':');
	}
	return false;
}

static bool on_path(const char *program)
{
	const char *path = getenv("PATH");
	char name[PATH_MAX];

	while (path && *path) {
		int len = (int)strcspn(path, ":");

		if (snprintf(name, sizeof name, "%.*s/%s", len, path, program) < (int)sizeof name &&
		    access(name, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

bool browser_likely(void)
{
	const char *wanted = getenv("BROWSER");

	return (wanted && *wanted) || on_path("xdg-open");
}

bool browser_open(const char *path, struct failure *why)
{
	const char *wanted = getenv("BROWSER");
	char *whole = realpath(path, NULL);
	bool shown = whole && ((wanted && start_one_of(wanted, whole)) || start("xdg-open", whole) == 0);

	free(whole);
	return shown || refuse(why, "open the file in a browser, or name one in BROWSER",
			       "there is no browser to show %s: neither BROWSER nor xdg-open can be run", path);
}
