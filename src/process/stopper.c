/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See stopper.h. */
#include "stopper.h"

#include <string.h>

#include "clock.h"
#include "debug.h"
#include "refusal.h"

#define STOP_BURST_NS 10000000ull   /* may be taken at once */
#define REFUSED_NS    1000000000ull /* another tracer may be on a short visit */
#define SPARED_NS     1000000000ull /* who forks to execute a program does so at once */
/* Between two looks at a stop that has not come about. */
#define PATIENCE_MIN_NS 100000ull
#define PATIENCE_MAX_NS 20000000ull
#define PATIENCE_SHARE	8 /* of the time that it has taken already: so much longer it lasts at most */

void pl_stopper_begin(struct pl_stopper *s, enum pl_stop_policy policy, struct pl_beside *beside, uint64_t now)
{
	s->policy = policy;
	s->beside = beside;
	s->beside_rounds = 0;
	s->spared_until_ns = 0;
	if (!s->started_ns) /* an exec gives nothing back */
		s->started_ns = now;
}

void pl_stopper_spare(struct pl_stopper *s, uint64_t at)
{
	s->spared_until_ns = at + SPARED_NS;
}

void pl_stopper_deinit(struct pl_stopper *s)
{
	pl_vec_deinit(&s->late);
}

/* When what was taken will have been made up for. */
static uint64_t afforded_at_ns(const struct pl_stopper *s)
{
	uint64_t beyond = s->stopped_ns > STOP_BURST_NS ? s->stopped_ns - STOP_BURST_NS : 0;

	return s->started_ns + beyond / PL_STILL_PERMILLE * 1000;
}

static bool can_afford(const struct pl_stopper *s, uint64_t now)
{
	return afforded_at_ns(s) < now;
}

static bool is_granted(struct pl_stopper *s, uint64_t now)
{
	bool granted = can_afford(s, now);

	s->refused += !granted;
	return granted;
}

uint64_t pl_stopper_spent_for_ns(const struct pl_stopper *s, uint64_t now)
{
	if (s->policy == PL_STOP_ALWAYS || can_afford(s, now))
		return 0;
	return afforded_at_ns(s) + 1 - now;
}

/* Who is spared can be stood beside all the same. */
static enum pl_still_way cheaper_way(const struct pl_stopper *s, uint64_t now)
{
	return now < s->spared_until_ns ? PL_STILL_BESIDE : s->still.way;
}

static bool takes(const struct pl_stopper *s, enum pl_still_way way, uint64_t now)
{
	switch (s->policy) {
	case PL_STOP_NEVER:
		return way == PL_STILL_BESIDE;
	case PL_STOP_ALWAYS:
		return way == PL_STILL_STOP;
	case PL_STOP_AUTO:
		break;
	}
	return way == cheaper_way(s, now);
}

bool pl_stopper_stands_beside(const struct pl_stopper *s, uint64_t now)
{
	return s->beside && takes(s, PL_STILL_BESIDE, now);
}

bool pl_stopper_may_stand_beside(struct pl_stopper *s, uint64_t now)
{
	return pl_stopper_stands_beside(s, now) && is_granted(s, now);
}

bool pl_stopper_may(struct pl_stopper *s, uint64_t now)
{
	/* With a stop still to come no other is begun: seizing can wait for an exec that waits for us. */
	if (!takes(s, PL_STILL_STOP, now) || now < s->refused_until_ns || now < s->spared_until_ns || s->late.len)
		return false;
	return s->policy == PL_STOP_ALWAYS || is_granted(s, now);
}

void pl_stopper_stood_beside(struct pl_stopper *s, uint64_t ns)
{
	s->stopped_ns += ns;
	pl_still_note(&s->still, PL_STILL_BESIDE, ns);
}

static void note_exit(struct pl_stopper *s, const struct pl_pause *p)
{
	s->exit_known |= p->exited && p->tid == p->pid;
}

static const enum pl_refused refused[] = {[PL_REFUSAL_TRACER] = PL_REFUSED_TRACER,
					  [PL_REFUSAL_RIGHTS] = PL_REFUSED_RIGHTS,
					  [PL_REFUSAL_FILTER] = PL_REFUSED_FILTER,
					  [PL_REFUSAL_OTHER] = PL_REFUSED_OTHER};

/* The kernel also refuses a thread that is about to end: that says nothing about the others. */
static void note_refusal(struct pl_stopper *s, pid_t pid, pid_t tid)
{
	struct pl_refusal r;

	if (!pl_refusal_find(pid, tid, &r))
		return;
	s->refused_until_ns = pl_clock_monotonic_ns() + REFUSED_NS;
	s->refusals.by_cause[refused[r.cause]]++;
	memcpy(s->refusals.why, r.words, sizeof s->refusals.why);
	pl_debug(PL_DEBUG_PROCESS, "process %d: stop of thread %d refused: %s", (int)pid, (int)tid, r.words);
}

