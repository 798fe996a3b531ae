/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See roster.h. The lists are read anew when a head changes, when a thread
 * vanishes and now and then. */
#include "roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "mem_limited.h"
#include "proc.h"
#include "python_process.h"

#define CLOCK_NS  10000000ull
#define RELIST_NS 100000000ull
#define DOUBT_NS  3000000ull
#define RELIST_SOON_NS                                                                                                 \
	2000000ull /* when a list was cut short because it changed, or has a thread that is not yet born */
#define NEW_THREAD_WORK (4 * PL_WORK_CALL) /* is it alive? */
#define LOOK_WORK	64		   /* a watch is looked up */

#define UNBORN_MAX     64
#define BORN_WITHIN_NS 250000000ull /* what has no thread by then may never have one */

/* When to look again for the name of a thread that had none: it registers a moment after it starts. */
static const uint64_t name_retry_ms[] = {3, 10, 50, 250, 1000, 5000, 30000};

const struct pl_roster_use pl_roster_plain = {.size = sizeof(struct pl_watch)};

static void watch_free(struct pl_watch *w)
{
	pl_watch_deinit(w);
	free(w);
}

void pl_roster_init(struct pl_roster *r, const struct pl_roster_use *use, void *user, struct pl_room *room)
{
	r->use = use;
	r->user = user;
	r->room = room;
}

static void let_go(struct pl_roster *r, struct pl_watch *w)
{
	if (r->use->leaves)
		r->use->leaves(r->user, w);
}

void pl_roster_clear(struct pl_roster *r)
{
	for (size_t i = 0; i < r->watches.len; i++) {
		let_go(r, r->watches.data[i]);
		watch_free(r->watches.data[i]);
		r->room->threads--;
	}
	pl_vec_deinit(&r->watches);
	pl_vec_deinit(&r->interps);
	pl_vec_deinit(&r->unborn);
	pl_vec_deinit(&r->were_unborn);
	pl_tid_map_deinit(&r->tids);
	pl_map_deinit(&r->by_state);
	pl_map_deinit(&r->by_tid);
	pl_map_deinit(&r->by_ident);
	r->tid_offset = 0;
	r->next_list_ns = r->list_work = 0;
}

void pl_roster_notice(struct pl_roster *r, const struct pl_interp *now)
{
	for (size_t i = 0; i < r->interps.len; i++)
		if (r->interps.data[i].addr == now->addr && r->interps.data[i].threads_head != now->threads_head)
			r->next_list_ns = 0;
}

void pl_roster_doubt(struct pl_roster *r)
{
	if (pl_clock_monotonic_ns() - r->listed_ns > DOUBT_NS)
		r->next_list_ns = 0;
}

struct pl_watch *pl_roster_of_state(const struct pl_roster *r, pl_addr tstate)
{
	for (size_t i = 0; i < r->watches.len && tstate; i++)
		if (r->watches.data[i]->stack.tstate == tstate)
			return r->watches.data[i];
	return NULL;
}

struct pl_watch *pl_roster_of_tid(const struct pl_roster *r, pid_t tid)
{
	for (size_t i = 0; i < r->watches.len; i++)
		if (r->watches.data[i]->tid == tid)
			return r->watches.data[i];
	return NULL;
}

/* The list has the newest first. */
uint64_t pl_roster_interp_number(const struct pl_roster *r, pl_addr interp)
{
	for (size_t i = 0; i < r->interps.len; i++)
		if (r->interps.data[i].addr == interp)
			return r->interps.len - 1 - i;
	return 0;
}

const struct pl_interp *pl_roster_interp(const struct pl_roster *r, uint64_t number)
{
	return number < r->interps.len ? &r->interps.data[r->interps.len - 1 - number] : NULL;
}

