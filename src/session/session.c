/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/session.h>. Wires an engine to a profile and a recording.
 *
 * Threads: the caller's; the consumer (here), which alone touches the profile and the writer while the session runs;
 * and the engine's sampling thread. `lock` guards what plumb_session_wait() shows. */
#include <plumb/plumb.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "again.h"
#include "capture.h"
#include "clock.h"
#include "engine.h"
#include "hottest.h"
#include "target.h"

#define BROKEN_WAIT_NS	1000000
#define POLL_MS		100 /* also how late a chunk can be: see PL_CAPTURE_CHUNK_NS */
#define RECORDING_NAME	"plumb.%s.%d.plumb"
#define STATUS_EVERY_NS 200000000ull

struct plumb_session {
	struct pl_engine_options options;
	const struct pl_engine_ops *ops;
	struct pl_engine *engine;
	struct plumb_profile *profile;
	struct pl_capture_writer *writer; /* NULL after writing failed */
	char *path;
	char program[128];
	bool named; /* the recording, after the Python program */
	bool reaped;
	int wait_status;
	atomic_bool program_ended;

	pthread_t consumer;
	bool consuming;
	struct plumb_error *failure; /* first thing that went wrong in the consumer */
	struct pl_hottest hot;	     /* by the function of the innermost frame: for the status line */
	uint64_t chunk_ns, samples;
	bool broken; /* records were lost in the middle: nothing after them can be understood */

	pthread_mutex_t lock;
	pthread_cond_t ended_cond;
	struct plumb_status status;
	char hottest[256], shown[256];
};

/* ---- the consumer ------------------------------------------------------------------------------------------------ */

static void keep_failure(struct plumb_session *s, struct plumb_error *err)
{
	if (!s->failure)
		s->failure = err;
	else
		plumb_error_destroy(err);
}

/* Without the recording the profile still grows: the report comes all the same. */
static void writing_failed(struct plumb_session *s, struct plumb_error *err)
{
	pl_capture_destroy(s->writer);
	s->writer = NULL;
	keep_failure(s, err);
}

static void count_self(struct plumb_session *s, const struct pl_sample *sample)
{
	const struct plumb_profile *p = s->profile;
	uint32_t function = PL_NO_FUNCTION;

	if (sample->stack)
		function = p->locations[p->stacks[sample->stack].location].function;
	pl_hottest_add(&s->hot, function, sample->time_ns);
}

static struct plumb_error *take_sample(void *ctx, const struct pl_sample *sample)
{
	struct plumb_session *s = ctx;
	struct plumb_error *err = s->writer ? pl_capture_add(s->writer, sample) : NULL;

