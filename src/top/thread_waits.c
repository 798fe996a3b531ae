/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see thread_waits.h. A process that does not let itself be read in time leaves a thread of ours behind, so
 * it is not asked again and again. */
#include "thread_waits.h"

#include <string.h>
#include <time.h>

#include "arrivals.h"

#define LIMIT_NS  300000000ull /* keys wait for so long */
#define PERIOD_MS 1000
#define SELDOM	  100 /* a hundredth of a core */
#define MAX_LATE  100 /* threads that are left behind */
#define MAX_TWICE 6
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

bool waits_due(const struct waits *w)
{
	return w->late < MAX_LATE && arrivals_now_ms() >= w->due_ms;
}

/* Of all threads of ours: the library looks in one of its own. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The first of them that is of the process of @p i? */
static bool is_first(const struct waits_thread *threads, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (threads[k].pid == threads[i].pid)
			return false;
	return true;
}

/* One that has ended, or may not be read, says nothing of the others. False: it takes too long. */
static bool add(struct plumb_dump *d, int pid)
{
	struct plumb_error *err = plumb_dump_add(d, pid);
	bool late = err && plumb_error_code(err) == PLUMB_ERR_TIMEOUT;

	plumb_error_destroy(err);
	return !late;
}

static struct plumb_error *look(struct waits *w, const struct waits_thread *threads, size_t count)
{
	struct plumb_dump_options o = PLUMB_DUMP_OPTIONS_INIT;
	uint64_t tids[WAITS_MAX];
	bool timely = true;
	size_t told;

	for (size_t i = 0; i < count; i++)
		tids[i] = threads[i].tid;
	o.stop = PLUMB_STOP_NEVER;
	o.no_source = true;
	o.limit_ns = LIMIT_NS;
	o.threads = tids;
	o.thread_count = count;
	struct plumb_error *err = plumb_dump_create(&o, &w->dump);
	if (err)
		return err;
	/* Of processes that are all but late together no more are asked, either. */
	const uint64_t end_ms = arrivals_now_ms() + LIMIT_NS / NS_PER_MS;
	for (size_t i = 0; i < count && timely && arrivals_now_ms() < end_ms; i++)
		if (is_first(threads, i))
			timely = add(w->dump, threads[i].pid);
	w->late = timely ? 0 : w->late + 1;
	return plumb_dump_threads(w->dump, &told);
}

void waits_ask(struct waits *w, const struct waits_thread *threads, size_t count)
{
	uint64_t begun_ns = cpu_ns();

	waits_forget(w);
	if (count)
		plumb_error_destroy(look(w, threads, count < WAITS_MAX ? count : WAITS_MAX));
	uint64_t rest_ms = SELDOM * (cpu_ns() - begun_ns) / NS_PER_MS;
	uint64_t least_ms = (uint64_t)PERIOD_MS << (w->late < MAX_TWICE ? w->late : MAX_TWICE);
	w->due_ms = arrivals_now_ms() + (rest_ms > least_ms ? rest_ms : least_ms);
}

bool waits_of(const struct waits *w, int pid, uint64_t tid, struct plumb_dump_thread *ret)
{
	for (size_t i = 0; w->dump && plumb_dump_thread_at(w->dump, i, ret); i++)
		if (ret->pid == pid && ret->tid == tid)
			return true;
	return false;
}

void waits_forget(struct waits *w)
{
	plumb_dump_destroy(w->dump);
	w->dump = NULL;
}
