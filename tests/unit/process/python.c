/* SPDX-License-Identifier: Apache-2.0 */
#include "python.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image.h"
#include "stage.h"
#include "unit.h"
#include "which_python.h"

const char python_like_tasks[] = "import os, sys, time\n"
				 "if sys.version_info < (3, 7):\n"
				 "    os.write(1, b'old\\n')\n"
				 "    sys.exit()\n"
				 "import asyncio.tasks, weakref\n"
				 "class Task: pass\n"
				 "names = {'%05x' % i: i for i in range(12000)}\n"
				 "names['_coro'] = 1\n"
				 "tasks = [Task() for _ in range(16000)]\n"
				 "for task in tasks: task.__dict__ = names\n"
				 "for name in '_all_tasks', '_scheduled_tasks':\n"
				 "    if hasattr(asyncio.tasks, name):\n"
				 "        setattr(asyncio.tasks, name, weakref.WeakSet(tasks))\n"
				 "os.write(1, b'ready\\n')\n"
				 "time.sleep(3600)\n";

const char *python_exe(size_t i)
{
	static char exe[512];
	const char *list = getenv("PLUMB_TEST_PYTHONS");

	list = list && *list ? list : "/usr/bin/python3";
	for (; i > 0 && *list; i--) {
		list += strcspn(list, ":");
		list += *list == ':';
	}
	size_t len = strcspn(list, ":");
	if (len == 0)
		return NULL;
	snprintf(exe, sizeof exe, "%.*s", (int)len, list);
	return exe;
}

void python_start(struct python *p, const char *exe, const char *script)
{
	int in[2], out[2];

	*p = (struct python){.exe = exe};
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	p->pid = stage_fork();
	if (p->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(exe, exe, "-S", "-E", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p->in = in[1];
	p->out = out[0];
	assert_ok(pl_tables_init(&p->tables));
	pl_reader_init(&p->reader, &p->tables);
}

void python_hear(struct python *p, char *line, size_t size)
{
	for (size_t n = 0; n < size; n++) {
		struct pollfd fd = {.fd = p->out, .events = POLLIN};
		if (poll(&fd, 1, PATIENCE_S * 1000) != 1 || read(p->out, line + n, 1) != 1)
			fail_msg("%s says nothing", p->exe);
		if (line[n] == '\n') {
			line[n] = '\0';
			return;
		}
	}
	fail_msg("%s says too much", p->exe);
}

bool python_sleeps(struct python *p, const char *exe, const char *script)
{
	char line[16];

	python_start(p, exe, script);
	python_hear(p, line, sizeof line);
	if (strcmp(line, "ready") != 0)
		return false;
	stage_await_state(p->pid, p->pid, "S");
	return true;
}

void python_say(struct python *p, const char *text)
{
	assert_int_equal(write(p->in, text, strlen(text)), strlen(text));
}

static struct plumb_error *find(struct python *p)
{
	struct pl_python_image image;
	struct pl_work work = {.most = PL_IMAGE_WORK};
	struct plumb_error *err = pl_python_image_find(p->pid, &work, &image);

	if (err)
		return err;
	return pl_which_python(pl_mem_live_mem(p->live), &image, &work, &p->py);
}

/* It is starting up, or its stacks changed faster than they could be read. */
static bool may_change(const struct plumb_error *err)
{
	return plumb_error_code(err) == PLUMB_ERR_NOT_READY || plumb_error_code(err) == PLUMB_ERR_STALE;
}

bool python_attach(struct python *p)
{
	struct plumb_error *err;
	pl_interp_vec interps = {0};
	pl_tstate_vec threads = {0};

	assert_ok(pl_mem_live_create(p->pid, &p->live));
	await (!may_change(err = find(p)))
		plumb_error_destroy(err);
	if (plumb_error_code(err) == PLUMB_ERR_NOT_SUPPORTED) {
		print_message("%s: %s\n", p->exe, plumb_error_message(err));
		plumb_error_destroy(err);
		return false;
	}
	assert_ok(err);
	assert_ok(pl_interp_list(pl_mem_live_mem(p->live), &p->py, &interps, NULL));
	assert_true(interps.len > 0);
	p->interp = interps.data[0];
	assert_ok(pl_tstate_list(pl_mem_live_mem(p->live), &p->py, &p->interp, &threads, NULL));
	assert_true(threads.len > 0);
	p->main = threads.data[threads.len - 1]; /* the newest comes first */
	pl_vec_deinit(&interps);
	pl_vec_deinit(&threads);
	pl_reader_bind(&p->reader, &p->py, p->live);
	return true;
}

void python_end(struct python *p)
{
	pl_reader_deinit(&p->reader);
	pl_tables_deinit(&p->tables);
	pl_mem_live_destroy(p->live);
	close(p->in);
	close(p->out);
	stage_kill(p->pid);
}

void python_each(const char *script, void (*check)(struct python *p, void *ctx), void *ctx)
{
	const char *exe;
	size_t tried = 0;

	for (size_t i = 0; (exe = python_exe(i)); i++) {
		struct python p;
		char line[16];

		python_start(&p, exe, script);
		python_hear(&p, line, sizeof line);
		if (python_attach(&p)) {
			check(&p, ctx);
			tried++;
		}
		python_end(&p);
	}
	assert_true(tried > 0);
}

void python_chain(const struct python *p, uint32_t node, struct python_chain *ret)
{
	static char names[PYTHON_MAX_DEPTH][64];
	const struct pl_trie *t = &p->tables.trie;
	size_t at = PYTHON_MAX_DEPTH;

	for (uint32_t n = node; n; n = t->nodes.data[n].parent) {
		assert_true(n < t->nodes.len && at > 0);
		const struct pl_code *c = &p->tables.codes.known.data[t->nodes.data[n].code]->code;
		if (!c->hidden) /* left out when samples are resolved */
			snprintf(names[--at], sizeof names[at], "%.*s", (int)c->name.len, (const char *)c->name.data);
	}
	ret->depth = PYTHON_MAX_DEPTH - at;
	for (size_t i = 0; i < ret->depth; i++)
		ret->names[i] = names[at + i];
}

void assert_chain(const struct python *p, uint32_t node, const char *const *names, size_t n)
{
	struct python_chain c;

	python_chain(p, node, &c);
	for (size_t i = 0; i < c.depth && (i >= n || strcmp(c.names[i], names[i]) != 0); i++)
		print_message("%s: [%zu] %s\n", p->exe, i, c.names[i]);
	assert_int_equal(c.depth, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(c.names[i], names[i]);
}
