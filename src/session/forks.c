/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session; see forks.h. */
#include "forks.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint generation;

static void in_child(void)
{
	atomic_fetch_add(&generation, 1);
}

static void begin(void)
{
	(void)pthread_atfork(NULL, NULL, in_child); /* without memory: as if nobody ever forked */
}

unsigned pl_forks_generation(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
	return atomic_load(&generation);
}
