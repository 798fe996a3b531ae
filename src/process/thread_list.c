/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See thread_list.h. The lists are read anew when a head changes, when a thread
 * vanishes and now and then. */
#include "thread_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "mem_limited.h"
#include "native_tids.h"
#include "proc.h"
#include "python_process.h"
#include "thread_state.h"

#define CLOCK_NS  10000000ull
#define RELIST_NS 100000000ull
#define DOUBT_NS  3000000ull
#define RELIST_SOON_NS                                                                                                 \
	500000ull /* when a list was cut short because it changed, or has a thread that is not yet born */
#define NEW_THREAD_WORK (4 * PL_WORK_CALL) /* is it alive? */
#define LOOK_WORK	64		   /* a thread is looked up */

#define TICK_NS	       10000000ull
#define UNBORN_MAX     64
#define BORN_WITHIN_NS 250000000ull /* what has no thread by then may never have one */

/* When to look again for the name of a thread that had none: it registers a moment after it starts. */
static const uint64_t name_retry_ms[] = {3, 10, 50, 250, 1000, 5000, 30000};

const struct pl_thread_list_use pl_thread_list_plain = {.size = sizeof(struct pl_thread_sampler)};

static void thread_free(struct pl_thread_sampler *thread)
{
	pl_thread_sampler_deinit(thread);
	free(thread);
}

void pl_thread_list_init(struct pl_thread_list *list, const struct pl_thread_list_use *use, void *user,
			 struct pl_room *room)
{
	list->use = use;
	list->user = user;
	list->room = room;
}

static void let_go(struct pl_thread_list *list, struct pl_thread_sampler *thread)
{
	if (list->use->leaves)
		list->use->leaves(list->user, thread);
}

void pl_thread_list_clear(struct pl_thread_list *list)
{
	for (size_t i = 0; i < list->samplers.len; i++) {
		let_go(list, list->samplers.data[i]);
		thread_free(list->samplers.data[i]);
		list->room->threads--;
	}
	pl_vec_deinit(&list->samplers);
	pl_vec_deinit(&list->interps);
	pl_vec_deinit(&list->unborn);
	pl_vec_deinit(&list->were_unborn);
	pl_tid_map_deinit(&list->tids);
	pl_map_deinit(&list->by_state);
	pl_map_deinit(&list->by_tid);
	pl_map_deinit(&list->by_ident);
	list->tid_offset = 0;
	list->next_list_ns = list->list_work = 0;
	list->met_python = false;
}

void pl_thread_list_notice(struct pl_thread_list *list, const struct pl_interp *now)
{
	for (size_t i = 0; i < list->interps.len; i++)
		if (list->interps.data[i].addr == now->addr && list->interps.data[i].threads_head != now->threads_head)
			list->next_list_ns = 0;
}

void pl_thread_list_doubt(struct pl_thread_list *list)
{
	if (pl_clock_monotonic_ns() - list->listed_ns > DOUBT_NS)
		list->next_list_ns = 0;
}

struct pl_thread_sampler *pl_thread_list_of_state(const struct pl_thread_list *list, pl_addr tstate)
{
	for (size_t i = 0; i < list->samplers.len && tstate; i++)
		if (list->samplers.data[i]->stack.tstate == tstate)
			return list->samplers.data[i];
	return NULL;
}

struct pl_thread_sampler *pl_thread_list_of_tid(const struct pl_thread_list *list, pid_t tid)
{
	for (size_t i = 0; i < list->samplers.len; i++)
		if (list->samplers.data[i]->tid == tid)
			return list->samplers.data[i];
	return NULL;
}

/* The list has the newest first. */
uint64_t pl_thread_list_interp_number(const struct pl_thread_list *list, pl_addr interp)
{
	for (size_t i = 0; i < list->interps.len; i++)
		if (list->interps.data[i].addr == interp)
			return list->interps.len - 1 - i;
	return 0;
}

