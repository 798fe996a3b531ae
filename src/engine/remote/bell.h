/* SPDX-License-Identifier: Apache-2.0 */
/* Wakes the one thread that waits for it. Rings that come before the wait, or many at once, are one. A word of memory:
 * a descriptor could be closed by a program that we are a guest of, and its number be another file's. */
#ifndef PL_BELL_H
#define PL_BELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "error.h"

struct pl_bell {
	_Atomic uint32_t rung;
	int fd; /* readable after a ring, for who waits for descriptors, too; -1: there is none */
};

#define PL_BELL_INIT ((struct pl_bell){.fd = -1})

/** Give it a descriptor. Errors: PLUMB_ERR_SYSTEM. */
struct plumb_error *pl_bell_open(struct pl_bell *b) PLUMB_MUST_CHECK;
void pl_bell_close(struct pl_bell *b);
/** Any thread; async-signal-safe. */
void pl_bell_ring(struct pl_bell *b);

/* who waits */
/** Has it rung since it was asked last? */
bool pl_bell_answer(struct pl_bell *b);
/** Wait until it rings; not longer than @p timeout (NULL: no limit), perhaps shorter. True: it has rung. */
bool pl_bell_wait(struct pl_bell *b, const struct timespec *timeout);

#endif
