/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see feed.h. One thread. Nothing is added up here: each figure is one that <plumb/view.h> gives. */
#include "feed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arrivals.h"

#define NS_PER_S     1000000000ull
#define CYCLE_NS     (1ull << 29)
#define CYCLES	     1118	  /* ten minutes */
#define CYCLE_STACKS (256u << 10) /* and no more than 8 MB */
#define ALL_SELDOM   100	  /* a hundredth of a core */
#define STANDARD_FDS 3

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static void look_close(struct look *l)
{
	plumb_view_close(l->all);
	plumb_view_close(l->recent);
	plumb_view_close(l->second);
	plumb_profile_destroy(l->all_profile);
	plumb_profile_destroy(l->recent_profile);
	plumb_profile_destroy(l->second_profile);
	*l = (struct look){.sentence = ""};
}

static uint64_t before(uint64_t ns, uint64_t by)
{
	return ns > by ? ns - by : 0;
}

/* What was counted in the last @p ns before what is shown. */
static struct plumb_error *take_last(struct feed *f, uint64_t ns, struct plumb_profile **ret)
{
	uint64_t from_ns = before(f->shown_ns, ns), to_ns = f->shown_ns;

	return f->still ? plumb_session_between(f->session, &from_ns, &to_ns, ret)
			: plumb_session_last(f->session, ns, ret);
}

static struct plumb_error *look_at_session(struct feed *f, struct look *l)
{
	struct plumb_error *err = take_last(f, NS_PER_S, &l->second_profile);

	if (!err)
		err = take_last(f, FEED_RECENT_S * NS_PER_S, &l->recent_profile);
	if (!err)
		err = plumb_view_open(l->recent_profile, &f->filters, &l->recent);
	return err ? err : plumb_view_open(l->second_profile, &f->filters, &l->second);
}

/* The last @p ns before what is shown; *ret stays NULL where that is all. */
static struct plumb_error *view_last(const struct feed *f, uint64_t ns, struct plumb_view **ret)
{
	struct plumb_report_options o = f->filters;
	struct plumb_profile_info info;

	plumb_profile_info(f->recording, &info);
	o.from_ns = before(f->shown_ns, ns);
	o.to_ns = f->shown_ns < info.duration_ns ? f->shown_ns : 0;
	return o.from_ns || o.to_ns ? plumb_view_open(f->recording, &o, ret) : NULL;
}

/* What has no times, or was cut to some of them, has no last seconds. */
static struct plumb_error *look_at_recording(const struct feed *f, struct look *l)
{
	struct plumb_error *err = f->timed ? view_last(f, FEED_RECENT_S * NS_PER_S, &l->recent) : NULL;

	/* At its end nothing is more now than the rest. */
	return err || !f->still ? err : view_last(f, NS_PER_S, &l->second);
}

static struct plumb_error *ask_recent(struct look *l)
{
	size_t count = 0;
	struct plumb_error *err = NULL;

	if (l->recent)
		err = plumb_view_functions(l->recent, &count);
	if (!err && l->recent)
		err = plumb_view_totals(l->recent, &l->recent_totals);
	if (!err && l->recent)
		err = plumb_view_reasons(l->recent, &count);
	return err || !l->second ? err : plumb_view_threads(l->second, &count);
}

static struct plumb_error *ask_all(const struct feed *f, struct look *l)
{
	size_t count = 0;
	struct plumb_error *err = plumb_view_totals(l->all, &l->totals);

	if (!err)
		err = plumb_view_reasons(l->all, &count);
	if (!err)
		err = plumb_view_sentence(l->all, !f->o->unicode, &l->sentence);
	if (!err)
		err = plumb_view_functions(l->all, &count);
	if (!err)
		err = plumb_view_threads(l->all, &count);
	if (!err)
		err = plumb_view_processes(l->all, &count);
	if (!err)
		plumb_view_process_at(l->all, 0, &l->process);
	return err;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Of a session that goes on, what is since the start is made anew so seldom that this costs little, however much it
 * is. What stands still and a recording do not change. */
static bool all_is_due(const struct feed *f)
{
	if (!f->look.all || f->filtered)
		return true;
	return f->session && !f->still && (f->status.ended || clock_ns(CLOCK_MONOTONIC) >= f->all_due_ns);
}

static struct plumb_error *look_at_all(struct feed *f, struct look *l)
{
	uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct plumb_error *err = NULL;

