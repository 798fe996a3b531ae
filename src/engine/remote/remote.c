/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine: the remote engine's ops. It reads the memory of another process of ours from outside, without rights of
 * its own and without anything in the target. */
#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "event_ring.h"
#include "mem_live.h"
#include "priority.h"
#include "proc.h"
#include "remote_engine.h"
#include "resolve.h"
#include "sampling_thread.h"
#include "search.h"
#include "target.h"
#include "thread_start.h"
#include "tree.h"

/* Of functions' names and line tables. Those of a large program take a kilobyte each, and are each in many places. */
#define CODE_BYTES	  ((size_t)4 << 20)
#define CODE_BYTES_A_NODE 128

#define WAITS 400 /* of 5 ms: all that come up do so at the same time */
/* A sampling thread may wait for another process in the kernel: who gives it an order does not wait as long. */
#define PATIENCE_NS (5 * PL_NS_PER_S)

static void remote_close(struct pl_engine *e);

static struct plumb_error *open_descriptors(struct pl_engine *e)
{
	struct plumb_error *err = pl_wake_up_open(&e->wake_up);

	if (err)
		return err;
	pl_room_measure(&e->room, e->wake_up.fd, e->options.own);
	if (e->options.own)
		pl_wake_up_close(&e->wake_up); /* the program might do so, too */
	return NULL;
}

/* What is left for all processes that were asked for: anybody can start any number that are called as one that is
 * meant.
 */
struct opening {
	uint64_t work;
	int waits; /* for interpreters to come up */
};

static struct plumb_error *try_attach(struct pl_engine *e, struct pl_target *t, struct opening *left)
{
	struct pl_work work = {.most = left->work > PL_LITTLE_WORK ? left->work : PL_LITTLE_WORK}; /* for all tries */
	struct plumb_error *err = pl_search_attach(e, t, &work);

	for (int tries = 1; left->waits && pl_find_await(&t->search.find, err, tries); tries++) {
		left->waits--;
		plumb_error_destroy(err);
		err = pl_search_attach(e, t, &work);
	}
	left->work -= work.spent < left->work ? work.spent : left->work;
	return err;
}

static struct plumb_error *attach_running(struct pl_engine *e, struct pl_target *t, struct opening *left)
{
	struct plumb_error *err = try_attach(e, t, left);

	/* With its children it need not be a Python itself. */
	if (!e->options.subprocesses || plumb_error_code(err) != PLUMB_ERR_NOT_PYTHON)
		return err;
	plumb_error_destroy(err);
	return NULL;
}

static struct plumb_error *open_one(struct pl_engine *e, pid_t pid, struct opening *left)
{
	struct pl_target *t;
	struct plumb_error *err = pl_tree_ask(e, pid, &t);

	if (err || e->options.launched)
		return err;
	if ((err = attach_running(e, t, left)))
		pl_tree_forget(e, t);
	return err;
}

/* One that cannot be sampled does not keep us from the others. */
static struct plumb_error *open_all(struct pl_engine *e)
{
	const struct pl_engine_options *o = &e->options;
	struct opening left = {PL_IMAGE_WORK, WAITS};

	for (size_t i = 0; i < o->pid_count; i++) {
		struct plumb_error *err = open_one(e, o->pids[i], &left);

		if (err && !e->asked && i + 1 == o->pid_count)
			return err;
		if (err)
			o->refused(o->refused_ctx, o->pids[i], err);
	}
	pl_tree_find_children(e);
	return NULL;
}

static struct plumb_error *prepare(struct pl_engine *e)
{
	struct plumb_error *err;

	if ((e->options.own && (err = pl_mem_live_try_own())) || (err = open_descriptors(e)) ||
	    (err = pl_queue_init(&e->queue)) || (err = pl_resolver_create(&e->options, &e->resolver)) ||
	    (err = pl_tables_init(&e->tables)) || (err = pl_tree_open(e)))
		return err;
	e->tables.trie.max = e->tables.codes.max = e->options.max_nodes;
	e->tables.codes.max_bytes = CODE_BYTES + CODE_BYTES_A_NODE * e->options.max_nodes;
	e->sent_nodes = 1; /* node 0 is the empty stack on both sides */
	return open_all(e);
}

/* A thread cannot read the registers of another one of its process. */
static struct plumb_error *remote_probe(const struct pl_engine_options *o, unsigned *can_ret)
{
	*can_ret = o->own ? 0 : PL_CAN_NATIVE;
	return o->priority ? pl_priority_check() : NULL;
}

static struct plumb_error *remote_open(const struct pl_engine_options *o, struct pl_engine **ret)
{
	struct pl_engine *e = calloc(1, sizeof *e);

	if (!e)
		return &pl_err_no_memory;
	e->options = *o;
	e->wake_up = PL_WAKE_UP_INIT;
	e->exit_fd = -1;
	pthread_mutex_init(&e->lock, NULL);
	pl_orders_init(&e->orders);
	e->orders.patience_ns = o->own ? 0 : PATIENCE_NS;
	if (!o->own)
		pl_room_raise();
	struct plumb_error *err = prepare(e);
	if (err) {
		remote_close(e);
		return err;
	}
	*ret = e;
	return NULL;
}

