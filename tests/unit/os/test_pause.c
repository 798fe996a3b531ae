/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pause.h"
#include "stage.h"
#include "stop_news.h"
#include "thread_state.h"

/* A process whose second thread counts. */
struct scene {
	stage_word ready, go, signals, value, worker_gone, vforked;
	_Atomic uint64_t count;
	pid_t tid;
};

static struct scene *sc;
static pid_t pid;
static int pipe_fds[2];

static void on_signal(int signo, siginfo_t *info, void *ctx)
{
	atomic_store(&sc->value, (uint32_t)info->si_value.sival_int);
	stage_set(&sc->signals, atomic_load(&sc->signals) + 1);
}

static void *count_on(void *arg)
{
	sc->tid = gettid();
	stage_set(&sc->ready, 1);
	for (;;)
		atomic_fetch_add(&sc->count, 1);
	return NULL;
}

static void start_worker(void *(*work)(void *))
{
	pthread_t t;
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGRTMIN, &sa, NULL);
	pthread_create(&t, NULL, work, NULL);
}

static int set_up(void **state)
{
	sc = stage_share(sizeof *sc);
	return sc && pipe2(pipe_fds, O_CLOEXEC) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	if (pid > 0) {
		kill(pid, SIGKILL);
		/* A thread that was not let go would keep its process from being reaped. By an exec it may have become
		 * the process itself, which is reaped by its name then. */
		await (waitpid(pid, NULL, WNOHANG) != 0) {
			if (sc->tid > 0)
				(void)waitpid(sc->tid, NULL, __WALL | WNOHANG);
		}
	}
	pid = 0;
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return munmap(sc, sizeof *sc);
}

/* The main thread of the child waits for `go`, then does @p then. */
static void start_target(void *(*work)(void *), void (*then)(void))
{
	pid = stage_fork();
	if (pid == 0) {
		start_worker(work);
		stage_await(&sc->go, 1);
		if (then)
			then();
		stage_block();
	}
	stage_await(&sc->ready, 1);
}

static void let_go(struct pl_pause *p)
{
	await (pl_pause_release(p))
		continue;
}

/* On a busy machine a thread may be held without having stopped; then once more. */
static void hold(struct pl_pause *p, pid_t tid)
{
	enum pl_pause_result r;

	await ((r = pl_pause_stop(p, pid, tid)) == PL_PAUSE_STOPPED) {
		assert_int_equal(r, PL_PAUSE_HELD);
		let_go(p);
	}
}

static void assert_stands_still(void)
{
	uint64_t count = atomic_load(&sc->count);

	for (int i = 0; i < 200; i++)
		sched_yield();
	assert_int_equal(atomic_load(&sc->count), count);
}

static void assert_runs_on(void)
{
	stage_await_count(&sc->count, atomic_load(&sc->count) + 1000);
}

static void assert_free(void)
{
	assert_int_equal(stage_tracer(pid, sc->tid), 0);
}

static void a_stopped_thread_stands_still_and_then_runs_on(void **state)
{
	struct pl_pause p;
	start_target(count_on, NULL);
	for (int i = 0; i < 50; i++) {
		hold(&p, sc->tid);
		assert_int_equal(stage_tracer(pid, sc->tid), getpid());
		assert_true(p.since_ns > 0);
		assert_stands_still();
		let_go(&p);
		assert_free();
		assert_runs_on();
	}
}

static void who_is_held_by_us_runs_for_all_others(void **state)
{
	struct pl_pause p;
	struct pl_thread_state st;
	start_target(count_on, NULL);
	hold(&p, sc->tid);
	pl_thread_state_read(pid, sc->tid, &st);
	assert_int_equal(st.letter, 'R');
	assert_int_equal(st.tracer, 0);
	let_go(&p);
}

static void a_signal_that_comes_during_the_stop_is_delivered(void **state)
{
	struct pl_pause p;
	start_target(count_on, NULL);
	for (uint32_t i = 1; i <= 50; i++) {
		hold(&p, sc->tid);
		assert_int_equal(syscall(SYS_tgkill, pid, sc->tid, SIGUSR1), 0);
		assert_int_equal(atomic_load(&sc->signals), i - 1);
		let_go(&p);
		stage_await(&sc->signals, i);
		assert_int_equal(atomic_load(&sc->signals), i);
	}
	assert_runs_on();
}

