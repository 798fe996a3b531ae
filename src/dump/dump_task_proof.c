/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: is a ring of tasks one? The tasks were read one after the other while their loop may have run: each may
 * have waited for the next one, and never all at once. Tasks of one loop move only while its thread runs. So the ring
 * is read again while that does not: it is blocked, and was not on a CPU in between, or it is stopped for as long as
 * that takes. What is found then by itself was all there at that moment; and since a ring cannot move, it still is. */
#include "dump_task_proof.h"

#include <time.h>

#include "clock.h"
#include "dump_task_waits.h"
#include "mem_limited.h"

#define TRIES	     2000 /* with one ring: some tenths of a second */
#define PAUSE_NS     30000l
#define PREPARE_WORK (UINT64_C(64) << 20)
#define STOPPED_WORK (UINT64_C(12) << 20) /* done while the thread is stopped: some milliseconds at most */

struct proof {
	struct pl_looker *u;
	struct pl_thread_sampler *sampler;   /* of the thread that runs their loop */
	const struct pl_dump_deadlock *told; /* by the first look */
	const pl_addr *tasks;		     /* the same */
	size_t count;
	struct pl_work work;
	struct pl_mem_limited mem;
	struct pl_mem_pages *pages;
	struct pl_tasks_again *again;
	struct pl_tasks read;
	bool looked;		      /* and what the last look found: */
	struct pl_dump_deadlock ring; /* without members: there is none */
};

/* The same search, over these tasks alone. */
static struct plumb_error *find_ring(struct proof *f, struct pl_dump_process *p)
{
	struct pl_values values;
	struct plumb_error *err = pl_tasks_again_read(f->again, f->tasks, f->count, &f->read);

	for (size_t i = 0; i < f->read.list.len && !err; i++) {
		struct pl_dump_task t;
		bool ok = pl_dump_task_of(f->u->d, &f->read, &f->read.list.data[i], &t);
		if (ok && pl_vec_push(&p->tasks, t))
			continue;
		pl_dump_task_deinit(&t);
		err = &pl_err_no_memory;
	}
	pl_values_init(&values, pl_mem_pages_mem(f->pages), &f->u->process->reader.py, NULL);
	if (!err)
		err = pl_dump_task_waits(f->u->d, p, &values, &f->read, 0);
	return err ? err : pl_dump_find_task_deadlocks(p);
}

static bool take_ring(struct proof *f, const struct pl_dump_deadlock *found)
{
	bool ok = true;

	for (size_t i = 0; i < found->members.len && ok; i++)
		ok = pl_vec_push(&f->ring.members, f->told->members.data[found->members.data[i]]);
	return ok;
}

static void look_again(struct proof *f)
{
	struct pl_dump_process p = {0};

	pl_mem_pages_forget(f->pages);
	f->work = (struct pl_work){.most = STOPPED_WORK};
	struct plumb_error *err = find_ring(f, &p);
	f->looked = true;
	pl_vec_clear(&f->ring.members);
	/* None has ended: they are in the order of `tasks`. */
	if (!err && p.tasks.len == f->count && p.task_deadlocks.len)
		f->looked = take_ring(f, &p.task_deadlocks.data[0]);
	plumb_error_destroy(err);
	pl_dump_process_deinit(&p);
}

static void look_while_stopped(void *ctx, struct pl_thread_sampler *thread)
{
	struct proof *f = ctx;

	if (thread == f->sampler)
		look_again(f);
}

/* Did the thread stand still by itself? */
static bool look_while_blocked(struct proof *f)
{
	struct pl_stand stand = {.info = {.syscall = -1}};

	(void)pl_thread_clock_counters(&f->sampler->clock, &stand.counters);
	stand.activity = pl_thread_clock_activity(&f->sampler->clock, &stand.info);
	if (stand.activity != PL_ACTIVITY_BLOCKED)
		return false;
	look_again(f);
	f->looked &= pl_stand_holds(&stand, f->sampler);
	return f->looked;
}

/* False: the thread is gone. */
static bool look_by_stop(struct proof *f)
{
	struct pl_stopper *s = &f->u->process->stopper;
	struct pl_stop_taker taker = {.take = look_while_stopped, .ctx = f};
	struct pl_reading reading;
	struct pl_raw_sample sample;

	if (pl_stopper_holds(s, f->sampler->tid)) { /* by a stop that was asked for before: it runs no code */
		look_again(f);
		return true;
	}
	enum pl_take_result r =
		pl_thread_sampler_take_stopped(f->sampler, &f->u->process->reader, s, &taker, &reading, &sample);
	return r != PL_TAKE_GONE && r != PL_TAKE_EXITED;
}