const struct pl_interp *pl_thread_list_interp(const struct pl_thread_list *list, uint64_t number)
{
	return number < list->interps.len ? &list->interps.data[list->interps.len - 1 - number] : NULL;
}

static void clock_older_than(struct pl_thread_list *list, uint64_t now, uint64_t age_ns)
{
	list->clocked_ns = now;
	for (size_t i = 0; i < list->samplers.len; i++) {
		struct pl_thread_sampler *thread = list->samplers.data[i];
		struct pl_run_counters c;

		if (thread->clocked_ns + age_ns <= now && pl_thread_clock_counters(&thread->clock, &c) == PL_CLOCK_OK)
			pl_thread_sampler_clocked(thread, &c, now);
	}
}

/* A reading of a stable thread does not bring its run time along, and of a thread that has ended it is not to be had.
 */
void pl_thread_list_clock(struct pl_thread_list *list, uint64_t now)
{
	if (now - list->clocked_ns >= CLOCK_NS)
		clock_older_than(list, now, CLOCK_NS);
}

void pl_thread_list_clock_all(struct pl_thread_list *list, uint64_t now)
{
	clock_older_than(list, now, 0);
}

/* One reading of the lists. What the process has in them is up to it, and so is how long they take. */
struct listing {
	struct pl_python_process *p;
	struct pl_work work; /* that may be done */
	struct pl_mem_limited limited;
	struct pl_mem *mem; /* counts as work */
	pl_tid_vec tids;
	bool tids_listed;
	struct pl_native_tids natives;
	uint64_t now;
	bool all;	   /* they came to their end: a thread that is on none is gone */
	bool awaits_birth; /* a thread state will have a thread soon */
};

/* The numbers of all threads, as they know them themselves. */
static void list_tids(struct listing *l)
{
	if (l->tids_listed)
		return;
	l->tids_listed = true;
	plumb_error_destroy(pl_python_process_tids(l->p, &l->tids));
	for (size_t i = 0; i < l->tids.len && !l->p->core; i++)
		l->tids.data[i] = pl_tid_map_its(&l->p->threads.tids, l->tids.data[i]);
	if (!pl_work_spend(&l->work, l->tids.len * PL_WORK_CALL))
		pl_vec_clear(&l->tids);
}

/* Where the descriptor has the thread's number: found with a thread whose number is among those of the process. */
static void learn_tid_offset(struct listing *l, const struct pl_tstate *ts)
{
	struct pl_thread_list *list = &l->p->threads;

	if (ts->native_id || list->tid_offset)
		return;
	list_tids(l);
	plumb_error_destroy(pl_pthread_tid_offset(l->mem, ts->thread_id, l->tids.data, l->tids.len, &list->tid_offset));
}

/* <= 3.10 know a thread by its pthread_t only; its number is inside the C library's descriptor at that address. */
static pid_t own_tid_of(const struct listing *l, const struct pl_tstate *ts)
{
	uint32_t tid, at = l->p->threads.tid_offset;

	if (ts->native_id)
		return (pid_t)ts->native_id;
	return at && !pl_mem_read(l->mem, ts->thread_id + at, &tid, sizeof tid) ? (pid_t)tid : 0;
}

static bool index_thread(struct pl_thread_list *list, uint32_t i)
{
	struct pl_thread_sampler *thread = list->samplers.data[i];
	uint32_t other;

	if (pl_thread_sampler_is_native(thread))
		return pl_map_set(&list->by_tid, (uint64_t)thread->tid, 0, i);
	thread->alike = pl_map_get(&list->by_ident, thread->ident, 0, &other) ? list->samplers.data[other] : NULL;
	return pl_map_set(&list->by_state, thread->stack.tstate, thread->ident, i) &&
	       pl_map_set(&list->by_tid, (uint64_t)thread->tid, thread->stack.interp.addr, i) &&
	       pl_map_set(&list->by_ident, thread->ident, 0, i);
}

