/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine: the sampling thread. It keeps the clock, CLOCK_MONOTONIC by the schedule of schedule.h: a period that
 * is over before its sample could be taken is counted as missed; nothing is caught up. It allocates only when it meets
 * something new, and never writes or waits for the disk. */
#include "sampling_thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "budget.h"
#include "clock.h"
#include "cpu_time.h"
#include "debug.h"
#include "event_looks.h"
#include "late_news.h"
#include "late_samples.h"
#include "priority.h"
#include "remote_engine.h"
#include "round.h"
#include "sampled.h"
#include "schedule.h"
#include "search.h"
#include "send.h"
#include "target.h"
#include "tree.h"

#define HURRIED_ROUNDS 32 /* of which the rate is looked at sooner than usual: fewer can be dear by chance */
#define ANNOUNCE_NS    1000000000ull
#define PUBLISH_NS     20000000ull
#define LOOK_NS	       200000ull  /* at the highest rate: how often to look whether we shall stop */
#define BIRTHS_MIN_NS  1000000ull /* asking whether a process was born takes half a microsecond */
#define BIRTHS_MAX_NS  5000000ull

/* ---- time -------------------------------------------------------------------------------------------------------- */

enum wake { WAKE_TIME, WAKE_STOP, WAKE_ORDER, WAKE_EXIT };

/* Ctrl-Z and its like stop all threads of a process at once. Whoever runs us blocks them elsewhere and so leaves them
 * to this thread, which takes them while it waits and holds no thread of the target: that would stand still as long as
 * we do. */
static void signals_while_waiting(bool holding, sigset_t *blocked)
{
	sigfillset(blocked);
	if (holding)
		return;
	sigdelset(blocked, SIGTSTP);
	sigdelset(blocked, SIGTTIN);
	sigdelset(blocked, SIGTTOU);
}

static enum wake what_rang(const struct pl_engine *e)
{
	return atomic_load(&e->stopping) ? WAKE_STOP : WAKE_ORDER;
}

static enum wake wait_for_events(struct pl_engine *e, const struct timespec *timeout, bool holding)
{
	struct pollfd fds[] = {{.fd = e->wake_up.fd, .events = POLLIN}, {.fd = e->exit_fd, .events = POLLIN}};
	sigset_t blocked;

	signals_while_waiting(holding, &blocked);
	pl_late_news_await(&e->late_news, &blocked);
	int n = ppoll(fds, 2, timeout, &blocked);
	if (n < 0)
		pl_late_news_heard(e);
	if (n <= 0)
		return WAKE_TIME;
	if (!fds[0].revents)
		return WAKE_EXIT;
	(void)pl_wake_up_taken(&e->wake_up);
	return what_rang(e);
}

/* In our own process none is waited for to end, and signals are the program's. */
static enum wake wait_in_own_process(struct pl_engine *e, const struct timespec *timeout)
{
	return pl_wake_up_wait(&e->wake_up, timeout) ? what_rang(e) : WAKE_TIME;
}

