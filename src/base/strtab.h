/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: equal bytes, equal 32-bit id. Id 0 is always the empty string. Strings are bytes (UTF-8 with
 * surrogates passed through); they may hold NUL. Not thread-safe. */
#ifndef PL_STRTAB_H
#define PL_STRTAB_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct pl_strtab;

struct plumb_error *pl_strtab_create(struct pl_strtab **ret) PLUMB_MUST_CHECK;
void pl_strtab_destroy(struct pl_strtab *t);
/** Errors: PLUMB_ERR_NO_MEMORY, PLUMB_ERR_LIMIT (2^31 ids or 4 GiB of text). */
struct plumb_error *pl_strtab_add(struct pl_strtab *t, const void *bytes, size_t len, uint32_t *ret) PLUMB_MUST_CHECK;
/** A copy with the same ids. Errors: PLUMB_ERR_NO_MEMORY. Caller destroys *ret. */
struct plumb_error *pl_strtab_copy(const struct pl_strtab *t, struct pl_strtab **ret) PLUMB_MUST_CHECK;
uint32_t pl_strtab_count(const struct pl_strtab *t);
/** All texts together, with the NUL that each ends with. */
uint64_t pl_strtab_bytes(const struct pl_strtab *t);
/** The text of @p id, NUL-terminated; "" for an unknown id. Valid until the table is destroyed. */
const char *pl_strtab_get(const struct pl_strtab *t, uint32_t id, size_t *len_ret /* may be NULL */);

#endif
