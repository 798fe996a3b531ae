/* SPDX-License-Identifier: Apache-2.0 */
/* A lock around what libplumb lets one thread do at a time. Module _plumb; without the GIL, so that who has it never
 * waits for the GIL and who waits for it never has that. */
#include <sched.h>
#include <unistd.h>

#include "profiler.h"

#define BEING_MADE (-1)

void ext_lock_init(struct ext_lock *l)
{
	pthread_mutex_init(&l->mutex, NULL);
	atomic_store(&l->pid, getpid());
}

void ext_lock_deinit(struct ext_lock *l)
{
	pthread_mutex_destroy(&l->mutex);
}

/* After a fork whoever had it is not here. Of the threads that see so first, one makes it anew. */
static void make_in_child(struct ext_lock *l)
{
	pid_t pid = atomic_load(&l->pid), own = getpid();

	while (pid != own) {
		if (pid != BEING_MADE && atomic_compare_exchange_weak(&l->pid, &pid, BEING_MADE)) {
			ext_lock_init(l);
			return;
		}
		sched_yield();
		pid = atomic_load(&l->pid);
	}
}

void ext_lock(struct ext_lock *l)
{
	make_in_child(l);
	pthread_mutex_lock(&l->mutex);
}

void ext_unlock(struct ext_lock *l)
{
	pthread_mutex_unlock(&l->mutex);
}