static struct plumb_error *remote_start(struct pl_engine *e)
{
	e->start_ns = e->stats.told_ns = pl_clock_monotonic_ns();
	int r = pl_thread_start(&e->thread, pl_sampling_thread_main, e);
	if (r)
		return pl_error_errno(PLUMB_ERR_SYSTEM, r, "cannot start the sampling thread");
	e->started = true;
	return NULL;
}

static void remote_wait(struct pl_engine *e, int timeout_ms)
{
	atomic_store(&e->consumer_cpu_ns, pl_clock_thread_cpu_ns());
	if (atomic_load(&e->stopping)) /* it may have been on its way to a processor when it was to stop */
		pl_beside_free(&e->beside);
	pl_queue_wait(&e->queue, timeout_ms);
}

static void remote_stats(struct pl_engine *e, struct pl_engine_stats *ret)
{
	pthread_mutex_lock(&e->lock);
	*ret = e->stats;
	pthread_mutex_unlock(&e->lock);
	ret->ended |= atomic_load(&e->left);
}

/* A name that is being read is waited for: by what is in the queue, as long as there is room in it for what comes, or
 * by us, if nothing comes any more. */
static bool may_take(struct pl_engine *e, const struct pl_record *rec, bool ended)
{
	if (pl_resolver_ready(e->resolver, rec, ended))
		return true;
	if (!ended && pl_queue_room(&e->queue) > PL_QUEUE_SLOTS / 4)
		return false;
	pl_resolver_give_up(e->resolver, rec);
	return true;
}

static struct plumb_error *remote_take(struct pl_engine *e, struct plumb_profile *p, pl_engine_sample_fn *fn, void *ctx)
{
	struct pl_engine_stats st;
	struct pl_record rec;

	remote_stats(e, &st); /* if it has ended nothing comes behind what is in the queue */
	/* At most what fits: with a fast sampler the queue need not run empty. */
	for (uint32_t i = 0; i < PL_QUEUE_SLOTS && pl_queue_peek(&e->queue, &rec); i++) {
		if (!may_take(e, &rec, st.ended))
			break;
		pl_queue_pop(&e->queue, &rec);
		struct plumb_error *err = pl_resolver_take(e->resolver, &rec, p, fn, ctx);
		if (err)
			return err;
	}
	return pl_resolver_read_texts(e->resolver, p, st.ended);
}

static void remote_order(struct pl_engine *e, struct pl_order order)
{
	pl_orders_give(&e->orders, order, &e->wake_up);
}

static void remote_stop(struct pl_engine *e)
{
	atomic_store(&e->stopping, true);
	pl_beside_free(&e->beside);
	pl_wake_up_send(&e->wake_up);
}

static bool remote_ready(struct pl_engine *e)
{
	struct pl_proc_stat st;
	pid_t tid = atomic_load(&e->tid);

	return tid && pl_proc_stat_read(tid, &st) && st.state == 'R';
}

static void remote_leave(struct pl_engine *e)
{
	atomic_store(&e->left, true);
	pl_orders_close(&e->orders);
	pthread_detach(e->thread);
}

static struct plumb_error *take_error(struct pl_engine *e)
{
	pthread_mutex_lock(&e->lock);
	struct plumb_error *err = e->error;
	e->error = NULL;
	pthread_mutex_unlock(&e->lock);
	return err;
}

static void drop_records(struct pl_engine *e)
{
	struct pl_record rec;

	while (e->queue.slots && pl_queue_pop(&e->queue, &rec))
		if (rec.kind == PL_RECORD_THREAD)
			free(rec.thread.info);
		else if (rec.kind == PL_RECORD_PROCESS)
			free(rec.process.info);
		else if (rec.kind == PL_RECORD_EVENT && rec.event.info) {
			free(rec.event.info->text);
			free(rec.event.info);
		}
}

static void remote_close(struct pl_engine *e)
{
	if (!e)
		return;
	if (e->started) {
		remote_stop(e);
		pthread_join(e->thread, NULL);
	}
	pl_tree_close(e);
	drop_records(e);
	pl_event_room_destroy(e->event_room);
	pl_tables_deinit(&e->tables);
	pl_resolver_destroy(e->resolver);
	pl_queue_deinit(&e->queue);
	plumb_error_destroy(e->error);
	pl_wake_up_close(&e->wake_up);
	pthread_mutex_destroy(&e->lock);
	pl_orders_deinit(&e->orders);
	free(e);
}

const struct pl_engine_ops pl_engine_remote = {
	.name = "remote",
	.probe = remote_probe,
	.open = remote_open,
	.start = remote_start,
	.wait = remote_wait,
	.take = remote_take,
	.stats = remote_stats,
	.order = remote_order,
	.stop = remote_stop,
	.ready = remote_ready,
	.leave = remote_leave,
	.take_error = take_error,
	.close = remote_close,
};
