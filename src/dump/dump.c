/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: a dump of one process, living or of a core. How a single thread is looked at is in dump_look.c. Of a
 * core the kernel tells what it noted, and nothing of what is around the process. */
#include "dump.h"

#include <errno.h>
#include <time.h>

#include "clock.h"
#include "dump_chosen.h"
#include "dump_holds.h"
#include "dump_locals.h"
#include "dump_look.h"
#include "dump_parts.h"
#include "dump_task_proof.h"
#include "dump_tasks.h"
#include "last_run.h"
#include "mem_until.h"
#include "native_weave.h"
#include "proc.h"
#include "thread_state.h"

#define PAUSE_NS      30000l
#define SETTLE_NS     1000000000ull
#define COMMAND_BYTES 4096
#define NATIVE_SHARE  2 /* native frames are looked for until twice the time for proving stacks is over */
#define WATCHED_SHARE 2 /* of the time for proving stacks: to read what epolls watch */
#define LOCALS_SHARE  2 /* variables likewise */
#define ALL_SHARE     3 /* threads and tasks are looked at until three times that is over: the rest is for telling */

struct dumper {
	const struct pl_dump_options *o;
	struct pl_python_process *process;
	struct pl_dump *d;
	struct pl_dump_process *p;
	struct pl_dump_chosen chosen;
	uint64_t start_ns;
	uint64_t aged_ns; /* when the age of the process was read */
	struct pl_surroundings around;
	struct pl_dump_sources sources;
	bool no_source; /* for the thread at hand */
	struct pl_looker looker;
	struct pl_sched_clocks clocks;
	struct pl_native *native; /* NULL: not asked for */
	pl_dump_shown_vec shown;  /* of the thread at hand */
	struct pl_map known;	  /* tids of those that have run Python */
	pl_addr holder;		  /* the state that was last asked for, and its thread's number */
	uint64_t holder_tid;
	struct pl_lock_finder locks;
	pl_lock_waiter_vec waiters;
};

static const struct pl_core *core_of(const struct dumper *u)
{
	return u->process->core;
}

static pid_t pid_of(const struct dumper *u)
{
	return (pid_t)u->p->pid;
}

/* ---- what a thread is doing -------------------------------------------------------------------------------------- */

static enum pl_doing doing_of(char letter, enum pl_activity activity, bool wants_gil)
{
	if (letter == 'Z' || letter == 'X')
		return PL_DOING_ENDED;
	if (letter == 't')
		return PL_DOING_TRACED;
	if (letter == 'T')
		return PL_DOING_STOPPED;
	if (activity == PL_ACTIVITY_RUNNING)
		return PL_DOING_RUNNING;
	if (activity != PL_ACTIVITY_BLOCKED)
		return letter == 'R' ? PL_DOING_RUNNING : PL_DOING_UNKNOWN;
	if (letter == 'D')
		return PL_DOING_UNWAKEABLE;
	return wants_gil ? PL_DOING_GIL : PL_DOING_BLOCKED;
}

/* For how long the process is up by now; 0: not known. */
static uint64_t age_now(const struct dumper *u)
{
	return u->p->age_ns ? u->p->age_ns + pl_clock_monotonic_ns() - u->aged_ns : 0;
}

/* Not for longer than the process is up: the clock of the scheduler may be a little faster than that of the age. */
static void tell_idle(struct dumper *u, pid_t tid, struct pl_dump_thread *t)
{
	t->idle_known = pl_last_run(&u->clocks, pid_of(u), tid, &t->idle_ns);
	uint64_t age_ns = age_now(u);
	if (age_ns && t->idle_ns > age_ns)
		t->idle_ns = age_ns;
}

