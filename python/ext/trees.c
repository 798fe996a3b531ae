/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of trees, where there is no GIL. Extension module.
 *
 * Who counts a stack is alone, who reads trees is with others that read. Waiting is done as a thread that Python may
 * pass over, and the lock is kept through code of others only where such code comes up unasked, in the end of an
 * object: what that wants of trees it gets without waiting for its own thread.
 *
 * A fork is alone, too: a dict has a lock of its own, which in the child would stay with whoever was reading it. */
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

static PyObject *before_fork(PyObject *self, PyObject *none)
{
	ext_trees_begin(true);
	Py_RETURN_NONE;
}

static PyObject *after_fork(PyObject *self, PyObject *none)
{
	ext_trees_end();
	Py_RETURN_NONE;
}

/* Of this interpreter: os.register_at_fork(). */
static int have_forks_wait(void)
{
	static PyMethodDef before = {"before_fork", before_fork, METH_NOARGS, NULL};
	static PyMethodDef after = {"after_fork", after_fork, METH_NOARGS, NULL};
	PyObject *os = PyImport_ImportModule("os"), *none = PyTuple_New(0), *done = NULL;
	PyObject *begin = PyCFunction_New(&before, NULL), *end = PyCFunction_New(&after, NULL);
	PyObject *options = os && none && begin && end ? Py_BuildValue("{s:O, s:O, s:O}", "before", begin,
								       "after_in_parent", end, "after_in_child", end)
						       : NULL;
	PyObject *tell = options ? PyObject_GetAttrString(os, "register_at_fork") : NULL;

	if (tell)
		done = PyObject_Call(tell, none, options);
	Py_XDECREF(tell);
	Py_XDECREF(options);
	Py_XDECREF(begin);
	Py_XDECREF(end);
	Py_XDECREF(none);
	Py_XDECREF(os);
	Py_XDECREF(done);
	return done ? 0 : -1;
}

int ext_trees_init(void)
{
	pthread_once(&once, make_once);
	return have_forks_wait();
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
