/* SPDX-License-Identifier: Apache-2.0 */
/* A process that samples itself: Python is loaded into the test program. */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <plumb/plumb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "own_python.h"
#include "share.h"

#define ENOUGH 300

/* At the rate that is asked for: with sanitizers a round costs enough for the usual limit to lower it. */
static struct plumb_session_options options(void)
{
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;

	o.no_recording = true;
	o.max_overhead = INFINITY;
	return o;
}

static struct plumb_session *start(const struct plumb_session_options *o)
{
	struct plumb_session *s;

	assert_ok(plumb_session_own(o, &s));
	return s;
}

static struct plumb_status status(struct plumb_session *s)
{
	struct plumb_status st;

	plumb_session_wait(s, 0, &st);
	return st;
}

/* Until it has @p samples more. */
static void wait_samples(struct plumb_session *s, uint64_t samples)
{
	struct plumb_status st = status(s);
	uint64_t wanted = st.samples + samples;

	await (st.samples >= wanted) {
		plumb_session_wait(s, 5, &st);
		assert_false(st.ended);
	}
}

static void finish(struct plumb_session *s)
{
	struct plumb_result r;

	assert_ok(plumb_session_finish(s, &r));
	assert_true(r.found_python && r.recording == NULL && r.pid == getpid());
	plumb_session_destroy(s);
}

static struct plumb_profile *snapshot(struct plumb_session *s)
{
	struct plumb_profile *p;

	assert_ok(plumb_session_snapshot(s, &p));
	return p;
}

struct sought {
	const char *name;
	uint64_t samples, all;
	uint32_t last_depth, nodes;
};

static struct plumb_error *look(void *ctx, const struct plumb_tree_node *n)
{
	struct sought *x = ctx;

	assert_true(x->nodes ? n->depth >= 1 && n->depth <= x->last_depth + 1 : n->depth == 0 && !*n->name);
	x->last_depth = n->depth;
	x->nodes++;
	if (n->depth == 0)
		x->all = n->samples;
	assert_true(n->samples > 0 || n->depth == 0);
	if (n->depth && strcmp(n->name, x->name) == 0) {
		x->samples += n->samples;
		assert_int_equal(n->kind, *n->name == '<' ? PLUMB_KIND_MARKER : PLUMB_KIND_PYTHON);
		assert_true(n->line >= (int32_t)n->firstline);
	}
	return NULL;
}

static struct sought find(const struct plumb_profile *p, const char *name)
{
	struct sought x = {.name = name};

	assert_ok(plumb_profile_walk(p, look, &x));
	return x;
}