static struct plumb_error *index_threads(struct pl_thread_list *list)
{
	pl_map_clear(&list->by_state);
	pl_map_clear(&list->by_tid);
	pl_map_clear(&list->by_ident);
	for (uint32_t i = 0; i < list->samplers.len; i++)
		if (!index_thread(list, i))
			return &pl_err_no_memory;
	return NULL;
}

static struct pl_thread_sampler *find_thread(const struct pl_thread_list *list, const struct pl_tstate *ts)
{
	uint32_t at;

	return pl_map_get(&list->by_state, ts->addr, ts->thread_id, &at) ? list->samplers.data[at] : NULL;
}

/* A thread state that is being set up still bears the number of the thread that creates it. */
static bool tid_taken(const struct pl_thread_list *list, pl_addr interp, pid_t tid)
{
	uint32_t at;

	return pl_map_get(&list->by_tid, (uint64_t)tid, interp, &at);
}

static bool has_state(const pl_addr *states, size_t count, pl_addr state)
{
	for (size_t i = 0; i < count; i++)
		if (states[i] == state)
			return true;
	return false;
}

static struct plumb_error *note_unborn(struct pl_thread_list *list, pl_addr state)
{
	return list->unborn.len == UNBORN_MAX || pl_vec_push(&list->unborn, state) ? NULL : &pl_err_no_memory;
}

/* Our number of the thread. False: it is being created, or gone; the next list tells. In a core there is no next one: a
 * thread without a number stays one. */
static bool number_of(const struct listing *l, const struct pl_tstate *ts, pid_t *ret)
{
	struct pl_thread_list *list = &l->p->threads;
	pid_t own = own_tid_of(l, ts);

	*ret = own > 0 ? own : 0;
	if (l->p->core)
		return true;
	*ret = own > 0 ? pl_tid_map_ours(&list->tids, own) : 0;
	return *ret > 0 && !tid_taken(list, ts->interp, *ret) && pl_proc_thread_alive(l->p->pid, *ret);
}

/* The main thread is the oldest, and so the last of the list: it is not left out for the others. One of a core takes no
 * descriptors. */
static bool has_room(const struct listing *l, pid_t tid)
{
	const struct pl_room *room = l->p->threads.room;

	return l->p->core || ((room->threads < PL_MAX_SAMPLED_THREADS || tid == l->p->pid) && pl_room_for_one(room));
}

static void init_sampler(struct pl_python_process *p, pid_t tid, const struct pl_tstate *ts,
			 const struct pl_interp *interp, struct pl_thread_sampler *ret)
{
	if (p->core)
		pl_thread_sampler_init_of_core(ret, &p->reader, p->core, tid, ts, interp);
	else
		pl_thread_sampler_init(ret, &p->reader, p->pid, tid, ts, interp);
}

/* All that is known of the thread from the list. False without memory; then it is the caller's still. */
static bool admit(struct listing *l, struct pl_thread_sampler *thread)
{
	struct pl_thread_list *list = &l->p->threads;

	if (!pl_vec_push(&list->samplers, thread))
		return false;
	if (!index_thread(list, (uint32_t)list->samplers.len - 1)) {
		list->samplers.len--;
		return false;
	}
	list->room->threads++;
	thread->came_ns = thread->name_next_ns = l->now;
	thread->listed = true;
	if (thread->main)
		snprintf(thread->name, sizeof thread->name, "MainThread");
	return true;
}

/* A thread that ran no Python up to now has a state. False: there is none of that number. */
static bool give_state(struct listing *l, pid_t tid, const struct pl_tstate *ts, const struct pl_interp *interp,
		       struct plumb_error **err)
{
	struct pl_thread_list *list = &l->p->threads;
	uint32_t at;

	if (!pl_map_get(&list->by_tid, (uint64_t)tid, 0, &at) || !pl_thread_sampler_is_native(list->samplers.data[at]))
		return false;
	struct pl_thread_sampler *thread = list->samplers.data[at];
	pl_thread_sampler_get_state(thread, &l->p->reader, ts, interp);
	thread->name_next_ns = l->now;
	thread->name_tries = 0;
	thread->listed = true;
	*err = index_thread(list, at) ? NULL : &pl_err_no_memory;
	return true;
}

