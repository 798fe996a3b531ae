/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See task_waits.h.
 *
 * A look lists all tasks of one interpreter, a random one, and reads some of them in a row, from a random one on: as
 * many as do not take long. Each of them stands for those that were not read, and for the time since the last look.
 *
 * Tasks of a loop stand still while the thread does that runs it: so they are read while that is blocked, or in a stop.
 * Where neither can be had they are lost, and never put off until the thread blocks: a task that computes and sleeps in
 * turns would be found asleep each time. */
#include "task_waits.h"

#include <stdlib.h>

#include "task_stack.h"
#include "wait_words.h"

#define READ_WORK  (UINT64_C(8) << 20)	 /* a thread may be stopped meanwhile */
#define LIST_WORK  (UINT64_C(128) << 20) /* 16,000 tasks take a quarter of it */
#define LOOK_NS	   UINT64_C(100000000)	 /* of CPU time: 16,000 tasks take a fifth of it to list */
#define TRIES	   2			 /* with a thread that wakes up meanwhile */
#define LIST_TRIES 3			 /* with lists that change meanwhile */

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void close_lister(struct pl_task_lister *l)
{
	pl_tasks_again_destroy(l->again);
	pl_mem_pages_destroy(l->pages);
	*l = (struct pl_task_lister){0};
}

void pl_task_waits_forget(struct pl_task_waits *t)
{
	close_lister(&t->lister);
	pl_stack_reader_deinit(&t->stack);
	t->stack = (struct pl_stack_reader){0};
	t->begun = false;
}

void pl_task_waits_deinit(struct pl_task_waits *t)
{
	pl_task_waits_forget(t);
	pl_vec_deinit(&t->list);
	pl_tasks_deinit(&t->read);
	pl_vec_deinit(&t->waits);
}

/* ---- some tasks of one thread, while it stands still ------------------------------------------------------------- */

struct portion {
	struct pl_task_waits *t;
	struct pl_python_process *p;
	struct pl_task_stacks *stacks;
	struct pl_thread_sampler *thread;
	size_t at, count;   /* in the list */
	uint64_t stands_ns; /* each of them */
	size_t waits;	    /* that there were before */
	bool read;
	uint32_t lost; /* tasks of it that could not be read */
};

static void drop(struct portion *x)
{
	x->t->waits.len = x->waits;
	x->lost = 0;
	x->read = false;
}

static bool add(struct portion *x, uint32_t node, enum pl_dump_for what, uint32_t tasks)
{
	const struct pl_tasks_waiting w = {.node = node,
					   .tid = x->thread->tid,
					   .what = (uint8_t)what,
					   .tasks = tasks,
					   .task_ns = tasks * x->stands_ns};

	return pl_vec_push(&x->t->waits, w);
}

/* What it waits for, if it does. */
static struct plumb_error *add_wait(struct portion *x, const struct pl_task *task)
{
	struct pl_reader *r = &x->p->reader;
	struct pl_interp now;
	uint32_t node;
	struct plumb_error *err = pl_interp_read_again(pl_mem_live_mem(r->live), &r->py, &x->t->lister.interp, &now);

	if (!err)
		err = pl_stack_name_task(r, &x->t->stack, &now, &node);
	if (!err && !node)
		err = &pl_err_limit;
	return err || add(x, node, pl_wait_word(task->what), 1) ? err : &pl_err_no_memory;
}

/* Its frames and those of its awaiters, innermost first. Who waits for a task is told by that one. */
static struct plumb_error *take_task(struct portion *x, const struct pl_task *task)
{
	struct pl_task_waits *t = x->t;
	pl_frame_vec *frames = &t->stack.task_frames;
	struct pl_mem *mem = pl_mem_pages_mem(t->lister.pages);
	bool shields = false;
	struct plumb_error *err = NULL;