/* Entries of a directory of /proc/self. */
static int count_in(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* There are no more. The kernel lists a thread that was joined for a moment longer, and who reads source files may be
 * on its way out. */
static void assert_no_more(const char *directory, int count)
{
	await (count_in(directory) <= count)
		continue;
}

static void what_runs_is_counted(void **state)
{
	int threads = count_in("/proc/self/task"), files = count_in("/proc/self/fd");
	struct plumb_session_options o = options();
	struct plumb_session *s = start(&o);
	struct plumb_profile_info info;

	wait_samples(s, ENOUGH);
	struct plumb_profile *p = snapshot(s);
	plumb_profile_info(p, &info);
	struct sought spin = find(p, "spin");
	assert_string_equal(info.engine, "in process");
	assert_true(info.samples >= ENOUGH && spin.all == info.samples && info.period_ns == 1000000);
	assert_true(info.exact + info.doubtful + info.partial == info.samples);
	assert_share("spin", spin.samples, info.samples, 0.4); /* one of two threads; the other does not run Python */
	plumb_profile_destroy(p);
	finish(s);
	assert_no_more("/proc/self/task", threads);
	assert_no_more("/proc/self/fd", files);
}

/* Context switches of the thread of that name: how often it woke up. */
static long wake_ups(const char *name)
{
	DIR *d = opendir("/proc/self/task");
	char path[320], line[128], comm[32];
	long count = -1, n;

	assert_non_null(d);
	for (struct dirent *e = readdir(d); e; e = readdir(d)) {
		snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
		FILE *f = fopen(path, "re");
		bool its = f && fscanf(f, "Name:\t%31s\n", comm) == 1 && strcmp(comm, name) == 0;
		while (its && fgets(line, sizeof line, f))
			if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
				count = n;
		if (f)
			fclose(f);
	}
	closedir(d);
	return count;
}

/* None of our threads wakes up for so long: the wait is what is tested. */
static bool is_silent(void)
{
	long sampler = wake_ups("plumb-sampler"), consumer = wake_ups("plumb-consumer");

	usleep(300000);
	return wake_ups("plumb-sampler") == sampler && wake_ups("plumb-consumer") == consumer;
}

static size_t written(const struct plumb_profile *p, const char *format)
{
	struct plumb_report_options o = PLUMB_REPORT_OPTIONS_INIT;
	FILE *out = tmpfile();

	o.format = format;
	assert_ok(plumb_profile_write(p, &o, fileno(out)));
	off_t len = lseek(fileno(out), 0, SEEK_END);
	fclose(out);
	return (size_t)len;
}

/* ... and answers all questions. */
static void what_has_ended_holds_no_descriptors(void **state)
{
	int files = count_in("/proc/self/fd");
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;
	char dir[] = "/tmp/plumb-own-XXXXXX", path[64];
	struct plumb_result r;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/own.plumb", dir);
	o.output = path;
	struct plumb_session *s = start(&o);
	wait_samples(s, ENOUGH);
	assert_ok(plumb_session_finish(s, &r));
	assert_no_more("/proc/self/fd", files);
	assert_int_equal(unlink(path) | rmdir(dir), 0);
	plumb_session_pause(s);
	plumb_session_stop(s);
	struct plumb_status st = status(s);
	assert_true(st.ended && !st.paused && st.samples >= ENOUGH);
	struct plumb_profile *p = snapshot(s);
	assert_int_equal(find(p, "spin").all, st.samples);
	plumb_profile_destroy(p);
	assert_true(written(plumb_session_profile(s), "text") > 0);
	assert_true(written(plumb_session_profile(s), "firefox") > ENOUGH); /* with the time of each */
	assert_int_equal(written(plumb_session_profile(s), "plumb"), written(plumb_session_profile(s), "plumb"));
	assert_no_more("/proc/self/fd", files);
	plumb_session_destroy(s);
}

/* Its first samples come much later. */
static void a_recording_can_be_read_from_its_beginning(void **state)
{
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;
	char dir[] = "/tmp/plumb-own-XXXXXX", path[64];
	struct plumb_profile_info info;
	struct plumb_result r;
	struct plumb_profile *p;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/own.plumb", dir);
	o.output = path;
	o.rate_hz = 0.01;
	o.no_jitter = true;
	struct plumb_session *s = start(&o);
	assert_ok(plumb_profile_open(path, NULL, &p));
	plumb_profile_info(p, &info);
	assert_true(info.samples == 0 && info.period_ns == 100000000000 && *info.command);
	plumb_profile_destroy(p);
	assert_ok(plumb_session_finish(s, &r));
	plumb_session_destroy(s);
	unlink(path);
	rmdir(dir);
}

/* By then another file may have that. */
static void a_recording_is_read_whatever_has_its_name(void **state)
{
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;
	char dir[] = "/tmp/plumb-own-XXXXXX", path[64];
	struct plumb_profile_info info;
	struct plumb_result r;
	struct plumb_profile *p;
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/own.plumb", dir);
	o.output = path;
	struct plumb_session *s = start(&o);
	int fd = plumb_session_recording(s);
	assert_int_equal(unlink(path) | mkfifo(path, 0600), 0);
	wait_samples(s, ENOUGH);
	assert_false(status(s).unrecorded);
	assert_code(plumb_session_finish(s, &r), PLUMB_ERR_EXISTS);
	assert_int_equal(plumb_session_recording(s) + unlink(r.recording), -1);
	plumb_session_destroy(s);
	assert_int_equal(unlink(path) | rmdir(dir), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	assert_ok(plumb_profile_open(path, NULL, &p));
	plumb_profile_info(p, &info);
	assert_true(info.samples >= ENOUGH && fstat(fd, &st) == 0 && write(fd, "", 1) < 0);
	plumb_profile_destroy(p);
	close(fd);
}

static void what_is_not_recorded_cannot_be_read(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = start(&o);

	assert_int_equal(plumb_session_recording(s), -1);
	wait_samples(s, 1);
	assert_true(status(s).unrecorded);
	finish(s);
}

static void in_a_pause_nothing_happens(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = start(&o);

	wait_samples(s, ENOUGH);
	plumb_session_pause(s);
	plumb_session_pause(s);
	struct plumb_status before = status(s);
	assert_true(before.paused && !before.ended);
	await (is_silent()) /* on a busy machine they may go to sleep late */
		continue;
	struct plumb_status after = status(s);
	assert_true(after.samples == before.samples && after.ticks == before.ticks);
	assert_true(after.elapsed_ns == before.elapsed_ns);
	plumb_session_resume(s);
	plumb_session_resume(s);
	wait_samples(s, ENOUGH);
	after = status(s);
	assert_false(after.paused);
	assert_true(after.ticks + after.missed <= after.elapsed_ns / 1000000 + 3); /* nor was a tick missed */
	plumb_session_pause(s); /* counts and figures of the same moment */
	struct plumb_profile *p = snapshot(s);
	struct plumb_profile_info info;
	plumb_profile_info(p, &info);
	/* two threads at most, each tick stands for its period */
	assert_true(info.weight_ns <= 2 * (info.duration_ns + 2000000));
	plumb_profile_destroy(p);
	finish(s);
}

static void weights_follow_the_rate(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_profile_info info, later;

	o.rate_hz = 200;
	struct plumb_session *s = start(&o);
	wait_samples(s, 40);
	assert_code(plumb_session_set_rate(s, -1), PLUMB_ERR_INVALID);
	assert_code(plumb_session_set_rate(s, 1e7), PLUMB_ERR_INVALID);
	plumb_session_pause(s);
	assert_ok(plumb_session_set_rate(s, 1000));
	struct plumb_profile *p = snapshot(s);
	plumb_profile_info(p, &info);
	plumb_profile_destroy(p);
	assert_true(info.weight_ns == info.samples * 5000000);
	plumb_session_resume(s);
	wait_samples(s, ENOUGH);
	struct plumb_status st = status(s);
	assert_true(st.rate_hz > 999 && st.rate_hz < 1001);
	p = snapshot(s);
	plumb_profile_info(p, &later);
	assert_true(later.weight_ns == info.weight_ns + (later.samples - info.samples) * 1000000);
	assert_true(later.period_ns == 1000000);
	plumb_profile_destroy(p);
	finish(s);
}

static void counting_begins_anew(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = start(&o);
	struct plumb_profile_info info;

	wait_samples(s, 2 * ENOUGH);
	plumb_session_pause(s);
	plumb_session_reset(s);
	struct plumb_status st = status(s);
	assert_true(st.samples == 0 && st.ticks == 0 && st.elapsed_ns == 0 && st.exact + st.doubtful + st.partial == 0);
	plumb_session_resume(s);
	wait_samples(s, ENOUGH / 3);
	plumb_session_pause(s); /* counts and figures of the same moment */
	struct plumb_profile *p = snapshot(s);
	plumb_profile_info(p, &info);
	assert_true(info.samples >= ENOUGH / 3 && info.samples <= 2 * info.ticks);
	assert_true(info.ticks + info.missed <= info.duration_ns / 1000000 + 3);
	assert_true(info.weight_ns == info.samples * 1000000);
	assert_true(find(p, "spin").samples > 0);
	plumb_profile_destroy(p);
	finish(s);
}

static void threads_are_chosen(void **state)
{
	struct plumb_session_options o = options();
	int spinner = (int)own_python_int("spinner");

	o.hidden = &spinner;
	o.hidden_count = 1;
	struct plumb_session *s = start(&o);
	wait_samples(s, ENOUGH / 3);
	struct plumb_profile *p = snapshot(s);
	assert_true(find(p, "spin").samples == 0 && find(p, "spin").all >= ENOUGH / 3);
	plumb_profile_destroy(p);
	finish(s);

	o = options();
	o.tids = &spinner;
	o.tid_count = 1;
	s = start(&o);
	wait_samples(s, ENOUGH / 3);
	p = snapshot(s);
	struct sought spin = find(p, "spin");
	assert_share("spin", spin.samples, spin.all, 0.7); /* the rest is doubted by the proof at its worst */
	assert_int_equal(status(s).threads, 1);
	plumb_profile_destroy(p);
	finish(s);
}

static void cycles_hold_all_samples(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_profile *p;
	struct plumb_profile_info info;
	uint64_t samples = 0, cycles = 0, end_ns = 0, last_ns = 0;

	o.cycle_ns = 50000000;
	o.max_cycles = 1000;
	struct plumb_session *s = start(&o);
	while (cycles < 4) {
		struct plumb_status st;
		plumb_session_wait(s, 5, &st);
		assert_false(st.ended);
		assert_ok(plumb_session_cycle(s, &end_ns, &p));
		if (!p)
			continue;
		plumb_profile_info(p, &info);
		assert_true(info.duration_ns == o.cycle_ns && (!last_ns || end_ns > last_ns));
		assert_true(find(p, "spin").all == info.samples);
		samples += info.samples;
		cycles++;
		last_ns = end_ns;
		plumb_profile_destroy(p);
	}
	assert_ok(plumb_session_recent(s, &p));
	plumb_profile_info(p, &info);
	assert_true(info.duration_ns < o.cycle_ns);
	plumb_profile_destroy(p);
	struct plumb_result r;
	assert_ok(plumb_session_finish(s, &r));
	for (;;) {
		assert_ok(plumb_session_cycle(s, &end_ns, &p));
		if (!p)
			break;
		plumb_profile_info(p, &info);
		samples += info.samples;
		plumb_profile_destroy(p);
	}
	plumb_profile_info(plumb_session_profile(s), &info);
	assert_true(info.samples == samples);
	plumb_session_destroy(s);
}

/* Of many stacks so many are told apart; what is beyond is counted. */
static void room_is_bounded(void **state)
{
	struct plumb_session_options o = options();
	int spinner = (int)own_python_int("spinner");

	o.max_nodes = 3;
	o.tids = &spinner;
	o.tid_count = 1;
	struct plumb_session *s = start(&o);
	wait_samples(s, ENOUGH);
	struct plumb_status st = status(s);
	struct plumb_profile *p = snapshot(s);
	struct sought folded = find(p, "<folded>");
	assert_true(st.folded > 0 && folded.samples > 0);
	assert_true(folded.nodes <= 1 + 3 + 2 * (3 + 1)); /* markers are beside them */
	plumb_profile_destroy(p);
	finish(s);
}

static void many_threads_share_a_row(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_profile_info info;

	own_python_run("stop = threading.Event()\n"
		       "waiting = [threading.Thread(target=stop.wait) for i in range(6)]\n"
		       "for t in waiting: t.start()\n");
	o.max_nodes = 3;
	struct plumb_session *s = start(&o);
	wait_samples(s, ENOUGH);
	struct plumb_profile *p = snapshot(s);
	plumb_profile_info(p, &info);
	assert_int_equal(info.threads, 3 + 1);
	assert_true(info.samples >= ENOUGH && find(p, "wait").all == info.samples);
	plumb_profile_destroy(p);
	finish(s);
	own_python_run("stop.set()\nfor t in waiting: t.join()\n");
}

static uint64_t resident_pages(void)
{
	unsigned long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_true(f && fscanf(f, "%lu %lu", &size, &resident) == 2);
	fclose(f);
	return resident;
}

static void many_rounds_leave_nothing(void **state)
{
	struct plumb_session_options o = options();
	int threads = count_in("/proc/self/task"), files = count_in("/proc/self/fd");
	uint64_t pages = 0;

	for (int i = 0; i < 100; i++) {
		struct plumb_session *s = start(&o);

		wait_samples(s, 1);
		finish(s);
		pages = i == 20 ? resident_pages() : pages;
	}
	assert_true(pages > 0);
	assert_no_more("/proc/self/task", threads);
	assert_no_more("/proc/self/fd", files);
#ifndef __SANITIZE_ADDRESS__			      /* it keeps what was freed; leaks it finds itself */
	assert_true(resident_pages() < pages + 1000); /* a session has 128 of them in its queue alone */
#endif
}

static void sessions_do_not_disturb_each_other(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *all = start(&o);
	int spinner = (int)own_python_int("spinner");

	o.tids = &spinner;
	o.tid_count = 1;
	struct plumb_session *one = start(&o);
	wait_samples(one, ENOUGH / 3);
	plumb_session_pause(one);
	wait_samples(all, ENOUGH / 3);
	assert_true(status(one).paused && !status(all).paused);
	finish(one);
	wait_samples(all, ENOUGH / 3);
	finish(all);
}

/* The program may need what is left. */
static void our_own_process_takes_a_part_of_the_descriptors(void **state)
{
	struct plumb_session_options o = options();
	struct rlimit before, little, after;
	int files = count_in("/proc/self/fd");

	own_python_run("stop = threading.Event()\n"
		       "waiting = [threading.Thread(target=stop.wait) for i in range(40)]\n"
		       "for t in waiting: t.start()\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	little = before;
	little.rlim_cur = (rlim_t)files + 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &little), 0);
	struct plumb_session *s = start(&o);
	wait_samples(s, ENOUGH);
	assert_true(count_in("/proc/self/fd") < files + 32);
	assert_true(status(s).threads >= 2 && status(s).threads < 10);
	finish(s);
	assert_true(getrlimit(RLIMIT_NOFILE, &after) == 0 && after.rlim_cur == little.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	own_python_run("stop.set()\nfor t in waiting: t.join()\n");
}

/* Threads come and go while the process forks: a child closes what is its own of it, and nothing else. */
static void children_of_a_restless_process_end(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = start(&o);
	int mine = open("/proc/self/stat", O_RDONLY | O_CLOEXEC), child_status = -1;

	own_python_run("import os\n"
		       "def come_and_go():\n"
		       "    while go:\n"
		       "        ts = [threading.Thread(target=leaf, args=(1,)) for i in range(4)]\n"
		       "        for t in ts: t.start()\n"
		       "        for t in ts: t.join()\n"
		       "restless = threading.Thread(target=come_and_go)\n"
		       "restless.start()\n");
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();
		if (child == 0) {
			alarm(PATIENCE_S);
			plumb_session_destroy(s);
			_exit(fcntl(mine, F_GETFD) >= 0 ? 0 : 1);
		}
		assert_true(child > 0 && waitpid(child, &child_status, 0) == child);
		assert_int_equal(child_status, 0);
	}
	close(mine);
	finish(s);
	own_python_run("go = False\nrestless.join()\nthread.join()\ngo = True\n"
		       "thread = threading.Thread(target=spin, name='spinner')\nthread.start()\n"
		       "spinner = thread.native_id\n");
}

static void a_child_has_no_session(void **state)
{
	struct plumb_session_options o = options();
	int child_status = -1, files = count_in("/proc/self/fd");
	struct plumb_session *s = start(&o);
	struct plumb_profile *p;
	struct plumb_result r;
	uint64_t end_ns;

	wait_samples(s, ENOUGH / 3);
	pid_t child = fork();
	if (child == 0) {
		alarm(PATIENCE_S);
		bool ok = status(s).forked && status(s).ended && count_in("/proc/self/fd") <= files;
		plumb_session_stop(s);
		plumb_session_pause(s);
		plumb_session_resume(s);
		plumb_session_reset(s);
		struct plumb_error *errors[] = {plumb_session_set_rate(s, 10), plumb_session_snapshot(s, &p),
						plumb_session_recent(s, &p), plumb_session_cycle(s, &end_ns, &p),
						plumb_session_finish(s, &r)};
		for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
			ok = ok && plumb_error_code(errors[i]) == PLUMB_ERR_FORKED;
			plumb_error_destroy(errors[i]);
		}
		plumb_session_destroy(s);
		_exit(ok && count_in("/proc/self/fd") <= files ? 0 : 1);
	}
	assert_true(child > 0 && waitpid(child, &child_status, 0) == child);
	assert_int_equal(child_status, 0);
	wait_samples(s, ENOUGH / 3); /* the parent's goes on */
	finish(s);
}