/* Was it started after the last list was read? The kernel counts starts in ticks. */
static bool is_newborn(const struct listing *l, pid_t tid)
{
	const struct pl_thread_list *list = &l->p->threads;
	uint64_t age_ns;

	return !l->p->core && list->listed_ns && pl_process_age(tid, &age_ns) &&
	       age_ns < l->now - list->listed_ns + TICK_NS;
}

static struct plumb_error *add_thread(struct listing *l, const struct pl_tstate *ts, const struct pl_interp *interp)
{
	struct pl_python_process *p = l->p;
	struct pl_thread_list *list = &p->threads;
	struct plumb_error *err;
	pid_t tid;

	if (!number_of(l, ts, &tid))
		return note_unborn(list, ts->addr);
	if (give_state(l, tid, ts, interp, &err))
		return err;
	if (list->use->leaves_out && list->use->leaves_out(list->user, tid))
		return NULL;
	if (!has_room(l, tid)) {
		list->refused++;
		return NULL;
	}
	struct pl_thread_sampler *thread = calloc(1, list->use->size);
	if (!thread)
		return &pl_err_no_memory;
	init_sampler(p, tid, ts, interp, thread);
	if (is_newborn(l, tid)) /* nobody else is given what it ran before it was found */
		thread->ran_ns = thread->counters.run_ns;
	if (!admit(l, thread)) {
		thread_free(thread);
		return &pl_err_no_memory;
	}
	if (list->use->came)
		list->use->came(list->user, thread, has_state(list->were_unborn.data, list->were_unborn.len, ts->addr));
	return NULL;
}

static struct plumb_error *add_native(struct listing *l, pid_t tid)
{
	struct pl_thread_list *list = &l->p->threads;

	if (list->use->leaves_out && list->use->leaves_out(list->user, tid))
		return NULL;
	if (!pl_room_for_native(list->room)) { /* so that those beyond cost next to nothing, however many they are */
		list->refused++;
		return NULL;
	}
	if (!pl_work_spend(&l->work, NEW_THREAD_WORK)) {
		l->all = false;
		return NULL;
	}
	struct pl_thread_sampler *thread = calloc(1, list->use->size);
	if (!thread)
		return &pl_err_no_memory;
	pl_thread_sampler_init_native(thread, l->p->pid, tid);
	if (!admit(l, thread)) {
		thread_free(thread);
		return &pl_err_no_memory;
	}
	if (list->use->came)
		list->use->came(list->user, thread, false);
	return NULL;
}

/* Those that the lists of Python do not have. Not in a process that was just forked, whose thread does not know its
 * number yet, nor while a thread state waits for its thread: both may be the same. */
static struct plumb_error *add_natives(struct listing *l)
{
	const struct pl_native_tids *n = &l->natives;
	struct plumb_error *err = NULL;

	if (!l->all || l->awaits_birth || !l->p->threads.met_python)
		return NULL;
	for (size_t i = 0; i < n->tids.len && !err && l->all; i++)
		if (pl_native_tids_lacks(n, n->tids.data[i]))
			err = add_native(l, n->tids.data[i]);
	return err;
}

static size_t interp_index(const struct pl_thread_list *list, const struct pl_thread_sampler *thread)
{
	size_t i = 0;

	while (i < list->interps.len && list->interps.data[i].addr != thread->stack.interp.addr)
		i++;
	return i;
}

/* The sampler of the same thread in the nearest newer interpreter. Interpreters are listed newest first. */
static struct pl_thread_sampler *next_newer(const struct pl_thread_list *list, const struct pl_thread_sampler *thread)
{
	uint32_t at;

	for (size_t i = interp_index(list, thread); i-- > 0;)
		if (pl_map_get(&list->by_tid, (uint64_t)thread->tid, list->interps.data[i].addr, &at))
			return list->samplers.data[at];
	return NULL;
}

