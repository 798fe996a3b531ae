/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: which threads a target has, how the kernel numbers them and what they are
 * called. The lists are read anew when a head changes, when a thread vanishes and now and then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "proc.h"
#include "remote.h"

#define CLOCK_NS  10000000ull
#define RELIST_NS 100000000ull
#define RELIST_SOON_NS                                                                                                 \
	2000000ull /* when a list was cut short because it changed, or has a thread that is not yet born */
#define UNBORN_MAX     64
#define BORN_WITHIN_NS 250000000ull /* what has no thread by then may never have one */

/* When to look again for the name of a thread that had none: it registers a moment after it starts. */
static const uint64_t name_retry_ms[] = {3, 10, 50, 250, 1000, 5000, 30000};

bool pl_roster_has_room(const struct pl_engine *e)
{
	return e->watch_count == 0 || 2 * (e->targets.len + e->watch_count + 1) <= e->max_files;
}

static void watch_free(struct pl_engine *e, struct pl_watch *w)
{
	pl_watch_deinit(w);
	free(w);
}

static struct pl_watch *watch_make(struct pl_engine *e, struct pl_target *t, pid_t tid, const struct pl_tstate *ts,
				   const struct pl_interp *interp)
{
	struct pl_watch *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	pl_watch_init(w, &t->reader, t->pid, tid, ts, interp);
	return w;
}

void pl_roster_deinit(struct pl_engine *e, struct pl_target *t)
{
	struct pl_roster *r = &t->roster;

	e->watch_count -= (uint32_t)r->watches.len;
	for (size_t i = 0; i < r->watches.len; i++) {
		pl_send_rest(e, r->watches.data[i]);
		if (r->watches.data[i]->announced)
			pl_send_thread(e, r->watches.data[i]);
		watch_free(e, r->watches.data[i]);
	}
	pl_vec_deinit(&r->watches);
	pl_vec_deinit(&r->interps);
	pl_vec_deinit(&r->unborn);
	pl_vec_deinit(&r->were_unborn);
	pl_tid_map_deinit(&r->tids);
	r->tid_offset = 0;
	r->next_list_ns = 0;
}

static bool filter_matches(const struct pl_engine_options *o, const struct pl_watch *w)
{
	char tid[16];

	if (!o->threads)
		return true;
	snprintf(tid, sizeof tid, "%d", (int)w->tid);
	for (size_t i = 0; i < o->thread_count; i++)
		if (strcmp(o->threads[i], w->name) == 0 || strcmp(o->threads[i], tid) == 0)
			return true;
	return false;
}

static void clock_older_than(struct pl_target *t, uint64_t now, uint64_t age_ns)
{
	t->roster.clocked_ns = now;
	for (size_t i = 0; i < t->roster.watches.len; i++) {
		struct pl_watch *w = t->roster.watches.data[i];
		struct pl_run_counters c;

		if (w->clocked_ns + age_ns <= now && pl_thread_clock_counters(&w->clock, &c) == PL_CLOCK_OK)
			pl_watch_clocked(w, &c, now);
	}
}

/* A reading of a calm thread does not bring its run time along, and of a thread that has ended it is not to be had. */
void pl_roster_clock(struct pl_target *t, uint64_t now)
{
	if (now - t->roster.clocked_ns >= CLOCK_NS)
		clock_older_than(t, now, CLOCK_NS);
}

void pl_roster_announce_all(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	clock_older_than(t, now, 0);
	for (size_t i = 0; i < t->roster.watches.len; i++)
		if (t->announced)
			pl_send_thread(e, t->roster.watches.data[i]);
}

/* Where the descriptor has the thread's number: found with a thread whose number is among those of the process. */
static void learn_tid_offset(struct pl_target *t, const struct pl_tstate *ts)
{
	struct pl_mem *mem = pl_mem_live_mem(t->reader.live);
	pl_tid_vec tids = {0};
	struct plumb_error *err = pl_proc_tids(t->pid, &tids);

	for (size_t i = 0; i < tids.len; i++)
		tids.data[i] = pl_tid_map_its(&t->roster.tids, tids.data[i]);
	if (!err)
		err = pl_pthread_tid_offset(mem, ts->thread_id, tids.data, tids.len, &t->roster.tid_offset);
	plumb_error_destroy(err);
	pl_vec_deinit(&tids);
}

/* <= 3.10 know a thread by its pthread_t only; its number is inside the C library's descriptor at that address. */
static pid_t own_tid_of(struct pl_target *t, const struct pl_tstate *ts)
{
	uint32_t tid;

	if (ts->native_id)
		return (pid_t)ts->native_id;
	if (t->roster.tid_offset == 0)
		learn_tid_offset(t, ts);
	if (t->roster.tid_offset == 0 ||
	    pl_mem_read(pl_mem_live_mem(t->reader.live), ts->thread_id + t->roster.tid_offset, &tid, sizeof tid))
		return 0;
	return (pid_t)tid;
}

