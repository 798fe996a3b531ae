/* SPDX-License-Identifier: Apache-2.0 */
/* Layer base. See thread_start.h. More than is needed stays: what a program has for each thread is in it, too. */
#include "thread_start.h"

#define STACK_BYTES (1u << 20)

int pl_thread_start(pthread_t *ret, void *(*thread_main)(void *), void *arg)
{
	pthread_attr_t attr;
	size_t usual;
	int failed = pthread_attr_init(&attr);

	if (failed)
		return failed;
	if (pthread_attr_getstacksize(&attr, &usual) == 0 && usual < STACK_BYTES)
		(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	failed = pthread_create(ret, &attr, thread_main, arg);
	pthread_attr_destroy(&attr);
	return failed;
}
