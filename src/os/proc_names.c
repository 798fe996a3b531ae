/* SPDX-License-Identifier: Apache-2.0 */
/* What a process is called (layer os): command line, executable, short name. Any thread. All of it is text that the
 * target chose; what goes to a terminal holds no control characters, what goes into a file name only harmless ones. */
#include "proc.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc_file.h"

#define CMDLINE_MAX 16384

/* With the first that does not answer; with each further one half as much. */
#define PATIENCE_MS	  2000
#define LEAST_PATIENCE_MS 20
#define SILENT_MAX	  64 /* then nobody is asked any more */

/* Text with a fixed end, cut where it is full. */
struct out {
	char *buf;
	size_t len, size;
};

static struct out out_to(char *buf, size_t size)
{
	struct out o = {.size = size};
	o.buf = buf;
	return o;
}

static void out_char(struct out *o, char c)
{
	bool control = (unsigned char)c < 0x20 || c == 0x7f;
	if (o->len + 1 < o->size)
		o->buf[o->len++] = control ? '?' : c;
	if (o->size)
		o->buf[o->len] = '\0';
}

static void out_str(struct out *o, const char *s)
{
	for (; *s; s++)
		out_char(o, *s);
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool needs_quotes(const char *arg)
{
	for (const char *p = arg; *p; p++)
		if (!is_alnum(*p) && (unsigned char)*p < 0x80 && !strchr("_@%+=:,./-", *p))
			return true;
	return !*arg;
}

static void out_argument(struct out *o, const char *arg)
{
	if (!needs_quotes(arg)) {
		out_str(o, arg);
		return;
	}
	out_char(o, '\'');
	for (; *arg; arg++) {
		if (*arg == '\'')
			out_str(o, "'\\'");
		out_char(o, *arg);
	}
	out_char(o, '\'');
}

/* Arguments of a process: strings one behind the other. On the heap, for threads of the program ask, too, whose stack
 * may be 32 KiB. */
struct arguments {
	char *text; /* to be freed */
	size_t len; /* with the last NUL; 0: none, or no memory for them */
};

static struct arguments read_arguments(pid_t pid)
{
	struct arguments a = {.text = malloc(CMDLINE_MAX)};
	ssize_t len = a.text ? pl_proc_file(pl_proc_live_task(pid), "cmdline", a.text, CMDLINE_MAX) : 0;
	/* A program that renames itself leaves NULs of the old, longer text behind. */
	while (len > 0 && a.text[len - 1] == '\0')
		len--;
	a.len = len > 0 ? (size_t)len + 1 : 0;
	return a;
}

/* The argument behind @p arg; NULL at the end. */
static const char *next_argument(const struct arguments *a, const char *arg)
{
	if (!arg)
		return NULL;
	arg += strlen(arg) + 1;
	return arg < a->text + a->len ? arg : NULL;
}

void pl_proc_command(pid_t pid, char *buf, size_t size)
{
	struct out o = out_to(buf, size);
	struct arguments args = read_arguments(pid);
	if (!args.len) {
		char comm[16];
		pl_proc_comm(pid, pid, comm);
		out_char(&o, '[');
		out_str(&o, comm);
		out_char(&o, ']');
	} else if (strlen(args.text) + 1 == args.len) {
		out_str(&o, args.text); /* alone it needs no quotes; often it is a title with blanks */
	} else {
		for (const char *arg = args.text; arg; arg = next_argument(&args, arg)) {
			if (arg != args.text)
				out_char(&o, ' ');
			out_argument(&o, arg);
		}
	}
	free(args.text);
}

void pl_proc_exe(pid_t pid, char *buf, size_t size)
{
	static const char gone[] = " (deleted)";
	char path[32];
	if (!size)
		return;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pl_proc_live_task(pid));
	ssize_t len = readlink(path, buf, size - 1);
	buf[len < 0 ? 0 : len] = '\0';
	size_t tail = sizeof gone - 1;
	if (len > (ssize_t)tail && strcmp(buf + len - tail, gone) == 0)
		buf[(size_t)len - tail] = '\0';
}

static bool is_python_name(const char *path)
{
	return strncmp(pl_base_name(path), "python", 6) == 0 || strncmp(pl_base_name(path), "pypy", 4) == 0;
}

/* What the interpreter's arguments name: the script or the module of -m; NULL for -c, standard input or none. */
static const char *script_argument(const struct arguments *a)
{
	const char *arg = a->text;
	while ((arg = next_argument(a, arg)) && arg[0] == '-' && arg[1]) {
		if (arg[1] == '-') { /* of the long options only this one takes a value */
			if (strcmp(arg, "--check-hash-based-pycs") == 0)
				arg = next_argument(a, arg);
			continue;
		}
		/* One-letter options may share an argument; these end it, with their value in it or in the next one. */
		const char *last = arg + strcspn(arg, "mcWXQ");
		if (*last == 'c')
			return NULL;
		if (*last == 'm')
			return last[1] ? last + 1 : next_argument(a, arg);
		if (*last && !last[1])
			arg = next_argument(a, arg);
	}
	return arg && strcmp(arg, "-") != 0 ? arg : NULL;
}

/* Base name of @p name with everything unusual replaced, cut at @p stop; false if nothing is left. */
static bool out_program(struct out *o, const char *name, const char *stop)
{
	size_t len = strcspn(name, stop);
	while (len > 1 && name[len - 1] == '/')
		len--;
	size_t start = len;
	while (start > 0 && name[start - 1] != '/')
		start--;
	for (; start < len; start++)
		out_char(o, is_alnum(name[start]) || strchr("._-", name[start]) ? name[start] : '_');
	return o->len > 0;
}

