/* SPDX-License-Identifier: Apache-2.0 */
/* How much CPU time the groups that we are in (a container's, a service's) leave to us. Layer os; any thread. */
#ifndef PL_CPU_QUOTA_H
#define PL_CPU_QUOTA_H

/** The least quota of all groups above us that we can see, in processors: 0.1 is 10 ms in 100 ms. 0: none is known. */
double pl_cpu_quota(void);

/** Pure: the same of the two files of /proc/self; @p read gives the text of the file @p name in a directory of groups
 * (owned by the caller, static or NULL: there is none). */
typedef const char *pl_cpu_quota_read(void *ctx, const char *directory, const char *name);
double pl_cpu_quota_of(const char *mountinfo, const char *cgroup, pl_cpu_quota_read *read, void *ctx);

#endif
