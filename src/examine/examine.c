/* SPDX-License-Identifier: Apache-2.0 */
/* Layer examine: a trial of reading a process: which Python there is, which threads, and whether their stacks can be
 * read. Nothing is stopped. */
#include "examine.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "image.h"
#include "proc.h"
#include "python_process.h"

#define LISTINGS   2
#define READ_TRIES 20 /* a thread that runs may change its stack while it is read */

static void examine_image(pid_t pid, struct pl_python_facts *f)
{
	struct pl_work work = {.most = PL_IMAGE_WORK};
	struct pl_python_image image;
	char exe[512];
	struct plumb_error *err = pl_python_image_find(pid, &work, &image);

	if (err) {
		plumb_error_destroy(err); /* opening it meets the same and tells it */
		return;
	}
	pl_proc_exe(pid, exe, sizeof exe);
	f->found = true;
	memcpy(f->path, image.path, sizeof f->path);
	f->shared = strcmp(exe, image.path) != 0;
	f->by_symbol = image.code_type || image.tstate_current; /* a file with symbols has them all */
}

static struct plumb_error *read_thread(struct pl_python_process *p, struct pl_thread_sampler *thread,
				       struct pl_thread_facts *t)
{
	struct pl_reading reading;

	for (int i = 0; i < READ_TRIES && !t->read; i++) {
		struct plumb_error *err = pl_stack_read(&p->reader, &thread->stack, &reading);
		if (err)
			return err;
		t->read = reading.complete;
		t->depth = reading.complete ? (uint32_t)thread->stack.seen.now.len : 0;
	}
	return NULL;
}

/* Up to 3.10 a thread's number is known only once the main thread, which comes last, has been met: list again. */
static struct plumb_error *list_threads(struct pl_python_process *p)
{
	struct plumb_error *err = NULL;

	for (int i = 0; i < LISTINGS && !err; i++)
		err = pl_thread_list_refresh(p, pl_clock_monotonic_ns());
	return err;
}

static struct plumb_error *examine_threads(struct pl_python_process *p, struct pl_python_facts *f)
{
	struct plumb_error *err = list_threads(p);

	for (size_t i = 0; i < p->threads.samplers.len && !err; i++) {
		struct pl_thread_sampler *thread = p->threads.samplers.data[i];
		struct pl_thread_facts t = {.tid = thread->tid};

		snprintf(t.name, sizeof t.name, "%s", thread->name);
		err = read_thread(p, thread, &t);
		t.jit = pl_tstate_in_jit(pl_python_process_mem(p), &p->reader.py, thread->stack.tstate, NULL);
		if (!err && !pl_vec_push(&f->threads, t))
			err = &pl_err_no_memory;
	}
	return err;
}

static void tell_version(const struct pl_py *py, struct pl_python_facts *f)
{
	uint32_t known = py->layout.read_as;

	_Static_assert(sizeof f->version == PL_VERSION_TEXT, "room for every version");
	pl_py_version_text(py, f->version);
	if (known)
		snprintf(f->read_as, sizeof f->read_as, "%u.%u", known >> 16 & 0xff, known >> 8 & 0xff);
}

void pl_examine_python(pid_t pid, struct pl_python_facts *ret)
{
	struct pl_python_process *p;

	*ret = (struct pl_python_facts){0};
	ret->error = pl_python_process_open(pid, PL_STOP_NEVER, &p);
	examine_image(pid, ret);
	if (ret->error)
		return;
	ret->verified = true;
	tell_version(&p->reader.py, ret);
	ret->from_debug_offsets = p->reader.py.from_debug_offsets;
	ret->error = examine_threads(p, ret);
	pl_python_process_close(p);
}

void pl_python_facts_deinit(struct pl_python_facts *f)
{
	plumb_error_destroy(f->error);
	f->error = NULL;
	pl_vec_deinit(&f->threads);
}
