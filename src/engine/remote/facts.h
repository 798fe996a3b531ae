/* SPDX-License-Identifier: Apache-2.0 */
/* What src/os finds in the files of a process is what src/cpython starts from. */
#ifndef PL_FACTS_H
#define PL_FACTS_H

#include "detect.h"
#include "image.h"

static inline struct pl_py_facts pl_facts_of(const struct pl_python_image *image)
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

#endif
