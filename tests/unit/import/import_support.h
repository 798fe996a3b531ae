/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of importers: profiles out to bytes, bytes in to profiles, and a text by which two are compared. */
#ifndef TEST_IMPORT_SUPPORT_H
#define TEST_IMPORT_SUPPORT_H

#include "import.h"

void check(struct plumb_error *err);
/** A profile of tests/tools/random_recording.h, counted. Caller destroys. */
struct plumb_profile *random_profile(uint64_t seed, uint32_t samples);
/** What format @p name writes of @p p, decompressed, with a NUL behind it. Caller frees. */
uint8_t *exported(const struct plumb_profile *p, const char *name, size_t *len_ret);
/** Read by importer @p name into a new profile, which is the caller's whatever is returned. */
struct plumb_error *import_bytes(const char *name, const void *bytes, size_t len, struct plumb_profile **ret);
/** One line for each (process, thread, state, quality, stack) with its counts, sorted; without batches, ends of lines
 * and columns, opcodes, and what no label tells of a process. Invalid UTF-8 as U+FFFD. Caller frees. */
char *counts_text(const struct plumb_profile *p);

#endif
