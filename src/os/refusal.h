/* SPDX-License-Identifier: Apache-2.0 */
/* Why may I not stop this thread, though I may read its memory? Each cause is checked, none is guessed. */
#ifndef PL_REFUSAL_H
#define PL_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "priv.h"

enum pl_refusal_cause {
	PL_REFUSAL_TRACER, /* somebody else traces it */
	PL_REFUSAL_RIGHTS, /* the program has changed its ids, its dumpability or its capabilities since it was opened
			    */
	PL_REFUSAL_FILTER, /* a seccomp filter around us: the kernel's own rules allow it */
	PL_REFUSAL_OTHER,  /* none of these */
	PL_REFUSAL_CAUSES,
};

/** What is known right after the kernel has refused PTRACE_SEIZE. */
struct pl_refusal_facts {
	struct pl_priv_facts priv; /* its tracer is that of the thread */
	bool readable;		   /* its memory may be read, which the kernel decides by the same rules */
	bool filtered;		   /* a seccomp filter is around us */
};

struct pl_refusal {
	enum pl_refusal_cause cause;
	char words[320]; /* "strace (pid 12) traces it" */
};

/** The cause of a refusal of a moment ago; false if there is none to find, since the thread has ended or is about to.
 */
bool pl_refusal_find(pid_t pid, pid_t tid, struct pl_refusal *ret);
/** Pure: the same from facts. */
void pl_refusal_judge(const struct pl_refusal_facts *f, struct pl_refusal *ret);

#endif
