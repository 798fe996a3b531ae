/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/session.h>. Wires an engine to a profile and a recording: making a session, ending it. */
#include "session_parts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "forks.h"
#include "program.h"
#include "target_tags.h"
#include "thread_start.h"
#include "wrapped.h"

/* Of states, threads and batches. Beyond, what is known of when a stack was seen becomes coarser. */
#define CELLS_A_NODE 4

/* ---- making a session -------------------------------------------------------------------------------------------- */

static struct plumb_error *intern(struct plumb_profile *p, const char *s, uint32_t *ret)
{
	return pl_profile_string(p, s, strlen(s), ret);
}

static uint32_t millionths(double share)
{
	return (uint32_t)(share * 1e6 + 0.5);
}

/* What is known before there is a process. The writer needs the period. */
static struct plumb_error *fill_plan(struct plumb_session *s, const struct plumb_session_options *o)
{
	static const uint8_t shown[] = {[PLUMB_NATIVE_NONE] = PL_NATIVE_AS_RECORDED,
					[PLUMB_NATIVE_CALLED] = PL_NATIVE_CALLABLE,
					[PLUMB_NATIVE_ALL] = PL_NATIVE_ALL,
					[PLUMB_NATIVE_LEAF] = PL_NATIVE_LEAF};
	struct pl_meta *m = &s->profile->meta;
	char host[256] = "";
	struct plumb_error *err;

	gethostname(host, sizeof host - 1);
	m->period_ns = s->options.period_ns;
	m->seed = s->options.seed;
	m->mode = (uint8_t)s->options.mode;
	m->jitter = s->options.jitter;
	m->native = shown[o->native];
	m->native_threads = o->native_threads;
	m->max_overhead_ppm = millionths(pl_overhead_limit(&s->options));
	m->max_still_ppm = millionths(pl_still_limit(&s->options));
	if ((err = intern(s->profile, s->options.own ? "in process" : s->ops->name, &m->engine)) ||
	    (err = intern(s->profile, PLUMB_VERSION, &m->plumb_version)) || (err = intern(s->profile, host, &m->host)))
		return err;
	return NULL;
}

static void init_locks(struct plumb_session *s)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&s->ordering, NULL);
	pthread_mutex_init(&s->work, NULL);
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->ended_cond, &attr);
	pthread_condattr_destroy(&attr);
}

/* The caller's need not live. */
static struct plumb_error *copy_tids(struct plumb_session *s)
{
	struct pl_engine_options *o = &s->options;

	s->tids = calloc(o->hidden_count + o->tid_count + 1, sizeof *s->tids);
	if (!s->tids)
		return &pl_err_no_memory;
	if (o->hidden_count)
		memcpy(s->tids, o->hidden, o->hidden_count * sizeof *s->tids);
	if (o->tid_count)
		memcpy(s->tids + o->hidden_count, o->tids, o->tid_count * sizeof *s->tids);
	o->hidden = s->tids;
	o->tids = o->tids ? s->tids + o->hidden_count : NULL;
	return NULL;
}

static struct plumb_error *session_alloc(const struct plumb_session_options *o, struct pl_engine_options eo,
					 struct plumb_session **ret)
{
	struct plumb_session *s = calloc(1, sizeof *s);

	if (!s)
		return &pl_err_no_memory;
	s->options = eo;
	s->options.event = pl_session_heard;
	s->options.event_ctx = s;
	s->generation = pl_forks_generation();
	s->cycles = (struct pl_cycles){
		.length_ns = o->cycle_ns, .max = o->max_cycles ? o->max_cycles : 1, .max_cells = o->max_cycle_stacks};
	s->reaped = !eo.launched;
	s->force = o->force;
	s->until = o->until;
	s->next_look_ns = PL_NS_PER_S;
	init_locks(s);
	struct plumb_error *err = pl_engine_choose(o->engine, &s->options, &s->ops);
	if (!err)
		err = copy_tids(s);
	if (!err)
		err = pl_profile_create(&s->profile);
	if (!err)
		err = fill_plan(s, o);
	if (!err && o->own_count)
		err = pl_profile_set_own(s->profile, o->own, o->own_count);
	if (!err && eo.max_nodes < UINT32_MAX / CELLS_A_NODE)
		pl_profile_limit_cells(s->profile, (uint32_t)(CELLS_A_NODE * eo.max_nodes));
	if (err) {
		plumb_session_destroy(s);
		return err;
	}
	*ret = s;
	return NULL;
}