	if (task->state != PL_TASK_WAITING || task->for_tasks)
		return NULL;
	err = pl_task_shields(x->stacks, mem, task->waits_for, &shields);
	if (err || shields)
		return err;
	pl_vec_clear(frames);
	for (uint32_t i = 0; i < task->frames && !err; i++)
		err = pl_vec_push(frames, t->read.frames.data[task->frames_at + i]) ? NULL : &pl_err_no_memory;
	if (!err)
		err = pl_task_awaiters_read(x->stacks, mem, task->addr, frames);
	if (!err && (task->cut || !task->frames))
		err = &pl_err_limit;
	return err ? err : add_wait(x, task);
}

static struct plumb_error *read_tasks(struct portion *x)
{
	struct pl_task_waits *t = x->t;
	pl_addr tasks[PL_WAITS_TASKS];

	for (size_t i = 0; i < x->count; i++)
		tasks[i] = t->list.data[x->at + i].addr;
	return pl_tasks_again_read(t->lister.again, tasks, x->count, &t->read);
}

/* One that cannot be read is lost, and costs no other. */
static void read_portion(struct portion *x)
{
	struct pl_task_waits *t = x->t;

	drop(x);
	pl_mem_pages_forget(t->lister.pages);
	t->lister.work = (struct pl_work){.most = READ_WORK};
	x->p->reader.tick++; /* what was known of code objects is proved anew */
	struct plumb_error *err = read_tasks(x);
	x->read = !err;
	x->lost = (uint32_t)t->read.lost;
	for (size_t i = 0; i < t->read.list.len && x->read; i++) {
		plumb_error_destroy(err);
		err = take_task(x, &t->read.list.data[i]);
		x->lost += err != NULL;
		x->read = err != &pl_err_no_memory && err != &pl_err_target_exited;
	}
	plumb_error_destroy(err);
}

/* ---- whether it stands still ------------------------------------------------------------------------------------- */

static void read_while_stopped(void *ctx, struct pl_thread_sampler *thread)
{
	struct portion *x = ctx;

	if (thread == x->thread)
		read_portion(x);
}

/* *blocked_ret: it was, at first. */
static bool read_while_blocked(struct portion *x, bool *blocked_ret)
{
	const struct pl_thread_clock *clock = &x->thread->clock;
	struct pl_run_counters before, after;

	*blocked_ret = pl_thread_clock_counters(clock, &before) == PL_CLOCK_OK &&
		       pl_thread_clock_activity(clock, NULL) == PL_ACTIVITY_BLOCKED;
	if (!*blocked_ret)
		return false;
	read_portion(x);
	return x->read && pl_thread_clock_counters(clock, &after) == PL_CLOCK_OK && after.runs == before.runs;
}

/* By the rules for one more sample, whichever way these are had. */
static bool may_stop(struct pl_stopper *s)
{
	uint64_t now = pl_clock_monotonic_ns();

	return pl_stopper_may(s, now) || (s->policy == PL_STOP_AUTO && pl_stopper_may_stand_beside(s, now));
}

static bool read_in_stop(struct portion *x)
{
	struct pl_stopper *s = &x->p->stopper;
	struct pl_stop_taker taker = {.take = read_while_stopped, .ctx = x};
	struct pl_reading reading;
	struct pl_raw_sample sample;

	drop(x);
	if (!may_stop(s))
		return false;
	(void)pl_thread_sampler_take_stopped(x->thread, &x->p->reader, s, &taker, &reading, &sample);
	return x->read;
}

static bool read_proved(struct portion *x)
{
	bool blocked = true;

	for (int i = 0; i < TRIES && blocked; i++)
		if (read_while_blocked(x, &blocked))
			return true;
	return read_in_stop(x);
}

static struct pl_thread_sampler *thread_of(const struct pl_python_process *p, uint64_t ident, pl_addr interp)
{
	for (size_t i = 0; i < p->threads.samplers.len; i++) {
		struct pl_thread_sampler *thread = p->threads.samplers.data[i];

		if (thread->ident == ident && thread->stack.interp.addr == interp)
			return thread;
	}
	return NULL;
}

