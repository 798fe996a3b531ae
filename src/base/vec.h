/* SPDX-License-Identifier: Apache-2.0 */
/* A typed growable array: `struct { T *data; size_t len, cap; }` handled by two macros.
 *
 *   PL_VEC(struct pl_frame) frames = {0};
 *   if (!pl_vec_push(&frames, frame)) return &pl_err_no_memory;
 *   pl_vec_deinit(&frames);
 */
#ifndef PL_VEC_H
#define PL_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define PL_VEC(T)                                                                                                      \
	struct {                                                                                                       \
		T *data;                                                                                               \
		size_t len, cap;                                                                                       \
	}

/** Make room for @p extra items of @p size; false without memory, the vector is then unchanged. */
bool pl_vec_grow(void **data, size_t *cap, size_t len, size_t extra, size_t size);

#define pl_vec_reserve(v, extra)                                                                                       \
	((v)->len + (extra) <= (v)->cap ||                                                                             \
	 pl_vec_grow((void **)&(v)->data, &(v)->cap, (v)->len, (extra), sizeof *(v)->data))
#define pl_vec_push(v, item) (pl_vec_reserve((v), 1) && ((v)->data[(v)->len++] = (item), true))
#define pl_vec_clear(v)	     ((void)((v)->len = 0))
#define pl_vec_deinit(v)     (free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)

#endif
