/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine: the sampling thread. It keeps the clock, CLOCK_MONOTONIC by the schedule of schedule.h: a period that
 * is over before its sample could be taken is counted as missed; nothing is caught up. It allocates only when it meets
 * something new, and never writes or waits for the disk. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "budget.h"
#include "clock.h"
#include "remote.h"
#include "schedule.h"

#define DOUBT_NS	3000000ull
#define SLICE_NS	100000ull
#define ANNOUNCE_NS	1000000000ull
#define PUBLISH_NS	20000000ull
#define HOLDER_TRIES	3
#define SHARED_BY	32 /* samples */
#define SHARED_AFTER_NS 500000000ull
#define LOOK_NS		200000ull  /* at the highest rate: how often to look whether we shall stop */
#define BIRTHS_MIN_NS	1000000ull /* asking whether a process was born takes half a microsecond */
#define BIRTHS_MAX_NS	5000000ull

/* ---- time -------------------------------------------------------------------------------------------------------- */

enum wake { WAKE_TIME, WAKE_STOP, WAKE_ORDER, WAKE_EXIT };

/* Let go of late stops that have come about. How long the others can wait for us; UINT64_MAX: there are none. */
static uint64_t settle_all(struct pl_engine *e, uint64_t now)
{
	uint64_t patience = UINT64_MAX;

	for (size_t i = 0; i < e->targets.len; i++) {
		struct pl_stopper *s = &e->targets.data[i]->stopper;
		uint64_t its = pl_stopper_settle(s) ? UINT64_MAX : pl_stopper_patience_ns(s, now);

		patience = its < patience ? its : patience;
	}
	return patience;
}

/* Ctrl-Z and its like stop all threads of a process at once. Whoever runs us blocks them elsewhere and so leaves them
 * to this thread, which takes them while it waits and holds no thread of the target: that would stand still as long as
 * we do. In our own process signals are the program's. */
static void signals_while_waiting(const struct pl_engine *e, bool holding, sigset_t *blocked)
{
	sigfillset(blocked);
	if (holding || e->options.own)
		return;
	sigdelset(blocked, SIGTSTP);
	sigdelset(blocked, SIGTTIN);
	sigdelset(blocked, SIGTTOU);
}

static enum wake answer_bell(struct pl_engine *e)
{
	uint64_t count;

	(void)!read(e->bell_fd, &count, sizeof count);
	return atomic_load(&e->stopping) ? WAKE_STOP : WAKE_ORDER;
}

/* Sleep until @p until (0: only look). */
static enum wake wait_until(struct pl_engine *e, uint64_t until)
{
	struct pollfd fds[] = {{.fd = e->bell_fd, .events = POLLIN}, {.fd = e->exit_fd, .events = POLLIN}};

	for (;;) {
		uint64_t now = pl_clock_monotonic_ns(), left = until > now ? until - now : 0;
		/* A thread that did not stop in time stops when it gets on a CPU again: it must not wait for our next
		 * tick. */
		uint64_t patience = settle_all(e, now);

		if (left > patience)
			left = patience;
		struct timespec ts = {.tv_sec = (time_t)(left / PL_NS_PER_S), .tv_nsec = (long)(left % PL_NS_PER_S)};
		sigset_t blocked;
		signals_while_waiting(e, patience != UINT64_MAX, &blocked);
		int n = ppoll(fds, 2, &ts, &blocked);

		if (n > 0)
			return fds[0].revents ? answer_bell(e) : WAKE_EXIT;
		if (n == 0 && pl_clock_monotonic_ns() >= until)
			return WAKE_TIME;
	}
}

/* ---- handing over ------------------------------------------------------------------------------------------------ */

/* Codes and nodes the consumer has not seen go before the sample that needs them. False: no room, the sample is lost.
 */
static bool send_pending(struct pl_engine *e)
{
	size_t codes = e->tables.codes.known.len, nodes = e->tables.trie.nodes.len;

	while (e->sent_codes < codes && pl_queue_room(&e->queue)) {
		struct pl_record rec = {.kind = PL_RECORD_CODE};

		rec.code.code = e->tables.codes.known.data[e->sent_codes++];
		pl_queue_push(&e->queue, &rec);
	}
	while (e->sent_codes == codes && e->sent_nodes < nodes && pl_queue_room(&e->queue)) {
		const struct pl_node *n = &e->tables.trie.nodes.data[e->sent_nodes++];
		struct pl_record rec = {.kind = PL_RECORD_NODE};

		rec.node.parent = n->parent;
		rec.node.code = n->code;
		rec.node.offset = n->offset;
		rec.node.opcode = n->opcode;
		pl_queue_push(&e->queue, &rec);
	}
	return e->sent_codes == codes && e->sent_nodes == nodes && pl_queue_room(&e->queue) > 0;
}

