/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: taking over what the engine has sampled, and the thread that does so if nobody else does. */
#include "session_parts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "clock.h"

#define POLL_MS		100 /* also how late a chunk can be: see PL_CAPTURE_CHUNK_NS */
#define STATUS_EVERY_NS 200000000ull
#define HIDDEN_MOST	256 /* frames that are gone over for one that is shown */
#define SILENT_TURNS	50  /* of POLL_MS: a plumb that was suspended meanwhile has had none */
#define READY_SHARE	12  /* turns in which it waited for a processor count so much less */

/* ---- taking over ------------------------------------------------------------------------------------------------- */

static void count_self(struct plumb_session *s, const struct pl_sample *sample)
{
	const struct plumb_profile *p = s->profile;
	unsigned hidden = 0;

	for (uint32_t at = sample->stack; at && hidden < HIDDEN_MOST; at = p->stacks[at].parent, hidden++) {
		uint32_t function = p->locations[p->stacks[at].location].function;

		if (pl_profile_hides(p, &p->functions[function]))
			continue;
		pl_hottest_add(&s->hot, function, sample->time_ns);
		return;
	}
	pl_hottest_add(&s->hot, PL_NO_FUNCTION, sample->time_ns);
}

static struct plumb_error *take_sample(void *ctx, const struct pl_sample *sample)
{
	struct plumb_session *s = ctx;
	struct plumb_error *err = s->writer ? pl_capture_add(s->writer, sample) : NULL;

	if (err)
		pl_session_writing_failed(s, err);
	if ((err = pl_cycles_add(&s->cycles, sample)))
		return err;
	struct pl_sample since = *sample;
	uint64_t begin = s->since.stats.elapsed_ns;
	since.time_ns = sample->time_ns > begin ? sample->time_ns - begin : 0;
	if ((err = pl_profile_add(s->profile, &since)))
		return err;
	s->samples++;
	s->by_quality[sample->quality]++;
	count_self(s, sample);
	return NULL;
}

/* Interning finds the same words again. */
static void take_refusals(struct plumb_session *s, const struct pl_refusals *r)
{
	struct pl_meta *m = &s->profile->meta;

	memcpy(m->refused, r->by_cause, sizeof m->refused);
	if (*r->why)
		plumb_error_destroy(pl_profile_string(s->profile, r->why, strlen(r->why), &m->refused_why));
}

/* As the recording has it: since the session began. */
static void take_stats(struct plumb_session *s)
{
	const struct pl_engine_stats *st = &s->stats;
	struct pl_meta *m = &s->profile->meta;
	uint64_t damaged = m->losses[PL_LOSS_DAMAGED], events = m->losses[PL_LOSS_EVENTS];
	uint64_t lines = m->losses[PL_LOSS_LINES];

	m->duration_ns = st->elapsed_ns;
	m->ticks = st->ticks;
	memcpy(m->losses, st->losses, sizeof m->losses);
	m->losses[PL_LOSS_DAMAGED] = damaged; /* these are not the engine's */
	m->losses[PL_LOSS_EVENTS] = events;
	m->losses[PL_LOSS_LINES] = lines;
	m->stops = st->stops;
	m->stopped_ns = st->stopped_ns;
	m->halted_ns = st->halted_ns;
	m->used_cpu_ns = st->used_cpu_ns;
	m->taken_ns = st->taken_ns;
	m->missed_ns = st->missed_ns;
	take_refusals(s, &st->refusals);
	m->profiler_cpu_ns = pl_session_cost_ns(s);
}

/* Pauses move the clock of the session against that of the world. */
static uint64_t real_ns_of(const struct pl_engine_stats *st)
{
	return pl_clock_real_ns() - (pl_clock_monotonic_ns() - st->told_ns);
}

static struct plumb_error *take_over(struct plumb_session *s)
{
	struct plumb_error *err = s->ops->take(s->engine, s->profile, take_sample, s);

	return err ? err : pl_cycles_advance(&s->cycles, s->stats.elapsed_ns, real_ns_of(&s->stats));
}

/* Stats first: what was sampled before they were told is in the queue when we look. */
void pl_session_take(struct plumb_session *s)
{
	s->ops->stats(s->engine, &s->stats);
	struct plumb_error *err = s->broken ? NULL : take_over(s);
	if (!err && !s->broken)
		err = pl_session_take_events(s);
	if (err) {
		pl_session_failed(s, err);
		s->broken = true;
		s->ops->stop(s->engine);
	}
	take_stats(s);
}

/* ---- status ------------------------------------------------------------------------------------------------------ */

static void find_hottest(struct plumb_session *s, struct plumb_status *status)
{
	const struct plumb_profile *p = s->profile;
	uint32_t best;

	s->hottest[0] = '\0';
	if (!pl_hottest_find(&s->hot, &best, &status->hottest_share))
		return;
	snprintf(s->hottest, sizeof s->hottest, "%s", pl_strtab_get(p->strings, p->functions[best].qualname, NULL));
}

static void show_counts(struct plumb_status *status, const struct plumb_session *s)
{
	struct pl_engine_stats st = pl_session_stats_since(s);

	status->samples = s->samples;
#define PLUMB_QUALITY(name, member, ...) status->member = s->by_quality[PL_##name];
#include <plumb/words.def>
	status->elapsed_ns = st.elapsed_ns;
	status->ticks = st.ticks;
	status->missed = st.losses[PL_LOSS_MISSED];
	status->unreadable = st.losses[PL_LOSS_UNREADABLE];
	status->queue = st.losses[PL_LOSS_QUEUE];
	status->folded = st.losses[PL_LOSS_FOLDED];
	status->cpu_ns = pl_session_cost_ns(s) - s->since.cpu_ns;
}

