/* SPDX-License-Identifier: Apache-2.0 */
/* Which exception a thread handles. Layer: cpython. Pure over pl_mem; any thread; allocates nothing. */
#include "exceptions.h"

#include "pick.h"

#define ITEMS_MAX 64 /* generators that run inside one another */
#define TRIES	  16 /* a generator may begin or end between two reads */

static bool read_item(struct pl_mem *mem, const struct pl_layout *lay, pl_addr item, uint64_t *value, pl_addr *previous)
{
	struct plumb_error *err = NULL;

	if (!pl_pointer_ok(item))
		return false;
	err = pl_mem_read_u64(mem, item + lay->err_stackitem.exc_value, value);
	if (!err)
		err = pl_mem_read_u64(mem, item + lay->err_stackitem.previous, previous);
	plumb_error_destroy(err);
	return !err;
}

/* Do the items of the thread at @p tstate end in the one that @p lay says is its own? */
static bool ends_in_thread(struct pl_mem *mem, const struct pl_layout *lay, pl_addr tstate)
{
	pl_addr item = 0, next = 0;
	uint64_t value;
	struct plumb_error *err = pl_mem_read_u64(mem, tstate + lay->tstate.exc_info, &next);

	for (int i = 0; !err && next && i < ITEMS_MAX; i++) {
		item = next;
		if (!read_item(mem, lay, item, &value, &next))
			return false;
	}
	bool ends = !err && !next && item == tstate + lay->tstate.exc_state;
	plumb_error_destroy(err);
	return ends;
}

static bool is_proved(struct pl_mem *mem, const struct pl_layout *lay, const pl_tstate_vec *threads)
{
	for (size_t i = 0; threads->len && i < TRIES; i++) {
		if (ends_in_thread(mem, lay, threads->data[i % threads->len].addr))
			return true;
	}
	return false;
}

void pl_exceptions_learn(struct pl_mem *mem, struct pl_py *py, const pl_tstate_vec *threads)
{
	const struct pl_layout *ref = pl_layout_reference(py->layout.version, py->layout.free_threaded);
	struct pl_layout lay = py->layout;

	if (!ref || ref->tstate.exc_info == PL_NONE)
		return;
	if (lay.tstate.exc_state == PL_NONE) { /* what is published stands */
		lay.tstate.exc_state = ref->tstate.exc_state;
		lay.tstate.current_exception = ref->tstate.current_exception;
		lay.err_stackitem.exc_value = ref->err_stackitem.exc_value;
	}
	lay.tstate.exc_info = ref->tstate.exc_info;
	if (is_proved(mem, &lay, threads) && pl_layout_finish(&lay))
		py->layout = lay;
}

bool pl_exception_handled(struct pl_mem *mem, const struct pl_py *py, const struct pl_tstate *ts)
{
	pl_addr item = ts->exc_info;
	uint64_t value;

	if (ts->exception || !py->none)
		return ts->exception != 0;
	for (int i = 0; item && i < ITEMS_MAX; i++) {
		if (!read_item(mem, &py->layout, item, &value, &item))
			return false;
		if (value && value != py->none)
			return true;
	}
	return false;
}
