/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: the processes that are followed. A child is recognised by its parent's number
 * when it is seen first; from then on by its own descriptor, so that a number that is used again misleads nobody.
 *
 * An orphan has lost its parent's number. It is ours only if its session was made by a process of ours: a session can
 * be inherited but not entered. */
#include "tree.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "debug.h"
#include "identity.h"
#include "own_fd.h"
#include "proc.h"
#include "proc_file.h"
#include "remote_engine.h"
#include "sampled.h"
#include "search.h"
#include "send.h"
#include "target.h"

#define PAST_NS	       1000000000ull
#define MAX_PAST       256
#define EVENTS	       16
#define OVER_PAUSE_NS  20000000ull
#define DISTRUST_AFTER 4

/* ---- coming ------------------------------------------------------------------------------------------------------ */

static uint64_t boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * PL_NS_PER_S + (uint64_t)ts.tv_nsec;
}

static struct pl_target *find(const struct pl_engine *e, pid_t pid)
{
	for (size_t i = 0; i < e->targets.len; i++)
		if (e->targets.data[i]->python.pid == pid)
			return e->targets.data[i];
	return NULL;
}

static bool has_ended(const struct pl_target *t)
{
	struct pollfd p = {.fd = t->pid_fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* A child of a fork has the descriptor, too: to close ours would not end its events, which name the target. */
static void target_free(struct pl_engine *e, struct pl_target *t)
{
	pl_task_waits_deinit(&t->waits);
	pl_vec_deinit(&t->lock_samples.list);
	pl_late_samples_deinit(&t->late);
	pl_python_process_deinit(&t->python);
	if (t->pid_fd >= 0) {
		(void)epoll_ctl(e->exit_fd, EPOLL_CTL_DEL, t->pid_fd, NULL);
		pl_own_fd_close(t->pid_fd);
	}
	free(t);
}

static struct plumb_error *open_descriptor(struct pl_engine *e, struct pl_target *t, const struct pl_proc_stat *st)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = t};

	if (e->options.own)
		return NULL;
	struct plumb_error *err = pl_identity_open(st, &t->pid_fd);
	if (!err && epoll_ctl(e->exit_fd, EPOLL_CTL_ADD, t->pid_fd, &event))
		err = pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot follow process %d", (int)st->pid);
	return err;
}

static struct plumb_error *add(struct pl_engine *e, const struct pl_proc_stat *st, struct pl_target **ret)
{
	struct pl_target *t = calloc(1, sizeof *t);

	if (!t)
		return &pl_err_no_memory;
	t->engine = e;
	t->python.pid = st->pid;
	t->parent = st->parent;
	t->session = st->session;
	t->start_ticks = st->start_ticks;
	t->came_ns = pl_clock_monotonic_ns();
	t->pid_fd = -1;
	pl_python_process_init(&t->python, &e->tables, &e->room, &pl_sampled_use, t);
	t->python.reader.opcodes = e->options.opcodes;
	t->python.reader.tags = st->pid == e->options.pids[0] ? e->options.tags : NULL;
	t->python.reader.tasks = e->options.tasks;
	t->python.reader.locks = e->options.locks && e->options.mode == PL_MODE_WALL;
	t->python.reader.native_frames = e->options.native;
	t->python.reader.kernel_frames = e->options.kernel;
	t->python.threads.natives = e->options.native_threads;
	struct plumb_error *err = open_descriptor(e, t, st);
	if (!err && !pl_vec_push(&e->targets, t))
		err = &pl_err_no_memory;
	if (err) {
		target_free(e, t);
		return err;
	}
	e->room.processes++;
	t->index = t->python.reader.codes.process = e->next_process++;
	pl_debug(PL_DEBUG_ENGINE, "process %d is followed, child of %d", (int)st->pid, (int)st->parent);
	*ret = t;
	return NULL;
}

struct plumb_error *pl_tree_open(struct pl_engine *e)
{
	struct plumb_error *err = NULL;

	if (!e->options.own)
		e->exit_fd = PL_OWN_FD(epoll_create1(EPOLL_CLOEXEC));
	if (!e->options.own && e->exit_fd < 0)
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot make an event descriptor");
	if (e->options.subprocesses)
		err = pl_births_create(e->options.launched ? e->options.pids[0] : getpid(), &e->births);
	e->opened_boot_ns = boot_ns();
	return err;
}

