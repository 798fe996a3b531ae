/* SPDX-License-Identifier: Apache-2.0 */
/* From the numbers that threads have in their own pid namespace to those that they have in ours (layer os). One thread
 * at a time per object. The kernel tells both, in the line NSpid of a thread's status file (since 4.1; without it the
 * numbers are taken to be the same), so the way from its number to ours leads over all threads: they are listed once,
 * and again when a number shows up that is not among them. */
#include "tid_map.h"

#include "host.h"
#include "proc.h"

void pl_tid_map_begin(struct pl_tid_map *m, pid_t pid)
{
	if (m->pid != pid)
		pl_tid_map_deinit(m);
	m->pid = pid;
	m->fresh = false;
}

void pl_tid_map_deinit(struct pl_tid_map *m)
{
	pl_map_deinit(&m->ours);
	*m = (struct pl_tid_map){0};
}

static bool is_translated(struct pl_tid_map *m)
{
	pid_t inner;
	unsigned levels = m->known ? 0 : pl_host_nspid(m->pid, m->pid, &inner);

	if (levels) {
		m->known = true;
		m->translated = levels > 1;
	}
	return m->translated;
}

pid_t pl_tid_map_its(struct pl_tid_map *m, pid_t tid)
{
	pid_t inner;

	if (!is_translated(m))
		return tid;
	return pl_host_nspid(m->pid, tid, &inner) ? inner : 0;
}

static void list(struct pl_tid_map *m)
{
	pl_tid_vec tids = {0};
	struct plumb_error *err = pl_proc_tids(m->pid, &tids);

	m->fresh = true;
	pl_map_clear(&m->ours);
	plumb_error_destroy(err); /* then there is no thread */
	for (size_t i = 0; i < tids.len; i++) {
		pid_t its = pl_tid_map_its(m, tids.data[i]);

		if (its)
			(void)pl_map_set(&m->ours, (uint64_t)its, 0, (uint32_t)tids.data[i]);
	}
	pl_vec_deinit(&tids);
}

/* What was listed may have ended, and its number been given to another thread. */
static pid_t look_up(struct pl_tid_map *m, pid_t tid)
{
	uint32_t ours;

	if (!pl_map_get(&m->ours, (uint64_t)tid, 0, &ours))
		return 0;
	return pl_tid_map_its(m, (pid_t)ours) == tid ? (pid_t)ours : 0;
}

pid_t pl_tid_map_ours(struct pl_tid_map *m, pid_t tid)
{
	if (!is_translated(m))
		return tid;
	pid_t ours = look_up(m, tid);
	if (ours || m->fresh)
		return ours;
	list(m);
	return look_up(m, tid);
}
