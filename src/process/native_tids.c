/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See native_tids.h. */
#include "native_tids.h"

#include "thread_list.h"

#define TID_WORK 512u /* of a ration: one more line of a folder of /proc */

enum { LACKING, LISTED };

static bool note(struct pl_native_tids *n, pid_t tid, uint32_t what)
{
	return pl_map_set(&n->have, (uint64_t)tid, 0, what);
}

void pl_native_tids_read(struct pl_native_tids *n, pid_t pid, struct pl_work *work)
{
	struct plumb_error *err = pl_proc_tids(pid, &n->tids);

	n->pid = pid;
	n->known = !err;
	plumb_error_destroy(err);
	pl_work_note(work, n->tids.len * TID_WORK);
	for (size_t i = 0; i < n->tids.len && n->known; i++)
		n->known = note(n, n->tids.data[i], LACKING);
}

bool pl_native_tids_lacks(const struct pl_native_tids *n, pid_t tid)
{
	uint32_t what;

	/* A main thread that has ended stays there while others live. */
	return pl_map_get(&n->have, (uint64_t)tid, 0, &what) && what == LACKING &&
	       (tid != n->pid || pl_proc_thread_alive(n->pid, tid));
}

/* It is on no list of Python. */
static bool keep(struct pl_native_tids *n, struct pl_thread_sampler *thread)
{
	thread->listed = pl_native_tids_lacks(n, thread->tid);
	if (!thread->listed)
		return true;
	if (!pl_thread_sampler_is_native(thread))
		pl_thread_sampler_lose_state(thread);
	return note(n, thread->tid, LISTED);
}

struct plumb_error *pl_native_tids_settle(struct pl_native_tids *n, struct pl_thread_list *list, bool all)
{
	bool ok = true;

	/* Where there are no lists nothing is known of who has left them. */
	for (size_t i = 0; i < list->samplers.len && ok; i++) {
		struct pl_thread_sampler *thread = list->samplers.data[i];

		thread->listed |= pl_thread_sampler_is_native(thread) && !n->known;
		if (thread->listed || (!all && !pl_thread_sampler_is_native(thread)))
			ok = note(n, thread->tid, LISTED);
	}
	for (size_t i = 0; i < list->samplers.len && ok && n->known; i++) {
		struct pl_thread_sampler *thread = list->samplers.data[i];

		if (!thread->listed && (all || pl_thread_sampler_is_native(thread)))
			ok = keep(n, thread);
	}
	return ok ? NULL : &pl_err_no_memory;
}

void pl_native_tids_deinit(struct pl_native_tids *n)
{
	pl_vec_deinit(&n->tids);
	pl_map_deinit(&n->have);
}