	if (f->session && !(f->still && f->look.all_profile))
		err = plumb_session_snapshot(f->session, &l->all_profile);
	const struct plumb_profile *p = f->recording	 ? f->recording
					: l->all_profile ? l->all_profile
							 : f->look.all_profile;
	if (!err)
		err = plumb_view_open(p, &f->filters, &l->all);
	if (err)
		return err;
	plumb_profile_info(p, &l->info);
	err = ask_all(f, l);
	f->all_due_ns = clock_ns(CLOCK_MONOTONIC) + ALL_SELDOM * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns);
	return err;
}

static void take_profile(struct look *to, struct look *from)
{
	to->all_profile = from->all_profile;
	from->all_profile = NULL;
}

static void take_all(struct look *to, struct look *from)
{
	to->all = from->all;
	from->all = NULL;
	to->info = from->info;
	to->totals = from->totals;
	to->process = from->process;
	to->sentence = from->sentence;
}

/* The views of the look have their words as they were until they are closed: keys that come before that ask them. */
static void filter_by_words(struct feed *f)
{
	const struct plumb_report_options *first = &f->o->report;
	struct feed_words *w = &f->words[!f->shown];

	*w = f->wanted;
	w->threads[0] = w->thread;
	w->modules[0] = w->module;
	w->tags[0] = w->tag;
	f->filters.threads = *w->thread ? w->threads : first->threads;
	f->filters.thread_count = *w->thread ? 1 : first->thread_count;
	f->filters.modules = *w->module ? w->modules : first->modules;
	f->filters.module_count = *w->module ? 1 : first->module_count;
	f->filters.focus = *w->like ? w->like : first->focus;
	f->filters.tags = *w->tag ? w->tags : first->tags;
	f->filters.tag_count = *w->tag ? 1 : first->tag_count;
}

struct plumb_error *feed_refresh(struct feed *f)
{
	struct look l = {.totals = {.size = sizeof l.totals},
			 .recent_totals = {.size = sizeof l.recent_totals},
			 .process = {.size = sizeof l.process},
			 .sentence = ""};

	if (f->session)
		plumb_session_wait(f->session, 0, &f->status);
	if (f->filtered)
		filter_by_words(f);
	bool due = all_is_due(f);
	struct plumb_error *err = f->session ? look_at_session(f, &l) : look_at_recording(f, &l);
	if (!err)
		err = ask_recent(&l);
	if (!err && due) /* the last one: what the others have is in it */
		err = look_at_all(f, &l);
	if (err) {
		look_close(&l);
		return err;
	}
	if (!due)
		take_all(&l, &f->look);
	if (!l.all_profile)
		take_profile(&l, &f->look);
	look_close(&f->look);
	f->look = l;
	f->pid = l.process.pid ? l.process.pid : f->pid;
	if (f->filtered) /* all views are new */
		f->shown = !f->shown;
	f->filtered = false;
	return NULL;
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */

static void want(struct feed *f, char word[64], const char *text)
{
	f->filtered = true;
	snprintf(word, 64, "%s", text);
}

void feed_only_thread(struct feed *f, const char *thread)
{
	want(f, f->wanted.thread, thread);
}

void feed_only_module(struct feed *f, const char *module)
{
	want(f, f->wanted.module, module);
}

void feed_only_like(struct feed *f, const char *pattern)
{
	want(f, f->wanted.like, pattern);
}

void feed_only_tag(struct feed *f, const char *tag)
{
	want(f, f->wanted.tag, tag);
}

void feed_only_states(struct feed *f, unsigned states)
{
	f->filtered = true;
	f->filters.states = states ? states : f->o->report.states;
}

void feed_only_kinds(struct feed *f, unsigned kinds)
{
	f->filtered = true;
	f->filters.kinds = kinds ? kinds : f->o->report.kinds;
}

/* ---- beginning and ending ---------------------------------------------------------------------------------------- */

static struct plumb_error *launch(struct feed *f, const struct plumb_session_options *o, int out)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), kept[STANDARD_FDS];
	struct plumb_error *err = NULL;

	for (int fd = 0; fd < STANDARD_FDS; fd++)
		kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, STANDARD_FDS);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	err = plumb_session_launch(o, f->o->program, &f->session);
	for (int fd = 0; fd < STANDARD_FDS; fd++) {
		dup2(kept[fd], fd);
		close(kept[fd]);
	}
	close(null);
	f->launched = !err;
	return err;
}

