/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine: the sampling thread. It finds the Python, then keeps the clock: an absolute schedule on CLOCK_MONOTONIC
 * with one sample at a random point of each period. A period that is over before its sample could be taken is counted
 * as missed; nothing is caught up. It allocates only when it meets something new, and never writes or waits for the
 * disk. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "detect.h"
#include "image.h"
#include "proc.h"
#include "remote.h"

#define RELIST_NS	100000000ull
#define DOUBT_NS	3000000ull
#define SLICE_NS	100000ull
#define ANNOUNCE_NS	1000000000ull
#define PUBLISH_NS	20000000ull
#define HOLDER_TRIES	3
#define SHARED_BY	32 /* samples */
#define SHARED_AFTER_NS 500000000ull
#define LOOK_NS		200000ull /* at the highest rate: how often to look whether we shall stop */
#define SEARCH_MIN_NS	500000ull
#define SEARCH_MAX_NS	20000000ull

/* ---- finding the Python ------------------------------------------------------------------------------------------ */

static struct plumb_error *detect(struct pl_mem_live *live, const struct pl_python_image *image, struct pl_py *py)
{
	struct pl_py_facts facts = {.runtime = image->runtime,
				    .runtime_size = image->runtime_size,
				    .version = image->version,
				    .code_type = image->code_type,
				    .tstate_current = image->tstate_current,
				    .interp_head = image->interp_head,
				    .name_version = image->name_version};

	return pl_py_detect(pl_mem_live_mem(live), &facts, py);
}

/* Without a GIL nobody holds it: nothing would ever be sampled. */
static struct plumb_error *check_mode(const struct pl_engine *e, struct pl_mem *mem, const struct pl_py *py)
{
	struct pl_interp interp;
	pl_addr head;
	char version[16];

	if (e->options.mode != PL_MODE_GIL || !py->layout.free_threaded)
		return NULL;
	struct plumb_error *err = pl_interp_head(mem, py, &head);
	if (!err)
		err = pl_interp_read(mem, py, head, &interp);
	if (err || interp.gil_known)
		return err;
	return pl_error_hint(pl_error(PLUMB_ERR_NOT_SUPPORTED, "pid %d runs CPython %s without a GIL",
				      (int)e->options.pid, pl_py_version_text(py, version)),
			     "--mode cpu samples the threads that run");
}

struct plumb_error *pl_sampler_attach(struct pl_engine *e)
{
	struct pl_python_image image;
	struct pl_mem_live *live;
	struct pl_py py;
	struct plumb_error *err = pl_python_image_find(e->options.pid, &image);

	if (err)
		return err;
	if ((err = pl_mem_live_create(e->options.pid, &live)))
		return err;
	if ((err = detect(live, &image, &py)) || (err = check_mode(e, pl_mem_live_mem(live), &py))) {
		pl_mem_live_destroy(live);
		return err;
	}
	pl_reader_bind(&e->reader, &py, live);
	e->attached = true;
	e->now.found_python = true;
	return NULL;
}

