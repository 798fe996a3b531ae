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
#include "thread_start.h"
#include "wrapped.h"

#define DEFAULT_LIMIT_NS (5 * PL_NS_PER_S)
#define PROVE_SHARE	 4 /* of the limit is for proving stacks: the rest of the work must fit, too */

struct thread_words {
	const struct pl_dump_thread *thread;
	const struct pl_dump_process *process;
	struct pl_dump_text doing, waits;
};

struct plumb_dump {
	struct plumb_dump_options options;
	uint64_t *chosen; /* copies of options.threads and of options.thread_words */
	char **words;
	struct pl_dump *all;
	size_t hinted; /* of those that run no Python: for how many it was looked what they have started */
	PL_VEC(struct thread_words) threads; /* once they were asked for */
};

/* One process, one thread. Freed by whoever is last: the caller, or the thread that was left behind. */
struct task {
	pthread_mutex_t lock;
	pthread_cond_t done_cond;
	bool done, abandoned;
	int pid;
	char *core; /* path of a core file instead; NULL: none */
	char *root; /* its files are below this; NULL: where they were */
	uint64_t *threads;
	char **words;
	struct pl_dump_options options;
	struct pl_dump *dump;
	struct plumb_error *err;
};

/* The caller's need not live. *ret stays NULL where there are none. */
static struct plumb_error *copy_threads(const struct plumb_dump_options *o, uint64_t **ret)
{
	if (!o->threads)
		return NULL;
	*ret = calloc(o->thread_count + 1, sizeof **ret);
	if (!*ret)
		return &pl_err_no_memory;
	if (o->thread_count)
		memcpy(*ret, o->threads, o->thread_count * sizeof **ret);
	return NULL;
}

/* The same of the words; NULL follows the last. */
static struct plumb_error *copy_words(const struct plumb_dump_options *o, char ***ret)
{
	if (!o->thread_word_count)
		return NULL;
	*ret = calloc(o->thread_word_count + 1, sizeof **ret);
	for (size_t i = 0; *ret && i < o->thread_word_count; i++)
		if (!((*ret)[i] = strdup(o->thread_words[i])))
			return &pl_err_no_memory;
	return *ret ? NULL : &pl_err_no_memory;
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

struct plumb_error *plumb_dump_create(const struct plumb_dump_options *o, struct plumb_dump **ret)
{
	struct plumb_dump *d = calloc(1, sizeof *d);
	struct plumb_error *err;

	if (!d)
		return &pl_err_no_memory;
	err = pl_given_dump(o, &d->options);
	err = err ? err : pl_dump_create(&d->all);
	err = err ? err : copy_threads(&d->options, &d->chosen);
	err = err ? err : copy_words(&d->options, &d->words);
	if (err) {
		plumb_dump_destroy(d);
		return err;
	}
	d->options.threads = d->chosen;
	d->options.thread_words = (const char *const *)d->words;
	d->all->taken_real_ns = pl_clock_real_ns();
	*ret = d;
	return NULL;
}

void plumb_dump_destroy(struct plumb_dump *d)
{
	if (!d)
		return;
	pl_vec_deinit(&d->threads);
	pl_dump_destroy(d->all);
	free_words(d->words);
	free(d->chosen);
	free(d);
}

static void task_free(struct task *t)
{
	pl_dump_destroy(t->dump);
	plumb_error_destroy(t->err);
	free(t->core);
	free(t->root);
	free_words(t->words);
	free(t->threads);
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
	if (!err)
		err = copy_threads(o, &t->threads);
	if (!err)
		err = copy_words(o, &t->words);
	t->options.root = t->root;
	t->options.threads = t->threads;
	t->options.thread_count = o->thread_count;
	t->options.words = (const char *const *)t->words;
	t->options.word_count = o->thread_word_count;
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
	int r = pl_thread_start(&thread, task_main, t);
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
	pl_vec_clear(&d->threads);
	struct plumb_error *err = pl_hint_wrapped(run(&d->options, pid, NULL, d->all), pid, "dump", &d->hinted);

	if (err)
		note_failure(d->all, pid, err);
	return err;
}

struct plumb_error *plumb_dump_add_core(struct plumb_dump *d, const char *path)
{
	pl_vec_clear(&d->threads);
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

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef void words_fn(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out);

static struct plumb_error *put_words(struct pl_dump *d, words_fn *words, const struct thread_words *row,
				     struct pl_dump_text *ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return &pl_err_no_memory;
	words(row->process, row->thread, out);
	bool failed = fclose(out) != 0 || !text;
	if (!failed)
		*ret = pl_dump_text(d, text, len);
	free(text);
	return failed || d->no_memory ? &pl_err_no_memory : NULL;
}

static struct plumb_error *add_row(struct plumb_dump *d, const struct pl_dump_process *p,
				   const struct pl_dump_thread *t)
{
	struct thread_words row = {.process = p, .thread = t};
	struct plumb_error *err = put_words(d->all, pl_dump_words, &row, &row.doing);

	if (!err)
		err = put_words(d->all, pl_dump_words_wait, &row, &row.waits);
	return err || pl_vec_push(&d->threads, row) ? err : &pl_err_no_memory;
}

struct plumb_error *plumb_dump_threads(struct plumb_dump *d, size_t *count)
{
	struct plumb_error *err = NULL;

	pl_vec_clear(&d->threads);
	for (size_t i = 0; i < d->all->processes.len && !err; i++) {
		const struct pl_dump_process *p = &d->all->processes.data[i];

		for (size_t k = 0; k < p->threads.len && !err; k++)
			err = add_row(d, p, &p->threads.data[k]);
	}
	*count = err ? 0 : d->threads.len;
	return err;
}

bool plumb_dump_thread_at(const struct plumb_dump *d, size_t i, struct plumb_dump_thread *ret)
{
	if (i >= d->threads.len)
		return false;
	const struct thread_words *row = &d->threads.data[i];
	const struct plumb_dump_thread all = {.size = ret->size,
					      .pid = (int)row->process->pid,
					      .tid = row->thread->tid,
					      .name = row->thread->name.s,
					      .doing = row->doing.s,
					      .waits = row->waits.s};
	pl_give_row(ret, &all, sizeof all);
	return true;
}
