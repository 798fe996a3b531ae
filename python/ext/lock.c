/* SPDX-License-Identifier: Apache-2.0 */
/* A lock around what libplumb lets one thread do at a time. Extension module; without the GIL, so that who has it never
 * waits for the GIL and who waits for it never has that. */
#include <unistd.h>

#include "ext.h"

void ext_lock_init(struct ext_lock *l)
{
	pthread_mutex_init(&l->mutex, NULL);
	l->pid = getpid();
}

void ext_lock_deinit(struct ext_lock *l)
{
	pthread_mutex_destroy(&l->mutex);
}

void ext_lock(struct ext_lock *l)
{
	/* After a fork there is one thread: whoever had it is not here. */
	if (l->pid != getpid())
		ext_lock_init(l);
	pthread_mutex_lock(&l->mutex);
}

void ext_unlock(struct ext_lock *l)
{
	pthread_mutex_unlock(&l->mutex);
}
