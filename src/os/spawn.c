/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a program as a shell would (layer os). Call it from one thread at a time. Everything that allocates happens
 * before fork: between fork and exec the child only makes system calls. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define SHELL	     "/bin/sh"

extern char **environ;

/* What the child needs. */
struct plan {
	char *text;	   /* the paths to try, one behind the other, then "" */
	char *const *argv; /* the caller's */
	char **shell_argv; /* /bin/sh PATH ARGS..., for a script without "#!"; [1] is filled in by the child */
	const struct plumb_signals *signals; /* the caller's */
};

/* What the child reports when nothing could be executed: sent through a pipe that a successful exec closes. */
struct failure {
	int errnum;
	ptrdiff_t path; /* the file that was there, as an offset in plan.text; -1: there was none */
};

/* Append "dir/name" and its NUL; an empty dir is the current one. */
static char *add_path(char *out, const char *dir, size_t dir_len, const char *name)
{
	if (dir_len) {
		memcpy(out, dir, dir_len);
		out += dir_len;
		*out++ = '/';
	}
	return stpcpy(out, name) + 1;
}

/* All the files that @p name can mean, in order. */
static char *list_paths(const char *name)
{
	const char *path = getenv("PATH");
	path = path && *path ? path : DEFAULT_PATH;
	size_t entries = 1, name_len = strlen(name);
	for (const char *p = path; *p; p++)
		entries += *p == ':';
	char *text = malloc(strlen(path) + entries * (name_len + 2) + 2), *out = text;
	if (!text)
		return NULL;
	if (strchr(name, '/')) {
		out = add_path(out, "", 0, name);
	} else {
		for (const char *p = path; name_len; p++) {
			size_t len = strcspn(p, ":");
			out = add_path(out, p, len, name);
			p += len;
			if (!*p)
				break;
		}
	}
	*out = '\0';
	return text;
}

static bool plan_init(struct plan *p, char *const argv[], const struct plumb_signals *signals)
{
	size_t n = 0;
	while (argv[n])
		n++;
	*p = (struct plan){.argv = argv,
			   .text = list_paths(argv[0]),
			   .shell_argv = calloc(n + 2, sizeof(char *)),
			   .signals = signals};
	if (!p->text || !p->shell_argv)
		return false;
	p->shell_argv[0] = (char *)SHELL;
	for (size_t i = 1; i < n; i++)
		p->shell_argv[i + 1] = argv[i];
	return true;
}

static void plan_deinit(struct plan *p)
{
	free(p->text);
	free(p->shell_argv);
}

/* A handler of ours is replaced before the mask lets it run in the child, where it would speak for us. */
static void set_signals(const struct plumb_signals *wanted)
{
	struct sigaction action = {0};
	for (int signo = 1; signo < NSIG; signo++) {
		action.sa_handler = sigismember(&wanted->ignored, signo) > 0 ? SIG_IGN : SIG_DFL;
		(void)sigaction(signo, &action, NULL); /* SIGKILL and SIGSTOP are what they are */
	}
	sigprocmask(SIG_SETMASK, &wanted->blocked, NULL);
}

/* A shell runs a file without "#!" that the kernel refuses, unless its first line looks like a binary. */
static bool looks_like_script(const char *path)
{
	char head[128];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n && head[i] != '\n'; i++)
		if (head[i] == '\0')
			return false;
	return n >= 0;
}

/* Try one file; returns errno. */
static int exec_one(const struct plan *p, char *path)
{
	execve(path, p->argv, environ);
	int errnum = errno;
	if (errnum == ENOEXEC && looks_like_script(path)) {
		p->shell_argv[1] = path;
		execve(SHELL, p->shell_argv, environ);
	}
	return errnum;
}

/* In the child. Like a shell: in PATH the first file that may be executed counts, whatever comes of it; one that may
 * not is passed over, but remembered. */
static struct failure exec_any(const struct plan *p)
{
	struct stat st;
	struct failure f = {.errnum = ENOENT, .path = -1};
	bool named = strchr(p->argv[0], '/') != NULL;
	for (char *path = p->text; *path; path += strlen(path) + 1) {
		int errnum = exec_one(p, path);
		bool there = stat(path, &st) == 0;
		bool decided = there && errnum != EACCES;
		if (f.path < 0 || decided)
			f.errnum = errnum;
		if (there && (f.path < 0 || decided))
			f.path = path - p->text;
		if (decided)
			return f;
	}
	if (!named && f.path < 0)
		f.errnum = ENOENT; /* a folder of PATH that we may not search does not make the command "forbidden" */
	return f;
}

