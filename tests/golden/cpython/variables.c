/* SPDX-License-Identifier: Apache-2.0 */
#include "variables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "asyncio.h"
#include "code.h"
#include "frame.h"
#include "lines.h"
#include "locals.h"
#include "threads.h"

static bool print_local(void *ctx, const struct pl_local *l)
{
	fprintf(ctx, "    %s%.*s = %.*s\n",
		l->is_arg    ? "arg "
		: l->is_free ? "free "
			     : "",
		(int)l->name_len, l->name, (int)l->text_len, l->text);
	return true;
}

static void print_error(struct plumb_error *err, FILE *out)
{
	if (err)
		fprintf(out, "    <%s>\n", plumb_error_message(err));
	plumb_error_destroy(err);
}

static void print_frame(struct pl_values *v, const struct pl_frame *f, FILE *out)
{
	struct pl_code code;
	struct plumb_error *err;

	if (f->kind == PL_FRAME_SHIM)
		return;
	pl_code_init(&code);
	err = pl_code_read(v->mem, v->py, f->code, &code);
	fprintf(out, "  %s\n", err ? "?" : pl_buf_str(&code.name));
	if (!err)
		err = pl_locals_each(v, f, print_local, out);
	print_error(err, out);
	pl_code_deinit(&code);
}

static void print_thread(struct pl_values *v, const struct pl_tstate *ts, FILE *out)
{
	pl_frame_vec frames = {0};
	pl_addr root = 0;
	struct plumb_error *err = pl_frame_walk(v->mem, v->py, ts, NULL, &frames, &root);

	fprintf(out, "thread\n");
	print_error(err, out);
	for (size_t i = 0; i < frames.len; i++)
		print_frame(v, &frames.data[i], out);
	pl_vec_deinit(&frames);
}

typedef struct plumb_error *print_interp_fn(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in,
					    FILE *out);

static struct plumb_error *print_variables(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in,
					   FILE *out)
{
	pl_tstate_vec threads = {0};
	struct pl_values v;
	struct plumb_error *err = pl_tstate_list(mem, py, in, &threads, NULL);

	pl_values_init(&v, mem, py, NULL);
	for (size_t i = threads.len; !err && i-- > 0;)
		print_thread(&v, &threads.data[i], out);
	pl_vec_deinit(&threads);
	return err;
}

static struct plumb_error *each_interp(struct pl_mem *mem, const struct pl_py_facts *facts, print_interp_fn *print,
				       FILE *out)
{
	pl_interp_vec interps = {0};
	struct pl_py py;
	struct plumb_error *err = pl_py_detect(mem, facts, &py);

	if (!err)
		err = pl_interp_list(mem, &py, &interps, NULL);
	for (size_t i = 0; !err && i < interps.len; i++)
		err = print(mem, &py, &interps.data[i], out);
	pl_vec_deinit(&interps);
	return err;
}

struct plumb_error *variables_print(struct pl_mem *mem, const struct pl_py_facts *facts, FILE *out)
{
	return each_interp(mem, facts, print_variables, out);
}

/* Names of threads by their ident, for a few of them. */
struct thread_names {
	uint64_t ids[32];
	char text[32][32];
	size_t len;
};

static void add_thread_name(void *ctx, uint64_t thread_id, const char *name, size_t len)
{
	struct thread_names *n = ctx;

	if (n->len == 32)
		return;
	n->ids[n->len] = thread_id;
	snprintf(n->text[n->len++], sizeof n->text[0], "%.*s", (int)len, name);
}

static const char *thread_name(const struct thread_names *n, uint64_t thread_id)
{
	for (size_t i = 0; thread_id && i < n->len; i++) {
		if (n->ids[i] == thread_id)
			return n->text[i];
	}
	return thread_id ? "?" : "";
}

static void print_task_frame(struct pl_mem *mem, const struct pl_py *py, const struct pl_frame *f, FILE *out)
{
	struct pl_code c;
	struct plumb_error *err;

	pl_code_init(&c);
	err = pl_code_read(mem, py, f->code, &c);
	struct pl_position p = pl_lines_find(py->layout.line_table, c.linetable.data, c.linetable.len,
					     (int32_t)c.firstlineno, pl_code_offset(py, &c, f));
	if (!err)
		fprintf(out, "    %s:%d\n", pl_buf_str(&c.name), p.line);
	print_error(err, out);
	pl_code_deinit(&c);
}

static void print_task_name(const struct pl_tasks *t, pl_addr addr, FILE *out)
{
	for (size_t i = 0; i < t->list.len; i++) {
		const struct pl_task *task = &t->list.data[i];
		if (task->addr == addr)
			fprintf(out, "%.*s", (int)task->name_len, (const char *)t->text.data + task->name_at);
	}
}

static void print_task(struct pl_mem *mem, const struct pl_py *py, const struct pl_tasks *t, const struct pl_task *task,
		       const struct thread_names *names, FILE *out)
{
	static const char *const states[] = {"running", "waiting", "ready"};
	static const char *const waits[] = {"nothing", "task", "gather", "future"};

	fprintf(out, "task ");
	print_task_name(t, task->addr, out);
	fprintf(out, "; state=%s; wait=%s; thread=%s; inner=%.*s%s; waiters=", states[task->state],
		waits[task->wait_kind], thread_name(names, task->thread_id), (int)task->inner_len,
		(const char *)t->text.data + task->inner_at, task->cut ? "; cut" : "");
	for (uint32_t i = 0; i < task->waiters; i++) {
		fprintf(out, "%s", i ? "," : "");
		print_task_name(t, t->waiters.data[task->waiters_at + i], out);
	}
	fprintf(out, "\n");
	for (uint32_t i = 0; i < task->frames; i++)
		print_task_frame(mem, py, &t->frames.data[task->frames_at + i], out);
}

static struct plumb_error *print_tasks(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *in,
				       FILE *out)
{
	struct thread_names names = {0};
	struct pl_tasks t;
	struct plumb_error *err = pl_thread_names(mem, py, in, add_thread_name, &names);

	pl_tasks_init(&t);
	if (!err)
		err = pl_tasks_read(mem, py, in, &t);
	for (size_t i = 0; !err && i < t.list.len; i++)
		print_task(mem, py, &t, &t.list.data[i], &names, out);
	if (t.lost)
		fprintf(out, "lost %zu\n", t.lost);
	pl_tasks_deinit(&t);
	return err;
}

struct plumb_error *tasks_print(struct pl_mem *mem, const struct pl_py_facts *facts, FILE *out)
{
	return each_interp(mem, facts, print_tasks, out);
}

text_print_fn *text_print_find(const char *name)
{
	if (!strcmp(name, "stacks"))
		return stacks_print;
	if (!strcmp(name, "variables"))
		return variables_print;
	return !strcmp(name, "tasks") ? tasks_print : NULL;
}