/* Signals are the program's: threads inherit that they have none. */
static struct plumb_error *start_threads(struct plumb_session *s)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	struct plumb_error *err = s->ops->start(s->engine);
	int r = err ? 0 : pl_thread_start(&s->consumer, pl_session_consume, s);
	s->consuming = !err && r == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r ? pl_error_errno(PLUMB_ERR_SYSTEM, r, "cannot start a thread") : err;
}

/* Who looks at it before anything was sampled finds what is known by then. */
static void write_first_chunk(struct plumb_session *s)
{
	struct plumb_error *err = s->writer ? pl_capture_flush(s->writer, s->profile) : NULL;

	if (err)
		pl_session_writing_failed(s, err);
}

/* There is a process and an engine for it: begin. */
static struct plumb_error *begin(struct plumb_session *s)
{
	struct plumb_error *err;
	char command[4096];

	pl_program_command(s->pid, command, sizeof command);
	if ((err = intern(s->profile, command, &s->profile->meta.command)))
		return err;
	s->profile->meta.start_real_ns = s->since.real_ns = pl_clock_real_ns();
	s->chunk_ns = pl_clock_monotonic_ns();
	pl_session_events_begin(s);
	write_first_chunk(s);
	return start_threads(s);
}

static struct plumb_error *open_tags(struct plumb_session *s, uint64_t at)
{
	struct plumb_error *err = pl_target_tags_create(s->pid, at, &s->tags);

	if (!err)
		s->options.tags = pl_target_tags_get(s->tags);
	return err;
}

static struct plumb_error *attach(struct plumb_session *s, const struct plumb_session_options *o)
{
	struct plumb_error *err = o->tags_at ? open_tags(s, o->tags_at) : NULL;

	if (err || (err = s->ops->open(&s->options, &s->engine)))
		return pl_hint_wrapped(err, s->pids[s->options.pid_count - 1], "attach", &s->hinted);
	pl_session_know_whom(s);
	pl_program_name(s->pid, s->program, sizeof s->program);
	if (!o->no_recording && (err = pl_session_open_recording(s, o->output)))
		return err;
	return begin(s);
}

struct whom {
	const int *pids;
	size_t count;
};

static struct plumb_error *attach_session(const struct plumb_session_options *o, struct pl_engine_options eo,
					  struct whom whom, struct plumb_session **ret)
{
	struct plumb_session *s;
	struct plumb_error *err = session_alloc(o, eo, &s);

	if (err)
		return err;
	s->tell_refused = o->refused;
	s->tell_ctx = o->refused_ctx;
	err = pl_session_choose_whom(s, whom.pids, whom.count);
	if (!err)
		err = attach(s, o);
	if (err) {
		plumb_session_destroy(s);
		return err;
	}
	*ret = s;
	return NULL;
}

static struct plumb_error *check_whom(const struct plumb_session_options *o, size_t count)
{
	if (!count)
		return pl_error(PLUMB_ERR_INVALID, "no process is named");
	if (o->tags_at && count > 1)
		return pl_error(PLUMB_ERR_INVALID, "tags are those of one process, and %zu are named", count);
	return NULL;
}

struct plumb_error *plumb_session_attach_all(const struct plumb_session_options *given, const int *pids, size_t count,
					     struct plumb_session **ret)
{
	struct plumb_session_options o;
	struct plumb_error *err = pl_session_take_options(given, &o);

	if (err || (err = check_whom(&o, count)))
		return err;
	return attach_session(&o, pl_session_engine_options(&o), (struct whom){pids, count}, ret);
}

