/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "cpu_quota.h"

/* Files of groups: path, text. */
struct group_files {
	const char *const *files;
};

static const char *read_one(void *ctx, const char *directory, const char *name)
{
	const struct group_files *g = ctx;
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	for (const char *const *f = g->files; f && *f; f += 2)
		if (strcmp(*f, path) == 0)
			return f[1];
	return NULL;
}

static void quotas_of_all_groups_above_are_found(void **state)
{
	static const char unified[] =
		"29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
	static const char both[] = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
				   "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
				   "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
				   "34 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
	static const char mounted[] = "40 23 0:29 /docker/12 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
	static const struct {
		const char *mountinfo, *cgroup;
		const char *files[9];
		double quota;
	} all[] = {
		{unified, "0::/a/b\n", {"/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n"}, 0.5},
		{unified, "0::/a/b\n", {"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}, 0},
		{unified,
		 "0::/a/b\n",
		 {"/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n", "/sys/fs/cgroup/a/cpu.max", "10000 100000\n"},
		 0.1},
		{unified, "0::/\n", {"/sys/fs/cgroup/cpu.max", "150000 100000\n"}, 1.5},
		{unified, "0::/../other\n", {"/sys/fs/cgroup/cpu.max", "20000 100000\n"}, 0.2},
		{both,
		 "5:cpuset:/c\n4:cpu,cpuacct:/a\n0::/x\n",
		 {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "10000\n",
		  "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n",
		  "/sys/fs/cgroup/cpuset/c/cpu.cfs_quota_us", "1\n", "/sys/fs/cgroup/cpuset/c/cpu.cfs_period_us",
		  "100000\n"},
		 0.1},
		{both,
		 "4:cpu,cpuacct:/a\n",
		 {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n",
		  "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"},
		 0},
		{mounted,
		 "4:cpu:/docker/12\n",
		 {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
		 0.25},
		{mounted,
		 "4:cpu:/docker/12/deep\n",
		 {"/sys/fs/cgroup/cpu/deep/cpu.cfs_quota_us", "5000\n", "/sys/fs/cgroup/cpu/deep/cpu.cfs_period_us",
		  "100000\n"},
		 0.05},
		{mounted, "4:cpu:/docker/123\n", {"/sys/fs/cgroup/cpu3/cpu.cfs_quota_us", "1\n"}, 0},
		{"", "0::/a\n", {NULL}, 0},
		{"x\n - \n - cgroup2\n1 2 3 - cgroup2 a b\n", "0::/a\n", {NULL}, 0},
		{unified, "\n:\n0:\n::\n", {NULL}, 0},
		{unified, "0::/a\n", {"/sys/fs/cgroup/a/cpu.max", ""}, 0},
		{unified, "0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "1 0\n"}, 0},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct group_files g = {all[i].files};

		assert_float_equal(pl_cpu_quota_of(all[i].mountinfo, all[i].cgroup, read_one, &g), all[i].quota, 1e-9);
	}
}

static void this_machine_tells_something(void **state)
{
	assert_true(pl_cpu_quota() >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotas_of_all_groups_above_are_found),
		cmocka_unit_test(this_machine_tells_something),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