static void send_sample(struct pl_engine *e, struct pl_watch *w, const struct pl_raw_sample *s, uint64_t time_ns,
			uint64_t weight_ns)
{
	struct pl_record rec = {
		.kind = PL_RECORD_SAMPLE, .state = s->state, .quality = s->quality, .marker = s->marker, .tag = s->tag};

	if (!w->announced)
		pl_roster_announce(e, w);
	if (!w->announced || !send_pending(e)) {
		e->now.losses[PL_LOSS_QUEUE]++;
		return;
	}
	e->now.folded += s->marker == PL_MARKER_FOLDED;
	rec.sample.time_ns = time_ns;
	rec.sample.weight_ns = weight_ns;
	rec.sample.node = s->node;
	rec.sample.thread = w->index;
	pl_queue_push(&e->queue, &rec);
}

/* ---- CPU mode ----------------------------------------------------------------------------------------------------
 * The kernel brings the run time of a thread up to date at its own ticks and when the thread blocks, not when we look.
 * So samples wait, and many of them share the run time that has become known meanwhile. Sharing it among few would be
 * wrong: a sample would be given the time since the one before, and the parts of a program that follow a wait would be
 * given the end of the part before it. */

static void share_run_time(struct pl_engine *e, struct pl_watch *w)
{
	uint64_t share = w->cpu_due_ns / w->waiting.len;

	for (size_t i = 0; i < w->waiting.len; i++)
		send_sample(e, w, &w->waiting.data[i].sample, w->waiting.data[i].time_ns, share);
	pl_vec_clear(&w->waiting);
	w->cpu_due_ns = 0;
}

/* @p s: NULL for a tick without a sample. */
static void send_by_cpu_time(struct pl_engine *e, struct pl_watch *w, const struct pl_raw_sample *s, uint64_t weight_ns)
{
	uint64_t now = pl_clock_monotonic_ns() - e->start_ns;

	if (s && !w->announced) /* a process that has ended cannot be asked any more what it ran */
		pl_roster_announce(e, w);
	if (s && !w->counted)
		send_sample(e, w, s, now, weight_ns); /* the kernel does not tell run times */
	else if (s)
		(void)pl_vec_push(&w->waiting,
				  ((struct pl_waiting_sample){now, weight_ns, *s})); /* else the others get its time */
	if (w->waiting.len == 0 || w->cpu_due_ns == 0)
		return;
	if (w->waiting.len >= SHARED_BY || now - w->waiting.data[0].time_ns > SHARED_AFTER_NS)
		share_run_time(e, w);
}

/* It ended before the kernel told anything: each sample stands for the time that passed between two of them. */
static uint64_t time_waited_for(const struct pl_watch *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->waiting.len; i++)
		sum += w->waiting.data[i].weight_ns;
	return sum;
}

void pl_sampler_part(struct pl_engine *e, struct pl_watch *w)
{
	if (w->waiting.len == 0)
		return;
	if (w->cpu_due_ns == 0)
		w->cpu_due_ns = time_waited_for(w);
	share_run_time(e, w);
}

static void sum_stops(struct pl_engine *e)
{
	e->now.stops = e->gone_stops;
	e->now.stopped_ns = e->gone_stopped_ns;
	e->now.refusals = e->gone_refusals;
	for (size_t i = 0; i < e->targets.len; i++) {
		e->now.stops += e->targets.data[i]->stopper.stops;
		e->now.stopped_ns += e->targets.data[i]->stopper.stopped_ns;
		pl_refusals_add(&e->now.refusals, &e->targets.data[i]->stopper.refusals);
	}
}

/* In our own process the rest of the CPU time is the program's. */
static uint64_t cost_ns(struct pl_engine *e)
{
	if (!e->options.own)
		return pl_clock_process_cpu_ns();
	return pl_clock_thread_cpu_ns() + atomic_load(&e->consumer_cpu_ns);
}

/* While sampling is paused its time stands still. */
static uint64_t elapsed_ns(const struct pl_engine *e, uint64_t now)
{
	return (e->now.paused ? e->paused_ns : now) - e->start_ns;
}