static void clock_older_than(struct pl_roster *r, uint64_t now, uint64_t age_ns)
{
	r->clocked_ns = now;
	for (size_t i = 0; i < r->watches.len; i++) {
		struct pl_watch *w = r->watches.data[i];
		struct pl_run_counters c;

		if (w->clocked_ns + age_ns <= now && pl_thread_clock_counters(&w->clock, &c) == PL_CLOCK_OK)
			pl_watch_clocked(w, &c, now);
	}
}

/* A reading of a calm thread does not bring its run time along, and of a thread that has ended it is not to be had. */
void pl_roster_clock(struct pl_roster *r, uint64_t now)
{
	if (now - r->clocked_ns >= CLOCK_NS)
		clock_older_than(r, now, CLOCK_NS);
}

void pl_roster_clock_all(struct pl_roster *r, uint64_t now)
{
	clock_older_than(r, now, 0);
}

/* One reading of the lists. What the process has in them is up to it, and so is how long they take. */
struct listing {
	struct pl_python_process *p;
	struct pl_work work; /* that may be done */
	struct pl_mem_limited limited;
	struct pl_mem *mem; /* counts as work */
	pl_tid_vec tids;
	bool tids_listed;
	uint64_t now;
	bool all; /* they came to their end: a thread that is on none is gone */
};

/* The numbers of all threads, as they know them themselves. */
static void list_tids(struct listing *l)
{
	if (l->tids_listed)
		return;
	l->tids_listed = true;
	plumb_error_destroy(pl_proc_tids(l->p->pid, &l->tids));
	for (size_t i = 0; i < l->tids.len; i++)
		l->tids.data[i] = pl_tid_map_its(&l->p->roster.tids, l->tids.data[i]);
	if (!pl_work_spend(&l->work, l->tids.len * PL_WORK_CALL))
		pl_vec_clear(&l->tids);
}

/* Where the descriptor has the thread's number: found with a thread whose number is among those of the process. */
static void learn_tid_offset(struct listing *l, const struct pl_tstate *ts)
{
	struct pl_roster *r = &l->p->roster;

	if (ts->native_id || r->tid_offset)
		return;
	list_tids(l);
	plumb_error_destroy(pl_pthread_tid_offset(l->mem, ts->thread_id, l->tids.data, l->tids.len, &r->tid_offset));
}

/* <= 3.10 know a thread by its pthread_t only; its number is inside the C library's descriptor at that address. */
static pid_t own_tid_of(const struct listing *l, const struct pl_tstate *ts)
{
	uint32_t tid, at = l->p->roster.tid_offset;

	if (ts->native_id)
		return (pid_t)ts->native_id;
	return at && !pl_mem_read(l->mem, ts->thread_id + at, &tid, sizeof tid) ? (pid_t)tid : 0;
}

static bool index_watch(struct pl_roster *r, uint32_t i)
{
	struct pl_watch *w = r->watches.data[i];
	uint32_t other;

	w->alike = pl_map_get(&r->by_ident, w->ident, 0, &other) ? r->watches.data[other] : NULL;
	return pl_map_set(&r->by_state, w->stack.tstate, w->ident, i) &&
	       pl_map_set(&r->by_tid, (uint64_t)w->tid, w->stack.interp.addr, i) &&
	       pl_map_set(&r->by_ident, w->ident, 0, i);
}

static struct plumb_error *index_watches(struct pl_roster *r)
{
	pl_map_clear(&r->by_state);
	pl_map_clear(&r->by_tid);
	pl_map_clear(&r->by_ident);
	for (uint32_t i = 0; i < r->watches.len; i++)
		if (!index_watch(r, i))
			return &pl_err_no_memory;
	return NULL;
}

static struct pl_watch *find_watch(const struct pl_roster *r, const struct pl_tstate *ts)
{
	uint32_t at;

	return pl_map_get(&r->by_state, ts->addr, ts->thread_id, &at) ? r->watches.data[at] : NULL;
}

