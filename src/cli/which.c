/* SPDX-License-Identifier: Apache-2.0 */
/* From an operand to a process id, for all commands that take one. Layer cli. */
#include "which.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <plumb/processes.h>

#include "nearest.h"
#include "shown.h"
#include "values.h"

#define SHOWN_MAX      20
#define LINE_MAX_BYTES 300 /* tells them apart: arguments often differ at the end only */

static const char how_named[] =
	"give the id of a process ('ps -e' shows them), or the name of its script, of its module "
	"(python -m), or of its program";

/* ", since 17:03:12", or with the day if that was another one. */
static void start_text(uint64_t real_ns, char *buf, size_t size)
{
	time_t then = (time_t)(real_ns / 1000000000), now = time(NULL);
	struct tm t, today;

	localtime_r(&then, &t);
	localtime_r(&now, &today);
	bool same_day = t.tm_year == today.tm_year && t.tm_yday == today.tm_yday;
	strftime(buf, size, same_day ? ", since %H:%M:%S" : ", since %Y-%m-%d %H:%M", &t);
}

static bool is_among(const struct plumb_processes *found, int pid)
{
	struct plumb_process p;

	for (size_t i = 0; plumb_processes_at(found, i, &p); i++)
		if (p.pid == pid)
			return true;
	return false;
}

/* A server and its workers have the same command line: tell who is whose. */
static void put_process(const struct command *cmd, const struct plumb_processes *found, const struct plumb_process *p)
{
	char started[40] = "", child[32] = "", line[1500];

	if (p->started_real_ns) /* else it has just ended */
		start_text(p->started_real_ns, started, sizeof started);
	if (is_among(found, p->parent))
		snprintf(child, sizeof child, ", child of %d", p->parent);
	snprintf(line, sizeof line, "  plumb %s %-8d %s%s%s: %s", cmd->name, p->pid, p->user, started, child,
		 p->command);
	put_shown(line, LINE_MAX_BYTES, stderr); /* names and command lines are text of others */
	fputc('\n', stderr);
}

/* For a command that takes any number of processes: how to name all of them. */
static void put_all(const struct command *cmd, const struct plumb_processes *found, size_t n)
{
	struct plumb_process p;

	fprintf(stderr, "  plumb %s", cmd->name);
	for (size_t i = 0; i < n && plumb_processes_at(found, i, &p); i++)
		fprintf(stderr, " %d", p.pid);
	fputs(n > 2 ? "  for all of them\n" : "  for both\n", stderr);
}

static void tell_several(const struct command *cmd, const char *name, const struct plumb_processes *found)
{
	char message[160];
	struct plumb_process p;
	size_t n = 0;

	while (plumb_processes_at(found, n, &p))
		n++;
	snprintf(message, sizeof message, "%zu processes are called '%.100s'; choose one:", n, name);
	complain(message, "");
	for (size_t i = 0; i < n && i < SHOWN_MAX; i++)
		if (plumb_processes_at(found, i, &p))
			put_process(cmd, found, &p);
	if (n > SHOWN_MAX)
		fprintf(stderr, "  and %zu more\n", n - SHOWN_MAX);
	else if (cmd->max_operands < 0)
		put_all(cmd, found, n);
}

static bool is_file(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 && S_ISREG(st.st_mode);
}

static void tell_none(const char *name, const struct plumb_processes *found)
{
	struct nearest nearest = nearest_start(name);
	struct failure why;
	const char *other;

	for (size_t i = 0; (other = plumb_processes_other(found, i)); i++)
		nearest_try(&nearest, other);
	refuse(&why, how_named, "no process is called '%.200s'", name);
	if (is_file(name))
		refuse(&why,
		       "'plumb report FILE' shows recordings and other profiles, 'plumb dump --core FILE' core files",
		       "'%.200s' is a file, and no process is called so", name);
	else if (nearest.found)
		snprintf(why.hint, sizeof why.hint, "there is one called '%.200s'", nearest.found);
	complain(why.message, why.hint);
}

static int by_name(const struct command *cmd, const char *name, int *pid_ret)
{
	struct plumb_processes *found;
	struct plumb_process first, second;
	struct plumb_error *err = plumb_processes_find(name, &found);
	int status = EXIT_OWN_FAILURE;

	if (err)
		return complain_error(err);
	if (!plumb_processes_at(found, 0, &first)) {
		tell_none(name, found);
	} else if (plumb_processes_at(found, 1, &second)) {
		tell_several(cmd, name, found);
	} else {
		*pid_ret = first.pid;
		status = 0;
	}
	plumb_processes_destroy(found);
	return status;
}

/* Meant as one, if not a process id as it is written. */
static bool is_number(const char *s)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');

	return hex ? !s[2 + strspn(s + 2, "0123456789abcdefABCDEF")] : !s[strspn(s, "+-0123456789")];
}

int which_process(const struct command *cmd, const char *operand, int *pid_ret)
{
	struct failure why;

	if (value_pid(operand, pid_ret))
		return 0;
	if (!is_number(operand))
		return by_name(cmd, operand, pid_ret);
	refuse(&why, operand[0] == '0' && operand[1] ? "give it as 'ps -e' shows it, in decimal" : how_named,
	       "'%s' is not a process id", operand);
	return complain_failure(&why);
}

static bool add_pid(struct chosen *c, int pid)
{
	int *grown = realloc(c->pids, ((size_t)c->count + 1) * sizeof *grown);

	if (!grown)
		return false;
	c->pids = grown;
	c->pids[c->count++] = pid;
	return true;
}

static bool add_called(struct chosen *c, const char *name)
{
	struct plumb_processes *found;
	struct plumb_process p;
	bool ok = true;
	struct plumb_error *err = plumb_processes_find(name, &found);

	if (err) {
		complain_error(err);
		c->failed++;
		return true;
	}
	if (!plumb_processes_at(found, 0, &p)) {
		tell_none(name, found);
		c->failed++;
	}
	for (size_t i = 0; ok && plumb_processes_at(found, i, &p); i++)
		ok = add_pid(c, p.pid);
	plumb_processes_destroy(found);
	return ok;
}

int which_processes(const struct command *cmd, int argc, char **argv, const struct word_list *names, struct chosen *ret)
{
	struct failure why;
	bool ok = true;
	int pid;

	*ret = (struct chosen){0};
	for (int i = 0; ok && i < argc; i++) {
		if (which_process(cmd, argv[i], &pid))
			ret->failed++;
		else
			ok = add_pid(ret, pid);
	}
	for (size_t i = 0; ok && i < names->count; i++)
		ok = add_called(ret, names->words[i]);
	if (ok)
		return 0;
	free(ret->pids);
	ret->pids = NULL;
	refuse(&why, "", "out of memory");
	return complain_failure(&why);
}

void which_refused(void *chosen, int pid, const struct plumb_error *why)
{
	struct chosen *c = chosen;

	complain(plumb_error_message(why), plumb_error_hint(why));
	c->failed++;
}