/* Sleep until @p until (0: only look). */
static enum wake wait_until(struct pl_engine *e, uint64_t until)
{
	for (;;) {
		uint64_t now = pl_clock_monotonic_ns(), left = until > now ? until - now : 0;
		/* A thread that did not stop in time stops when it gets on a CPU again: it must not wait for our next
		 * tick. */
		uint64_t patience = pl_late_news_settle(e, now);

		if (left > patience)
			left = patience;
		struct timespec ts = {.tv_sec = (time_t)(left / PL_NS_PER_S), .tv_nsec = (long)(left % PL_NS_PER_S)};
		enum wake why =
			e->options.own ? wait_in_own_process(e, &ts) : wait_for_events(e, &ts, patience != UINT64_MAX);

		if (why != WAKE_TIME || pl_clock_monotonic_ns() >= until)
			return why;
	}
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

static void sum_stops(struct pl_engine *e)
{
	e->now.stops = e->gone_stops;
	e->now.stopped_ns = e->gone_stopped_ns;
	e->now.refusals = e->gone_refusals;
	for (size_t i = 0; i < e->targets.len; i++) {
		e->now.stops += e->targets.data[i]->python.stopper.stops;
		e->now.stopped_ns += e->targets.data[i]->python.stopper.stopped_ns;
		pl_refusals_add(&e->now.refusals, &e->targets.data[i]->python.stopper.refusals);
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

void pl_sampling_thread_publish(struct pl_engine *e, uint64_t now)
{
	e->now.elapsed_ns = elapsed_ns(e, now);
	e->now.told_ns = e->now.paused ? e->paused_ns : now;
	e->now.cpu_ns = cost_ns(e);
	e->now.threads = e->room.threads;
	e->now.processes = e->attached_count;
	sum_stops(e);
	if (e->now.ended ||
	    now - e->used_told_ns > PUBLISH_NS) { /* not for each thread that comes: it asks all processes */
		e->used_told_ns = now;
		pl_used_cpu_tell(e);
	}
	pthread_mutex_lock(&e->lock);
	e->stats = e->now;
	pthread_mutex_unlock(&e->lock);
}

/* ---- all threads ------------------------------------------------------------------------------------------------- */

static void announce_all(struct pl_engine *e, uint64_t now)
{
	for (size_t k = 0; k < e->targets.len; k++)
		pl_sampled_announce_all(e, e->targets.data[k], now);
}

static void each_thread(struct pl_engine *e, void (*fn)(struct pl_engine *, struct pl_sampled *))
{
	for (size_t k = 0; k < e->targets.len; k++) {
		struct pl_thread_list *r = &e->targets.data[k]->python.threads;

		for (size_t i = 0; i < r->samplers.len; i++)
			fn(e, pl_sampled_of(r->samplers.data[i]));
	}
}

/* Nothing more will be known of the threads that are left. */
static void part_from_all(struct pl_engine *e, uint64_t now)
{
	each_thread(e, pl_late_samples_give_up);
	each_thread(e, pl_cpu_time_rest);
	announce_all(e, now);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

struct run {
	struct pl_schedule schedule;
	struct pl_budget budget;
	uint64_t rounds_cpu_ns, still_ns;
	bool sampling; /* there was a Python at the last tick */
	uint64_t look_next_ns, announce_ns, last_ns, published_ns, waited_ns;
	uint64_t owed_ns; /* as fast as possible: periods without a sample, for which the next one stands, too */
	uint64_t cycle;	  /* that has not ended */
};

/* ---- the budget -------------------------------------------------------------------------------------------------- */

static bool has_usual_budget(const struct pl_engine *e)
{
	return e->options.max_overhead == 0;
}

/* Whoever asks for a limit is held to all that we cost. The usual one counts what more samples would make more of:
 * finding a program and reading its files costs the same at any rate. */
static uint64_t budget_cost_ns(struct pl_engine *e, const struct run *run)
{
	return has_usual_budget(e) ? run->rounds_cpu_ns : cost_ns(e);
}

/* Each process has its own time to lose: that of which most was taken since the last call counts. */
static uint64_t still_ns(struct pl_engine *e, struct run *run, uint64_t now)
{
	uint64_t most = 0;

	for (size_t i = 0; i < e->targets.len; i++) {
		struct pl_target *t = e->targets.data[i];
		uint64_t taken_ns =
			pl_stood_still_tell(&t->still, t->python.stopper.stopped_ns, run->budget.still.limit, now);

		most = taken_ns > most ? taken_ns : most;
	}
	return run->still_ns += most;
}

static uint64_t refused(const struct pl_engine *e)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < e->targets.len; i++)
		sum += e->targets.data[i]->python.stopper.refused;
	return sum;
}

static struct pl_used used(struct pl_engine *e, struct run *run, uint64_t now)
{
	return (struct pl_used){.rounds = e->now.ticks,
				.cpu_ns = budget_cost_ns(e, run),
				.stopped_ns = still_ns(e, run, now),
				.refused = refused(e)};
}

/* What was used up to now is no business of the budget. */
static void skip_budget(struct pl_engine *e, struct run *run, uint64_t now)
{
	struct pl_used until_now = used(e, run, now);

	pl_budget_skip(&run->budget, now, &until_now);
}

/* The period to begin with. */
static uint64_t begin_budget(struct pl_engine *e, struct run *run, uint64_t now)
{
	return pl_budget_init(&run->budget, pl_overhead_limit(&e->options), pl_still_limit(&e->options),
			      e->options.period_ns, now);
}

/* For how long nothing is left to have a thread of it stand still, by what the budget does not know yet. */
static uint64_t spent_for_ns(const struct pl_target *t, uint64_t now)
{
	const struct pl_stopper *s = &t->python.stopper;

	return s->stopped_ns == t->still.told_ns ? 0 : pl_stopper_spent_for_ns(s, now);
}

/* Is so much being used that the rate must fall before the next look? *spent_ns: for how long nothing is left to have a
 * thread stand still. */
static bool hurries(const struct pl_engine *e, const struct run *run, uint64_t now, uint64_t *spent_ns)
{
	bool enough = e->now.ticks - run->budget.used.rounds >= HURRIED_ROUNDS, hurry = false;

	*spent_ns = 0;
	for (size_t i = 0; i < e->targets.len && run->budget.still.limit > 0; i++) {
		const struct pl_target *t = e->targets.data[i];
		uint64_t its_ns = spent_for_ns(t, now);

		hurry |= enough &&
			 pl_stood_still_hurries(&t->still, t->python.stopper.stopped_ns, run->budget.still.limit, now);
		*spent_ns = its_ns > *spent_ns ? its_ns : *spent_ns;
	}
	return hurry || *spent_ns;
}

/* From the end of the period that goes on; without periods, from the last sample. */
static void change_pace(struct run *run, uint64_t period_ns)
{
	struct pl_schedule *s = &run->schedule;

	if (s->period_ns)
		pl_schedule_change(s, period_ns);
	else
		pl_schedule_begin(s, run->last_ns, period_ns);
	run->last_ns = s->start_ns; /* up to then everything has its sample */
}

static void tell_pace(uint64_t before_ns, uint64_t period_ns, const struct pl_used *u)
{
	pl_debug(PL_DEBUG_ENGINE,
		 "budget: period %.0f us, it was %.0f us; so far %.3f ms of CPU time, stood still %.3f ms, %llu stops "
		 "that were not to be had",
		 (double)period_ns / 1e3, (double)before_ns / 1e3, (double)u->cpu_ns / 1e6, (double)u->stopped_ns / 1e6,
		 (unsigned long long)u->refused);
}

/* Later or sooner, by what was used up to now. Not by what is seen: a period has a length before it begins. */
static void keep_to_budget(struct pl_engine *e, struct run *run)
{
	uint64_t now, spent_ns;

	if (pl_budget_unlimited(&run->budget))
		return;
	now = pl_clock_monotonic_ns();
	bool hurry = hurries(e, run, now, &spent_ns);
	if (!pl_budget_due(&run->budget, now, hurry))
		return;
	struct pl_used until_now = used(e, run, now);
	uint64_t period = pl_budget_period(&run->budget, run->schedule.period_ns, now, &until_now);

	period = pl_budget_at_least(&run->budget, period, spent_ns);
	if (period == run->schedule.period_ns)
		return;
	tell_pace(run->schedule.period_ns, period, &until_now);
	change_pace(run, period);
}

static void round_in_budget(struct pl_engine *e, struct run *run, uint64_t now, uint64_t weight_ns)
{
	bool counted = run->budget.cpu.limit > 0 && has_usual_budget(e);
	uint64_t began = counted ? pl_clock_thread_cpu_ns() : 0;

	pl_round(e, now, weight_ns);
	if (counted)
		run->rounds_cpu_ns += pl_clock_thread_cpu_ns() - began;
}

/* ---- pauses ------------------------------------------------------------------------------------------------------ */

static void pause_thread(struct pl_engine *e, struct pl_sampled *thread)
{
	pl_late_samples_give_up(e, thread);
	pl_thread_sampler_pause(&thread->sampler);
	pl_cpu_time_rest(e, thread);
}

/* What it ran since it was looked at last is not asked for: that was after @p now, too. */
static void leave_thread(struct pl_engine *e, struct pl_sampled *thread)
{
	pl_late_samples_give_up(e, thread);
	pl_cpu_time_rest(e, thread);
}

/* The tick that was to come is dropped, not missed. */
static void begin_pause(struct pl_engine *e, uint64_t now, void (*leave)(struct pl_engine *, struct pl_sampled *))
{
	if (e->now.paused)
		return;
	pl_event_looks_take_all(e, false);
	each_thread(e, leave);
	announce_all(e, now);
	(void)pl_beside_leave(&e->beside);
	pl_used_cpu_pause(e);
	e->paused_ns = now;
	e->now.paused = true;
}

static void resume_thread(struct pl_engine *e, struct pl_sampled *thread)
{
	pl_thread_sampler_resume(&thread->sampler);
}

/* Begin with whole periods of @p period_ns. */
static void begin_periods(struct pl_engine *e, struct run *run, uint64_t now, uint64_t period_ns)
{
	skip_budget(e, run, now);
	run->last_ns = now;
	run->owed_ns = 0;
	pl_schedule_begin(&run->schedule, now, period_ns);
}

/* Threads that came meanwhile are not new: what they ran until now was in the pause. */
static void resume_lists(struct pl_engine *e, uint64_t now)
{
	for (size_t i = 0; i < e->targets.len; i++) {
		struct pl_thread_list *list = &e->targets.data[i]->python.threads;

		list->listed_ns = list->listed_ns ? now : 0;
	}
}

/* Time goes on where it stood. */
static void end_pause(struct pl_engine *e, struct run *run, uint64_t now)
{
	if (!e->now.paused)
		return;
	e->now.paused = false;
	e->events_from_ns = e->paused_ns - e->start_ns;
	e->start_ns += now - e->paused_ns;
	pl_used_cpu_resume(e);
	each_thread(e, resume_thread);
	resume_lists(e, now);
	begin_periods(e, run, now, run->schedule.period_ns);
}

/* Nothing was seen meanwhile, and what is sampled mostly stood still as well: Ctrl-Z suspends a whole job. So that is a
 * pause, and nothing was missed. */
static bool stood_still(struct pl_engine *e, struct run *run, uint64_t due, uint64_t now)
{
	bool was = pl_suspension_was(&e->suspension, due, now);

	if (!was && !e->stood_ns) /* what was seen within the round stays so, however long the rest of it took */
		return false;
	begin_pause(e, due, leave_thread);
	e->stood_ns = 0;
	e->now.suspended_ns += now - due;
	e->now.suspended_at_ns = due - e->start_ns;
	end_pause(e, run, now);
	pl_sampling_thread_publish(e, now);
	return true;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* Without a Python the clock of the samples stands. */
static bool sampling_due(struct pl_engine *e, struct run *run, uint64_t now)
{
	bool resumed = e->attached_count && !run->sampling;

	run->sampling = e->attached_count > 0;
	if (resumed && run->schedule.period_ns)
		(void)pl_schedule_next(&run->schedule, now);
	if (resumed) {
		run->last_ns = now;
		run->owed_ns = 0;
		skip_budget(e, run, now);
	}
	return run->sampling && now >= run->schedule.due_ns;
}

/* As fast as possible nothing is missed: there each sample stands for the time since the last one, with or without
 * periods, or what is sampled slowly would count for less on a busy machine. */
static void count_missed(struct pl_engine *e, struct run *run, uint64_t missed)
{
	uint64_t ns = missed * run->schedule.period_ns;

	if (!e->options.period_ns) {
		run->owed_ns = ns;
		return;
	}
	e->now.losses[PL_LOSS_MISSED] += missed;
	e->now.missed_ns += ns;
}

static void sample(struct pl_engine *e, struct run *run, uint64_t now)
{
	uint64_t weight_ns = run->owed_ns + (run->schedule.period_ns ? run->schedule.period_ns : now - run->last_ns);

	run->last_ns = now;
	run->owed_ns = 0;
	e->now.taken_ns += weight_ns;
	round_in_budget(e, run, now, weight_ns);
	uint64_t ended_ns = pl_clock_monotonic_ns();
	uint64_t due = e->stood_ns ? ended_ns - e->stood_ns : now; /* so that times go on behind those of the round */
	if (!stood_still(e, run, due, ended_ns) && run->schedule.period_ns)
		count_missed(e, run, pl_schedule_next(&run->schedule, ended_ns));
	e->stood_ns = 0;
	keep_to_budget(e, run);
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
	pl_search_all(e, now);
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

/* That tells at once. */
static bool has_news(const struct pl_engine *e)
{
	return e->stats.threads != e->room.threads || e->stats.target_ended != e->now.target_ended;
}

static void publish_now_and_then(struct pl_engine *e, struct run *run, uint64_t now)
{
	bool cycle = e->options.cycle_ns && now >= cycle_end(e, run);

	if (now - run->published_ns <= PUBLISH_NS && !has_news(e) && !cycle)
		return;
	run->published_ns = now;
	e->now.period_ns = run->schedule.period_ns;
	pl_sampling_thread_publish(e, pl_clock_monotonic_ns()); /* ticks were missed while it was sampled */
	if (!cycle)
		return;
	run->cycle = (now - e->start_ns) / e->options.cycle_ns;
	pl_queue_wake(&e->queue);
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

static void change_period(struct pl_engine *e, struct run *run, uint64_t now, uint64_t period_ns)
{
	e->options.period_ns = period_ns;
	begin_periods(e, run, now, begin_budget(e, run, now));
}

static void obey(struct pl_engine *e, struct run *run, uint64_t now)
{
	struct pl_order order;

	if (!pl_orders_next(&e->orders, &order))
		return;
	switch (order.kind) {
	case PL_ORDER_PAUSE:
		pl_used_cpu_tell(e);
		begin_pause(e, now, pause_thread);
		pl_late_news_pause(e);
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
	pl_sampling_thread_publish(e, now);
	(void)pl_beside_taken_ns(&e->beside); /* whoever gave the order waits for it: that is no cost of the samples */
	pl_orders_done(&e->orders);
	if (order.kind == PL_ORDER_PAUSE || order.kind == PL_ORDER_RESUME)
		pl_queue_wake(&e->queue); /* the consumer waits longer in a pause */
}

/* Until @p until, or for as long as we are suspended. False: so it was. */
static bool sleep_until(struct pl_engine *e, struct run *run, uint64_t until, enum wake *ret)
{
	uint64_t began = pl_clock_monotonic_ns(), due = until > began ? until : began;

	*ret = wait_until(e, until);
	run->waited_ns = pl_clock_monotonic_ns();
	pl_arrival_note(&e->beside.arrival, run->waited_ns - due);
	return e->now.paused || !stood_still(e, run, due, run->waited_ns);
}

/* Who is not let onto a processor until the end has missed what was due by then. */
static void miss_the_rest(struct pl_engine *e, struct run *run, uint64_t ended_ns)
{
	if (run->sampling && e->attached_count && !e->now.paused && run->schedule.period_ns)
		count_missed(e, run, pl_schedule_over(&run->schedule, ended_ns));
}

/* When it was over: until then each tick was taken or missed. */
static uint64_t loop(struct pl_engine *e, struct run *run)
{
	/* A process can also turn out to have ended while it is sampled: then nothing would wake us. */
	while (e->asked || !pl_tree_over(e, pl_clock_monotonic_ns())) {
		uint64_t end =
			e->options.duration_ns && !e->now.paused ? e->start_ns + e->options.duration_ns : UINT64_MAX;
		uint64_t wake = next_wake(e, run), now = pl_clock_monotonic_ns();
		enum wake why = WAKE_TIME;
		bool last = wake >= end || now >= end;

		if (last || wake > now || now - run->waited_ns > LOOK_NS) {
			last &= sleep_until(e, run, last ? end : wake, &why);
			now = run->waited_ns;
		}
		if (why == WAKE_EXIT)
			pl_tree_reap(e, now);
		if (why == WAKE_STOP || (why == WAKE_TIME && last)) {
			uint64_t ended_ns = pl_clock_monotonic_ns();

			miss_the_rest(e, run, ended_ns);
			return ended_ns;
		}
		if (why == WAKE_ORDER)
			obey(e, run, now);
		if (e->now.paused)
			continue;
		step(e, run, now);
		publish_now_and_then(e, run, now);
	}
	return pl_clock_monotonic_ns();
}

/* The recording has them in the order in which they were named, also those that are never met. */
static void announce_asked(struct pl_engine *e)
{
	for (size_t i = 0; i < e->targets.len && e->options.pid_count > 1; i++)
		if (e->targets.data[i]->asked && e->targets.data[i]->attached)
			pl_send_process(e, e->targets.data[i], false, 0);
}

void *pl_sampling_thread_main(void *engine)
{
	struct pl_engine *e = engine;
	struct run run = {.announce_ns = e->start_ns, .last_ns = e->start_ns};
	sigset_t all;

	atomic_store(&e->tid, gettid());
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_TIMERSLACK, 1ul);
	prctl(PR_SET_NAME, "plumb-sampler");
	run.schedule = (struct pl_schedule){.rng = {e->options.seed}, .jitter = e->options.jitter};
	pl_schedule_begin(&run.schedule, e->start_ns, begin_budget(e, &run, e->start_ns));
	if (run.schedule.period_ns)
		pl_priority_be_punctual(e->options.priority);
	pl_beside_init(&e->beside);
	pl_late_news_init(&e->late_news);
	pl_suspension_begin(&e->suspension, &e->late_news.own, pl_clock_monotonic_ns());
	e->now.period_ns = run.schedule.period_ns;
	announce_asked(e);
	uint64_t ended_ns = loop(e, &run);
	pl_beside_end(&e->beside);
	pl_late_news_last(e);
	pl_late_news_end(&e->late_news);
	pl_tree_reap(e, pl_clock_monotonic_ns());
	if (!e->now.paused)
		pl_event_looks_take_all(e, true);
	part_from_all(e, pl_clock_monotonic_ns());
	e->now.ended = true;
	pl_sampling_thread_publish(e, ended_ns);
	pl_orders_close(&e->orders);
	pl_queue_wake(&e->queue);
	return NULL;
}
