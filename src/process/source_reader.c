/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See source_reader.h. Each question has a thread, and that a process that shares its memory.
 *
 * We may run in the program itself, and it must not feel anything of this:
 *   - Whoever reads takes on rights, and may stand in the kernel for ever. A thread of the program must do neither: the
 *     C library changes the rights of a program in all of its threads, by a signal for which it waits, and aborts where
 *     one thread may not what the others may. So that is a process.
 *   - It tells nobody of its end, and only who asks for it in particular waits for it (__WALL): the program's SIGCHLD
 *     and wait() are for its own children.
 *   - It is made without the C library's fork, whose handlers are the program's, and copies no memory, which takes long
 *     and makes each page of the program fault.
 *   - It has the storage of a thread (errno) in common with its maker, which waits for it meanwhile and for nothing
 * else.
 *   - It allocates nothing: who kills it would leave a lock of the program's behind.
 *   - It has none of our files, so nobody who waits for the end of one waits for a file system; and closes none, which
 *     can mean something to a file system. */
#include "source_reader.h"

#include <errno.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "own_fd.h"

#define NAME		 "plumb-sources"
#define MOST_LEFT_BEHIND 3
#define STACK_BYTES	 (512u << 10) /* of the process; what it calls has large buffers */
#define THREAD_BYTES	 (256u << 10)

struct pl_source_job {
	atomic_int users; /* who asks, and the thread */
	struct pl_source_question question;
	bool own; /* the file is named by the process that we are in */

	struct pl_source_answer answer; /* its text: of pl_file_text_read */
	bool read;			/* the process came to its end */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done; /* the answer is whole, or will never be */
};

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* Never with more rights than were seen: of a process that has other ones by now nothing is read. */
static int open_file(const struct pl_source_job *j)
{
	const struct pl_source_question *q = &j->question;

	if (j->own)
		return pl_own_file_open(&q->view, q->path);
	if (!q->pid)
		return pl_file_open_below(q->root, &q->view.rights, q->path);
	int fd = pl_target_file_open(q->pid, &q->view, q->path);
	if (fd >= 0 || errno != ESRCH || !pl_file_view_is_ours(&q->view))
		return fd;
	return pl_file_open_below("/", &q->view.rights, q->path);
}

static void read_open(const struct pl_source_question *q, int fd, struct pl_source_answer *ret)
{
	static const enum pl_source_outcome outcomes[] = {[PL_FILE_TEXT_NONE] = PL_SOURCE_NONE,
							  [PL_FILE_TEXT_READ] = PL_SOURCE_READ,
							  [PL_FILE_TEXT_NO_MEMORY] = PL_SOURCE_NO_MEMORY};
	struct pl_file_state after;

	if (!pl_file_state_read(fd, &ret->state))
		return;
	if (pl_file_state_equal(&ret->state, &q->known)) {
		ret->outcome = PL_SOURCE_KNOWN;
		return;
	}
	if (ret->state.len > q->max_len) {
		ret->outcome = PL_SOURCE_TOO_LONG;
		return;
	}
	ret->outcome = outcomes[pl_file_text_read(fd, &ret->state, &ret->text)];
	ret->moving = !pl_file_state_read(fd, &after) || !pl_file_state_equal(&ret->state, &after);
}

static int process_main(void *job)
{
	struct pl_source_job *j = job;

	if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) != 0)
		return 1;
	prctl(PR_SET_NAME, NAME);
	int fd = open_file(j);
	if (fd >= 0)
		read_open(&j->question, fd, &j->answer);
	else if (errno == EACCES)
		j->answer.outcome = PL_SOURCE_BARRED;
	j->read = true;
	return 0;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* Who we are is asked here: a process of its own may not look into a program that has changed its user. */
static bool is_who_it_was(const struct pl_source_question *q)
{
	struct pl_file_view now;

	return pl_file_view_of(q->pid, &now) && pl_file_view_equal(&now, &q->view);
}