static _Noreturn void child(const struct plan *p, int report)
{
	set_signals(p->signals);
	struct failure f = exec_any(p);
	ssize_t n = write(report, &f, sizeof f);
	_exit(n == sizeof f ? 126 : 127); /* nobody sees it: the parent reaps us and speaks for us */
}

static struct plumb_error *not_found(const char *name, int errnum)
{
	if (!strchr(name, '/'))
		return pl_error_hint(pl_error(PLUMB_ERR_NOT_FOUND, "there is no command '%s'", name),
				     "check its name and PATH; a file in the current directory is called ./NAME");
	if (errnum == ENOENT || errnum == ENOTDIR)
		return pl_error(PLUMB_ERR_NOT_FOUND, "there is no file '%s'", name);
	return pl_error_errno(PLUMB_ERR_NOT_EXECUTABLE, errnum, "'%s' cannot be executed", name);
}

/* The file is there, and the kernel answers "no such file": it means the program that should run it. Shells say 127
 * too. */
static struct plumb_error *no_interpreter(const char *path)
{
	char head[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
	if (fd >= 0)
		close(fd);
	if (n < 2 || strncmp(head, "#!", 2) != 0)
		return pl_error(PLUMB_ERR_NOT_FOUND, "the loader that '%s' asks for does not exist", path);
	char *interpreter = head + 2 + strspn(head + 2, " \t");
	interpreter[strcspn(interpreter, " \t\r\n")] = '\0';
	return pl_error(PLUMB_ERR_NOT_FOUND, "the interpreter of '%s' does not exist: %s", path, interpreter);
}

static struct plumb_error *explain(const struct plan *p, const struct failure *f)
{
	struct stat st;
	if (f->path < 0)
		return not_found(p->argv[0], f->errnum);
	const char *path = p->text + f->path;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return pl_error(PLUMB_ERR_NOT_EXECUTABLE, "'%s' is a directory", path);
	if (f->errnum == ENOENT)
		return no_interpreter(path);
	if (f->errnum == EACCES)
		return pl_error_hint(
			pl_error(PLUMB_ERR_NOT_EXECUTABLE, "'%s' may not be executed: permission denied", path),
			"make it executable (chmod +x), or name the interpreter: plumb run -- python3 FILE");
	if (f->errnum == ENOEXEC)
		return pl_error(PLUMB_ERR_NOT_EXECUTABLE, "'%s' is in no format that this machine can execute", path);
	return pl_error_errno(PLUMB_ERR_NOT_EXECUTABLE, f->errnum, "'%s' cannot be executed", path);
}

/* Wait for the exec: the pipe then ends without a word. */
static struct plumb_error *await_exec(const struct plan *p, pid_t pid, int report)
{
	struct failure f;
	ssize_t n;
	do
		n = read(report, &f, sizeof f);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return NULL;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (n != sizeof f)
		return pl_error(PLUMB_ERR_SYSTEM, "cannot start '%s': the new process broke off", p->argv[0]);
	return explain(p, &f);
}

static struct plumb_error *start(const struct plan *p, pid_t *ret)
{
	int fds[2];
	sigset_t all, before;
	if (pipe2(fds, O_CLOEXEC) != 0)
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot start '%s'", p->argv[0]);
	/* A handler of ours must not run in the child, where it would speak for us. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0)
		child(p, fds[1]);
	int saved = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(fds[1]);
	struct plumb_error *err = pid < 0 ? pl_error_errno(PLUMB_ERR_SYSTEM, saved, "cannot start '%s'", p->argv[0])
					  : await_exec(p, pid, fds[0]);
	close(fds[0]);
	if (!err)
		*ret = pid;
	return err;
}

void pl_spawn_signals(struct plumb_signals *ret)
{
	struct sigaction action;
	sigemptyset(&ret->ignored);
	for (int signo = 1; signo < NSIG; signo++)
		if (sigaction(signo, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&ret->ignored, signo);
	pthread_sigmask(SIG_SETMASK, NULL, &ret->blocked);
}

struct plumb_error *pl_spawn(char *const argv[], const struct plumb_signals *signals, pid_t *ret)
{
	struct plan p;
	if (!argv[0])
		return pl_error(PLUMB_ERR_INVALID, "there is no command to run");
	struct plumb_error *err = plan_init(&p, argv, signals) ? start(&p, ret) : &pl_err_no_memory;
	plan_deinit(&p);
	return err;
}
