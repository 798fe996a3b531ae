/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: hearing of stops that were still to come. See late_news.h. */
#include "late_news.h"

#include <poll.h>
#include <unistd.h>

#include "clock.h"
#include "late_samples.h"
#include "remote_engine.h"
#include "stop_news.h"
#include "target.h"

/* Who is told looks seldom: only that stop is missed which comes between our look and our wait, if another thread of
 * ours takes the signal. */
#define TOLD_PATIENCE 8
#define LAST_NS	      50000000ull /* at the end: more than a thread waits for its turn among some others */
/* Before a pause: longer than a thread waits that others leave little time; less than who orders it waits for us. */
#define PAUSE_NS (2 * PL_NS_PER_S)

void pl_late_news_init(struct pl_late_news *n)
{
	*n = (struct pl_late_news){0};
	pl_thread_clock_open(&n->own, getpid(), gettid());
}

static void listen_no_more(struct pl_late_news *n)
{
	if (n->listens)
		pl_stop_news_end();
	n->listens = false;
}

void pl_late_news_end(struct pl_late_news *n)
{
	listen_no_more(n);
	pl_thread_clock_close(&n->own);
}

static uint64_t settle_all(struct pl_engine *e, uint64_t now)
{
	uint64_t patience = UINT64_MAX;

	for (size_t i = 0; i < e->targets.len; i++) {
		const struct pl_stopper *s = &e->targets.data[i]->python.stopper;
		uint64_t its =
			pl_late_samples_settle(e, e->targets.data[i]) ? UINT64_MAX : pl_stopper_patience_ns(s, now);

		patience = its < patience ? its : patience;
	}
	return patience;
}

/* What comes between a look and the beginning of listening is told by no one: look again. */
uint64_t pl_late_news_settle(struct pl_engine *e, uint64_t now)
{
	struct pl_late_news *n = &e->late_news;
	uint64_t patience = settle_all(e, now);

	if (patience != UINT64_MAX && !n->listens) {
		n->listens = pl_stop_news_begin();
		patience = n->listens ? settle_all(e, now) : patience;
	}
	if (patience == UINT64_MAX)
		listen_no_more(n);
	return n->listens ? patience * TOLD_PATIENCE : patience;
}

static uint64_t own_delay_ns(const struct pl_late_news *n)
{
	struct pl_run_counters c = {0};

	(void)pl_thread_clock_counters(&n->own, &c);
	return c.delay_ns;
}

void pl_late_news_await(struct pl_late_news *n, sigset_t *blocked)
{
	if (!n->listens)
		return;
	sigdelset(blocked, SIGCHLD);
	n->delay_ns = own_delay_ns(n);
}

/* The kernel has told us at once, but we had to wait for a processor. */
void pl_late_news_heard(struct pl_engine *e)
{
	struct pl_late_news *n = &e->late_news;

	if (!n->listens)
		return;
	uint64_t told_ns = pl_clock_monotonic_ns() - (own_delay_ns(n) - n->delay_ns);
	for (size_t i = 0; i < e->targets.len; i++)
		pl_stopper_told(&e->targets.data[i]->python.stopper, told_ns);
}

static void doze(struct pl_engine *e, uint64_t ns)
{
	struct timespec ts = {.tv_sec = (time_t)(ns / PL_NS_PER_S), .tv_nsec = (long)(ns % PL_NS_PER_S)};
	sigset_t blocked;

	sigfillset(&blocked);
	pl_late_news_await(&e->late_news, &blocked);
	if (ppoll(NULL, 0, &ts, &blocked) < 0)
		pl_late_news_heard(e);
}

/* Until none is left, or for @p ns. */
static void await_all(struct pl_engine *e, uint64_t ns)
{
	uint64_t now = pl_clock_monotonic_ns(), end = now + ns, patience;

	while ((patience = pl_late_news_settle(e, now)) != UINT64_MAX && now < end) {
		doze(e, patience < end - now ? patience : end - now);
		now = pl_clock_monotonic_ns();
	}
}

void pl_late_news_last(struct pl_engine *e)
{
	await_all(e, LAST_NS);
}

void pl_late_news_pause(struct pl_engine *e)
{
	await_all(e, PAUSE_NS);
}
