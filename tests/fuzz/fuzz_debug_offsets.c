/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as _Py_DebugOffsets: what is accepted must keep every read inside the buffers of src/cpython. */
#include "debug_offsets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_layout lay;
	struct plumb_error *err = pl_debug_offsets_parse(data, size, &lay);

	if (!err && (lay.tstate_span > PL_TSTATE_MAX || lay.frame_span > PL_FRAME_MAX ||
		     lay.code_span > lay.code.size || lay.code.size > PL_CODE_MAX || lay.frame.owner >= lay.frame_span))
		__builtin_trap();
	plumb_error_destroy(err);
	return 0;
}
