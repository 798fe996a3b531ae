/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: one round, which samples every thread of every process once. */
#include "clock.h"
#include "remote.h"
#include "thread_state.h"

#define DOUBT_NS     3000000ull
#define HOLDER_TRIES 3
#define HALT_LOOK_NS 50000000ull
/* So many threads may be read from the processor of another one, which waits for us meanwhile. */
#define FEW_THREADS   16
#define BESIDE_ROUNDS 64 /* for which we keep to a processor though nobody was stood beside */

enum result { TOOK, TOOK_NONE, TARGET_GONE };

/* A reading brings the interpreter's words along: a new head means a new thread. */
static void notice_interp(struct pl_target *t, const struct pl_reading *r)
{
	if (!r->complete)
		return;
	for (size_t i = 0; i < t->roster.interps.len; i++)
		if (t->roster.interps.data[i].addr == r->interp.addr &&
		    t->roster.interps.data[i].threads_head != r->interp.threads_head)
			t->roster.next_list_ns = 0;
}

/* A stack that cannot be read may be that of a thread state that is gone. */
static void doubt_roster(struct pl_target *t)
{
	if (pl_clock_monotonic_ns() - t->roster.listed_ns > DOUBT_NS)
		t->roster.next_list_ns = 0;
}

static enum result sample_one(struct pl_engine *e, struct pl_target *t, size_t i, uint64_t weight_ns)
{
	struct pl_watch *w = t->roster.watches.data[i];
	struct pl_reading reading;
	struct pl_raw_sample s;
	enum pl_watch_result r = pl_watch_sample(w, &t->reader, &t->stopper, e->options.mode, &reading, &s);

	pl_send_judge_codes(e, t, w->tid);
	switch (r) {
	case PL_WATCH_SAMPLE:
		pl_send_sample(e, w, &s, weight_ns);
		break;
	case PL_WATCH_NOTHING:
		pl_send_sample(e, w, NULL, 0);
		notice_interp(t, &reading);
		return TOOK_NONE;
	case PL_WATCH_UNREADABLE:
		e->now.losses[PL_LOSS_UNREADABLE]++;
		doubt_roster(t);
		break;
	case PL_WATCH_GONE:
		pl_roster_remove(e, t, i);
		return TOOK;
	case PL_WATCH_EXITED:
		return TARGET_GONE;
	}
	notice_interp(t, &reading);
	return TOOK;
}

/* A thread that is in another interpreter is sampled there. */
static enum result sample_here(struct pl_engine *e, struct pl_target *t, size_t i, uint64_t weight_ns)
{
	struct pl_watch *w = t->roster.watches.data[i];

	if ((w->newer || w->older) && !pl_watch_innermost(w, &t->reader)) {
		pl_watch_skip(w);
		return TOOK_NONE;
	}
	return w->wanted ? sample_one(e, t, i, weight_ns) : TOOK_NONE;
}

/* Each thread once. The stops that are allowed may not do for all that need one, and whoever comes first gets them: so
 * a round begins behind the thread that was stopped last. */
static enum result sample_all(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns)
{
	struct pl_roster *r = &t->roster;
	size_t i = r->first;

	for (size_t left = r->watches.len; left > 0 && !atomic_load(&e->stopping); left--) {
		size_t len = r->watches.len;
		uint64_t stops = t->stopper.stops;

		i = i < len ? i : 0;
		if (sample_here(e, t, i, weight_ns) == TARGET_GONE)
			return TARGET_GONE;
		if (r->watches.len == len) /* else the next one has moved up */
			i++;
		if (t->stopper.stops != stops)
			r->first = i;
		if (left > FEW_THREADS)
			(void)pl_beside_leave(&e->beside);
		(void)pl_stopper_settle(&t->stopper);
	}
	return TOOK;
}

static bool find_holder(const struct pl_roster *r, pl_addr tstate, size_t *ret)
{
	for (size_t i = 0; i < r->watches.len; i++) {
		const struct pl_watch *w = r->watches.data[i];

		*ret = i;
		if (w->stack.tstate == tstate)
			return w->wanted;
	}
	return false;
}

/* Up to 3.11 a process has one GIL; then an interpreter may have one of its own. */
static bool shares_gil(const struct pl_target *t, size_t k)
{
	const struct pl_interp *interps = t->roster.interps.data;

	if (t->reader.py.layout.interp.gil == PL_NONE)
		return k > 0;
	for (size_t i = 0; i < k; i++)
		if (interps[i].gil == interps[k].gil)
			return true;
	return false;
}

/* GIL mode: ask the interpreter who holds it and sample that thread alone, once a GIL. TOOK_NONE: it had passed it on
 * meanwhile. */
static enum result sample_holder(struct pl_engine *e, struct pl_target *t, size_t k, uint64_t weight_ns)
{
	const struct pl_interp *known = &t->roster.interps.data[k];
	struct pl_interp interp;
	struct plumb_error *err = pl_interp_read_again(pl_mem_live_mem(t->reader.live), &t->reader.py, known, &interp);
	size_t i;