/* A thread state that is being set up still bears the number of the thread that creates it. */
static bool tid_taken(const struct pl_roster *r, pl_addr interp, pid_t tid)
{
	uint32_t at;

	return pl_map_get(&r->by_tid, (uint64_t)tid, interp, &at);
}

static bool has_state(const pl_addr *states, size_t count, pl_addr state)
{
	for (size_t i = 0; i < count; i++)
		if (states[i] == state)
			return true;
	return false;
}

static struct plumb_error *note_unborn(struct pl_roster *r, pl_addr state)
{
	return r->unborn.len == UNBORN_MAX || pl_vec_push(&r->unborn, state) ? NULL : &pl_err_no_memory;
}

/* All that is known of the thread from the list. False without memory; then it is the caller's still. */
static bool admit(struct listing *l, struct pl_watch *w)
{
	struct pl_roster *r = &l->p->roster;

	if (!pl_vec_push(&r->watches, w))
		return false;
	if (!index_watch(r, (uint32_t)r->watches.len - 1)) {
		r->watches.len--;
		return false;
	}
	r->room->threads++;
	w->came_ns = w->name_next_ns = l->now;
	w->listed = true;
	if (w->main)
		snprintf(w->name, sizeof w->name, "MainThread");
	return true;
}

static struct plumb_error *add_watch(struct listing *l, const struct pl_tstate *ts, const struct pl_interp *interp)
{
	struct pl_python_process *p = l->p;
	struct pl_roster *r = &p->roster;
	pid_t own = own_tid_of(l, ts), tid = own > 0 ? pl_tid_map_ours(&r->tids, own) : 0;

	/* Being created, or gone; the next list tells. */
	if (tid <= 0 || tid_taken(r, ts->interp, tid) || !pl_proc_thread_alive(p->pid, tid))
		return note_unborn(r, ts->addr);
	if (r->use->leaves_out && r->use->leaves_out(r->user, tid))
		return NULL;
	/* The main thread is the oldest, and so the last of the list: it is not left out for the others. */
	bool full = r->room->threads >= PL_MAX_WATCHES && tid != p->pid;
	if (full || !pl_room_for_one(r->room)) {
		r->refused++;
		return NULL;
	}
	struct pl_watch *w = calloc(1, r->use->size);
	if (!w)
		return &pl_err_no_memory;
	pl_watch_init(w, &p->reader, p->pid, tid, ts, interp);
	if (!admit(l, w)) {
		watch_free(w);
		return &pl_err_no_memory;
	}
	if (r->use->came)
		r->use->came(r->user, w, has_state(r->were_unborn.data, r->were_unborn.len, ts->addr));
	return NULL;
}

static size_t interp_index(const struct pl_roster *r, const struct pl_watch *w)
{
	size_t i = 0;

	while (i < r->interps.len && r->interps.data[i].addr != w->stack.interp.addr)
		i++;
	return i;
}

/* The watch of the same thread in the nearest newer interpreter. Interpreters are listed newest first. */
static struct pl_watch *next_newer(const struct pl_roster *r, const struct pl_watch *w)
{
	uint32_t at;

	for (size_t i = interp_index(r, w); i-- > 0;)
		if (pl_map_get(&r->by_tid, (uint64_t)w->tid, r->interps.data[i].addr, &at))
			return r->watches.data[at];
	return NULL;
}

/* Link the watches of one thread that has been in more than one interpreter. */
static struct plumb_error *relate_watches(struct listing *l)
{
	struct pl_roster *r = &l->p->roster;

	for (size_t i = 0; i < r->watches.len; i++)
		r->watches.data[i]->newer = r->watches.data[i]->older = NULL;
	if (r->interps.len < 2)
		return NULL;
	struct plumb_error *err = index_watches(r); /* some are gone */
	pl_work_note(&l->work, LOOK_WORK * r->interps.len * r->watches.len);
	for (size_t i = 0; i < r->watches.len && !err; i++) {
		struct pl_watch *w = r->watches.data[i];

		w->newer = next_newer(r, w);
		if (w->newer)
			w->newer->older = w;
	}
	return err;
}

