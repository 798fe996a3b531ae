/* SPDX-License-Identifier: Apache-2.0 */
/* Being the first process of a pid namespace, as the command of a container is. */
#ifndef INIT_H
#define INIT_H

#include <sys/types.h>

/** Where this is the first process, fork: the child is to do the work. Elsewhere nothing happens. Returns 0 to whoever
 * is to work, the child to the first process, -1 and errno if that could not be made. Call it with one thread. */
pid_t init_fork(void);
/** In the first process: pass signals on to the child and reap what ends until the child does; its wait status. */
int init_look_after(pid_t child);

#endif