/* Link the samplers of one thread that has been in more than one interpreter. */
static struct plumb_error *relate_threads(struct listing *l)
{
	struct pl_thread_list *list = &l->p->threads;

	for (size_t i = 0; i < list->samplers.len; i++)
		list->samplers.data[i]->newer = list->samplers.data[i]->older = NULL;
	if (list->interps.len < 2)
		return NULL;
	struct plumb_error *err = index_threads(list); /* some are gone */
	pl_work_note(&l->work, LOOK_WORK * list->interps.len * list->samplers.len);
	for (size_t i = 0; i < list->samplers.len && !err; i++) {
		struct pl_thread_sampler *thread = list->samplers.data[i];

		thread->newer = pl_thread_sampler_is_native(thread) ? NULL : next_newer(list, thread);
		if (thread->newer)
			thread->newer->older = thread;
	}
	return err;
}

void pl_thread_list_remove(struct pl_thread_list *list, size_t i)
{
	struct pl_thread_sampler **at = list->samplers.data + i, *thread = *at;

	let_go(list, thread);
	pl_thread_sampler_unlink(thread);
	thread_free(thread);
	list->room->threads--;
	memmove(at, at + 1, (--list->samplers.len - i) * sizeof *at); /* the order is that in which they are sampled */
	list->next_list_ns = 0;
}

/* Up to 3.11 a thread state that is being set up bears the number of the thread that creates it, which is older, and so
 * further on in the list, and runs Python. Once that one is known its number is taken; in the first list it is not yet.
 */
static bool is_set_up(struct listing *l, const pl_tstate_vec *states, size_t i)
{
	if (l->p->core || pl_tstate_runs_frames(&states->data[i]))
		return false;
	pl_work_note(&l->work, states->len - i);
	for (size_t older = i + 1; older < states->len; older++)
		if (states->data[older].thread_id == states->data[i].thread_id &&
		    pl_tstate_runs_frames(&states->data[older]))
			return true;
	return false;
}

static struct plumb_error *see_thread(struct listing *l, const pl_tstate_vec *states, size_t i,
				      const struct pl_interp *interp)
{
	const struct pl_tstate *ts = &states->data[i];
	struct pl_thread_list *list = &l->p->threads;
	struct pl_thread_sampler *thread = find_thread(list, ts);

	if (!thread && !pl_work_spend(&l->work, NEW_THREAD_WORK)) {
		l->all = false;
		return NULL;
	}
	if (!thread)
		return is_set_up(l, states, i) ? note_unborn(list, ts->addr) : add_thread(l, ts, interp);
	/* A main thread that has ended leaves its thread state behind. */
	thread->listed = !thread->main || l->p->core || pl_proc_thread_alive(thread->pid, thread->tid);
	return NULL;
}

static struct plumb_error *list_interp(struct listing *l, const struct pl_interp *interp)
{
	pl_tstate_vec threads = {0};
	bool whole = false;
	struct plumb_error *err = pl_tstate_list(l->mem, &l->p->reader.py, interp, &threads, &whole);

	if (err == &pl_err_target_exited || err == &pl_err_no_memory) {
		pl_vec_deinit(&threads);
		return err;
	}
	/* The list changed while we read it: what we have is right, the rest comes next time. */
	l->all = l->all && !err && whole;
	plumb_error_destroy(err);
	err = NULL;
	if (threads.len) { /* the oldest, which may be the main thread, or should it have ended the newest: not each */
		learn_tid_offset(l, &threads.data[threads.len - 1]);
		learn_tid_offset(l, &threads.data[0]);
	}
	for (size_t i = 0; i < threads.len && !err; i++)
		err = see_thread(l, &threads, i, interp);
	pl_vec_deinit(&threads);
	return err;
}

struct naming {
	struct pl_thread_list *list;
	struct pl_work work;
};

