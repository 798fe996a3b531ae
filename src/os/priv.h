/* SPDX-License-Identifier: Apache-2.0 */
/* Why may I not read this process? Each cause is checked, none is guessed. */
#ifndef PL_PRIV_H
#define PL_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "lsm.h"

/** PLUMB_ERR_NOT_PERMITTED for @p pid, whose hint names what was found: it belongs to another user (who) and we lack
 * CAP_SYS_PTRACE, or the right to open its memory in /proc; Yama's ptrace_scope; it is not dumpable; another user
 * namespace; the security modules that are left.
 * PLUMB_ERR_NO_PROCESS if it has ended meanwhile. */
struct plumb_error *pl_priv_explain(pid_t pid) PLUMB_MUST_CHECK;

/** PLUMB_ERR_NOT_PERMITTED for a @p call that every kernel since @p since allows everybody, and that failed with EPERM,
 * EACCES or ENOSYS all the same: is a seccomp filter around us, is the kernel too old, which security modules are left?
 */
struct plumb_error *pl_priv_explain_call(const char *call, const char *since, int errnum) PLUMB_MUST_CHECK;

/** What decides about access, as ptrace(2) has it under "Ptrace access mode checking". */
struct pl_priv_facts {
	pid_t pid;
	uid_t our_uid, uids[3]; /* the target's: real, effective, saved */
	gid_t our_gid, gids[3];
	uint64_t our_caps, target_caps; /* effective ours, permitted its */
	bool other_user_ns;		/* the target lives in a user namespace where our rights do not count */
	bool not_dumpable;
	bool descendant;    /* the target is a child of ours, or of a child, ... */
	int yama_scope;	    /* 0 also if there is no Yama */
	int target_seccomp; /* of the target: 0 none, 1 strict, 2 filter */
	pid_t tracer;	    /* 0: none */
	char tracer_name[16];
	struct pl_lsm lsm;
};

/** Gather them; false if the process is gone or hidden from us. */
bool pl_priv_read(pid_t pid, struct pl_priv_facts *ret);
/** "www-data (uid 33)", or "uid 33" if it has no name. */
void pl_priv_user(uid_t uid, char *buf, size_t size);

/** What stands in the way, and the change that removes it ("" if there is none). */
struct pl_priv_reason {
	char cause[256], remedy[256];
	bool known; /* false: the facts allow it, and the cause is what is left */
};

/** Pure: why access was refused. The cause is never empty. */
void pl_priv_reason(const struct pl_priv_facts *f, struct pl_priv_reason *ret);
/** Pure: the same as one hint, "CAUSE; REMEDY". */
void pl_priv_hint(const struct pl_priv_facts *f, char *buf, size_t size);

#endif
