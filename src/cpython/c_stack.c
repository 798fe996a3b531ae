/* SPDX-License-Identifier: Apache-2.0 */
/* Layer: cpython. Pure over pl_mem; any thread; allocates only to grow the caller's vector.
 *
 * 3.12 and later end the frames of each evaluation with one that has no code, a local variable of
 * _PyEval_EvalFrameDefault (`entry_frame`; 3.14: `entry`). 3.11 has a _PyCFrame there, linked from the thread state,
 * and marks the outermost frame of each evaluation (is_entry). Up to 3.10 each Python frame is an evaluation. */
#include "c_stack.h"

#include "pick.h"

bool pl_evals_have_anchors(const struct pl_py *py)
{
	return py->layout.frame_model != PL_FRAME_OBJECT;
}

bool pl_evals_have_cframes(const struct pl_py *py)
{
	return py->layout.frame_model == PL_FRAME_CFRAME && !pl_frame_has_shims(py);
}

/* 3.11: the next C frame of the chain, whose innermost Python frame is @p innermost. */
static struct plumb_error *next_cframe(struct pl_mem *mem, const struct pl_layout *lay, pl_addr innermost,
				       pl_addr *cframe, pl_addr *ret)
{
	uint64_t words[2]; /* current_frame, previous */

	if (!pl_pointer_ok(*cframe))
		return &pl_err_corrupt;
	struct plumb_error *err = pl_mem_read(mem, *cframe + lay->cframe.current_frame, words, sizeof words);
	if (err)
		return err;
	if (words[0] != innermost)
		return &pl_err_corrupt;
	*ret = *cframe;
	*cframe = words[1];
	return NULL;
}

struct plumb_error *pl_evals_find(struct pl_mem *mem, const struct pl_py *py, pl_addr cframe,
				  const pl_frame_vec *frames, pl_eval_vec *ret)
{
	const struct pl_layout *lay = &py->layout;
	const bool shims = pl_frame_has_shims(py), cframes = pl_evals_have_cframes(py);
	struct pl_eval e = {0};
	pl_addr innermost = 0;

	for (size_t i = 0; i < frames->len; i++) {
		const struct pl_frame *f = &frames->data[i];
		bool shim = f->kind == PL_FRAME_SHIM;

		innermost = e.count == 0 ? f->addr : innermost;
		e.count += !shim;
		if (shims ? !shim : !f->entry)
			continue;
		struct plumb_error *err = cframes ? next_cframe(mem, lay, innermost, &cframe, &e.anchor) : NULL;
		if (err)
			return err;
		if (shim)
			e.anchor = f->addr;
		if (!pl_vec_push(ret, e))
			return &pl_err_no_memory;
		e = (struct pl_eval){.first = e.first + e.count};
	}
	if (e.count && !pl_vec_push(ret, e))
		return &pl_err_no_memory;
	return NULL;
}
