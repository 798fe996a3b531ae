/* SPDX-License-Identifier: Apache-2.0 */
/* Wakes the one thread that waits. Wake-ups sent before the wait, or many at once, are one. A word of memory:
 * a descriptor could be closed by the program that we run in, and its number be another file's. */
#ifndef PL_WAKE_UP_H
#define PL_WAKE_UP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "error.h"

struct pl_wake_up {
	_Atomic uint32_t sent;
	int fd; /* readable after a wake-up, for who waits for descriptors, too; -1: there is none */
};

#define PL_WAKE_UP_INIT ((struct pl_wake_up){.fd = -1})

/** Give it a descriptor. Errors: PLUMB_ERR_SYSTEM. */
struct plumb_error *pl_wake_up_open(struct pl_wake_up *b) PLUMB_MUST_CHECK;
void pl_wake_up_close(struct pl_wake_up *b);
/** Any thread; async-signal-safe. */
void pl_wake_up_send(struct pl_wake_up *b);

/* who waits */
/** Has one been sent since this was asked last? */
bool pl_wake_up_taken(struct pl_wake_up *b);
/** Wait until one is sent; not longer than @p timeout (NULL: no limit), perhaps shorter. True: one was sent. */
bool pl_wake_up_wait(struct pl_wake_up *b, const struct timespec *timeout);

#endif
