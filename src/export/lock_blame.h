/* SPDX-License-Identifier: Apache-2.0 */
/* For which locks threads waited and who held them, in JSON. Inside the layer only. */
#ifndef PL_LOCK_BLAME_H
#define PL_LOCK_BLAME_H

#include "json.h"
#include "lock_waits.h"

/** The members "pid", "id" and "type" of an object. */
void pl_lock_json_members(struct pl_json *j, uint64_t pid, uint64_t object, bool recursive);
/** "lock_blame", where a thread waited for a lock. */
void pl_lock_blame_json(const struct pl_lock_blame *b, const struct plumb_profile *p, struct pl_json *j);

#endif