struct plumb_error *plumb_session_attach(const struct plumb_session_options *o, int pid, struct plumb_session **ret)
{
	return plumb_session_attach_all(o, &pid, 1, ret);
}

struct plumb_error *plumb_session_own(const struct plumb_session_options *given, struct plumb_session **ret)
{
	struct plumb_session_options o;
	struct plumb_error *err = pl_session_take_options(given, &o);

	if (err)
		return err;
	struct pl_engine_options eo = pl_session_engine_options(&o);
	eo.own = true;
	int pid = getpid();
	eo.stop = PL_STOP_NEVER; /* a thread cannot stop its siblings */
	eo.subprocesses = false;
	eo.tags = o.tags;
	o.tags_at = 0;
	return attach_session(&o, eo, (struct whom){&pid, 1}, ret);
}

/* A recording whose name has the process id is made when there is a process: whether it can be is found out before. */
static struct plumb_error *check_place(void)
{
	struct plumb_error *err = pl_new_file_try("plumb.PROG.PID.plumb");

	if (plumb_error_code(err) == PLUMB_ERR_WRITE_FAILED)
		err = pl_error_hint(err, "a recording goes into the current directory; '-o' names another place");
	return err;
}

/* What cannot be written is told before the program is started. */
static struct plumb_error *launch(struct plumb_session *s, const struct plumb_session_options *o, char *const argv[])
{
	const char *output = o->no_recording ? NULL : o->output;
	struct plumb_signals now;
	struct plumb_error *err = output	    ? pl_session_open_recording(s, output)
				  : o->no_recording ? NULL
						    : check_place();

	if (err || (err = pl_session_choose_child(s)))
		return err;
	plumb_signals_now(&now);
	if ((err = pl_program_launch(argv, o->signals ? o->signals : &now, &s->pid)))
		return err;
	s->pids[0] = s->pid;
	pl_program_name(s->pid, s->program, sizeof s->program);
	if (!output && !o->no_recording && (err = pl_session_open_recording(s, NULL)))
		pl_session_failed(s, err);
	err = s->ops->open(&s->options, &s->engine);
	return err ? err : begin(s);
}

struct plumb_error *plumb_session_launch(const struct plumb_session_options *given, char *const argv[],
					 struct plumb_session **ret)
{
	struct plumb_session *s;
	struct plumb_session_options o;
	struct plumb_error *err = pl_session_take_options(given, &o);

	if (err)
		return err;
	struct pl_engine_options eo = pl_session_engine_options(&o);
	eo.launched = true;
	eo.subprocesses = o.subprocesses != PLUMB_SUBPROCESSES_NO;
	if ((err = session_alloc(&o, eo, &s)))
		return err;
	err = launch(s, &o, argv);
	if (err) {
		if (s->pid) /* started, but it cannot be sampled: no program is left behind unseen */
			plumb_session_signal(s, SIGTERM);
		plumb_session_destroy(s);
		return err;
	}
	*ret = s;
	return NULL;
}

void plumb_signals_now(struct plumb_signals *ret)
{
	pl_program_signals(ret);
}

/* ---- using it ---------------------------------------------------------------------------------------------------- */

void plumb_session_stop(struct plumb_session *s)
{
	if (!s->engine || pl_session_forked(s))
		return;
	atomic_store(&s->hurry, true);
	s->ops->stop(s->engine);
}

void plumb_session_signal(struct plumb_session *s, int signo)
{
	if (!s->reaped && s->pid > 0 && !pl_session_forked(s))
		(void)kill(s->pid, signo);
}

void plumb_session_interrupt(struct plumb_session *s)
{
	if (pl_session_program_ended(s))
		plumb_session_stop(s);
}

static bool has_ended(struct plumb_session *s)
{
	pthread_mutex_lock(&s->lock);
	bool ended = s->status.ended;
	pthread_mutex_unlock(&s->lock);
	return ended;
}