void pl_sampler_detach(struct pl_engine *e)
{
	if (!e->attached)
		return;
	e->attached = false;
	pl_roster_deinit(&e->roster);
	pl_mem_live_destroy(e->reader.live);
	e->reader.live = NULL;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

struct schedule {
	uint64_t start_ns, period_ns, tick, due_ns;
	struct pl_rng rng;
	bool jitter;
};

static void schedule_at(struct schedule *s, uint64_t tick)
{
	double point = s->jitter ? pl_rng_unit(&s->rng) : 0.5;

	s->tick = tick;
	s->due_ns = s->start_ns + tick * s->period_ns + (uint64_t)(point * (double)s->period_ns);
}

/* The next period that is not over yet; how many were skipped. */
static uint64_t schedule_next(struct schedule *s, uint64_t now)
{
	uint64_t next = s->tick + 1, current = (now - s->start_ns) / s->period_ns;
	uint64_t missed = current > next ? current - next : 0;

	schedule_at(s, next + missed);
	return missed;
}

enum wake { WAKE_TIME, WAKE_STOP, WAKE_EXIT };

/* Sleep until @p until (0: only look). */
static enum wake wait_until(struct pl_engine *e, uint64_t until)
{
	struct pollfd fds[] = {{.fd = e->stop_fd, .events = POLLIN}, {.fd = e->pid_fd, .events = POLLIN}};

	for (;;) {
		uint64_t now = pl_clock_monotonic_ns(), left = until > now ? until - now : 0;
		/* A thread that did not stop in time stops when it gets on a CPU again: it must not wait for our next
		 * tick. */
		uint64_t patience = pl_stopper_settle(&e->stopper) ? left : pl_stopper_patience_ns(&e->stopper, now);

		if (left > patience)
			left = patience;
		struct timespec ts = {.tv_sec = (time_t)(left / PL_NS_PER_S), .tv_nsec = (long)(left % PL_NS_PER_S)};
		int n = ppoll(fds, 2, &ts, NULL);

		if (n > 0)
			return fds[0].revents ? WAKE_STOP : WAKE_EXIT;
		if (n == 0 && pl_clock_monotonic_ns() >= until)
			return WAKE_TIME;
	}
}

/* ---- handing over ------------------------------------------------------------------------------------------------ */

/* Codes and nodes the consumer has not seen go before the sample that needs them. False: no room, the sample is lost.
 */
static bool send_pending(struct pl_engine *e)
{
	size_t codes = e->reader.codes.known.len, nodes = e->reader.trie.nodes.len;

	while (e->sent_codes < codes && pl_queue_room(&e->queue)) {
		struct pl_record rec = {.kind = PL_RECORD_CODE, .state = (uint8_t)e->reader.py.layout.line_table};

		rec.code.code = e->reader.codes.known.data[e->sent_codes++];
		pl_queue_push(&e->queue, &rec);
	}
	while (e->sent_codes == codes && e->sent_nodes < nodes && pl_queue_room(&e->queue)) {
		const struct pl_node *n = &e->reader.trie.nodes.data[e->sent_nodes++];
		struct pl_record rec = {.kind = PL_RECORD_NODE};

		rec.node.parent = n->parent;
		rec.node.code = n->code;
		rec.node.offset = n->offset;
		pl_queue_push(&e->queue, &rec);
	}
	return e->sent_codes == codes && e->sent_nodes == nodes && pl_queue_room(&e->queue) > 0;
}

static void send_sample(struct pl_engine *e, struct pl_watch *w, const struct pl_raw_sample *s, uint64_t time_ns,
			uint64_t weight_ns)
{
	struct pl_record rec = {
		.kind = PL_RECORD_SAMPLE, .state = s->state, .quality = s->quality, .marker = s->marker};

	if (!w->announced)
		pl_roster_announce(e, w);
	if (!w->announced || !send_pending(e)) {
		e->now.losses[PL_LOSS_QUEUE]++;
		return;
	}
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

static void send_by_cpu_time(struct pl_engine *e, struct pl_watch *w, const struct pl_raw_sample *s)
{
	uint64_t now = pl_clock_monotonic_ns() - e->start_ns;

	if (s && !w->counted)
		send_sample(e, w, s, now, e->options.period_ns); /* the kernel does not tell run times */
	else if (s)
		(void)pl_vec_push(&w->waiting,
				  ((struct pl_waiting_sample){now, *s})); /* else the others get its time */
	if (w->waiting.len == 0 || w->cpu_due_ns == 0)
		return;
	if (w->waiting.len >= SHARED_BY || now - w->waiting.data[0].time_ns > SHARED_AFTER_NS)
		share_run_time(e, w);
}

void pl_sampler_part(struct pl_engine *e, struct pl_watch *w)
{
	if (w->waiting.len == 0)
		return;
	if (w->cpu_due_ns == 0) /* it ended before the kernel told anything: each sample stands for its period */
		w->cpu_due_ns = w->waiting.len * e->options.period_ns;
	share_run_time(e, w);
}

static void publish_stats(struct pl_engine *e, uint64_t now)
{
	e->now.elapsed_ns = now - e->start_ns;
	e->now.threads = (uint32_t)e->roster.watches.len;
	e->now.exit_known = e->stopper.exit_known;
	e->now.wait_status = e->stopper.wait_status;
	e->now.stops = e->stopper.stops;
	e->now.stopped_ns = e->stopper.stopped_ns;
	pthread_mutex_lock(&e->lock);
	e->stats = e->now;
	pthread_mutex_unlock(&e->lock);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

enum round { ROUND_OK, ROUND_NONE, ROUND_GONE };

/* A reading brings the interpreter's words along: a new head means a new thread. */
static void notice_interp(struct pl_engine *e, const struct pl_reading *r)
{
	if (!r->complete)
		return;
	for (size_t i = 0; i < e->roster.interps.len; i++)
		if (e->roster.interps.data[i].addr == r->interp.addr &&
		    e->roster.interps.data[i].threads_head != r->interp.threads_head)
			e->roster.listed_ns = 0;
}

/* A stack that cannot be read may be that of a thread state that is gone. */
static void doubt_roster(struct pl_engine *e)
{
	if (pl_clock_monotonic_ns() - e->roster.listed_ns > DOUBT_NS)
		e->roster.listed_ns = 0;
}

static enum round sample_one(struct pl_engine *e, size_t i, uint64_t weight_ns)
{
	struct pl_watch *w = e->roster.watches.data[i];
	struct pl_reading reading;
	struct pl_raw_sample s;
	bool cpu = e->options.mode == PL_MODE_CPU;
	enum pl_watch_result r = pl_watch_sample(w, &e->reader, &e->stopper, e->options.mode, &reading, &s);

	switch (r) {
	case PL_WATCH_SAMPLE:
		if (cpu)
			send_by_cpu_time(e, w, &s);
		else
			send_sample(e, w, &s, pl_clock_monotonic_ns() - e->start_ns, weight_ns);
		break;
	case PL_WATCH_NOTHING:
		if (cpu)
			send_by_cpu_time(e, w, NULL);
		notice_interp(e, &reading);
		return ROUND_NONE;
	case PL_WATCH_UNREADABLE:
		e->now.losses[PL_LOSS_UNREADABLE]++;
		doubt_roster(e);
		break;
	case PL_WATCH_GONE:
		pl_roster_remove(e, i);
		return ROUND_OK;
	case PL_WATCH_EXITED:
		return ROUND_GONE;
	}
	notice_interp(e, &reading);
	return ROUND_OK;
}

static enum round sample_all(struct pl_engine *e, uint64_t weight_ns)
{
	/* Backwards: a removed watch is replaced by the last one, which was sampled already. */
	for (size_t i = e->roster.watches.len; i-- > 0;) {
		struct pl_watch *w = e->roster.watches.data[i];

		if ((w->newer || w->older) && !pl_watch_innermost(w, &e->reader)) {
			pl_watch_skip(w);
			continue;
		}
		if (w->wanted && sample_one(e, i, weight_ns) == ROUND_GONE)
			return ROUND_GONE;
		(void)pl_stopper_settle(&e->stopper);
	}
	return ROUND_OK;
}

static bool find_holder(const struct pl_engine *e, pl_addr tstate, size_t *ret)
{
	for (size_t i = 0; i < e->roster.watches.len; i++) {
		const struct pl_watch *w = e->roster.watches.data[i];

		*ret = i;
		if (w->stack.tstate == tstate)
			return w->wanted;
	}
	return false;
}

/* GIL mode: ask the interpreter who holds it and sample that thread alone. ROUND_NONE: it had passed it on meanwhile.
 */
static enum round sample_holder(struct pl_engine *e, const struct pl_interp *known, uint64_t weight_ns)
{
	struct pl_interp interp;
	struct plumb_error *err = pl_interp_read_again(pl_mem_live_mem(e->reader.live), &e->reader.py, known, &interp);
	size_t i;

	if (err) {
		enum round r = err == &pl_err_target_exited ? ROUND_GONE : ROUND_OK;
		plumb_error_destroy(err);
		return r;
	}
	if (interp.threads_head != known->threads_head)
		e->roster.listed_ns = 0;
	if (interp.gil_holder == 0 || !find_holder(e, interp.gil_holder, &i))
		return ROUND_OK;
	return sample_one(e, i, weight_ns);
}

static enum round sample_holders(struct pl_engine *e, uint64_t weight_ns)
{
	for (size_t k = 0; k < e->roster.interps.len; k++) {
		enum round r = ROUND_NONE;

		for (int tries = 0; tries < HOLDER_TRIES && r == ROUND_NONE; tries++)
			r = sample_holder(e, &e->roster.interps.data[k], weight_ns);
		if (r == ROUND_GONE)
			return r;
	}
	return ROUND_OK;
}

/* The words that tell of new threads, when no running thread brought them along. */
static enum round keep_roster(struct pl_engine *e, uint64_t now)
{
	bool due = e->roster.listed_ns == 0 || now - e->roster.listed_ns > RELIST_NS;
	struct plumb_error *err = due ? pl_roster_refresh(e, now) : NULL;

	if (err == &pl_err_target_exited)
		return ROUND_GONE;
	plumb_error_destroy(err);
	return ROUND_OK;
}

static enum round sample_round(struct pl_engine *e, uint64_t now, uint64_t weight_ns)
{
	if (keep_roster(e, now) == ROUND_GONE)
		return ROUND_GONE;
	e->now.ticks++;
	return e->options.mode == PL_MODE_GIL ? sample_holders(e, weight_ns) : sample_all(e, weight_ns);
}

static void announce_all(struct pl_engine *e)
{
	for (size_t i = 0; i < e->roster.watches.len; i++)
		pl_roster_announce(e, e->roster.watches.data[i]);
}

/* Nothing more will be known of the threads that are left. */
static void part_from_all(struct pl_engine *e)
{
	for (size_t i = 0; i < e->roster.watches.len; i++)
		pl_sampler_part(e, e->roster.watches.data[i]);
	announce_all(e);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

struct run {
	struct schedule schedule;
	uint64_t search_next_ns, search_pause_ns, announce_ns, last_ns, published_ns, looked_ns;
	uint64_t dev, ino; /* of the program that was searched last */
};

/* Keep the most telling reason: "not Python" is not replaced by "has ended". */
static void set_trouble(struct pl_engine *e, struct plumb_error *err)
{
	if (plumb_error_code(err) == PLUMB_ERR_NO_PROCESS || plumb_error_code(err) == PLUMB_ERR_TARGET_EXITED) {
		plumb_error_destroy(err);
		return;
	}
	pthread_mutex_lock(&e->lock);
	plumb_error_destroy(e->trouble);
	e->trouble = err;
	pthread_mutex_unlock(&e->lock);
}

/* The target runs no Python (yet): look again soon, less and less often while it stays the same program. */
static void search(struct pl_engine *e, struct run *run, uint64_t now)
{
	uint64_t dev = 0, ino = 0;

	if (now < run->search_next_ns)
		return;
	(void)pl_proc_exe_id(e->options.pid, &dev, &ino);
	if (dev != run->dev || ino != run->ino)
		run->search_pause_ns = SEARCH_MIN_NS;
	run->dev = dev;
	run->ino = ino;
	struct plumb_error *err = pl_sampler_attach(e);
	if (!err) {
		run->search_pause_ns = SEARCH_MIN_NS;
		set_trouble(e, NULL);
		return;
	}
	if (plumb_error_code(err) != PLUMB_ERR_NOT_READY) {
		run->search_pause_ns = run->search_pause_ns * 3 / 2;
		if (run->search_pause_ns > SEARCH_MAX_NS)
			run->search_pause_ns = SEARCH_MAX_NS;
	}
	set_trouble(e, err);
	run->search_next_ns = now + run->search_pause_ns;
}

/* The address space is gone: the target has ended, or has become another program by exec. */
static bool lost_target(struct pl_engine *e, struct run *run, uint64_t now)
{
	part_from_all(e);
	pl_sampler_detach(e);
	run->search_next_ns = now;
	run->search_pause_ns = SEARCH_MIN_NS;
	if (!e->stopper.exit_known && wait_until(e, 0) != WAKE_EXIT)
		return false;
	e->now.target_ended = true;
	return true;
}

/* At most one round; true when the target has ended. */
static bool tick(struct pl_engine *e, struct run *run, uint64_t now)
{
	uint64_t weight_ns = run->schedule.period_ns ? run->schedule.period_ns : now - run->last_ns;

	run->last_ns = now;
	if (!e->attached) {
		search(e, run, now);
		return false;
	}
	if (sample_round(e, now, weight_ns) == ROUND_GONE && pl_mem_live_gone(e->reader.live))
		return lost_target(e, run, now);
	if (now - run->announce_ns > ANNOUNCE_NS) {
		run->announce_ns = now;
		announce_all(e);
	}
	return false;
}

/* When to wake next: the schedule while sampling, sooner or later while searching. */
static uint64_t next_wake(const struct pl_engine *e, const struct run *run)
{
	return e->attached ? run->schedule.due_ns : run->search_next_ns;
}

static void advance(struct pl_engine *e, struct run *run)
{
	if (!run->schedule.period_ns)
		return;
	uint64_t missed = schedule_next(&run->schedule, pl_clock_monotonic_ns());
	if (e->attached && e->now.ticks)
		e->now.losses[PL_LOSS_MISSED] += missed;
}

static void loop(struct pl_engine *e, struct run *run)
{
	uint64_t end = e->options.duration_ns ? e->start_ns + e->options.duration_ns : UINT64_MAX;

	for (;;) {
		uint64_t wake = next_wake(e, run);
		uint64_t now = pl_clock_monotonic_ns();
		enum wake w = WAKE_TIME;
		bool last = wake >= end || now >= end;

		if (last || wake > now || now - run->looked_ns > LOOK_NS) {
			w = wait_until(e, last ? end : wake);
			run->looked_ns = now = pl_clock_monotonic_ns();
		}

		if (w == WAKE_EXIT)
			e->now.target_ended = true;
		if (w != WAKE_TIME || last || tick(e, run, now))
			return;
		advance(e, run);
		if (now - run->published_ns > PUBLISH_NS || e->stats.threads != e->roster.watches.len) {
			run->published_ns = now;
			publish_stats(e, now);
		}
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
	struct run run = {.search_pause_ns = SEARCH_MIN_NS, .announce_ns = e->start_ns, .last_ns = e->start_ns};
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_TIMERSLACK, 1ul);
	prctl(PR_SET_NAME, "plumb-sampler");
	if (e->options.period_ns)
		ask_for_punctuality();
	run.schedule = (struct schedule){.start_ns = e->start_ns,
					 .period_ns = e->options.period_ns,
					 .rng = {e->options.seed},
					 .jitter = e->options.jitter};
	if (run.schedule.period_ns)
		schedule_at(&run.schedule, 0);
	loop(e, &run);
	part_from_all(e);
	e->now.ended = true;
	publish_stats(e, pl_clock_monotonic_ns());
	pl_queue_wake(&e->queue);
	return NULL;
}
