/* SPDX-License-Identifier: Apache-2.0 */
/* Showing a file in the user's browser. Layer cli. No shell sees the name. */
#include "browser.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

#define PATIENCE_MS 10000

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

/* The program's parent: it ends at once, or as the program does. */
static _Noreturn void start_and_end(const char *program, const char *path, int tell, bool to_its_end)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		become(program, path, tell);
	close(tell);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	if (child > 0 && to_its_end && (waitpid(child, &status, 0) != child || !WIFEXITED(status)))
		_exit(EXIT_OWN_FAILURE);
	_exit(child < 0 ? EXIT_OWN_FAILURE : WEXITSTATUS(status));
}

/* Whether the parent @p pid says that all is well; so it is with one that says nothing for 10 s. */
static bool ended_well(pid_t pid)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int status = 0;

	if (end.fd < 0 || poll(&end, 1, PATIENCE_MS) != 0)
		waitpid(pid, &status, 0);
	if (end.fd >= 0)
		close(end.fd);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A child of a child: it is nobody's to wait for. Whether it runs; @p to_its_end: it has ended well. */
static bool start(const char *program, const char *path, bool to_its_end)
{
	int tell[2], failed;

	if (pipe2(tell, O_CLOEXEC) != 0)
		return false;
	pid_t child = fork();
	if (child == 0)
		start_and_end(program, path, tell[1], to_its_end);
	close(tell[1]);
	bool runs = child > 0 && read(tell[0], &failed, sizeof failed) != sizeof failed;
	close(tell[0]);
	return child > 0 && ended_well(child) && runs;
}

/* Where there is no display xdg-open looks for a browser on the terminal, which it does not get, and ends. Where there
 * is one it may be the browser itself, and end with it. */
static bool start_xdg_open(const char *path)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return start("xdg-open", path, !(x11 && *x11) && !(wayland && *wayland));
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
			if (start(name, path, false))
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
	bool shown = whole && ((wanted && start_one_of(wanted, whole)) || start_xdg_open(whole));

	free(whole);
	return shown ||
	       refuse(why, "open the file in a browser, or name one in BROWSER",
		      on_path("xdg-open") ? "there is no browser to show %s: xdg-open finds none"
					  : "there is no browser to show %s: neither BROWSER nor xdg-open can be run",
		      path);
}