static bool has_room(const struct pl_engine *e)
{
	return e->targets.len < PL_MAX_TARGETS && pl_room_for_one(&e->room);
}

struct plumb_error *pl_tree_ask(struct pl_engine *e, pid_t pid, struct pl_target **ret)
{
	struct pl_proc_stat st;
	struct plumb_error *err = pl_identity_read(pid, &st);

	if (!err && e->targets.len && !has_room(e))
		err = pl_error_hint(pl_error(PLUMB_ERR_SYSTEM, "there is no room for process %d beside %zu others",
					     (int)pid, e->targets.len),
				    "more open files ('ulimit -n') are more room, up to 1000 processes");
	if (err || (err = add(e, &st, ret)))
		return err;
	(*ret)->asked = true;
	e->asked++;
	return NULL;
}

void pl_tree_find_children(struct pl_engine *e)
{
	if (!e->births || e->options.launched)
		return;
	while (pl_births_sweeping(e->births))
		pl_tree_look(e, pl_clock_monotonic_ns());
}

void pl_tree_close(struct pl_engine *e)
{
	for (size_t i = 0; i < e->targets.len; i++) {
		pl_search_detach(e, e->targets.data[i]);
		target_free(e, e->targets.data[i]);
	}
	pl_vec_deinit(&e->targets);
	pl_vec_deinit(&e->past);
	pl_vec_deinit(&e->sessions);
	pl_births_destroy(e->births);
	pl_own_fd_close(e->exit_fd);
}

/* A process of ours made its session, and lives or has just ended. */
static bool in_our_session(const struct pl_engine *e, const struct pl_proc_stat *st, uint64_t now)
{
	const struct pl_target *leader = find(e, st->session);

	if (leader)
		return leader->start_ticks <= st->start_ticks;
	for (size_t i = 0; i < e->past.len; i++)
		if (e->past.data[i].pid == st->session && now - e->past.data[i].ended_ns < PAST_NS)
			return true;
	return false;
}

/* It ended before we had a look at it. Of a program that it executed only the name is left. */
static bool was_python(const struct pl_proc_stat *st, const struct pl_target *parent)
{
	return st->forked ? parent->attached : strncmp(st->comm, "python", 6) == 0;
}

/* If births are found by sweeping only, the kernel's last number is not to be relied on. */
static void note_way(struct pl_engine *e, enum pl_birth birth, const struct pl_proc_stat *st)
{
	if (birth != PL_BIRTH_SWEPT)
		e->told_children++;
	else if (pl_proc_ticks_ns(st->start_ticks + 2) > e->opened_boot_ns)
		e->swept_children++;
	if (e->swept_children >= DISTRUST_AFTER && e->swept_children > e->told_children)
		pl_births_distrust(e->births);
}

/* A sweep meets those again and again: they count when they come, or when we come. */
static void count_beyond(struct pl_engine *e, enum pl_birth birth)
{
	e->now.losses[PL_LOSS_BEYOND] += birth != PL_BIRTH_SWEPT || !e->start_ns;
}

static void take_child(struct pl_engine *e, enum pl_birth birth, const struct pl_proc_stat *st,
		       const struct pl_target *parent)
{
	struct pl_target *t;

	if (!pl_proc_is_process(st->pid))
		return;
	if (!has_room(e)) {
		pl_births_enough(e->births); /* what another sweep finds has no room either */
		count_beyond(e, birth);
		return;
	}
	struct plumb_error *err = add(e, st, &t);
	if (err) {
		if (plumb_error_code(err) != PLUMB_ERR_NO_PROCESS)
			count_beyond(e, birth); /* no descriptor or no memory for it */
		else if (parent && was_python(st, parent))
			e->now.losses[PL_LOSS_UNSEEN]++;
		plumb_error_destroy(err);
		return;
	}
	t->search.seen = *st;
	if (parent)
		pl_search_inherit(t, parent);
	if (birth != PL_BIRTH_NEW) /* it may have children that were passed over while nobody knew it */
		pl_births_sweep(e->births);
	note_way(e, birth, st);
}