static void read_or_lose(struct portion *x)
{
	x->t->tid = x->thread->tid;
	if (pl_clock_thread_cpu_ns() >= x->t->late_ns || !read_proved(x)) {
		drop(x);
		x->lost = (uint32_t)x->count;
	}
	if (x->lost && !add(x, 0, PL_DUMP_FOR_UNKNOWN, x->lost))
		x->t->lost_ns += x->lost * x->stands_ns;
}

/* Those from @p at on that are of one thread, up to @p end. @return where they end. */
static size_t take_portion(struct pl_task_waits *t, struct pl_python_process *p, struct pl_task_stacks *stacks,
			   size_t at, size_t end, uint64_t stands_ns)
{
	struct portion x = {.t = t, .p = p, .stacks = stacks, .at = at, .stands_ns = stands_ns, .waits = t->waits.len};
	uint64_t ident = t->list.data[at].thread_id;

	while (at + x.count < end && t->list.data[at + x.count].thread_id == ident)
		x.count++;
	x.thread = thread_of(p, ident, t->lister.interp.addr);
	/* Without one its loop does not run, or is of a thread that nobody asks for. */
	if (x.thread)
		read_or_lose(&x);
	return at + x.count;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static int by_thread(const void *a, const void *b)
{
	const struct pl_task_at *x = a, *y = b;

	return x->thread_id != y->thread_id ? (x->thread_id < y->thread_id ? -1 : 1) : 0;
}

static struct plumb_error *open_lister(struct pl_task_waits *t, const struct pl_reader *r,
				       const struct pl_interp *interp)
{
	struct pl_task_lister *l = &t->lister;

	if (!l->again || l->interp.addr != interp->addr)
		close_lister(l);
	l->interp = *interp;
	l->work = (struct pl_work){.most = LIST_WORK};
	if (l->again)
		return NULL;
	struct pl_mem *live = pl_mem_live_mem(r->live);
	struct plumb_error *err = pl_mem_pages_create(pl_mem_limited_init(&l->limited, live, &l->work), &l->pages);
	return err ? err : pl_tasks_again_create(pl_mem_pages_mem(l->pages), &r->py, &l->interp, &l->again);
}

/* Is it worth while to list them again? More than can be listed are so each time. */
static bool may_list_again(const struct pl_task_waits *t)
{
	return t->list.len < PL_MAX_TASKS && !t->lister.work.ran_out && pl_clock_thread_cpu_ns() < t->late_ns;
}

/* Again, where lists changed meanwhile. Those that are missing in the end are as many as were there before. */
static struct plumb_error *list_whole(struct pl_task_waits *t)
{
	struct plumb_error *err = NULL;
	size_t lost = 1;

	for (int i = 0; i < LIST_TRIES && !err && lost && (i == 0 || may_list_again(t)); i++) {
		pl_vec_clear(&t->list);
		pl_mem_pages_forget(t->lister.pages);
		err = pl_tasks_again_list(t->lister.again, &t->list, &lost);
	}
	if (err)
		pl_vec_clear(&t->list); /* nothing is read of it */
	if (!err && !lost)
		t->lister.listed = t->list.len;
	else if (t->lister.listed > t->list.len + lost)
		lost = t->lister.listed - t->list.len;
	t->lost_ns += lost * t->weighs_ns;
	return err;
}

static struct plumb_error *list_tasks(struct pl_task_waits *t, const struct pl_reader *r,
				      const struct pl_interp *interp)
{
	struct plumb_error *err = open_lister(t, r, interp);

	if (!err)
		err = list_whole(t);
	if (t->list.len)
		qsort(t->list.data, t->list.len, sizeof *t->list.data, by_thread);
	if (err)
		close_lister(&t->lister);
	return err;
}

/* As many in a row, the first behind the last: each is met as often as any other. */
static void read_some(struct pl_task_waits *t, struct pl_python_process *p, struct pl_task_stacks *stacks)
{
	size_t all = t->list.len, some = all < PL_WAITS_TASKS ? all : PL_WAITS_TASKS;
	size_t first = (size_t)(pl_rng_unit(&t->rng) * (double)all), over = first + some > all ? first + some - all : 0;
	uint64_t stands_ns = t->weighs_ns * all / (some ? some : 1);

	for (size_t at = first; at < first + some - over;)
		at = take_portion(t, p, stacks, at, first + some - over, stands_ns);
	for (size_t at = 0; at < over;)
		at = take_portion(t, p, stacks, at, over, stands_ns);
}

static void look_at(struct pl_task_waits *t, struct pl_python_process *p, const struct pl_interp *known)
{
	struct pl_reader *r = &p->reader;
	struct pl_task_stacks *stacks = NULL;
	struct pl_interp interp;
	struct plumb_error *err = pl_interp_read_again(pl_mem_live_mem(r->live), &r->py, known, &interp);

	pl_vec_clear(&t->list);
	if (!err)
		err = pl_task_finders_get(&r->task_finders, &r->py, r->live, &interp, &stacks);
	if (!err && stacks)
		err = list_tasks(t, r, &interp);
	plumb_error_destroy(err);
	if (stacks)
		read_some(t, p, stacks);
}

/* At random, about so often: not in step with a program that does something as often. */
static uint64_t pause_ns(struct pl_task_waits *t)
{
	return (uint64_t)((0.5 + pl_rng_unit(&t->rng)) * (double)PL_NS_PER_S / PL_WAITS_LOOKS);
}

static int by_place(const void *a, const void *b)
{
	const struct pl_tasks_waiting *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->what > y->what) - (x->what < y->what);
}