static void unlink_watch(struct pl_watch *w)
{
	if (w->newer)
		w->newer->older = w->older;
	if (w->older)
		w->older->newer = w->newer;
}

void pl_roster_remove(struct pl_roster *r, size_t i)
{
	struct pl_watch **at = r->watches.data + i, *w = *at;

	let_go(r, w);
	unlink_watch(w);
	watch_free(w);
	r->room->threads--;
	memmove(at, at + 1, (--r->watches.len - i) * sizeof *at); /* the order is that in which they are sampled */
	r->next_list_ns = 0;
}

static struct plumb_error *see_thread(struct listing *l, const struct pl_tstate *ts, const struct pl_interp *interp)
{
	struct pl_roster *r = &l->p->roster;
	struct pl_watch *w = find_watch(r, ts);

	if (!w && !pl_work_spend(&l->work, NEW_THREAD_WORK)) {
		l->all = false;
		return NULL;
	}
	if (!w)
		return add_watch(l, ts, interp);
	/* A main thread that has ended leaves its thread state behind. */
	w->listed = !w->main || pl_proc_thread_alive(w->pid, w->tid);
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
		err = see_thread(l, &threads.data[i], interp);
	pl_vec_deinit(&threads);
	return err;
}

struct naming {
	struct pl_roster *roster;
	struct pl_work work;
};

static void take_name(void *ctx, uint64_t ident, const char *name, size_t len)
{
	struct naming *naming = ctx;
	struct pl_roster *r = naming->roster;
	uint32_t at;

	if (!pl_map_get(&r->by_ident, ident, 0, &at))
		return;
	for (struct pl_watch *w = r->watches.data[at]; w; w = w->alike) {
		pl_work_note(&naming->work, LOOK_WORK);
		size_t n = len < sizeof w->name - 1 ? len : sizeof w->name - 1;
		memcpy(w->name, name, n);
		w->name[n] = '\0';
		w->name_next_ns = UINT64_MAX;
	}
}

static bool names_due(const struct pl_roster *r, uint64_t now)
{
	for (size_t i = 0; i < r->watches.len; i++)
		if (r->watches.data[i]->name_next_ns <= now)
			return true;
	return false;
}

/* Each interpreter has a threading module of its own; the main one, which comes last, has the last word. What is too
 * much to read is looked for again like a name that was not there. */
static void read_names(struct pl_python_process *p, uint64_t now)
{
	struct pl_roster *r = &p->roster;
	struct naming naming = {r, pl_ration_begin(&r->names, now)};
	struct pl_mem_limited limited;
	struct pl_mem *mem = pl_mem_limited_init(&limited, pl_python_process_mem(p), &naming.work);

	for (size_t i = 0; i < r->interps.len; i++)
		plumb_error_destroy(pl_thread_names(mem, &p->reader.py, &r->interps.data[i], take_name, &naming));
	pl_ration_end(&r->names, &naming.work);
}

static void look_again_later(struct pl_watch *w, uint64_t now)
{
	size_t tries = sizeof name_retry_ms / sizeof *name_retry_ms;

	w->name_next_ns = now + name_retry_ms[w->name_tries < tries ? w->name_tries : tries - 1] * 1000000;
	w->name_tries = w->name_tries < 255 ? w->name_tries + 1 : 255;
}

static void name_threads(struct pl_python_process *p, uint64_t now)
{
	struct pl_roster *r = &p->roster;

	if (!names_due(r, now))
		return;
	read_names(p, now);
	for (size_t i = 0; i < r->watches.len; i++) {
		struct pl_watch *w = r->watches.data[i];

		if (w->name_next_ns != UINT64_MAX && w->name_next_ns > now)
			continue;
		if (w->name_next_ns != UINT64_MAX)
			look_again_later(w, now);
		if (!w->name[0])
			pl_proc_comm(p->pid, w->tid, w->name);
		if (r->use->named)
			r->use->named(r->user, w);
	}
}

