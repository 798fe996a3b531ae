/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rows with a key begin, in rows that are in the order of their keys. */
#ifndef PL_LOWER_BOUND_H
#define PL_LOWER_BOUND_H

#include <stddef.h>
#include <stdint.h>

/** The key of a row. */
typedef uint64_t pl_row_key_fn(const void *row);

/** The first of @p count rows of @p size bytes whose key is not less than this one; @p count: there is none. */
size_t pl_lower_bound(const void *rows, size_t count, size_t size, pl_row_key_fn *key_of, uint64_t key);

#endif