	if (err) {
		enum result r = err == &pl_err_target_exited ? TARGET_GONE : TOOK;
		plumb_error_destroy(err);
		return r;
	}
	if (interp.threads_head != known->threads_head)
		t->roster.next_list_ns = 0;
	if (interp.gil_holder == 0 || shares_gil(t, k) || !find_holder(&t->roster, interp.gil_holder, &i))
		return TOOK;
	return sample_one(e, t, i, weight_ns);
}

static enum result sample_holders(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns)
{
	for (size_t k = 0; k < t->roster.interps.len; k++) {
		enum result r = TOOK_NONE;

		for (int tries = 0; tries < HOLDER_TRIES && r == TOOK_NONE; tries++)
			r = sample_holder(e, t, k, weight_ns);
		if (r == TARGET_GONE)
			return r;
	}
	return TOOK;
}

/* The words that tell of new threads, when no running thread brought them along. A process that has just been forked is
 * asked each time until its one thread bears its own number. */
static enum result keep_roster(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	struct pl_roster *r = &t->roster;
	bool due = now >= r->next_list_ns || (t->forked && r->watches.len == 0);
	struct plumb_error *err = due ? pl_roster_refresh(e, t, now) : NULL;

	if (err == &pl_err_target_exited)
		return TARGET_GONE;
	plumb_error_destroy(err);
	pl_roster_clock(t, now);
	return TOOK;
}

/* What standing beside its threads took of the time of the process. The next round finds us there, where that is not
 * in the way of anybody else. */
static void end_beside(struct pl_engine *e, struct pl_target *t)
{
	uint64_t taken_ns = pl_beside_taken_ns(&e->beside);

	if (t->stopper.beside_rounds == 0)
		pl_stopper_stood_beside(&t->stopper, taken_ns);
	if (e->attached_count > 1 || t->roster.watches.len > FEW_THREADS || t->stopper.beside_rounds >= BESIDE_ROUNDS ||
	    !pl_stopper_stands_beside(&t->stopper))
		(void)pl_beside_leave(&e->beside);
	t->stopper.beside_rounds++;
}

static enum result sample_threads(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns)
{
	enum result r = e->options.mode == PL_MODE_GIL ? sample_holders(e, t, weight_ns) : sample_all(e, t, weight_ns);

	end_beside(e, t);
	return r;
}

/* Is it stopped by others? Its threads look as if they waited. The time counts that it was so from one round to the
 * next. */
static void look_whether_halted(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	struct pl_thread_state state;

	if (t != e->root || e->options.own)
		return;
	if (t->halted)
		e->now.halted_ns += now - t->halt_round_ns;
	t->halt_round_ns = now;
	if (now < t->halt_look_ns)
		return;
	pl_thread_state_read(t->pid, t->pid, &state);
	t->halted = state.letter == 'T' || state.letter == 't';
	t->halt_look_ns = now + HALT_LOOK_NS;
}

static enum result sample_target(struct pl_engine *e, struct pl_target *t, uint64_t now, uint64_t weight_ns)
{
	if (keep_roster(e, t, now) == TARGET_GONE)
		return TARGET_GONE;
	t->met |= t->roster.watches.len > 0;
	look_whether_halted(e, t, now);
	if (e->stats.threads != e->watch_count) /* a thread is told before its first sample is */
		pl_sampler_publish(e, now);
	return sample_threads(e, t, weight_ns);
}

/* The address space is gone: the process has ended, or has become another program by exec. */
static void lose_target(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	(void)pl_beside_leave(&e->beside);
	if (t->stopper.exit_known)
		pl_tree_end(e, t, now);
	else
		pl_search_detach(e, t);
}

/* A program that we are a guest of can close our descriptors at any moment. That of its memory is asked for; those of
 * the threads are opened with it. */
static void keep_open(struct pl_target *t)
{
	if (!pl_mem_live_reopen(t->reader.live))
		return;
	for (size_t i = 0; i < t->roster.watches.len; i++) {
		struct pl_watch *w = t->roster.watches.data[i];

		pl_thread_clock_close(&w->clock);
		pl_thread_clock_open(&w->clock, w->pid, w->tid);
	}
}

/* Every thread of every process. Backwards, as a process can leave. */
void pl_round(struct pl_engine *e, uint64_t now, uint64_t weight_ns)
{
	e->now.ticks++;
	for (size_t i = e->targets.len; i-- > 0 && !atomic_load(&e->stopping);) {
		struct pl_target *t = e->targets.data[i];

		if (t->attached && e->options.own)
			keep_open(t);
		if (t->attached && sample_target(e, t, now, weight_ns) == TARGET_GONE &&
		    pl_mem_live_gone(t->reader.live))
			lose_target(e, t, now);
	}
}
