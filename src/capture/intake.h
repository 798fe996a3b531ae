/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: a file descriptor read front to back through a window that can look ahead. */
#ifndef PL_CAPTURE_INTAKE_H
#define PL_CAPTURE_INTAKE_H

#include <stdbool.h>

#include "buf.h"

struct pl_intake {
	int fd;
	struct pl_buf window; /* bytes from `at` on are still to come */
	size_t at;
	uint64_t consumed; /* bytes before the window's position */
	bool ended;
};

void pl_intake_init(struct pl_intake *s, int fd);
void pl_intake_deinit(struct pl_intake *s);
/** Try to have @p len bytes in the window; *bytes_ret and *len_ret say what is there, which is less at the end of the
 * file only. Memory grows with the bytes that come, not with @p len. */
struct plumb_error *pl_intake_look(struct pl_intake *s, size_t len, const uint8_t **bytes_ret,
				   size_t *len_ret) PLUMB_MUST_CHECK;
/** Step over @p len bytes of the window. */
void pl_intake_skip(struct pl_intake *s, size_t len);

#endif