static struct pl_watch *find_watch(const struct pl_roster *r, const struct pl_tstate *ts)
{
	for (size_t i = 0; i < r->watches.len; i++)
		if (r->watches.data[i]->stack.tstate == ts->addr && r->watches.data[i]->ident == ts->thread_id)
			return r->watches.data[i];
	return NULL;
}

/* A thread state that is being set up still bears the number of the thread that creates it. */
static bool tid_taken(const struct pl_roster *r, pl_addr interp, pid_t tid)
{
	for (size_t i = 0; i < r->watches.len; i++)
		if (r->watches.data[i]->tid == tid && r->watches.data[i]->stack.interp.addr == interp)
			return true;
	return false;
}

static bool is_among(const int *tids, size_t count, pid_t tid)
{
	for (size_t i = 0; i < count; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

/* Threads that nobody wants to see. */
static bool is_left_out(const struct pl_engine_options *o, pid_t tid)
{
	return is_among(o->hidden, o->hidden_count, tid) || (o->tids && !is_among(o->tids, o->tid_count, tid));
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

/* Whoever waited for its thread in the last list may have run since then. */
static void count_unseen(struct pl_engine *e, const struct pl_roster *r, const struct pl_watch *w)
{
	bool waited = has_state(r->were_unborn.data, r->were_unborn.len, w->stack.tstate);

	if (waited && w->wanted && e->now.ticks > r->listed_tick + 1)
		e->now.losses[PL_LOSS_UNREADABLE] += e->now.ticks - r->listed_tick - 1;
}

static struct plumb_error *add_watch(struct pl_engine *e, struct pl_target *t, const struct pl_tstate *ts,
				     const struct pl_interp *interp, uint64_t now)
{
	pid_t own = own_tid_of(t, ts), tid = own > 0 ? pl_tid_map_ours(&t->roster.tids, own) : 0;

	/* Being created, or gone; the next list tells. */
	if (tid <= 0 || tid_taken(&t->roster, ts->interp, tid) || !pl_proc_thread_alive(t->pid, tid))
		return note_unborn(&t->roster, ts->addr);
	if (is_left_out(&e->options, tid))
		return NULL;
	/* The main thread is the oldest, and so the last of the list: it is not left out for the others. */
	bool full = e->watch_count >= PL_MAX_WATCHES && tid != t->pid;
	if (full || !pl_roster_has_room(e)) {
		t->roster.refused++;
		return NULL;
	}
	struct pl_watch *w = watch_make(e, t, tid, ts, interp);
	if (!w)
		return &pl_err_no_memory;
	if (!pl_vec_push(&t->roster.watches, w)) {
		watch_free(e, w);
		return &pl_err_no_memory;
	}
	e->watch_count++;
	w->target = t;
	w->index = e->next_thread++;
	w->came_ns = now;
	w->listed = true;
	w->name_next_ns = now;
	if (w->main)
		snprintf(w->name, sizeof w->name, "MainThread");
	w->wanted = filter_matches(&e->options, w);
	count_unseen(e, &t->roster, w);
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
	struct pl_watch *newer = NULL;
	size_t mine = interp_index(r, w), best = 0;

	for (size_t i = 0; i < r->watches.len; i++) {
		struct pl_watch *other = r->watches.data[i];

		if (other->tid != w->tid || other == w)
			continue;
		size_t index = interp_index(r, other);
		if (index < mine && (!newer || index > best)) {
			best = index;
			newer = other;
		}
	}
	return newer;
}

/* Link the watches of one thread that has been in more than one interpreter. */
static void relate_watches(struct pl_roster *r)
{
	for (size_t i = 0; i < r->watches.len; i++)
		r->watches.data[i]->newer = r->watches.data[i]->older = NULL;
	for (size_t i = 0; r->interps.len > 1 && i < r->watches.len; i++) {
		struct pl_watch *w = r->watches.data[i];

		w->newer = next_newer(r, w);
		if (w->newer)
			w->newer->older = w;
	}
}

static void unlink_watch(struct pl_watch *w)
{
	if (w->newer)
		w->newer->older = w->older;
	if (w->older)
		w->older->newer = w->newer;
}

void pl_roster_remove(struct pl_engine *e, struct pl_target *t, size_t i)
{
	struct pl_watch *w = t->roster.watches.data[i];

	pl_send_rest(e, w);
	if (w->announced)
		pl_send_thread(e, w);
	unlink_watch(w);
	watch_free(e, w);
	e->watch_count--;
	struct pl_watch **at = t->roster.watches.data + i; /* the order is that in which they are sampled */
	memmove(at, at + 1, (--t->roster.watches.len - i) * sizeof *at);
	t->roster.next_list_ns = 0;
}

static struct plumb_error *list_interp(struct pl_engine *e, struct pl_target *t, const struct pl_interp *interp,
				       uint64_t now, bool *whole)
{
	pl_tstate_vec threads = {0};
	bool all = false;
	struct plumb_error *err =
		pl_tstate_list(pl_mem_live_mem(t->reader.live), &t->reader.py, interp, &threads, &all);

	if (err == &pl_err_target_exited || err == &pl_err_no_memory) {
		pl_vec_deinit(&threads);
		return err;
	}
	/* The list changed while we read it: what we have is right, the rest comes next time. */
	*whole = *whole && !err && all;
	plumb_error_destroy(err);
	err = NULL;
	for (size_t i = 0; i < threads.len && !err; i++) {
		struct pl_watch *w = find_watch(&t->roster, &threads.data[i]);

		if (w) /* a main thread that has ended leaves its thread state behind */
			w->listed = !w->main || pl_proc_thread_alive(w->pid, w->tid);
		else
			err = add_watch(e, t, &threads.data[i], interp, now);
	}
	pl_vec_deinit(&threads);
	return err;
}

static void take_name(void *ctx, uint64_t ident, const char *name, size_t len)
{
	struct pl_target *t = ctx;

	for (size_t i = 0; i < t->roster.watches.len; i++) {
		struct pl_watch *w = t->roster.watches.data[i];

		if (w->ident != ident)
			continue;
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

static void name_threads(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	if (!names_due(&t->roster, now))
		return;
	/* Each interpreter has a threading module of its own; the main one, which comes last, has the last word. */
	for (size_t i = 0; i < t->roster.interps.len; i++)
		plumb_error_destroy(pl_thread_names(pl_mem_live_mem(t->reader.live), &t->reader.py,
						    &t->roster.interps.data[i], take_name, t));
	for (size_t i = 0; i < t->roster.watches.len; i++) {
		struct pl_watch *w = t->roster.watches.data[i];
		size_t tries = sizeof name_retry_ms / sizeof *name_retry_ms;

		if (w->name_next_ns != UINT64_MAX && w->name_next_ns > now)
			continue;
		if (w->name_next_ns != UINT64_MAX) {
			w->name_next_ns =
				now + name_retry_ms[w->name_tries < tries ? w->name_tries : tries - 1] * 1000000;
			w->name_tries = w->name_tries < 255 ? w->name_tries + 1 : 255;
		}
		if (!w->name[0])
			pl_proc_comm(t->pid, w->tid, w->name);
		w->wanted = filter_matches(&e->options, w);
		/* Who asks for a thread that is not there is told which are. */
		if (w->announced || !w->wanted)
			pl_send_thread(e, w);
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

/* @p whole: the list of interpreters came to its end. If those of their threads did, too, a thread that is on none is
 * gone; if not, they are read again soon. */
static struct plumb_error *list_threads(struct pl_engine *e, struct pl_target *t, bool whole, uint64_t now)
{
	pl_interp_vec *interps = &t->roster.interps;
	struct plumb_error *err = NULL;
	bool all = whole;

	for (size_t i = 0; i < t->roster.watches.len; i++)
		t->roster.watches.data[i]->listed = false;
	pl_vec_clear(&t->roster.unborn);
	bool numbered = t->roster.tid_offset != 0;
	for (size_t i = 0; i < interps->len && !err; i++)
		err = list_interp(e, t, &interps->data[i], now, &all);
	if (err)
		return err;
	if (!numbered && t->roster.tid_offset) /* it was learnt from the main thread, which is last: now the others */
		return list_threads(e, t, whole, now);
	if (interps->len)
		name_threads(e, t, now);
	for (size_t i = t->roster.watches.len; all && i-- > 0;)
		if (!t->roster.watches.data[i]->listed)
			pl_roster_remove(e, t, i);
	t->roster.listed_ns = now;
	t->roster.listed_tick = e->now.ticks;
	t->roster.next_list_ns = now + (all && !birth_is_due(&t->roster, now) ? RELIST_NS : RELIST_SOON_NS);
	uint64_t name_ns = next_name_ns(&t->roster);
	if (name_ns < t->roster.next_list_ns)
		t->roster.next_list_ns = name_ns;
	relate_watches(&t->roster);
	return NULL;
}

struct plumb_error *pl_roster_refresh(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	uint32_t refused = t->roster.refused;

	t->roster.refused = 0;
	pl_addr_vec before = t->roster.were_unborn;
	t->roster.were_unborn = t->roster.unborn;
	t->roster.unborn = before;
	pl_tid_map_begin(&t->roster.tids, t->pid);
	pl_vec_clear(&t->roster.interps);
	bool whole = false;
	struct plumb_error *err =
		pl_interp_list(pl_mem_live_mem(t->reader.live), &t->reader.py, &t->roster.interps, &whole);

	if (err == &pl_err_target_exited || err == &pl_err_no_memory)
		return err;
	plumb_error_destroy(err);
	err = list_threads(e, t, whole, now);
	/* A thread that finds no room is met in each list: count those that have come. */
	if (t->roster.refused > refused)
		e->now.losses[PL_LOSS_BEYOND] += t->roster.refused - refused;
	return err;
}
