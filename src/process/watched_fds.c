/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See watched_fds.h; aside.c for who reads, which allocates nothing. */
#include "watched_fds.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "descriptor.h"

#define NS_PER_MS 1000000u

struct pl_watched_job {
	struct pl_aside aside; /* first */
	pid_t pid;
	int epoll;
	bool read;
	int fds[PL_WATCHED_FDS];
	uint32_t total;
};

static void read_watched(struct pl_aside *a)
{
	struct pl_watched_job *j = (struct pl_watched_job *)a;

	j->read = pl_fd_watched(j->pid, j->epoll, j->fds, PL_WATCHED_FDS, &j->total);
}

static void free_job(struct pl_aside *a)
{
	free(a);
}

static const struct pl_aside_ops ops = {.name = "plumb-watched", .process = read_watched, .free = free_job};

static bool ask(struct pl_watched_reader *r, pid_t pid, int epoll)
{
	struct pl_watched_job *j = r->left_ns >= NS_PER_MS && pl_asker_may(&r->asker) ? calloc(1, sizeof *j) : NULL;

	if (!j)
		return false;
	pl_aside_init(&j->aside, &ops);
	j->pid = pid;
	j->epoll = epoll;
	return pl_asker_begin(&r->asker, &j->aside);
}

/* False: it takes too long. */
static bool is_answered(struct pl_watched_reader *r)
{
	const uint64_t start = pl_clock_monotonic_ns();
	const int ms = (int)(r->left_ns / NS_PER_MS);
	enum pl_asked asked;

	while ((asked = pl_asker_wait(&r->asker, ms, ms)) == PL_ASKED_PENDING)
		;
	const uint64_t took = pl_clock_monotonic_ns() - start;
	r->left_ns = asked == PL_ASKED_DONE && took < r->left_ns ? r->left_ns - took : 0;
	return asked == PL_ASKED_DONE;
}

bool pl_watched_read(struct pl_watched_reader *r, pid_t pid, int epoll, int ret[static PL_WATCHED_FDS],
		     uint32_t *total_ret)
{
	if (!ask(r, pid, epoll))
		return false;
	const struct pl_watched_job *j = (struct pl_watched_job *)r->asker.asked;
	const bool known = is_answered(r) && j->read;

	if (known) {
		memcpy(ret, j->fds, sizeof j->fds);
		*total_ret = j->total;
	}
	pl_asker_end(&r->asker);
	return known;
}