/* The thread sleeps where each signal reaches it. */
static bool run_process(struct pl_source_job *j)
{
	alignas(16) char stack[STACK_BYTES];

	/* Its descriptors are its own, and who kills it would leave a lock of ours behind, too. */
	pl_own_fd_elsewhere(true);
	pid_t pid = clone(process_main, stack + sizeof stack, CLONE_VM | CLONE_FILES, j);
	while (pid >= 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	pl_own_fd_elsewhere(false);
	return pid >= 0 && j->read;
}

static void leave(struct pl_source_job *j)
{
	if (atomic_fetch_sub(&j->users, 1) > 1)
		return;
	pl_file_text_free(j->answer.text, &j->answer.state);
	free((char *)(uintptr_t)j->question.root);
	free((char *)(uintptr_t)j->question.path);
	pthread_cond_destroy(&j->changed);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

static void *thread_main(void *job)
{
	struct pl_source_job *j = job;

	prctl(PR_SET_NAME, NAME);
	if ((!j->own || is_who_it_was(&j->question)) && !run_process(j))
		j->answer.outcome = PL_SOURCE_SILENT;
	pthread_mutex_lock(&j->lock);
	j->done = true;
	pthread_cond_signal(&j->changed);
	pthread_mutex_unlock(&j->lock);
	leave(j);
	return NULL;
}

static bool start_thread(struct pl_source_job *j)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES + THREAD_BYTES);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int failed = pthread_create(&thread, &attr, thread_main, j);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return !failed;
}

/* ---- who asks ---------------------------------------------------------------------------------------------------- */

static struct pl_source_job *job_create(const struct pl_source_question *q)
{
	struct pl_source_job *j = calloc(1, sizeof *j);
	pthread_condattr_t attr;

	if (!j)
		return NULL;
	pthread_mutex_init(&j->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&j->changed, &attr);
	pthread_condattr_destroy(&attr);
	j->users = 1;
	j->question = *q;
	j->question.path = strdup(q->path);
	j->question.root = q->root ? strdup(q->root) : NULL;
	j->own = q->pid == getpid();
	if (j->question.path && (j->question.root || !q->root))
		return j;
	leave(j);
	return NULL;
}

void pl_source_reader_end(struct pl_source_reader *r)
{
	if (r->asked)
		leave(r->asked);
	r->asked = NULL;
}

bool pl_source_ask(struct pl_source_reader *r, const struct pl_source_question *q)
{
	struct pl_source_job *j = r->left_behind < MOST_LEFT_BEHIND ? job_create(q) : NULL;

	if (!j)
		return false;
	j->users++;
	if (!start_thread(j)) {
		j->users--;
		leave(j);
		return false;
	}
	r->asked = j;
	r->asked_ns = pl_clock_monotonic_ns();
	return true;
}

/* Of the text the caller has a copy that is freed as others are. */
static void give(const struct pl_source_job *j, struct pl_source_answer *ret)
{
	*ret = j->answer;
	if (!ret->text)
		return;
	ret->text = malloc(ret->state.len);
	if (ret->text)
		memcpy(ret->text, j->answer.text, ret->state.len);
	else
		ret->outcome = PL_SOURCE_NO_MEMORY;
}

static bool wait_for(struct pl_source_job *j, uint64_t until_ns)
{
	struct timespec until = {.tv_sec = (time_t)(until_ns / PL_NS_PER_S), .tv_nsec = (long)(until_ns % PL_NS_PER_S)};

	pthread_mutex_lock(&j->lock);
	while (!j->done && pthread_cond_timedwait(&j->changed, &j->lock, &until) == 0)
		;
	bool done = j->done;
	pthread_mutex_unlock(&j->lock);
	return done;
}

bool pl_source_answered(struct pl_source_reader *r, int timeout_ms, int patience_ms, struct pl_source_answer *ret)
{
	uint64_t until = pl_clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000;
	uint64_t silent = r->asked_ns + (uint64_t)patience_ms * 1000000;

	if (wait_for(r->asked, until < silent ? until : silent))
		give(r->asked, ret);
	else if (until < silent)
		return false;
	else
		*ret = (struct pl_source_answer){.outcome = PL_SOURCE_SILENT};
	r->left_behind += ret->outcome == PL_SOURCE_SILENT;
	pl_source_reader_end(r);
	return true;
}