static bool prove(struct proof *f)
{
	for (int i = 0; i < TRIES && pl_clock_monotonic_ns() < f->u->end_ns; i++) {
		bool there = true;

		f->looked = false;
		if (!look_while_blocked(f))
			there = look_by_stop(f);
		if (f->looked || !there)
			return f->looked && f->ring.members.len;
		(void)pl_stopper_settle(&f->u->process->stopper);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	return false;
}

/* ---- one ring ---------------------------------------------------------------------------------------------------- */

/* The thread that runs the loop of all of them, in their interpreter; NULL: there is none, or more than one. */
static struct pl_thread_sampler *thread_of(const struct pl_thread_list *list, const struct pl_dump_process *p,
					   const struct pl_dump_deadlock *ring)
{
	const struct pl_dump_task *first = &p->tasks.data[ring->members.data[0]];

	for (size_t i = 1; i < ring->members.len; i++) {
		const struct pl_dump_task *t = &p->tasks.data[ring->members.data[i]];
		if (t->tid != first->tid || t->interpreter != first->interpreter)
			return NULL;
	}
	const struct pl_interp *in = pl_thread_list_interp(list, first->interpreter);
	for (size_t i = 0; i < list->samplers.len && first->tid && in; i++) {
		struct pl_thread_sampler *thread = list->samplers.data[i];

		if ((uint64_t)thread->tid == first->tid && thread->stack.interp.addr == in->addr)
			return thread;
	}
	return NULL;
}

static struct plumb_error *prepare(struct proof *f)
{
	const struct pl_reader *r = &f->u->process->reader;
	struct pl_mem *live = pl_mem_live_mem(r->live);

	f->work = (struct pl_work){.most = PREPARE_WORK};
	struct plumb_error *err = pl_mem_pages_create(pl_mem_limited_init(&f->mem, live, &f->work), &f->pages);
	if (!err)
		err = pl_tasks_again_create(pl_mem_pages_mem(f->pages), &r->py, &f->sampler->stack.interp, &f->again);
	return err;
}

static struct plumb_error *check(struct proof *f, struct pl_dump_deadlock *ring, bool *ret)
{
	struct plumb_error *err = prepare(f);

	*ret = !err && prove(f);
	if (*ret) {
		struct pl_dump_deadlock told = *ring;
		*ring = f->ring;
		f->ring = told;
	}
	pl_vec_deinit(&f->ring.members);
	pl_tasks_again_destroy(f->again);
	pl_mem_pages_destroy(f->pages);
	pl_tasks_deinit(&f->read);
	if (err == &pl_err_no_memory)
		return err;
	plumb_error_destroy(err);
	return NULL;
}

static struct plumb_error *check_ring(struct pl_looker *u, const struct pl_dump_process *p,
				      struct pl_dump_deadlock *ring, bool *ret)
{
	struct proof f = {
		.u = u, .told = ring, .sampler = thread_of(&u->process->threads, p, ring), .count = ring->members.len};
	PL_VEC(pl_addr) tasks = {0};
	struct plumb_error *err = NULL;
	bool ok = f.sampler;

	*ret = false;
	pl_tasks_init(&f.read);
	for (size_t i = 0; i < f.count && ok; i++)
		ok = pl_vec_push(&tasks, p->tasks.data[ring->members.data[i]].id);
	f.tasks = tasks.data;
	if (ok)
		err = check(&f, ring, ret);
	else if (f.sampler)
		err = &pl_err_no_memory;
	pl_vec_deinit(&tasks);
	return err;
}

struct plumb_error *pl_dump_prove_task_deadlocks(struct pl_looker *u, struct pl_dump_process *p)
{
	pl_dump_deadlock_vec *rings = &p->task_deadlocks;
	struct plumb_error *err = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < rings->len; i++) {
		struct pl_dump_deadlock ring = rings->data[i];
		bool is_ring = false;

		if (!err && pl_clock_monotonic_ns() < u->end_ns)
			err = check_ring(u, p, &ring, &is_ring);
		if (is_ring)
			rings->data[kept++] = ring;
		else
			pl_vec_deinit(&ring.members);
	}
	rings->len = kept;
	return err;
}
