/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: how long a recording lasted, before it is read. */
#ifndef PL_LAST_TIME_H
#define PL_LAST_TIME_H

#include <stdint.h>

#include "error.h"

/** *ret is the time of the latest sample of the last whole chunk that has some, if @p fd is a file that ends with it;
 * else 0. It is never later than the latest sample that reading the file gives, unless that finds damage. Where @p fd
 * stands does not change. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_last_time(int fd, uint64_t *ret) PLUMB_MUST_CHECK;

#endif
