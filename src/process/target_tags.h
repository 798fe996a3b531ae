/* SPDX-License-Identifier: Apache-2.0 */
/* The tags of another process, as it keeps them for whoever samples it (struct plumb_tag_table): where its threads bear
 * them, and their texts, which are read when they are asked for. What it says is hostile. */
#ifndef PL_TARGET_TAGS_H
#define PL_TARGET_TAGS_H

#include <sys/types.h>

#include <plumb/tags.h>

struct pl_target_tags;

/** @p at: the table in process @p pid. Errors: PLUMB_ERR_INVALID: there is none that is ready; as
 * pl_mem_live_create(). */
struct plumb_error *pl_target_tags_create(pid_t pid, uint64_t at, struct pl_target_tags **ret) PLUMB_MUST_CHECK;
/** Texts may be asked for by one thread at a time. */
const struct plumb_tags *pl_target_tags_get(const struct pl_target_tags *t);
void pl_target_tags_destroy(struct pl_target_tags *t);

#endif