static void take_name(void *ctx, uint64_t ident, const char *name, size_t len)
{
	struct naming *naming = ctx;
	struct pl_thread_list *list = naming->list;
	uint32_t at;

	if (!pl_map_get(&list->by_ident, ident, 0, &at))
		return;
	for (struct pl_thread_sampler *thread = list->samplers.data[at]; thread; thread = thread->alike) {
		pl_work_note(&naming->work, LOOK_WORK);
		size_t n = len < sizeof thread->name - 1 ? len : sizeof thread->name - 1;
		memcpy(thread->name, name, n);
		thread->name[n] = '\0';
		thread->name_next_ns = UINT64_MAX;
	}
}

/* What Python does not name is called as the kernel calls it. */
static bool has_name_due(const struct pl_thread_sampler *thread, uint64_t now, bool native)
{
	return pl_thread_sampler_is_native(thread) == native && thread->name_next_ns <= now;
}

static bool names_due(const struct pl_thread_list *list, uint64_t now)
{
	for (size_t i = 0; i < list->samplers.len; i++)
		if (has_name_due(list->samplers.data[i], now, false))
			return true;
	return false;
}

/* Each interpreter has a threading module of its own; the main one, which comes last, has the last word. What is too
 * much to read is looked for again like a name that was not there. */
static void read_names(struct pl_python_process *p, uint64_t now)
{
	struct pl_thread_list *list = &p->threads;
	struct naming naming = {list, pl_ration_begin(&list->names, now)};
	struct pl_mem_limited limited;
	struct pl_mem *mem = pl_mem_limited_init(&limited, pl_python_process_mem(p), &naming.work);

	for (size_t i = 0; i < list->interps.len; i++)
		plumb_error_destroy(pl_thread_names(mem, &p->reader.py, &list->interps.data[i], take_name, &naming));
	pl_ration_end(&list->names, &naming.work);
}

static void look_again_later(struct pl_thread_sampler *thread, uint64_t now)
{
	size_t tries = sizeof name_retry_ms / sizeof *name_retry_ms;

	thread->name_next_ns =
		now + name_retry_ms[thread->name_tries < tries ? thread->name_tries : tries - 1] * 1000000;
	thread->name_tries = thread->name_tries < 255 ? thread->name_tries + 1 : 255;
}

static void name_threads(struct pl_python_process *p, uint64_t now)
{
	struct pl_thread_list *list = &p->threads;

	if (!names_due(list, now))
		return;
	read_names(p, now);
	for (size_t i = 0; i < list->samplers.len; i++) {
		struct pl_thread_sampler *thread = list->samplers.data[i];

		if (pl_thread_sampler_is_native(thread) ||
		    (thread->name_next_ns != UINT64_MAX && thread->name_next_ns > now))
			continue;
		if (thread->name_next_ns != UINT64_MAX)
			look_again_later(thread, now);
		if (!thread->name[0] && !p->core)
			pl_proc_comm(p->pid, thread->tid, thread->name);
		if (list->use->named)
			list->use->named(list->user, thread);
	}
}

/* It may be given its name a moment after it starts, as those of Python. */
static void name_natives(struct listing *l)
{
	struct pl_thread_list *list = &l->p->threads;

	for (size_t i = 0; i < list->samplers.len; i++) {
		struct pl_thread_sampler *thread = list->samplers.data[i];
		char name[16] = "";

		if (!has_name_due(thread, l->now, true))
			continue;
		look_again_later(thread, l->now);
		pl_proc_comm(thread->pid, thread->tid, name);
		if (thread->main || !*name || strcmp(name, thread->name) == 0)
			continue;
		snprintf(thread->name, sizeof thread->name, "%s", name);
		if (list->use->named)
			list->use->named(list->user, thread);
	}
}

/* When to look for a name that was not there; UINT64_MAX: never. A thread may be over before the next usual list. */
static uint64_t next_name_ns(const struct pl_thread_list *list)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < list->samplers.len; i++)
		if (list->samplers.data[i]->name_next_ns < next)
			next = list->samplers.data[i]->name_next_ns;
	return next;
}