/* @p ended: nothing comes any more. The figures are asked for once more: they must not be older than the samples that
 * they are shown with. Under `work`. */
static void show_status(struct plumb_session *s, bool ended)
{
	const struct pl_engine_stats *st = &s->stats;

	s->ops->stats(s->engine, &s->stats);
	pthread_mutex_lock(&s->lock);
	s->status.threads = st->threads;
	s->status.processes = st->processes;
	s->status.program_ended = st->target_ended;
	s->status.found_python = st->found_python;
	s->status.paused = st->paused;
	s->status.unrecorded = !s->writer;
	s->status.rate_hz = st->period_ns ? 1e9 / (double)st->period_ns : 0;
	show_counts(&s->status, s);
	find_hottest(s, &s->status);
	if (ended) {
		s->status.ended = true;
		pthread_cond_broadcast(&s->ended_cond);
	}
	pthread_mutex_unlock(&s->lock);
}

static struct timespec deadline(int timeout_ms)
{
	uint64_t at = pl_clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000;

	return (struct timespec){.tv_sec = (time_t)(at / PL_NS_PER_S), .tv_nsec = (long)(at % PL_NS_PER_S)};
}

static void wait_for_end(struct plumb_session *s, int timeout_ms)
{
	struct timespec until = deadline(timeout_ms < 0 ? 0 : timeout_ms);
	int r = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->status.ended && r == 0 && timeout_ms != 0)
		r = timeout_ms < 0 ? pthread_cond_wait(&s->ended_cond, &s->lock)
				   : pthread_cond_timedwait(&s->ended_cond, &s->lock, &until);
	pthread_mutex_unlock(&s->lock);
}

/* As it is now. A terminal does not wait for whoever is the consumer now, perhaps with a slow disk. */
static void bring_up_to_date(struct plumb_session *s)
{
	if (s->options.own) {
		pl_session_order(s, (struct pl_order){.kind = PL_ORDER_TELL});
		pthread_mutex_lock(&s->work);
	} else if (pthread_mutex_trylock(&s->work)) {
		return;
	}
	if (s->consuming) {
		pl_session_take(s);
		show_status(s, false); /* the consumer tells when it is done */
	}
	pthread_mutex_unlock(&s->work);
}

void plumb_session_wait(struct plumb_session *s, int timeout_ms, struct plumb_status *ret)
{
	if (pl_session_forked(s)) {
		*ret = (struct plumb_status){.ended = true, .forked = true, .hottest = ""};
		return;
	}
	wait_for_end(s, timeout_ms);
	bring_up_to_date(s);
	pthread_mutex_lock(&s->lock);
	*ret = s->status;
	memcpy(s->shown, s->hottest, sizeof s->shown);
	ret->hottest = s->shown;
	pthread_mutex_unlock(&s->lock);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* In a pause there is nothing to wake up for; its end is told, and that of an engine that was stopped. */
static void wait_for_work(struct plumb_session *s, bool paused)
{
	s->ops->wait(s->engine, paused ? -1 : POLL_MS);
}

/* Whether the sampling thread ends, or tells of that, at once. */
static bool is_over(const struct plumb_session *s)
{
	const struct pl_engine_stats *st = &s->stats;
	uint64_t length_ns = st->elapsed_ns + pl_clock_monotonic_ns() - st->told_ns, most_ns = s->options.duration_ns;

	if (atomic_load(&s->hurry) || (most_ns && !st->paused && length_ns > most_ns))
		return true;
	return !st->target_ended && pl_session_program_ended(s);
}

/* Whoever reads or stops another process may wait for it in the kernel, or for a file system that it waits for. A
 * thread of the program that we are in has to be waited for. */
static bool is_silent(struct plumb_session *s, uint64_t told_ns)
{
	if (s->options.own || s->stats.ended)
		return false;
	bool silent = s->stats.told_ns == told_ns && is_over(s);
	s->silent_turns = silent ? s->silent_turns + (s->ops->ready(s->engine) ? 1 : READY_SHARE) : 0;
	return s->silent_turns >= SILENT_TURNS * READY_SHARE;
}

/* What has come of it is whole. */
static void leave_sampling_thread(struct plumb_session *s)
{
	s->left = true;
	s->ops->leave(s->engine);
	pl_session_failed(s, pl_error_hint(pl_error(PLUMB_ERR_TIMEOUT,
						    "the sampling was to end, and did not come back from the kernel: a "
						    "process that it looked at holds it up"),
					   "what was sampled until then is there"));
	pl_session_take(s);
}

/* One turn. Under `work`. */
static void work(struct plumb_session *s, uint64_t *shown_ns)
{
	uint64_t told_ns = s->stats.told_ns;
	pl_session_take(s);
	if (is_silent(s, told_ns))
		leave_sampling_thread(s);
	pl_session_end_when_known(s);
	uint64_t now = pl_clock_monotonic_ns();
	bool ended = s->stats.ended;
	pl_session_name_after_python(s);
	pl_session_write_chunk(s, now);
	if (!ended && now - *shown_ns <= STATUS_EVERY_NS && !s->status.samples == !s->samples)
		return;
	*shown_ns = now;
	show_status(s, ended);
}

void *pl_session_consume(void *session)
{
	struct plumb_session *s = session;
	uint64_t shown_ns = 0;
	bool paused = false;

	prctl(PR_SET_NAME, "plumb-consumer");
	for (bool ended = false; !ended;) {
		wait_for_work(s, paused);
		pthread_mutex_lock(&s->work);
		work(s, &shown_ns);
		paused = s->stats.paused;
		ended = s->status.ended;
		pthread_mutex_unlock(&s->work);
	}
	return NULL;
}
