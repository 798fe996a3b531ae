/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; see python_process.h. */
#include "python_process.h"

#include <stddef.h>
#include <stdlib.h>

#include "clock.h"
#include "find_python.h"
#include "identity.h"
#include "native_reader.h"
#include "own_fd.h"

void pl_python_process_init(struct pl_python_process *p, struct pl_tables *tables, struct pl_room *room,
			    const struct pl_thread_list_use *use, void *user)
{
	pl_reader_init(&p->reader, tables);
	pl_thread_list_init(&p->threads, use, user, room);
}

void pl_python_process_deinit(struct pl_python_process *p)
{
	pl_stopper_deinit(&p->stopper);
	pl_reader_deinit(&p->reader);
}

void pl_python_process_attach(struct pl_python_process *p, const struct pl_py *py, struct pl_mem_live *live,
			      enum pl_stop_policy policy, struct pl_beside *beside)
{
	pl_reader_bind(&p->reader, py, live);
	/* Without, its samples have Python frames alone, and are counted. */
	if (p->reader.native_frames != PL_NATIVE_NONE)
		plumb_error_destroy(pl_native_reader_create(p->pid, pl_python_process_mem(p), &p->reader.py,
							    p->reader.native_frames == PL_NATIVE_ALL,
							    &p->reader.native));
	pl_stopper_begin(&p->stopper, policy, beside, pl_clock_monotonic_ns());
}

void pl_python_process_detach(struct pl_python_process *p)
{
	pl_thread_list_clear(&p->threads);
	pl_native_reader_destroy(p->reader.native);
	p->reader.native = NULL;
	pl_mem_live_destroy(p->reader.live);
	p->reader.live = NULL;
}

/* That of its memory is asked for; those of the threads were opened with it. */
void pl_python_process_keep_open(struct pl_python_process *p)
{
	if (!pl_mem_live_reopen(p->reader.live))
		return;
	for (size_t i = 0; i < p->threads.samplers.len; i++) {
		struct pl_thread_sampler *thread = p->threads.samplers.data[i];

		pl_thread_clock_close(&thread->clock);
		pl_thread_clock_open(&thread->clock, thread->pid, thread->tid);
	}
}

/* ---- by itself --------------------------------------------------------------------------------------------------- */

struct alone {
	struct pl_python_process process; /* first: what the caller has */
	struct pl_tables tables;
	struct pl_room room;
	struct pl_beside nowhere; /* it is able to go nowhere: nobody stands beside a thread */
	int fd;			  /* so that its number is not another process's */
};

_Static_assert(offsetof(struct alone, process) == 0, "closing it begins with the process");

static struct plumb_error *open_identity(struct alone *a)
{
	struct pl_proc_stat st;
	struct plumb_error *err = pl_identity_read(a->process.pid, &st);

	if (err || (err = pl_identity_open(&st, &a->fd)))
		return err;
	pl_room_measure(&a->room, a->fd, false);
	a->room.processes = 1;
	return NULL;
}

static struct plumb_error *attach(struct alone *a, enum pl_stop_policy policy)
{
	struct pl_work work = {.most = PL_IMAGE_WORK}; /* for all tries */
	struct pl_find find = {0};
	struct pl_py py;
	struct plumb_error *err = pl_find_python(&find, a->process.pid, &work, &py);

	for (int tries = 1; pl_find_await(&find, err, tries); tries++) {
		plumb_error_destroy(err);
		err = pl_find_python(&find, a->process.pid, &work, &py);
	}
	if (!err) {
		pl_python_process_attach(&a->process, &py, find.live, policy, &a->nowhere);
		find.live = NULL;
	}
	pl_find_forget(&find);
	return err;
}

struct plumb_error *pl_python_process_open(pid_t pid, enum pl_stop_policy policy, struct pl_python_process **ret)
{
	struct alone *a = calloc(1, sizeof *a);

	if (!a)
		return &pl_err_no_memory;
	a->fd = -1;
	a->process.pid = pid;
	pl_room_raise();
	struct plumb_error *err = pl_tables_init(&a->tables);
	pl_python_process_init(&a->process, &a->tables, &a->room, &pl_thread_list_plain, NULL);
	if (err || (err = open_identity(a)) || (err = attach(a, policy))) {
		pl_python_process_close(&a->process);
		return err;
	}
	*ret = &a->process;
	return NULL;
}

void pl_python_process_close(struct pl_python_process *p)
{
	struct alone *a = (struct alone *)p;

	pl_python_process_detach(p);
	pl_python_process_deinit(p);
	pl_tables_deinit(&a->tables);
	pl_own_fd_close(a->fd);
	free(a);
}
