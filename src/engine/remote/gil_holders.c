/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: GIL mode, which samples who holds a GIL. */
#include "gil_holders.h"

#include "round.h"
#include "sampled.h"
#include "target.h"

#define HOLDER_TRIES 3

struct plumb_error *pl_gil_check(pid_t pid, struct pl_mem *mem, const struct pl_py *py)
{
	char version[PL_VERSION_TEXT];
	bool exists;
	struct plumb_error *err = pl_gil_exists(mem, py, &exists);

	if (err || exists)
		return err;
	return pl_error_hint(pl_error(PLUMB_ERR_NOT_SUPPORTED, "pid %d runs CPython %s without a GIL", (int)pid,
				      pl_py_version_text(py, version)),
			     "--mode cpu samples the threads that run");
}

static bool find_holder(const struct pl_thread_list *r, pl_addr tstate, size_t *ret)
{
	for (size_t i = 0; i < r->samplers.len; i++) {
		*ret = i;
		if (r->samplers.data[i]->stack.tstate == tstate)
			return pl_sampled_of(r->samplers.data[i])->wanted;
	}
	return false;
}

/* Up to 3.11 a process has one GIL; then an interpreter may have one of its own. */
static bool shares_gil(const struct pl_target *t, size_t k)
{
	const struct pl_interp *interps = t->python.threads.interps.data;

	if (!pl_interp_has_own_gil(&t->python.reader.py))
		return k > 0;
	for (size_t i = 0; i < k; i++)
		if (interps[i].gil == interps[k].gil)
			return true;
	return false;
}

/* GIL mode: ask the interpreter who holds it and sample that thread alone, once a GIL. PL_ROUND_NONE: it had passed it
 * on meanwhile. */
static enum pl_round_result sample_holder(struct pl_engine *e, struct pl_target *t, size_t k, uint64_t weight_ns)
{
	const struct pl_interp *known = &t->python.threads.interps.data[k];
	struct pl_interp interp;
	struct plumb_error *err =
		pl_interp_read_again(pl_python_process_mem(&t->python), &t->python.reader.py, known, &interp);
	size_t i;

	if (err) {
		enum pl_round_result r = err == &pl_err_target_exited ? PL_ROUND_GONE : PL_ROUND_TOOK;
		plumb_error_destroy(err);
		return r;
	}
	pl_thread_list_notice(&t->python.threads, &interp);
	if (interp.gil_holder == 0 || shares_gil(t, k) || !find_holder(&t->python.threads, interp.gil_holder, &i))
		return PL_ROUND_TOOK;
	return pl_round_one(e, t, i, weight_ns);
}

enum pl_round_result pl_round_holders(struct pl_engine *e, struct pl_target *t, uint64_t weight_ns)
{
	for (size_t k = 0; k < t->python.threads.interps.len; k++) {
		enum pl_round_result r = PL_ROUND_NONE;

		for (int tries = 0; tries < HOLDER_TRIES && r == PL_ROUND_NONE; tries++)
			r = sample_holder(e, t, k, weight_ns);
		if (r == PL_ROUND_GONE)
			return r;
	}
	return PL_ROUND_TOOK;
}