/* What the program writes is its own business, and none of the screen's: it goes to a file, which nobody had before. */
static struct plumb_error *launch_into_file(struct feed *f, const struct plumb_session_options *o)
{
	struct plumb_output *file;
	struct plumb_error *err = feed_open_free((int)getpid(), "out", f->output, sizeof f->output, &file);

	if (err)
		return err;
	int out = fcntl(plumb_output_fd(file), F_DUPFD_CLOEXEC, STANDARD_FDS);
	err = plumb_output_publish(file);
	if (!err)
		f->output_fd = open(f->output, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (!err)
		err = launch(f, o, out);
	else
		f->output[0] = '\0';
	close(out);
	if (err && f->output[0])
		unlink(f->output);
	return err;
}

static struct plumb_error *open_session(struct feed *f)
{
	struct plumb_session_options o = f->o->session;

	o.cycle_ns = CYCLE_NS;
	o.max_cycles = CYCLES;
	o.max_cycle_stacks = CYCLE_STACKS;
	o.no_recording = !o.output;
	if (f->o->program)
		return launch_into_file(f, &o);
	return plumb_session_attach_all(&o, f->o->pids, f->o->pid_count, &f->session);
}

/* Whether its samples have times is seen when one is asked for. */
static bool has_times(const struct plumb_profile *p)
{
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;
	struct plumb_profile *first = NULL;

	o.to_ns = 1;
	struct plumb_error *err = plumb_profile_refine(p, &o, &first);
	bool has = !err;
	plumb_error_destroy(err);
	plumb_profile_destroy(first);
	return has;
}

static struct plumb_error *open_recording(struct feed *f)
{
	struct plumb_profile_info info;
	struct plumb_error *err = plumb_profile_open(f->o->recording, NULL, &f->recording);

	if (err)
		return err;
	plumb_profile_info(f->recording, &info);
	f->shown_ns = info.duration_ns;
	f->timed = !f->filters.from_ns && !f->filters.to_ns && has_times(f->recording);
	return NULL;
}

struct plumb_error *feed_open(struct feed *f, const struct top_options *o)
{
	*f = (struct feed){.o = o,
			   .filters = o->report,
			   .look = {.sentence = ""},
			   .output_fd = -1,
			   .wait_status = -1,
			   .timed = !o->recording};
	/* Of what is sampled, others are left out before. */
	return o->recording ? open_recording(f) : open_session(f);
}

void feed_stand_still(struct feed *f)
{
	if (f->session)
		plumb_session_pause(f->session);
	arrivals_stop();
	if (f->session)
		plumb_session_resume(f->session);
}

struct plumb_error *feed_close(struct feed *f, int signo)
{
	struct plumb_error *err = NULL;
	struct plumb_result result = {0};

	look_close(&f->look);
	if (f->session && f->launched && signo)
		plumb_session_signal(f->session, signo);
	if (f->session) {
		plumb_session_stop(f->session);
		err = plumb_session_finish(f->session, &result);
	}
	if (f->launched && result.target_ended)
		f->wait_status = result.wait_status;
	else if (f->launched && feed_await_program(f, result.pid))
		f->wait_status = plumb_session_reap(f->session);
	plumb_session_destroy(f->session);
	plumb_profile_destroy(f->recording);
	if (f->output_fd >= 0)
		close(f->output_fd);
	f->output_fd = -1;
	f->session = NULL;
	f->recording = NULL;
	return err;
}
