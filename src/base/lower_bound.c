/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rows with a key begin. Layer: base. Pure. */
#include "lower_bound.h"

size_t pl_lower_bound(const void *rows, size_t count, size_t size, pl_row_key_fn *key_of, uint64_t key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (key_of((const char *)rows + middle * size) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