	if (err)
		writing_failed(s, err);
	s->samples++;
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

static void take_stats(struct plumb_session *s, const struct pl_engine_stats *st)
{
	struct pl_meta *m = &s->profile->meta;
	uint64_t damaged = m->losses[PL_LOSS_DAMAGED];

	m->duration_ns = st->elapsed_ns;
	m->ticks = st->ticks;
	memcpy(m->losses, st->losses, sizeof m->losses);
	m->losses[PL_LOSS_DAMAGED] = damaged;
	m->stops = st->stops;
	m->stopped_ns = st->stopped_ns;
	m->taken_ns = st->taken_ns;
	m->missed_ns = st->missed_ns;
	take_refusals(s, &st->refusals);
	m->profiler_cpu_ns = pl_clock_process_cpu_ns();
}

static void find_hottest(struct plumb_session *s, struct plumb_status *status)
{
	const struct plumb_profile *p = s->profile;
	uint32_t best;

	s->hottest[0] = '\0';
	if (!pl_hottest_find(&s->hot, &best, &status->hottest_share))
		return;
	snprintf(s->hottest, sizeof s->hottest, "%s", pl_strtab_get(p->strings, p->functions[best].qualname, NULL));
}

static void show_status(struct plumb_session *s, const struct pl_engine_stats *st)
{
	pthread_mutex_lock(&s->lock);
	s->status.elapsed_ns = st->elapsed_ns;
	s->status.threads = st->threads;
	s->status.processes = st->processes;
	s->status.program_ended = st->target_ended;
	s->status.samples = s->samples;
	s->status.found_python = st->found_python;
	find_hottest(s, &s->status);
	if (st->ended) {
		s->status.ended = true;
		pthread_cond_broadcast(&s->ended_cond);
	}
	pthread_mutex_unlock(&s->lock);
}

static void write_chunk(struct plumb_session *s, uint64_t now)
{
	if (!s->writer || (now - s->chunk_ns < PL_CAPTURE_CHUNK_NS && !pl_capture_wants_flush(s->writer)))
		return;
	s->chunk_ns = now;
	struct plumb_error *err = pl_capture_flush(s->writer, s->profile);
	if (err)
		writing_failed(s, err);
}

/* A shell script or a launcher was started, and now a Python has turned up. Only a name that we chose is changed. */
static void name_after_python(struct plumb_session *s)
{
	const struct plumb_profile *p = s->profile;
	char *path;

	if (s->named || !s->writer || !p->process_count)
		return;
	s->named = true;
	if (asprintf(&path, RECORDING_NAME, pl_strtab_get(p->strings, p->processes[0].name, NULL),
		     (int)s->options.pid) < 0)
		return;
	if (strcmp(path, s->path) == 0 || !pl_capture_rename(s->writer, path)) {
		free(path);
		return;
	}
	free(s->path);
	s->path = path;
}

static struct plumb_error *take_over(struct plumb_session *s, int timeout_ms)
{
	if (!s->broken)
		return s->ops->poll(s->engine, s->profile, timeout_ms, take_sample, s);
	nanosleep(&(struct timespec){.tv_nsec = BROKEN_WAIT_NS}, NULL); /* the engine is about to end */
	return NULL;
}

static void *consume(void *session)
{
	struct plumb_session *s = session;
	struct pl_engine_stats st = {0};
	uint64_t shown_ns = 0;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!st.ended) {
		/* Stats first: what was sampled before the end is in the queue when we poll. */
		s->ops->stats(s->engine, &st);
		struct plumb_error *err = take_over(s, st.ended ? 0 : POLL_MS);
		if (err) {
			keep_failure(s, err);
			s->broken = true;
			s->ops->stop(s->engine);
		}
		uint64_t now = pl_clock_monotonic_ns();
		atomic_store(&s->program_ended, st.target_ended);
		take_stats(s, &st);
		name_after_python(s);
		write_chunk(s, now);
		if (st.ended || now - shown_ns > STATUS_EVERY_NS || !s->status.samples != !s->samples) {
			shown_ns = now;
			struct pl_engine_stats latest;
			s->ops->stats(s->engine, &latest); /* not older than the samples it is shown with */
			latest.ended = st.ended;
			show_status(s, &latest);
		}
	}
	return NULL;
}

/* ---- making a session -------------------------------------------------------------------------------------------- */

static uint64_t fresh_seed(void)
{
	return pl_clock_real_ns() * 0x9e3779b97f4a7c15ull ^ (uint64_t)getpid();
}

static struct plumb_error *check_options(const struct plumb_session_options *o)
{
	if (o->rate_hz != 0 && !(o->rate_hz >= 0.01 && o->rate_hz <= 1e6))
		return pl_error(PLUMB_ERR_INVALID, "a rate of %g per second is out of range: 0.01 to 1,000,000, or max",
				o->rate_hz);
	if (o->max_overhead != 0 && !(o->max_overhead >= 0.0001 && o->max_overhead <= 1))
		return pl_error(PLUMB_ERR_INVALID, "an overhead of %g %% is out of range: 0.01 to 100",
				100 * o->max_overhead);
	if ((unsigned)o->mode > PLUMB_MODE_GIL || (unsigned)o->stop > PLUMB_STOP_ALWAYS ||
	    (unsigned)o->subprocesses > PLUMB_SUBPROCESSES_NO)
		return pl_error(PLUMB_ERR_INVALID,
				"there is no such mode or way to stop threads or choice of processes");
	return NULL;
}

static struct pl_engine_options engine_options(const struct plumb_session_options *o, bool launched)
{
	return (struct pl_engine_options){
		.launched = launched,
		.subprocesses = o->subprocesses == PLUMB_SUBPROCESSES_YES ||
				(launched && o->subprocesses == PLUMB_SUBPROCESSES_AUTO),
		.period_ns = o->rate_hz > 0 ? (uint64_t)(1e9 / o->rate_hz) : 0,
		.max_overhead = o->max_overhead,
		.opcodes = o->opcodes,
		.mode = (enum pl_mode)o->mode,
		.stop = (enum pl_stop_policy)o->stop,
		.jitter = !o->no_jitter,
		.seed = o->has_seed ? o->seed : fresh_seed(),
		.duration_ns = o->duration_ns,
		.threads = o->thread_count ? o->threads : NULL,
		.thread_count = o->thread_count,
	};
}

static struct plumb_error *intern(struct plumb_profile *p, const char *s, uint32_t *ret)
{
	return pl_profile_string(p, s, strlen(s), ret);
}

/* What is known before there is a process. The writer needs the period. */
static struct plumb_error *fill_plan(struct plumb_session *s)
{
	struct pl_meta *m = &s->profile->meta;
	char host[256] = "";
	struct plumb_error *err;