/* Of one that has ended by itself nobody is in a hurry: what reads its recording may be slow. */
static void join_consumer(struct plumb_session *s)
{
	if (!s->consuming)
		return;
	if (!has_ended(s))
		plumb_session_stop(s);
	pthread_join(s->consumer, NULL);
	pthread_mutex_lock(&s->work);
	s->consuming = false;
	pthread_mutex_unlock(&s->work);
}

/* That a program ran no Python, or ended before it did, is a result and no error. */
static struct plumb_error *real_error(struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);

	if (code != PLUMB_ERR_NOT_PYTHON && code != PLUMB_ERR_NOT_READY)
		return err;
	plumb_error_destroy(err);
	return NULL;
}

static void close_engine(struct plumb_session *s)
{
	pthread_mutex_lock(&s->ordering);
	if (s->engine && !s->left)
		s->ops->close(s->engine);
	s->engine = NULL;
	pthread_mutex_unlock(&s->ordering);
}

/* The recording has all, the profile what was counted since it was told to begin anew. */
static void finish_counting(struct plumb_session *s, bool found_python)
{
	pl_cycles_finish(&s->cycles, pl_clock_real_ns());
	s->profile->meta.complete = true;
	/* A thread is in the profile from its first sample on. */
	pl_session_finish_recording(s, found_python || s->profile->thread_count);
	pl_session_fit(s, s->profile);
	s->profile->meta.untimed = !s->profile->stream.each;
}

struct plumb_error *plumb_session_finish(struct plumb_session *s, struct plumb_result *ret)
{
	struct pl_engine_stats st;

	*ret = (struct plumb_result){.pid = s->pid, .recording = s->path};
	if (pl_session_forked(s))
		return pl_session_check_forked(s);
	pl_session_pause_ended(s);
	join_consumer(s);
	s->ops->stats(s->engine, &st);
	pthread_mutex_lock(&s->work);
	finish_counting(s, st.found_python);
	pthread_mutex_unlock(&s->work);
	*ret = (struct plumb_result){.pid = s->pid,
				     .recording = s->path,
				     .target_ended = st.target_ended,
				     .launched = s->options.launched,
				     .found_python = st.found_python,
				     .known = pl_session_is_known(s),
				     .half_width = s->until > 0 ? pl_session_half_width(s) : 0};
	if (s->options.launched && st.target_ended)
		ret->wait_status = plumb_session_reap(s);
	if (!st.found_python && !s->failure)
		s->failure = real_error(s->ops->take_error(s->engine));
	if (s->options.own) /* its outcome may be kept for as long as the program runs, and be one of many */
		close_engine(s);
	struct plumb_error *err = s->failure;
	s->failure = NULL;
	return err;
}

int plumb_session_reap(struct plumb_session *s)
{
	if (!s->reaped) {
		pl_program_wait_end(s->pid);
		s->reaped = true; /* before its id is given away: a signal that comes in between is sent to nobody */
		s->wait_status = pl_program_reap(s->pid);
	}
	return s->wait_status;
}

const struct plumb_profile *plumb_session_profile(const struct plumb_session *s)
{
	return s->profile;
}

void plumb_session_destroy(struct plumb_session *s)
{
	/* In a child its threads are not there, and its memory is as they left it, in the middle of something. */
	if (!s || pl_session_forked(s))
		return;
	join_consumer(s);
	pl_capture_destroy(s->writer);
	close_engine(s);
	pl_profile_destroy(s->profile);
	plumb_error_destroy(s->failure);
	pl_hottest_deinit(&s->hot);
	pl_cycles_deinit(&s->cycles);
	pl_session_events_deinit(s);
	pl_vec_deinit(&s->since.thread_cpu_ns);
	pthread_cond_destroy(&s->ended_cond);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->work);
	pthread_mutex_destroy(&s->ordering);
	free(s->path);
	if (!s->left) {
		free(s->tids);
		free(s->pids);
		pl_target_tags_destroy(s->tags);
	}
	free(s);
}
