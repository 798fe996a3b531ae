/* SPDX-License-Identifier: Apache-2.0 */
/* Fields out of copied bytes. The caller has made sure, by pl_layout_finish or by its own check, that the copy holds
 * them. */
#ifndef PL_PICK_H
#define PL_PICK_H

#include <string.h>

#include "layout.h"

static inline uint64_t pl_pick_u64(const uint8_t *copy, uint32_t at)
{
	uint64_t v;

	memcpy(&v, copy + at, sizeof v);
	return v;
}

static inline uint32_t pl_pick_u32(const uint8_t *copy, uint32_t at)
{
	uint32_t v;

	memcpy(&v, copy + at, sizeof v);
	return v;
}

/** As above; 0 for a field that the release does not have. */
static inline uint64_t pl_pick_u64_if(const uint8_t *copy, uint32_t at)
{
	return at == PL_NONE ? 0 : pl_pick_u64(copy, at);
}

static inline uint32_t pl_pick_u32_if(const uint8_t *copy, uint32_t at)
{
	return at == PL_NONE ? 0 : pl_pick_u32(copy, at);
}

/** Every pointer followed here is to something that the C compiler or the object allocator aligned. */
static inline bool pl_pointer_ok(uint64_t p)
{
	return p >= 4096 && !(p & 7) && p < UINT64_C(1) << 63;
}

#endif