static void publish_stats(struct pl_engine *e, uint64_t now)
{
	e->now.elapsed_ns = elapsed_ns(e, now);
	e->now.told_ns = e->now.paused ? e->paused_ns : now;
	e->now.cpu_ns = cost_ns(e);
	e->now.threads = e->watch_count;
	e->now.processes = e->attached_count;
	sum_stops(e);
	pthread_mutex_lock(&e->lock);
	e->stats = e->now;
	pthread_mutex_unlock(&e->lock);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

enum round { ROUND_OK, ROUND_NONE, ROUND_GONE };

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

static enum round sample_one(struct pl_engine *e, struct pl_target *t, size_t i, uint64_t weight_ns)
{
	struct pl_watch *w = t->roster.watches.data[i];
	struct pl_reading reading;
	struct pl_raw_sample s;
	bool cpu = e->options.mode == PL_MODE_CPU;
	enum pl_watch_result r = pl_watch_sample(w, &t->reader, &t->stopper, e->options.mode, &reading, &s);

	switch (r) {
	case PL_WATCH_SAMPLE:
		if (cpu)
			send_by_cpu_time(e, w, &s, weight_ns);
		else
			send_sample(e, w, &s, pl_clock_monotonic_ns() - e->start_ns, weight_ns);
		break;
	case PL_WATCH_NOTHING:
		if (cpu)
			send_by_cpu_time(e, w, NULL, 0);
		notice_interp(t, &reading);
		return ROUND_NONE;
	case PL_WATCH_UNREADABLE:
		e->now.losses[PL_LOSS_UNREADABLE]++;
		doubt_roster(t);
		break;
	case PL_WATCH_GONE:
		pl_roster_remove(e, t, i);
		return ROUND_OK;
	case PL_WATCH_EXITED:
		return ROUND_GONE;
	}
	notice_interp(t, &reading);
	return ROUND_OK;
}

/* A thread that is in another interpreter is sampled there. */
static enum round sample_here(struct pl_engine *e, struct pl_target *t, size_t i, uint64_t weight_ns)
{
	struct pl_watch *w = t->roster.watches.data[i];

	if ((w->newer || w->older) && !pl_watch_innermost(w, &t->reader)) {
		pl_watch_skip(w);
		return ROUND_NONE;
	}
	return w->wanted ? sample_one(e, t, i, weight_ns) : ROUND_NONE;
}

/* Each thread once. The stops that are allowed may not do for all that need one, and whoever comes first gets them: so
 * a round begins behind the thread that was stopped last. */
static enum round sample_all(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns)
{
	struct pl_roster *r = &t->roster;
	size_t i = r->first;

	for (size_t left = r->watches.len; left > 0; left--) {
		size_t len = r->watches.len;
		uint64_t stops = t->stopper.stops;

		i = i < len ? i : 0;
		if (sample_here(e, t, i, weight_ns) == ROUND_GONE)
			return ROUND_GONE;
		if (r->watches.len == len) /* else the next one has moved up */
			i++;
		if (t->stopper.stops != stops)
			r->first = i;
		(void)pl_stopper_settle(&t->stopper);
	}
	return ROUND_OK;
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

/* GIL mode: ask the interpreter who holds it and sample that thread alone, once a GIL. ROUND_NONE: it had passed it on
 * meanwhile. */
static enum round sample_holder(struct pl_engine *e, struct pl_target *t, size_t k, uint64_t weight_ns)
{
	const struct pl_interp *known = &t->roster.interps.data[k];
	struct pl_interp interp;
	struct plumb_error *err = pl_interp_read_again(pl_mem_live_mem(t->reader.live), &t->reader.py, known, &interp);
	size_t i;

	if (err) {
		enum round r = err == &pl_err_target_exited ? ROUND_GONE : ROUND_OK;
		plumb_error_destroy(err);
		return r;
	}
	if (interp.threads_head != known->threads_head)
		t->roster.next_list_ns = 0;
	if (interp.gil_holder == 0 || shares_gil(t, k) || !find_holder(&t->roster, interp.gil_holder, &i))
		return ROUND_OK;
	return sample_one(e, t, i, weight_ns);
}

static enum round sample_holders(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns)
{
	for (size_t k = 0; k < t->roster.interps.len; k++) {
		enum round r = ROUND_NONE;

		for (int tries = 0; tries < HOLDER_TRIES && r == ROUND_NONE; tries++)
			r = sample_holder(e, t, k, weight_ns);
		if (r == ROUND_GONE)
			return r;
	}
	return ROUND_OK;
}

/* The words that tell of new threads, when no running thread brought them along. A process that has just been forked is
 * asked each time until its one thread bears its own number. */
static enum round keep_roster(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	struct pl_roster *r = &t->roster;
	bool due = now >= r->next_list_ns || (t->forked && r->watches.len == 0);
	struct plumb_error *err = due ? pl_roster_refresh(e, t, now) : NULL;

	if (err == &pl_err_target_exited)
		return ROUND_GONE;
	plumb_error_destroy(err);
	pl_roster_clock(t, now);
	return ROUND_OK;
}

static enum round sample_target(struct pl_engine *e, struct pl_target *t, uint64_t now, uint64_t weight_ns)
{
	if (keep_roster(e, t, now) == ROUND_GONE)
		return ROUND_GONE;
	t->met |= t->roster.watches.len > 0;
	return e->options.mode == PL_MODE_GIL ? sample_holders(e, t, weight_ns) : sample_all(e, t, weight_ns);
}

/* The address space is gone: the process has ended, or has become another program by exec. */
static void lose_target(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	if (t->stopper.exit_known)
		pl_tree_end(e, t, now);
	else
		pl_search_detach(e, t);
}

/* Every thread of every process. Backwards, as a process can leave. */
static void sample_round(struct pl_engine *e, uint64_t now, uint64_t weight_ns)
{
	e->now.ticks++;
	for (size_t i = e->targets.len; i-- > 0;) {
		struct pl_target *t = e->targets.data[i];

		if (t->attached && sample_target(e, t, now, weight_ns) == ROUND_GONE &&
		    pl_mem_live_gone(t->reader.live))
			lose_target(e, t, now);
	}
}

static void announce_all(struct pl_engine *e, uint64_t now)
{
	for (size_t k = 0; k < e->targets.len; k++)
		pl_roster_announce_all(e, e->targets.data[k], now);
}

static void each_watch(struct pl_engine *e, void (*fn)(struct pl_engine *, struct pl_watch *))
{
	for (size_t k = 0; k < e->targets.len; k++) {
		struct pl_roster *r = &e->targets.data[k]->roster;

		for (size_t i = 0; i < r->watches.len; i++)
			fn(e, r->watches.data[i]);
	}
}

/* Nothing more will be known of the threads that are left. */
static void part_from_all(struct pl_engine *e, uint64_t now)
{
	each_watch(e, pl_sampler_part);
	announce_all(e, now);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

struct run {
	struct pl_schedule schedule;
	struct pl_budget budget;
	bool sampling; /* there was a Python at the last tick */
	uint64_t look_next_ns, announce_ns, last_ns, published_ns, waited_ns;
	uint64_t cycle; /* that has not ended */
};

/* Does @p err tell less about why nothing was sampled than what is known? */
static bool tells_less(const struct plumb_error *known, const struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err), had = plumb_error_code(known);

	if (code == PLUMB_ERR_NO_PROCESS || code == PLUMB_ERR_TARGET_EXITED)
		return true;
	return (code == PLUMB_ERR_NOT_PYTHON || code == PLUMB_ERR_NOT_READY) &&
	       (had == PLUMB_ERR_NOT_PERMITTED || had == PLUMB_ERR_NOT_SUPPORTED);
}

static void set_trouble(struct pl_engine *e, struct plumb_error *err)
{
	pthread_mutex_lock(&e->lock);
	if (tells_less(e->trouble, err)) {
		plumb_error_destroy(err);
	} else {
		plumb_error_destroy(e->trouble);
		e->trouble = err;
	}
	pthread_mutex_unlock(&e->lock);
}

static void search_all(struct pl_engine *e, uint64_t now)
{
	for (size_t i = 0; i < e->targets.len; i++) {
		struct plumb_error *err;

		pl_search_step(e, e->targets.data[i], now, &err);
		if (err)
			set_trouble(e, err);
	}
}

/* Without a Python the clock of the samples stands. */
static bool sampling_due(struct pl_engine *e, struct run *run, uint64_t now)
{
	bool resumed = e->attached_count && !run->sampling;

	run->sampling = e->attached_count > 0;
	if (resumed && run->schedule.period_ns)
		(void)pl_schedule_next(&run->schedule, now);
	if (resumed)
		run->last_ns = now;
	return run->sampling && now >= run->schedule.due_ns;
}

/* The next tick, in time or, if there is a budget and it is used up, later. */
static void plan_next(struct pl_engine *e, struct run *run, uint64_t now)
{
	uint64_t missed = pl_schedule_next(&run->schedule, pl_clock_monotonic_ns());

	if (e->options.period_ns) {
		e->now.losses[PL_LOSS_MISSED] += missed;
		e->now.missed_ns += missed * run->schedule.period_ns;
	}
	if (!pl_budget_due(&run->budget, now))
		return;
	sum_stops(e);
	uint64_t period = pl_budget_period(&run->budget, run->schedule.period_ns, now, cost_ns(e), e->now.stopped_ns);
	if (period != run->schedule.period_ns)
		pl_schedule_begin(&run->schedule, now, period);
}

static void sample(struct pl_engine *e, struct run *run, uint64_t now)
{
	uint64_t weight_ns = e->options.period_ns ? run->schedule.period_ns : now - run->last_ns;

	run->last_ns = now;
	e->now.taken_ns += weight_ns;
	sample_round(e, now, weight_ns);
	if (run->schedule.period_ns)
		plan_next(e, run, now);
	if (now - run->announce_ns > ANNOUNCE_NS) {
		run->announce_ns = now;
		announce_all(e, now);
	}
}

/* How often to ask whether a process was born: at each tick, but often enough to meet those that live for a moment. */
static uint64_t births_pause_ns(const struct run *run)
{
	uint64_t period = run->schedule.period_ns;

	return period < BIRTHS_MIN_NS ? BIRTHS_MIN_NS : period > BIRTHS_MAX_NS ? BIRTHS_MAX_NS : period;
}

/* All that is due. */
static void step(struct pl_engine *e, struct run *run, uint64_t now)
{
	if (e->births && now >= run->look_next_ns) {
		run->look_next_ns = now + births_pause_ns(run);
		pl_tree_look(e, now);
	}
	search_all(e, now);
	if (sampling_due(e, run, now))
		sample(e, run, now);
}

static uint64_t cycle_end(const struct pl_engine *e, const struct run *run)
{
	return e->start_ns + (run->cycle + 1) * e->options.cycle_ns;
}

/* When something is due next. */
static uint64_t next_wake(const struct pl_engine *e, const struct run *run)
{
	uint64_t wake = !e->attached_count ? UINT64_MAX : run->sampling ? run->schedule.due_ns : 0;

	if (e->now.paused)
		return UINT64_MAX;
	if (e->options.cycle_ns && cycle_end(e, run) < wake)
		wake = cycle_end(e, run);

	/* A tick that comes soon is soon enough for a look. */
	if (e->births && run->look_next_ns + births_pause_ns(run) < wake)
		wake = run->look_next_ns + births_pause_ns(run);
	for (size_t i = 0; i < e->targets.len; i++) {
		const struct pl_target *t = e->targets.data[i];

		if (!t->attached && t->search.next_ns < wake)
			wake = t->search.next_ns;
	}
	return wake;
}

static void publish_now_and_then(struct pl_engine *e, struct run *run, uint64_t now)
{
	bool cycle = e->options.cycle_ns && now >= cycle_end(e, run);

	if (now - run->published_ns <= PUBLISH_NS && e->stats.threads == e->watch_count && !cycle)
		return;
	run->published_ns = now;
	e->now.period_ns = run->schedule.period_ns;
	publish_stats(e, now);
	if (!cycle)
		return;
	run->cycle = (now - e->start_ns) / e->options.cycle_ns;
	pl_queue_wake(&e->queue);
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

static void pause_watch(struct pl_engine *e, struct pl_watch *w)
{
	pl_watch_pause(w);
	pl_sampler_part(e, w);
}

/* The tick that was to come is dropped, not missed. */
static void begin_pause(struct pl_engine *e, uint64_t now)
{
	if (e->now.paused)
		return;
	each_watch(e, pause_watch);
	announce_all(e, now);
	e->paused_ns = now;
	e->now.paused = true;
}

static void resume_watch(struct pl_engine *e, struct pl_watch *w)
{
	pl_watch_resume(w);
}

/* Begin with whole periods of @p period_ns; what was used up to now is no business of the budget. */
static void begin_periods(struct pl_engine *e, struct run *run, uint64_t now, uint64_t period_ns)
{
	sum_stops(e);
	pl_budget_skip(&run->budget, now, cost_ns(e), e->now.stopped_ns);
	run->last_ns = now;
	pl_schedule_begin(&run->schedule, now, period_ns);
}

/* Time goes on where it stood. */
static void end_pause(struct pl_engine *e, struct run *run, uint64_t now)
{
	if (!e->now.paused)
		return;
	e->now.paused = false;
	e->start_ns += now - e->paused_ns;
	each_watch(e, resume_watch);
	begin_periods(e, run, now, run->schedule.period_ns);
}

static void change_period(struct pl_engine *e, struct run *run, uint64_t now, uint64_t period_ns)
{
	e->options.period_ns = period_ns;
	period_ns = pl_budget_init(&run->budget, e->options.max_overhead, period_ns, now);
	begin_periods(e, run, now, period_ns);
}

static void obey(struct pl_engine *e, struct run *run, uint64_t now)
{
	struct pl_order order;

	if (!pl_orders_next(&e->orders, &order))
		return;
	switch (order.kind) {
	case PL_ORDER_PAUSE:
		begin_pause(e, now);
		break;
	case PL_ORDER_RESUME:
		end_pause(e, run, now);
		break;
	case PL_ORDER_PERIOD:
		change_period(e, run, now, order.period_ns);
		break;
	case PL_ORDER_TELL_THREADS:
		if (!e->now.paused) /* it was told when the pause began */
			announce_all(e, now);
		break;
	case PL_ORDER_TELL:
		break;
	}
	e->now.period_ns = run->schedule.period_ns;
	publish_stats(e, now);
	pl_orders_done(&e->orders);
	if (order.kind == PL_ORDER_PAUSE || order.kind == PL_ORDER_RESUME)
		pl_queue_wake(&e->queue); /* the consumer waits longer in a pause */
}

static void loop(struct pl_engine *e, struct run *run)
{
	/* A process can also turn out to have ended while it is sampled: then nothing would wake us. */
	while (e->root || !pl_tree_over(e, pl_clock_monotonic_ns())) {
		uint64_t end =
			e->options.duration_ns && !e->now.paused ? e->start_ns + e->options.duration_ns : UINT64_MAX;
		uint64_t wake = next_wake(e, run), now = pl_clock_monotonic_ns();
		enum wake w = WAKE_TIME;
		bool last = wake >= end || now >= end;

		if (last || wake > now || now - run->waited_ns > LOOK_NS) {
			w = wait_until(e, last ? end : wake);
			run->waited_ns = now = pl_clock_monotonic_ns();
		}
		if (w == WAKE_EXIT)
			pl_tree_reap(e, now);
		if (w == WAKE_STOP || (w == WAKE_TIME && last))
			return;
		if (w == WAKE_ORDER)
			obey(e, run, now);
		if (e->now.paused)
			continue;
		step(e, run, now);
		publish_now_and_then(e, run, now);
	}
}

/* The kernel's struct, not in the C library's headers everywhere. */
struct slice_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* We run for some microseconds at a time: asking for a short slice (Linux 6.12) puts us on a CPU soon after we wake,
 * also on a busy machine, and a thread we have stopped does not wait for us. Where it is allowed, a better priority
 * does the same. */
static void ask_for_punctuality(void)
{
	struct slice_attr a = {.size = sizeof a, .policy = SCHED_OTHER, .nice = -10, .runtime = SLICE_NS};

	if (syscall(SYS_sched_setattr, 0, &a, 0) == 0)
		return;
	a.nice = 0;
	(void)syscall(SYS_sched_setattr, 0, &a, 0);
}

void *pl_sampler_main(void *engine)
{
	struct pl_engine *e = engine;
	struct run run = {.announce_ns = e->start_ns, .last_ns = e->start_ns};
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_TIMERSLACK, 1ul);
	prctl(PR_SET_NAME, "plumb-sampler");
	uint64_t period_ns = pl_budget_init(&run.budget, e->options.max_overhead, e->options.period_ns, e->start_ns);
	if (period_ns)
		ask_for_punctuality();
	run.schedule = (struct pl_schedule){.rng = {e->options.seed}, .jitter = e->options.jitter};
	pl_schedule_begin(&run.schedule, e->start_ns, period_ns);
	loop(e, &run);
	pl_tree_reap(e, pl_clock_monotonic_ns());
	part_from_all(e, pl_clock_monotonic_ns());
	e->now.ended = true;
	publish_stats(e, pl_clock_monotonic_ns());
	pl_orders_close(&e->orders);
	pl_queue_wake(&e->queue);
	return NULL;
}
