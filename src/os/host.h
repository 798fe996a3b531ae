/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine allows us: settings of the kernel, mounts, containers, namespaces, and what is really tried. */
#ifndef PL_HOST_H
#define PL_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* ---- pure: from text, which may be anything ---------------------------------------------------------------------- */

/** The number that a file of /proc/sys holds; false if it is not one number. */
bool pl_host_parse_number(const char *text, int *ret);

struct pl_proc_mount {
	int hidepid;	/* 0 off, 1 noaccess, 2 invisible, 4 ptraceable */
	bool only_pids; /* subset=pid: no /proc/sys, no /proc/self/mounts of others */
};
/** The options of what is mounted on /proc, from the text of a mounts file; false if nothing is. */
bool pl_host_parse_mounts(const char *mounts, struct pl_proc_mount *ret);
/** Who made the container that a cgroup file tells of: "docker", "kubernetes", ...; "" if none shows. Static. */
const char *pl_host_parse_cgroup(const char *cgroup);
/** From the text of a status file: in how many pid namespaces the process has a number (1: only in that of /proc), and
 * the innermost number. */
unsigned pl_host_parse_nspid(const char *status, pid_t *inner_ret);
/** Do run counters count? From the text of a schedstat file of a thread that has run. */
bool pl_host_parse_schedstat(const char *text);

/* ---- of this machine --------------------------------------------------------------------------------------------- */

/** /proc/sys/NAME, @p missing if it cannot be read. */
int pl_host_sysctl(const char *name, int missing);
bool pl_host_proc_mount(struct pl_proc_mount *ret);
/** As pl_host_parse_cgroup, with the marks that container programs leave in the root directory; "" if none shows. */
const char *pl_host_container(void);
/** A number of our own status file ("CapEff" in base 16, "Seccomp" in base 10), @p missing if it has none. */
uint64_t pl_host_own_status(const char *key, int base, uint64_t missing);
bool pl_host_has_btf(void);
bool pl_host_has_run_counters(void);

enum pl_namespace { PL_NAMESPACE_UNKNOWN, PL_NAMESPACE_SAME, PL_NAMESPACE_OTHER };
/** Is @p pid in our namespace of this @p kind ("pid", "mnt", "user")? */
enum pl_namespace pl_host_namespace(pid_t pid, const char *kind);
/** Are we in the first namespace of the machine ("pid", "user")? */
enum pl_namespace pl_host_initial_namespace(const char *kind);
/** As pl_host_parse_nspid, of the thread @p tid of process @p pid; 0 if unknown. */
unsigned pl_host_nspid(pid_t pid, pid_t tid, pid_t *inner_ret);

/** Tried on a child of our own: 0, or the errno of the refusal. */
struct pl_host_trial {
	int readv, mem, seize, pidfd;
};
/** Errors: PLUMB_ERR_SYSTEM if no child can be made. */
struct plumb_error *pl_host_try(struct pl_host_trial *ret) PLUMB_MUST_CHECK;

#endif
