/* SPDX-License-Identifier: Apache-2.0 */
/* _Py_DebugOffsets as an interpreter of a given minor would have it. */
#ifndef PL_TEST_OFFSETS_H
#define PL_TEST_OFFSETS_H

#include "debug_offsets.h"
#include "layout_data.h"

/** PL_DEBUG_OFFSETS_MAX bytes that say what the reference row of @p minor says. */
void offsets_make(int minor, bool free_threaded, uint8_t bytes[static PL_DEBUG_OFFSETS_MAX]);
/** Overwrite one word; false if the minor lacks it. */
bool offsets_set(int minor, enum pl_debug_word word, uint64_t value, uint8_t bytes[static PL_DEBUG_OFFSETS_MAX]);

#endif