static void a_signal_that_comes_with_the_stop_is_delivered_with_its_value(void **state)
{
	struct pl_pause p;
	start_target(count_on, NULL);
	for (uint32_t i = 1; i <= 500; i++) {
		siginfo_t info = {.si_signo = SIGRTMIN, .si_code = SI_QUEUE, .si_pid = getpid()};
		info.si_value.sival_int = (int)(i * 3);
		assert_int_equal(syscall(SYS_rt_tgsigqueueinfo, pid, sc->tid, SIGRTMIN, &info), 0);
		hold(&p, sc->tid);
		let_go(&p);
		stage_await(&sc->signals, i);
		assert_int_equal(atomic_load(&sc->value), i * 3);
	}
	assert_int_equal(atomic_load(&sc->signals), 500);
}

static void a_fatal_signal_that_comes_with_the_stop_kills(void **state)
{
	for (int i = 0; i < 50; i++) {
		struct pl_pause p;
		int status;
		atomic_store(&sc->ready, 0);
		start_target(count_on, NULL);
		syscall(SYS_tgkill, pid, sc->tid, SIGTERM);
		enum pl_pause_result r = pl_pause_stop(&p, pid, sc->tid);
		if (r == PL_PAUSE_STOPPED || r == PL_PAUSE_HELD)
			let_go(&p);
		assert_true(stage_ended(pid));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
		pid = 0;
	}
}

static void *end_at_once(void *arg)
{
	sc->tid = gettid();
	return NULL;
}

static void a_thread_that_has_ended_is_gone(void **state)
{
	struct pl_pause p;
	pid = stage_fork();
	if (pid == 0) {
		pthread_t t;
		pthread_create(&t, NULL, end_at_once, NULL);
		pthread_join(t, NULL);
		stage_set(&sc->ready, 1);
		stage_block();
	}
	stage_await(&sc->ready, 1);
	stage_await_state(pid, sc->tid, "");
	assert_int_equal(pl_pause_stop(&p, pid, sc->tid), PL_PAUSE_GONE);
	assert_false(p.exited);
}

static void exit_all(void)
{
	_exit(7);
}

static void a_process_that_exits_while_a_thread_is_held_can_be_reaped(void **state)
{
	struct pl_pause p;
	int status;
	start_target(count_on, exit_all);
	hold(&p, sc->tid);
	stage_set(&sc->go, 1);
	stage_await_state(pid, pid, "Z");
	let_go(&p);
	assert_true(stage_ended(pid));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
	pid = 0;
}

static void run_cat(void)
{
	dup2(pipe_fds[0], 0);
	execlp("cat", "cat", (char *)NULL);
}

static bool runs_cat(void)
{
	char path[64], comm[32] = "";
	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(comm, sizeof comm, f) && strcmp(comm, "cat\n") == 0;
	if (f)
		fclose(f);
	return ok;
}

static void an_exec_while_another_thread_is_held_goes_through(void **state)
{
	struct pl_pause p;
	start_target(count_on, run_cat);
	hold(&p, sc->tid);
	stage_set(&sc->go, 1);
	stage_await_state(pid, sc->tid, "Z"); /* killed by the exec */
	let_go(&p);
	await (runs_cat())
		continue;
}

/* The kernel copies the environment before anything of the process changes: with a large one there is time to stop the
 * thread right then. */
static void *exec_cat(void *arg)
{
	static char text[100000];
	char *env[16];

	memset(text, 'x', sizeof text - 1);
	for (size_t i = 0; i < 15; i++)
		env[i] = text;
	env[15] = NULL;
	dup2(pipe_fds[0], 0);
	sc->tid = gettid();
	atomic_store(&sc->ready, 1);
	execve("/bin/cat", (char *[]){"cat", NULL}, env);
	_exit(1);
}

/* The thread that executes a program gets the number of the process. True if the stop met it in the middle. */
static bool held_through_exec(void)
{
	struct pl_pause p;

	atomic_store(&sc->ready, 0);
	pid = stage_fork();
	if (pid == 0) {
		start_worker(exec_cat);
		stage_block();
	}
	await (atomic_load(&sc->ready))
		continue;
	pid_t tid = sc->tid;
	enum pl_pause_result r = pl_pause_stop(&p, pid, tid);
	if (r == PL_PAUSE_STOPPED || r == PL_PAUSE_HELD)
		let_go(&p);
	await (runs_cat())
		continue;
	stage_await_state(pid, pid, "S"); /* it reads, and is not left stopped */
	assert_int_equal(stage_tracer(pid, pid), 0);
	stage_kill(pid);
	pid = 0;
	return p.tid != tid;
}

static void an_exec_of_the_held_thread_goes_through(void **state)
{
	int met = 0;

	await (met >= 5)
		met += held_through_exec();
}