	gethostname(host, sizeof host - 1);
	m->period_ns = s->options.period_ns;
	m->seed = s->options.seed;
	m->mode = (uint8_t)s->options.mode;
	m->jitter = s->options.jitter;
	m->max_overhead_ppm = (uint32_t)(s->options.max_overhead * 1e6 + 0.5);
	if ((err = intern(s->profile, s->ops->name, &m->engine)) ||
	    (err = intern(s->profile, PLUMB_VERSION, &m->plumb_version)) || (err = intern(s->profile, host, &m->host)))
		return err;
	return NULL;
}

static struct plumb_error *open_recording(struct plumb_session *s, const char *path)
{
	s->named = path != NULL;
	s->path = path ? strdup(path) : NULL;
	if (!path && asprintf(&s->path, RECORDING_NAME, s->program, (int)s->options.pid) < 0)
		s->path = NULL;
	return s->path ? pl_capture_create(s->path, s->profile, &s->writer) : &pl_err_no_memory;
}

/* Nothing was recorded. Only a file that is ours to remove goes: -o may name a device or a pipe. */
static void remove_recording(struct plumb_session *s)
{
	struct stat st;

	if (s->path && lstat(s->path, &st) == 0 && S_ISREG(st.st_mode))
		(void)unlink(s->path);
}

static struct plumb_error *session_alloc(const struct plumb_session_options *o, bool launched,
					 struct plumb_session **ret)
{
	struct plumb_session *s = calloc(1, sizeof *s);
	pthread_condattr_t attr;

	if (!s)
		return &pl_err_no_memory;
	s->ops = &pl_engine_remote;
	s->options = engine_options(o, launched);
	s->reaped = !launched;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->ended_cond, &attr);
	pthread_condattr_destroy(&attr);
	struct plumb_error *err = pl_profile_create(&s->profile);
	if (!err)
		err = fill_plan(s);
	if (err) {
		plumb_session_destroy(s);
		return err;
	}
	*ret = s;
	return NULL;
}

/* There is a process and an engine for it: begin. */
static struct plumb_error *begin(struct plumb_session *s)
{
	struct plumb_error *err;
	char command[4096];

	pl_target_command(s->options.pid, command, sizeof command);
	if ((err = intern(s->profile, command, &s->profile->meta.command)))
		return err;
	s->profile->meta.start_real_ns = pl_clock_real_ns();
	if ((err = s->ops->start(s->engine)))
		return err;
	s->chunk_ns = pl_clock_monotonic_ns();
	int r = pthread_create(&s->consumer, NULL, consume, s);
	if (r)
		return pl_error_errno(PLUMB_ERR_SYSTEM, r, "cannot start a thread");
	s->consuming = true;
	return NULL;
}

static struct plumb_error *attach(struct plumb_session *s, const char *output)
{
	struct plumb_error *err = pl_target_check(s->options.pid);

	if (err)
		return err;
	pl_target_program(s->options.pid, s->program, sizeof s->program);
	if ((err = s->ops->open(&s->options, &s->engine)) || (err = open_recording(s, output)))
		return err;
	return begin(s);
}

struct plumb_error *plumb_session_attach(const struct plumb_session_options *o, int pid, struct plumb_session **ret)
{
	struct plumb_session *s;
	struct plumb_error *err = check_options(o);

	if (err || (err = session_alloc(o, false, &s)))
		return err;
	s->options.pid = pid;
	err = attach(s, o->output);
	if (err) {
		plumb_session_destroy(s);
		return err;
	}
	*ret = s;
	return NULL;
}

/* A named recording that cannot be written is told before the program is started; one in the current directory, whose
 * name has the process id, cannot be: then the program runs, the report comes, and the error at the end. */
static struct plumb_error *launch(struct plumb_session *s, const char *output, char *const argv[])
{
	struct plumb_error *err = output ? open_recording(s, output) : NULL;

	if (err || (err = pl_target_launch(argv, &s->options.pid)))
		return err;
	pl_target_program(s->options.pid, s->program, sizeof s->program);
	if (!output && (err = open_recording(s, NULL))) {
		writing_failed(s, err);
		free(s->path);
		s->path = NULL;
	}
	err = s->ops->open(&s->options, &s->engine);
	return err ? err : begin(s);
}

struct plumb_error *plumb_session_launch(const struct plumb_session_options *o, char *const argv[],
					 struct plumb_session **ret)
{
	struct plumb_session *s;
	struct plumb_error *err = check_options(o);

