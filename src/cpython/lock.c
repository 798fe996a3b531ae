/* SPDX-License-Identifier: Apache-2.0 */
/* Lock objects. Layer: cpython. Pure over pl_mem; any thread; allocates nothing.
 *
 * The first word of a lock is, up to 3.12, a pointer to a semaphore of the C library, whose first int is its value: 0
 * or less while the lock is held. From 3.14 on it is a PyMutex, a byte; in 3.13 either, as patch release and build
 * chose (3.13.0 semaphore, 3.13.18 mutex; the RLock of 3.13 always has a semaphore). An RLock has its owner and its
 * count in the next two words. A thread that waits for a PyMutex waits in a semaphore on its own stack, and the word in
 * front of that is the address of the mutex (struct wait_entry of parking_lot.c). */
#include "lock.h"

#include <string.h>

#include "dict.h"
#include "pick.h"

#define MUTEX_LOCKED 1
#define MUTEX_BITS   3 /* locked, and threads are parked */

static const struct {
	const char *type;
	enum pl_lock_kind kind;
} kinds[] = {
	{"_thread.lock", PL_LOCK_PLAIN},       {"thread.lock", PL_LOCK_PLAIN}, /* 2.7 */
	{"_thread.RLock", PL_LOCK_RECURSIVE},  {"threading._RLock", PL_LOCK_PYTHON},
	{"_queue.SimpleQueue", PL_LOCK_QUEUE},
};

enum pl_lock_kind pl_lock_kind_of(struct pl_values *v, pl_addr obj)
{
	char name[PL_TYPE_NAME];

	if (!pl_value_type_name(v, obj, name))
		return PL_LOCK_NONE;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].type, name) == 0)
			return kinds[i].kind;
	return PL_LOCK_NONE;
}

static bool has_mutex(const struct pl_py *py, uint64_t word)
{
	return py->layout.version >= PL_PY_VERSION(3, 14, 0) ||
	       (py->layout.version >= PL_PY_VERSION(3, 13, 0) && word <= MUTEX_BITS);
}

static struct plumb_error *read_first_word(struct pl_mem *mem, const struct pl_py *py, uint64_t word,
					   struct pl_lock *ret)
{
	int32_t value = 0;
	struct plumb_error *err;

	if (has_mutex(py, word)) {
		ret->held = word & MUTEX_LOCKED;
		return NULL;
	}
	err = pl_pointer_ok(word) ? pl_mem_read(mem, word, &value, sizeof value) : &pl_err_corrupt;
	ret->held = value <= 0;
	ret->futex = word;
	return err;
}

/* An attribute that is an int or None. */
static struct plumb_error *read_number(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, const char *name,
				       uint64_t *ret)
{
	pl_addr value;
	struct plumb_error *err = pl_instance_attr_of_few(mem, py, obj, name, &value);

	*ret = 0;
	return err || value == py->none ? err : pl_long_value(mem, py, value, ret);
}

static struct plumb_error *read_python(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, struct pl_lock *ret)
{
	bool old = py->layout.version < PL_PY_VERSION(3, 0, 0);
	struct plumb_error *err = read_number(mem, py, obj, old ? "_RLock__owner" : "_owner", &ret->owner);

	if (!err)
		err = read_number(mem, py, obj, old ? "_RLock__count" : "_count", &ret->count);
	ret->held = ret->owner != 0;
	return err;
}

static struct plumb_error *read_lock(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, enum pl_lock_kind kind,
				     struct pl_lock *ret)
{
	uint64_t words[3];
	struct plumb_error *err;

	if (kind == PL_LOCK_PYTHON)
		return read_python(mem, py, obj, ret);
	err = pl_mem_read(mem, obj + py->layout.object.size, words, kind == PL_LOCK_RECURSIVE ? sizeof words : 8);
	if (err)
		return err;
	if (kind == PL_LOCK_QUEUE) {
		ret->futex = words[0];
		return NULL;
	}
	err = read_first_word(mem, py, words[0], ret);
	if (!err && kind == PL_LOCK_RECURSIVE && ret->held) {
		ret->owner = words[1];
		/* The mutex counts how often it was taken again. */
		ret->count = words[2] + (ret->futex == 0);
	}
	return err;
}

bool pl_lock_read(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, enum pl_lock_kind kind, struct pl_lock *ret)
{
	struct plumb_error *err;

	*ret = (struct pl_lock){0};
	if (kind == PL_LOCK_NONE || !pl_pointer_ok(obj))
		return false;
	err = read_lock(mem, py, obj, kind, ret);
	plumb_error_destroy(err);
	return !err;
}

pl_addr pl_lock_parked(struct pl_mem *mem, const struct pl_py *py, pl_addr futex)
{
	pl_addr parked = 0;
	struct plumb_error *err;

	if (py->layout.version < PL_PY_VERSION(3, 13, 0) || !pl_pointer_ok(futex))
		return 0;
	err = pl_mem_read_u64(mem, futex - 8, &parked);
	plumb_error_destroy(err);
	return err ? 0 : parked;
}