static void *exec_cat_later(void *arg)
{
	stage_set(&sc->ready, 1);
	stage_await(&sc->go, 1);
	run_cat();
	_exit(1);
}

/* The held thread is gone then, and another one bears its number. */
static void an_exec_while_the_main_thread_is_held_goes_through(void **state)
{
	struct pl_pause p;

	pid = stage_fork();
	if (pid == 0) {
		start_worker(exec_cat_later);
		sc->tid = gettid();
		for (;;)
			atomic_fetch_add(&sc->count, 1);
	}
	stage_await(&sc->ready, 1);
	stage_await_count(&sc->count, 1000);
	hold(&p, pid);
	stage_set(&sc->go, 1);
	await (runs_cat())
		continue;
	let_go(&p);
	assert_false(p.exited);
	stage_await_state(pid, pid, "S");
	assert_int_equal(stage_tracer(pid, pid), 0);
}

static void a_process_that_is_killed_while_it_is_held_can_be_reaped(void **state)
{
	struct pl_pause p;
	int status;
	start_target(count_on, NULL);
	hold(&p, sc->tid);
	kill(pid, SIGKILL);
	stage_await_state(pid, pid, "Z");
	let_go(&p);
	assert_true(stage_ended(pid));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	pid = 0;
}

/* Its own parent asks how it ended, and a wait status is told once. */
static void the_end_of_a_child_of_ours_is_left_for_its_parent_to_hear(void **state)
{
	struct pl_pause p;
	int status;
	start_target(count_on, NULL);
	hold(&p, pid);
	kill(pid, SIGKILL);
	stage_await_state(pid, pid, "Z");
	let_go(&p);
	assert_true(p.exited);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	pid = 0;
}

/* A process that traces the worker and does nothing; with @p held through pl_pause. */
static pid_t start_tracer(bool held)
{
	stage_word *traced = stage_share(4096);
	pid_t tracer = stage_fork();
	if (tracer == 0) {
		struct pl_pause p;
		if (held)
			while (pl_pause_stop(&p, pid, sc->tid) != PL_PAUSE_STOPPED)
				while (!pl_pause_release(&p))
					sched_yield();
		else if (ptrace(PTRACE_SEIZE, sc->tid, 0, 0) != 0)
			_exit(1);
		stage_set(traced, 1);
		stage_block();
	}
	stage_await(traced, 1);
	munmap(traced, 4096);
	return tracer;
}

static void a_thread_that_another_tracer_has_is_refused_and_let_alone(void **state)
{
	struct pl_pause p;
	start_target(count_on, NULL);
	pid_t tracer = start_tracer(false);
	assert_int_equal(pl_pause_stop(&p, pid, sc->tid), PL_PAUSE_REFUSED);
	assert_int_equal(stage_tracer(pid, sc->tid), tracer);
	assert_runs_on();
	stage_kill(tracer);
	hold(&p, sc->tid); /* it is free again */
	let_go(&p);
	assert_runs_on();
}

static void a_target_outlives_a_tracer_that_is_killed_while_it_holds_it(void **state)
{
	start_target(count_on, NULL);
	for (int i = 0; i < 20; i++) {
		pid_t tracer = start_tracer(true);
		assert_stands_still();
		stage_kill(tracer);
		assert_runs_on();
		assert_free();
	}
}

static void a_stopped_job_stays_stopped_until_it_is_continued(void **state)
{
	struct pl_pause p;
	start_target(count_on, NULL);
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	for (int i = 0; i < 20; i++) {
		hold(&p, sc->tid);
		let_go(&p);
		stage_await_state(pid, sc->tid, "T");
		assert_stands_still();
	}
	assert_free();
	kill(pid, SIGCONT);
	assert_runs_on();
}

static void a_job_that_is_stopped_while_it_is_held_stays_stopped(void **state)
{
	struct pl_pause p;
	start_target(count_on, NULL);
	for (int i = 0; i < 20; i++) {
		hold(&p, sc->tid);
		kill(pid, SIGSTOP);
		let_go(&p);
		stage_await_state(pid, sc->tid, "T");
		assert_stands_still();
		assert_free();
		kill(pid, SIGCONT);
		assert_runs_on();
	}
}

/* Until the child of vfork is done, the thread sleeps and no signal wakes it. */
static void *vfork_and_count(void *arg)
{
	char byte;

	sc->tid = gettid();
	stage_set(&sc->ready, 1);
	pid_t child = vfork();
	if (child == 0) {
		stage_set(&sc->vforked, 1);
		(void)!read(pipe_fds[0], &byte, 1);
		_exit(0);
	}
	return count_on(arg);
}