	if (err || (err = session_alloc(o, true, &s)))
		return err;
	err = launch(s, o->output, argv);
	if (err) {
		if (s->options.pid) { /* started, but it cannot be sampled: no program is left behind unseen */
			plumb_session_signal(s, SIGTERM);
		} else if (s->writer) {
			remove_recording(s);
		}
		plumb_session_destroy(s);
		return err;
	}
	*ret = s;
	return NULL;
}

/* ---- using it ---------------------------------------------------------------------------------------------------- */

static struct timespec deadline(int timeout_ms)
{
	uint64_t at = pl_clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000;

	return (struct timespec){.tv_sec = (time_t)(at / PL_NS_PER_S), .tv_nsec = (long)(at % PL_NS_PER_S)};
}

void plumb_session_wait(struct plumb_session *s, int timeout_ms, struct plumb_status *ret)
{
	struct timespec until = deadline(timeout_ms < 0 ? 0 : timeout_ms);
	int r = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->status.ended && r == 0)
		r = timeout_ms < 0 ? pthread_cond_wait(&s->ended_cond, &s->lock)
				   : pthread_cond_timedwait(&s->ended_cond, &s->lock, &until);
	*ret = s->status;
	memcpy(s->shown, s->hottest, sizeof s->shown);
	ret->hottest = s->shown;
	pthread_mutex_unlock(&s->lock);
}

void plumb_session_stop(struct plumb_session *s)
{
	s->ops->stop(s->engine);
}

void plumb_session_signal(struct plumb_session *s, int signo)
{
	if (!s->reaped && s->options.pid > 0)
		(void)kill(s->options.pid, signo);
	plumb_session_interrupt(s);
}

void plumb_session_interrupt(struct plumb_session *s)
{
	if (atomic_load(&s->program_ended))
		plumb_session_stop(s);
}

static void join_consumer(struct plumb_session *s)
{
	if (!s->consuming)
		return;
	s->ops->stop(s->engine);
	pthread_join(s->consumer, NULL);
	s->consuming = false;
}

/* That a program ran no Python, or ended before it did, is a result and no error. */
static struct plumb_error *real_trouble(struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);

	if (code != PLUMB_ERR_NOT_PYTHON && code != PLUMB_ERR_NOT_READY)
		return err;
	plumb_error_destroy(err);
	return NULL;
}

/* So that formats with instants can be written at once. Where it cannot be opened again (-o was a pipe), or not be read
 * as it was written, there are counts only. */
static void read_recording_again(struct plumb_session *s, uint64_t chunks)
{
	struct pl_capture_info info = {.chunks = chunks, .complete = true};
	struct stat st;
	int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return;
	}
	plumb_error_destroy(pl_again_from_recording(s->profile, fd, &info));
}

static void finish_recording(struct plumb_session *s)
{
	if (!s->writer)
		return;
	struct plumb_error *err = pl_capture_finish(s->writer, s->profile);
	if (err) {
		writing_failed(s, err);
		return;
	}
	uint64_t chunks = pl_capture_chunks(s->writer);
	pl_capture_destroy(s->writer);
	s->writer = NULL;
	read_recording_again(s, chunks);
}

struct plumb_error *plumb_session_finish(struct plumb_session *s, struct plumb_result *ret)
{
	struct pl_engine_stats st;

	join_consumer(s);
	s->ops->stats(s->engine, &st);
	s->profile->meta.complete = true;
	finish_recording(s);
	*ret = (struct plumb_result){.pid = s->options.pid,
				     .recording = s->path,
				     .target_ended = st.target_ended,
				     .launched = s->options.launched,
				     .found_python = st.found_python};
	if (s->options.launched && st.target_ended)
		ret->wait_status = plumb_session_reap(s);
	if (!st.found_python) {
		remove_recording(s);
		if (!s->failure)
			s->failure = real_trouble(s->ops->trouble(s->engine));
	}
	struct plumb_error *err = s->failure;
	s->failure = NULL;
	return err;
}

int plumb_session_reap(struct plumb_session *s)
{
	if (!s->reaped) {
		s->wait_status = pl_target_reap(s->options.pid);
		s->reaped = true;
	}
	return s->wait_status;
}

const struct plumb_profile *plumb_session_profile(const struct plumb_session *s)
{
	return s->profile;
}

void plumb_session_destroy(struct plumb_session *s)
{
	if (!s)
		return;
	join_consumer(s);
	pl_capture_destroy(s->writer);
	if (s->engine)
		s->ops->close(s->engine);
	pl_profile_destroy(s->profile);
	plumb_error_destroy(s->failure);
	pl_hottest_deinit(&s->hot);
	pthread_cond_destroy(&s->ended_cond);
	pthread_mutex_destroy(&s->lock);
	free(s->path);
	free(s);
}
