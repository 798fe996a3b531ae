/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/dump.h>. Each process is looked at by a thread of its own, because a read from a process whose
 * memory map is locked in the kernel, or from a dead file system, cannot be interrupted: when the time is over the
 * caller goes on and leaves that thread behind. It owns a dump of its own, which is handed over only when it is done.
 */
#include <plumb/dump.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <plumb/plumb.h>

#include "clock.h"
#include "dump.h"
#include "dump_export.h"
#include "given.h"
#include "stream.h"
#include "wrapped.h"

#define DEFAULT_LIMIT_NS (5 * PL_NS_PER_S)
#define PROVE_SHARE	 4 /* of the limit is for proving stacks: the rest of the work must fit, too */

struct plumb_dump {
	struct plumb_dump_options options;
	struct pl_dump *all;
};

/* One process, one thread. Freed by whoever is last: the caller, or the thread that was left behind. */
struct task {
	pthread_mutex_t lock;
	pthread_cond_t done_cond;
	bool done, abandoned;
	int pid;
	char *core; /* path of a core file instead; NULL: none */
	char *root; /* its files are below this; NULL: where they were */
	struct pl_dump_options options;
	struct pl_dump *dump;
	struct plumb_error *err;
};

struct plumb_error *plumb_dump_create(const struct plumb_dump_options *o, struct plumb_dump **ret)
{
	struct plumb_dump *d = calloc(1, sizeof *d);
	struct plumb_error *err;

	if (!d)
		return &pl_err_no_memory;
	if ((err = pl_given_dump(o, &d->options)) || (err = pl_dump_create(&d->all))) {
		free(d);
		return err;
	}
	d->all->taken_real_ns = pl_clock_real_ns();
	*ret = d;
	return NULL;
}

void plumb_dump_destroy(struct plumb_dump *d)
{
	if (!d)
		return;
	pl_dump_destroy(d->all);
	free(d);
}

static void task_free(struct task *t)
{
	pl_dump_destroy(t->dump);
	plumb_error_destroy(t->err);
	free(t->core);
	free(t->root);
	pthread_cond_destroy(&t->done_cond);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static struct plumb_error *task_create(const struct plumb_dump_options *o, int pid, const char *core, struct task **ret)
{
	static const enum pl_stop_policy stops[] = {[PLUMB_STOP_AUTO] = PL_STOP_AUTO,
						    [PLUMB_STOP_NEVER] = PL_STOP_NEVER,
						    [PLUMB_STOP_ALWAYS] = PL_STOP_ALWAYS};
	uint64_t limit = o->limit_ns ? o->limit_ns : DEFAULT_LIMIT_NS;
	struct task *t = calloc(1, sizeof *t);
	pthread_condattr_t attr;

	if (!t)
		return &pl_err_no_memory;
	t->pid = pid;
	t->options = (struct pl_dump_options){.stop = stops[o->stop],
					      .source = !o->no_source,
					      .locals = o->locals,
					      .trust_core = o->trust_core,
					      .native = o->native || o->native_all || o->kernel,
					      .native_all = o->native_all,
					      .kernel = o->kernel,
					      .limit_ns = limit / PROVE_SHARE};
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->done_cond, &attr);
	pthread_condattr_destroy(&attr);
	struct plumb_error *err = pl_dump_create(&t->dump);
	if (!err && core && !(t->core = strdup(core)))
		err = &pl_err_no_memory;
	if (!err && o->root && !(t->root = strdup(o->root)))
		err = &pl_err_no_memory;
	t->options.root = t->root;
	if (err)
		task_free(t);
	else
		*ret = t;
	return err;
}

static void *task_main(void *arg)
{
	struct task *t = arg;
	struct plumb_error *err =
		t->core ? pl_dump_core(t->core, &t->options, t->dump) : pl_dump_live(t->pid, &t->options, t->dump);

	pthread_mutex_lock(&t->lock);
	t->err = err;
	t->done = true;
	bool abandoned = t->abandoned;
	pthread_cond_signal(&t->done_cond);
	pthread_mutex_unlock(&t->lock);
	if (abandoned)
		task_free(t);
	return NULL;
}