static void a_thread_inside_the_kernel_is_held_and_stops_on_its_way_back(void **state)
{
	struct pl_pause p;
	start_target(vfork_and_count, NULL);
	stage_await(&sc->vforked, 1);
	stage_await_state(pid, sc->tid, "D");
	assert_int_equal(pl_pause_stop(&p, pid, sc->tid), PL_PAUSE_HELD);
	assert_false(pl_pause_release(&p));
	assert_false(pl_pause_try_release(&p));
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	stage_await_state(pid, sc->tid, "t");
	assert_int_equal(atomic_load(&sc->count), 0); /* it did not get back to its own code */
	assert_true(pl_pause_try_release(&p));
	assert_runs_on();
	assert_free();
}

static void a_thread_that_is_held_inside_the_kernel_can_be_killed(void **state)
{
	struct pl_pause p;
	int status;
	start_target(vfork_and_count, NULL);
	stage_await(&sc->vforked, 1);
	stage_await_state(pid, sc->tid, "D");
	assert_int_equal(pl_pause_stop(&p, pid, sc->tid), PL_PAUSE_HELD);
	kill(pid, SIGKILL);
	let_go(&p);
	assert_true(p.exited);
	assert_true(p.exited);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1); /* the child of vfork */
	assert_true(stage_ended(pid));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	pid = 0;
}

static const struct sigaction refused = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};

static void who_listens_is_woken_up_by_a_stop_that_he_has_asked_for(void **state)
{
	struct sigaction before, now;
	sigset_t child, mask, let_in;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	assert_int_equal(sigprocmask(SIG_BLOCK, &child, &mask), 0);
	assert_int_equal(sigaction(SIGCHLD, &refused, &before), 0);
	start_target(count_on, NULL);
	struct pl_pause p = {.pid = pid, .tid = sc->tid};
	assert_true(pl_stop_news_begin());
	assert_int_equal(ptrace(PTRACE_SEIZE, p.tid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, p.tid, 0, 0), 0);
	let_in = mask;
	sigdelset(&let_in, SIGCHLD);
	assert_int_equal(sigsuspend(&let_in), -1);
	assert_true(pl_pause_await(&p, 0));
	let_go(&p);
	pl_stop_news_end();
	assert_int_equal(sigaction(SIGCHLD, &before, &now), 0);
	assert_true(now.sa_handler == SIG_DFL && (now.sa_flags & SA_NOCLDSTOP));
	assert_int_equal(sigprocmask(SIG_SETMASK, &mask, NULL), 0);
}

static void a_program_that_has_use_for_that_signal_keeps_it(void **state)
{
	const struct sigaction own = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO},
			       usual = {.sa_handler = SIG_DFL};
	struct sigaction before, now;

	assert_int_equal(sigaction(SIGCHLD, &own, &before), 0);
	assert_false(pl_stop_news_begin());
	pl_stop_news_end();
	assert_int_equal(sigaction(SIGCHLD, &usual, &now), 0);
	assert_true(now.sa_sigaction == on_signal);
	assert_false(pl_stop_news_begin()); /* it may wait to be told of stops of its children */
	assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_stopped_thread_stands_still_and_then_runs_on),
		T(who_listens_is_woken_up_by_a_stop_that_he_has_asked_for),
		T(a_program_that_has_use_for_that_signal_keeps_it),
		T(who_is_held_by_us_runs_for_all_others),
		T(a_signal_that_comes_during_the_stop_is_delivered),
		T(a_signal_that_comes_with_the_stop_is_delivered_with_its_value),
		T(a_fatal_signal_that_comes_with_the_stop_kills),
		T(a_thread_that_has_ended_is_gone),
		T(a_process_that_exits_while_a_thread_is_held_can_be_reaped),
		T(an_exec_while_another_thread_is_held_goes_through),
		T(an_exec_of_the_held_thread_goes_through),
		T(an_exec_while_the_main_thread_is_held_goes_through),
		T(a_process_that_is_killed_while_it_is_held_can_be_reaped),
		T(the_end_of_a_child_of_ours_is_left_for_its_parent_to_hear),
		T(a_thread_that_another_tracer_has_is_refused_and_let_alone),
		T(a_target_outlives_a_tracer_that_is_killed_while_it_holds_it),
		T(a_stopped_job_stays_stopped_until_it_is_continued),
		T(a_job_that_is_stopped_while_it_is_held_stays_stopped),
		T(a_thread_inside_the_kernel_is_held_and_stops_on_its_way_back),
		T(a_thread_that_is_held_inside_the_kernel_can_be_killed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