/* What a Python program calls itself; false: nothing. */
static bool out_python(struct out *o, const struct arguments *a, const char *exe)
{
	if (a->len && is_python_name(a->text)) {
		const char *script = script_argument(a);
		return script && out_program(o, script, "");
	}
	/* It gave itself a title, such as "gunicorn: worker". */
	return a->len && is_python_name(exe) && out_program(o, a->text, ": ");
}

void pl_proc_program(pid_t pid, char *buf, size_t size)
{
	struct out o = out_to(buf, size);
	char exe[4096], comm[16];
	struct arguments args = read_arguments(pid);
	pl_proc_exe(pid, exe, sizeof exe);
	bool known = out_python(&o, &args, exe);
	free(args.text);
	if (known)
		return;
	pl_proc_comm(pid, pid, comm);
	if (!out_program(&o, exe, "") && !out_program(&o, comm, ""))
		out_str(&o, "program");
}

bool pl_proc_is_python(pid_t pid)
{
	char exe[4096];
	struct arguments args = read_arguments(pid);
	pl_proc_exe(pid, exe, sizeof exe);
	bool is_python = args.len && (is_python_name(args.text) || is_python_name(exe));
	free(args.text);
	return is_python;
}

/* "dir/app.py" is called app.py and dir/app.py, and app.py is called app. */
static bool ends_like(const char *path, size_t len, const char *name)
{
	size_t n = strlen(name);
	return n && n <= len && memcmp(path + len - n, name, n) == 0 && (n == len || path[len - n - 1] == '/');
}

static bool is_path_called(const char *path, const char *name)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	return ends_like(path, len, name) ||
	       (len > 3 && memcmp(path + len - 3, ".py", 3) == 0 && ends_like(path, len - 3, name));
}

static bool leads_to(const char *path, const struct stat *file)
{
	struct stat st;
	return stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Whoever waits for the end of our output must not wait for a file system: of our files only the pipe is kept. */
static _Noreturn void answer(int fd, const char *path, const struct stat *file)
{
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	syscall(SYS_close_range, 3u, ~0u, 0u);
	_exit(leads_to(path, file) && write(0, "y", 1) == 1 ? 0 : 1);
}

/* Whoever starts many that do not answer must not hold up the search for long. */
static _Atomic int silent;

static int patience_ms(void)
{
	int ms = PATIENCE_MS >> (silent < 16 ? silent : 16);
	return ms > LEAST_PATIENCE_MS ? ms : LEAST_PATIENCE_MS;
}

/* It has not been on a processor for long enough to ask. */
static bool is_on_its_way(pid_t child)
{
	struct pl_proc_stat st;
	return pl_proc_stat_read(child, &st) && st.state == 'R';
}

/* Something, or nothing at all when it ends, comes before we lose patience. */
static bool says_yes(int fd, pid_t child, bool *answered)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int ms = patience_ms();
	char yes;
	do
		*answered = poll(&p, 1, ms) > 0;
	while (!*answered && is_on_its_way(child));
	silent += !*answered;
	return *answered && read(fd, &yes, 1) == 1;
}

/* Any process can bear a name on a file system that does not answer. Whoever looks it up waits where no signal helps,
 * so that is a process which can be left behind. */
static bool leads_to_apart(const char *path, const struct stat *file)
{
	int ends[2];
	if (silent == SILENT_MAX || pipe2(ends, O_CLOEXEC) != 0)
		return false;
	pid_t child = fork();
	if (child == 0)
		answer(ends[1], path, file);
	close(ends[1]);
	bool answered = false, same = child > 0 && says_yes(ends[0], child, &answered);
	close(ends[0]);
	if (child > 0 && !answered)
		kill(child, SIGKILL);
	if (child > 0) /* one that waits for a file system is init's, once we have ended */
		waitpid(child, NULL, answered ? 0 : WNOHANG);
	return same;
}

/* Is @p name, from here, the file that the process knows as @p script? */
static bool is_same_file(pid_t pid, const char *script, const char *name)
{
	char path[4200];
	struct stat ours;
	if (!strchr(name, '/') || stat(name, &ours) != 0)
		return false;
	snprintf(path, sizeof path, "/proc/%d/%s/%s", (int)pl_proc_live_task(pid), *script == '/' ? "root" : "cwd",
		 script);
	return leads_to_apart(path, &ours);
}

static bool is_script_called(pid_t pid, const struct arguments *a, const char *name)
{
	const char *script = script_argument(a);
	return script && (is_path_called(script, name) || is_same_file(pid, script, name));
}

static bool are_called(pid_t pid, const struct arguments *a, const char *name)
{
	char exe[4096], comm[16];
	pl_proc_exe(pid, exe, sizeof exe);
	pl_proc_comm(pid, pid, comm);
	if ((is_python_name(a->text) || is_python_name(exe)) && is_script_called(pid, a, name))
		return true;
	a->text[strcspn(a->text, ": ")] = '\0';
	return is_path_called(exe, name) || is_path_called(a->text, name) || strcmp(comm, name) == 0;
}

bool pl_proc_is_called(pid_t pid, const char *name)
{
	struct arguments args = read_arguments(pid);
	bool called = args.len && are_called(pid, &args, name); /* none: a kernel thread, or it has ended */
	free(args.text);
	return called;
}
