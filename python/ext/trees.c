/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of trees, where there is no GIL. Extension module.
 *
 * Who counts a stack is alone, who reads trees is with others that read. Waiting is done as a thread that Python may
 * pass over, and the lock is kept through code of others only where such code comes up unasked, in the end of an
 * object: what that wants of trees it gets without waiting for its own thread. */
#include "gil.h"

#ifdef Py_GIL_DISABLED

#include <pthread.h>

static pthread_rwlock_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Of this thread. */
static _Thread_local int depth;
static _Thread_local bool locked;

static void make(void)
{
	pthread_rwlockattr_t a;

	pthread_rwlockattr_init(&a);
	pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &a);
	pthread_rwlockattr_destroy(&a);
}

/* Whoever else had it is not in the child. */
static void make_in_child(void)
{
	make();
	if (locked)
		pthread_rwlock_wrlock(&lock);
}

static void make_once(void)
{
	make();
	pthread_atfork(NULL, NULL, make_in_child);
}

void ext_trees_init(void)
{
	pthread_once(&once, make_once);
}

static int try_now(bool count)
{
	return count ? pthread_rwlock_trywrlock(&lock) : pthread_rwlock_tryrdlock(&lock);
}

static void wait_for(bool count)
{
	Py_BEGIN_ALLOW_THREADS;
	if (count)
		pthread_rwlock_wrlock(&lock);
	else
		pthread_rwlock_rdlock(&lock);
	Py_END_ALLOW_THREADS;
}

void ext_trees_begin(bool count)
{
	/* At the end of the interpreter one thread is left; others may have ended while they waited. */
	if (depth++ || Py_IsFinalizing())
		return;
	if (try_now(count) != 0)
		wait_for(count);
	locked = true;
}

void ext_trees_end(void)
{
	if (--depth || !locked)
		return;
	locked = false;
	pthread_rwlock_unlock(&lock);
}

#endif