static void tell_doing(struct dumper *u, pid_t tid, const struct pl_look *l, struct pl_dump_thread *t)
{
	const struct pl_core_thread *noted = core_of(u) ? pl_core_thread_of(core_of(u), tid) : NULL;
	struct pl_thread_state state = {0};

	if (!core_of(u))
		pl_thread_state_read(pid_of(u), tid, &state);
	t->signal = noted ? noted->signal : 0;
	t->doing = doing_of(state.letter, l->stand.activity, t->wants_gil);
	t->in_call = l->stand.activity == PL_ACTIVITY_BLOCKED && t->doing != PL_DOING_GIL && t->doing != PL_DOING_ENDED;
	if (t->in_call && !core_of(u))
		tell_idle(u, tid, t);
	if (state.tracer)
		u->p->tracer = pl_dump_other(u->d, state.tracer);
}

static void tell_state(const struct pl_look *l, struct pl_dump_thread *t)
{
	uint8_t state = l->sample.state;

	t->has_gil = state & PL_STATE_HAS_GIL;
	t->wants_gil = state & PL_STATE_WANTS_GIL;
	t->in_gc = state & PL_STATE_IN_GC;
	t->exception = l->exception;
	t->jit = l->jit;
	t->jit_known = l->jit_known;
	t->quality = l->sample.quality;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static struct plumb_error *add_frame(struct dumper *u, const struct pl_node *n, const struct pl_code *code,
				     size_t depth, struct pl_look *l, struct pl_dump_thread *t)
{
	struct pl_dump_sources *sources = u->no_source ? NULL : &u->sources;
	struct pl_dump_frame f = pl_dump_frame_of(u->d, sources, &u->process->reader.py, code, n->offset);

	pl_dump_tell_locals(u->d, &l->variables, depth, &f);
	if (pl_vec_push(&t->frames, f))
		return NULL;
	pl_vec_deinit(&f.locals);
	return &pl_err_no_memory;
}

/* A node names its whole stack, the innermost frame first. */
static struct plumb_error *add_frames(struct dumper *u, struct pl_look *l, struct pl_dump_thread *t)
{
	const struct pl_reader *r = &u->process->reader;
	struct plumb_error *err = NULL;
	uint32_t node = l->sample.node;

	for (size_t depth = 0; node && !err; depth++) {
		const struct pl_node *n = &r->trie->nodes.data[node];
		const struct pl_code *c = &r->codes.store->known.data[n->code]->code;

		/* Frames that the interpreter hides from its own users are no frames here either. */
		if (!c->hidden)
			err = add_frame(u, n, c, depth, l, t);
		if (!err && u->native && !pl_vec_push(&u->shown, c->hidden ? 0 : (uint32_t)t->frames.len))
			err = &pl_err_no_memory;
		node = n->parent;
	}
	return err;
}

static struct plumb_error *add_native(struct dumper *u, const struct pl_native_taken *taken, struct pl_dump_thread *t)
{
	struct pl_dump_sources *sources = u->no_source ? NULL : &u->sources;

	return u->native ? pl_native_weave(u->native, taken, u->d, sources, &u->shown, t) : NULL;
}

/* A thread can have other rights than its process, and names other files then; of a core that is not known. */
static bool sees_files(const struct dumper *u, pid_t tid)
{
	return core_of(u) || pl_process_files_seen_by(&u->process->files, pid_of(u), tid);
}

/* ---- one thread -------------------------------------------------------------------------------------------------- */

/* The number of the thread whose state is at @p tstate; 0 if there is none. */
static uint64_t holder_tid(struct dumper *u, pl_addr tstate)
{
	if (tstate != u->holder) { /* one thread after the other has the same answer */
		const struct pl_thread_sampler *thread = pl_thread_list_of_state(&u->process->threads, tstate);

		u->holder = tstate;
		u->holder_tid = thread ? (uint64_t)thread->tid : 0;
	}
	return u->holder_tid;
}

/* Of a damaged stack without a frame there is the state alone. */
static struct plumb_error *tell_stack(struct dumper *u, struct pl_thread_sampler *thread, struct pl_look *l,
				      struct pl_dump_thread *t)
{
	tell_state(l, t);
	t->gil_holder = holder_tid(u, l->holder);
	u->no_source = !u->o->source || !sees_files(u, thread->tid);
	struct plumb_error *err = add_frames(u, l, t);
	t->read = !core_of(u) || t->frames.len || t->quality == PL_EXACT;
	return err ? err : add_native(u, &l->native, t);
}

static struct plumb_error *dump_thread(struct dumper *u, struct pl_thread_sampler *thread)
{
	struct pl_dump_thread t = {
		.tid = (uint64_t)thread->tid,
		.ident = thread->ident,
		.name = pl_dump_str(u->d, thread->name),
		.main = thread->main,
		.python = true,
		.interpreter = pl_thread_list_interp_number(&u->process->threads, thread->stack.interp.addr)};
	struct plumb_error *err = NULL;
	struct pl_look l = {0};

	pl_vec_clear(&u->shown);
	if (!pl_map_set(&u->known, t.tid, 0, 1))
		return &pl_err_no_memory;
	if (!pl_look_until_proved(&u->looker, thread, &l)) {
		u->p->unread++;
		pl_look_deinit(&l);
		return NULL;
	}
	if (l.read)
		err = tell_stack(u, thread, &l, &t);
	t.wait = l.wait;
	l.wait.watched = (pl_dump_fd_vec){0};
	pl_dump_watched(u->d, &u->around, &t.wait);
	tell_doing(u, thread->tid, &l, &t);
	bool ok = !err && pl_dump_add_waiter(&u->locks, &u->waiters, thread, &l, &t);
	pl_look_deinit(&l);
	if (ok && pl_vec_push(&u->p->threads, t))
		return NULL;
	pl_dump_thread_deinit(&t);
	return &pl_err_no_memory;
}

/* Without Python: as it is, if it does not run meanwhile; one that runs is stopped. */
static struct plumb_error *add_native_alone(struct dumper *u, pid_t tid, struct pl_look *l, struct pl_dump_thread *t)
{
	const struct pl_native_thread thread = {.tid = tid};

	pl_vec_clear(&u->shown);
	u->no_source = !u->o->source || !sees_files(u, tid);
	if (u->native && l->stand.activity == PL_ACTIVITY_BLOCKED)
		pl_native_take_blocked(u->native, &thread, &l->stand.info, &l->native);
	else if (u->native && l->stand.activity == PL_ACTIVITY_RUNNING)
		pl_look_at_native(&u->looker, tid, l);
	return add_native(u, &l->native, t);
}

/* Threads that never ran Python, or for which there is no room: what they wait for can be told all the same. */
static struct plumb_error *dump_one_without_python(struct dumper *u, pid_t tid)
{
	struct pl_dump_thread t = {
		.tid = (uint64_t)tid, .main = tid == pid_of(u), .beyond = u->process->threads.refused != 0};
	struct pl_look l = {.stand.info.syscall = -1};
	struct pl_thread_clock clock;
	char comm[16] = "";

	pl_python_process_clock(u->process, tid, &clock);
	l.stand.activity = pl_thread_clock_activity(&clock, &l.stand.info);
	pl_thread_clock_close(&clock);
	if (!core_of(u))
		pl_proc_comm(pid_of(u), tid, comm);
	if (!comm[0] && !core_of(u))
		return NULL;
	t.name = pl_dump_str(u->d, comm);
	if (l.stand.activity == PL_ACTIVITY_BLOCKED)
		pl_dump_wait(u->d, &u->around, pl_python_process_mem(u->process), &l.stand.info, &t.wait);
	pl_dump_watched(u->d, &u->around, &t.wait);
	struct plumb_error *err = add_native_alone(u, tid, &l, &t);
	pl_native_taken_deinit(&l.native);
	tell_doing(u, tid, &l, &t);
	if (!err && pl_vec_push(&u->p->threads, t))
		return NULL;
	pl_dump_thread_deinit(&t);
	return &pl_err_no_memory;
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* Whoever waits longer gets more threads; one there is always. */
static bool is_late(const struct dumper *u)
{
	return !core_of(u) && u->p->threads.len &&
	       pl_clock_monotonic_ns() > u->start_ns + ALL_SHARE * pl_dump_limit_ns(u->o);
}

static struct plumb_error *dump_without_python(struct dumper *u)
{
	pl_tid_vec tids = {0};
	struct plumb_error *err = pl_python_process_tids(u->process, &tids);
	uint32_t any;

	for (size_t i = 0; i < tids.len && !err; i++) {
		if (!pl_dump_is_chosen(&u->chosen, (uint64_t)tids.data[i]))
			u->p->left_out++;
		else if (pl_map_get(&u->known, (uint64_t)tids.data[i], 0, &any))
			continue;
		else if (is_late(u)) /* those that run Python, too */
			u->p->late++;
		else
			err = dump_one_without_python(u, tids.data[i]);
	}
	pl_vec_deinit(&tids);
	return err;
}

/* Half of the threads must not look like all of them. */
static struct plumb_error *check_room(const struct dumper *u)
{
	if (!u->process->threads.refused ||
	    pl_room_for_one(u->process->threads.room)) /* those beyond PL_MAX_SAMPLED_THREADS are marked */
		return NULL;
	return pl_error_hint(
		pl_error_errno(PLUMB_ERR_SYSTEM, EMFILE, "cannot look at all threads of pid %d", (int)pid_of(u)),
		"plumb needs two descriptors a thread: raise the limit (ulimit -n)");
}

static struct plumb_error *dump_threads(struct dumper *u)
{
	struct plumb_error *err = pl_thread_list_refresh(u->process, pl_clock_monotonic_ns());

	err = err ? err : check_room(u);
	err = err ? err : pl_dump_choose(u->o, u->process, &u->chosen);
	for (size_t i = 0; i < u->process->threads.samplers.len && !err && !is_late(u); i++)
		if (pl_dump_is_chosen(&u->chosen, (uint64_t)u->process->threads.samplers.data[i]->tid))
			err = dump_thread(u, u->process->threads.samplers.data[i]);
	return err ? err : dump_without_python(u);
}

/* One that is waited for, and was not asked for, or came too late: what it does tells why it is waited for. */
static struct plumb_error *dump_holder(struct dumper *u, uint64_t tid)
{
	uint32_t any;

	for (size_t i = 0; tid && i < u->process->threads.samplers.len; i++)
		if ((uint64_t)u->process->threads.samplers.data[i]->tid == tid &&
		    !pl_map_get(&u->known, tid, 0, &any)) {
			uint32_t *counted = pl_dump_is_chosen(&u->chosen, tid) ? &u->p->late : &u->p->left_out;

			*counted -= *counted > 0;
			return dump_thread(u, u->process->threads.samplers.data[i]);
		}
	return NULL;
}

static struct plumb_error *dump_holders(struct dumper *u)
{
	struct plumb_error *err = dump_holder(u, u->p->gil_holder);

	for (size_t i = 0, count = u->p->awaited.len; i < count && !err && !is_late(u); i++)
		err = dump_holder(u, u->p->awaited.data[i].holder);
	return err;
}

static void find_gil_holder(struct dumper *u)
{
	const struct pl_interp *main = pl_thread_list_interp(&u->process->threads, 0);
	struct pl_interp now;

	if (!main || pl_interp_read_again(pl_python_process_mem(u->process), &u->process->reader.py, main, &now))
		return;
	u->p->gil_holder = holder_tid(u, now.gil_holder);
}

static void tell_living(struct dumper *u)
{
	char command[COMMAND_BYTES];

	pl_proc_command(pid_of(u), command, sizeof command);
	u->p->command = pl_dump_str(u->d, command);
	u->aged_ns = pl_clock_monotonic_ns();
	(void)pl_process_age(pid_of(u), &u->p->age_ns);
	u->sources.age_ns = u->p->age_ns;
}

/* Files of this machine; those that are younger than the core may be others than those that ran. */
static void tell_core(struct dumper *u)
{
	uint64_t written = pl_core_written_ns(core_of(u)), now = pl_clock_real_ns();

	u->p->command = pl_dump_str(u->d, pl_core_command(core_of(u)));
	u->p->core_bytes = pl_core_length(core_of(u), &u->p->core_whole_bytes);
	u->sources.root = u->o->root ? u->o->root : "/";
	u->sources.age_ns = now > written ? now - written : 0;
}

static void tell_header(struct dumper *u)
{
	char version[PL_VERSION_TEXT];

	u->p->python = pl_dump_str(u->d, pl_py_version_text(&u->process->reader.py, version));
	u->p->tracer = pl_dump_other(u->d, 0);
	u->p->refused = pl_dump_str(u->d, "");
	if (core_of(u))
		tell_core(u);
	else
		tell_living(u);
}

/* What is not read in time is lost: the stacks are there. */
static struct plumb_error *dump_tasks(struct dumper *u)
{
	struct pl_values values; /* of what may change at any moment: read as it is */
	struct pl_mem_until until;
	uint64_t end_ns = u->start_ns + ALL_SHARE * pl_dump_limit_ns(u->o);
	const struct pl_task_dumper tasks = {
		.d = u->d,
		.p = u->p,
		.mem = pl_mem_until_init(&until, pl_python_process_mem(u->process), end_ns),
		.py = &u->process->reader.py,
		.sources = u->o->source ? &u->sources : NULL,
		.values = u->o->locals ? &values : NULL};

	pl_values_init(&values, tasks.mem, tasks.py, NULL);
	struct plumb_error *err = pl_dump_tasks(&tasks, &u->process->threads.interps);
	return err || core_of(u) ? err : pl_dump_prove_task_deadlocks(&u->looker, u->p);
}

/* A stop that has not come about must not be forgotten. */
static void settle(const struct dumper *u)
{
	uint64_t end = pl_clock_monotonic_ns() + SETTLE_NS;

	while (!pl_stopper_settle(&u->process->stopper) && pl_clock_monotonic_ns() < end)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

static struct plumb_error *dump_process(struct dumper *u)
{
	struct plumb_error *err;

	tell_header(u);
	err = dump_threads(u);
	settle(u);
	if (err)
		return err;
	pl_dump_tell_locks(&u->looker, &u->locks, &u->waiters);
	u->p->refused = pl_dump_str(u->d, u->process->stopper.refusals.why);
	find_gil_holder(u);
	err = dump_holders(u);
	if (err)
		return err;
	pl_dump_sort_threads(u->p);
	err = pl_dump_find_deadlocks(u->p);
	err = err || u->chosen.some ? err : dump_tasks(u);
	if (err == &pl_err_target_exited) /* what was read before is whole */
		err = NULL;
	return err;
}

static struct plumb_error *open_native(struct dumper *u)
{
	if (!u->o->native || core_of(u))
		return NULL;
	struct plumb_error *err =
		pl_native_create(pid_of(u), pl_python_process_mem(u->process), &u->process->reader.py, u->o->native_all,
				 u->start_ns + NATIVE_SHARE * pl_dump_limit_ns(u->o), &u->native);
	if (!err)
		u->native->kernel = u->o->kernel;
	return err;
}

static struct plumb_error *dump_opened(struct dumper *u)
{
	u->p->pid = (uint32_t)u->process->pid;
	u->sources.view = u->process->files.view;
	u->process->stopper.started_ns = u->start_ns;
	u->looker = (struct pl_looker){.o = u->o,
				       .process = u->process,
				       .d = u->d,
				       .around = &u->around,
				       .lock_values = &u->locks.values,
				       .end_ns = u->start_ns + pl_dump_limit_ns(u->o),
				       .locals_end_ns = u->start_ns + LOCALS_SHARE * pl_dump_limit_ns(u->o)};
	pl_lock_finder_init(&u->locks, u->d, u->p, pl_python_process_mem(u->process), &u->process->reader.py,
			    u->looker.end_ns);
	struct plumb_error *err = open_native(u);
	u->looker.native = u->native;
	err = err ? err : pl_looker_init(&u->looker);
	err = err ? err : dump_process(u);
	err = core_of(u) ? pl_core_blame(core_of(u), err) : err;
	u->p->locals_late = u->looker.locals_late;
	pl_looker_deinit(&u->looker);
	pl_lock_finder_deinit(&u->locks);
	pl_native_destroy(u->native);
	return err;
}

/* What became of its source files. */
static void tell_sources(struct dumper *u)
{
	const struct pl_dump_sources *s = &u->sources;

	u->p->silent = pl_dump_str(u->d, s->silent ? s->silent : "");
	u->p->barred = pl_dump_str(u->d, s->root && s->barred ? s->barred : "");
	u->p->sources_left_out = s->left_out;
}

/* The process is open, if @p err does not say why it is not. */
static struct plumb_error *dump_and_close(struct dumper *u, struct plumb_error *err)
{
	if (!err) {
		err = dump_opened(u);
		pl_python_process_close(u->process);
	}
	pl_map_deinit(&u->known);
	pl_vec_deinit(&u->chosen.tids);
	pl_vec_deinit(&u->waiters);
	pl_vec_deinit(&u->shown);
	pl_surroundings_deinit(&u->around);
	tell_sources(u);
	if (!err && (u->d->no_memory || u->sources.no_memory))
		err = &pl_err_no_memory; /* a part that looks like the whole would be worse than nothing */
	pl_dump_sources_deinit(&u->sources);
	pl_sched_clocks_deinit(&u->clocks);
	u->p->took_ns = pl_clock_monotonic_ns() - u->start_ns;
	u->p->age_ns = age_now(u); /* threads were looked at meanwhile, and had waited until then */
	if (!err && pl_vec_push(&u->d->processes, *u->p))
		return NULL;
	pl_dump_process_deinit(u->p);
	return err ? err : &pl_err_no_memory;
}

/* A stack can be proved without a stop; the values of a thread that runs, and its registers, cannot. */
static enum pl_stop_policy stop_policy(const struct pl_dump_options *o)
{
	return o->stop == PL_STOP_AUTO && (o->locals || o->native) ? PL_STOP_ALWAYS : o->stop;
}

struct plumb_error *pl_dump_live(pid_t pid, const struct pl_dump_options *o, struct pl_dump *d)
{
	struct pl_dump_process p = {.core = pl_dump_str(d, "")};
	struct dumper u = {.o = o,
			   .d = d,
			   .p = &p,
			   .start_ns = pl_clock_monotonic_ns(),
			   .around = {.net = {.pid = pid},
				      .peers = {.pid = pid},
				      .locks = PL_FILE_LOCKS_INIT,
				      .watched = {.left_ns = pl_dump_limit_ns(o) / WATCHED_SHARE}},
			   .sources = {.pid = pid, .patience_ms = pl_dump_sources_patience_ms(pl_dump_limit_ns(o))}};

	return dump_and_close(&u, pl_python_process_open(pid, stop_policy(o), &u.process));
}

struct plumb_error *pl_dump_core(const char *path, const struct pl_dump_options *o, struct pl_dump *d)
{
	struct pl_dump_process p = {.core = pl_dump_str(d, path)};
	struct dumper u = {.o = o,
			   .d = d,
			   .p = &p,
			   .start_ns = pl_clock_monotonic_ns(),
			   .around = {.locks = PL_FILE_LOCKS_INIT},
			   .sources = {.patience_ms = pl_dump_sources_patience_ms(pl_dump_limit_ns(o))}};

	return dump_and_close(&u, pl_python_process_open_core(path, o->root, o->trust_core, &u.process));
}
