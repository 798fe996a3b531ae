/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a thread that has the stack it needs. */
#ifndef PL_THREAD_START_H
#define PL_THREAD_START_H

#include <pthread.h>

/** As pthread_create(): 0 or an error's number. Its stack is not what a limit for the program's own (ulimit -s) leaves
 * of it, which the C library would give it. */
int pl_thread_start(pthread_t *ret, void *(*thread_main)(void *), void *arg);

#endif
