/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process: from the files and the memory of a process to its Python. Any thread. */
#include "which_python.h"

#include "mem_limited.h"

static struct pl_py_facts facts_of(const struct pl_python_image *image)
{
	return (struct pl_py_facts){.runtime = image->runtime,
				    .runtime_size = image->runtime_size,
				    .version = image->version,
				    .code_type = image->code_type,
				    .tstate_current = image->tstate_current,
				    .interp_head = image->interp_head,
				    .gil_lock = image->gil_lock,
				    .gil = image->gil,
				    .gil_bytes = image->gil_bytes,
				    .threads_begun = image->threads_begun,
				    .name_version = image->name_version};
}

struct plumb_error *pl_which_python(struct pl_mem *mem, const struct pl_python_image *image, struct pl_work *work,
				    struct pl_py *ret)
{
	struct pl_py_facts facts = facts_of(image);
	struct pl_work reading = {.most = work->most > work->spent ? work->most - work->spent : 0};
	struct pl_mem_limited limited;
	struct plumb_error *err = pl_py_detect(pl_mem_limited_init(&limited, mem, &reading), &facts, ret);

	pl_work_note(work, reading.spent);
	work->ran_out |= reading.ran_out;
	if (!err || !reading.ran_out)
		return err;
	plumb_error_destroy(err);
	return pl_error_hint(pl_error(PLUMB_ERR_LIMIT, "no whole stack was found in this Python with all the reading "
						       "that is allowed"),
			     "very deep stacks that change fast may be whole at another moment; those that are made up "
			     "never are");
}