/* When to look for a name that was not there; UINT64_MAX: never. A thread may be over before the next usual list. */
static uint64_t next_name_ns(const struct pl_roster *r)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < r->watches.len; i++)
		if (r->watches.data[i]->name_next_ns < next)
			next = r->watches.data[i]->name_next_ns;
	return next;
}

/* Is there a thread state that will have a thread soon? */
static bool birth_is_due(struct pl_roster *r, uint64_t now)
{
	for (size_t i = 0; i < r->unborn.len; i++)
		if (!has_state(r->were_unborn.data, r->were_unborn.len, r->unborn.data[i]))
			r->unborn_ns = now;
	return r->unborn.len && now - r->unborn_ns < BORN_WITHIN_NS;
}

/* Those of all interpreters. Their own list has been read; if it came to its end, and those of their threads do, too, a
 * thread that is on none is gone; if not, they are read again soon. */
static struct plumb_error *list_threads(struct listing *l)
{
	struct pl_roster *r = &l->p->roster;
	bool whole = l->all, numbered = r->tid_offset != 0;
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < r->watches.len; i++)
		r->watches.data[i]->listed = false;
	pl_vec_clear(&r->unborn);
	if ((err = index_watches(r)))
		return err;
	for (size_t i = 0; i < r->interps.len && !err; i++)
		err = list_interp(l, &r->interps.data[i]);
	if (err || numbered || !r->tid_offset)
		return err;
	l->all = whole; /* it was learnt from the main thread, which is last: now the others */
	return list_threads(l);
}

static void plan_next(struct listing *l)
{
	struct pl_roster *r = &l->p->roster;

	r->listed_ns = l->now;
	r->next_list_ns = l->now + (l->all && !birth_is_due(r, l->now) ? RELIST_NS : RELIST_SOON_NS);
	uint64_t name_ns = next_name_ns(r);
	if (name_ns < r->next_list_ns)
		r->next_list_ns = name_ns;
}

/* Read the lists, and make the watches what they say. */
static struct plumb_error *list_all(struct listing *l)
{
	struct pl_roster *r = &l->p->roster;

	pl_vec_clear(&r->interps);
	struct plumb_error *err = pl_interp_list(l->mem, &l->p->reader.py, &r->interps, &l->all);
	if (err == &pl_err_target_exited || err == &pl_err_no_memory)
		return err;
	plumb_error_destroy(err);
	err = list_threads(l);
	if (err)
		return err;
	if (r->interps.len)
		name_threads(l->p, l->now);
	for (size_t i = r->watches.len; l->all && i-- > 0;)
		if (!r->watches.data[i]->listed)
			pl_roster_remove(r, i);
	plan_next(l);
	return relate_watches(l);
}

struct plumb_error *pl_roster_refresh(struct pl_python_process *p, uint64_t now)
{
	struct pl_roster *r = &p->roster;
	struct listing l = {.p = p, .work = pl_ration_begin(&r->lists, now), .now = now};

	if (l.work.most < r->list_work) { /* lists that are cut short would tell less than the last ones do */
		r->next_list_ns = now + RELIST_SOON_NS;
		return NULL;
	}
	l.mem = pl_mem_limited_init(&l.limited, pl_python_process_mem(p), &l.work);
	r->refused = 0;
	pl_addr_vec before = r->were_unborn;
	r->were_unborn = r->unborn;
	r->unborn = before;
	pl_tid_map_begin(&r->tids, p->pid);
	struct plumb_error *err = list_all(&l);
	pl_vec_deinit(&l.tids);
	r->list_work = l.work.ran_out ? PL_RATION_MOST : l.work.spent;
	pl_ration_end(&r->lists, &l.work);
	return err;
}