#define OTHERS 30
#define LETTER "what is the program's"

struct others {
	int files[OTHERS], lines[OTHERS][2];
};

/* All descriptors there are become the program's own, without a fork. */
static struct others take_all_descriptors(void)
{
	struct others o;

	assert_int_equal(close_range(3, ~0u, 0), 0);
	for (int i = 0; i < OTHERS; i++) {
		o.files[i] = memfd_create("other", MFD_CLOEXEC);
		assert_true(o.files[i] >= 0);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, o.lines[i]), 0);
		for (int end = 0; end < 2; end++)
			assert_int_equal(write(o.lines[i][end], LETTER, sizeof LETTER), sizeof LETTER);
	}
	return o;
}

static void assert_nobody_was_there(const struct others *o)
{
	for (int i = 0; i < OTHERS; i++) {
		char got[2 * sizeof LETTER];

		assert_int_equal(lseek(o->files[i], 0, SEEK_END), 0);
		assert_true(flistxattr(o->files[i], got, sizeof got) <= 0);
		for (int end = 0; end < 2; end++) {
			assert_int_equal(recv(o->lines[i][end], got, sizeof got, MSG_DONTWAIT), sizeof LETTER);
			assert_string_equal(got, LETTER);
		}
	}
	for (int i = 0; i < OTHERS; i++)
		assert_int_equal(close(o->files[i]) | close(o->lines[i][0]) | close(o->lines[i][1]), 0);
}

