/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; see python_process.h. */
#include "python_process.h"

#include <stddef.h>
#include <stdlib.h>

#include "clock.h"
#include "debug.h"
#include "find_python.h"
#include "identity.h"
#include "lock_looks.h"
#include "native_reader.h"
#include "own_fd.h"
#include "proc.h"
#include "thread_state.h"
#include "which_python.h"

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

/* Without, its samples have Python frames alone, and are counted. */
static void begin_native(struct pl_python_process *p, struct pl_work *work)
{
	struct plumb_error *err =
		pl_native_reader_create(p->pid, pl_python_process_mem(p), &p->reader.py, &p->reader.native);

	if (!err) {
		p->reader.native->native->kernel = p->reader.kernel_frames;
		pl_work_note(work, pl_native_reader_work(p->reader.native));
	}
	if (err)
		pl_debug(PL_DEBUG_PROCESS, "process %d: no native frames: %s", (int)p->pid, plumb_error_message(err));
	plumb_error_destroy(err);
}

static const char *const policies[] = {
	[PL_STOP_AUTO] = "if they must be", [PL_STOP_NEVER] = "never", [PL_STOP_ALWAYS] = "at each sample"};

/* A child that has just been forked. */
static void spare_young(struct pl_stopper *s, pid_t pid, uint64_t now)
{
	struct pl_proc_stat stat;
	uint64_t age_ns;

	if (pl_proc_stat_read(pid, &stat) && stat.forked && pl_process_age(pid, &age_ns) && age_ns < now)
		pl_stopper_spare(s, now - age_ns);
}

void pl_python_process_attach(struct pl_python_process *p, const struct pl_py *py, struct pl_mem_live *live,
			      enum pl_stop_policy policy, struct pl_beside *beside, struct pl_work *work)
{
	bool native = p->reader.native_frames;

	pl_reader_bind(&p->reader, py, live);
	if (native)
		begin_native(p, work);
	if (p->reader.locks) /* without memory it is not told */
		plumb_error_destroy(pl_lock_looks_create(&p->reader, &p->reader.lock_looks));
	/* The registers of a thread that runs are not to be had without a stop. */
	if (native && policy == PL_STOP_AUTO)
		policy = PL_STOP_ALWAYS;
	pl_debug(PL_DEBUG_PROCESS, "process %d: attached, threads are stopped %s", (int)p->pid, policies[policy]);
	const uint64_t now = pl_clock_monotonic_ns();
	pl_stopper_begin(&p->stopper, policy, beside, now);
	spare_young(&p->stopper, p->pid, now);
}

void pl_python_process_detach(struct pl_python_process *p)
{
	pl_thread_list_clear(&p->threads);
	pl_native_reader_destroy(p->reader.native);
	p->reader.native = NULL;
	pl_lock_looks_destroy(p->reader.lock_looks);
	p->reader.lock_looks = NULL;
	pl_mem_live_destroy(p->reader.live);
	p->reader.live = NULL;
	p->reader.mem = NULL;
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

/* ---- its threads, as the kernel has them ------------------------------------------------------------------------- */

static struct plumb_error *noted_tids(const struct pl_core *core, pl_tid_vec *ret)
{
	const pl_core_thread_vec *noted = pl_core_threads(core);
	const pid_t main = pl_core_pid(core);
	bool ok = !pl_core_thread_of(core, main) || pl_vec_push(ret, main);

	for (size_t i = 0; i < noted->len && ok; i++) {
		const pid_t tid = noted->data[i].tid;

		if (tid != main && pl_core_thread_of(core, tid) == &noted->data[i])
			ok = pl_vec_push(ret, tid);
	}
	return ok ? NULL : &pl_err_no_memory;
}

struct plumb_error *pl_python_process_tids(const struct pl_python_process *p, pl_tid_vec *ret)
{
	return p->core ? noted_tids(p->core, ret) : pl_proc_tids(p->pid, ret);
}

void pl_python_process_clock(const struct pl_python_process *p, pid_t tid, struct pl_thread_clock *ret)
{
	if (p->core)
		pl_thread_clock_of_core(ret, pl_core_thread_of(p->core, tid));
	else
		pl_thread_clock_open(ret, p->pid, tid);
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
		pl_python_process_attach(&a->process, &py, find.live, policy, &a->nowhere, &work);
		find.live = NULL;
	}
	pl_find_forget(&find);
	return err;
}

static struct plumb_error *create(struct alone **ret)
{
	struct alone *a = calloc(1, sizeof *a);

	if (!a)
		return &pl_err_no_memory;
	a->fd = -1;
	pl_python_process_init(&a->process, &a->tables, &a->room, &pl_thread_list_plain, NULL);
	struct plumb_error *err = pl_tables_init(&a->tables);
	if (err)
		pl_python_process_close(&a->process);
	else
		*ret = a;
	return err;
}

/* With what went wrong it is closed. */
static struct plumb_error *opened(struct alone *a, struct plumb_error *err, struct pl_python_process **ret)
{
	if (err)
		pl_python_process_close(&a->process);
	else
		*ret = &a->process;
	return err;
}

struct plumb_error *pl_python_process_open(pid_t pid, enum pl_stop_policy policy, struct pl_python_process **ret)
{
	struct alone *a;
	struct plumb_error *err = create(&a);

	if (err)
		return err;
	a->process.pid = pid;
	(void)pl_process_files_look(&a->process.files, pid); /* before any code of it is seen */
	pl_room_raise();
	err = open_identity(a);
	return opened(a, err ? err : attach(a, policy), ret);
}

/* ---- of a core --------------------------------------------------------------------------------------------------- */

static struct plumb_error *find_in_core(struct pl_core *core, const char *root, struct pl_py *ret)
{
	struct pl_work work = {.most = PL_IMAGE_WORK};
	struct pl_python_image image;
	struct pl_rights as;

	pl_core_rights(core, &as);
	struct plumb_error *err = pl_python_image_find_mapped(pl_core_maps(core), pl_core_exe(core), root ? root : "/",
							      &as, &work, &image);
	err = pl_core_blame(core, err);
	if (plumb_error_code(err) == PLUMB_ERR_NOT_PYTHON && as.anybody)
		return pl_error_hint(err, "root keeps this core, which may be anybody's: only files that are open to "
					  "everybody were looked into; '--trust-core' looks into all, for a core that "
					  "nobody has made up");
	return err ? err : pl_core_blame(core, pl_which_python(pl_core_mem(core), &image, &work, ret));
}

static struct plumb_error *open_core(struct pl_python_process *p, const char *path, const char *root, bool trusted)
{
	struct plumb_error *err = pl_core_open(path, root, trusted, &p->core);
	struct pl_py py;

	if (err || (err = find_in_core(p->core, root, &py)))
		return err;
	p->pid = pl_core_pid(p->core);
	pl_core_rights(p->core, &p->files.view.rights);
	pl_reader_bind_core(&p->reader, &py, pl_core_mem(p->core));
	p->threads.lists.unlimited = p->threads.names.unlimited = true; /* nobody waits for us */
	return NULL;
}

struct plumb_error *pl_python_process_open_core(const char *path, const char *root, bool trusted,
						struct pl_python_process **ret)
{
	struct alone *a;
	struct plumb_error *err = create(&a);

	return err ? err : opened(a, open_core(&a->process, path, root, trusted), ret);
}

void pl_python_process_close(struct pl_python_process *p)
{
	struct alone *a = (struct alone *)p;

	pl_python_process_detach(p);
	pl_python_process_deinit(p);
	pl_core_close(p->core);
	pl_tables_deinit(&a->tables);
	pl_own_fd_close(a->fd);
	free(a);
}
