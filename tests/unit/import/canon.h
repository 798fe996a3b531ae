/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in memory, and two of them compared whatever their ids are. */
#ifndef TEST_IMPORT_CANON_H
#define TEST_IMPORT_CANON_H

#include "import.h"
#include "random_recording.h"

/** A random profile with its samples behind it as a stream. Owner: the caller, pl_profile_destroy(). */
struct plumb_profile *canon_random(const struct random_shape *shape);
/** What format @p name writes of @p p. Owner: the caller, free(). */
char *canon_export(const struct plumb_profile *p, const char *name, size_t *len_ret);
/** What importer @p name reads from @p len bytes, with a stream if it is timed. */
struct plumb_profile *canon_import(const char *name, const char *text, size_t len);
struct plumb_error *canon_try(const char *name, const char *text, size_t len, struct plumb_profile **ret);

/** One line for each (thread, stack), sorted: who, its frames from the outermost, samples, weight. Two profiles that
 * tell the same have the same text. */
char *canon_text(const struct plumb_profile *p);

#endif
