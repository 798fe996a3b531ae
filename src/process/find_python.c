/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; see find_python.h. */
#include "find_python.h"

#include <time.h>

#include "debug.h"
#include "which_python.h"

#define TORN_TRIES    20
#define READY_TRIES   200 /* of 5 ms: an interpreter that is starting up */
#define READY_WAIT_NS 5000000

void pl_find_forget(struct pl_find *f)
{
	pl_mem_live_destroy(f->live);
	f->live = NULL;
	f->image_known = false;
	f->torn = 0;
}

/* What the next try may find better: an interpreter that is not ready; stacks that changed faster than they could be
 * read, at each try; or what makes no sense, as in an interpreter that is being set up. That is no proof against the
 * layout, as long as it does not go on. */
static bool may_change(struct pl_find *f, const struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);
	bool torn = code == PLUMB_ERR_STALE || code == PLUMB_ERR_CORRUPT;

	return code == PLUMB_ERR_NOT_READY || (torn && ++f->torn < TORN_TRIES);
}

void pl_find_failed(struct pl_find *f, const struct plumb_error *err)
{
	if (!may_change(f, err))
		pl_find_forget(f);
}

static struct plumb_error *try(struct pl_find *f, pid_t pid, struct pl_work *work, struct pl_py *ret)
{
	struct plumb_error *err = f->image_known ? NULL : pl_python_image_find(pid, work, &f->image);

	if (!err && !f->live)
		err = pl_mem_live_create(pid, &f->live);
	if (err) {
		pl_find_forget(f);
		return err;
	}
	f->image_known = true;
	err = pl_which_python(pl_mem_live_mem(f->live), &f->image, work, ret);
	if (err)
		pl_find_failed(f, err);
	return err;
}

static void tell(const struct pl_find *f, pid_t pid, const struct pl_py *py)
{
	char version[PL_VERSION_TEXT];

	pl_debug(PL_DEBUG_PROCESS, "process %d: Python %s in %s, laid out by %s", (int)pid,
		 pl_py_version_text(py, version), f->image.path,
		 py->from_debug_offsets ? "its own offsets" : "plumb's tables");
}

struct plumb_error *pl_find_python(struct pl_find *f, pid_t pid, struct pl_work *work, struct pl_py *ret)
{
	struct plumb_error *err = try(f, pid, work, ret);

	if (err)
		pl_debug(PL_DEBUG_PROCESS, "process %d: %s", (int)pid, plumb_error_message(err));
	else
		tell(f, pid, ret);
	return err;
}

/* An interpreter that has just been started is given a second to come up; so is one that takes the place of the program
 * we were looking at: meanwhile the memory that we look for is gone, not there yet, or makes no sense. One whose stacks
 * were torn is looked at again as long as the search says so. */
static bool comes_up(const struct pl_find *f, const struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);

	return code == PLUMB_ERR_NOT_READY || code == PLUMB_ERR_TARGET_EXITED || code == PLUMB_ERR_UNREADABLE ||
	       code == PLUMB_ERR_CORRUPT || (code == PLUMB_ERR_STALE && f->image_known);
}

bool pl_find_await(const struct pl_find *f, const struct plumb_error *err, int tries)
{
	if (!comes_up(f, err) || tries >= READY_TRIES)
		return false;
	nanosleep(&(struct timespec){.tv_nsec = READY_WAIT_NS}, NULL);
	return true;
}
