/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: what happened, from whoever tells it to the profile and the recording.
 *
 * Any thread tells events; they wait behind `lock`, held for a moment only, until the consumer takes samples over. What
 * becomes of processes is seen in the profile's table of them. */
#include "session_events.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <plumb/event_ring.h>

#include "buf.h"
#include "clock.h"
#include "session_parts.h"

#define MOST_TOLD    4096		    /* between two looks of the consumer, a tenth of a second */
#define MOST_TEXT    PLUMB_EVENT_TEXT_BYTES /* bytes of a name with its labels */
#define MOST_LABELS  16
#define BOOT_TICK_NS 10000000ull /* the kernel tells starts to a clock tick */

static uint64_t boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * PL_NS_PER_S + (uint64_t)t.tv_nsec;
}

void pl_session_events_begin(struct plumb_session *s)
{
	s->events.begin_boot_ns = boot_ns();
}

static void forget_told(struct pl_session_events *e, size_t from)
{
	for (size_t i = from; i < e->told.len; i++)
		free(e->told.data[i].said.text);
	pl_vec_deinit(&e->told);
}

void pl_session_events_deinit(struct plumb_session *s)
{
	forget_told(&s->events, 0);
	pl_vec_deinit(&s->events.lives);
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

/* False: there is no session to have a time any more. */
static bool time_of_session(struct plumb_session *s, uint64_t *ret)
{
	struct pl_engine_stats st;

	pthread_mutex_lock(&s->ordering);
	bool runs = s->engine != NULL;
	if (runs)
		s->ops->stats(s->engine, &st);
	pthread_mutex_unlock(&s->ordering);
	if (!runs)
		return false;
	uint64_t now = pl_clock_monotonic_ns();
	*ret = st.elapsed_ns + (st.paused || now < st.told_ns ? 0 : now - st.told_ns);
	return true;
}

static void tell(struct plumb_session *s, struct pl_told_event e)
{
	pthread_mutex_lock(&s->lock);
	bool kept = !s->status.ended && s->events.told.len < MOST_TOLD && pl_vec_push(&s->events.told, e);
	s->events.lost += !kept;
	pthread_mutex_unlock(&s->lock);
	if (!kept)
		free(e.said.text);
}

/* Names and values, each with a NUL behind it. */
static bool add_texts(struct pl_engine_event *e, const char *name, const char *const *labels, size_t count)
{
	struct pl_buf text = PL_BUF_INIT(MOST_TEXT);
	size_t name_len = strlen(name);
	struct plumb_error *err = pl_buf_add(&text, name, name_len);

	for (size_t i = 0; i < 2 * count && !err; i++)
		err = pl_buf_add(&text, labels[i], strlen(labels[i]) + 1);
	e->name_len = (uint32_t)name_len;
	e->labels_len = (uint32_t)(text.len - name_len);
	e->text = (char *)text.data;
	if (!err)
		return true;
	plumb_error_destroy(err);
	pl_buf_deinit(&text);
	return false;
}

void plumb_session_event(struct plumb_session *s, const char *name, const char *const *labels, size_t count)
{
	struct pl_engine_event e = {.pid = (uint32_t)getpid(), .tid = (uint64_t)gettid()};

	if (pl_session_forked(s) || !time_of_session(s, &e.time_ns))
		return;
	if (add_texts(&e, name, labels, count < MOST_LABELS ? count : MOST_LABELS)) {
		tell(s, (struct pl_told_event){.said = e, .kind = PL_EVENT_MARK});
		return;
	}
	pthread_mutex_lock(&s->lock);
	s->events.lost++;
	pthread_mutex_unlock(&s->lock);
}

/* However many: what the engine hands over at once has a limit. */
void pl_session_heard(void *session, struct pl_engine_event *e)
{
	struct plumb_session *s = session;
	const struct pl_told_event told = {.said = *e, .kind = PL_EVENT_MARK};

	pthread_mutex_lock(&s->lock);
	bool kept = e->text && pl_vec_push(&s->events.told, told);
	s->events.lost += kept ? 0 : e->text ? 1 : e->lost;
	pthread_mutex_unlock(&s->lock);
	if (!kept)
		free(e->text);
}

void pl_session_pause_began(struct plumb_session *s)
{
	uint64_t at_ns;

	if (!time_of_session(s, &at_ns))
		return;
	pthread_mutex_lock(&s->lock);
	if (!s->events.pause_ns) {
		s->events.pause_ns = pl_clock_monotonic_ns();
		s->events.pause_at_ns = at_ns;
	}
	pthread_mutex_unlock(&s->lock);
}

void pl_session_pause_ended(struct plumb_session *s)
{
	struct pl_told_event e = {.kind = PL_EVENT_PAUSE};

	pthread_mutex_lock(&s->lock);
	uint64_t began_ns = s->events.pause_ns;
	s->events.pause_ns = 0;
	e.said.time_ns = s->events.pause_at_ns;
	pthread_mutex_unlock(&s->lock);
	e.duration_ns = began_ns ? pl_clock_monotonic_ns() - began_ns : 0;
	if (began_ns)
		tell(s, e);
}

/* ---- taking over ------------------------------------------------------------------------------------------------- */

/* The profile counts since it was told to begin anew, the recording since the session began. */
static struct plumb_error *keep(struct plumb_session *s, struct pl_event e)
{
	struct pl_event since = e;
	uint64_t begin_ns = s->since.stats.elapsed_ns, lost = s->profile->meta.losses[PL_LOSS_EVENTS];

	since.time_ns = e.time_ns > begin_ns ? e.time_ns - begin_ns : 0;
	struct plumb_error *err = pl_profile_event(s->profile, &since);
	if (err || !s->writer || s->profile->meta.losses[PL_LOSS_EVENTS] != lost)
		return err;
	err = pl_capture_event(s->writer, &e);
	if (err)
		pl_session_writing_failed(s, err);
	return NULL;
}

static struct plumb_error *take_told(struct plumb_session *s, const struct pl_told_event *t)
{
	const struct pl_engine_event *said = &t->said;
	struct pl_event e = {.kind = (uint8_t)t->kind, .time_ns = said->time_ns, .duration_ns = t->duration_ns};
	struct plumb_error *err = NULL;

	if (said->pid)
		pl_event_find(s->profile, said->pid, said->tid, &e);
	if (!pl_event_has_room(s->profile, e.process, (uint64_t)said->name_len + said->labels_len)) {
		s->profile->meta.losses[PL_LOSS_EVENTS]++; /* its texts take no room */
		return NULL;
	}
	if (said->text)
		err = pl_profile_string(s->profile, said->text, said->name_len, &e.name);
	if (!err && said->labels_len)
		err = pl_profile_string(s->profile, said->text + said->name_len, said->labels_len, &e.labels);
	return err ? err : keep(s, e);
}

static struct plumb_error *take_all_told(struct plumb_session *s)
{
	struct pl_session_events now = {.lost = 0};
	struct plumb_error *err = NULL;

	pthread_mutex_lock(&s->lock);
	now.told.data = s->events.told.data;
	now.told.len = s->events.told.len;
	now.told.cap = s->events.told.cap;
	now.lost = s->events.lost;
	s->events.told.data = NULL;
	s->events.told.len = s->events.told.cap = 0;
	s->events.lost = 0;
	pthread_mutex_unlock(&s->lock);
	s->profile->meta.losses[PL_LOSS_EVENTS] += now.lost;
	for (size_t i = 0; i < now.told.len && !err; i++)
		err = take_told(s, &now.told.data[i]);
	forget_told(&now, 0);
	return err;
}

static struct plumb_error *keep_life(struct plumb_session *s, uint32_t process, enum pl_event_kind kind,
				     uint64_t time_ns)
{
	struct pl_event e = {.kind = (uint8_t)kind,
			     .time_ns = time_ns,
			     .process = 1 + process,
			     .name = s->profile->processes[process].program};

	return keep(s, e);
}

/* Those that ran before were found, not started; and the one that plumb launched is what the recording is about. */
static bool was_started(const struct plumb_session *s, const struct pl_process *p)
{
	return p->start_ns && p->start_ns + BOOT_TICK_NS >= s->events.begin_boot_ns && p->pid != (uint32_t)s->pid;
}

static struct plumb_error *look_at_life(struct plumb_session *s, uint32_t i)
{
	const struct pl_process *p = &s->profile->processes[i];
	struct pl_seen_life *seen = &s->events.lives.data[i];
	bool ends = p->ended && !seen->ended && !(s->options.launched && p->pid == (uint32_t)s->pid);
	bool executes = seen->program && p->program && seen->program != p->program;
	struct plumb_error *err = NULL;

	seen->program = p->program ? p->program : seen->program;
	seen->ended = seen->ended || p->ended;
	if (executes)
		err = keep_life(s, i, PL_EVENT_EXEC, s->stats.elapsed_ns);
	if (!err && ends)
		err = keep_life(s, i, PL_EVENT_ENDED, p->ended_ns);
	return err;
}

static struct plumb_error *look_at_lives(struct plumb_session *s)
{
	const struct plumb_profile *p = s->profile;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < p->process_count && !err; i++) {
		bool fresh = i >= s->events.lives.len;

		if (fresh && !pl_vec_push(&s->events.lives, (struct pl_seen_life){0}))
			return &pl_err_no_memory;
		if (fresh && was_started(s, &p->processes[i]))
			err = keep_life(s, i, PL_EVENT_STARTED, p->processes[i].came_ns);
		if (!err)
			err = look_at_life(s, i);
	}
	return err;
}

/* We stood still with all of our process, such as after Ctrl-Z: a pause, whoever asked for it. */
static struct plumb_error *look_whether_suspended(struct plumb_session *s)
{
	const struct pl_engine_stats *st = &s->stats;
	struct pl_event e = {.kind = PL_EVENT_PAUSE, .time_ns = st->suspended_at_ns};

	if (st->suspended_ns <= s->events.suspended_ns)
		return NULL;
	e.duration_ns = st->suspended_ns - s->events.suspended_ns;
	s->events.suspended_ns = st->suspended_ns;
	return keep(s, e);
}

/* Before it is known of any process, whose events they are is not known either. */
struct plumb_error *pl_session_take_events(struct plumb_session *s)
{
	struct plumb_error *err = look_at_lives(s);

	if (!err)
		err = look_whether_suspended(s);
	if (err || (!s->profile->process_count && !s->stats.ended))
		return err;
	return take_all_told(s);
}