static void add_to(struct pl_tasks_waiting *sum, const struct pl_tasks_waiting *w)
{
	sum->tasks += w->tasks;
	sum->task_ns += w->task_ns;
}

/* Those of one place as one. */
static void add_up(struct pl_task_waits *t)
{
	size_t kept = 0;

	if (t->waits.len)
		qsort(t->waits.data, t->waits.len, sizeof *t->waits.data, by_place);
	for (size_t i = 0; i < t->waits.len; i++) {
		if (kept && by_place(&t->waits.data[kept - 1], &t->waits.data[i]) == 0)
			add_to(&t->waits.data[kept - 1], &t->waits.data[i]);
		else
			t->waits.data[kept++] = t->waits.data[i];
	}
	t->waits.len = kept;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* The first time there is no time that a look could stand for. */
static void begin(struct pl_task_waits *t, struct pl_python_process *p, uint64_t now)
{
	pl_stack_reader_init(&t->stack, &p->reader, 0, &(struct pl_interp){0});
	pl_tasks_deinit(&t->read);
	pl_tasks_init(&t->read);
	t->begun = true;
	t->looked_ns = now;
	t->next_ns = now + pause_ns(t);
}

bool pl_task_waits_due(struct pl_task_waits *t, struct pl_python_process *p, uint64_t now)
{
	if (!t->begun)
		begin(t, p, now);
	return now >= t->next_ns;
}

/* One interpreter for all: each is met as often as any other. */
void pl_task_waits_look(struct pl_task_waits *t, struct pl_python_process *p, uint64_t now)
{
	size_t interps = p->threads.interps.len;

	t->stands_ns = now - t->looked_ns;
	t->weighs_ns = t->stands_ns * interps;
	t->looked_ns = now;
	t->next_ns = now + pause_ns(t);
	t->late_ns = pl_clock_thread_cpu_ns() + LOOK_NS;
	t->lost_ns = 0;
	pl_vec_clear(&t->waits);
	if (interps)
		look_at(t, p, &p->threads.interps.data[(size_t)(pl_rng_unit(&t->rng) * (double)interps)]);
	add_up(t);
}