static void take_birth(struct pl_engine *e, enum pl_birth birth, const struct pl_proc_stat *st, uint64_t now)
{
	struct pl_target *known = find(e, st->pid), *parent;

	if (known && (known->start_ticks == st->start_ticks && !has_ended(known))) {
		known->session = st->session;
		return;
	}
	if (known)
		pl_tree_end(e, known, now);
	parent = find(e, st->parent);
	if (!parent && !in_our_session(e, st, now))
		return;
	if (!st->ended)
		take_child(e, birth, st, parent);
	else if (birth == PL_BIRTH_NEW && parent && was_python(st, parent))
		e->now.losses[PL_LOSS_UNSEEN]++;
}

void pl_tree_look(struct pl_engine *e, uint64_t now)
{
	struct pl_proc_stat st;
	enum pl_birth birth;

	pl_births_look(e->births, now);
	while ((birth = pl_births_next(e->births, now, &st)) != PL_BIRTH_NONE)
		take_birth(e, birth, &st, now);
}

/* ---- going ------------------------------------------------------------------------------------------------------- */

static void note_past(struct pl_engine *e, const struct pl_target *t, uint64_t now)
{
	if (e->past.len == MAX_PAST)
		memmove(e->past.data, e->past.data + 1, --e->past.len * sizeof *e->past.data);
	(void)pl_vec_push(&e->past, ((struct pl_past){t->python.pid, now}));
}

/* Of those that were asked for. */
static void end_asked(struct pl_engine *e, const struct pl_target *t)
{
	struct pl_proc_stat st;
	pid_t session = pl_proc_stat_read(t->python.pid, &st) ? st.session : t->session;

	e->now.target_ended = --e->asked == 0;
	(void)pl_vec_push(&e->sessions, session); /* without memory nobody waits for its descendants */
}

static void leave(struct pl_engine *e, const struct pl_target *t)
{
	for (size_t i = 0; i < e->targets.len; i++)
		if (e->targets.data[i] == t) {
			e->targets.data[i] = e->targets.data[--e->targets.len];
			e->room.processes--;
			return;
		}
}

void pl_tree_forget(struct pl_engine *e, struct pl_target *t)
{
	pl_search_detach(e, t);
	leave(e, t);
	e->asked--;
	e->next_process--;
	target_free(e, t);
}

void pl_tree_end(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	bool python = t->attached || t->search.find.image_known;

	pl_debug(PL_DEBUG_ENGINE, "process %d has ended", (int)t->python.pid);
	note_past(e, t, now);
	(void)pl_stopper_settle(&t->python.stopper);
	if (t->asked)
		end_asked(e, t);
	else if (python && !t->met)
		e->now.losses[PL_LOSS_UNSEEN]++;
	pl_search_detach(e, t);
	if (t->known)
		pl_send_process(e, t, true, now);
	e->gone_stops += t->python.stopper.stops;
	e->gone_stopped_ns += t->python.stopper.stopped_ns;
	pl_refusals_add(&e->gone_refusals, &t->python.stopper.refusals);
	leave(e, t);
	target_free(e, t);
	e->over_next_ns = 0;
}

void pl_tree_reap(struct pl_engine *e, uint64_t now)
{
	struct epoll_event events[EVENTS];
	int n = e->options.own ? 0 : epoll_wait(e->exit_fd, events, EVENTS, 0);

	for (int i = 0; i < n; i++)
		pl_tree_end(e, events[i].data.ptr, now);
}

static bool is_at_work(const struct pl_engine *e, pid_t session)
{
	for (size_t i = 0; i < e->sessions.len; i++)
		if (e->sessions.data[i] == session)
			return true;
	return false;
}

/* A daemon leaves its session; whoever is left in that of a process that was asked for is still at its work.
 * Each end of a process is an event (pl_tree_end), but nothing tells of a change of session: that is asked for now and
 * then, as it takes a file of each process. */
bool pl_tree_over(struct pl_engine *e, uint64_t now)
{
	struct pl_proc_stat st;

	if (e->asked || now < e->over_next_ns)
		return false;
	e->over_next_ns = now + OVER_PAUSE_NS;
	for (size_t i = 0; i < e->targets.len; i++) {
		const struct pl_target *t = e->targets.data[i];

		errno = 0;
		if (!pl_proc_stat_read(t->python.pid, &st)) {
			if (pl_out_of_descriptors(errno))
				return false; /* who cannot look does not know */
			continue;
		}
		if (!is_at_work(e, st.session))
			continue;
		/* Without memory it is about to end: its end belongs into the recording. */
		if (t->attached || t->search.find.image_known || (t->known && st.vsize == 0))
			return false;
	}
	return true;
}
