/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a process in another pid namespace call themselves by other numbers than we do. */
#ifndef PL_TID_MAP_H
#define PL_TID_MAP_H

#include <stdbool.h>
#include <sys/types.h>

#include "map.h"

struct pl_tid_map {
	pid_t pid;
	bool known, translated; /* `translated`: its numbers are not ours; `known`: that is known */
	bool fresh;		/* listed in this round */
	struct pl_map ours;	/* its number -> ours */
};

/** Begin a round of questions about process @p pid: in each round its threads are listed once at most. @p m may be
 * zero.
 */
void pl_tid_map_begin(struct pl_tid_map *m, pid_t pid);
void pl_tid_map_deinit(struct pl_tid_map *m);
/** Our number of the thread that calls itself @p tid; 0 if there is none. */
pid_t pl_tid_map_ours(struct pl_tid_map *m, pid_t tid);
/** What our thread @p tid calls itself; 0 if it is gone. */
pid_t pl_tid_map_its(struct pl_tid_map *m, pid_t tid);

#endif
