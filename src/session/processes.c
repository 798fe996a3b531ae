/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/processes.h>. Goes through all processes once. One thread. */
#include <plumb/processes.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "program.h"
#include "vec.h"

#define COMMAND_MAX  1024
#define NAME_MAX_LEN 128

struct found {
	int pid, parent;
	uint64_t started_ns; /* since boot; those of one clock tick are equal */
	uint64_t cpu_ns;
	char user[128], command[COMMAND_MAX];
};

struct plumb_processes {
	uint64_t booted_real_ns;
	PL_VEC(struct found *) called;
	PL_VEC(char *) others;
};

static bool add_called(struct plumb_processes *p, pid_t pid)
{
	struct found *f = calloc(1, sizeof *f);

	if (!f || !pl_vec_push(&p->called, f)) {
		free(f);
		return false;
	}
	f->pid = pid;
	f->parent = pl_program_parent(pid);
	f->started_ns = pl_program_started_ns(pid);
	f->cpu_ns = pl_program_cpu_ns(pid);
	pl_program_user(pid, f->user, sizeof f->user);
	pl_program_command(pid, f->command, sizeof f->command);
	return true;
}

static bool add_other(struct plumb_processes *p, pid_t pid)
{
	char name[NAME_MAX_LEN];

	pl_program_name(pid, name, sizeof name);
	char *copy = strdup(name);
	if (copy && pl_vec_push(&p->others, copy))
		return true;
	free(copy);
	return false;
}

/* What is looked for. */
struct wanted {
	const char *name; /* NULL: all that run Python */
	size_t refused;	  /* of them */
};

static bool sort_in(struct plumb_processes *p, pid_t pid, struct wanted *w)
{
	if (w->name && pl_program_is_called(pid, w->name))
		return add_called(p, pid);
	if (!pl_program_is_python(pid))
		return true;
	if (w->name)
		return add_other(p, pid);
	if (pl_program_may_be_read(pid))
		return add_called(p, pid);
	w->refused++;
	return true;
}

static struct plumb_error *look_through(struct plumb_processes *p, struct wanted *w)
{
	pl_pid_vec pids = {0};
	struct plumb_error *err = pl_program_all(&pids);

	for (size_t i = 0; i < pids.len && !err; i++)
		if (pids.data[i] != getpid() && !sort_in(p, pids.data[i], w))
			err = &pl_err_no_memory;
	pl_vec_deinit(&pids);
	return err;
}

static int compare_age(const void *a, const void *b)
{
	const struct found *x = *(struct found *const *)a, *y = *(struct found *const *)b;

	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct plumb_error *find(struct wanted *w, struct plumb_processes **ret)
{
	struct plumb_processes *p = calloc(1, sizeof *p);
	struct plumb_error *err = p ? look_through(p, w) : &pl_err_no_memory;

	if (err) {
		plumb_processes_destroy(p);
		return err;
	}
	p->booted_real_ns = pl_program_booted_real_ns();
	if (p->called.len)
		qsort(p->called.data, p->called.len, sizeof *p->called.data, compare_age);
	*ret = p;
	return NULL;
}

struct plumb_error *plumb_processes_find(const char *name, struct plumb_processes **ret)
{
	return find(&(struct wanted){.name = name}, ret);
}

struct plumb_error *plumb_processes_pythons(struct plumb_processes **ret, size_t *refused)
{
	struct wanted w = {0};
	struct plumb_error *err = find(&w, ret);

	*refused = w.refused;
	return err;
}

void plumb_processes_destroy(struct plumb_processes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->called.len; i++)
		free(p->called.data[i]);
	for (size_t i = 0; i < p->others.len; i++)
		free(p->others.data[i]);
	pl_vec_deinit(&p->called);
	pl_vec_deinit(&p->others);
	free(p);
}

bool plumb_processes_at(const struct plumb_processes *p, size_t i, struct plumb_process *ret)
{
	if (i >= p->called.len)
		return false;
	const struct found *f = p->called.data[i];
	*ret = (struct plumb_process){.pid = f->pid,
				      .parent = f->parent,
				      .user = f->user,
				      .started_real_ns = f->started_ns ? p->booted_real_ns + f->started_ns : 0,
				      .command = f->command};
	return true;
}

uint64_t plumb_processes_cpu_ns(const struct plumb_processes *p, size_t i)
{
	return i < p->called.len ? p->called.data[i]->cpu_ns : 0;
}

const char *plumb_processes_other(const struct plumb_processes *p, size_t i)
{
	return i < p->others.len ? p->others.data[i] : NULL;
}