/* Is there a thread state that will have a thread soon? */
static bool birth_is_due(struct pl_thread_list *list, uint64_t now)
{
	for (size_t i = 0; i < list->unborn.len; i++)
		if (!has_state(list->were_unborn.data, list->were_unborn.len, list->unborn.data[i]))
			list->unborn_ns = now;
	return list->unborn.len && now - list->unborn_ns < BORN_WITHIN_NS;
}

/* Those of all interpreters. Their own list has been read; if it came to its end, and those of their threads do, too, a
 * thread that is on none is gone; if not, they are read again soon. */
static struct plumb_error *list_threads(struct listing *l)
{
	struct pl_thread_list *list = &l->p->threads;
	bool whole = l->all, numbered = list->tid_offset != 0;
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < list->samplers.len; i++)
		list->samplers.data[i]->listed = false;
	pl_vec_clear(&list->unborn);
	if ((err = index_threads(list)))
		return err;
	for (size_t i = 0; i < list->interps.len && !err; i++)
		err = list_interp(l, &list->interps.data[i]);
	if (err || numbered || !list->tid_offset)
		return err;
	l->all = whole; /* it was learnt from the main thread, which is last: now the others */
	return list_threads(l);
}

static void plan_next(struct listing *l)
{
	struct pl_thread_list *list = &l->p->threads;

	list->listed_ns = l->now;
	list->next_list_ns = l->now + (l->all && !l->awaits_birth ? RELIST_NS : RELIST_SOON_NS);
	uint64_t name_ns = next_name_ns(list);
	if (name_ns < list->next_list_ns)
		list->next_list_ns = name_ns;
}

/* Read the lists, and make the thread samplers what they say. */
static struct plumb_error *list_all(struct listing *l)
{
	struct pl_thread_list *list = &l->p->threads;

	pl_vec_clear(&list->interps);
	struct plumb_error *err = pl_interp_list(l->mem, &l->p->reader.py, &list->interps, &l->all);
	if (err == &pl_err_target_exited || err == &pl_err_no_memory)
		return err;
	plumb_error_destroy(err);
	err = list_threads(l);
	l->awaits_birth = birth_is_due(list, l->now);
	list->met_python |= list->samplers.len > 0;
	if (!err && list->natives)
		err = pl_native_tids_settle(&l->natives, list, l->all);
	if (err)
		return err;
	if (list->interps.len)
		name_threads(l->p, l->now);
	for (size_t i = list->samplers.len; l->all && i-- > 0;)
		if (!list->samplers.data[i]->listed)
			pl_thread_list_remove(list, i);
	if (list->natives)
		err = add_natives(l);
	name_natives(l);
	plan_next(l);
	return err ? err : relate_threads(l);
}

struct plumb_error *pl_thread_list_refresh(struct pl_python_process *p, uint64_t now)
{
	struct pl_thread_list *list = &p->threads;
	struct listing l = {.p = p, .work = pl_ration_begin(&list->lists, now), .now = now};

	if (l.work.most < list->list_work) { /* lists that are cut short would tell less than the last ones do */
		list->next_list_ns = now + RELIST_SOON_NS;
		return NULL;
	}
	l.mem = pl_mem_limited_init(&l.limited, pl_python_process_mem(p), &l.work);
	list->refused = 0;
	pl_addr_vec before = list->were_unborn;
	list->were_unborn = list->unborn;
	list->unborn = before;
	if (!p->core)
		pl_tid_map_begin(&list->tids, p->pid);
	if (list->natives)
		pl_native_tids_read(&l.natives, p->pid, &l.work);
	struct plumb_error *err = list_all(&l);
	pl_vec_deinit(&l.tids);
	pl_native_tids_deinit(&l.natives);
	list->list_work = l.work.ran_out ? PL_RATION_MOST : l.work.spent;
	pl_ration_end(&list->lists, &l.work);
	return err;
}
