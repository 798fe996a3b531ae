/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine. See source_reader.h. Question and answer go over a socket, whose other end notices when ours is closed.
 *
 * The process has our rights, none of our files, and no signal of the terminal ends it before we do. */
#include "source_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

#define NAME		 "plumb-sources"
#define MOST_LEFT_BEHIND 3
#define WORDS_MAX	 65536 /* of paths */

struct head {
	pid_t pid;
	struct pl_file_view view;
	struct pl_file_state known;
	uint64_t max_len;
	uint32_t root_len, path_len; /* with their ends; root_len 0: none */
};

struct reply {
	enum pl_source_outcome outcome;
	bool moving;
	struct pl_file_state state;
};

/* ---- whoever reads ----------------------------------------------------------------------------------------------- */

static bool receive(int fd, void *to, size_t len)
{
	for (size_t got = 0; got < len;) {
		ssize_t n = recv(fd, (char *)to + got, len - got, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

static bool send_all(int fd, const void *from, size_t len)
{
	for (size_t sent = 0; sent < len;) {
		ssize_t n = send(fd, (const char *)from + sent, len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		sent += (size_t)n;
	}
	return true;
}

/* Never with more rights than were seen: of a process that has other ones by now nothing is read. */
static int open_file(const struct head *h, const char *root, const char *path)
{
	if (!h->pid)
		return pl_file_open_below(root, &h->view.rights, path);
	int fd = pl_target_file_open(h->pid, &h->view, path);
	if (fd >= 0 || errno != ESRCH || !pl_file_view_is_ours(&h->view))
		return fd;
	return pl_file_open_below("/", &h->view.rights, path);
}

static void read_open(const struct head *h, int fd, struct reply *ret, char **text)
{
	static const enum pl_source_outcome outcomes[] = {[PL_FILE_TEXT_NONE] = PL_SOURCE_NONE,
							  [PL_FILE_TEXT_READ] = PL_SOURCE_READ,
							  [PL_FILE_TEXT_NO_MEMORY] = PL_SOURCE_NO_MEMORY};
	struct pl_file_state after;

	if (!pl_file_state_read(fd, &ret->state))
		return;
	if (pl_file_state_equal(&ret->state, &h->known)) {
		ret->outcome = PL_SOURCE_KNOWN;
		return;
	}
	if (ret->state.len > h->max_len) {
		ret->outcome = PL_SOURCE_TOO_LONG;
		return;
	}
	ret->outcome = outcomes[pl_file_text_read(fd, &ret->state, text)];
	ret->moving = !pl_file_state_read(fd, &after) || !pl_file_state_equal(&ret->state, &after);
}

static bool reply(int fd, const struct head *h, const char *words)
{
	struct reply answer = {.outcome = PL_SOURCE_NONE};
	char *text = NULL;
	int file = open_file(h, words, words + h->root_len);

	if (file >= 0) {
		read_open(h, file, &answer, &text);
		close(file);
	} else if (errno == EACCES) {
		answer.outcome = PL_SOURCE_BARRED;
	}
	bool sent = send_all(fd, &answer, sizeof answer) && (!text || send_all(fd, text, answer.state.len));
	pl_file_text_free(text, &answer.state);
	return sent;
}

static void serve(int fd)
{
	char words[WORDS_MAX];
	struct head h;

	while (receive(fd, &h, sizeof h) && receive(fd, words, h.root_len + h.path_len) && reply(fd, &h, words))
		;
	close(fd);
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

static void *thread_main(void *fd)
{
	prctl(PR_SET_NAME, NAME);
	serve((int)(intptr_t)fd);
	return NULL;
}

static bool start_thread(int fd)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int failed = pthread_create(&thread, &attr, thread_main, (void *)(intptr_t)fd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return !failed;
}

/* Whoever waits for the end of our output must not wait for a file system. */
static void let_go_of_files(int fd)
{
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	dup2(fd, 3);
	syscall(SYS_close_range, 4u, ~0u, 0u);
}

static void process_main(int fd)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, NAME);
	let_go_of_files(fd);
	serve(3);
	_exit(0);
}

static bool start_process(struct pl_source_reader *r, int fd)
{
	pid_t child = fork();

	if (child == 0)
		process_main(fd);
	r->pid = child > 0 ? child : 0;
	return child > 0;
}

static bool start(struct pl_source_reader *r)
{
	int ends[2];

	if (r->left_behind >= MOST_LEFT_BEHIND || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	if (!r->in_thread && start_process(r, ends[1])) {
		close(ends[1]);
	} else if (!start_thread(ends[1])) {
		close(ends[0]);
		close(ends[1]);
		return false;
	}
	r->fd = ends[0];
	return true;
}

/* ---- our end ----------------------------------------------------------------------------------------------------- */

static void forget_answer(struct pl_source_reader *r)
{
	free(r->answer.text);
	r->answer = (struct pl_source_answer){0};
	r->got = 0;
	r->headed = r->asked = false;
}

/* One that has answered ends at once. One that has not may never end: then it is init's. */
void pl_source_reader_end(struct pl_source_reader *r)
{
	int status, flags = r->asked ? WNOHANG : 0;

	forget_answer(r);
	if (r->fd) {
		shutdown(r->fd, SHUT_RDWR); /* a child of a fork may have it, too */
		close(r->fd);
	}
	while (r->pid && waitpid(r->pid, &status, flags) < 0 && errno == EINTR)
		;
	r->fd = 0;
	r->pid = 0;
}

bool pl_source_ask(struct pl_source_reader *r, const struct pl_source_question *q)
{
	struct head h = {.pid = q->pid,
			 .view = q->view,
			 .known = q->known,
			 .max_len = q->max_len,
			 .root_len = q->root ? (uint32_t)strlen(q->root) + 1 : 0,
			 .path_len = (uint32_t)strlen(q->path) + 1};

	if (h.root_len + h.path_len > WORDS_MAX || (!r->fd && !start(r)))
		return false;
	forget_answer(r);
	/* It has read all questions before, so there is room for this one. */
	if (!send_all(r->fd, &h, sizeof h) || (q->root && !send_all(r->fd, q->root, h.root_len)) ||
	    !send_all(r->fd, q->path, h.path_len)) {
		r->left_behind++;
		pl_source_reader_end(r);
		return false;
	}
	r->asked = true;
	r->asked_ns = pl_clock_monotonic_ns();
	r->max_len = q->max_len;
	return true;
}

/* Bytes that have come; 0: none yet; -1: it has ended. */
static ssize_t take_some(struct pl_source_reader *r, void *to, size_t len)
{
	ssize_t n = recv(r->fd, to, len, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n > 0 ? n : -1;
}

static bool take_head(struct pl_source_reader *r)
{
	struct reply head;

	/* It is sent in one piece, and small. */
	ssize_t n = take_some(r, &head, sizeof head);
	if (n == 0)
		return true;
	if (n != (ssize_t)sizeof head || (head.outcome == PL_SOURCE_READ && head.state.len > r->max_len))
		return false;
	r->headed = true;
	r->answer = (struct pl_source_answer){.outcome = head.outcome, .state = head.state, .moving = head.moving};
	if (head.outcome != PL_SOURCE_READ)
		return true;
	r->answer.text = malloc(head.state.len);
	if (!r->answer.text)
		r->answer.outcome = PL_SOURCE_NO_MEMORY;
	return true;
}

static bool take_text(struct pl_source_reader *r)
{
	ssize_t n = take_some(r, r->answer.text + r->got, r->answer.state.len - r->got);

	r->got += n > 0 ? (uint64_t)n : 0;
	return n >= 0;
}

static bool is_whole(const struct pl_source_reader *r)
{
	return r->headed && (!r->answer.text || r->got == r->answer.state.len);
}

/* Of an answer that could not be kept, the rest would be taken for the next one. */
static bool give(struct pl_source_reader *r, struct pl_source_answer *ret)
{
	*ret = r->answer;
	r->answer.text = NULL;
	forget_answer(r);
	if (ret->outcome == PL_SOURCE_NO_MEMORY)
		pl_source_reader_end(r);
	return true;
}

static int ms_left(uint64_t until_ns)
{
	uint64_t now = pl_clock_monotonic_ns();

	return until_ns > now ? (int)((until_ns - now + 999999) / 1000000) : 0;
}

static bool give_up(struct pl_source_reader *r, struct pl_source_answer *ret)
{
	r->left_behind++;
	pl_source_reader_end(r);
	*ret = (struct pl_source_answer){.outcome = PL_SOURCE_SILENT};
	return true;
}

bool pl_source_answered(struct pl_source_reader *r, int timeout_ms, int patience_ms, struct pl_source_answer *ret)
{
	uint64_t until = pl_clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000;
	uint64_t silent = r->asked_ns + (uint64_t)patience_ms * 1000000;

	for (;;) {
		if (!(r->headed ? take_text(r) : take_head(r)))
			return give_up(r, ret);
		if (is_whole(r))
			return give(r, ret);
		int left = ms_left(until), patience = ms_left(silent);
		struct pollfd p = {.fd = r->fd, .events = POLLIN};

		if (poll(&p, 1, left < patience ? left : patience) > 0)
			continue;
		if (ms_left(silent) == 0)
			return give_up(r, ret);
		if (ms_left(until) == 0)
			return false;
	}
}
