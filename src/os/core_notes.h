/* SPDX-License-Identifier: Apache-2.0 */
/* The notes of a core file. Inside the layer only. */
#ifndef PL_CORE_NOTES_H
#define PL_CORE_NOTES_H

#include "core.h"

struct pl_core_notes {
	pid_t pid;
	char command[88], exe[512];
	uint64_t entry; /* run-time address of the program's entry; 0 unknown */
	pl_core_thread_vec threads;
	pl_mapping_vec maps;
};

/** Pure: @p len bytes of a PT_NOTE segment, which may be anything; adds to @p ret. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_core_notes_parse(const void *bytes, size_t len, struct pl_core_notes *ret) PLUMB_MUST_CHECK;
void pl_core_notes_deinit(struct pl_core_notes *n);

#endif
