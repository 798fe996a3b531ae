/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only. See event_looks.h. Half of the queue is for samples: what does not fit is left in
 * the ring for the next round. */
#include "event_looks.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "remote_engine.h"
#include "send.h"
#include "target.h"

struct look {
	struct pl_event_look look;
	struct pl_engine *engine;
	struct pl_target *target;
	uint64_t lost;
};

/* A time of the recording, whatever the program says. In a pause it stands still. */
static uint64_t session_ns(const struct pl_engine *e, uint64_t at_ns, uint64_t now)
{
	uint64_t end_ns = now > e->start_ns ? now - e->start_ns : 0;
	uint64_t ns = at_ns > e->start_ns ? at_ns - e->start_ns : 0;

	ns = ns < end_ns ? ns : end_ns;
	return ns > e->events_from_ns ? ns : e->events_from_ns;
}

static struct pl_engine_event *copy_of(const struct pl_said_event *said)
{
	size_t len = (size_t)said->name_len + said->labels_len;
	struct pl_engine_event *e = malloc(sizeof *e);

	if (!e)
		return NULL;
	*e = (struct pl_engine_event){.name_len = said->name_len, .labels_len = said->labels_len};
	if (!(e->text = malloc(len + 1))) {
		free(e);
		return NULL;
	}
	memcpy(e->text, said->text, len);
	return e;
}

static void hand_over(void *ctx, const struct pl_said_event *said)
{
	struct look *l = ctx;
	struct pl_record rec = {.kind = PL_RECORD_EVENT};

	if (!l->target->announced) /* whose event it is goes before it */
		pl_send_process(l->engine, l->target, false, 0);
	struct pl_engine_event *e = pl_queue_room(&l->engine->queue) ? copy_of(said) : NULL;

	if (!e) {
		l->lost++;
		return;
	}
	e->time_ns = session_ns(l->engine, said->time_ns, l->look.now_ns);
	e->pid = (uint32_t)l->target->python.pid;
	e->tid = (uint64_t)pl_tid_map_ours(&l->target->python.threads.tids, (pid_t)said->tid);
	rec.event.info = e;
	pl_queue_push(&l->engine->queue, &rec);
}

static void tell_lost(struct pl_engine *e, uint64_t lost)
{
	struct pl_record rec = {.kind = PL_RECORD_EVENT};

	e->events_lost += lost;
	if (!e->events_lost || !pl_queue_room(&e->queue))
		return;
	rec.event.lost = e->events_lost;
	e->events_lost = 0;
	pl_queue_push(&e->queue, &rec);
}

static bool is_ready(struct pl_engine *e, struct pl_target *t)
{
	if (!t->attached || e->options.own || !e->options.event)
		return false;
	if (!e->event_room) /* without memory nothing is heard, and all else goes on */
		plumb_error_destroy(pl_event_room_create(&e->event_room));
	return e->event_room;
}

void pl_event_looks_take(struct pl_engine *e, struct pl_target *t, bool last)
{
	uint32_t room = pl_queue_room(&e->queue);
	struct look l = {.engine = e, .target = t};

	if (!is_ready(e, t))
		return;
	pl_tid_map_begin(&t->python.threads.tids, t->python.pid);
	l.look = (struct pl_event_look){.now_ns = pl_clock_monotonic_ns(),
					.since_ns = e->start_ns,
					.most = room > PL_QUEUE_SLOTS / 2 ? room - PL_QUEUE_SLOTS / 2 : 0,
					.last = last,
					.said = hand_over,
					.ctx = &l};
	pl_said_events_take(&t->said, &t->python, e->event_room, &l.look);
	tell_lost(e, l.look.lost + l.lost);
}

void pl_event_looks_take_all(struct pl_engine *e, bool last)
{
	for (size_t i = 0; i < e->targets.len; i++)
		pl_event_looks_take(e, e->targets.data[i], last);
}