enum pl_pause_result pl_stopper_stop(struct pl_stopper *s, pid_t pid, pid_t tid, struct pl_pause *ret)
{
	if (!pl_vec_reserve(&s->late, 1))
		return PL_PAUSE_REFUSED;
	enum pl_pause_result result = pl_pause_stop(ret, pid, tid);
	if (result == PL_PAUSE_GONE)
		note_exit(s, ret);
	if (result == PL_PAUSE_REFUSED)
		note_refusal(s, pid, tid);
	return result;
}

static void note_release(struct pl_stopper *s, struct pl_pause *pause, bool released)
{
	if (!released)
		s->late.data[s->late.len++] = *pause; /* room was made before the stop */
	note_exit(s, pause);
	s->stops++;
	uint64_t ns = pl_clock_monotonic_ns() - pause->since_ns;
	if (released) /* else it does not stand yet */
		s->stopped_ns += ns;
	pl_still_note(&s->still, PL_STILL_STOP, ns);
}

void pl_stopper_release(struct pl_stopper *s, struct pl_pause *pause)
{
	note_release(s, pause, pl_pause_release(pause));
}

void pl_stopper_release_at_once(struct pl_stopper *s, struct pl_pause *pause)
{
	note_release(s, pause, pause->stopped && pl_pause_try_release(pause));
}

static struct pl_pause *late_of(const struct pl_stopper *s, pid_t tid)
{
	for (size_t i = 0; i < s->late.len; i++)
		if (s->late.data[i].tid == tid)
			return &s->late.data[i];
	return NULL;
}

bool pl_stopper_holds(const struct pl_stopper *s, pid_t tid)
{
	return late_of(s, tid) != NULL;
}

bool pl_stopper_has_come(struct pl_stopper *s, pid_t tid)
{
	struct pl_pause *p = late_of(s, tid);

	if (!p)
		return false;
	uint64_t not_yet_ns = p->since_ns;
	bool come = pl_pause_await(p, 0);
	if (come)
		p->since_ns = not_yet_ns;
	return come;
}

void pl_stopper_told(struct pl_stopper *s, uint64_t at)
{
	for (size_t i = 0; i < s->late.len; i++)
		if (s->late.data[i].since_ns < at)
			s->late.data[i].since_ns = at;
}

/* It stands from its arrival on, which was after the last look that did not find it there. */
static bool try_settle(struct pl_stopper *s, struct pl_pause *p)
{
	uint64_t now = pl_clock_monotonic_ns();
	bool released = pl_pause_try_release(p);

	if (released)
		s->stopped_ns += pl_clock_monotonic_ns() - p->since_ns;
	else
		p->since_ns = now;
	return released;
}

bool pl_stopper_settle(struct pl_stopper *s)
{
	for (size_t i = s->late.len; i-- > 0;) {
		struct pl_pause *p = &s->late.data[i];

		if (!try_settle(s, p))
			continue;
		note_exit(s, p);
		*p = s->late.data[--s->late.len];
	}
	return s->late.len == 0;
}

uint64_t pl_stopper_patience_ns(const struct pl_stopper *s, uint64_t now)
{
	uint64_t patience = PATIENCE_MAX_NS;

	for (size_t i = 0; i < s->late.len; i++) {
		uint64_t waited = now - s->late.data[i].asked_ns;

		if (waited / PATIENCE_SHARE < patience)
			patience = waited / PATIENCE_SHARE;
	}
	return patience < PATIENCE_MIN_NS ? PATIENCE_MIN_NS : patience;
}

void pl_stopper_add_taker(struct pl_stopper *s, struct pl_stop_taker *t)
{
	t->next = s->takers;
	s->takers = t;
}

void pl_stopper_remove_taker(struct pl_stopper *s, const struct pl_stop_taker *t)
{
	for (struct pl_stop_taker **at = &s->takers; *at; at = &(*at)->next)
		if (*at == t) {
			*at = t->next;
			return;
		}
}

void pl_stopper_let_take(const struct pl_stopper *s, struct pl_thread_sampler *thread)
{
	for (const struct pl_stop_taker *t = s->takers; t; t = t->next)
		t->take(t->ctx, thread);
}

void pl_refusals_add(struct pl_refusals *to, const struct pl_refusals *from)
{
	for (int i = 0; i < PL_REFUSALS; i++)
		to->by_cause[i] += from->by_cause[i];
	if (*from->why)
		memcpy(to->why, from->why, sizeof to->why);
}
