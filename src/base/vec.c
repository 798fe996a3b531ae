/* SPDX-License-Identifier: Apache-2.0 */
/* The growing part of PL_VEC (layer base). One thread at a time. */
#include "vec.h"

#include <stdint.h>

bool pl_vec_grow(void **data, size_t *cap, size_t len, size_t extra, size_t size)
{
	if (extra > PTRDIFF_MAX / size - len)
		return false;
	size_t need = len + extra, want = *cap < 4 ? 8 : *cap + *cap / 2;
	if (want < need || want > PTRDIFF_MAX / size)
		want = need;
	void *grown = realloc(*data, want * size);
	if (!grown)
		return false;
	*data = grown;
	*cap = want;
	return true;
}
