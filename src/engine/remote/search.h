/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for the Python of one process, and when to look again. Sampling thread only. */
#ifndef PL_SEARCH_H
#define PL_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "find_python.h"
#include "proc.h"
#include "work.h"

/* Of a thousand that were just forked each takes milliseconds: those that are known are sampled in between. */
#define PL_SEARCHES_A_STEP 16
#define PL_LITTLE_WORK	   (8u << 20) /* at once: a Python takes a fifth of it at most */

struct pl_engine;
struct pl_target;

/** Looking for a Python in a process that runs none, or none yet. */
struct pl_search {
	uint64_t next_ns, pause_ns; /* when to look at the process again */
	bool wanted;		    /* its files are to be looked into */
	bool costly;		    /* ... which takes so long that it has to wait for its turn */
	uint64_t full_ns;	    /* when to look into its files again though it seems to be the same program */
	struct pl_proc_stat seen;   /* at the last look */
	uint64_t dev, ino;	    /* of the program then */
	bool inherited;		    /* what is found is the parent's, and not tried yet */
	struct pl_find find;
};

/** Try once, with no more than @p work. Afterwards t->attached, or an error: PLUMB_ERR_NOT_READY, PLUMB_ERR_NOT_PYTHON,
 * ... */
struct plumb_error *pl_search_attach(struct pl_engine *e, struct pl_target *t, struct pl_work *work) PLUMB_MUST_CHECK;
/** Forget its Python: it has ended or runs another program. */
void pl_search_detach(struct pl_engine *e, struct pl_target *t);
/** @p t was forked from @p parent, and is what that is unless it has executed a program since. */
void pl_search_inherit(struct pl_target *t, const struct pl_target *parent);
/** Look, if it is time. *ret: why there is no Python; NULL if there is, or if nothing was tried. */
void pl_search_step(struct pl_engine *e, struct pl_target *t, uint64_t now, struct plumb_error **ret);
/** Why nothing was sampled, if nothing will be: @p err, unless what is known tells more. */
void pl_search_keep(struct pl_engine *e, struct plumb_error *err);
/** A step of all processes, so many of those whose time it is; the others come first at the next call. Errors are kept.
 */
void pl_search_all(struct pl_engine *e, uint64_t now);

#endif