/* True if it was done in time. If not, the task is no longer ours. */
static bool task_wait(struct task *t, uint64_t limit_ns)
{
	uint64_t end = pl_clock_monotonic_ns() + limit_ns;
	struct timespec until = {.tv_sec = (time_t)(end / PL_NS_PER_S), .tv_nsec = (long)(end % PL_NS_PER_S)};

	pthread_mutex_lock(&t->lock);
	while (!t->done && pthread_cond_timedwait(&t->done_cond, &t->lock, &until) != ETIMEDOUT)
		;
	bool done = t->done;
	t->abandoned = !done;
	pthread_mutex_unlock(&t->lock);
	return done;
}

static struct plumb_error *too_late(int pid, const char *core, uint64_t limit_ns)
{
	if (core)
		return pl_error(PLUMB_ERR_TIMEOUT, "%s was not read within %.3g s", core,
				(double)limit_ns / (double)PL_NS_PER_S);
	return pl_error(PLUMB_ERR_TIMEOUT, "pid %d did not let itself be read within %.3g s", pid,
			(double)limit_ns / (double)PL_NS_PER_S);
}

static struct plumb_error *run(const struct plumb_dump_options *o, int pid, const char *core, struct pl_dump *into)
{
	uint64_t limit = o->limit_ns ? o->limit_ns : DEFAULT_LIMIT_NS;
	pthread_t thread;
	struct task *t;
	struct plumb_error *err = task_create(o, pid, core, &t);

	if (err)
		return err;
	int r = pthread_create(&thread, NULL, task_main, t);
	if (r) {
		task_free(t);
		return pl_error_errno(PLUMB_ERR_SYSTEM, r, "cannot start a thread");
	}
	if (!task_wait(t, limit)) {
		pthread_detach(thread);
		return too_late(pid, core, limit);
	}
	pthread_join(thread, NULL);
	err = t->err;
	t->err = NULL;
	if (!err)
		err = pl_dump_adopt(into, t->dump);
	task_free(t);
	return err;
}

static void note_failure(struct pl_dump *d, int pid, const struct plumb_error *err)
{
	struct pl_dump_failure f = {.pid = (uint32_t)pid,
				    .code = plumb_error_code(err),
				    .message = pl_dump_str(d, plumb_error_message(err)),
				    .hint = pl_dump_str(d, plumb_error_hint(err))};

	(void)pl_vec_push(&d->failures, f); /* without memory the caller has the error all the same */
}

struct plumb_error *plumb_dump_add(struct plumb_dump *d, int pid)
{
	struct plumb_error *err = pl_hint_wrapped(run(&d->options, pid, NULL, d->all), pid, "dump");

	if (err)
		note_failure(d->all, pid, err);
	return err;
}

struct plumb_error *plumb_dump_add_core(struct plumb_dump *d, const char *path)
{
	struct plumb_error *err = run(&d->options, 0, path, d->all);

	if (err)
		note_failure(d->all, 0, err);
	return err;
}

static bool write_to(const struct plumb_dump *d, const struct plumb_dump_look *look, FILE *out)
{
	const struct pl_dump_look l = {.width = look->width, .color = look->color, .unicode = !look->ascii};

	if (!look->json)
		return pl_dump_write_text(d->all, &l, out);
	pl_dump_write_json(d->all, PLUMB_VERSION, out);
	return true;
}

struct plumb_error *plumb_dump_write(const struct plumb_dump *d, const struct plumb_dump_look *given, int fd)
{
	struct plumb_dump_look look;
	struct plumb_error *err = pl_given_dump_look(given, &look);

	if (err)
		return err;
	FILE *out = pl_stream_open(fd, look.color && !look.json);
	if (!out)
		return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write the dump");
	bool whole = write_to(d, &look, out), failed = ferror(out) != 0;
	if (fclose(out) != 0 || failed)
		return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write the dump");
	return whole ? NULL : &pl_err_no_memory;
}