static void a_program_that_closes_all_descriptors_goes_on(void **state)
{
	struct plumb_session_options o = options();
	struct plumb_session *s = start(&o);
	struct plumb_profile_info info;

	wait_samples(s, ENOUGH);
	struct others others = take_all_descriptors();
	plumb_session_pause(s);
	plumb_session_reset(s);
	assert_ok(plumb_session_set_rate(s, 500));
	plumb_session_resume(s);
	wait_samples(s, ENOUGH);
	struct plumb_profile *p = snapshot(s);
	plumb_profile_info(p, &info);
	assert_true(find(p, "spin").samples > 0 && info.exact > 0);
	plumb_profile_destroy(p);
	finish(s);
	assert_nobody_was_there(&others);
}

static uint64_t samples_in(const char *path)
{
	struct plumb_profile *p = NULL;
	struct plumb_profile_info info = {0};
	struct plumb_error *err = plumb_profile_open(path, NULL, &p);

	plumb_error_destroy(err);
	if (p)
		plumb_profile_info(p, &info);
	plumb_profile_destroy(p);
	return info.samples;
}

static void a_recording_whose_descriptors_are_closed_ends(void **state)
{
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;
	char dir[] = "/tmp/plumb-own-XXXXXX", path[64];
	struct plumb_result r;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/own.plumb", dir);
	o.output = path;
	struct plumb_session *s = start(&o);
	await (samples_in(path) > 0)
		continue;
	struct others others = take_all_descriptors();
	uint64_t written = samples_in(path);
	wait_samples(s, 10 * ENOUGH); /* more than a chunk */
	struct plumb_error *err = plumb_session_finish(s, &r);
	assert_non_null(strstr(plumb_error_message(err), "the program has closed"));
	assert_code(err, PLUMB_ERR_WRITE_FAILED);
	assert_string_equal(r.recording, path);
	plumb_session_destroy(s);
	assert_nobody_was_there(&others);
	assert_int_equal(samples_in(path), written);
	assert_int_equal(unlink(path) | rmdir(dir), 0);
}

static int begin(void **state)
{
	own_python_run("import threading\n"
		       "go = True\n"
		       "def leaf(n):\n"
		       "    return n\n"
		       "def spin():\n"
		       "    while go:\n"
		       "        n = 0\n"
		       "        while n < 1000:\n"
		       "            n += 1\n"
		       "        leaf(n)\n"
		       "thread = threading.Thread(target=spin, name='spinner')\n"
		       "thread.start()\n"
		       "spinner = thread.native_id\n");
	return 0;
}

static int end(void **state)
{
	own_python_run("go = False\nthread.join()\n");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_runs_is_counted),
		cmocka_unit_test(what_has_ended_holds_no_descriptors),
		cmocka_unit_test(a_recording_can_be_read_from_its_beginning),
		cmocka_unit_test(a_recording_is_read_whatever_has_its_name),
		cmocka_unit_test(what_is_not_recorded_cannot_be_read),
		cmocka_unit_test(in_a_pause_nothing_happens),
		cmocka_unit_test(weights_follow_the_rate),
		cmocka_unit_test(counting_begins_anew),
		cmocka_unit_test(threads_are_chosen),
		cmocka_unit_test(cycles_hold_all_samples),
		cmocka_unit_test(room_is_bounded),
		cmocka_unit_test(many_threads_share_a_row),
		cmocka_unit_test(many_rounds_leave_nothing),
		cmocka_unit_test(sessions_do_not_disturb_each_other),
		cmocka_unit_test(our_own_process_takes_a_part_of_the_descriptors),
		cmocka_unit_test(a_child_has_no_session),
		cmocka_unit_test(children_of_a_restless_process_end),
		cmocka_unit_test(a_program_that_closes_all_descriptors_goes_on),
		cmocka_unit_test(a_recording_whose_descriptors_are_closed_ends),
	};

	if (!own_python_begin())
		return 77;
	return cmocka_run_group_tests(tests, begin, end);
}
